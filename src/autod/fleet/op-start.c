/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "buf.h"
#include "errtext.h"
#include "git-reset.h"
#include "json.h"
#include "mem.h"
#include "op-start.h"
#include "worker-op.h"

enum {
	STEP_WRITE,
	STEP_SALVAGE,
	STEP_RESET_CLEAN,
	STEP_SALVAGE_AGAIN,
	STEP_RESET
};

/* The landing branch, or earlier work on the task that did not land. */
static const char *
start_point(const struct agent *agent)
{
	const struct core *core = agent->core;
	const struct task *task = agent->worker->task != NULL ?
	    state_task(&core->state, agent->worker->task) :
	    NULL;

	return task != NULL && task->from != NULL ? task->from :
						    core_branch(core);
}

/* Something was changed after it was found clean: save that, too. */
static void
on_reset_clean(const struct err *err, void *arg)
{
	struct worker_op *start = arg;

	if (err != NULL && err->code == -ESTALE) {
		operation_on_done(NULL, arg);
		return;
	}
	if (operation_arrived(&start->op, err))
		operation_done(&start->op);
}

static void
reset_clean(struct operation *op)
{
	struct worker_op *start = (struct worker_op *)op;
	struct core *core = start->agent->core;
	const struct worker *w = start->agent->worker;
	struct git_reset_clean what = {
		.branch = w->branch,
		.head = start->clean,
		.onto = start_point(start->agent),
	};

	if (start->clean[0] == '\0') {
		operation_go(op, STEP_RESET);
		return;
	}
	git_reset_clean(
	    core->git, w->worktree, &what, on_reset_clean, operation_await(op));
}

static void
reset(struct operation *op)
{
	struct worker_op *start = (struct worker_op *)op;
	struct core *core = start->agent->core;
	const struct worker *w = start->agent->worker;

	git_reset(core->git, w->worktree, w->branch, start_point(start->agent),
	    operation_on_done, operation_await(op));
}

static struct json_object *
result_of(const struct worker *w)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(result, "status", "starting");
	json_set_bool(result, "self_review_enabled", w->self_review);
	json_set_string(result, "worktree_path", w->worktree);
	json_set_string(result, "branch", w->branch);
	return result;
}

/* The worktree is fresh: park the prompt, and answer when that is saved. */
static void
end(struct operation *op, const struct err *err)
{
	struct worker_op *start = (struct worker_op *)op;
	struct agent *agent = start->agent;
	cleanup_buf struct buf text = BUF_INIT;

	worker_op_release(start);
	if (err == NULL) {
		agent_task_text(agent, &text);
		agent_prompt(agent, text.data, true, WORKER_WORKING);
	} else if (err->code != -ECANCELED) {
		agent_move(agent, WORKER_ERROR, err->msg);
	}
	worker_op_answer(
	    start, err, err == NULL ? result_of(agent->worker) : NULL);
	free(start);
}

static const struct operation_step steps[] = {
	/* Save that this worker has this task before touching its worktree. */
	[STEP_WRITE] = { .name = "write", .run = worker_op_write },
	[STEP_SALVAGE] = { .name = "salvage", .run = worker_op_salvage },
	[STEP_RESET_CLEAN] = { .name = "reset-clean", .run = reset_clean },
	[STEP_SALVAGE_AGAIN] = { .name = "salvage-again",
	    .run = worker_op_salvage },
	[STEP_RESET] = { .name = "reset", .run = reset },
};

static const struct operation_kind kind = {
	.name = "start",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_start(struct agent *agent, struct server_call *call)
{
	struct worker_op *start = xcalloc(1, sizeof *start);

	worker_op_begin(start, &kind, agent, call);
}
