/* SPDX-License-Identifier: ISC */

/*
 * How an agent is doing, in one word: runStatus. Pure.
 *
 *   queued     no worker has its task yet
 *   running    it works
 *   waiting    it waits for agents that it asked for
 *   blocked    it waits for an answer, a person or a limit; why is known
 *   verifying  its contract is being checked
 *   landing    its work is on its way to the branch
 *   done, failed, cancelled
 *   idle       it has no task
 */
#ifndef RUN_STATUS_H
#define RUN_STATUS_H

#include "plan-status.h"
#include "task-run.h"
#include "task.h"
#include "worker.h"

struct run_facts {
	const struct task *task; /* NULL = none is in the state */
	enum task_outcome filed; /* of one that was filed; OUTCOME_NONE */
	const char *filed_reason; /* why that failed */
	enum worker_status worker; /* WORKER_STATUS_COUNT = it has none */
	const char *worker_reason; /* why it is paused, limited, in error */
	enum node_status node; /* NODE_STATUS_COUNT = it has no node */
	const char *node_reason; /* why that is blocked */
	size_t pending; /* its questions that have no answer yet */
	const char *pending_reason; /* the words for that */
};

enum run_status {
	RUN_QUEUED,
	RUN_RUNNING,
	RUN_WAITING,
	RUN_BLOCKED,
	RUN_VERIFYING,
	RUN_LANDING,
	RUN_DONE,
	RUN_FAILED,
	RUN_CANCELLED,
	RUN_IDLE,
	RUN_STATUS_COUNT
};

extern const char *const run_status_words[RUN_STATUS_COUNT + 1];

/* ret_reason (may be NULL): why it is blocked or has failed, borrowed from the
 * facts; NULL = nobody said. */
enum run_status
run_status(const struct run_facts *facts, const char **ret_reason);

#endif
