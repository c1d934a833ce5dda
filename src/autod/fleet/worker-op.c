/* SPDX-License-Identifier: ISC */

#include "emit.h"
#include "errtext.h"
#include "log.h"
#include "persist.h"
#include "serve.h"
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
	else
		emit(core,
		    &(struct event){ .kind = EVENT_GIT_FAILED,
			.worker = op->agent->worker->name,
			.reason = err->msg });
}
