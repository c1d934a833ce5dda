/* SPDX-License-Identifier: ISC */

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "transcript-open.h"
#include "transcript-tail.h"

#define TAIL_SIZE ((size_t)128 * 1024)

/* The newest messages, oldest first; their texts belong to the lines. */
struct tail {
	struct stall_message messages[STALL_SAMPLE_MESSAGES];
	size_t count;
	struct json_object *lines[STALL_SAMPLE_MESSAGES];
};

static void
add(struct tail *tail, struct json_object *line,
    const struct stall_message *message)
{
	if (tail->count == STALL_SAMPLE_MESSAGES) {
		json_object_put(tail->lines[0]);
		memmove(tail->lines, tail->lines + 1,
		    (tail->count - 1) * sizeof(struct json_object *));
		memmove(tail->messages, tail->messages + 1,
		    (tail->count - 1) * sizeof tail->messages[0]);
		tail->count--;
	}
	tail->messages[tail->count] = *message;
	tail->lines[tail->count++] = json_object_get(line);
}

static void
add_block(struct tail *tail, struct json_object *line, enum stall_role role,
    struct json_object *block)
{
	const char *type = json_string_or(block, "type", "");
	struct stall_message message = { .role = role };

	if (strcmp(type, "text") == 0) {
		message.text = json_string_or(block, "text", NULL);
		message.is_error =
		    json_bool_or(line, "isApiErrorMessage", false);
	} else if (strcmp(type, "tool_use") == 0) {
		message.role = STALL_TOOL_CALL;
		message.tool = json_string_or(block, "name", NULL);
	} else if (strcmp(type, "tool_result") == 0) {
		message.role = STALL_TOOL_RESULT;
		message.text = json_string_or(block, "content", NULL);
		message.is_error = json_bool_or(block, "is_error", false);
	} else {
		return;
	}
	add(tail, line, &message);
}

static void
add_line(struct tail *tail, struct json_object *line)
{
	const char *type = json_string_or(line, "type", "");
	bool assistant = strcmp(type, "assistant") == 0;
	enum stall_role role = assistant ? STALL_ASSISTANT : STALL_USER;
	struct json_object *message, *content;

	if ((!assistant && strcmp(type, "user") != 0) ||
	    json_bool_or(line, "isMeta", false) ||
	    json_bool_or(line, "isSidechain", false) ||
	    !json_object_object_get_ex(line, "message", &message) ||
	    !json_object_is_type(message, json_type_object) ||
	    !json_object_object_get_ex(message, "content", &content))
		return;
	if (json_object_is_type(content, json_type_string))
		add(tail, line,
		    &(struct stall_message){ .role = role,
			.text = json_object_get_string(content) });
	else if (json_object_is_type(content, json_type_array))
		for (size_t i = 0; i < json_object_array_length(content); i++)
			add_block(tail, line, role,
			    json_object_array_get_idx(content, i));
}

static int
read_tail(const char *path, struct buf *text)
{
	cleanup_fd int fd = transcript_open_file(path);
	struct stat st;
	size_t want;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) == -1)
		return -1;
	want = (size_t)st.st_size > TAIL_SIZE ? TAIL_SIZE : (size_t)st.st_size;
	buf_reserve(text, want);
	n = pread(fd, text->data, want, st.st_size - (off_t)want);
	if (n <= 0)
		return -1;
	buf_grew(text, (size_t)n);
	return 0;
}

enum stall_class
transcript_tail_class(const char *path, struct buf *why)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct tail tail = { 0 };
	enum stall_class class;
	char *rest, *line;

	if (read_tail(path, &text) < 0)
		buf_clear(&text);
	/* The first line may be cut: it is no JSON then. */
	for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;) {
		cleanup_json struct json_object *json = NULL;

		if (*line != '\0' &&
		    json_parse(line, strlen(line), TAIL_SIZE, &json, NULL) == 0)
			add_line(&tail, json);
	}
	class = stall_sample_classify(tail.messages, tail.count, why);
	for (size_t i = 0; i < tail.count; i++)
		json_object_put(tail.lines[i]);
	return class;
}
