/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "charts.h"
#include "moment.h"
#include "view-private.h"

#define WIDTH_MAX   100 /* wider pictures say no more */
#define WIDTH_MIN   40
#define LABEL_MAX   12
#define HEIGHT      4 /* lines of a chart over time */
#define TICK        8 /* columns of a label of the axis, at least */
#define TICKS_MAX   64
#define DAY_MIN     (24 * 60)
#define EIGHTHS     8
#define OUTCOME_MAX 11
#define BAR_MAX     16 /* columns of what a task cost */
#define ID_MAX      10
#define STATUS_MAX  12

struct glyph {
	const char *utf8, *ascii;
	const char *sgr; /* NULL = none */
};

static const struct glyph class_glyphs[CHART_CLASS_COUNT] = {
	[CHART_WORKING] = { "\u2588", "#", "32" },
	[CHART_LANDING] = { "\u2593", "=", "36" },
	[CHART_WAITING] = { "\u2592", "~", "33" },
	[CHART_LIMITED] = { "\u2591", ":", "35" },
	[CHART_IDLE] = { "\u00b7", ".", "90" },
	[CHART_ERROR] = { "x", "x", "31" },
	[CHART_DOWN] = { "_", "_", "90" },
};

static const struct glyph mark_glyphs[CHART_MARK_COUNT] = {
	[CHART_ASK] = { "?", "?", "1;33" },
	[CHART_RETRY] = { "!", "!", "1;31" },
	[CHART_FAILED] = { "X", "X", "1;31" },
	[CHART_FAILURE] = { "%", "%", "1;31" },
};

static const struct glyph good = { "\u2588", "#", "32" };
static const struct glyph bad = { "\u2591", "x", "31" };
static const struct glyph money = { "\u2588", "#", "34" };
static const struct glyph queue = { "\u2588", "#", "36" };

struct drawing {
	struct json_object *charts;
	const struct charts_look *look;
	struct buf *out;
	int label, columns; /* of the label, and beside it */
	int64_t from_ms, wall_ms;
};

static int64_t
number(struct json_object *list, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(list, i));
}

/* --- pieces ---------------------------------------------------------- */

/* The same glyph so often; one sequence for all of them. */
static void
add_glyphs(const struct drawing *d, const struct glyph *glyph, int count)
{
	bool coloured = d->look->colours && glyph->sgr != NULL;

	if (count <= 0)
		return;
	if (coloured)
		buf_addf(d->out, "\033[%sm", glyph->sgr);
	while (count-- > 0)
		buf_adds(d->out, d->look->utf8 ? glyph->utf8 : glyph->ascii);
	if (coloured)
		buf_adds(d->out, "\033[0m");
}

/* Without the blanks at its end. */
static void
end_line(const struct drawing *d)
{
	while (d->out->len > 0 && d->out->data[d->out->len - 1] == ' ')
		buf_truncate(d->out, d->out->len - 1);
	buf_addc(d->out, '\n');
}

/* A line of cells; NULL is a blank. */
static void
add_cells(const struct drawing *d, const struct glyph *const *cells)
{
	static const struct glyph blank = { " ", " ", NULL };

	for (int c = 0, next; c < d->columns; c = next) {
		for (next = c + 1;
		     next < d->columns && cells[next] == cells[c];)
			next++;
		if (cells[c] != NULL || next < d->columns)
			add_glyphs(
			    d, cells[c] != NULL ? cells[c] : &blank, next - c);
	}
	end_line(d);
}

/* A text of others in so many columns, filled up with blanks. Without UTF-8,
 * what is not ASCII is a question mark. */
static void
add_padded(const struct drawing *d, const char *text, int columns)
{
	cleanup_buf struct buf line = BUF_INIT;

	text_add_line(&line, text, strlen(text));
	buf_truncate(&line, text_width_cut(line.data, line.len, columns));
	for (size_t i = 0; i < line.len && !d->look->utf8; i++) {
		size_t n = text_utf8_len(line.data + i, line.len - i);

		if (n > 1)
			buf_splice(&line, i, n, "?", 1);
	}
	buf_add(d->out, line.data, line.len);
	buf_addf(d->out, "%*s", columns - text_width(line.data, line.len), "");
}

