/* SPDX-License-Identifier: ISC */

/*
 * What is asked of the book about what has ended (autod --look): each takes its
 * parameters as an object and returns its answer, owned by the caller, or NULL
 * with err. These read only, in a process of their own, so they may take their
 * time.
 */
#ifndef LOOK_PRIVATE_H
#define LOOK_PRIVATE_H

struct book;
struct err;
struct json_object;
struct workspace;

typedef struct json_object *
look_fn(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err);

/* The last asks (ask-record.h), open and ended, oldest first. */
look_fn look_asks;
/* {"name" | "limit", "brief"}: records of ended tasks, the newest first. */
look_fn look_tasks;
/* {}: the goals that have ended, as overseer.goal.list has the others. */
look_fn look_goals;
/* {"task"}: what oversight recorded of it, oldest first. */
look_fn look_turns;
/* What all of that adds up to: {"report", "text"}. */
look_fn look_tally;
/* {"since_ms", "now_ms"}: records of attempts (perf-record.h), oldest first. */
look_fn look_attempts;
/* {"view", "live", "active", "now_ms", "since_ms" | "run"}: the report
 * (report-make.h). live: the view is a daemon's; active: the last run goes on.
 * {"unknown_run": the last one or null} if there is no such run. */
look_fn look_report;
/* What the view has from the book: {"ended": rows by id}. */
look_fn look_view;
/* {"now_ms"}: what is measured while no daemon answers: {"text"}. */
look_fn look_metrics;

#endif
