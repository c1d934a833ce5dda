/* SPDX-License-Identifier: ISC */

/* The charts for a file that runs no script: SVG in the page of a report. What
 * a colour says, a shape or a pattern says too. */

#include "base.h"
#include "account.h"
#include "charts.h"
#include "moment.h"
#include "view-private.h"
#include "view-table.h"

/* Sizes are in the units of a picture that is WIDTH wide. */
#define WIDTH      720
#define LEFT       92
#define RIGHT      712
#define HIGH       110 /* of bars over time */
#define AXIS       20 /* below them */
#define LINE       22 /* of a row with a bar */
#define TICK_ROOM  64
#define TICKS_MAX  64
#define LETTER     6.8 /* width of one, about */
#define WORKER_MAX 12 /* columns of a worker's name */

/* Of the height of a row: where the bar begins, and how high it is. */
static const struct {
	double top, height;
	bool patterned;
} shapes[CHART_CLASS_COUNT] = {
	[CHART_WORKING] = { 0, 1, false },
	[CHART_LANDING] = { 0, 1, true },
	[CHART_WAITING] = { .2, .6, true },
	[CHART_LIMITED] = { .2, .6, true },
	[CHART_IDLE] = { .42, .16, false },
	[CHART_ERROR] = { 0, 1, true },
	[CHART_DOWN] = { .42, .16, false },
};

static const char *const mark_paths[CHART_MARK_COUNT] = {
	[CHART_ASK] = "M0-5L5 0L0 5L-5 0Z",
	[CHART_RETRY] = "M0-5L5 4H-5Z",
	[CHART_FAILED] =
	    "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z",
	[CHART_FAILURE] = "M-4-4H4V4H-4Z",
};

const char charts_style[] =
    ":root{--k-working:#3f86c6;--k-landing:#07605c;--k-waiting:#b07800;"
    "--k-limited:#5d157b;--k-idle:#8d8d85;--k-error:#9c1a10}\n"
    "@media(prefers-color-scheme:dark){:root{--k-working:#3d7fe8;"
    "--k-landing:#4fd1b5;--k-waiting:#f5cc3a;--k-limited:#d9a5f2;"
    "--k-idle:#83868a;--k-error:#e2512b}}\n"
    "@media print{:root{--k-working:#3f86c6;--k-landing:#07605c;"
    "--k-waiting:#b07800;--k-limited:#5d157b;--k-idle:#8d8d85;"
    "--k-error:#9c1a10}}\n"
    ".k-working{fill:var(--k-working)}.k-landing{fill:var(--k-landing)}"
    ".k-waiting{fill:var(--k-waiting)}.k-limited{fill:var(--k-limited)}"
    ".k-idle{fill:var(--k-idle)}.k-error{fill:var(--k-error)}"
    ".k-down{fill:none;stroke:var(--k-idle);stroke-dasharray:2 2}"
    ".k-money{fill:var(--dim)}.k-critical{fill:var(--ink)}\n"
    ".over{fill:none;stroke:var(--paper);stroke-width:1.2}"
    ".axis path,.base{fill:none;stroke:var(--line)}"
    ".limit{fill:none;stroke:var(--ink);stroke-dasharray:6 4}"
    ".mark{fill:var(--ink);stroke:var(--paper);stroke-width:2.5;"
    "paint-order:stroke}"
    ".mark-ask{fill:var(--paper);stroke:var(--ink);stroke-width:2;"
    "paint-order:normal}\n"
    "svg .bold{font-weight:700}svg .small text{font-size:9.5px}"
    ".legend{display:flex;flex-wrap:wrap;gap:.2em 1.2em;list-style:none;"
    "margin:.4em 0;padding:0;font-size:.9em}"
    ".legend svg{display:inline-block;width:18px;min-width:0;height:12px;"
    "overflow:visible}"
    ".defs{position:absolute;width:0;height:0;min-width:0}\n";

/* Patterns are made once, for all pictures. */
static const char patterns[] = "<svg class=\"defs\" aria-hidden=\"true\"><defs>"
#define PATTERN(name, d)                                                    \
	"<pattern id=\"k-" name "\" width=\"6\" height=\"6\" patternUnits=" \
	"\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" class=\"k-" name \
	"\"/><path d=\"" d "\" class=\"over\"/></pattern>"
    PATTERN("landing", "M-1 1L1-1M0 6L6 0M5 7L7 5")
	PATTERN("waiting", "M1 1h2v2h-2zM4 4h2v2h-2z")
	    PATTERN("limited", "M1.5 0V6M4.5 0V6")
		PATTERN("error", "M0 0L6 6M6 0L0 6")