static void
add_title(const struct drawing *d, const char *words)
{
	buf_addf(d->out, d->look->colours ? "\n\033[1m%s\033[0m\n" : "\n%s\n",
	    words);
}

/* Words that go on a line as long as there is room; a line begins behind two
 * blanks. *column: 0 before the first. */
static void
add_word(const struct drawing *d, const struct glyph *glyph, const char *words,
    int *column)
{
	int width = (glyph != NULL ? 2 : 0) + (int)strlen(words);

	if (*column > 0 && *column + 2 + width > d->label + d->columns) {
		buf_addc(d->out, '\n');
		*column = 0;
	}
	buf_adds(d->out, "  ");
	if (glyph != NULL) {
		add_glyphs(d, glyph, 1);
		buf_addc(d->out, ' ');
	}
	buf_adds(d->out, words);
	*column += 2 + width;
}

/* "09:15" or "01-31", of local time. */
static void
add_clock(struct buf *out, int64_t at_ms, bool day)
{
	cleanup_buf struct buf words = BUF_INIT;

	moment_add(&words, at_ms);
	if (words.len >= 16)
		buf_add(out, words.data + (day ? 5 : 11), 5);
}

size_t
charts_ticks(int64_t from_ms, int64_t wall_ms, int room,
    struct charts_tick *ret_ticks, size_t max)
{
	static const int64_t steps[] = { 1, 2, 5, 10, 15, 30, 60, 120, 180, 240,
		360, 720, DAY_MIN, 2 * DAY_MIN, 7 * DAY_MIN, 30 * DAY_MIN };
	cleanup_buf struct buf clock = BUF_INIT;
	int64_t minute, step = 0;
	size_t count = 0;

	for (size_t i = 0; i < nitems(steps); i++) {
		step = steps[i];
		if (wall_ms / (step * 60000) < room)
			break;
	}
	add_clock(&clock, from_ms, false);
	minute = clock.len == 5 ?
	    ((clock.data[0] - '0') * 10 + clock.data[1] - '0') * 60 +
		(clock.data[3] - '0') * 10 + clock.data[4] - '0' :
	    0;
	/* The first round moment of the period. */
	minute = (minute + step - 1) / step * step - minute;
	for (int64_t at = minute * 60000 - from_ms % 60000;
	     at < wall_ms && count < max; at += step * 60000) {
		if (at < 0)
			continue;
		buf_clear(&clock);
		add_clock(&clock, from_ms + at, step >= DAY_MIN);
		ret_ticks[count].at = at;
		strlcpy(ret_ticks[count++].words, clock.data,
		    sizeof ret_ticks->words);
	}
	return count;
}

/* The axis of the time. */
static void
add_axis(const struct drawing *d)
{
	struct charts_tick ticks[TICKS_MAX];
	size_t count = charts_ticks(d->from_ms, d->wall_ms,
	    (d->columns + TICK - 1) / TICK, ticks, TICKS_MAX);
	int column = 0;

	buf_addf(d->out, "%*s", d->label, "");
	for (size_t i = 0; i < count; i++) {
		int to = (int)(ticks[i].at * d->columns / (d->wall_ms + 1));

		if (to < column || to + 5 > d->columns)
			continue;
		buf_addf(d->out, "%*s%s ", to - column, "", ticks[i].words);
		column = to + 6;
	}
	end_line(d);
}

/* Two layers of columns, as high as HEIGHT lines for `most`; amount: what the
 * highest is in words. upper may be NULL. */
