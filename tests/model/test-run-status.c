/* SPDX-License-Identifier: ISC */

/* How an agent is doing, in one word. */

#include "unit.h"
#include "attempt.h"

/* A task at this step, and what a worker with this status makes of it. */
static const struct row {
	enum task_step step;
	enum worker_status worker;
	size_t pending;
	const char *want, *reason;
} rows[] = {
	{ TASK_OFFERED, WORKER_STATUS_COUNT, 0, "queued", "" },
	{ TASK_WAITING, WORKER_STATUS_COUNT, 0, "queued", "" },
	{ TASK_ASSIGNED, WORKER_STARTING, 0, "running", "" },
	{ TASK_ASSIGNED, WORKER_WORKING, 0, "running", "" },
	{ TASK_ASSIGNED, WORKER_WORKING, 1, "blocked", "waits for an answer" },
	{ TASK_ASSIGNED, WORKER_WAITING, 0, "waiting", "" },
	{ TASK_ASSIGNED, WORKER_PAUSED, 0, "blocked", "by hand" },
	{ TASK_ASSIGNED, WORKER_LIMITED, 0, "blocked", "by hand" },
	{ TASK_ASSIGNED, WORKER_ERROR, 0, "blocked", "by hand" },
	{ TASK_ASSIGNED, WORKER_ACCEPTING, 0, "landing", "" },
	{ TASK_QUEUED, WORKER_STATUS_COUNT, 0, "landing", "" },
	{ TASK_LANDED, WORKER_STATUS_COUNT, 0, "landing", "" },
	{ TASK_PARKED, WORKER_STATUS_COUNT, 0, "blocked", "too much" },
};

static void
is(const struct run_facts *facts, const char *want, const char *reason)
{
	const char *why = "unset";

	ck_assert_str_eq(run_status_words[run_status(facts, &why)], want);
	ck_assert_str_eq(why != NULL ? why : "", reason);
	ck_assert_str_eq(run_status_words[run_status(facts, NULL)], want);
}

TEST(a_task_is_where_its_step_and_its_worker_are)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		char why[] = "too much";
		const struct task task = { .step = rows[i].step,
			.reason = why };
		const struct run_facts facts = { .task = &task,
			.node = NODE_IN_PROGRESS,
			.worker = rows[i].worker,
			.worker_reason = "by hand",
			.pending = rows[i].pending,
			.pending_reason = "waits for an answer" };

		is(&facts, rows[i].want, rows[i].reason);
	}
}

TEST(a_contract_that_is_being_checked_is_seen)
{
	const struct task task = { .step = TASK_ASSIGNED,
		.attempt.verification = VERIFICATION_RUNNING };
	const struct run_facts facts = { .task = &task,
		.worker = WORKER_NEEDS_REVIEW };

	is(&facts, "verifying", "");
}

TEST(who_works_without_a_task_can_wait_for_an_answer)
{
	struct run_facts facts = { .worker = WORKER_WORKING,
		.node = NODE_STATUS_COUNT,
		.pending_reason = "asks" };

	is(&facts, "idle", "");
	facts.pending = 1;
	is(&facts, "blocked", "asks");
}

TEST(an_outcome_is_told_before_the_plan_knows_it)
{
	char why[] = "no artifact";
	struct task task = {
		.step = TASK_SETTLING, .outcome = OUTCOME_LANDED, .reason = why
	};
	const struct run_facts facts = { .task = &task,
		.node = NODE_IN_PROGRESS };

	is(&facts, "done", "");
	task.outcome = OUTCOME_NO_CHANGES;
	is(&facts, "done", "");
	task.outcome = OUTCOME_ABORTED;
	is(&facts, "cancelled", "");
	task.outcome = OUTCOME_FAILED;
	is(&facts, "failed", "no artifact");
	task.outcome = OUTCOME_DEAD_LETTER;
	is(&facts, "failed", "no artifact");
}

TEST(the_record_of_a_task_tells_more_than_its_node)
{
	struct run_facts facts = { .node = NODE_CANCELLED,
		.filed = OUTCOME_FAILED,
		.filed_reason = "no artifact" };

	is(&facts, "failed", "no artifact");
	facts.filed = OUTCOME_ABORTED;
	is(&facts, "cancelled", "");
	facts.filed = OUTCOME_LANDED;
	is(&facts, "done", "");
}

TEST(without_a_task_the_node_tells)
{
	struct run_facts facts = { .node = NODE_QUEUED,
		.node_reason = "its task failed" };

	is(&facts, "queued", "");
	facts.node = NODE_DONE;
	is(&facts, "done", "");
	facts.node = NODE_CANCELLED;
	is(&facts, "cancelled", "");
	facts.node = NODE_BLOCKED;
	is(&facts, "failed", "its task failed");
	facts.node = NODE_STATUS_COUNT;
	is(&facts, "idle", "");
}
