/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "budget.h"
#include "buf.h"
#include "json.h"
#include "moment.h"
#include "report-chart.h"
#include "report-money.h"
#include "report-time.h"
#include "text.h"

/* Sizes are in the units of a picture that is WIDTH wide. */
#define WIDTH  640.0
#define HEIGHT 120.0
#define BASE   20.0 /* below the bars, for words */
#define LINE   22.0 /* of the rows of time */
#define LEFT   230.0
#define RIGHT  110.0
#define MINUTE 16 /* "2026-01-31 09:15" */
#define DAY    10

void
report_chart_text(struct buf *out, const char *text)
{
	cleanup_buf struct buf seen = BUF_INIT;

	if (text == NULL)
		return;
	text_add_visible(&seen, text, strlen(text), true);
	for (const char *c = seen.data; *c != '\0'; c++)
		switch (*c) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, *c);
		}
}

static void
begin(struct buf *out, const char *title, double height)
{
	buf_addf(out,
	    "<figure><figcaption>%s</figcaption>\n"
	    "<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %.0f %.0f\">\n",
	    title, title, WIDTH, height);
}

static void
end(struct buf *out)
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
add_words(
    struct buf *out, const char *anchor, double x, double y, const char *words)
{
	buf_addf(out, "<text text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", anchor,
	    x, y);
	report_chart_text(out, words);
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
	add_words(out, anchor, x, HEIGHT + BASE - 5, words.data);
}

/* --- tasks over time ------------------------------------------------- */

static int64_t
bar_of(struct json_object *list, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(list, i));
}

void
report_chart_tasks(struct json_object *report, struct buf *out)
{
	struct json_object *series = json_object_object_get(report, "series");
	struct json_object *period = json_object_object_get(report, "period");
	struct json_object *good = json_object_object_get(series, "landed");
	struct json_object *bad = json_object_object_get(series, "not_landed");
	size_t count = json_object_array_length(good);
	double width = WIDTH / (double)(count > 0 ? count : 1), unit;
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (bar_of(good, i) + bar_of(bad, i) > most)
			most = bar_of(good, i) + bar_of(bad, i);
	if (most == 0)
		return;
	unit = (HEIGHT - BASE) / (double)most;
	begin(out,
	    "Tasks that ended, over time: landed, and on top of them "
	    "those that did not land (dashed)",
	    HEIGHT + BASE);
	for (size_t i = 0; i < count; i++) {
		double x = width * (double)i, gap = width * 0.1;
		double first = unit * (double)bar_of(good, i);
		double second = unit * (double)bar_of(bad, i);

		add_bar(out, "good", x + gap, HEIGHT - first, width - 2 * gap,
		    first);
		add_bar(out, "bad", x + gap, HEIGHT - first - second,
		    width - 2 * gap, second);
	}
	buf_addf(out, "<text x=\"0\" y=\"12\">%" PRId64 "</text>\n", most);
	add_moment(out, "start", 0, json_int_or(period, "from_ms", 0), MINUTE);
	add_moment(out, "end", WIDTH, json_int_or(period, "to_ms", 0), MINUTE);
	end(out);
}

/* --- cost per day ---------------------------------------------------- */

void
report_chart_days(struct json_object *report, struct buf *out)
{
	struct json_object *money = json_object_object_get(report, "money");
	struct json_object *days = json_object_object_get(money, "days");
	size_t count = json_object_array_length(days);
	double width = WIDTH / (double)(count > 0 ? count : 1);
	int64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t cost = json_int_or(
		    json_object_array_get_idx(days, i), "cost_micros", 0);

		most = cost > most ? cost : most;
	}
	if (most == 0)
		return;
	begin(out, "Cost per day (UTC), of all workers", HEIGHT + BASE);
	for (size_t i = 0; i < count; i++) {
		struct json_object *day = json_object_array_get_idx(days, i);
		double x = width * (double)i, w = width < 60 ? width : 60;
		double height = (HEIGHT - BASE - 16) *
		    (double)json_int_or(day, "cost_micros", 0) / (double)most;
		cleanup_buf struct buf cost = BUF_INIT;

		report_money_add(&cost, day);
		add_bar(out, "money", x + w * 0.1, HEIGHT - height, w * 0.8,
		    height);
		if (count <= 7)
			add_words(out, "start", x + w * 0.1,
			    HEIGHT - height - 4, cost.data);
		if (i == 0 || count <= 7)
			/* Noon: the same day in most zones. */
			add_moment(out, "start", x + w * 0.1,
			    json_int_or(day, "day", 0) * 86400000 + 43200000,
			    DAY);
	}
	end(out);
}

/* --- time ------------------------------------------------------------ */

static const char *
class_of(int use)
{
	if (use <= REPORT_LANDED)
		return "good";
	if (use == REPORT_FAILED || use == REPORT_ERROR || use == REPORT_DOWN)
		return "bad";
	return use <= REPORT_CONFLICT ? "money" : "rest";
}

void
report_chart_time(struct json_object *report, struct buf *out)
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
	begin(out, "What the workers' time was used for", LINE * count);
	for (int i = 0; i < REPORT_USE_COUNT; i++) {
		int64_t ms = json_int_or(rows, report_use_words[i], 0);
		double share = (double)ms / (double)all;
		cleanup_buf struct buf words = BUF_INIT;

		if (ms == 0)
			continue;
		text_add_duration(&words, ms >= 1000 ? ms / 1000 * 1000 : ms);
		buf_addf(&words, ", %.1f %%", 100 * share);
		add_words(out, "end", LEFT - 8, y + 15, report_use_titles[i]);
		add_bar(out, class_of(i), LEFT, y + 4,
		    (WIDTH - LEFT - RIGHT) * share + 1, LINE - 8);
		add_words(out, "start",
		    LEFT + (WIDTH - LEFT - RIGHT) * share + 8, y + 15,
		    words.data);
		y += LINE;
	}
	end(out);
}
