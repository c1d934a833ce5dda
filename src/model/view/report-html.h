/* SPDX-License-Identifier: ISC */

/* A report (report-make.h) as one page for a browser: no script, nothing from
 * elsewhere, every text escaped, charts as SVG inside it. Pure. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

struct buf;
struct json_object;

/* Appended. */
void report_html(struct json_object *report, struct buf *out);

#endif