#undef PATTERN
		    "</defs></svg>\n";

struct picture {
	struct json_object *charts;
	struct buf *out;
	int64_t from_ms, wall_ms;
};

static struct json_object *
member(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

static int64_t
number(struct json_object *list, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(list, i));
}

static double
place(const struct picture *p, int64_t at)
{
	return LEFT + (double)(RIGHT - LEFT) * (double)at / (double)p->wall_ms;
}

/* --- pieces ---------------------------------------------------------- */

/* A figure with its words; says is for those who do not see it, too. */
static void
begin(const struct picture *p, const char *title, const char *says, double top,
    double height)
{
	buf_adds(p->out, "<figure><figcaption><b>");
	view_html_text(p->out, title);
	buf_adds(p->out, "</b> ");
	view_html_text(p->out, says);
	buf_adds(p->out, "</figcaption>\n<svg role=\"img\" aria-label=\"");
	view_html_text(p->out, title);
	buf_adds(p->out, ". ");
	view_html_text(p->out, says);
	buf_addf(
	    p->out, "\" viewBox=\"0 %.0f %d %.0f\">\n", top, WIDTH, height);
}

static void
end(const struct picture *p)
{
	buf_adds(p->out, "</svg></figure>\n");
}

/* What the shape of a class is filled with. */
static void
add_paint(struct buf *out, enum chart_class class)
{
	if (shapes[class].patterned)
		buf_addf(out, " fill=\"url(#k-%s)\"", chart_class_words[class]);
	else
		buf_addf(out, " class=\"k-%s\"", chart_class_words[class]);
}

static void
add_words(const struct picture *p, double x, double y, const char *anchor,
    const char *words)
{
	buf_addf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x,
	    y, anchor);
	view_html_text(p->out, words);
	buf_adds(p->out, "</text>");
}

/* A text of others, cut to so many columns. */
static void
add_cut(struct buf *out, const char *text, int columns)
{
	cleanup_buf struct buf line = BUF_INIT;
	size_t len;

	text_add_line(&line, text, strlen(text));
	len = text_width_cut(line.data, line.len, columns);
	if (len < line.len) {
		buf_truncate(
		    &line, text_width_cut(line.data, line.len, columns - 1));
		buf_adds(&line, "\u2026");
	}
	buf_add(out, line.data, line.len);
}

static void
add_axis(const struct picture *p, double height)
{
	struct charts_tick ticks[TICKS_MAX];
	size_t count = charts_ticks(p->from_ms, p->wall_ms,
	    (RIGHT - LEFT) / TICK_ROOM, ticks, TICKS_MAX);

	buf_adds(p->out, "<g class=\"axis\">");
	for (size_t i = 0; i < count; i++) {
		double x = place(p, ticks[i].at);

		buf_addf(p->out, "<path d=\"M%.1f 0V%.0f\"/>", x, height);
		if (x > LEFT + 14 && x < RIGHT - 14)
			add_words(p, x, height + 14, "middle", ticks[i].words);
	}
	buf_adds(p->out, "</g>\n");
}

/* The frame of a picture over time: the axis, the base line, the most. */
static void
begin_over_time(const struct picture *p, const char *title, const char *says,
    const char *most)
{
	begin(p, title, says, 0, HIGH + AXIS);
	add_axis(p, HIGH);
	buf_addf(p->out, "<path class=\"base\" d=\"M%d %dH%d\"/>", LEFT, HIGH,
	    RIGHT);
	add_words(p, LEFT - 6, 20, "end", most);
	add_words(p, LEFT - 6, HIGH, "end", "0");
}

/* --- the time of the workers ----------------------------------------- */

