/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "charts.h"
#include "moment.h"
#include "report.h"
#include "view-private.h"
#include "view-table.h"
#include "view.h"

#define SHA_LEN   9
#define WORDS_MAX 300 /* bytes of last words */
#define LINES_MAX 100 /* of each list as text; the JSON has more */
#define LABEL     28 /* width of the words before an amount */

/* How many there are of a list, with those that are left off. */
static int64_t
count_all(struct json_object *report, const char *list)
{
	return (int64_t)json_object_array_length(view_of(report, list)) +
	    json_int_or(view_of(report, "left_off"), list, 0);
}

static void
add_visible(struct buf *out, const char *text)
{
	text_add_words(out, text, strlen(text));
}

static void
add_short(struct buf *out, int64_t ms)
{
	text_add_duration(out, ms >= 1000 ? ms / 1000 * 1000 : ms);
}

/* --- sentences -------------------------------------------------------- */

/* "run r17, 2026-01-31 09:15:30 to 2026-01-31 10:15:30 (1h)" */
static void
add_period(struct json_object *report, struct buf *out)
{
	struct json_object *period = json_object_object_get(report, "period");
	int64_t from = json_int_or(period, "from_ms", 0);
	int64_t to = json_int_or(period, "to_ms", 0);
	const char *run = json_string_or(period, "run", NULL);
	const char *first = json_string_or(period, "first_run", run);

	if (run != NULL) {
		buf_adds(out, "run ");
		if (strcmp(first, run) != 0) {
			add_visible(out, first);
			buf_adds(out, " to ");
		}
		add_visible(out, run);
		buf_adds(out, ", ");
	}
	moment_add(out, from);
	buf_adds(out, " to ");
	if (json_bool_or(period, "goes_on", false))
		buf_adds(out, "now");
	else
		moment_add(out, to);
	buf_adds(out, " (");
	add_short(out, to - from);
	buf_addc(out, ')');
}

/* "nothing waits to land; checks: 3 passed" */
static void
add_landing(struct json_object *report, struct buf *out)
{
	struct json_object *landing = json_object_object_get(report, "landing");
	struct json_object *check = view_of(landing, "check");
	int64_t queue = json_int_or(landing, "queue", 0);
	int64_t trees = json_int_or(check, "trees", 0);
	const char *before = "; checks: ";

	if (queue == 0)
		buf_adds(out, "nothing waits to land");
	else
		buf_addf(out, "%" PRId64 " wait%s to land", queue,
		    queue == 1 ? "s" : "");
	JSON_MEMBERS (it, view_of(landing, "checks")) {
		buf_addf(out, "%s%" PRId64 " ", before,
		    json_object_get_int64(it.val));
		add_visible(out, it.key);
		before = ", ";
	}
	if (trees > 0)
		buf_addf(out,
		    "; its check has contradicted itself on %" PRId64
		    " of %" PRId64 " trees%s",
		    json_int_or(check, "flaky_trees", 0), trees,
		    json_bool_or(check, "flaky_alarm", false) ?
			", which is too often: make it reliable" :
			"");
	if (json_bool_or(landing, "red", false))
		buf_adds(out, "; the branch itself fails its check");
}

/* "3 detections, 1 intervention" */
static void
add_oversight(struct json_object *report, struct buf *out)
{
	struct json_object *counts =
	    json_object_object_get(report, "oversight_counts");
	int64_t found = json_int_or(counts, "detections", 0);
	int64_t acted = json_int_or(counts, "interventions", 0);

	buf_addf(out, "%" PRId64 " detection%s, %" PRId64 " intervention%s",
	    found, found == 1 ? "" : "s", acted, acted == 1 ? "" : "s");
}

/* --- rows ------------------------------------------------------------- */

static const struct view_column need_columns[] = {
	{ "Who", "who", .colour = "1;31" },
	{ "Why", "words", .flexible = true },
	{ "Type this", "command", .code = true },
};

