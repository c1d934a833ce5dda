/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "persist.h"
#include "worker-op.h"

static struct task *
task_of(const struct agent *agent)
{
	return state_task(&agent->core->state, agent->worker->task);
}

/* The landing branch, or earlier work on the task that did not land. */
static const char *
start_point(const struct agent *agent)
{
	struct task *task = task_of(agent);

	if (task != NULL && task->from != NULL)
		return task->from;
	if (task != NULL && task->launch.contract != NULL) {
		struct core *core = agent->core;
		char tip[GIT_ID_SIZE];

		/* A new attempt at a task with a contract: what it makes is
		 * what differs from this commit of the landing branch. */
		if (git_facts_tip(core->git, core_branch(core), tip) < 0)
			return core_branch(core);
		xstrset(&task->attempt.base, tip);
		persist_changed(core);
		return task->attempt.base;
	}
	return core_branch(agent->core);
}

/* Does it go on in the conversation in which it asked a person? */
static bool
has_conversation(const struct task *task)
{
	return task != NULL && task->conversation != NULL &&
	    task->transcript != NULL;
}

/* A task begins on what others have pushed; earlier work goes on where it
 * was. */
static void
freshen(struct operation *op)
{
	struct agent *agent = ((struct worker_op *)op)->agent;
	const struct fleet_policy *policy = agent->fleet->policy;
	const struct task *task = task_of(agent);

	if (policy->fresh == NULL || (task != NULL && task->from != NULL) ||
	    policy->fresh(agent->fleet->policy_arg))
		operation_next(op);
	else
		operation_await(op);
}

static void
do_not_wait(struct operation *op)
{
	operation_on_over(op);
}

/* Another conversation needs another process. */
static void
leave(struct operation *op)
{
	if (has_conversation(task_of(((struct worker_op *)op)->agent)))
		worker_op_end_session(op);
	else
		operation_next(op);
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

/* What it starts with may need another setup. Without a session, its launch
 * does that. */
static void
set_up(struct operation *op)
{
	const struct agent *agent = ((struct worker_op *)op)->agent;

	if (session_phase(agent->session) != SESSION_NONE)
		worker_op_setup(op, NULL);
	else
		operation_next(op);
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
		struct task *task = task_of(agent);
		bool goes_on = has_conversation(task);

		xstrset(&agent->worker->work_of, agent->worker->task);
		/* A worker that continues earlier work on the task starts from
		 * its base, too. */
		if (task != NULL && task->from != NULL)
			xstrset(&agent->worker->base, task->base);
		else if (task != NULL)
			xstrset(&task->base, agent->worker->base);
		agent_task_text(agent, &text);
		if (goes_on) {
			struct session_record *s = &agent->worker->session;

			xstrset(&s->id, task->conversation);
			xstrset(&s->transcript, task->transcript);
			s->history_ms = task->history_ms;
		} else if (agent_launch_is_stale(agent)) {
			xstrset(&agent->worker->session.transcript, NULL);
			agent_end_session(agent);
		}
		agent_prompt(agent, text.data, !goes_on, WORKER_WORKING);
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
	{ .name = "freshen", .run = freshen, .cancel = do_not_wait },
	{ .name = "leave", .run = leave },
	{ .name = "reset", .run = reset },
	{ .name = "submodules", .run = worker_op_submodules },
	{ .name = "setup", .run = set_up, .cancel = worker_op_setup_cancel },
};

OPERATION_KIND(kind, "start", steps, end);

void
op_start_fresh(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct worker_op *op = fleet->agents[i]->op;

		if (op != NULL && op->op.kind == &kind && op->op.awaited > 0 &&
		    steps[op->op.at].run == freshen)
			operation_on_over(&op->op);
	}
}

void
op_start(struct agent *agent, struct server_call *call)
{
	struct worker_op *start = xcalloc(1, sizeof *start);

	worker_op_begin(start, &kind, agent, call);
}
