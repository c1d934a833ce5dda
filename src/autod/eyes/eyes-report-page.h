/* SPDX-License-Identifier: ISC */

/*
 * The report for the page: what `llmc report --json` prints, of the run that
 * goes on or of the last one. A child makes it, so that the loop does not wait
 * for the files; there is one at a time, and all who ask meanwhile, or shortly
 * after, get the same.
 */
#ifndef EYES_REPORT_PAGE_H
#define EYES_REPORT_PAGE_H

struct eyes_floor;
struct eyes_report_page;
struct http_exchange;

#define EYES_REPORT_PAGE_KEPT_MS     5000
#define EYES_REPORT_PAGE_DEADLINE_MS 60000
#define EYES_REPORT_PAGE_ASKERS_MAX  32
#define EYES_REPORT_PAGE_BYTES_MAX   (8 * 1024 * 1024)

struct eyes_report_page *eyes_report_page_new(struct eyes_floor *eyes);
/* Ends the exchanges that wait. */
void eyes_report_page_free(struct eyes_report_page *page);

/* Answers now or later. */
void eyes_report_page_serve(
    struct eyes_report_page *page, struct http_exchange *exchange);

#endif