/* The commit that it landed as, or what stands for it. */
static void
add_commit(struct json_object *task, struct buf *out)
{
	const char *commit = json_string_or(task, "commit", NULL);

	if (commit != NULL)
		buf_addf(out, "%.*s", SHA_LEN, commit);
	else
		buf_adds(out, json_string_or(task, "outcome", "-"));
}

/* "+10 -2" where it is known. */
static void
add_lines(struct json_object *task, struct buf *out)
{
	int64_t added = json_int_or(task, "lines_added", -1);
	int64_t removed = json_int_or(task, "lines_removed", -1);

	if (added >= 0 && removed >= 0)
		buf_addf(out, "+%" PRId64 " -%" PRId64, added, removed);
}

/* With what a person should look at. */
static void
add_title(struct json_object *task, struct buf *out)
{
	const char *weakens = json_string_or(task, "weakens", NULL);

	add_visible(out, json_string_or(task, "title", ""));
	if (json_bool_or(task, "overtaken", false))
		buf_adds(out, " (landed on a result that was overtaken)");
	if (weakens == NULL)
		return;
	buf_adds(out, " (weakens tests: ");
	add_visible(out, weakens);
	buf_addc(out, ')');
}

#define TASK_COLUMNS                                                 \
	{ "Cost", .cell = VIEW_COST, .right = true },                \
	    { "Wall", "wall_ms", VIEW_DURATION, .right = true },     \
	    { "Worked", "worked_ms", VIEW_DURATION, .right = true }, \
	    { "Tries", "attempts", VIEW_INT, .right = true },        \
	    { "Lines", .add = add_lines, .right = true },            \
	{                                                            \
		"Title", .add = add_title, .flexible = true          \
	}

static const struct view_column landed_columns[] = {
	{ "Task", .key = "id" },
	{ "Commit", .add = add_commit, .code = true },
	TASK_COLUMNS,
};

static const struct view_column open_columns[] = {
	{ "Task", .key = "id" },
	{ "Step", .key = "step" },
	TASK_COLUMNS,
};

/* What oversight said, or "failure, class, words, outcome, cost". */
static void
add_event(struct json_object *row, struct buf *out)
{
	static const char *const members[] = { "kind", "class", "words",
		"outcome" };
	const char *before = "";

	if (json_string_or(row, "type", NULL) != NULL) {
		add_visible(out, json_string_or(row, "words", ""));
		return;
	}
	for (size_t i = 0; i < nitems(members); i++) {
		const char *word = json_string_or(row, members[i], NULL);

		if (word == NULL || *word == '\0')
			continue;
		buf_adds(out, before);
		add_visible(out, word);
		before = ", ";
	}
	if (json_int_or(row, "cost_micros", 0) > 0) {
		buf_adds(out, before);
		budget_add_cost(out, json_int_or(row, "cost_micros", 0));
	}
}

static const struct view_column event_columns[] = {
	{ .key = "at_ms", .cell = VIEW_MOMENT },
	{ .add = add_event, .flexible = true },
};

static const struct view_column cost_line = { .cell = VIEW_COST };

static void
add_unknown(struct json_object *money, struct buf *out)
{
	int64_t unknown = json_int_or(money, "unknown", 0);

	if (unknown > 0)
		buf_addf(out, "? (%" PRId64 " task%s)", unknown,
		    unknown == 1 ? "" : "s");
}

#define ZERO "$0.00"
static const struct view_column money_lines[] = {
	{ "all of this report", "total_micros", .cell = VIEW_MICROS },
	{ "for each that landed", "per_landed_micros", .cell = VIEW_MICROS },
	{ "on what landed", "landed_micros", .cell = VIEW_MICROS },
	{ "spent without landing", "not_landed_micros", .cell = VIEW_MICROS },
	{ "on what has not ended", "open_micros", .cell = VIEW_MICROS },
	{ "by the planner", "planner_micros", VIEW_MICROS, .usual = ZERO },
	{ "on repairs of llmc", "repairs_micros", VIEW_MICROS, .usual = ZERO },
	{ "by workers of a person", "hand_micros", VIEW_MICROS, .usual = ZERO },
	{ "of all that, estimated", "estimated_micros", .cell = VIEW_MICROS },
	{ "on these days, for others", "elsewhere_micros", VIEW_MICROS,
	    .usual = ZERO },
	{ "not known", .add = add_unknown },
};

