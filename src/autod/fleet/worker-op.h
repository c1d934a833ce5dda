/* SPDX-License-Identifier: ISC */

/*
 * An operation on one worker: base/operation with the worker that it owns while
 * it runs (agent->op) and the call that it answers.
 */
#ifndef WORKER_OP_H
#define WORKER_OP_H

#include "agent.h"
#include "operation.h"

struct server_call;

struct worker_op {
	struct operation op; /* first */
	struct agent *agent;
	struct server_call *call; /* NULL = nobody asked */
};

/* Take the worker and begin. It must not be taken. op is part of what the
 * caller allocated; kind->end frees it. */
void worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call);

/* The first thing in an end: the worker is free again and looks at what to do
 * next. */
void worker_op_release(struct worker_op *op);

/* The last thing in a plain end: answer with the result, or with the error; an
 * error that nobody asked for is told by EVENT_GIT_FAILED. */
void worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result);

#endif