static void
add_columns(const struct drawing *d, const double *lower, const double *upper,
    double most, const char *amount, const struct glyph *one,
    const struct glyph *other)
{
	static const char *const blocks[EIGHTHS + 1] = { " ", "\u2581",
		"\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
		"\u2588" };
	cleanup_free const struct glyph **cells =
	    xcalloc((size_t)d->columns, sizeof(struct glyph *));
	struct glyph eighths[EIGHTHS + 1];

	for (int i = 0; i <= EIGHTHS; i++)
		eighths[i] = (struct glyph){ blocks[i], one->ascii, one->sgr };
	for (int line = HEIGHT - 1; line >= 0; line--) {
		for (int c = 0; c < d->columns; c++) {
			double low = lower[c] / most * HEIGHT - line;
			double high = low +
			    (upper != NULL ? upper[c] / most * HEIGHT : 0);
			int part =
			    low >= 1 ? EIGHTHS : (int)(low * EIGHTHS + 0.5);

			/* The least there is can be seen. */
			if (line == 0 && lower[c] > 0 && part < 1)
				part = 1;
			if (part > 0 && !d->look->utf8)
				part = part >= EIGHTHS / 2 || line == 0 ?
				    EIGHTHS :
				    0;
			if (part < EIGHTHS && high > low &&
			    (high >= 0.5 || (line == 0 && part == 0)))
				cells[c] = other;
			else
				cells[c] = part > 0 ? &eighths[part] : NULL;
		}
		buf_addf(d->out, "%*s ", d->label - 1,
		    line == HEIGHT - 1 ? amount :
			line == 0      ? "0" :
					 "");
		add_cells(d, cells);
	}
	add_axis(d);
}

/* Values of the steps, as columns; returns the highest. */
static double
spread(const struct drawing *d, struct json_object *list, double *columns)
{
	int64_t step = json_int_or(d->charts, "step_ms", 1);
	size_t count = json_object_array_length(list);
	double most = 0;

	for (int c = 0; c < d->columns; c++) {
		int64_t at = (2 * c + 1) * d->wall_ms / (2 * d->columns);
		size_t i = (size_t)(at / step);

		columns[c] = i < count ? (double)number(list, i) : 0;
		most = columns[c] > most ? columns[c] : most;
	}
	return most;
}

void
charts_add_step(struct json_object *charts, struct buf *out)
{
	int64_t step = json_int_or(charts, "step_ms", 0);

	buf_adds(out, "per ");
	if (step == 3600000)
		buf_adds(out, "hour");
	else
		text_add_duration(out, step);
}

/* What most of each column is, or a mark in it. */
static void
draw_worker(const struct drawing *d, struct json_object *row)
{
	const char *name = json_string_or(row, "worker", "?");
	struct json_object *spans = view_of(row, "spans");
	struct json_object *marks = view_of(d->charts, "marks");
	int64_t(*sums)[CHART_CLASS_COUNT] =
	    xcalloc((size_t)d->columns, sizeof *sums);
	cleanup_free const struct glyph **cells =
	    xcalloc((size_t)d->columns, sizeof(struct glyph *));

	JSON_EACH (span, spans) {
		int64_t at = number(span, 0), to = number(span, 1);
		int64_t class = number(span, 2);

		while (at < to && class >= 0 && class < CHART_CLASS_COUNT) {
			int64_t c = at * d->columns / (d->wall_ms + 1);
			int64_t end =
			    (c + 1) * (d->wall_ms + 1) / d->columns + 1;

			end = end < to ? end : to;
			if (c >= 0 && c < d->columns)
				sums[c][class] += end - at;
			at = end;
		}
	}
	for (int c = 0; c < d->columns; c++) {
		int best = 0;

		for (int k = 1; k < CHART_CLASS_COUNT; k++)
			best = sums[c][k] > sums[c][best] ? k : best;
		cells[c] = sums[c][best] > 0 ? &class_glyphs[best] : NULL;
	}
	JSON_EACH (mark, marks) {
		int64_t c =
		    json_int_or(mark, "at", 0) * d->columns / (d->wall_ms + 1);

		if (!view_is(mark, "worker", name) || c < 0 || c >= d->columns)
			continue;
		for (int k = 0; k < CHART_MARK_COUNT; k++)
			if (view_is(mark, "kind", chart_mark_words[k]))
				cells[c] = &mark_glyphs[k];
	}
	add_padded(d, name, d->label - 1);
	buf_addc(d->out, ' ');
	add_cells(d, cells);
	free(sums);
}

