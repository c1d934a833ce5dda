/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <stdlib.h>

#include "emit.h"
#include "errtext.h"
#include "git-worktree.h"
#include "json.h"
#include "mem.h"
#include "op-nuke.h"
#include "persist.h"
#include "salvage.h"
#include "serve.h"
#include "worker-op.h"

struct nuke {
	struct worker_op op;
	char salvage[256]; /* ref, "" = there was nothing to save */
};

static void
on_done(const struct err *err, void *arg)
{
	if (operation_arrived(arg, err))
		operation_next(arg);
}

static void
on_session_ended(void *arg)
{
	on_done(NULL, arg);
}

static void
end_session(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;

	session_end(
	    n->op.agent->session, on_session_ended, operation_await(op));
}

static void
on_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct nuke *n = arg;

	if (err == NULL)
		snprintf(n->salvage, sizeof n->salvage, "%s", ref);
	on_done(err, arg);
}

static void
salvage(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;

	salvage_begin(n->op.agent, on_salvaged, operation_await(op));
}

static void
remove_worktree(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;
	const struct worker *w = n->op.agent->worker;

	git_worktree_remove(n->op.agent->core->git, w->worktree, w->branch,
	    on_done, operation_await(op));
}

static void
forget_worker(struct nuke *n)
{
	struct agent *agent = n->op.agent;
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", name);
	json_set_string(result, "salvage", n->salvage);
	agent_free(agent);
	state_remove(&core->state, name);
	state_unlist_auto_worker(&core->state, name);
	persist_changed(core);
	emit(
	    core, &(struct event){ .kind = EVENT_WORKER_GONE, .worker = name });
	serve_reply(core, n->op.call, result);
}

static void
end(struct operation *op, const struct err *err)
{
	struct nuke *n = (struct nuke *)op;

	worker_op_release(&n->op);
	if (err != NULL)
		worker_op_answer(&n->op, err, NULL);
	else
		forget_worker(n);
	free(n);
}

/* A removal cannot be undone, so it is finished once begun. */
static const struct operation_step steps[] = {
	{ .name = "end-session", .run = end_session },
	{ .name = "salvage", .run = salvage },
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
	struct nuke *n = xcalloc(1, sizeof *n);

	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKER_LOST,
		.worker = agent->worker->name,
		.reason = "its worker was removed" });
	worker_op_begin(&n->op, &kind, agent, call);
}
