/* SPDX-License-Identifier: ISC */

/*
 * An operation on one worker: base/operation with the worker that it holds
 * while it runs (agent->op) and the call that it answers.
 */
#ifndef WORKER_OP_H
#define WORKER_OP_H

#include "agent.h"
#include "fleet.h"
#include "git.h"
#include "operation.h"
#include "setup.h"

struct agent;
struct buf;
struct fleet;
struct json_object;
struct salvage_what;
struct server_call;
struct worker;

struct worker_op {
	struct operation op; /* first */
	struct agent *agent;
	struct server_call *call; /* NULL = no caller */
	git_work_fn *on_salvaged;
	char salvage[256]; /* ref of worker_op_salvage(), "" = nothing to save
			    */
};

/* Take the worker and begin. It must not be taken. op is part of an object that
 * the caller allocated; kind->end frees it. */
void worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call);

/* Call this first in an end: the worker is free again and checks what to do
 * next. */
void worker_op_release(struct worker_op *op);

/* Call this last in a plain end: answer with the result or the error. Without a
 * caller an error other than a cancel is emitted as EVENT_GIT_FAILED. */
void worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result);

/* Steps that several operations have: write the state down, end the
 * session. */
void worker_op_write(struct operation *op);
void worker_op_end_session(struct operation *op);

/* As a step: save the work that would be lost, and then set the worktree back
 * or remove it. fn gets the operation; NULL = the next step follows. */
void worker_op_salvage(
    struct worker_op *op, const struct salvage_what *what, git_work_fn *fn);

/* As a step: check out the submodules that the user's checkout has; those that
 * cannot be had are reported. Not in a sandbox (git-worktree.h). */
void worker_op_submodules(struct operation *op);

/* As a step: set the worktree up, if that is due (setup.h). fn gets the
 * operation; NULL = the next step follows, or the operation fails. Its cancel
 * goes with it. */
void worker_op_setup(struct operation *op, setup_fn *fn);
void worker_op_setup_cancel(struct operation *op);

/* Add a worker, with a worktree and a branch of its own. */

/* The name must be valid and unused. call NULL: requested by auto mode; then an
 * error is a hard failure. */
void op_add(struct fleet *fleet, const char *name, struct server_call *call);

/*
 * Before something is done with the work of a worker: is it still what the
 * caller has seen? Reads HEAD, the branch and uncommitted changes; nothing is
 * changed.
 */

#define OP_INSPECT_BRANCH 1u /* its own branch must be checked out */
#define OP_INSPECT_CLEAN  2u /* there must be no uncommitted changes */

/* If params has a "commit", compare the work with it; on a difference the call
 * fails with API_CHANGED and a sentence that says what it is. Else call fn,
 * with the whole id as "commit"; it must check the worker's status again.
 * Without a "commit" fn is called at once. No operation may be running on the
 * worker, and none is when fn is called. */
void op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg);

/*
 * Nuke: end the session, salvage the work, remove worktree, branch, what its
 * sandbox kept, and the worker.
 */

/* Emits EVENT_WORKER_LOST first, EVENT_WORKER_GONE at the end. */
void op_nuke(struct agent *agent, struct server_call *call);

/*
 * Reset: end the session, forget the task, salvage the work, and reset the
 * worktree to the default branch.
 */

/* call may be NULL. Emits EVENT_WORKER_LOST first: its task waits again. */
void op_reset(struct agent *agent, struct server_call *call);

/*
 * The commands for a worker: add, remove, reset or stop it, send it a message,
 * reject its work. start-queue.c gives it a task; landing is the floor above.
 */

/* Registers the methods. */
void worker_commands_register(struct fleet *fleet);

/* The cleaned text of a request, appended; false (and the call is refused) if
 * nothing is left. */
bool worker_commands_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out);

/* Refuse a call that is not possible in the worker's status; wanted: the
 * statuses where it is. */
void worker_commands_wrong_status(
    struct server_call *call, const struct worker *worker, const char *wanted);

/* Two prompts at once would be merged in the input box. True: refused. */
bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call);

#endif
