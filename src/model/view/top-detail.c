/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "metrics.h"
#include "view-private.h"
#include "view.h"

#define DEPTH_MAX 12 /* columns are for the words */

static void
add_node(struct json_object *node, int depth, struct top_lines *lines)
{
	const char *status = json_string_or(node, "status", "?");
	const char *worker = json_string_or(node, "worker", NULL);
	const char *reason = json_string_or(node, "reason", NULL);
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s  %s", status, json_string_or(node, "title", ""));
	if (worker != NULL)
		buf_addf(&text, " (%s)", worker);
	if (reason != NULL)
		buf_addf(&text, ": %s", reason);
	top_lines_add(lines, 2 * depth, top_word_style(status), text.data);
}

/* row: of the section "goals". */
static void
top_goal_add(struct json_object *row, struct top_lines *lines)
{
	struct json_object *nodes = json_member(row, "nodes");
	cleanup_free char *sums =
	    xasprintf("%" PRId64 " of %" PRId64 " done, %" PRId64
		      " ready, %" PRId64 " blocked",
		json_int_or(row, "done", 0), json_int_or(row, "total", 0),
		json_int_or(row, "ready", 0), json_int_or(row, "blocked", 0));
	int64_t more = json_int_or(row, "nodes_more", 0);
	cleanup_free char *rest =
	    xasprintf("%" PRId64 " more: llmc goal show %s", more,
		json_string_or(row, "id", ""));
	struct strmap depths = { 0 };

	top_lines_field(
	    lines, "title", STYLE_PLAIN, json_string_or(row, "title", NULL));
	top_lines_field(lines, "leaves", STYLE_PLAIN, sums);
	if (!json_object_is_type(nodes, json_type_array))
		return;
	top_lines_head(lines, "TREE");
	/* Parents come before their children; the map has the depth + 1 of
	 * each. */
	JSON_EACH (node, nodes) {
		const char *id = json_string_or(node, "id", NULL);
		const char *parent = json_string_or(node, "parent", "");
		intptr_t depth = (intptr_t)strmap_get(&depths, parent);

		depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
		add_node(node, (int)depth, lines);
		if (id != NULL)
			strmap_add(&depths, id, (void *)(depth + 1));
	}
	strmap_release(&depths);
	if (more > 0)
		top_lines_add(lines, 0, STYLE_DIM, rest);
}

struct detail {
	struct json_object *view;
	struct top_clock *clock;
	struct top_lines *lines;
};

/* --- parts ----------------------------------------------------------- */

static void
field(const struct detail *d, struct json_object *row, const char *label,
    const char *member)
{
	top_lines_field(
	    d->lines, label, STYLE_PLAIN, json_string_or(row, member, NULL));
}

static void
add_headline(const struct detail *d, const char *name, const char *word,
    int64_t since_unix)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s  %s", name, word);
	if (since_unix > 0) {
		buf_adds(&text, " for ");
		top_add_age(d->clock, since_unix, &text);
	}
	top_lines_add(d->lines, 0, STYLE_TITLE, text.data);
}

/* Of what has ended. */
static void
add_past(
    const struct detail *d, const char *name, const char *word, int64_t at_unix)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s  %s, ", name, word);
	top_add_age(d->clock, at_unix, &text);
	buf_adds(&text, " ago");
	top_lines_add(d->lines, 0, STYLE_TITLE, text.data);
}

/* What a person would type. */
static void
add_command(const struct detail *d, const char *who)
{
	JSON_MEMBERS (it, view_of(d->view, "needs"))
		if (strcmp(json_string_or(it.val, "who", ""), who) == 0)
			top_lines_field(d->lines, "you can", STYLE_BOLD,
			    json_string_or(it.val, "command", NULL));
}

