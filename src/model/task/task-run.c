/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "plan-node.h"
#include "plan-text.h"
#include "schema.h"
#include "task-run.h"
#include "task.h"

/* --- runs ------------------------------------------------------------ */

const char *const verification_state_words[VERIFICATION_STATE_COUNT + 1] = {
	[VERIFICATION_NONE] = "none",
	[VERIFICATION_PENDING] = "pending",
	[VERIFICATION_RUNNING] = "running",
	[VERIFICATION_PASSED] = "passed",
	[VERIFICATION_FAILED] = "failed",
};

#define FIELD(key, member, ...)                                                \
	SCHEMA_FIELD(struct task_run, key, member, .flags = SCHEMA_OMIT_UNSET, \
	    ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("actor", actor),
	FIELD("parent", parent),
	FIELD("parent_actor", parent_actor),
	FIELD("depth", depth),
	FIELD("max_depth", max_depth),
	FIELD("local_max_depth", local_max_depth),
	FIELD("goal", goal),
	FIELD("role", role),
	FIELD("label", label),
	FIELD("agent", agent),
	FIELD("model", model),
	FIELD("thinking", thinking),
	FIELD("timeout_s", timeout_s),
	FIELD("tools_allow", tools_allow),
	FIELD("tools_deny", tools_deny),
	FIELD("tools_scoped", tools_scoped),
	FIELD("required_tools", required_tools),
	FIELD("confined_by", confined_by),
	FIELD("scope_paths", scope_paths),
	FIELD("progress_reporting", progress_reporting),
	FIELD("report_only", report_only),
	FIELD("recovery", recovery),
	FIELD("contract", contract),
	FIELD("base", base),
	FIELD("verification", verification, .words = verification_state_words),
	FIELD("verified", verified),
	FIELD("retry_of", retry_of),
	FIELD("last_tool", last_tool),
	FIELD("report", report),
	FIELD("report_by_tool", report_by_tool),
	FIELD("progress", progress),
	FIELD("progress_count", progress_count),
	FIELD("progress_ms", progress_ms),
	FIELD("progress_call", progress_call),
	FIELD("started_ms", started_ms),
	FIELD("spent_before", spent_before),
	FIELD("ended", ended),
	FIELD("announced", announced),
	FIELD("has_spawned", has_spawned),
	FIELD("lost", lost),
	FIELD("untold", untold),
	FIELD("rebase_due", rebase_due),
	FIELD("children_landed", children_landed),
	FIELD("timed_out", timed_out),
	FIELD("by_mail", by_mail),
	FIELD("mail_turns", mail_turns),
	FIELD("waiting_ms", waiting_ms),
	FIELD("waited_ms", waited_ms),
	FIELD("scope_checked", scope_checked),
	FIELD("violations", violations),
	/* In a plan of an earlier version. */
	PLAN_GONE("completion_report"),
	PLAN_GONE("request"),
	PLAN_GONE("retried_ms"),
	PLAN_GONE("root_actor"),
};

const struct schema task_run_schema = SCHEMA_OF(struct task_run, fields);

struct task_run *
task_run_new(void)
{
	return schema_new(&task_run_schema);
}

void
task_run_free(struct task_run *run)
{
	schema_free(&task_run_schema, run);
}

bool
task_run_is_spawned(const struct task *task)
{
	return task->run != NULL &&
	    (task->run->parent != NULL || task->run->depth > 0);
}

bool
task_run_is_child(const struct task *task)
{
	return task->run != NULL && task->run->parent != NULL;
}

bool
task_run_has_landed(const struct task *task)
{
	return task->outcome == OUTCOME_LANDED ||
	    (task->run != NULL && task->run->children_landed);
}

char *
task_run_id(const struct task *task)
{
	return xasprintf("%s-%d", task->id, task->attempts);
}

char *
task_run_actor(const struct task *task)
{
	return task->run != NULL && task->run->actor != NULL ?
	    xstrdup(task->run->actor) :
	    xasprintf("actor:task:%s", task->id);
}

static void
forget(struct json_object **member)
{
	json_object_put(*member);
	*member = NULL;
}

void
task_run_begin(struct task *task, int64_t now_ms)
{
	struct task_run *run = task_run_of(task);

	xstrset(&run->last_tool, NULL);
	forget(&run->report);
	run->report_by_tool = false;
	forget(&run->progress);
	run->progress_count = 0;
	run->progress_ms = 0;
	xstrset(&run->progress_call, NULL);
	run->started_ms = now_ms;
	run->timed_out = false;
	run->by_mail = false;
	run->mail_turns = 0;
	if (run->spent_before == NULL)
		task_run_spent(task);
}

void
task_run_spent(struct task *task)
{
	struct task_run *run = task_run_of(task);

	forget(&run->spent_before);
	run->spent_before = json_object_new_object();
	schema_add(&spent_schema, &task->spent, run->spent_before);
}

bool
task_run_waits(struct task *task, bool waits, int64_t now_ms)
{
	struct task_run *run = task->run;

	if (waits == (run != NULL && run->waiting_ms != 0))
		return false;
	run = task_run_of(task);
	if (!waits && now_ms > run->waiting_ms)
		run->waited_ms += now_ms - run->waiting_ms;
	run->waiting_ms = waits ? now_ms : 0;
	return true;
}

