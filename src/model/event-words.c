/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "event-words.h"
#include "event.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "text-width.h"
#include "text.h"

#define SHA_LEN 7
#define DOTS    3 /* columns of "..." */

static void
add_value(const char *text, bool lines, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (lines)
		buf_adds(&line, text);
	else
		text_add_line(&line, text, strlen(text));
	text_add_visible(out, line.data, line.len, lines);
}

/* The member that "member:way" names; false if it is missing. */
static bool
add_member(struct json_object *event, const char *spec, size_t len, bool lines,
    struct buf *out)
{
	cleanup_free char *name = xstrndup(spec, len);
	char *way = strchr(name, ':');
	const char *text;
	int64_t number = 0;

	if (way != NULL)
		*way++ = '\0';
	text = json_object_get_string(json_object_object_get(event, name));
	if (text == NULL || text[0] == '\0')
		return false;
	if (way != NULL && strcmp(way, "sha") == 0) {
		text_add_visible(out, text, strnlen(text, SHA_LEN), false);
	} else if (way == NULL ||
	    !text_parse_int(text, 0, INT64_MAX / 1000, &number)) {
		add_value(text, lines, out); /* numbers may be strings here */
	} else if (strcmp(way, "ms") == 0) {
		text_add_duration(out, number);
	} else {
		moment_add(out, number * 1000);
	}
	return true;
}

/* A part of the text without brackets; false if a member is missing, which is
 * then shown as a question mark. */
static bool
add_stretch(struct json_object *event, const char *words, size_t len,
    bool lines, struct buf *out)
{
	const char *end = words + len;
	bool whole = true;

	while (words < end) {
		const char *close = words;

		if (*words != '{') {
			buf_addc(out, *words++);
			continue;
		}
		close += strcspn(words, "}");
		if (!add_member(event, words + 1, (size_t)(close - words - 1),
			lines, out)) {
			whole = false;
			buf_addc(out, '?');
		}
		words = close + 1;
	}
	return whole;
}

static void
add_words(
    struct json_object *event, const char *words, bool lines, struct buf *out)
{
	while (*words != '\0') {
		size_t before = out->len;
		size_t len = strcspn(words, *words == '[' ? "]" : "[");

		if (*words != '[') {
			add_stretch(event, words, len, lines, out);
			words += len;
			continue;
		}
		if (!add_stretch(event, words + 1, len - 1, lines, out))
			buf_truncate(out, before);
		words += len + 1;
	}
}

static void
add_members(struct json_object *event, bool lines, struct buf *out)
{
	json_object_object_foreach(event, key, value)
	{
		const char *text = json_object_get_string(value);

		if (strcmp(key, "type") == 0 || text == NULL)
			continue;
		buf_addc(out, ' ');
		add_value(key, false, out);
		buf_addc(out, '=');
		add_value(text, lines, out);
	}
}

/* If the type has no colour of its own, that of the level. */
static const char *
level_colour(const char *level)
{
	if (strcmp(level, "ERROR") == 0)
		return "1;31";
	return strcmp(level, "WARN") == 0 ? "33" : NULL;
}

static void
describe(struct json_object *event, bool lines, struct buf *out)
{
	const char *type = json_string_or(event, "type", "?");
	const struct event_row *row = event_row_named(type);

	if (row != NULL) {
		add_words(event, row->words, lines, out);
	} else {
		add_value(type, false, out);
		add_members(event, lines, out);
	}
}

void
event_words_of(struct json_object *event, struct buf *out)
{
	describe(event, false, out);
}

/* Cut to the columns that are left; what is cut is shown as "...". */
static void
shorten(struct buf *words, int columns)
{
	if (text_width(words->data, words->len) <= columns)
		return;
	buf_truncate(words,
	    text_width_cut(
		words->data, words->len, columns > DOTS ? columns - DOTS : 1));
	buf_adds(words, "...");
}

/* Lines after the first one belong to the same event. */
static void
indent(struct buf *words)
{
	while (words->len > 0 && words->data[words->len - 1] == '\n')
		buf_truncate(words, words->len - 1);
	for (size_t i = 0; i < words->len; i++)
		if (words->data[i] == '\n')
			buf_splice(words, i + 1, 0, "    ", 4);
}

bool
event_words_add(
    struct json_object *record, bool colour, int width, struct buf *out)
{
	const char *stamp = json_string_or(record, "timestamp", "");
	const char *sgr;
	cleanup_buf struct buf words = BUF_INIT;
	const struct event_row *row;
	struct json_object *event = NULL;
	size_t start = out->len;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return false;
	describe(event, width == 0, &words);
	row = event_row_named(json_string_or(event, "type", "?"));
	sgr = row != NULL ? row->colour : NULL;
	if (sgr == NULL)
		sgr = level_colour(json_string_or(record, "level", ""));
	if (moment_parse(stamp, &at))
		moment_add(out, at);
	else
		add_value(stamp, false, out);
	if (width == 0)
		indent(&words);
	else
		shorten(&words, width - 2 - (int)(out->len - start));
	if (colour && sgr != NULL)
		buf_addf(out, "  \033[%sm%s\033[0m\n", sgr, words.data);
	else
		buf_addf(out, "  %s\n", words.data);
	return true;
}
