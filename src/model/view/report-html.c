/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "budget.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "report-html.h"
#include "report-make.h"
#include "report-money.h"
#include "report-print.h"
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

/* Append a text that came from anywhere, for an element or a quoted
 * attribute: marks of HTML are escaped, control characters and those that
 * nobody sees are shown as \x1b; newlines stay. NULL = nothing. */
static void
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
chart_begin(struct buf *out, const char *title, double height)
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
chart_add_words(
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
	chart_add_words(out, anchor, x, HEIGHT + BASE - 5, words.data);
}

/* --- tasks over time ------------------------------------------------- */

static int64_t
bar_of(struct json_object *list, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(list, i));
}

/* Each appends a chart, or nothing where there is nothing to show. */
static void
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
	chart_begin(out,
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

static void
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
	chart_begin(out, "Cost per day (UTC), of all workers", HEIGHT + BASE);
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
			chart_add_words(out, "start", x + w * 0.1,
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

static void
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
	end(out);
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
    ".dim,figcaption{color:var(--dim)}figure{margin:1.5em 0}"
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
    "svg{width:100%;max-width:46em;height:auto;display:block}"
    "svg text{fill:var(--dim);font-size:12px;font-family:system-ui,"
    "sans-serif}\n"
    ".good{fill:var(--good)}.money{fill:var(--money)}.rest{fill:var(--rest)}"
    ".bad{fill:var(--bad);fill-opacity:.55;stroke:var(--bad);"
    "stroke-dasharray:3 2}\n"
    "@media print{:root{--ink:#000;--dim:#444;--paper:#fff;--line:#bbb;"
    "--good:#1a7f4b;--bad:#b3261e;--money:#2563a8;--rest:#8a94a1}"
    "body{margin:0;max-width:none;font-size:11px}"
    "tr,figure{break-inside:avoid}}\n";

static struct json_object *
part(struct json_object *report, const char *key)
{
	return json_object_object_get(report, key);
}

static void
add_text(struct buf *out, struct json_object *row, const char *key)
{
	report_chart_text(out, json_string_or(row, key, ""));
}

/* False: the list is empty, and nothing is said. */
static bool
html_begin(struct buf *out, struct json_object *report, const char *list,
    const char *title)
{
	size_t count = json_object_array_length(part(report, list));
	int64_t all = report_print_count(report, list);

	if (count == 0)
		return false;
	buf_addf(out, "<section><h2>%s (%" PRId64 ")</h2>\n", title, all);
	if (all > (int64_t)count)
		buf_addf(out, "<p class=\"dim\">The last %zu:</p>\n", count);
	return true;
}

static void
add_short(struct buf *out, int64_t ms)
{
	text_add_duration(out, ms >= 1000 ? ms / 1000 * 1000 : ms);
}

/* --- what needs a person --------------------------------------------- */

static void
add_needs(struct json_object *report, struct buf *out)
{
	struct json_object *list = part(report, "needs");

	if (!html_begin(out, report, "needs", "Needs you")) {
		buf_adds(out, "<p>Nothing needs you.</p>\n");
		return;
	}
	buf_adds(out,
	    "<div class=\"wide\"><table><tr><th scope=\"col\">Who"
	    "<th scope=\"col\">Why<th scope=\"col\">Type this\n");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		buf_adds(out, "<tr><td>");
		add_text(out, row, "who");
		buf_adds(out, "<td>");
		add_text(out, row, "words");
		buf_adds(out, "<td><code>");
		add_text(out, row, "command");
		buf_adds(out, "</code>\n");
	}
	buf_adds(out, "</table></div></section>\n");
}

/* --- tasks ----------------------------------------------------------- */

static void
add_task(struct buf *out, struct json_object *row)
{
	cleanup_buf struct buf commit = BUF_INIT, rest = BUF_INIT;

	report_print_commit(row, &commit);
	buf_adds(out, "<tr><td class=\"s\">");
	add_text(out, row, "id");
	buf_adds(out, "<td class=\"s\"><code>");
	report_chart_text(out,
	    json_string_or(row, "outcome", NULL) != NULL ?
		commit.data :
		json_string_or(row, "step", ""));
	buf_adds(out, "</code><td>");
	add_text(out, row, "title");
	report_print_lines(row, &rest);
	buf_adds(out, "<td class=\"n\">");
	report_chart_text(out, rest.data);
	buf_adds(out, "<td class=\"n\">");
	report_money_add(out, row);
	buf_adds(out, "<td class=\"n\">");
	if (part(row, "wall_ms") != NULL)
		add_short(out, json_int_or(row, "wall_ms", 0));
	buf_adds(out, "<td class=\"n\">");
	add_short(out, json_int_or(row, "worked_ms", 0));
	buf_addf(out, "<td class=\"n\">%" PRId64 "\n",
	    json_int_or(row, "attempts", 0));
}

static void
add_tasks(struct json_object *report, const char *key, const char *title,
    struct buf *out)
{
	static const char *const columns[] = { "Task", "State", "Title",
		"Lines", "Cost", "Wall", "Worked", "Tries" };
	struct json_object *list = part(report, key);

	if (!html_begin(out, report, key, title))
		return;
	buf_adds(out, "<div class=\"wide\"><table><tr>");
	for (size_t i = 0; i < nitems(columns); i++)
		buf_addf(out, "<th scope=\"col\"%s>%s",
		    i < 3 ? "" : " class=\"n\"", columns[i]);
	buf_addc(out, '\n');
	for (size_t i = 0; i < json_object_array_length(list); i++)
		add_task(out, json_object_array_get_idx(list, i));
	buf_adds(out, "</table></div></section>\n");
}

static void
html_add_words(struct buf *out, const char *title, const char *words)
{
	if (words == NULL || *words == '\0')
		return;
	buf_addf(
	    out, "<div class=\"dim\">%s</div><div class=\"words\">", title);
	report_chart_text(out, words);
	buf_adds(out, "</div>\n");
}

static void
add_not_landed(struct json_object *report, struct buf *out)
{
	struct json_object *list = part(report, "not_landed");

	if (!html_begin(out, report, "not_landed", "Not landed"))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		int64_t attempts = json_int_or(row, "attempts", 0);

		buf_adds(out, "<p><b>");
		add_text(out, row, "id");
		buf_adds(out, "</b> ");
		add_text(out, row, "title");
		buf_adds(out, " <span class=\"dim\">");
		add_text(out, row, "outcome");
		buf_addf(out, ", %" PRId64 " attempt%s, ", attempts,
		    attempts == 1 ? "" : "s");
		report_money_add(out, row);
		buf_adds(out, "</span></p>\n");
		html_add_words(out, "Why", json_string_or(row, "reason", NULL));
		html_add_words(
		    out, "It said", json_string_or(row, "last_words", NULL));
	}
	buf_adds(out, "</section>\n");
}

