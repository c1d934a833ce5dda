/* SPDX-License-Identifier: ISC */

/*
 * One question to the planner: planner.command with the prompt on its standard
 * input, or Claude Code in print mode. It runs in the root folder below a
 * keeper, with a deadline, may print PLANNER_ANSWER_MAX bytes, and has no
 * person's rights at the daemon.
 */
#ifndef PLANNER_RUN_H
#define PLANNER_RUN_H

#include <stddef.h>
#include <stdint.h>

struct core;
struct err;
struct json_object;
struct planner_run;

/* What came of it, for the call. err NULL: it printed this answer. */
struct planner_reply {
	const char *answer;
	size_t len;
	int64_t cost_millionths; /* that it reported, also of a failure */
	const char *model; /* the one that answered, as far as known */
	const struct err *err; /* it did not answer: the reason */
};

typedef void planner_run_fn(const struct planner_reply *reply, void *arg);

/* fn is called once, later, from the loop; the run is gone then. */
struct planner_run *planner_run_start(struct core *core, const char *prompt,
    struct json_object *schema, planner_run_fn *fn, void *arg);
/* End it; fn is not called. */
void planner_run_free(struct planner_run *run);

#endif