int64_t
task_run_time(const struct task *task, int64_t now_ms)
{
	const struct task_run *run = task->run;
	int64_t time = now_ms - task->assigned_ms;

	if (run == NULL)
		return time;
	if (run->waiting_ms != 0)
		time -= now_ms - run->waiting_ms;
	return time - run->waited_ms;
}

void
task_run_turn_ended(struct task *task)
{
	struct task_run *run = task->run;

	task->turns++;
	if (run == NULL || !run->by_mail)
		return;
	run->by_mail = false;
	run->mail_turns++;
}

int
task_run_turns(const struct task *task)
{
	int mail = task->run != NULL ? task->run->mail_turns : 0;
	int resumed = task->turns_allowed - task->turns_before;
	int turns = task->turns - mail - (resumed > 0 ? resumed : 0);

	return turns > 0 ? turns : 0;
}

struct task_run *
task_run_of(struct task *task)
{
	if (task->run == NULL)
		task->run = task_run_new();
	return task->run;
}

/* --- of nodes -------------------------------------------------------- */

struct task_run *
node_run(const struct plan_node *node)
{
	struct task_run *run = schema_clone(&task_run_schema, node->spawn);

	if (run == NULL && node->verification == NULL &&
	    node->scope_paths == NULL && node->required_tools == NULL &&
	    node->result == NODE_RESULT_UNSET)
		return NULL;
	if (run == NULL)
		run = task_run_new();
	if (run->contract == NULL)
		run->contract = json_object_get(node->verification);
	if (run->contract != NULL)
		run->verification = VERIFICATION_PENDING;
	if (run->scope_paths == NULL)
		run->scope_paths = strv_copy(strv_const(node->scope_paths));
	run->required_tools = strv_copy(strv_const(node->required_tools));
	run->report_only |= node->result == NODE_RESULT_REPORT;
	return run;
}

const char *
node_run_parent(const struct plan_node *node)
{
	return node->spawn != NULL ? node->spawn->parent : NULL;
}

bool
node_run_is_spawned(const struct plan_node *node)
{
	return node_run_parent(node) != NULL ||
	    (node->spawn != NULL && node->spawn->depth > 0);
}

/* --- the status ------------------------------------------------------ */

const char *const run_status_words[RUN_STATUS_COUNT + 1] = { "queued",
	"running", "waiting", "blocked", "verifying", "landing", "done",
	"failed", "cancelled", "idle", NULL };

static enum run_status
by_outcome(enum task_outcome outcome, const char *why, const char **reason)
{
	switch (outcome) {
	case OUTCOME_LANDED:
	case OUTCOME_NO_CHANGES:
		return RUN_DONE;
	case OUTCOME_ABORTED:
		return RUN_CANCELLED;
	case OUTCOME_NONE:
	case OUTCOME_FAILED:
	case OUTCOME_DEAD_LETTER:
	case OUTCOME_COUNT:
		break;
	}
	*reason = why;
	return RUN_FAILED;
}

static enum run_status
at_work(const struct run_facts *f, const char **reason)
{
	const struct task_run *run = f->task->run;

	if (f->pending > 0) {
		*reason = f->pending_reason;
		return RUN_BLOCKED;
	}
	if (f->worker == WORKER_PAUSED || f->worker == WORKER_LIMITED ||
	    f->worker == WORKER_ERROR) {
		*reason = f->worker_reason;
		return RUN_BLOCKED;
	}
	if (run != NULL && run->verification == VERIFICATION_RUNNING)
		return RUN_VERIFYING;
	if (f->worker == WORKER_WAITING)
		return RUN_WAITING;
	return f->worker == WORKER_ACCEPTING ? RUN_LANDING : RUN_RUNNING;
}

enum run_status
run_status(const struct run_facts *f, const char **ret_reason)
{
	const char *unused = NULL,
		   **reason = ret_reason != NULL ? ret_reason : &unused;

	*reason = NULL;
	if (f->task == NULL && f->filed != OUTCOME_NONE)
		return by_outcome(f->filed, f->filed_reason, reason);
	if (f->task == NULL) {
		switch (f->node) {
		case NODE_DONE:
			return RUN_DONE;
		case NODE_CANCELLED:
			return RUN_CANCELLED;
		case NODE_BLOCKED:
			*reason = f->node_reason;
			return RUN_FAILED;
		case NODE_TODO:
		case NODE_QUEUED:
		case NODE_IN_PROGRESS:
			return RUN_QUEUED;
		case NODE_STATUS_COUNT:
			break;
		}
		if (f->pending == 0)
			return RUN_IDLE;
		*reason = f->pending_reason;
		return RUN_BLOCKED;
	}
	switch (f->task->step) {
	case TASK_OFFERED:
	case TASK_WAITING:
		return RUN_QUEUED;
	case TASK_ASSIGNED:
		return at_work(f, reason);
	case TASK_QUEUED:
	case TASK_LANDED:
		return RUN_LANDING;
	case TASK_PARKED:
		*reason =
		    f->task->ask == ASK_QUESTION ? TASK_ASKS : f->task->reason;
		return RUN_BLOCKED;
	case TASK_SETTLING:
	case TASK_STEP_COUNT:
		break;
	}
	return by_outcome(f->task->outcome, f->task->reason, reason);
}