/* One path for each class, whatever the number of workers. */
static void
add_rows(const struct picture *p, struct json_object *workers, double row)
{
	struct buf paths[CHART_CLASS_COUNT];
	double gap = row > 14 ? 3 : 1;

	for (int c = 0; c < CHART_CLASS_COUNT; c++)
		buf_init(&paths[c]);
	buf_addf(p->out, "<g%s>", row < 14 ? " class=\"small\"" : "");
	for (size_t i = 0; i < json_object_array_length(workers); i++) {
		struct json_object *one = json_object_array_get_idx(workers, i);
		struct json_object *spans = member(one, "spans");
		cleanup_buf struct buf name = BUF_INIT;

		add_cut(&name, json_string_or(one, "worker", "?"), WORKER_MAX);
		add_words(p, LEFT - 6,
		    (double)i * row + row / 2 + (row < 14 ? 3 : 4), "end",
		    name.data);
		JSON_EACH (span, spans) {
			int64_t c = number(span, 2);
			double x = place(p, number(span, 0));
			double wide = place(p, number(span, 1)) - x;

			if (c < 0 || c >= CHART_CLASS_COUNT)
				continue;
			wide = wide > .6 ? wide : .6;
			buf_addf(&paths[c], "M%.1f %.1fh%.1fv%.1fh-%.1fz", x,
			    (double)i * row + gap / 2 +
				shapes[c].top * (row - gap),
			    wide, shapes[c].height * (row - gap), wide);
		}
	}
	buf_adds(p->out, "</g>\n");
	for (int c = 0; c < CHART_CLASS_COUNT; c++) {
		if (paths[c].len > 0) {
			buf_adds(p->out, "<path");
			add_paint(p->out, (enum chart_class)c);
			buf_addf(p->out, " d=\"%s\"/>\n", paths[c].data);
		}
		buf_release(&paths[c]);
	}
}

static int
mark_kind(struct json_object *mark)
{
	for (int k = 0; k < CHART_MARK_COUNT; k++)
		if (view_is(mark, "kind", chart_mark_words[k]))
			return k;
	return CHART_FAILURE;
}

/* With its words, which a browser shows under the pointer. */
static void
add_marks(const struct picture *p, struct json_object *workers, double row)
{
	struct json_object *marks = member(p->charts, "marks");

	JSON_EACH (mark, marks) {
		int kind = mark_kind(mark);
		const char *worker = json_string_or(mark, "worker", NULL);
		cleanup_buf struct buf words = BUF_INIT;
		size_t at = 0, count = json_object_array_length(workers);

		while (worker != NULL && at < count &&
		    !view_is(json_object_array_get_idx(workers, at), "worker",
			worker))
			at++;
		moment_add(&words, p->from_ms + json_int_or(mark, "at", 0));
		buf_addf(&words, " %s: %s", worker != NULL ? worker : "llmc",
		    json_string_or(mark, "text", ""));
		buf_addf(p->out,
		    "<path class=\"mark mark-%s\" d=\"%s\" "
		    "transform=\"translate(%.1f %.1f)\"><title>",
		    chart_mark_words[kind], mark_paths[kind],
		    place(p, json_int_or(mark, "at", 0)),
		    worker != NULL && at < count ? ((double)at + .5) * row : 0);
		view_html_text(p->out, words.data);
		buf_adds(p->out, "</title></path>\n");
	}
}

static void
add_legend(const struct picture *p)
{
	struct json_object *classes = member(p->charts, "classes");
	struct json_object *marks = member(p->charts, "marks");
	int64_t all = 0, more = json_int_or(p->charts, "marks_more", 0);

	JSON_EACH (item, classes)
		all += json_int_or(item, "ms", 0);
	buf_adds(p->out, "<ul class=\"legend\">");
	for (size_t c = 0;
	     c < json_object_array_length(classes) && c < CHART_CLASS_COUNT;
	     c++) {
		struct json_object *row = json_object_array_get_idx(classes, c);
		int64_t ms = json_int_or(row, "ms", 0);

		if (ms <= 0)
			continue;
		buf_adds(p->out,
		    "<li><svg aria-hidden=\"true\" viewBox=\"0 0 18 12\"><path");
		add_paint(p->out, (enum chart_class)c);
		buf_addf(p->out, " d=\"M0 %.1fh18v%.1fh-18z\"/></svg> %s ",
		    shapes[c].top * 12, shapes[c].height * 12,
		    json_string_or(row, "title", ""));
		text_add_duration(p->out, ms >= 1000 ? ms / 1000 * 1000 : ms);
		buf_addf(p->out, " (%.1f %%)</li>",
		    100.0 * (double)ms / (double)all);
	}
	for (int k = 0; k < CHART_MARK_COUNT; k++) {
		int count = 0;

		JSON_EACH (one, marks)
			count += mark_kind(one) == k;
		if (count > 0)
			buf_addf(p->out,
			    "<li><svg aria-hidden=\"true\" viewBox=\"-9 -6 18 "
			    "12\"><path class=\"mark mark-%s\" d=\"%s\"/></svg> "
			    "%s: %d</li>",
			    chart_mark_words[k], mark_paths[k],
			    chart_mark_titles[k], count);
	}
	if (more > 0)
		buf_addf(p->out,
		    "<li>the %" PRId64 " earliest marks are left off</li>",
		    more);
	buf_adds(p->out, "</ul>\n");
}

