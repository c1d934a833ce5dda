/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "persist.h"
#include "salvage.h"
#include "serve.h"
#include "session.h"
#include "worker-op.h"

/* Every command has its own deadline, up to a day in the settings; this one is
 * a last resort. */
#define DEADLINE_MS (25 * 60 * 60 * 1000)

void
worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call)
{
	if (agent->op != NULL)
		fatalx("%s begins on %s, but %s is running", kind->name,
		    agent->worker->name, agent->op->op.kind->name);
	op->agent = agent;
	op->call = call;
	agent->op = op;
	operation_begin(&op->op, kind, agent->core->loop, DEADLINE_MS);
}

void
worker_op_release(struct worker_op *op)
{
	persist_forget(op->agent->core, op);
	op->agent->op = NULL;
	fleet_freed(op->agent->fleet);
	agent_tick_later(op->agent, 1);
}

void
worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result)
{
	struct core *core = op->agent->core;

	if (err == NULL)
		serve_reply(core, op->call, result);
	else if (op->call != NULL)
		serve_fail(core, op->call, API_FAILED, err->msg);
	else if (err->code != -ECANCELED)
		emit(core,
		    &(struct event){ .kind = EVENT_GIT_FAILED,
			.worker = op->agent->worker->name,
			.reason = err->msg });
}

void
worker_op_write(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	persist_changed(w->agent->core);
	persist_then(w->agent->core, w, operation_on_over, operation_await(op));
}

/* Not while a process of the session may still write into the worktree. */
static void
on_session_ended(void *arg)
{
	struct worker_op *w = arg;

	operation_on_done(session_left(w->agent->session), arg);
}

void
worker_op_end_session(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	session_end(w->agent->session, on_session_ended, operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct worker_op *w = arg;

	if (saved != NULL)
		snprintf(w->salvage, sizeof w->salvage, "%s", saved->ref);
	w->on_salvaged(err, arg);
}

void
worker_op_salvage(
    struct worker_op *op, const struct salvage_what *what, git_work_fn *fn)
{
	op->on_salvaged = fn != NULL ? fn : operation_on_done;
	operation_await(&op->op);
	salvage_begin(op->agent, what, on_salvaged, op);
}
