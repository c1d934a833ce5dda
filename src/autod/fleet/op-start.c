/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "agent-launch.h"
#include "buf.h"
#include "errtext.h"
#include "git-facts.h"
#include "json.h"
#include "mem.h"
#include "op-start.h"
#include "persist.h"
#include "salvage.h"
#include "task-run.h"
#include "worker-op.h"

static struct task *
task_of(const struct agent *agent)
{
	return agent->worker->task != NULL ?
	    state_task(&agent->core->state, agent->worker->task) :
	    NULL;
}

/* A new attempt at a task with a contract: what it makes is what differs from
 * this commit of the landing branch. */
static const char *
note_base(const struct agent *agent, struct task *task)
{
	struct core *core = agent->core;
	char tip[GIT_ID_SIZE];

	if (git_facts_tip(core->git, core_branch(core), tip) < 0)
		return core_branch(core);
	xstrset(&task->run->base, tip);
	persist_changed(core);
	return task->run->base;
}

/* The landing branch, or earlier work on the task that did not land. */
static const char *
start_point(const struct agent *agent)
{
	struct task *task = task_of(agent);

	if (task != NULL && task->from != NULL)
		return task->from;
	if (task != NULL && task->run != NULL && task->run->contract != NULL)
		return note_base(agent, task);
	return core_branch(agent->core);
}

static void
reset(struct operation *op)
{
	struct worker_op *start = (struct worker_op *)op;

	worker_op_salvage(start,
	    &(struct salvage_what){ .then = SALVAGE_RESET,
		.onto = start_point(start->agent),
		.find_base = true },
	    NULL);
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

/* Whoever goes on with earlier work on the task goes on from its base, too. */
static void
keep_base(struct agent *agent)
{
	struct task *task = task_of(agent);

	if (task != NULL && task->from != NULL)
		xstrset(&agent->worker->base, task->base);
	else if (task != NULL)
		xstrset(&task->base, agent->worker->base);
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
		xstrset(&agent->worker->work_of, agent->worker->task);
		keep_base(agent);
		agent_task_text(agent, &text);
		if (agent_launch_is_stale(agent)) {
			xstrset(&agent->worker->session.transcript, NULL);
			agent_end_session(agent);
		}
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
	{ .name = "write", .run = worker_op_write },
	{ .name = "reset", .run = reset },
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
