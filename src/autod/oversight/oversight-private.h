/* SPDX-License-Identifier: ISC */

/* What the units of this folder share. */
#ifndef OVERSIGHT_PRIVATE_H
#define OVERSIGHT_PRIVATE_H

#include "ladder.h"

struct agent;
struct book;
struct buf;
struct detection;
struct git_snapshot;
struct iteration;
struct oversight_costs;
struct oversight_floor;
struct server_call;
struct spent;
struct task;
struct watched;
struct watched_mark;

/* --- iteration-make.c --------------------------------------------------- */

/* An iteration out of what is known at the end of a turn. */

struct iteration_facts {
	const struct git_snapshot *snapshot; /* NULL = not known */
	const char *last_words; /* NULL = see the transcript */
	bool part; /* of a turn that goes on */
	const char *error; /* that ended the turn, NULL = none */
	int64_t duration_ms; /* -1 = not known */
	int64_t expected; /* iterations; -1 = not known */
	double completion; /* percent, NAN = not known */
	double estimated_cost; /* US dollars, NAN = not known */
	int64_t estimated_calls; /* -1 = not known */
};

/* The next one of the worker's task; what it counts is marked. The caller owns
 * it. */
struct iteration *iteration_make(struct watched *watched,
    const struct agent *agent, const struct iteration_facts *facts);

/* What has become known since the open iteration was made is of it. Call before
 * the next turn begins. */
void iteration_catch_up(struct watched *watched, const struct agent *agent);

/* What the task has spent since the last iteration is of this one. */
void iteration_add_spent(struct iteration *iteration, struct watched_mark *mark,
    const struct spent *spent);

/* Has the agent said nothing since the last iteration? */
bool iteration_is_counted(
    const struct watched_mark *mark, const struct agent *agent);

/* --- oversight-act.c: aborts -------------------------------------------- */

/* A person ends a task: it is aborted, not tried again, its work is salvaged,
 * and .llmc/aborted/<task>/ says why. */

/* Abort what people want aborted, where it is possible now; what may last long
 * is ended for it. Call when a worker may have become free. */
void oversight_abort_settle(struct oversight_floor *floor);

/* The method task.abort: it waits for the worker's operation, or ends it; the
 * next daemon does what this one did not come to. */
void oversight_abort_register(struct oversight_floor *floor);
/* Refuse those who wait. */
void oversight_abort_stop(struct oversight_floor *floor);

/* --- oversight-act.c ---------------------------------------------------- */

/* What is due is done: given to the session, or to the worker. */

/* Record what is only to be recorded: all of it where oversight observes. */
void oversight_act_log(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent);

/* Append the warnings and redirections that are due, another approach first, to
 * a prompt or an answer that is about to be sent; context: which the session
 * reads in the middle of its turn. They are recorded as delivered once the
 * state is saved and the answer sent: if the daemon dies before, the next one
 * delivers them again. */
void oversight_act_add(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent, bool context, struct buf *out);
/* Record what was sent. parked: a prompt was not submitted yet. */
void oversight_act_given(struct oversight_floor *floor, struct watched *watched,
    const char *worker, bool parked);
/* That prompt will never be: what it says is due again. */
void oversight_act_replaced(struct watched *watched);
/* Append the redirections that were read in the middle of the turn and did not
 * help. */
void oversight_act_again(const struct oversight_floor *floor,
    const struct watched *watched, const struct agent *agent, struct buf *out);

/* Give it a fresh session, fail its attempt or park its task if that is due and
 * possible now. words: its prompt otherwise; NULL = nothing. True: that has
 * begun, and the watched task may be gone. */
bool oversight_act_stop(struct oversight_floor *floor, struct watched *watched,
    struct agent *agent, const char *words);
/* Record the pauses of tasks that are parked now, once that is saved. */
void oversight_act_parked(struct oversight_floor *floor);

/* Tell people what oversight does, with the evidence: as urgently as
 * model/records/notice says, and once, whenever the daemon dies. worker:
 * its name; text: what happened and what to type. */
void oversight_tell(const struct oversight_floor *floor,
    const struct watched *watched, const char *worker,
    const struct detection *detection, enum progress_step level,
    const char *text);
/* This worker has had these errors: tell of those that others have had lately,
 * once. */
void oversight_tell_fleet(struct oversight_floor *floor, const char *worker,
    const struct iteration *iteration);

/* --- iteration-make.c, costs ---------------------------------------------- */

/* What the last landed tasks have cost, by kind: what others are compared with.
 * Tasks of one kind come from the same source, for the same card or role. One
 * that waits for others, or whose turns mail begins, is compared with nothing
 * and nothing with it. */

/* Of the last tasks that are filed, once: it takes some milliseconds. */
void oversight_costs_load(struct oversight_costs *costs, struct book *book);
/* One more has landed. */
void
oversight_costs_add(struct oversight_costs *costs, const struct task *task);
/* US dollars, and calls of tools; NAN and -1 = too few of its kind are known.
 */
double oversight_costs_estimate(const struct oversight_costs *costs,
    const struct task *task, int64_t *ret_calls);
void oversight_costs_release(struct oversight_costs *costs);

/* --- oversight-turn.c: long turns --------------------------------------- */

/*
 * Iterations inside a long turn: one ends after some time, or after
 * some tool calls (settings-table.h). A warning and another approach are the
 * answer to the hook of the next tool, which is made to wait for it
 * (workspace.h); ladder.h says when the turn is interrupted instead.
 */

/* A part of struct auto_watch: one of its tools ended. */
void oversight_slice_progressed(void *floor, struct agent *agent);
/* Likewise, and its hook waits: true if it is answered. */
bool oversight_slice_tool_ended(void *floor, struct agent *agent,
    struct server_call *call, const char *event);
/* No tool waits for what the last daemon had to say. */
void oversight_slice_begin(const struct oversight_floor *floor);
/* Look at turns in which no tool has ended for long. */
void oversight_slice_patrol(struct oversight_floor *floor);
/* Forget those that are being looked at: git is freed next. */
void oversight_slice_drop(struct oversight_floor *floor);

#endif
