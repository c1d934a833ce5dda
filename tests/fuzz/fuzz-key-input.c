/* SPDX-License-Identifier: ISC */

/* Bytes become the same keys however they are cut; what is given exists, and
 * the parser always comes back to where it began. */

#include "base.h"
#include "fuzz.h"
#include "top.h"

static void
add_key(uint32_t key, bool pasted, void *arg)
{
	if (key == 0 || key > TOP_KEY_LAST || (pasted && key < ' '))
		abort();
	buf_add(arg, (const char *)&key, sizeof key);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct key_input whole = KEY_INPUT_INIT, cut = KEY_INPUT_INIT;
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;

	key_input_feed(&whole, bytes, size, add_key, &a);
	for (size_t i = 0; i < size; i++)
		key_input_feed(&cut, bytes + i, 1, add_key, &b);
	key_input_timeout(&whole, add_key, &a);
	key_input_timeout(&cut, add_key, &b);
	if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
		abort();
	if (a.len / sizeof(uint32_t) > size)
		abort();
	if (key_input_wait_ms(&whole) != 0 || key_input_wait_ms(&cut) != 0)
		abort();
	return 0;
}