/* --- money and time -------------------------------------------------- */

static void
add_amount(struct buf *out, struct json_object *money, const char *title,
    const char *key)
{
	int64_t cost = json_int_or(money, key, 0);

	buf_addf(out, "<tr><td>%s<td class=\"n\">", title);
	if (cost < 0 || json_object_object_get(money, key) == NULL)
		buf_addc(out, '-');
	if (json_object_object_get(money, key) != NULL)
		budget_add_cost(out, cost < 0 ? -cost : cost);
	buf_addc(out, '\n');
}

static void
add_money(struct json_object *report, struct buf *out)
{
	struct json_object *money = part(report, "money");

	buf_adds(out, "<section><h2>Money</h2><table>\n");
	for (const struct report_amount *a = report_amounts; a->title != NULL;
	     a++)
		if (a->always || json_int_or(money, a->member, 0) != 0)
			add_amount(out, money, a->title, a->member);
	if (json_int_or(money, "unknown", 0) > 0)
		buf_addf(out,
		    "<tr><td>Tasks whose cost is not known (?)"
		    "<td class=\"n\">%" PRId64 "\n",
		    json_int_or(money, "unknown", 0));
	buf_adds(out, "</table>\n");
	report_chart_days(report, out);
	buf_adds(out, "</section>\n");
}