/* --- charts ----------------------------------------------------------- */

/* Sizes are in the units of a picture that is WIDTH wide. */
#define WIDTH  640.0
#define HEIGHT 120.0
#define BASE   20.0 /* below the bars, for words */
#define LINE   22.0 /* of the rows of time */
#define LEFT   230.0
#define RIGHT  110.0
#define DAY    10

static void
chart_begin(struct buf *out, const char *title, double height)
{
	buf_addf(out,
	    "<figure><figcaption>%s</figcaption>\n"
	    "<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.0f %.0f\">\n",
	    title, title, WIDTH, height);
}

static void
chart_end(struct buf *out)
{
	buf_adds(out, "</svg></figure>\n");
}

static void
add_bar(struct buf *out, const char *class, double x, double y, double width,
    double height)
{
	if (height > 0 && width > 0)
		buf_addf(out,
		    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		    "height=\"%.1f\"/>\n",
		    class, x, y, width, height);
}

/* anchor: "start", "middle" or "end". */
static void
chart_add_words(
    struct buf *out, const char *anchor, double x, double y, const char *words)
{
	buf_addf(out, "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", anchor,
	    x, y);
	view_html_text(out, words);
	buf_adds(out, "</text>\n");
}

/* A moment, cut at len characters. */
static void
add_moment(
    struct buf *out, const char *anchor, double x, int64_t at_ms, size_t len)
{
	cleanup_buf struct buf words = BUF_INIT;

	moment_add(&words, at_ms);
	if (words.len > len)
		buf_truncate(&words, len);
	chart_add_words(out, anchor, x, HEIGHT + BASE - 5, words.data);
}

/* Each appends a chart, or nothing where there is nothing to show. */
static void
chart_days(struct json_object *report, struct buf *out)
{
	struct json_object *money = json_object_object_get(report, "money");
	struct json_object *days = json_object_object_get(money, "days");
	size_t count = json_object_array_length(days);
	double width = WIDTH / (double)(count > 0 ? count : 1);
	int64_t most = 0;

	JSON_EACH (row, days) {
		int64_t cost = json_int_or(row, "cost_micros", 0);

		most = cost > most ? cost : most;
	}
	if (most == 0)
		return;
	chart_begin(out, "Cost per day (UTC), of all workers", HEIGHT + BASE);
	for (size_t i = 0; i < count; i++) {
		struct json_object *day = json_object_array_get_idx(days, i);
		double x = width * (double)i, w = width < 60 ? width : 60;
		double height = (HEIGHT - BASE - 16) *
		    (double)json_int_or(day, "cost_micros", 0) / (double)most;
		cleanup_buf struct buf cost = BUF_INIT;

		view_cell_add(&cost_line, day, NULL, &cost);
		add_bar(out, "money", x + w * 0.1, HEIGHT - height, w * 0.8,
		    height);
		if (count <= 7)
			chart_add_words(out, "start", x + w * 0.1,
			    HEIGHT - height - 4, cost.data);
		if (i == 0 || count <= 7)
			/* Noon: the same day in most zones. */
			add_moment(out, "start", x + w * 0.1,
			    json_int_or(day, "day", 0) * 86400000 + 43200000,
			    DAY);
	}
	chart_end(out);
}

static const char *
class_of(int use)
{
	if (use <= REPORT_LANDED)
		return "good";
	if (use == REPORT_FAILED || use == REPORT_ERROR || use == REPORT_DOWN)
		return "bad";
	return use <= REPORT_CONFLICT ? "money" : "rest";
}