static void
draw_time(const struct picture *p)
{
	struct json_object *workers = member(p->charts, "workers");
	size_t count = json_object_array_length(workers);
	int64_t more = json_int_or(p->charts, "workers_more", 0);
	double row = count <= 12 ? 26 : count <= 40 ? 18 : 12;
	double height = row * (double)count;
	cleanup_buf struct buf says = BUF_INIT;

	if (count == 0)
		return;
	buf_adds(&says, "From ");
	moment_add(&says, p->from_ms);
	buf_adds(&says, " to ");
	moment_add(&says, p->from_ms + p->wall_ms);
	buf_adds(&says, ".");
	if (more > 0)
		buf_addf(&says, " %" PRId64 " workers are left off.", more);
	begin(p, "What each worker did", says.data, -6, height + AXIS + 6);
	add_axis(p, height);
	add_rows(p, workers, row);
	add_marks(p, workers, row);
	buf_adds(p->out, "</svg>\n");
	add_legend(p);
	buf_adds(p->out, "</figure>\n");
}

/* --- over time -------------------------------------------------------- */

static void
add_bar(const struct picture *p, size_t step, double top, double height,
    const char *paint, const char *words)
{
	int64_t length = json_int_or(p->charts, "step_ms", 1);
	int64_t from = (int64_t)step * length, to = from + length;
	double x = place(p, from);
	double wide = place(p, to < p->wall_ms ? to : p->wall_ms) - x - 1.5;
	cleanup_buf struct buf at = BUF_INIT;

	moment_add(&at, p->from_ms + from);
	buf_addf(p->out,
	    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	    "%s><title>%s: %s</title></rect>\n",
	    x + .5, top, wide > .5 ? wide : .5, height > 1 ? height : 1, paint,
	    at.data, words);
}

static void
draw_landed(const struct picture *p)
{
	struct json_object *with = member(p->charts, "landed");
	struct json_object *without = member(p->charts, "not_landed");
	size_t count = json_object_array_length(with);
	cleanup_buf struct buf title = BUF_INIT, says = BUF_INIT;
	int64_t landed = 0, failed = 0, most = 0;
	char amount[24];
	double unit;

	for (size_t i = 0; i < count; i++) {
		int64_t sum = number(with, i) + number(without, i);

		landed += number(with, i);
		failed += number(without, i);
		most = sum > most ? sum : most;
	}
	if (most == 0)
		return;
	buf_adds(&title, "Tasks that ended, ");
	charts_add_step(p->charts, &title);
	buf_addf(&says,
	    "%" PRId64 " with a result, %" PRId64 " without (hatched).", landed,
	    failed);
	snprintf(amount, sizeof amount, "%" PRId64, most);
	begin_over_time(p, title.data, says.data, amount);
	unit = (HIGH - 16) / (double)most;
	for (size_t i = 0; i < count; i++) {
		double low = unit * (double)number(with, i);
		double high = unit * (double)number(without, i);

		snprintf(amount, sizeof amount, "%" PRId64, number(with, i));
		if (low > 0)
			add_bar(p, i, HIGH - low, low, "class=\"k-working\"",
			    amount);
		snprintf(amount, sizeof amount, "%" PRId64, number(without, i));
		if (high > 0)
			add_bar(p, i, HIGH - low - high, high,
			    "fill=\"url(#k-error)\"", amount);
	}
	end(p);
}

