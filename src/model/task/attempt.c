/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "attempt.h"
#include "schema.h"
#include "task.h"

/* --- records --------------------------------------------------------- */

const char *const verification_state_words[VERIFICATION_STATE_COUNT + 1] = {
	[VERIFICATION_NONE] = "none",
	[VERIFICATION_PENDING] = "pending",
	[VERIFICATION_RUNNING] = "running",
	[VERIFICATION_PASSED] = "passed",
	[VERIFICATION_FAILED] = "failed",
};

const char *const review_state_words[REVIEW_STATE_COUNT + 1] = {
	[REVIEW_NONE] = "none",
	[REVIEW_OPEN] = "open",
	[REVIEW_APPROVED] = "approved",
	[REVIEW_FINDINGS] = "findings",
	[REVIEW_FAILED] = "failed",
};

#define FIELD(key, member, ...)                        \
	SCHEMA_FIELD(struct task_attempt, key, member, \
	    .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field attempt_fields[] = {
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
	FIELD("elsewhere", elsewhere),
	FIELD("lost", lost),
	FIELD("untold", untold),
	FIELD("rebase_due", rebase_due),
	FIELD("children_landed", children_landed),
	FIELD("timed_out", timed_out),
	FIELD("by_mail", by_mail),
	FIELD("mail_turns", mail_turns),
	FIELD("waiting_ms", waiting_ms),
	FIELD("waited_ms", waited_ms),
	FIELD("review", review, .words = review_state_words),
	FIELD("review_of", review_of),
	FIELD("review_said", review_said),
	FIELD("review_rounds", review_rounds),
	FIELD("review_tries", review_tries),
	FIELD("review_why", review_why),
	FIELD("scope_checked", scope_checked),
	FIELD("violations", violations),
};

const struct schema task_attempt_schema =
    SCHEMA_OF(struct task_attempt, attempt_fields);

bool
task_is_spawned(const struct task *task)
{
	return task->launch.parent != NULL || task->launch.depth > 0;
}

bool
task_is_for_team(const struct task *task)
{
	return task_is_spawned(task) && !text_is(task->source, HOSTS_SOURCE);
}

bool
task_is_child(const struct task *task)
{
	return task->launch.parent != NULL;
}

bool
task_is_special(const struct task *task)
{
	const struct task_launch *launch = &task->launch;

	return task->attempts > 0 || task_is_spawned(task) ||
	    launch->role != NULL || launch->label != NULL ||
	    launch->contract != NULL || launch->report_only;
}

bool
task_has_landed(const struct task *task)
{
	return task->outcome == OUTCOME_LANDED || task->attempt.children_landed;
}

char *
task_attempt_id(const struct task *task)
{
	return xasprintf("%s-%d", task->id, task->attempts);
}

char *
task_actor(const struct task *task)
{
	return task->launch.actor != NULL ?
	    xstrdup(task->launch.actor) :
	    xasprintf("actor:task:%s", task->id);
}

void
task_attempt_begin(struct task *task, int64_t now_ms)
{
	struct task_attempt *attempt = &task->attempt;

	xstrset(&attempt->last_tool, NULL);
	json_object_put(take_ptr(&attempt->report));
	attempt->report_by_tool = false;
	json_object_put(take_ptr(&attempt->progress));
	attempt->progress_count = 0;
	attempt->progress_ms = 0;
	xstrset(&attempt->progress_call, NULL);
	attempt->started_ms = now_ms;
	attempt->timed_out = false;
	attempt->by_mail = false;
	attempt->mail_turns = 0;
	if (attempt->spent_before == NULL)
		task_attempt_spent(task);
}

void
task_attempt_spent(struct task *task)
{
	struct task_attempt *attempt = &task->attempt;

	json_object_put(attempt->spent_before);
	attempt->spent_before = json_object_new_object();
	schema_add(&spent_schema, &task->spent, attempt->spent_before);
}

bool
task_attempt_waits(struct task *task, bool waits, int64_t now_ms)
{
	struct task_attempt *attempt = &task->attempt;

	if (waits == (attempt->waiting_ms != 0))
		return false;
	if (!waits && now_ms > attempt->waiting_ms)
		attempt->waited_ms += now_ms - attempt->waiting_ms;
	attempt->waiting_ms = waits ? now_ms : 0;
	return true;
}

int64_t
task_attempt_time(const struct task *task, int64_t now_ms)
{
	const struct task_attempt *attempt = &task->attempt;
	int64_t time = now_ms - task->assigned_ms;

	if (attempt->waiting_ms != 0)
		time -= now_ms - attempt->waiting_ms;
	return time - attempt->waited_ms;
}

void
task_turn_ended(struct task *task)
{
	task->turns++;
	if (task->attempt.by_mail)
		task->attempt.mail_turns++;
	task->attempt.by_mail = false;
}

int
task_attempt_turns(const struct task *task)
{
	int resumed = task->turns_allowed - task->turns_before;
	int turns = task->turns - task->attempt.mail_turns -
	    (resumed > 0 ? resumed : 0);

	return turns > 0 ? turns : 0;
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
	if (f->pending > 0) {
		*reason = f->pending_reason;
		return RUN_BLOCKED;
	}
	if (f->worker == WORKER_PAUSED || f->worker == WORKER_LIMITED ||
	    f->worker == WORKER_ERROR) {
		*reason = f->worker_reason;
		return RUN_BLOCKED;
	}
	if (f->task->attempt.verification == VERIFICATION_RUNNING ||
	    (f->worker == WORKER_NEEDS_REVIEW &&
		f->task->attempt.review == REVIEW_OPEN))
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
	case TASK_ELSEWHERE:
		return RUN_RUNNING;
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
