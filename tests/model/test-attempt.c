/* SPDX-License-Identifier: ISC */

#include <math.h>

#include "unit.h"
#include "attempt.h"
#include "task.h"

/* --- run status -------------------------------------------------------- */

/* How an agent is doing, in one word. */

/* A task at this step, and what a worker with this status makes of it. */
static const struct row {
	enum task_step step;
	enum worker_status worker;
	size_t pending;
	const char *want, *reason;
} status_rows[] = {
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
	for (size_t i = 0; i < nitems(status_rows); i++) {
		char why[] = "too much";
		const struct task task = { .step = status_rows[i].step,
			.reason = why };
		const struct run_facts facts = { .task = &task,
			.node = NODE_IN_PROGRESS,
			.worker = status_rows[i].worker,
			.worker_reason = "by hand",
			.pending = status_rows[i].pending,
			.pending_reason = "waits for an answer" };

		is(&facts, status_rows[i].want, status_rows[i].reason);
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

TEST(waiting_for_others_is_no_work_even_if_the_clock_is_set_back)
{
	struct task task = { .assigned_ms = 1000 };

	ck_assert(task_attempt_waits(&task, true, 3000));
	ck_assert(!task_attempt_waits(&task, true, 4000));
	ck_assert_int_eq(task_attempt_time(&task, 9000), 2000);
	ck_assert(task_attempt_waits(&task, false, 5000));
	ck_assert_int_eq(task_attempt_time(&task, 9000), 6000);
	ck_assert(task_attempt_waits(&task, true, 9000));
	ck_assert(task_attempt_waits(&task, false, 7000));
	ck_assert_int_eq(task_attempt_time(&task, 9000), 6000);
}

/* --- perf record ------------------------------------------------------- */

#define START 1000000

/* Assigned at START. */
static struct task *
begin(void)
{
	struct task *task =
	    task_new("t1", "plan", "g1/T1.2", "Add", "Add the numbers", 1);

	ck_assert_int_eq(task_take(task, 1), 0);
	ck_assert_int_eq(task_assign(task, "auto-1", START), 0);
	return task;
}

static struct perf_record
recorded(const struct task *task, const char *run)
{
	struct perf_record record = { 0 };
	struct err err = { 0 };
	struct json_object *json =
	    json_object_object_get(task->attempt.ended, run);

	ck_assert_ptr_nonnull(json);
	ck_assert_msg(
	    perf_record_read(json, &record, &err) == 0, "%s", err.msg);
	return record;
}

TEST(a_run_that_ends_leaves_a_record_with_all_members)
{
	struct task *task = begin();
	struct perf_record record;

	usage_add(&task->spent.usage, "claude-a", USAGE_INPUT, 100);
	usage_add(&task->spent.usage, "claude-a", USAGE_CACHE_READ, 5000);
	usage_add(&task->spent.usage, "claude-a", USAGE_OUTPUT, 20);
	usage_add(&task->spent.usage, "claude-b", USAGE_OUTPUT, 3);
	task->spent.cost = 250000;
	xstrset(&task->launch.agent, "writer");
	xstrset(&task->launch.role, "docs");
	xstrset(&task->launch.parent_actor, "actor:task:t0");
	task->attempt.verification = VERIFICATION_PASSED;
	task->attempt.report = json_object_new_object();
	json_set_string(task->attempt.report, "status", "complete");
	json_set_string(task->attempt.report, "confidence", "high");
	json_set_string(task->attempt.report, "summary", "SECRET");
	ck_assert_int_eq(task_landed(task, "c0ffee", START + 10), 0);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_LANDED, NULL, START + 5000), 0);
	record = recorded(task, "t1-1");
	ck_assert_str_eq(record.run, "t1-1");
	ck_assert_str_eq(record.agent, "writer");
	ck_assert_str_eq(record.task_type, "docs");
	ck_assert_str_eq(record.spawner, "actor:task:t0");
	ck_assert_int_eq(record.started_ms, START);
	ck_assert_int_eq(record.ended_ms, START + 5000);
	ck_assert_int_eq(record.runtime_ms, 5000);
	ck_assert_int_eq(record.outcome, PERF_SUCCESS);
	ck_assert_int_eq(record.verified, 1);
	ck_assert_str_eq(record.report_status, "complete");
	ck_assert_str_eq(record.report_confidence, "high");
	ck_assert_int_eq(record.tokens_in, 100);
	ck_assert_int_eq(record.tokens_out, 23);
	ck_assert(record.cost == 0.25);
	ck_assert_ptr_null(record.retry_of);
	ck_assert_str_eq(record.model, "claude-a");
	ck_assert_str_eq(record.worker, "auto-1");
	ck_assert_str_eq(record.goal, "g1");
	/* Nothing of what was said or asked for. */
	ck_assert_ptr_null(
	    strstr(json_object_to_json_string(task->attempt.ended), "SECRET"));
	ck_assert_ptr_null(
	    strstr(json_object_to_json_string(task->attempt.ended), "numbers"));
	ck_assert_int_eq(task->attempt.started_ms, 0);
	task_free(task);
}

/* Its card is found by its role, so it is counted there. */
TEST(a_run_is_filed_under_the_role_that_was_asked_for)
{
	struct task *task = begin();

	xstrset(&task->launch.role, "reviewer");
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 300), 0);
	ck_assert_str_eq(recorded(task, "t1-1").agent, "reviewer");
	task_free(task);
}

