/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "top-lines.h"
#include "top-pages.h"
#include "top-rows.h"
#include "top-text.h"
#include "view-doc.h"

#define MOST_SHOWN 10 /* tasks that cost most */

/* --- what it costs --------------------------------------------------- */

static void
add_limits(struct json_object *budget, struct top_lines *lines)
{
	int64_t tokens = json_int_or(budget, "day_tokens", 0);
	int64_t micros = json_int_or(budget, "day_cost_micros", 0);
	cleanup_buf struct buf text = BUF_INIT;

	if (micros > 0) {
		buf_addc(&text, '$');
		top_add_dollars(micros, &text);
	}
	if (tokens > 0) {
		buf_adds(&text, text.len > 0 ? ", " : "");
		top_add_count(tokens, &text);
		buf_adds(&text, " tokens");
	}
	top_lines_field(lines, "limit", STYLE_PLAIN,
	    text.len > 0 ? text.data : "none a day");
}

static void
add_days(struct json_object *budget, struct top_lines *lines)
{
	struct json_object *days = json_object_object_get(budget, "days");
	size_t count = json_object_is_type(days, json_type_array) ?
	    json_object_array_length(days) :
	    0;

	top_lines_head(lines, "DAYS");
	if (count == 0)
		top_lines_add(lines, 0, STYLE_DIM, "nothing was spent yet");
	for (size_t i = count; i-- > 0;) {
		struct json_object *day = json_object_array_get_idx(days, i);
		cleanup_buf struct buf label = BUF_INIT;
		cleanup_buf struct buf text = BUF_INIT;

		top_add_day(json_int_or(day, "day", 0), &label);
		top_add_cost_words(day, &text);
		buf_adds(&text, ", ");
		top_add_count(json_int_or(day, "tokens", 0), &text);
		buf_addf(&text, " tokens, %" PRId64 " attempt%s",
		    json_int_or(day, "attempts", 0),
		    json_int_or(day, "attempts", 0) == 1 ? "" : "s");
		if (json_int_or(day, "unpriced", 0) > 0) {
			buf_adds(&text, ", and ");
			top_add_count(json_int_or(day, "unpriced", 0), &text);
			buf_adds(&text, " tokens without a price");
		}
		top_lines_field(lines, label.data, STYLE_PLAIN, text.data);
	}
}

/* The tasks that cost most. */
static void
add_tasks(struct json_object *view, struct top_lines *lines)
{
	struct top_ui ui;
	struct top_rows rows;
	size_t shown = 0;

	top_ui_init(&ui);
	ui.screen = TOP_TASKS;
	ui.sort = TOP_SORT_COST;
	top_rows_make(&ui, view, &rows);
	top_lines_head(lines, "TASKS THAT COST MOST, OPEN AND ENDED");
	for (size_t i = 0; i < rows.count; i++) {
		const struct top_row *at = &rows.rows[i];
		cleanup_buf struct buf text = BUF_INIT;

		if (i > 0 && strcmp(at->section, at[-1].section) != 0)
			shown = 0;
		if ((strcmp(at->section, "tasks") != 0 &&
			strcmp(at->section, "ended") != 0) ||
		    shown++ >= MOST_SHOWN)
			continue;
		top_add_cost_words(at->row, &text);
		buf_addf(&text, "  %s  %s",
		    json_string_or(at->row, "outcome",
			json_string_or(at->row, "step", "")),
		    json_string_or(at->row, "title", ""));
		top_lines_field(lines, at->key, STYLE_PLAIN, text.data);
	}
	top_rows_release(&rows);
	top_ui_release(&ui);
}

void
top_cost_add(struct json_object *view, struct top_lines *lines)
{
	struct json_object *budget = view_of(view, "budget");

	top_lines_add(lines, 0, STYLE_TITLE, "COST");
	add_limits(budget, lines);
	add_days(budget, lines);
	add_tasks(view, lines);
	top_lines_head(lines, "WHAT THE FIGURES MEAN");
	top_lines_add(lines, 0, STYLE_PLAIN,
	    "est. is computed from tokens and the prices in the settings; "
	    "without it, Claude Code has reported the cost. ? is unknown: a "
	    "model has no price. See: llmc config doc");
}

/* --- help ------------------------------------------------------------ */

static const struct {
	const char *keys, *words;
} keys[] = {
	{ "1 2 3 4", "workers, tasks, events, failures; Tab is the next" },
	{ "arrows", "choose a row; also j k, PgUp PgDn, g G" },
	{ "Enter", "all about the chosen row; Esc goes back" },
	{ "/", "show only rows with some words; Esc shows all" },
	{ "p", "show only rows that need somebody, marked with !" },
	{ "s", "sort by name, age, cost" },
	{ "Space", "freeze what is shown, and go on" },
	{ "$", "what it costs" },
	{ "a", "attach to the worker's terminal" },
	{ "l", "logs of the worker" },
	{ "P R", "pause, resume the worker; R also a parked task" },
	{ "A X", "accept, reject finished work" },
	{ "M", "message to the worker" },
	{ "? F1", "this help" },
	{ "q F10", "quit" },
};

static const struct {
	const char *word, *words;
} meanings[] = {
	{ "FOR", "how long it has its status" },
	{ "TRY", "attempts at the task" },
	{ "TURN", "turns of Claude Code in this attempt" },
	{ "COST", "in dollars; ~ is an estimate, ? is unknown" },
	{ "[live]", "autod sends every change" },
	{ "[lost]", "autod does not answer: this is what it said last" },
	{ "[frozen]", "Space was pressed: changes are not shown" },
};

void
top_help_add(struct top_lines *lines)
{
	top_lines_add(lines, 0, STYLE_TITLE, "KEYS");
	for (size_t i = 0; i < nitems(keys); i++)
		top_lines_field(
		    lines, keys[i].keys, STYLE_PLAIN, keys[i].words);
	top_lines_head(lines, "WORDS");
	for (size_t i = 0; i < nitems(meanings); i++)
		top_lines_field(
		    lines, meanings[i].word, STYLE_PLAIN, meanings[i].words);
	top_lines_head(lines, "ACTIONS ASK FIRST");
	top_lines_add(lines, 0, STYLE_PLAIN,
	    "They do what the commands of the same name do: llmc pause, "
	    "resume, accept, reject, message.");
}
