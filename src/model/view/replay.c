/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "event.h"
#include "json-short.h"
#include "moment.h"
#include "replay.h"
#include "schema.h"

#define TEXT_BYTES 2000
#define LINE_BYTES 300

const char *const replay_kinds[] = { "asked", "said", "did", "failed", "event",
	NULL };

const struct schema replay_entry_schema =
    SCHEMA_SHAPE(SCHEMA_OR_NULL("at", NUMBER, "seconds since 1970"),
	SCHEMA_IS("kind", STRING, "event: of llmc, else of its agent",
	    .choices = replay_kinds),
	SCHEMA_IS("text", STRING, NULL));

/* at_ms 0 = not known. Long texts are cut, one_line makes them shorter. */
static void
add(struct json_object *list, int64_t at_ms, const char *kind,
    const char *prefix, const char *text, bool one_line)
{
	struct json_object *entry;
	cleanup_buf struct buf words = BUF_INIT, shown = BUF_INIT;
	size_t len, cut;

	if (json_object_array_length(list) >= REPLAY_ENTRIES_MAX)
		return;
	buf_adds(&words, prefix);
	if (one_line)
		text_add_line(&words, text, strlen(text));
	else
		buf_adds(&words, text + strspn(text, " \t\r\n"));
	len = words.len;
	/* Commands of the program, such as /clear, are not what was asked. */
	if (len == 0 || text_begins(words.data, "<command-") ||
	    text_begins(words.data, "<local-command-"))
		return;
	while (len > 0 && strchr(" \t\r\n", words.data[len - 1]) != NULL)
		len--;
	if (len == 0)
		return;
	cut = text_cut(words.data, len, one_line ? LINE_BYTES : TEXT_BYTES);
	text_add_visible(&shown, words.data, cut, true);
	if (cut < len)
		buf_adds(&shown, " ...");
	entry = json_object_new_object();
	json_set(entry, "at",
	    at_ms > 0 ? json_object_new_double((double)at_ms / 1000) : NULL);
	json_set_string(entry, "kind", kind);
	json_set_string(entry, "text", shown.data);
	json_object_array_add(list, entry);
}

/* "Bash: make test": the name, and what says most of its input. */
static void
add_tool(struct json_object *list, int64_t at_ms, struct json_object *part)
{
	static const char *const keys[] = { "command", "file_path", "path",
		"notebook_path", "pattern", "query", "url", "description",
		"prompt", "message", "subject", "cmd" };
	struct json_object *input = json_member(part, "input");
	cleanup_buf struct buf name = BUF_INIT;
	const char *said = NULL;

	for (size_t i = 0; i < nitems(keys) && said == NULL; i++)
		said = json_string_or(input, keys[i], NULL);
	buf_addf(&name, "%.80s%s", json_string_or(part, "name", "?"),
	    said != NULL ? ": " : "");
	add(list, at_ms, "did", name.data, said != NULL ? said : "", true);
}

/* A tool's result is a text, or a list of parts with texts; only errors are
 * told. */
static void
add_result(struct json_object *list, int64_t at_ms, struct json_object *part)
{
	struct json_object *content = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (!json_bool_or(part, "is_error", false))
		return;
	json_object_object_get_ex(part, "content", &content);
	if (json_object_is_type(content, json_type_string))
		buf_adds(&text, json_object_get_string(content));
	else if (json_object_is_type(content, json_type_array))
		JSON_EACH (row, content)
			buf_addf(
			    &text, "%s\n", json_string_or(row, "text", ""));
	add(list, at_ms, "failed", "", text.data, true);
}

void
replay_add_line(struct json_object *list, struct json_object *line)
{
	const char *who = json_string_or(line, "type", "");
	bool asks = strcmp(who, "user") == 0;
	struct json_object *message = NULL, *content = NULL;
	int64_t at_ms = 0;

	if ((!asks && strcmp(who, "assistant") != 0) ||
	    json_bool_or(line, "isMeta", false) ||
	    json_bool_or(line, "isSidechain", false) ||
	    json_get_object(line, "", "message", &message, NULL) < 0)
		return;
	moment_parse(json_string_or(line, "timestamp", ""), &at_ms);
	json_object_object_get_ex(message, "content", &content);
	if (json_object_is_type(content, json_type_string))
		add(list, at_ms, asks ? "asked" : "said", "",
		    json_object_get_string(content), false);
	if (!json_object_is_type(content, json_type_array))
		return;
	JSON_EACH (part, content) {
		const char *type = json_string_or(part, "type", "");

		if (strcmp(type, "text") == 0)
			add(list, at_ms, asks ? "asked" : "said", "",
			    json_string_or(part, "text", ""), false);
		else if (strcmp(type, "tool_use") == 0)
			add_tool(list, at_ms, part);
		else if (strcmp(type, "tool_result") == 0)
			add_result(list, at_ms, part);
	}
}

void
replay_add_event(struct json_object *list, struct json_object *record)
{
	struct json_object *event = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	int64_t at_ms = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return;
	moment_parse(json_string_or(record, "timestamp", ""), &at_ms);
	event_words_of(event, &words);
	add(list, at_ms, "event", "", words.data, false);
}

void
replay_add_note(struct json_object *list, struct json_object *note)
{
	const char *detail = json_string_or(note, "detail", NULL);
	cleanup_buf struct buf what = BUF_INIT;

	buf_addf(&what, "%.80s%s", json_string_or(note, "what", ""),
	    detail != NULL ? ": " : "");
	add(list, json_int_or(note, "at_unix", 0) * 1000, "event", what.data,
	    detail != NULL ? detail : "", false);
}

struct placed {
	struct json_object *entry;
	double at;
	size_t place;
};

static int
by_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

void
replay_sort(struct json_object *list)
{
	size_t count = json_object_array_length(list);
	cleanup_free struct placed *all = xcalloc(count + 1, sizeof *all);
	double last = 0;

	for (size_t i = 0; i < count; i++) {
		struct json_object *at = NULL;

		all[i].entry =
		    json_object_get(json_object_array_get_idx(list, i));
		json_object_object_get_ex(all[i].entry, "at", &at);
		if (at != NULL)
			last = json_object_get_double(at);
		all[i].at = last;
		all[i].place = i;
	}
	qsort(all, count, sizeof *all, by_time);
	for (size_t i = 0; i < count; i++)
		json_object_array_put_idx(list, i, all[i].entry);
}