static void
add_spent(const struct detail *d, struct json_object *row)
{
	struct json_object *tokens = json_member(row, "tokens");
	bool counted = json_object_is_type(tokens, json_type_object);
	static const struct {
		const char *member, *words;
	} kinds[] = {
		{ "input", "in" },
		{ "output", "out" },
		{ "cacheRead", "cache read" },
		{ "cacheCreation", "cache written" },
	};
	cleanup_buf struct buf text = BUF_INIT;

	if (json_string_or(row, "cost_source", NULL) == NULL)
		return;
	top_add_cost_words(row, &text);
	top_lines_field(d->lines, "cost", STYLE_PLAIN, text.data);
	buf_clear(&text);
	for (size_t i = 0; counted && i < nitems(kinds); i++) {
		buf_adds(&text, i > 0 ? ", " : "");
		top_add_count(json_int_or(tokens, kinds[i].member, 0), &text);
		buf_addf(&text, " %s", kinds[i].words);
	}
	top_lines_field(d->lines, "tokens", STYLE_PLAIN, text.data);
	buf_clear(&text);
	if (json_int_or(row, "lines_added", -1) >= 0)
		buf_addf(&text, "+%" PRId64 " -%" PRId64,
		    json_int_or(row, "lines_added", 0),
		    json_int_or(row, "lines_removed", 0));
	top_lines_field(d->lines, "lines", STYLE_PLAIN, text.data);
}

static void
add_task(const struct detail *d, struct json_object *row)
{
	cleanup_free char *work =
	    xasprintf("%" PRId64 " attempt%s, %" PRId64 " turn%s",
		json_int_or(row, "attempts", 0),
		json_int_or(row, "attempts", 0) == 1 ? "" : "s",
		json_int_or(row, "turns", 0),
		json_int_or(row, "turns", 0) == 1 ? "" : "s");
	const char *last = json_string_or(row, "last_words", "");
	struct json_object *list;
	size_t count;

	field(d, row, "title", "title");
	field(d, row, "source", "source");
	field(d, row, "key", "key");
	field(d, row, "priority", "priority");
	field(d, row, "parent", "parent");
	field(d, row, "run", "run_id");
	top_lines_field(d->lines, "work", STYLE_PLAIN, work);
	add_spent(d, row);
	field(d, row, "commit", "commit");
	field(d, row, "verified", "verification");
	top_lines_field(d->lines, "reason", STYLE_WARN,
	    json_string_or(row, "reason", NULL));
	/* What happened to a task, the last of it: sent back, and why. */
	list = json_member(row, "history");
	count = json_length(list);
	if (count > 0)
		top_lines_head(d->lines, "HISTORY");
	JSON_EACH (entry, list) {
		const char *more = json_string_or(entry, "detail", NULL);
		cleanup_buf struct buf when = BUF_INIT;
		cleanup_free char *words =
		    xasprintf("%s%s%s", json_string_or(entry, "what", ""),
			more != NULL ? ": " : "", more != NULL ? more : "");

		top_add_moment(
		    d->clock, json_int_or(entry, "at_unix", 0), &when);
		top_lines_field(d->lines, when.data, STYLE_PLAIN, words);
	}
	if (*last == '\0')
		return;
	top_lines_head(d->lines, "LAST WORDS");
	top_lines_add(d->lines, 0, STYLE_PLAIN, last);
}

static void
add_task_row(const struct detail *d, const struct top_row *at)
{
	const char *outcome = json_string_or(at->row, "outcome", NULL);

	if (outcome != NULL)
		add_past(d, at->key, outcome,
		    json_int_or(at->row, "finished_unix", 0));
	else
		add_headline(d, at->key, json_string_or(at->row, "step", ""),
		    json_int_or(at->row, "assigned_unix",
			json_int_or(at->row, "created_unix", 0)));
	field(d, at->row, "worker", "worker");
	add_command(d, at->key);
	add_task(d, at->row);
}

/* --- a worker -------------------------------------------------------- */

static const char *const use_titles[WORK_USE_COUNT] = {
	[WORK_WORKING] = "working",
	[WORK_LANDING] = "landing",
	[WORK_CONFLICT] = "resolving conflicts",
	[WORK_WAITING] = "waiting for agents it spawned",
	[WORK_LIMITED] = "usage limit",
	[WORK_OUTAGE] = "service unavailable",
	[WORK_PAUSED] = "paused",
	[WORK_PERSON] = "waiting for a person",
	[WORK_ERROR] = "in error",
	[WORK_OFFLINE] = "offline",
	[WORK_IDLE_QUEUE] = "idle, with tasks waiting",
	[WORK_IDLE] = "idle, without tasks",
};

