/* SPDX-License-Identifier: ISC */

/* What a server of PostgreSQL says, and an address that a person has typed. */
#include "fuzz.h"
#ifdef HAVE_LIBPQ
#include "postgres-private.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	cleanup_free char *text = xstrndup((const char *)bytes, len);
	cleanup_buf struct buf words = BUF_INIT;
	struct postgres_address address = { 0 };
	struct err err = { 0 };

	postgres_words(text, &words);
	check(strchr(words.data, '\n') == NULL);
	check(text_utf8_valid(words.data, words.len));
	if (postgres_address_check(text, &err) < 0)
		check(err.code == -EINVAL);
	postgres_address_parse((const char *)bytes, len, &address);
	postgres_address_release(&address);
	return 0;
}
#else
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return 0;
}
#endif