static void
draw_money(const struct picture *p)
{
	struct json_object *sums = member(p->charts, "money");
	struct json_object *steps = member(sums, "steps");
	size_t count = json_object_array_length(steps);
	int64_t earlier = json_int_or(sums, "earlier_micros", 0), most = 0;
	double pace = (double)json_int_or(sums, "day_cost_micros", 0) *
	    (double)json_int_or(p->charts, "step_ms", 0) / (24 * 3600000.0);
	cleanup_buf struct buf title = BUF_INIT, says = BUF_INIT;
	cleanup_buf struct buf amount = BUF_INIT;
	double unit;

	for (size_t i = 0; i < count; i++)
		most = number(steps, i) > most ? number(steps, i) : most;
	if (most == 0)
		return;
	buf_adds(&title, "Cost of tasks, ");
	charts_add_step(p->charts, &title);
	budget_add_cost(&says, json_int_or(sums, "tasks_micros", 0));
	buf_addf(&says,
	    "%s; a task's cost is spread over the time worked on it.",
	    json_int_or(sums, "estimated_micros", 0) > 0 ? " (estimated)" : "");
	if (earlier > 0) {
		buf_addc(&says, ' ');
		budget_add_cost(&says, earlier);
		buf_adds(
		    &says, " of it was spent before, or when is not known.");
	}
	if (pace > 0 && pace <= (double)most)
		buf_adds(&says,
		    " The dashed line is an even pace of budget.day_cost.");
	budget_add_cost(&amount, most);
	begin_over_time(p, title.data, says.data, amount.data);
	unit = (HIGH - 16) / (double)most;
	for (size_t i = 0; i < count; i++) {
		double high = unit * (double)number(steps, i);

		buf_clear(&amount);
		budget_add_cost(&amount, number(steps, i));
		if (high > 0)
			add_bar(p, i, HIGH - high, high, "class=\"k-money\"",
			    amount.data);
	}
	if (pace > 0 && pace <= (double)most)
		buf_addf(p->out, "<path class=\"limit\" d=\"M%d %.1fH%d\"/>",
		    LEFT, HIGH - unit * pace, RIGHT);
	end(p);
}

static void
draw_queue(const struct picture *p)
{
	struct json_object *list = member(p->charts, "queue");
	size_t count = json_object_array_length(list);
	int64_t most = json_int_or(p->charts, "queue_most", 0);
	cleanup_buf struct buf says = BUF_INIT;
	char amount[24];

	if (most <= 0)
		return;
	buf_addf(&says,
	    "At most %" PRId64 " worker%s with finished work that waited to "
	    "land, or landed.",
	    most, most == 1 ? "" : "s");
	snprintf(amount, sizeof amount, "%" PRId64, most);
	begin_over_time(p, "Landing queue", says.data, amount);
	buf_addf(p->out, "<path class=\"k-landing\" d=\"M%d %d", LEFT, HIGH);
	for (size_t i = 0; i < count; i++) {
		struct json_object *point = json_object_array_get_idx(list, i);
		int64_t to = i + 1 < count ?
		    number(json_object_array_get_idx(list, i + 1), 0) :
		    p->wall_ms;
		double x = place(p, number(point, 0)), end_x = place(p, to);

		buf_addf(p->out, "H%.1fV%.1fH%.1fV%d", x,
		    HIGH -
			(HIGH - 16) * (double)number(point, 1) / (double)most,
		    end_x > x + .6 ? end_x : x + .6, HIGH);
	}
	buf_adds(p->out, "Z\"/>");
	end(p);
}

/* --- tasks and goals -------------------------------------------------- */

/* A row: its words, a bar from one amount to another of `all`, and words
 * behind it. */
static void
add_row(const struct picture *p, size_t i, const char *words, const char *paint,
    double from, double to, double all, const char *behind, bool bold)
{
	static const double left = WIDTH * .48;
	double unit = (WIDTH - left - 90) / (all > 0 ? all : 1);
	double y = (double)(i * LINE);
	cleanup_buf struct buf cut = BUF_INIT;

	add_cut(&cut, words, (int)(left / LETTER));
	buf_addf(p->out, "<g%s>", bold ? " class=\"bold\"" : "");
	add_words(p, 0, y + 15, "start", cut.data);
	if (to > from)
		buf_addf(p->out,
		    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		    "height=\"14\" %s/>",
		    left + unit * from, y + 4,
		    unit * (to - from) > 2 ? unit * (to - from) : 2, paint);
	add_words(p, left + unit * (to > from ? to : from) + 6, y + 15, "start",
	    behind);
	buf_adds(p->out, "</g>\n");
}

