/* SPDX-License-Identifier: ISC */

/*
 * The report of a run or of a period, as one JSON document: the text
 * (report-print.h) and the page (report-html.h) are made of it alone. Pure.
 *
 * A task is in the report of the period in which it ended. Sums are of all;
 * lists have at most REPORT_ROWS_MAX rows, the last ones.
 */
#ifndef REPORT_MAKE_H
#define REPORT_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct schema;

struct work_span;

/* Borrowed. */
struct report_inputs {
	struct json_object *view; /* as it is now (view-doc.h) */
	struct json_object *ended; /* all tasks that were filed: view-row.h by
				    * id, with finished_ms */
	struct json_object *repairs; /* list: rows as in the view, with at_ms */
	struct json_object *events; /* list: oversight and checks, with at_ms,
				     * type, worker, task, words, result, class,
				     * action */
	const struct work_span *spans; /* of the period and around it */
	size_t span_count;
	const char *run; /* whose period it is; NULL = of none */
	const char *first_run; /* that it went on from; NULL = the same */
	bool goes_on; /* the period is not over */
	int64_t from_ms, to_ms, now_ms;
};

#define REPORT_ROWS_MAX 500

/* Names of the events that it wants. */
#define REPORT_EVENT_OVERSIGHT "oversight"
#define REPORT_EVENT_CHECK     "check"

/* The caller owns it. */
struct json_object *report_make(const struct report_inputs *in);

/* Parts of it, for report-shape.c. */
extern const struct schema report_counts_schema;
extern const struct schema report_period_schema;

#endif