static void
chart_time(struct json_object *report, struct buf *out)
{
	struct json_object *time = json_object_object_get(report, "time");
	struct json_object *rows = json_object_object_get(time, "rows");
	int64_t all = json_int_or(time, "worker_ms", 0);
	double y = 0;
	int count = 0;

	if (all <= 0)
		return;
	for (int i = 0; i < REPORT_USE_COUNT; i++)
		count += json_int_or(rows, report_use_words[i], 0) > 0;
	chart_begin(out, "What the workers' time was used for", LINE * count);
	for (int i = 0; i < REPORT_USE_COUNT; i++) {
		int64_t ms = json_int_or(rows, report_use_words[i], 0);
		double share = (double)ms / (double)all;
		cleanup_buf struct buf words = BUF_INIT;

		if (ms == 0)
			continue;
		text_add_duration(&words, ms >= 1000 ? ms / 1000 * 1000 : ms);
		buf_addf(&words, ", %.1f %%", 100 * share);
		chart_add_words(
		    out, "end", LEFT - 8, y + 15, report_use_titles[i]);
		add_bar(out, class_of(i), LEFT, y + 4,
		    (WIDTH - LEFT - RIGHT) * share + 1, LINE - 8);
		chart_add_words(out, "start",
		    LEFT + (WIDTH - LEFT - RIGHT) * share + 8, y + 15,
		    words.data);
		y += LINE;
	}
	chart_end(out);
}

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2430;--dim:#5b6673;--paper:#fff;"
    "--line:#d8dee6;--good:#1a7f4b;--bad:#b3261e;--money:#2563a8;"
    "--rest:#8a94a1}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9f0;--dim:#98a4b3;"
    "--paper:#14181e;--line:#2e3742;--good:#4cc38a;--bad:#ff7a70;"
    "--money:#74b0f4;--rest:#6f7b89}}\n"
    "body{margin:2em auto;max-width:62em;padding:0 1em;color:var(--ink);"
    "overflow-wrap:anywhere;"
    "background:var(--paper);font:15px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.3em;margin:0}h2{font-size:1.1em;margin:2em 0 .4em}\n"
    ".verdict{font-size:1.15em;border-left:.35em solid var(--rest);"
    "padding:.4em .8em;margin:1em 0}\n"
    ".verdict.good{border-color:var(--good)}"
    ".verdict.bad{border-color:var(--bad)}"
    ".verdict.mixed{border-color:var(--money)}\n"
    ".dim,figcaption{color:var(--dim)}figure{margin:1.5em 0;"
    "overflow-x:auto}"
    "figcaption{font-size:.9em;margin-bottom:.4em}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:.25em .8em .25em 0;"
    "border-bottom:1px solid var(--line)}"
    "th{font-weight:600;color:var(--dim)}"
    "td.n,th.n{text-align:right}"
    "td.n,td.s,th{overflow-wrap:normal;white-space:nowrap}"
    ".wide td:not(.n,.s){min-width:9em}\n"
    "code,.words{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".words{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em 0}"
    "td{overflow-wrap:anywhere}\n"
    "svg{width:100%;min-width:36em;max-width:48em;height:auto;display:block}"
    "svg text{fill:var(--dim);font-size:12px;font-family:system-ui,"
    "sans-serif}\n"
    ".good{fill:var(--good)}.money{fill:var(--money)}.rest{fill:var(--rest)}"
    ".bad{fill:var(--bad);fill-opacity:.55;stroke:var(--bad);"
    "stroke-dasharray:3 2}\n"
    "@media print{:root{--ink:#000;--dim:#444;--paper:#fff;--line:#bbb;"
    "--good:#1a7f4b;--bad:#b3261e;--money:#2563a8;--rest:#8a94a1}"
    "body{margin:0;max-width:none;font-size:11px}"
    "tr,figure{break-inside:avoid}svg{min-width:0}}\n";

