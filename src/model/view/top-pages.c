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
	buf_adds(&text, text.len > 0 ? " a day, for auto mode" : "none");
	top_lines_field(lines, "limit", STYLE_PLAIN, text.data);
}

static void
add_days(struct json_object *budget, struct top_lines *lines)
{
	struct json_object *days = json_object_object_get(budget, "days");
	size_t count = json_object_is_type(days, json_type_array) ?
	    json_object_array_length(days) :
	    0;

	top_lines_head(lines, "DAYS, WITH WORK BY HAND");
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

struct meaning {
	const char *word, *words; /* NULL, and a headline */
};

static const struct meaning meanings[] = {
	{ NULL, "KEYS" },
	{ "1 2 3 4", "workers, tasks, events, failures" },
	{ "Tab", "the next of these; Shift-Tab the one before" },
	{ "arrows", "choose a row; also j k, PgUp PgDn, g G, Home End" },
	{ "Enter", "all about the chosen row, and back" },
	{ "/", "show only rows with some words; Esc shows all" },
	{ "p", "problems: show only rows marked with !" },
	{ "s", "sort by name, age, cost" },
	{ "Space", "freeze what is shown; again: go on" },
	{ "$", "what it costs" },
	{ "a", "attach to the worker's terminal" },
	{ "l", "logs of the worker" },
	{ "? F1", "this help" },
	{ "Esc", "back; also q on a page" },
	{ "q F10", "quit; also Ctrl-C. Ctrl-Z stops, Ctrl-L draws anew" },
	{ NULL, "KEYS THAT ACT, AND ASK FIRST" },
	{ "P R", "pause, resume the worker; R also a parked task" },
	{ "A X", "accept, reject finished work" },
	{ "M", "message to the worker" },
	{ NULL, "THE FIRST LINES" },
	{ "up", "how long autod, the daemon of llmc, has been running" },
	{ "lag", "how late it was at most in doing what was due" },
	{ "overseer", "restarts autod if it ends, and has it repaired" },
	{ "[live]", "autod sends every change" },
	{ "[lost]", "autod does not answer: this is what it said last" },
	{ "[hangs]", "autod is there and does nothing: llmc status" },
	{ "[frozen]", "Space was pressed: changes are not shown" },
	{ "today",
	    "of auto mode since midnight: money of its limit, tokens (tok)" },
	{ "est.", "an estimate, by tokens and prices; +? has no price" },
	{ "landed", "tasks of this run whose work is on the branch" },
	{ "failed", "tasks of this run that were given up" },
	{ "queue", "tasks that no worker has" },
	{ "landing", "finished work on its way to the branch" },
	{ "limits", "workers that wait for a usage limit to end" },
	{ "NEEDS YOU",
	    "the most urgent first; 4 shows all, Enter what to type" },
	{ NULL, "COLUMNS AND MARKS" },
	{ ">", "the chosen row" },
	{ "!", "this row needs somebody" },
	{ "FOR", "how long it is so; since it ended" },
	{ "TRY", "attempts at the task" },
	{ "TURN", "turns of Claude Code; of a worker: in this attempt" },
	{ "COST", "in dollars; ~ is an estimate, ? is unknown" },
	{ "[Bash]", "the tool that Claude Code is running" },
	{ NULL, "STATUS OF A WORKER" },
	{ "idle", "ready, without a task" },
	{ "starting", "it is given its task" },
	{ "working", "it works on its task" },
	{ "needs_review", "finished: decide with A or X" },
	{ "reviewing", "it reviews its own work" },
	{ "rejected", "it works again, after a rejection" },
	{ "rebasing", "it resolves conflicts with the branch" },
	{ "no_changes", "finished without a change" },
	{ "accepting", "its work is landing" },
	{ "paused", "it waits for a person, or for a budget" },
	{ "limited", "it waits for a usage limit or an outage to end" },
	{ "waiting", "it waits for agents that it has spawned" },
	{ "error", "it cannot go on; WHAT says why" },
	{ "offline", "it has no session" },
	{ NULL, "STATE OF A TASK" },
	{ "todo", "in its source; nobody has taken it" },
	{ "offered", "not yet taken from its source" },
	{ "waiting", "for a worker" },
	{ "assigned", "a worker has it" },
	{ "queued", "its work waits in the landing queue" },
	{ "parked",
	    "over its budget, or stopped by oversight; R lets it go on" },
	{ "settling", "ended; its source is being told" },
	{ "landed", "its work is on the branch" },
	{ "no_changes", "ended without a change" },
	{ "failed", "given up" },
	{ "dead-letter", "failed too often, and put aside" },
	{ "aborted", "ended because it went wrong" },
	{ NULL, "STATE IN THE LANDING QUEUE" },
	{ "queued", "others are before it" },
	{ "built", "rebased; no check covers it yet" },
	{ "covered", "a check that is running covers it" },
	{ "green", "passed; it lands next" },
	{ "landing", "the branch is being moved" },
	{ "deferred", "conflicts with one before it" },
	{ "suspect", "failed; it is checked once more" },
	{ "held", "waits for a person, or for a clean checkout" },
	{ "red", "the branch itself fails its check" },
};

void
top_help_add(struct top_lines *lines)
{
	for (size_t i = 0; i < nitems(meanings); i++)
		if (meanings[i].word == NULL)
			top_lines_head(lines, meanings[i].words);
		else
			top_lines_field(lines, meanings[i].word, STYLE_PLAIN,
			    meanings[i].words);
}
