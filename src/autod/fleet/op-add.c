/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "failure.h"
#include "git-worktree.h"
#include "op-add.h"
#include "serve.h"
#include "settings.h"
#include "worker-op.h"
#include "workspace.h"

static void
worktree(struct operation *op)
{
	struct worker_op *add = (struct worker_op *)op;
	struct core *core = add->agent->core;
	const struct worker *w = add->agent->worker;

	git_worktree_add(core->git, w->worktree, w->branch, core_branch(core),
	    operation_on_done, operation_await(op));
}

/* Remove the worker again. */
static void
undo(struct worker_op *add, const struct err *err)
{
	struct agent *agent = add->agent;
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);

	if (add->call == NULL)
		failure_raise(core,
		    &(struct failure){ .class = "worktree",
			.worker = name,
			.status = -1,
			.reason = err->msg });
	serve_fail(core, add->call, API_FAILED, err->msg);
	agent_remove(agent);
}

static void
end(struct operation *op, const struct err *err)
{
	struct worker_op *add = (struct worker_op *)op;
	const struct worker *w = add->agent->worker;
	struct json_object *result;

	worker_op_release(add);
	if (err != NULL && err->code == -ECANCELED) {
		/* The next daemon creates its worktree. */
		serve_fail(add->agent->core, add->call, API_FAILED, err->msg);
	} else if (err != NULL) {
		undo(add, err);
	} else {
		result = json_object_new_object();
		json_set_string(result, "worker", w->name);
		json_set_string(result, "branch", w->branch);
		json_set_string(result, "worktree_path", w->worktree);
		serve_reply(add->agent->core, add->call, result);
	}
	free(add);
}

static const struct operation_step steps[] = {
	/* Save the worker before its worktree exists: after a crash the
	 * worktree is created again. */
	{ .name = "write", .run = worker_op_write },
	{ .name = "worktree", .run = worktree },
};

static const struct operation_kind kind = {
	.name = "add",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_add(struct fleet *fleet, const char *name, struct server_call *call)
{
	struct core *core = fleet->core;
	struct worker_op *add = xcalloc(1, sizeof *add);
	struct worker *w = worker_new(name, clock_wall_ms());
	cleanup_free char *dir = workspace_resolve(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));

	w->worktree = file_join(dir, name);
	w->branch = xasprintf("%s%s",
	    settings_string(core->settings, "repo.branch_prefix"), name);
	state_add(&core->state, w);
	worker_op_begin(add, &kind, agent_new(fleet, w), call);
}