static void
draw_time(const struct drawing *d)
{
	struct json_object *workers = view_of(d->charts, "workers");
	struct json_object *legend = view_of(d->charts, "classes");
	struct json_object *marks = view_of(d->charts, "marks");
	size_t count = json_object_array_length(workers), shown = count;
	int64_t more = json_int_or(d->charts, "workers_more", 0), all = 0;
	int64_t left_off = json_int_or(d->charts, "marks_more", 0);
	cleanup_buf struct buf title = BUF_INIT;
	int column = 0;

	buf_addf(&title, "Time of %" PRId64 " worker%s", (int64_t)count + more,
	    count + (size_t)more == 1 ? "" : "s");
	add_title(d, title.data);
	if (d->look->rows > 0 && shown > (size_t)d->look->rows)
		shown = (size_t)d->look->rows;
	for (size_t i = 0; i < shown; i++)
		draw_worker(d, json_object_array_get_idx(workers, i));
	add_axis(d);
	more += (int64_t)(count - shown);
	if (more > 0)
		buf_addf(d->out,
		    "  %" PRId64 " more: llmc report --charts --json\n", more);
	JSON_EACH (item, legend)
		all += json_int_or(item, "ms", 0);
	for (size_t i = 0;
	     i < json_object_array_length(legend) && i < CHART_CLASS_COUNT;
	     i++) {
		struct json_object *row = json_object_array_get_idx(legend, i);
		int64_t ms = json_int_or(row, "ms", 0);
		cleanup_buf struct buf words = BUF_INIT;

		if (ms <= 0)
			continue;
		buf_addf(&words, "%s ", json_string_or(row, "title", ""));
		text_add_duration(&words, ms >= 1000 ? ms / 1000 * 1000 : ms);
		buf_addf(
		    &words, " (%.1f %%)", 100.0 * (double)ms / (double)all);
		add_word(d, &class_glyphs[i], words.data, &column);
	}
	buf_adds(d->out, column > 0 ? "\n" : "");
	column = 0;
	for (int k = 0; k < CHART_MARK_COUNT; k++) {
		cleanup_free char *words = NULL;
		int n = 0;

		JSON_EACH (one, marks)
			n += view_is(one, "kind", chart_mark_words[k]);
		words = xasprintf("%s: %d", chart_mark_titles[k], n);
		if (n > 0)
			add_word(d, &mark_glyphs[k], words, &column);
	}
	if (left_off > 0) {
		cleanup_free char *words = xasprintf(
		    "the %" PRId64 " earliest marks are left off", left_off);

		add_word(d, NULL, words, &column);
	}
	buf_adds(d->out, column > 0 ? "\n" : "");
}

static void
draw_landed(const struct drawing *d)
{
	struct json_object *with = view_of(d->charts, "landed");
	struct json_object *without = view_of(d->charts, "not_landed");
	cleanup_free double *lower = xcalloc((size_t)d->columns, sizeof *lower);
	cleanup_free double *upper = xcalloc((size_t)d->columns, sizeof *upper);
	cleanup_buf struct buf title = BUF_INIT;
	int64_t landed = 0, failed = 0, most = 0;
	char amount[24];

	for (size_t i = 0; i < json_object_array_length(with); i++) {
		int64_t sum = number(with, i) + number(without, i);

		landed += number(with, i);
		failed += number(without, i);
		most = sum > most ? sum : most;
	}
	buf_adds(&title, "Tasks that ended, ");
	charts_add_step(d->charts, &title);
	buf_addf(&title, ": %" PRId64 " with a result, %" PRId64 " without",
	    landed, failed);
	add_title(d, title.data);
	if (most == 0)
		return;
	spread(d, with, lower);
	spread(d, without, upper);
	snprintf(amount, sizeof amount, "%" PRId64, most);
	add_columns(d, lower, upper, (double)most, amount, &good, &bad);
	if (failed > 0) {
		int column = 0;

		add_word(d, &good, "with a result", &column);
		add_word(d, &bad, "without", &column);
		buf_addc(d->out, '\n');
	}
}