static void
draw_tasks(const struct picture *p)
{
	struct json_object *sums = member(p->charts, "money");
	struct json_object *tasks = member(sums, "tasks");
	size_t count = json_object_array_length(tasks);
	double top = (double)json_int_or(
	    json_object_array_get_idx(tasks, 0), "cost_micros", 1);
	cleanup_buf struct buf says = BUF_INIT;

	if (count == 0)
		return;
	buf_adds(&says,
	    "Filled: with a result; hatched: without one; pale: not ended.");
	if (json_int_or(sums, "more", 0) > 0) {
		buf_addf(&says, " Others: %" PRId64 ", for ",
		    json_int_or(sums, "more", 0));
		budget_add_cost(&says, json_int_or(sums, "more_micros", 0));
		buf_addc(&says, '.');
	}
	begin(p, "The most expensive tasks", says.data, 0,
	    (double)(count * LINE + 4));
	for (size_t i = 0; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(tasks, i);
		int64_t cost = json_int_or(row, "cost_micros", 0);
		bool ended = json_string_or(row, "outcome", NULL) != NULL;
		bool good = view_is(row, "outcome", "landed") ||
		    view_is(row, "outcome", "no_changes");
		cleanup_buf struct buf words = BUF_INIT, amount = BUF_INIT;

		buf_addf(&words, "%s %s", json_string_or(row, "id", "?"),
		    json_string_or(row, "title", ""));
		budget_add_cost(&amount, cost);
		add_row(p, i, words.data,
		    !ended   ? "class=\"k-idle\"" :
			good ? "class=\"k-working\"" :
			       "fill=\"url(#k-error)\"",
		    0, (double)cost, top, amount.data, false);
	}
	end(p);
}

static void
draw_goal(const struct picture *p, struct json_object *goal)
{
	struct json_object *nodes = member(goal, "nodes");
	size_t count = json_object_array_length(nodes);
	int64_t path = json_int_or(goal, "critical_effort", 0);
	int64_t more = json_int_or(goal, "nodes_more", 0);
	cleanup_buf struct buf title = BUF_INIT, says = BUF_INIT;

	buf_addf(&title, "Goal %s: %s", json_string_or(goal, "id", "?"),
	    json_string_or(goal, "title", ""));
	buf_addf(&says, "%" PRId64 " of %" PRId64 " done.",
	    json_int_or(goal, "done", 0), json_int_or(goal, "total", 0));
	if (path > 0)
		buf_addf(&says,
		    " The critical path (\u25c6) takes %" PRId64 " of %" PRId64
		    " estimated turns; a bar begins when what it waits for can "
		    "have ended.",
		    path, json_int_or(goal, "effort", 0));
	if (more > 0)
		buf_addf(&says, " %" PRId64 " nodes are left off.", more);
	begin(p, title.data, says.data, 0, (double)(count * LINE + 4));
	for (size_t i = 0; i < count; i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);
		bool critical = json_bool_or(node, "critical", false);
		int64_t effort = json_int_or(node, "effort", -1);
		double start = (double)json_int_or(node, "start", 0);
		cleanup_buf struct buf words = BUF_INIT;

		for (int64_t d = json_int_or(node, "depth", 0); d > 0; d--)
			buf_adds(&words, "\u00a0\u00a0");
		buf_addf(&words, "%s%s %s", critical ? "\u25c6 " : "",
		    json_string_or(node, "id", "?"),
		    json_string_or(node, "title", ""));
		add_row(p, i, words.data,
		    critical ? "class=\"k-critical\"" : "class=\"k-working\"",
		    effort > 0 ? start : 0,
		    effort > 0 ? start + (double)effort : 0, (double)path,
		    json_string_or(node, "status", ""), critical);
	}
	end(p);
}

void
charts_html(struct json_object *charts, struct buf *out)
{
	struct json_object *goals = member(charts, "goals");
	struct picture p = {
		.charts = charts,
		.out = out,
		.from_ms = json_int_or(charts, "from_ms", 0),
	};

	p.wall_ms = json_int_or(charts, "to_ms", 0) - p.from_ms;
	p.wall_ms = p.wall_ms > 0 ? p.wall_ms : 1;
	buf_adds(out, patterns);
	draw_time(&p);
	draw_landed(&p);
	draw_money(&p);
	draw_queue(&p);
	draw_tasks(&p);
	JSON_EACH (row, goals)
		draw_goal(&p, row);
}
