/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "run-status.h"

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