static void
draw_money(const struct drawing *d)
{
	struct json_object *sums = view_of(d->charts, "money");
	struct json_object *tasks = view_of(sums, "tasks");
	cleanup_free double *columns =
	    xcalloc((size_t)d->columns, sizeof *columns);
	cleanup_buf struct buf words = BUF_INIT;
	int64_t all = json_int_or(sums, "tasks_micros", 0);
	int64_t limit = json_int_or(sums, "day_cost_micros", 0);
	int64_t earlier = json_int_or(sums, "earlier_micros", 0);
	int64_t unknown = json_int_or(sums, "unknown", 0);
	double most = spread(d, view_of(sums, "steps"), columns);
	int column = 0;

	buf_adds(&words, "Cost of tasks, ");
	charts_add_step(d->charts, &words);
	buf_adds(&words, ": ");
	budget_add_cost(&words, all);
	if (json_int_or(sums, "estimated_micros", 0) > 0)
		buf_adds(&words, " (estimated)");
	add_title(d, words.data);
	if (most > 0) {
		buf_clear(&words);
		budget_add_cost(&words, (int64_t)most);
		add_columns(d, columns, NULL, most, words.data, &money, &money);
		add_word(d, NULL,
		    "A task's cost is spread over the time worked on it.",
		    &column);
	}
	if (earlier > 0 && all > 0) {
		buf_clear(&words);
		budget_add_cost(&words, earlier);
		buf_adds(&words, " was spent before, or when is not known.");
		add_word(d, NULL, words.data, &column);
	}
	if (unknown > 0) {
		buf_clear(&words);
		buf_addf(&words, "The cost of %" PRId64 " task%s is not known.",
		    unknown, unknown == 1 ? "" : "s");
		add_word(d, NULL, words.data, &column);
	}
	if (view_of(sums, "today_micros") != NULL && limit > 0) {
		buf_clear(&words);
		buf_adds(&words, "Today: ");
		budget_add_cost(&words, json_int_or(sums, "today_micros", 0));
		buf_adds(&words, " of ");
		budget_add_cost(&words, limit);
		buf_adds(&words, " (budget.day_cost).");
		add_word(d, NULL, words.data, &column);
	}
	buf_adds(d->out, column > 0 ? "\n" : "");
	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		struct json_object *row = json_object_array_get_idx(tasks, i);
		int64_t cost = json_int_or(row, "cost_micros", 0);
		int64_t top = json_int_or(
		    json_object_array_get_idx(tasks, 0), "cost_micros", 1);
		bool ended = json_string_or(row, "outcome", NULL) != NULL;
		bool landed = view_is(row, "outcome", "landed") ||
		    view_is(row, "outcome", "no_changes");
		int bar = (int)(cost * BAR_MAX / (top > 0 ? top : 1));

		if (i == 0)
			add_title(d, "The most expensive tasks");
		if (d->look->rows > 0 && (int)i >= d->look->rows)
			break;
		add_padded(d, json_string_or(row, "id", "?"), ID_MAX);
		bar = bar > 0 ? bar : 1;
		add_glyphs(d, !ended ? &money : landed ? &good : &bad, bar);
		buf_clear(&words);
		budget_add_cost(&words, cost);
		buf_addf(d->out, "%*s%9s  ", BAR_MAX - bar, "", words.data);
		add_padded(
		    d, json_string_or(row, "outcome", "open"), OUTCOME_MAX);
		buf_addc(d->out, ' ');
		add_padded(d, json_string_or(row, "title", ""),
		    d->label + d->columns - ID_MAX - BAR_MAX - OUTCOME_MAX -
			12);
		end_line(d);
	}
	if (json_int_or(sums, "more", 0) > 0) {
		buf_clear(&words);
		budget_add_cost(&words, json_int_or(sums, "more_micros", 0));
		buf_addf(d->out, "  others: %" PRId64 ", for %s\n",
		    json_int_or(sums, "more", 0), words.data);
	}
}

/* --- the queue, and goals -------------------------------------------- */

static void
draw_queue(const struct drawing *d)
{
	struct json_object *list = view_of(d->charts, "queue");
	cleanup_free double *columns =
	    xcalloc((size_t)d->columns, sizeof *columns);
	int64_t most = json_int_or(d->charts, "queue_most", 0);
	cleanup_buf struct buf title = BUF_INIT;
	size_t count = json_object_array_length(list);
	char amount[24];

	if (most <= 0) {
		add_title(d, "Landing queue: nothing waited");
		return;
	}
	buf_addf(&title,
	    "Landing queue: at most %" PRId64 " worker%s with finished work",
	    most, most == 1 ? "" : "s");
	add_title(d, title.data);
	for (size_t i = 0; i < count; i++) {
		struct json_object *point = json_object_array_get_idx(list, i);
		struct json_object *next =
		    json_object_array_get_idx(list, i + 1);
		int64_t to = i + 1 < count ? number(next, 0) : d->wall_ms;
		double length = (double)number(point, 1);

		for (int64_t c =
			 number(point, 0) * d->columns / (d->wall_ms + 1);
		     length > 0 && c < d->columns &&
		     c * (d->wall_ms + 1) / d->columns < to;
		     c++)
			columns[c] = length > columns[c] ? length : columns[c];
	}
	snprintf(amount, sizeof amount, "%" PRId64, most);
	add_columns(d, columns, NULL, (double)most, amount, &queue, &queue);
}

