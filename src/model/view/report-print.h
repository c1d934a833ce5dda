/* SPDX-License-Identifier: ISC */

/* A report (report-make.h) for people, in local time: as text, or as one page
 * for a browser. Pure. */
#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

struct buf;
struct json_object;

/* Appended. width and colours as for table_print(). */
void report_print(
    struct json_object *report, int width, bool colours, struct buf *out);

/* Appended: no script, nothing from elsewhere, every text escaped, charts as
 * SVG inside it. */
void report_html(struct json_object *report, struct buf *out);

#endif
