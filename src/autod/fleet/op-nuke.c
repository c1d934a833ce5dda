/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "op-nuke.h"
#include "salvage.h"
#include "serve.h"
#include "worker-op.h"

static void
remove_worktree(struct operation *op)
{
	worker_op_salvage((struct worker_op *)op,
	    &(struct salvage_what){ .then = SALVAGE_REMOVE }, NULL);
}

static void
forget_worker(struct worker_op *n)
{
	struct agent *agent = n->agent;
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", name);
	json_set_string(result, "salvage", n->salvage);
	agent_remove(agent);
	emit(
	    core, &(struct event){ .kind = EVENT_WORKER_GONE, .worker = name });
	serve_reply(core, n->call, result);
}

static void
end(struct operation *op, const struct err *err)
{
	struct worker_op *n = (struct worker_op *)op;

	worker_op_release(n);
	if (err != NULL && err->code != -ECANCELED)
		agent_move(n->agent, WORKER_ERROR, err->msg);
	if (err != NULL)
		worker_op_answer(n, err, NULL);
	else
		forget_worker(n);
	free(n);
}

/* A removal cannot be undone, so it is finished once begun. */
static const struct operation_step steps[] = {
	{ .name = "end-session", .run = worker_op_end_session },
	{ .name = "remove", .run = remove_worktree, .firm = true },
};

static const struct operation_kind kind = {
	.name = "nuke",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_nuke(struct agent *agent, struct server_call *call)
{
	struct worker_op *n = xcalloc(1, sizeof *n);

	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKER_LOST,
		.worker = agent->worker->name,
		.reason = "its worker was removed" });
	worker_op_begin(n, &kind, agent, call);
}