/* --- as text, or as a page -------------------------------------------- */

struct drawing {
	struct json_object *report;
	bool html;
	int width; /* of a text, and whether it has colours */
	bool colours;
	struct buf *out;
};

static void
add_words(const struct drawing *d, const char *words)
{
	if (d->html)
		view_html_text(d->out, words);
	else
		add_visible(d->out, words);
}

/* A part begins; a page needs its end. */
static void
begin(const struct drawing *d, const char *title)
{
	buf_addf(d->out,
	    d->html        ? "<section><h2>%s</h2>\n" :
		d->colours ? "\n\033[1m%s\033[0m\n" :
			     "\n%s\n",
	    title);
}

static void
end(const struct drawing *d)
{
	buf_adds(d->out, d->html ? "</section>\n" : "");
}

/* False: the list is empty, and nothing is said. *ret_first: of a long list, a
 * text has the last ones. */
static bool
begin_list(const struct drawing *d, const char *title, const char *list,
    size_t *ret_first)
{
	size_t count = json_object_array_length(view_of(d->report, list));
	int64_t all = count_all(d->report, list);
	cleanup_free char *words = xasprintf("%s (%" PRId64 ")", title, all);

	*ret_first = !d->html && count > LINES_MAX ? count - LINES_MAX : 0;
	if (count == 0)
		return false;
	begin(d, words);
	if (d->html && all > (int64_t)count)
		buf_addf(d->out, "<p class=\"dim\">The last %zu:</p>\n", count);
	else if (!d->html && all > LINES_MAX)
		buf_addf(d->out, "  %d of them; more: llmc report --json\n",
		    LINES_MAX);
	return true;
}

static void
add_rows(const struct drawing *d, const char *list, size_t first,
    const struct view_column *columns, size_t count)
{
	const struct view_table table = { .columns = columns,
		.count = count,
		.rows = view_of(d->report, list),
		.first = first,
		.most = d->html ? 0 : LINES_MAX,
		.indented = true,
		.bare = columns == need_columns || columns == event_columns };

	if (d->html)
		view_table_html(&table, d->out);
	else
		view_table_print(&table,
		    columns == event_columns ? 0 : d->width, d->colours,
		    d->out);
}

/* What was said about a row, below it. */
static void
add_said(const struct drawing *d, const char *title, const char *words)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (words == NULL || *words == '\0')
		return;
	if (d->html) {
		buf_addf(d->out,
		    "<div class=\"dim\">%s</div><div class=\"words\">", title);
		view_html_text(d->out, words);
		buf_adds(d->out, "</div>\n");
		return;
	}
	text_add_visible(
	    &line, words, text_cut(words, strlen(words), WORDS_MAX), false);
	buf_addf(d->out, "      %s: %s%s\n", title, line.data,
	    strlen(words) > WORDS_MAX ? "..." : "");
}

static void
draw_landed(const struct drawing *d)
{
	struct json_object *list = view_of(d->report, "landed");
	bool unchanged =
	    json_int_or(view_of(d->report, "counts"), "no_changes", 0) > 0;
	size_t first;

	if (!begin_list(d, unchanged ? "Landed, or needed no change" : "Landed",
		"landed", &first))
		return;
	add_rows(d, "landed", first, landed_columns, nitems(landed_columns));
	/* Where nothing was changed, what was said is the result. */
	for (size_t i = first; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		cleanup_free char *title =
		    xasprintf("%s said", json_string_or(row, "id", "?"));

		if (!d->html && json_string_or(row, "commit", NULL) == NULL)
			add_said(
			    d, title, json_string_or(row, "last_words", NULL));
	}
	end(d);
}

