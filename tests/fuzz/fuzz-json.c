/* SPDX-License-Identifier: ISC */

/* Whatever parses can be printed, and parses again to the same value. */

#include "fuzz.h"

#define MAX ((size_t)16 * 1024 * 1024) /* printed with indents */

static void
check_value(struct json_object *value, bool pretty)
{
	cleanup_buf struct buf text = BUF_INIT, again_text = BUF_INIT;
	cleanup_json struct json_object *again = NULL;

	json_print(value, pretty, &text);
	if (!text_utf8_valid(text.data, text.len) ||
	    strlen(text.data) != text.len)
		abort();
	if (!pretty && strchr(text.data, '\n') != NULL)
		abort();
	if (json_parse(text.data, text.len, MAX, &again, NULL) < 0)
		abort();
	if (!json_object_equal(value, again))
		abort();
	json_print(again, pretty, &again_text);
	if (strcmp(text.data, again_text.data) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *value = NULL;

	if (json_parse((const char *)data, size, MAX, &value, NULL) < 0)
		return 0;
	check_value(value, false);
	check_value(value, true);
	return 0;
}
