/* SPDX-License-Identifier: ISC */

/* Whatever an agent says is whole lines that a terminal can show, or a piece of
 * its message; whatever is typed, no prompt is empty and none is made of
 * nothing. Why a turn failed may be any words. */

#include "fuzz.h"

#include "agent-kind.h"
#include "stream.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream_keys keys = { .box = BUF_INIT, .sequence = BUF_INIT };
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	if (json_parse((const char *)data, size, 65536, &json, NULL) == 0)
		stream_words(json, &out);
	check(out.len == 0 || out.data[out.len - 1] == '\n' ||
	    strcmp(json_string_or(json, "type", ""), "message") == 0);
	check(memchr(out.data, 0x1b, out.len) == NULL);
	check(gemini_kind.event("StopFailure", json) != NULL);
	for (size_t i = 0; i < size; i++) {
		if (stream_key(&keys, (char)data[i]) == STREAM_SUBMIT) {
			check(keys.box.len > 0);
			buf_clear(&keys.box);
		}
		check(keys.box.len <= size && keys.sequence.len <= 32);
	}
	buf_release(&keys.box);
	buf_release(&keys.sequence);
	return 0;
}
