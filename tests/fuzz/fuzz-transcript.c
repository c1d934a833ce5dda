/* SPDX-License-Identifier: ISC */

/*
 * Any bytes as the lines of a transcript. Counts only grow, and by no more per
 * line than the line can hold; the stored texts are valid UTF-8.
 */

#include "fuzz.h"
#include "schema.h"
#include "transcript.h"
#include "why.h"

static void
must(bool rule)
{
	if (!rule)
		abort();
}

static void
check_text(const char *text)
{
	must(strlen(text) <= 64 * 1024);
	must(text_utf8_valid(text, strlen(text)));
}

/* No model gets less, and no name is without an end. */
static void
check_usage(const struct usage *was, const struct usage *now)
{
	struct usage less = usage_beyond(was, now);

	must(usage_is_empty(&less));
	must(now->count <= USAGE_MODELS_MAX);
	for (size_t i = 0; i < now->count; i++) {
		check_text(now->models[i].name);
		for (int k = 0; k < USAGE_KINDS; k++)
			must(now->models[i].tokens[k] >= 0 &&
			    now->models[i].tokens[k] <= USAGE_MAX);
	}
}

static void
check_line(struct transcript_parser *parser, const char *line, size_t len)
{
	/* Exactly this long, so that reading past the end is detected. */
	cleanup_free char *bytes = xmalloc(len);
	const struct transcript_totals *now = transcript_parser_totals(parser);
	struct transcript_totals was = *now;

	if (len > 0)
		memcpy(bytes, line, len);
	transcript_parser_line(parser, bytes, len);
	must(now->bytes == was.bytes + len + 1);
	must(now->prompts + now->interrupted + now->api_errors + now->skipped <=
	    was.prompts + was.interrupted + was.api_errors + was.skipped + 1);
	must(now->prompts >= was.prompts);
	must(now->tool_errors >= was.tool_errors);
	check_usage(&was.usage, &now->usage);
	must(now->report.cost >= 0);
	must(now->report.given || usage_is_empty(&now->report.usage));
	check_text(transcript_parser_last_text(parser));
}

/* Any line becomes entries as the schema says, or none. */
static void
check_replay(const char *line, size_t len, struct json_object *list)
{
	static const struct schema_field whole = { .type = SCHEMA_ROWS,
		.of = &replay_entry_schema };
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *model = NULL;

	if (json_parse(line, len, 1024 * 1024, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	json = transcript_translate(json, &model);
	if (json == NULL)
		return;
	replay_add_line(list, json);
	replay_add_event(list, json);
	replay_add_note(list, json);
	replay_sort(list);
	must(schema_check(&whole, list, "", NULL) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transcript_parser *parser = transcript_parser_new();
	struct transcript_parser *side = transcript_parser_new();
	cleanup_json struct json_object *list = json_object_new_array();
	struct usage kept;
	const char *at = (const char *)data, *end = at + size, *newline;

	while (at < end) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (newline == NULL)
			newline = end;
		transcript_parser_side_line(side, at, (size_t)(newline - at));
		check_line(parser, at, (size_t)(newline - at));
		check_replay(at, (size_t)(newline - at), list);
		at = newline + 1;
	}
	/* What subagents used stays when the file is read again. */
	kept = transcript_parser_totals(side)->usage;
	transcript_parser_reset(side);
	must(memcmp(&kept, &transcript_parser_totals(side)->usage,
		 sizeof kept) == 0);
	transcript_parser_free(side);
	transcript_parser_free(parser);
	return 0;
}