static void
draw_not_landed(const struct drawing *d)
{
	struct json_object *list = view_of(d->report, "not_landed");
	size_t first;

	if (!begin_list(d, "Not landed", "not_landed", &first))
		return;
	for (size_t i = first; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		int64_t attempts = json_int_or(row, "attempts", 0);

		buf_adds(d->out, d->html ? "<p><b>" : "  ");
		add_words(d, json_string_or(row, "id", "?"));
		buf_adds(d->out, d->html ? "</b> " : "  ");
		add_words(d, json_string_or(row, "outcome", "?"));
		buf_adds(d->out, ", ");
		view_cell_add(&cost_line, row, NULL, d->out);
		buf_addf(d->out, ", %" PRId64 " attempt%s: ", attempts,
		    attempts == 1 ? "" : "s");
		add_words(d, json_string_or(row, "title", ""));
		buf_adds(d->out, d->html ? "</p>\n" : "\n");
		add_said(d, "why", json_string_or(row, "reason", NULL));
		add_said(d, "it said", json_string_or(row, "last_words", NULL));
	}
	end(d);
}

/* arg: all of it. */
static void
add_share(struct json_object *row, const void *arg, struct buf *out)
{
	const int64_t *all = arg;

	buf_addf(out, "%.1f %%",
	    100.0 * (double)json_int_or(row, "ms", 0) / (double)*all);
}

static const struct view_column time_columns[] = {
	{ .key = "title" },
	{ .key = "ms", .cell = VIEW_DURATION, .right = true },
	{ .add_with = add_share, .right = true },
};

static void
draw_time(const struct drawing *d)
{
	struct json_object *time = view_of(d->report, "time");
	int64_t all = json_int_or(time, "worker_ms", 0);
	int64_t workers = json_int_or(time, "workers", 0);
	cleanup_json struct json_object *rows = json_object_new_array();
	cleanup_buf struct buf title = BUF_INIT;
	const struct view_table table = { .columns = time_columns,
		.count = nitems(time_columns),
		.rows = rows,
		.arg = &all,
		.indented = true,
		.bare = true };

	if (all <= 0)
		return;
	buf_addf(&title, "Time of %" PRId64 " worker%s", workers,
	    workers == 1 ? "" : "s");
	if (d->html) {
		buf_adds(&title, ": ");
		add_short(&title, all);
	}
	begin(d, title.data);
	for (int i = 0; i <= REPORT_USE_COUNT; i++) {
		bool sum = i == REPORT_USE_COUNT;
		int64_t ms = sum ?
		    all :
		    json_int_or(view_of(time, "rows"), report_use_words[i], 0);
		struct json_object *row;

		if (ms == 0)
			continue;
		row = json_object_new_object();
		json_set_string(
		    row, "title", sum ? "all" : report_use_titles[i]);
		json_set_int(row, "ms", ms);
		json_object_array_add(rows, row);
	}
	if (d->html)
		chart_time(d->report, d->out);
	else
		view_table_print(&table, d->width, d->colours, d->out);
	end(d);
}

static void
draw_list(const struct drawing *d, const char *title, const char *list,
    const struct view_column *columns, size_t count)
{
	size_t first;

	if (!begin_list(d, title, list, &first))
		return;
	/* The most urgent needs come first. */
	add_rows(d, list, columns == need_columns ? 0 : first, columns, count);
	end(d);
}

static void
draw_oversight(const struct drawing *d)
{
	cleanup_buf struct buf title = BUF_INIT, counts = BUF_INIT;
	size_t first;

	add_oversight(d->report, &counts);
	buf_adds(&title, "Oversight");
	if (d->html)
		buf_addf(&title, ": %s", counts.data);
	if (!begin_list(d, title.data, "oversight", &first))
		return;
	if (!d->html)
		buf_addf(d->out, "  %s\n", counts.data);
	add_rows(d, "oversight", first, event_columns, nitems(event_columns));
	end(d);
}

