/* SPDX-License-Identifier: ISC */

/* Any diff is read to its end, with few words about it; a number is one. */

#include "fuzz.h"
#include "acceptance.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_buf struct buf out = BUF_INIT;

	test_guard_read((const char *)data, size, &out);
	if (out.len > 4096 || test_guard_count(text) < 0)
		abort();
	test_guard_is_test(text);
	return 0;
}
