/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "check-book.h"
#include "child.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "git-facts.h"
#include "hold.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "op-check.h"
#include "outcome.h"
#include "salvage.h"
#include "settings.h"
#include "task-run.h"
#include "tree-command.h"
#include "turn-policy.h"
#include "turn-end.h"
#include "turn.h"
#include "worker-op.h"
#include "workspace.h"

#define CHECK_LOG_SIZE (20 * 1024 * 1024)
#define CHECK_LOG_KEEP 2

struct op_check {
	struct worker_op op; /* first */
	struct auto_mode *mode;
	struct child *child; /* while it runs */
	char head[GIT_ID_SIZE];
	char *command; /* as it was set when this began */
	bool boxed; /* its worker is not trusted */
	bool passed;
	bool unjudged; /* neither passed nor failed */
	bool to_blame; /* it failed, and what it began with passes */
	struct buf output;
	struct buf words; /* the message to the worker if it failed */
};

static void
write_log(const struct op_check *check, const struct child_result *result,
    const char *how, const char *output)
{
	const struct worker *w = check->op.agent->worker;
	cleanup_free char *file =
	    workspace_path(check->op.agent->core->workspace, "logs/check.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(
	    json, "level", child_succeeded(result) ? "INFO" : "NOTICE");
	json_set_string(json, "worker_name", w->name);
	json_set_string(json, "task", w->task);
	json_set_string(json, "command", check->command);
	json_set_string(json, "result", how);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "output", output);
	jsonl_append(file, json, CHECK_LOG_SIZE, CHECK_LOG_KEEP, NULL);
}

/* --- steps ----------------------------------------------------------- */

/* The worktree was clean before the check, so remove what the check left, and
 * keep it: somebody may have worked there at the same time. */
static void
step_reset(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;

	worker_op_salvage(&check->op,
	    &(struct salvage_what){
		.then = SALVAGE_RESET, .onto = check->head, .check = true },
	    NULL);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct op_check *check = arg;
	struct operation *op = &check->op.op;
	struct worker *w = check->op.agent->worker;
	cleanup_buf struct buf how = BUF_INIT;
	struct buf *output = &check->output;
	char key[CHECK_KEY_SIZE];

	check->child = NULL;
	child_result_describe(result, &how);
	child_output_text(&result->out, output);
	check->passed = child_succeeded(result);
	check->unjudged =
	    result->exited && result->status == CHECK_EXIT_UNJUDGED;
	/* What a worker in a sandbox left beside its work (files that git
	 * ignores, its cache) does not decide what lands: a slot checks that
	 * again. */
	if (check->passed && !check->boxed) {
		check_book_key(check->command, key);
		xstrset(&w->checked, check->head);
		xstrset(&w->checked_key, key);
		w->checked_ms = result->duration_ms;
	}
	write_log(check, result, how.data, output->data);
	if (!check->passed)
		turn_check_words(
		    check->command, how.data, output->data, &check->words);
	if (op->stopping)
		step_reset(op); /* cancelled: no step follows this one */
	if (operation_arrived(op, NULL))
		operation_next(op);
}

static void
step_run(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;
	struct err err = { 0 };

	if (tree_command_spawn(check->op.agent, check->command, on_exited,
		check, &check->child, &check->boxed, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_run(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;

	if (check->child != NULL)
		child_cancel(check->child);
}

/* Does what the worker began with pass by itself? Whoever fixes the branch
 * began with something that fails. */
static void
on_forks(
    const char *const *trees, size_t count, const struct err *err, void *arg)
{
	struct op_check *check = arg;
	const struct core *core = check->op.agent->core;
	const struct task *t = auto_task(check->op.agent);
	char key[CHECK_KEY_SIZE];

	check_book_key(check->command, key);
	check->to_blame = (t != NULL && strcmp(t->source, "fix") == 0) ||
	    (err == NULL &&
		check_book_all_passed(
		    &core->state.landings.checks, trees, count, key));
	if (operation_arrived(&check->op.op, NULL))
		operation_next(&check->op.op);
}

static void
step_blame(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;
	struct core *core = check->op.agent->core;

	if (check->passed || check->unjudged)
		operation_next(op);
	else
		git_facts_forks(core->git, check->op.agent->worker->worktree,
		    core_branch(core), on_forks, operation_await(op));
}

/* --- the end --------------------------------------------------------- */

/* The landing queue decides on what could not be judged here, and on what
 * fails while nobody knows whether the branch passes: it checks the branch,
 * too, before anybody is blamed. */
static void
act(struct op_check *check)
{
	struct auto_mode *mode = check->mode;
	struct agent *agent = check->op.agent;
	const struct task *t = auto_task(agent);
	const char *words = check->words.data;

	/* The task was taken away, the next daemon will check it, or a turn
	 * that began meanwhile was cut off: its end is checked again. */
	if (t == NULL || mode->core->stopping || !turn_end_counts(agent))
		return;
	if (!check->unjudged && (check->passed || check->to_blame) &&
	    mode->watch->checked != NULL)
		mode->watch->checked(
		    mode->watch_arg, agent, check->passed, check->output.data);
	if (!check->to_blame) {
		agent_finish(agent, check->head);
	} else if (turn_policy_held(mode, agent, words)) {
		return;
	} else if (task_run_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
	} else if (!hold_turn_ended(agent, words)) {
		emit(mode->core,
		    &(struct event){ .kind = EVENT_SENT_BACK,
			.worker = agent->worker->name,
			.task = t->id,
			.reason = words });
		agent_prompt(agent, words, false, agent->worker->status);
	}
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_check *check = (struct op_check *)op;

	if (check->child != NULL)
		child_abandon(check->child); /* the operation was dropped */
	worker_op_release(&check->op);
	if (err == NULL)
		act(check);
	else if (err->code != -ECANCELED)
		agent_move(check->op.agent, WORKER_ERROR, err->msg);
	buf_release(&check->output);
	buf_release(&check->words);
	free(check->command);
	free(check);
}

static const struct operation_step steps[] = {
	{ .name = "run", .run = step_run, .cancel = cancel_run },
	{ .name = "reset", .run = step_reset, .firm = true },
	{ .name = "blame", .run = step_blame, .firm = true },
};

static const struct operation_kind kind = {
	.name = "check",
	.steps = steps,
	.count = nitems(steps),
	.yields = true,
	.end = end,
};

void
op_check_begin(struct auto_mode *mode, struct agent *agent, const char *head)
{
	struct op_check *check = xcalloc(1, sizeof *check);

	check->mode = mode;
	check->command = xstrdup(
	    settings_string(mode->core->settings, "auto.check_command"));
	buf_init(&check->output);
	buf_init(&check->words);
	snprintf(check->head, sizeof check->head, "%s", head);
	worker_op_begin(&check->op, &kind, agent, NULL);
}