/* All but the first lines. */
static void
draw(const struct drawing *d)
{
	struct json_object *charts = view_of(d->report, "charts");
	struct json_object *money = view_of(d->report, "money");
	struct json_object *notes = view_of(d->report, "notes");
	cleanup_buf struct buf landing = BUF_INIT;

	if (json_object_array_length(view_of(d->report, "needs")) == 0)
		buf_adds(d->out,
		    d->html ? "<p>Nothing needs you.</p>\n" :
			      "\nNothing needs you.\n");
	draw_list(d, "Needs you", "needs", need_columns, nitems(need_columns));
	if (json_object_object_get(d->report, "hosts") != NULL)
		draw_list(
		    d, "Hosts", "hosts", view_host_columns, VIEW_HOST_COLUMNS);
	if (d->html && charts != NULL) {
		begin(d, "Charts");
		charts_html(charts, d->out);
		end(d);
	}
	draw_landed(d);
	draw_not_landed(d);
	draw_list(d, "Not ended", "open", open_columns, nitems(open_columns));
	if (d->html || json_int_or(money, "total_micros", 0) != 0 ||
	    json_int_or(money, "unknown", 0) != 0) {
		begin(d, "Money");
		if (d->html) {
			view_facts_html(
			    money_lines, nitems(money_lines), money, d->out);
			chart_days(d->report, d->out);
		} else {
			view_facts(money_lines, nitems(money_lines), money,
			    "  ", LABEL, d->colours, d->out);
		}
		end(d);
	}
	draw_time(d);
	add_landing(d->report, &landing);
	buf_adds(
	    d->out, d->html ? "<section><h2>Landing</h2><p>" : "\nLanding: ");
	add_words(d, landing.data);
	buf_adds(d->out, d->html ? ".</p></section>\n" : ".\n");
	draw_list(d, "Failures and repairs of llmc", "repairs", event_columns,
	    nitems(event_columns));
	draw_oversight(d);
	if (json_object_array_length(notes) > 0)
		buf_adds(d->out, d->html ? "<footer class=\"dim\">\n" : "\n");
	JSON_EACH (row, notes) {
		buf_adds(d->out, d->html ? "<p>" : "");
		add_words(d, json_object_get_string(row));
		buf_adds(d->out, d->html ? "</p>\n" : "\n");
	}
	if (d->html && json_object_array_length(notes) > 0)
		buf_adds(d->out, "</footer>\n");
}

void
report_print_head(struct json_object *report, bool colours, struct buf *out)
{
	const struct drawing d = { report, false, 0, colours, out };

	buf_adds(out, "Report of ");
	add_period(report, out);
	begin(&d, json_string_or(view_of(report, "verdict"), "words", ""));
}

void
report_print(
    struct json_object *report, int width, bool colours, struct buf *out)
{
	const struct drawing d = { report, false, width, colours, out };

	report_print_head(report, colours, out);
	draw(&d);
}

void
report_html(struct json_object *report, struct buf *out)
{
	const struct drawing d = { .report = report, .html = true, .out = out };
	struct json_object *verdict = view_of(report, "verdict");
	const char *project = json_string_or(report, "project", NULL);
	cleanup_buf struct buf period = BUF_INIT;

	add_period(report, &period);
	buf_adds(out,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	    "'none'; style-src 'unsafe-inline'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n<title>llmc report: ");
	view_html_text(out, period.data);
	buf_addf(out,
	    "</title>\n<style>\n%s%s</style></head>\n<body><main><h1>", style,
	    charts_style);
	view_html_text(out, project);
	buf_adds(out, project != NULL ? ": report of " : "report of ");
	view_html_text(out, period.data);
	buf_adds(out, "</h1>\n<p class=\"verdict ");
	view_html_text(out, json_string_or(verdict, "level", ""));
	buf_adds(out, "\">");
	view_html_text(out, json_string_or(verdict, "words", ""));
	buf_adds(out, "</p>\n");
	draw(&d);
	buf_adds(out, "</main></body></html>\n");
}
