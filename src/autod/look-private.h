/* SPDX-License-Identifier: ISC */

/* The parts of autod --look: look.c, and look-report.c for the report. */
#ifndef LOOK_PRIVATE_H
#define LOOK_PRIVATE_H

struct book;
struct err;
struct json_object;
struct state;
struct workspace;

/*
 * What is asked of the book about what has ended: each takes its parameters as
 * an object and returns its answer, owned by the caller, or NULL with err.
 * These read only, in a process of their own, so they may take their time.
 */
typedef struct json_object *
look_fn(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err);

/* {"alive", "sections"}: the view (view.h) as far as the book and the files
 * tell it. alive: a daemon runs, but does not answer. Without a book, which
 * only the ended tasks need. */
look_fn look_view;

/* {"view" | "alive", "active", "now_ms", "since_ms", "to_ms" | "run", "charts",
 * "worker"}: the report (report.h). view: of a daemon; active: the last run
 * goes on; charts: with them. {"unknown_run": the last one or null} if there is
 * no such run. The other one: the charts of it alone (charts.h). */
look_fn look_report;
look_fn look_charts;

#define LOOK_ASKS_MAX 500 /* that are listed */

/* Until a daemon has made the book, the state of the version before. -ENOENT:
 * there is none yet. -ENODATA with words: there was one (root-mark.h). */
int look_read_state(
    const struct workspace *workspace, struct state *state, struct err *err);

/* Add goals to the list: those that are open, as charts_goal() shows them, or
 * those that have ended, as overseer.goal.list has the others. */
int look_read_goals(
    struct book *book, bool open, struct json_object *list, struct err *err);

#endif
