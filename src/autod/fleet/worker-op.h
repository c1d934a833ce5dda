/* SPDX-License-Identifier: ISC */

/*
 * An operation on one worker: base/operation with the worker that it holds
 * while it runs (agent->op) and the call that it answers.
 */
#ifndef WORKER_OP_H
#define WORKER_OP_H

#include "agent.h"
#include "git-work.h"
#include "operation.h"

struct salvage_what;
struct server_call;

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

#endif
