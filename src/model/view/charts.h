/* SPDX-License-Identifier: ISC */

/*
 * The pictures of a period: the time of each worker, with marks where a person
 * was asked or something failed; money and landed tasks over time; the landing
 * queue; goals with their critical paths. As data, which the page draws, and as
 * text. Pure.
 *
 * They are made together with the report of the same period, of the same rows:
 * the stretches of a class add up to the report's rows of the time, the money
 * to what its tasks cost, the bars to its lists. Their size is bounded, however
 * much has happened: stretches are drawn together where they are many.
 */
#ifndef CHARTS_H
#define CHARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema.h"

struct buf;
struct json_object;
struct plan;
struct report_inputs;
struct report_parts;

/* What a worker does, as it is drawn. */
enum chart_class {
	CHART_WORKING,
	CHART_LANDING,
	CHART_WAITING,
	CHART_LIMITED,
	CHART_IDLE,
	CHART_ERROR,
	CHART_DOWN,
	CHART_CLASS_COUNT
};

enum chart_mark {
	CHART_ASK, /* a person was asked */
	CHART_RETRY, /* an attempt failed; the task is tried again */
	CHART_FAILED, /* a task ended without a result */
	CHART_FAILURE, /* llmc itself failed, or was repaired */
	CHART_MARK_COUNT
};

extern const char *const chart_class_words[CHART_CLASS_COUNT + 1];
extern const char *const chart_mark_words[CHART_MARK_COUNT + 1];
extern const char *const chart_mark_titles[CHART_MARK_COUNT];

#define CHARTS_WORKERS_MAX 300 /* rows of the timeline */
#define CHARTS_SPANS_MAX   24000 /* of all workers together */
#define CHARTS_MARKS_MAX   1000 /* the last ones */
#define CHARTS_TASKS_MAX   12 /* the most expensive ones */
#define CHARTS_POINTS_MAX  480 /* of the queue */
#define CHARTS_GOALS_MAX   8
#define CHARTS_NODES_MAX   150 /* of a goal */

/* Names of the events that become marks. */
#define CHARTS_EVENT_RETRY   "task_retry"
#define CHARTS_EVENT_FAILURE "failure"

/* report: of the same inputs, with all rows of its lists; parts: of its time,
 * which are sorted here. The caller owns the result (charts_shape). */
struct json_object *charts_make(const struct report_inputs *in,
    struct json_object *report, struct report_parts *parts);

/* A goal's tree and critical path, an element of "goals". The caller owns it.
 */
struct json_object *charts_goal(const struct plan *plan);

extern const struct schema_field charts_shape;
extern const struct schema charts_schema;

/* As text for people, appended, in local time. */
struct charts_look {
	int width; /* columns; at most so many are used */
	int rows; /* of workers and nodes of a goal, at most; 0 = all */
	bool colours; /* SGR sequences */
	bool utf8; /* blocks; else ASCII */
};

void charts_print(struct json_object *charts, const struct charts_look *look,
    struct buf *out);

/* As pictures (SVG) in a page that runs no script, appended; in local time, and
 * without those that have nothing to show. Its style is charts_style, with the
 * colours --ink, --dim, --line and --paper of that page. */
void charts_html(struct json_object *charts, struct buf *out);
extern const char charts_style[];

#endif