/* What has ended, and what goes on. */
static void
add_times(const struct detail *d, struct json_object *row)
{
	struct json_object *times = json_member(row, "times");
	const char *now = json_string_or(row, "time_use", "");
	int64_t started =
	    json_int_or(view_of(d->view, "head"), "started_unix", 0);
	cleanup_buf struct buf title = BUF_INIT;

	if (!json_object_is_type(times, json_type_object))
		return;
	buf_adds(&title, "TIME BY STATUS since ");
	top_add_moment(d->clock, started, &title);
	top_lines_head(d->lines, title.data);
	for (int i = 0; i < WORK_USE_COUNT; i++) {
		int64_t ms = json_int_or(times, work_use_words[i], 0);
		cleanup_buf struct buf length = BUF_INIT;

		if (strcmp(work_use_words[i], now) == 0)
			top_add_running(d->clock, ms,
			    json_int_or(row, "time_from_ms", 0), &length);
		else if (ms >= 1000)
			top_add_length(ms, &length);
		if (length.len > 0)
			top_lines_field(
			    d->lines, length.data, STYLE_PLAIN, use_titles[i]);
	}
}

static void
add_landing_queue(const struct detail *d)
{
	struct top_ui ui;
	struct top_rows rows;
	bool has_head = false;

	top_ui_init(&ui);
	ui.screen = TOP_TASKS;
	top_rows_make(&ui, d->view, &rows);
	for (size_t i = 0; i < rows.count; i++) {
		const struct top_row *at = &rows.rows[i];
		const char *task = json_string_or(at->row, "task", at->key);
		cleanup_free char *words = NULL;

		if (strcmp(at->section, "landing") != 0)
			continue;
		if (!has_head)
			top_lines_head(d->lines, "LANDING QUEUE");
		has_head = true;
		words =
		    xasprintf("%s  %s", json_string_or(at->row, "state", "?"),
			json_string_or(at->row, "title", ""));
		top_lines_field(d->lines, task, STYLE_PLAIN, words);
	}
	top_rows_release(&rows);
	top_ui_release(&ui);
}

static void
add_worker_row(const struct detail *d, const struct top_row *at)
{
	struct json_object *row = at->row;
	const char *id = json_string_or(row, "task", NULL);
	struct json_object *task =
	    id != NULL ? view_row(d->view, "tasks", id) : NULL;
	const char *tool = json_string_or(row, "tool", NULL);
	cleanup_buf struct buf until = BUF_INIT, runs = BUF_INIT;

	add_headline(d, at->key, view_row_status(row),
	    json_int_or(row, "since_unix", 0));
	top_lines_field(d->lines, "remark", STYLE_WARN,
	    json_string_or(row, "remark", NULL));
	if (json_int_or(row, "until_unix", 0) > 0)
		top_add_moment(
		    d->clock, json_int_or(row, "until_unix", 0), &until);
	top_lines_field(d->lines, "until", STYLE_PLAIN, until.data);
	add_command(d, at->key);
	if (tool != NULL) {
		buf_addf(&runs, "%s for ", tool);
		top_add_age(
		    d->clock, json_int_or(row, "tool_since_unix", 0), &runs);
	}
	top_lines_field(d->lines, "tool", STYLE_PLAIN, runs.data);
	field(d, row, "host", "host");
	field(d, row, "model", "model");
	field(d, row, "branch", "branch");
	field(d, row, "session", "session");
	field(d, row, "oversight", "health");
	field(d, row, "role", "role");
	field(d, row, "parent", "parent");
	top_lines_field(d->lines, "task", STYLE_BOLD, id);
	if (task != NULL)
		add_task(d, task);
	else
		field(d, row, "title", "title");
	add_times(d, row);
	add_landing_queue(d);
}

/* --- the others ------------------------------------------------------ */

static void
add_landing_row(const struct detail *d, const struct top_row *at)
{
	struct json_object *row = at->row;
	const char *id = json_string_or(row, "task", NULL);
	struct json_object *task =
	    id != NULL ? view_row(d->view, "tasks", id) : NULL;
	cleanup_buf struct buf expected = BUF_INIT;

	add_headline(d, at->key, json_string_or(row, "state", ""),
	    json_int_or(row, "queued_unix", 0));
	top_lines_field(
	    d->lines, "why", STYLE_WARN, json_string_or(row, "why", NULL));
	if (json_int_or(row, "expected_unix", 0) > 0) {
		buf_adds(&expected, "about ");
		top_add_moment(
		    d->clock, json_int_or(row, "expected_unix", 0), &expected);
	}
	top_lines_field(d->lines, "lands", STYLE_PLAIN, expected.data);
	field(d, row, "worker", "worker");
	field(d, row, "commit", "head_sha");
	top_lines_field(d->lines, "task", STYLE_BOLD, id);
	if (task != NULL)
		add_task(d, task);
	else
		field(d, row, "title", "title");
	add_landing_queue(d);
}

