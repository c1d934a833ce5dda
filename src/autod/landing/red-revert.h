/* SPDX-License-Identifier: ISC */

/*
 * The branch fails its own check: the tasks' commits that it ends with are
 * taken back through the queue (landing-record.h says which). What they go back
 * to is checked again, even if it passed before: when it fails too, the cause
 * is outside of the commits, and nothing is taken back.
 */
#ifndef RED_REVERT_H
#define RED_REVERT_H

struct landing_plan;
struct landings;
struct queue;
struct queue_facts;

/* why: the output of the check. False: the newest commit is not a task's. */
bool red_revert_begin(struct landings *landings, const char *why);

/* Take out of the queue what is of no use any more: the branch passes, has
 * another commit, or would fail without the commits too. True = something was,
 * and the plan must be made again. */
bool red_revert_review(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan);

#endif
