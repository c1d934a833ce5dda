/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "child.h"
#include "emit.h"
#include "op-nuke.h"
#include "salvage.h"
#include "serve.h"
#include "worker-op.h"
#include "workspace.h"

#define BOX_DEADLINE_MS (10 * 60 * 1000)

struct nuke {
	struct worker_op op; /* first */
	struct child *rm; /* NULL = it does not run */
};

static void
remove_worktree(struct operation *op)
{
	worker_op_salvage((struct worker_op *)op,
	    &(struct salvage_what){ .then = SALVAGE_REMOVE }, NULL);
}

static void
on_box_removed(const struct child_result *result, void *arg)
{
	struct nuke *n = arg;

	(void)result; /* what is left does no harm */
	n->rm = NULL;
	if (operation_arrived(&n->op.op, NULL))
		operation_next(&n->op.op);
}

/* What its sandbox kept: Claude Code's folder, and a cache that may be too
 * large to be removed by ourselves. */
static void
remove_box(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;
	const struct agent *agent = n->op.agent;
	cleanup_free char *name = xasprintf("box/%s", agent->worker->name);
	cleanup_free char *dir = workspace_path(agent->core->workspace, name);
	const char *const argv[] = { "rm", "-rf", "--", dir, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = BOX_DEADLINE_MS };

	if (!file_exists(dir) ||
	    child_spawn(
		agent->core->loop, &spec, on_box_removed, n, &n->rm, NULL) < 0)
		operation_next(op);
	else
		operation_await(op);
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

	if (((struct nuke *)op)->rm != NULL)
		child_release(((struct nuke *)op)->rm);
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
	{ .name = "remove-box", .run = remove_box, .firm = true },
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
	struct nuke *n = xcalloc(1, sizeof *n);

	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKER_LOST,
		.worker = agent->worker->name,
		.reason = "its worker was removed" });
	worker_op_begin(&n->op, &kind, agent, call);
}