static void
draw_goal(const struct drawing *d, struct json_object *goal)
{
	struct json_object *nodes = view_of(goal, "nodes");
	size_t count = json_object_array_length(nodes), shown = count;
	cleanup_buf struct buf title = BUF_INIT;
	int64_t more = json_int_or(goal, "nodes_more", 0);
	int column = 0;

	buf_addf(&title, "Goal %s: ", json_string_or(goal, "id", "?"));
	add_title(d, title.data);
	buf_truncate(d->out, d->out->len - 1);
	add_padded(d, json_string_or(goal, "title", ""),
	    d->label + d->columns - (int)title.len);
	end_line(d);
	buf_clear(&title);
	buf_addf(&title, "%" PRId64 " of %" PRId64 " done",
	    json_int_or(goal, "done", 0), json_int_or(goal, "total", 0));
	add_word(d, NULL, title.data, &column);
	if (json_int_or(goal, "critical_effort", 0) > 0) {
		buf_clear(&title);
		buf_addf(&title,
		    "critical path (*): %" PRId64 " of %" PRId64
		    " estimated turns",
		    json_int_or(goal, "critical_effort", 0),
		    json_int_or(goal, "effort", 0));
		add_word(d, NULL, title.data, &column);
	}
	buf_addc(d->out, '\n');
	if (d->look->rows > 0 && shown > (size_t)d->look->rows)
		shown = (size_t)d->look->rows;
	for (size_t i = 0; i < shown; i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);
		const char *status = json_string_or(node, "status", "");
		int indent = 2 * (int)json_int_or(node, "depth", 0);
		static const struct glyph critical = { "*", "*", "1;33" };

		buf_adds(d->out, "  ");
		if (json_bool_or(node, "critical", false))
			add_glyphs(d, &critical, 1);
		else
			buf_addc(d->out, ' ');
		buf_addf(d->out, " %*s", indent, "");
		add_padded(d, json_string_or(node, "id", "?"), ID_MAX);
		buf_addc(d->out, ' ');
		add_padded(d, status, STATUS_MAX);
		buf_addc(d->out, ' ');
		add_padded(d, json_string_or(node, "title", ""),
		    d->label + d->columns - indent - ID_MAX - STATUS_MAX - 6);
		end_line(d);
	}
	more += (int64_t)(count - shown);
	if (more > 0)
		buf_addf(d->out, "  %" PRId64 " more: llmc goal show %s\n",
		    more, json_string_or(goal, "id", "?"));
}

void
charts_print(
    struct json_object *charts, const struct charts_look *look, struct buf *out)
{
	struct json_object *workers = view_of(charts, "workers");
	struct json_object *goals = view_of(charts, "goals");
	int width = look->width > WIDTH_MAX ? WIDTH_MAX :
	    look->width < WIDTH_MIN         ? WIDTH_MIN :
					      look->width;
	struct drawing d = {
		.charts = charts,
		.look = look,
		.out = out,
		.label = 8,
		.from_ms = json_int_or(charts, "from_ms", 0),
	};

	d.wall_ms = json_int_or(charts, "to_ms", 0) - d.from_ms;
	d.wall_ms = d.wall_ms > 0 ? d.wall_ms : 1;
	JSON_EACH (row, workers) {
		const char *name = json_string_or(row, "worker", "");
		int need = text_width(name, strlen(name)) + 1;

		d.label = need > d.label ? need : d.label;
	}
	d.label = d.label > LABEL_MAX ? LABEL_MAX : d.label;
	d.columns = width - d.label;
	draw_time(&d);
	draw_landed(&d);
	draw_money(&d);
	draw_queue(&d);
	JSON_EACH (item, goals)
		draw_goal(&d, item);
}
