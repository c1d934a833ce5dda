/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "text.h"
#include "transcript-text.h"

#define LINE_MAX_BYTES ((size_t)8 * 1024 * 1024)

static void
add_block(struct buf *out, const char *title, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(out, "--- %s\n", title);
	text_add_visible(out, text, strlen(text), true);
	buf_adds(out, text[strlen(text) - 1] == '\n' ? "\n" : "\n\n");
}

/* A tool's result is a text, or a list of parts with texts. */
static void
add_result(struct buf *out, struct json_object *content)
{
	cleanup_buf struct buf all = BUF_INIT;
	size_t count;

	if (json_object_is_type(content, json_type_string)) {
		add_block(out, "result", json_object_get_string(content));
		return;
	}
	if (!json_object_is_type(content, json_type_array))
		return;
	count = json_object_array_length(content);
	for (size_t i = 0; i < count; i++)
		buf_addf(&all, "%s\n",
		    json_string_or(
			json_object_array_get_idx(content, i), "text", ""));
	add_block(out, "result", all.data);
}

static void
add_part(struct buf *out, const char *who, struct json_object *part)
{
	const char *type = json_string_or(part, "type", "");
	struct json_object *input = NULL;
	cleanup_buf struct buf title = BUF_INIT, text = BUF_INIT;

	if (strcmp(type, "text") == 0) {
		add_block(out, who, json_string_or(part, "text", ""));
	} else if (strcmp(type, "tool_use") == 0) {
		buf_addf(&title, "tool %s", json_string_or(part, "name", "?"));
		if (json_object_object_get_ex(part, "input", &input))
			json_print(input, true, &text);
		add_block(out, title.data, text.data);
	} else if (strcmp(type, "tool_result") == 0) {
		add_result(out, json_object_object_get(part, "content"));
	}
}

static void
render_line(const char *line, size_t len, struct buf *out)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *message = NULL, *content = NULL;
	const char *who;
	size_t count;

	if (json_parse(line, len, LINE_MAX_BYTES, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	who = json_string_or(json, "type", "");
	if ((strcmp(who, "user") != 0 && strcmp(who, "assistant") != 0) ||
	    !json_object_object_get_ex(json, "message", &message) ||
	    !json_object_is_type(message, json_type_object) ||
	    !json_object_object_get_ex(message, "content", &content))
		return;
	if (json_object_is_type(content, json_type_string)) {
		add_block(out, who, json_object_get_string(content));
		return;
	}
	if (!json_object_is_type(content, json_type_array))
		return;
	count = json_object_array_length(content);
	for (size_t i = 0; i < count; i++)
		add_part(out, who, json_object_array_get_idx(content, i));
}

int
transcript_text(const char *path, struct buf *out, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	size_t at = 0, len;
	int r = file_read(path, TRANSCRIPT_TEXT_MAX, &bytes, err);

	if (r < 0)
		return r;
	while (at < bytes.len) {
		const char *end = memchr(bytes.data + at, '\n', bytes.len - at);

		len = end != NULL ? (size_t)(end - (bytes.data + at)) :
				    bytes.len - at;
		render_line(bytes.data + at, len, out);
		at += len + 1;
	}
	return 0;
}