TEST(each_attempt_has_its_own_record_and_tokens)
{
	struct task *task = begin();
	struct perf_record record;

	usage_add(&task->spent.usage, "claude-a", USAGE_OUTPUT, 20);
	ck_assert(task_attempt_failed(task, "no", 2, START + 100));
	ck_assert_int_eq(task_assign(task, "auto-2", START + 200), 0);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 300), 0);
	record = recorded(task, "t1-1");
	ck_assert_int_eq(record.outcome, PERF_FAILURE);
	ck_assert_int_eq(record.tokens_out, 20);
	ck_assert_int_eq(record.verified, -1);
	ck_assert(isnan(record.cost) || record.cost == 0);
	record = recorded(task, "t1-2");
	ck_assert_str_eq(record.retry_of, "t1-1");
	ck_assert_str_eq(record.worker, "auto-2");
	ck_assert_str_eq(record.agent, PERF_AGENT_DEFAULT);
	ck_assert_ptr_null(record.task_type);
	ck_assert_str_eq(record.spawner, ACTOR_OVERSEER);
	/* Nothing is known of what it has used. */
	ck_assert_int_eq(record.tokens_in, -1);
	ck_assert_int_eq(record.tokens_out, -1);
	ck_assert(isnan(record.cost));
	task_free(task);
}

/* It was blocked, and begins again with an answer: one attempt, which has used
 * all of it. */
TEST(an_attempt_that_was_taken_back_is_paid_for_by_the_next)
{
	struct task *task = begin();

	usage_add(&task->spent.usage, "claude-a", USAGE_OUTPUT, 20);
	ck_assert_int_eq(
	    task_park(task, ASK_BLOCKED, NULL, "no", START + 1), 0);
	ck_assert_int_eq(task_unpark(task, "yes", START + 2), 0);
	ck_assert_int_eq(task_assign(task, "auto-2", START + 3), 0);
	usage_add(&task->spent.usage, "claude-a", USAGE_OUTPUT, 3);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 300), 0);
	ck_assert_int_eq(recorded(task, "t1-1").tokens_out, 23);
	task_free(task);
}

TEST(what_is_no_attempt_leaves_no_record)
{
	struct task *task = begin();

	/* The attempt does not count. */
	ck_assert_int_eq(task_give_back(task, "lost", START + 1), 0);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 2), 0);
	ck_assert_ptr_null(task->attempt.ended);
	task_free(task);
	task = begin();
	ck_assert_int_eq(
	    task_park(task, ASK_BUDGET, NULL, "budget", START + 1), 0);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 2), 0);
	ck_assert_ptr_null(task->attempt.ended);
	task_free(task);
	/* It has ended before. */
	task = begin();
	ck_assert(task_attempt_failed(task, "no", 2, START + 100));
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 200), 0);
	ck_assert_int_eq(json_object_object_length(task->attempt.ended), 1);
	task_free(task);
}

TEST(an_attempt_that_is_sent_back_goes_on)
{
	struct task *task = begin();
	struct perf_record record;

	ck_assert_int_eq(task_queue(task, START + 10), 0);
	ck_assert_int_eq(task_send_back(task, "c0ffee", "red", START + 20), 0);
	ck_assert_int_eq(task_assign(task, "auto-2", START + 30), 0);
	ck_assert_int_eq(
	    task_park(task, ASK_BUDGET, "c0ffee", "budget", START + 40), 0);
	ck_assert_int_eq(
	    task_settle(task, OUTCOME_ABORTED, "no", START + 50), 0);
	ck_assert_int_eq(json_object_object_length(task->attempt.ended), 1);
	record = recorded(task, "t1-1");
	ck_assert_int_eq(record.runtime_ms, 50);
	task_free(task);
}

TEST(the_outcome_follows_from_the_task_and_the_report)
{
	static const struct {
		enum task_outcome outcome;
		bool timed_out;
		const char *reported;
		enum perf_outcome expect;
	} rows[] = {
		{ OUTCOME_LANDED, false, NULL, PERF_SUCCESS },
		{ OUTCOME_LANDED, true, "complete", PERF_SUCCESS },
		{ OUTCOME_LANDED, false, "partial", PERF_PARTIAL },
		{ OUTCOME_LANDED, false, "failed", PERF_PARTIAL },
		{ OUTCOME_NO_CHANGES, false, NULL, PERF_SUCCESS },
		{ OUTCOME_FAILED, false, "complete", PERF_FAILURE },
		{ OUTCOME_FAILED, true, NULL, PERF_TIMEOUT },
		{ OUTCOME_DEAD_LETTER, false, NULL, PERF_FAILURE },
		{ OUTCOME_ABORTED, false, NULL, PERF_FAILURE },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_int_eq(perf_record_outcome(rows[i].outcome,
				     rows[i].timed_out, rows[i].reported),
		    rows[i].expect);
}

TEST(a_line_that_is_no_record_is_refused)
{
	static const char *const rows[] = { "[]", "{}",
		"{\"runId\": \"t1-1\", \"agentId\": \"a\", \"endedAt\": 3, "
		"\"outcome\": \"fine\"}",
		"{\"runId\": \"t1-1\", \"agentId\": \"a\", \"endedAt\": -3, "
		"\"outcome\": \"success\"}" };
	struct perf_record record;

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *json = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(
		    json_parse(rows[i], strlen(rows[i]), 4096, &json, NULL), 0);
		ck_assert_int_eq(
		    perf_record_read(json, &record, &err), -EINVAL);
		ck_assert_str_ne(err.msg, "");
	}
}