static void
add_time(struct json_object *report, struct buf *out)
{
	struct json_object *time = part(report, "time");
	int64_t workers = json_int_or(time, "workers", 0);

	if (json_int_or(time, "worker_ms", 0) <= 0)
		return;
	buf_addf(out, "<section><h2>Time of %" PRId64 " worker%s: ", workers,
	    workers == 1 ? "" : "s");
	add_short(out, json_int_or(time, "worker_ms", 0));
	buf_adds(out, "</h2>\n");
	report_chart_time(report, out);
	buf_adds(out, "</section>\n");
}

/* --- the rest -------------------------------------------------------- */

static void
add_moments(struct json_object *report, const char *key, const char *title,
    struct buf *out)
{
	struct json_object *list = part(report, key);

	if (!html_begin(out, report, key, title))
		return;
	buf_adds(out, "<div class=\"wide\"><table>\n");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		cleanup_buf struct buf words = BUF_INIT;

		if (json_string_or(row, "type", NULL) == NULL)
			report_print_repair(row, &words);
		buf_adds(out, "<tr><td class=\"s\">");
		moment_add(out, json_int_or(row, "at_ms", 0));
		buf_adds(out, "<td>");
		report_chart_text(out,
		    words.len > 0 ? words.data :
				    json_string_or(row, "words", ""));
		buf_addc(out, '\n');
	}
	buf_adds(out, "</table></div></section>\n");
}

static void
add_notes(struct json_object *report, struct buf *out)
{
	struct json_object *list = part(report, "notes");

	buf_adds(out, "<footer class=\"dim\">\n");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		buf_adds(out, "<p>");
		report_chart_text(out,
		    json_object_get_string(json_object_array_get_idx(list, i)));
		buf_adds(out, "</p>\n");
	}
	buf_adds(out, "</footer>\n");
}

static void
add_top(struct json_object *report, struct buf *out)
{
	struct json_object *verdict = part(report, "verdict");
	cleanup_buf struct buf period = BUF_INIT;

	report_print_period(report, &period);
	buf_adds(out,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	    "'none'; style-src 'unsafe-inline'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n<title>llmc report: ");
	report_chart_text(out, period.data);
	buf_addf(out, "</title>\n<style>\n%s</style></head>\n<body><main><h1>",
	    style);
	add_text(out, report, "project");
	if (json_string_or(report, "project", NULL) != NULL)
		buf_adds(out, ": ");
	buf_adds(out, "report of ");
	report_chart_text(out, period.data);
	buf_adds(out, "</h1>\n<p class=\"verdict ");
	add_text(out, verdict, "level");
	buf_adds(out, "\">");
	add_text(out, verdict, "words");
	buf_adds(out, "</p>\n");
}

void
report_html(struct json_object *report, struct buf *out)
{
	cleanup_buf struct buf landing = BUF_INIT, oversight = BUF_INIT;

	add_top(report, out);
	add_needs(report, out);
	report_chart_tasks(report, out);
	add_tasks(report, "landed", report_print_landed_title(report), out);
	add_not_landed(report, out);
	add_tasks(report, "open", "Not ended", out);
	add_money(report, out);
	add_time(report, out);
	report_print_landing(report, &landing);
	buf_adds(out, "<section><h2>Landing</h2><p>");
	report_chart_text(out, landing.data);
	buf_adds(out, ".</p></section>\n");
	add_moments(report, "repairs", "Failures and repairs of llmc", out);
	buf_adds(&oversight, "Oversight: ");
	report_print_oversight(report, &oversight);
	add_moments(report, "oversight", oversight.data, out);
	add_notes(report, out);
	buf_adds(out, "</main></body></html>\n");
}