static void
add_need_row(const struct detail *d, const struct top_row *at)
{
	add_headline(d, json_string_or(at->row, "who", "?"),
	    json_string_or(at->row, "what", ""), 0);
	field(d, at->row, "why", "words");
	top_lines_field(d->lines, "you can", STYLE_BOLD,
	    json_string_or(at->row, "command", NULL));
}

static void
add_repair_row(const struct detail *d, const struct top_row *at)
{
	struct json_object *row = at->row;
	cleanup_buf struct buf took = BUF_INIT;

	add_past(d, json_string_or(row, "class", "failure"),
	    json_string_or(row, "kind", ""), json_int_or(row, "at_unix", 0));
	field(d, row, "outcome", "outcome");
	if (json_int_or(row, "took_ms", 0) > 0)
		text_add_duration(&took, json_int_or(row, "took_ms", 0));
	top_lines_field(d->lines, "took", STYLE_PLAIN, took.data);
	top_lines_add(
	    d->lines, 0, STYLE_PLAIN, json_string_or(row, "words", NULL));
}

static void
add_event_row(const struct detail *d, const struct top_row *at)
{
	struct json_object *row = at->row;
	cleanup_buf struct buf when = BUF_INIT;

	top_lines_add(
	    d->lines, 0, STYLE_TITLE, json_string_or(row, "type", "event"));
	top_add_moment(d->clock, json_int_or(row, "at_ms", 0) / 1000, &when);
	top_lines_field(d->lines, "when", STYLE_PLAIN, when.data);
	field(d, row, "level", "level");
	field(d, row, "worker", "worker");
	field(d, row, "task", "task");
	top_lines_add(
	    d->lines, 0, STYLE_PLAIN, json_string_or(row, "words", NULL));
}

static void
add_todo_row(const struct detail *d, const struct top_row *at)
{
	cleanup_free char *command = xasprintf("llmc task show %s", at->key);

	add_headline(d, at->key, "not taken yet", 0);
	field(d, at->row, "title", "title");
	field(d, at->row, "priority", "priority");
	field(d, at->row, "label", "label");
	field(d, at->row, "problem", "problem");
	top_lines_field(d->lines, "you can", STYLE_BOLD, command);
}

static void
add_goal_row(const struct detail *d, const struct top_row *at)
{
	add_headline(d, at->key, json_string_or(at->row, "status", ""), 0);
	top_goal_add(at->row, d->lines);
}

static void
add_host_row(const struct detail *d, const struct top_row *at)
{
	cleanup_buf struct buf words = BUF_INIT, seen = BUF_INIT;
	cleanup_buf struct buf lease = BUF_INIT;
	const char *ssh = json_string_or(at->row, "ssh", NULL);

	add_headline(d, at->key, json_string_or(at->row, "state", ""), 0);
	view_host_words(at->row, &words);
	top_lines_field(d->lines, "now", STYLE_PLAIN, words.data);
	top_add_moment(d->clock, json_int_or(at->row, "seen_unix", 0), &seen);
	top_lines_field(d->lines, "seen", STYLE_PLAIN, seen.data);
	top_add_moment(d->clock, json_int_or(at->row, "lease_unix", 0), &lease);
	top_lines_field(d->lines, "lease", STYLE_PLAIN, lease.data);
	field(d, at->row, "version", "version");
	field(d, at->row, "can", "can");
	field(d, at->row, "root", "root");
	top_lines_field(d->lines, "ssh", STYLE_BOLD, ssh);
}

void
top_detail_add(struct json_object *view, const struct top_row *at,
    struct top_clock *clock, struct top_lines *lines)
{
	static const struct {
		const char *section;
		void (*add)(const struct detail *d, const struct top_row *at);
	} kinds[] = {
		{ VIEW_HOSTS, add_host_row },
		{ "workers", add_worker_row },
		{ "tasks", add_task_row },
		{ "todo", add_todo_row },
		{ "ended", add_task_row },
		{ "landing", add_landing_row },
		{ "goals", add_goal_row },
		{ "needs", add_need_row },
		{ "repairs", add_repair_row },
		{ VIEW_EVENTS, add_event_row },
	};
	struct detail d = { view, clock, lines };

	for (size_t i = 0; i < nitems(kinds); i++)
		if (strcmp(kinds[i].section, at->section) == 0)
			kinds[i].add(&d, at);
}
