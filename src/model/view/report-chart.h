/* SPDX-License-Identifier: ISC */

/* The charts of a report as SVG inside of HTML, and text made harmless for
 * both. Colours are classes of the page; every chart has a title in words and
 * the figures beside it. Pure. */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

struct buf;
struct json_object;

/* Append a text that came from anywhere, for an element or a quoted
 * attribute: marks of HTML are escaped, control characters and those that
 * nobody sees are shown as \x1b; newlines stay. NULL = nothing. */
void report_chart_text(struct buf *out, const char *text);

/* Each appends a chart, or nothing where there is nothing to show. */
void report_chart_tasks(struct json_object *report, struct buf *out);
void report_chart_days(struct json_object *report, struct buf *out);
void report_chart_time(struct json_object *report, struct buf *out);

#endif
