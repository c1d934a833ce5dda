/* SPDX-License-Identifier: ISC */

/*
 * The report of a run or of a period, as one JSON document: the text
 * and the page (report-print.c) are made of it alone. Pure.
 *
 * A task is in the report of the period in which it ended. Sums are of all;
 * lists have at most REPORT_ROWS_MAX rows, the last ones.
 */
#ifndef REPORT_H
#define REPORT_H

#include "metrics.h"
#include "schema.h"

struct buf;
struct json_object;
struct schema;

enum report_use {
	REPORT_LANDED, /* working, in the attempt that landed */
	REPORT_FAILED, /* working, in attempts that came to nothing */
	REPORT_OPEN, /* working: not ended yet, or by hand */
	REPORT_WAITING,
	REPORT_LANDING,
	REPORT_CONFLICT,
	REPORT_LIMITED,
	REPORT_OUTAGE,
	REPORT_PAUSED,
	REPORT_PERSON,
	REPORT_ERROR,
	REPORT_OFFLINE,
	REPORT_IDLE_QUEUE,
	REPORT_IDLE,
	REPORT_DOWN, /* the daemon did not run */
	REPORT_USE_COUNT
};

extern const char *const report_use_words[REPORT_USE_COUNT + 1];
extern const char *const report_use_titles[REPORT_USE_COUNT]; /* for people */

/* A stretch of a worker's time that the rows are sums of. Strings are of the
 * spans. */
struct report_part {
	const char *worker, *task; /* task: NULL = none */
	enum report_use use;
	bool works; /* on the task: its cost is of such parts */
	int64_t from_ms, to_ms;
};

struct report_parts {
	struct report_part *list; /* owned by the caller */
	size_t count, room;
};

struct report_time_in {
	const struct work_span *spans; /* of the period and around it */
	size_t count;
	int64_t from_ms, to_ms;
	struct json_object *ended; /* rows of tasks by id: outcome, attempts */
	struct json_object *open; /* of those without an outcome */
	struct json_object *workers; /* that exist now, by name */
	/* Gets all parts, worker by worker; NULL = they are not wanted. */
	struct report_parts *parts;
};

/* {"workers": n, "worker_ms": n, "wall_ms": n, "rows": {use: ms},
 * "by_worker": [{"worker": name, "worker_ms": n, "rows": {use: ms}}]}. The
 * caller owns it, and *ret_worked: what was worked on each task, by id. */
struct json_object *
report_time(const struct report_time_in *in, struct json_object **ret_worked);

/* All zero: nothing was seen. Strings are owned. */
struct report_run {
	char *wanted; /* NULL = the last one */
	char *id; /* that was found; NULL = none */
	char *first; /* the first of those that it went on from */
	char *last; /* of all */
	int64_t from_ms; /* when that began */
	int64_t begun_ms; /* and the run itself, or its last daemon */
	bool complete; /* there was nothing left to do */
	int64_t ended_ms; /* 0 = it was killed, or goes on */
	int64_t next_ms; /* when another one began; 0 = it is the last */
};

void report_run_release(struct report_run *run);

/* A daemon began, or ended, its part of a run; oldest first. */
enum report_run_what {
	REPORT_RUN_BEGINS,
	REPORT_RUN_ENDS,
	REPORT_RUN_COMPLETE /* it ends, with nothing left to do */
};

void report_run_event(struct report_run *run, const char *id,
    enum report_run_what what, int64_t at_ms);

/* Is there such a run? */
bool report_run_is_found(const struct report_run *run);

/* When it ended: now if it goes on; if it was killed, with the last span before
 * the next one. */
int64_t report_run_end(const struct report_run *run,
    const struct work_span *spans, size_t count, bool goes_on, int64_t now_ms);

/* Borrowed. */
struct report_inputs {
	struct json_object *view; /* as it is now (view.h) */
	struct json_object *ended; /* all tasks that were filed: view.h by
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
	int64_t until_ms; /* to when repairs are of it, after its end; 0 = none
			   * are */
	bool charts; /* with the member "charts" (charts.h), made of these: */
	struct json_object *asks; /* list of records; NULL = none */
	struct json_object *goals; /* list of charts_goal(); NULL = none */
	const char *worker; /* only its time; NULL = of all */
};

#define REPORT_ROWS_MAX 500

/* Names of the events that it wants. */
#define REPORT_EVENT_OVERSIGHT "oversight"
#define REPORT_EVENT_CHECK     "check"

/* The caller owns it. */
struct json_object *report_make(const struct report_inputs *in);

/* For people, in local time: as text, or as one page for a browser. */

/* Appended: of what it is, and its verdict; then all the rest, too. width and
 * colours as for table_print(). */
void
report_print_head(struct json_object *report, bool colours, struct buf *out);
void report_print(
    struct json_object *report, int width, bool colours, struct buf *out);

/* Appended: no script, nothing from elsewhere, every text escaped, charts as
 * SVG inside it. */
void report_html(struct json_object *report, struct buf *out);

/* What the tasks cost: of lists of rows with cost_micros (null: not known),
 * cost_source and attempts, and of the days of the budget that the period
 * touches. A task counts with all that it cost, in the report of the period in
 * which it ended. What was spent on those days is the total and
 * "elsewhere_micros", to the millionth of a dollar. The caller owns it. */
struct json_object *report_money(struct json_object *landed,
    struct json_object *not_landed, struct json_object *open,
    struct json_object *budget, int64_t from_ms, int64_t to_ms);
extern const struct schema report_money_schema;

/* Set "verdict" {level, words} of a report that has all its other members.
 * failure: words of a failure of the daemon that stands, or NULL. */
void report_verdict(struct json_object *report, const char *failure);
extern const struct schema report_verdict_schema;

extern const struct schema_field report_shape;

#endif
