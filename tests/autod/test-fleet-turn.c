/* SPDX-License-Identifier: ISC */

/* The end of a turn, reported by the agent's hooks and judged by what the real
 * git says: of workers that a person drives, and with a policy. */
#include "fleet-world.h"
#include "turn.h"
#include "worker-op.h"

static void
expect_status(enum worker_status status)
{
	ck_assert_str_eq(worker_status_name(fleet_world.adam->worker->status),
	    worker_status_name(status));
}

static void
work(const char *text)
{
	floor_world_wt("adam", text);
}

static const char commit_text[] =
    "echo two >b.txt; git add b.txt; git commit -qm 'by adam'";

/* --- by hand ---------------------------------------------------------- */

TEST(committed_work_is_finished)
{
	fleet_world_begin_working(NULL);
	work(commit_text);
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NEEDS_REVIEW);
	ck_assert_str_eq(fleet_world.adam->worker->commit,
	    floor_world_wt("adam", "git rev-parse HEAD"));
	ck_assert_int_eq(fleet_world.told[EVENT_WORK_FINISHED], 1);
	ck_assert_int_eq(fleet_world.told[EVENT_SENT_BACK], 0);
}

TEST(nothing_was_changed)
{
	fleet_world_begin_working(NULL);
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NO_CHANGES);
	ck_assert(!fleet_world.adam->worker->session.busy);
}

/* Twice it is told to commit, then that is done for it. */
TEST(leftovers_are_committed_at_last)
{
	const char *reason;

	fleet_world_begin_working(NULL);
	work("echo two >b.txt");
	for (int i = 1; i <= 2; i++) {
		reason = fleet_world_stop(fleet_world.adam);
		ck_assert_ptr_nonnull(
		    strstr(reason, "1 file is changed or untracked"));
		expect_status(WORKER_WORKING);
		ck_assert(fleet_world.adam->worker->session.busy);
		ck_assert_int_eq(fleet_world.told[EVENT_SENT_BACK], i);
	}
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NEEDS_REVIEW);
	ck_assert_str_eq(
	    floor_world_wt("adam", "git log -1 --format=%s; git status -s"),
	    turn_end_leftover_message);
	ck_assert_str_eq(fleet_world.adam->worker->commit,
	    floor_world_wt("adam", "git rev-parse HEAD"));
	ck_assert_str_eq(
	    fleet_world.tmux->trace.data, ""); /* nothing was typed */
}

/* A new prompt begins a new count. */
TEST(a_message_gives_it_two_more)
{
	fleet_world_begin_working(NULL);
	work("echo two >b.txt");
	fleet_world_stop(fleet_world.adam);
	fleet_world_stop(fleet_world.adam);
	floor_world_done(
	    floor_world_call("worker.message", "adam", ",\"text\":\"go on\""));
	fleet_world_submit(fleet_world.adam);
	ck_assert_str_ne(fleet_world_stop(fleet_world.adam), "");
	ck_assert_str_ne(fleet_world_stop(fleet_world.adam), "");
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NEEDS_REVIEW);
}

TEST(an_unfinished_rebase_is_for_a_person)
{
	fleet_world_begin_working(NULL);
	work("echo two >a.txt; git commit -qam 'by adam'");
	floor_world_sh("echo three >a.txt; git commit -qam meanwhile");
	work("! git rebase -q main 2>/dev/null");
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(strstr(fleet_world_stop(fleet_world.adam),
		    "1 file is still in conflict. The rebase is not "
		    "finished"));
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_PAUSED);
	ck_assert_ptr_nonnull(strstr(
	    fleet_world.adam->worker->reason, "could not finish its rebase"));
	ck_assert_int_eq(fleet_world.told[EVENT_WORK_FINISHED], 0);
}

TEST(it_reviews_its_own_work_once)
{
	fleet_world_begin_idle(NULL);
	floor_world_done(floor_world_call("worker.start", "adam",
	    ",\"prompt\":\"do it\",\"self_review\":true"));
	fleet_world_submit(fleet_world.adam);
	work(commit_text);
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_REVIEWING);
	ck_assert_int_eq(fleet_world.told[EVENT_WORK_FINISHED], 0);
	fleet_world_submit(fleet_world.adam);
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NEEDS_REVIEW);
	ck_assert_int_eq(fleet_world.told[EVENT_WORK_FINISHED], 1);
}

/* Nobody waits for the answer, so what it would say is typed. */
TEST(a_stop_from_the_spool)
{
	fleet_world_begin_working(NULL);
	work("echo two >b.txt");
	fleet_world_spool(fleet_world.adam, "Stop", "{}");
	fleet_world_wait_pasted(fleet_world.adam);
	ck_assert_ptr_nonnull(strstr(
	    fleet_world.tmux->trace.data, "1 file is changed or untracked"));
	ck_assert_ptr_null(strstr(fleet_world.tmux->trace.data, "/clear"));
	fleet_world_submit(fleet_world.adam);
	expect_status(WORKER_WORKING);
	/* It counts as sent back all the same. */
	ck_assert_str_ne(fleet_world_stop(fleet_world.adam), "");
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_NEEDS_REVIEW);
}

/* A turn goes on when its worker is put on hold; what would send it back is
 * kept for later. */
TEST(a_pause_waits_for_the_end_of_the_turn)
{
	struct floor_call *call;

	fleet_world_begin_working(NULL);
	call = floor_world_call("worker.pause", "adam", "");
	floor_has(json_string_or(floor_world_result(call), "message", NULL),
	    "adam pauses at the end of its turn.");
	expect_status(WORKER_WORKING);
	work("echo two >b.txt");
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_PAUSED);
	floor_has(fleet_world.adam->worker->session.pending,
	    "1 file is changed or untracked");
}

/* --- with a policy ---------------------------------------------------- */

/* What auto mode would say, and what it was told. */
struct policy {
	struct turn_facts facts; /* its part of them */
	bool has_task, holds;
	struct buf told;
	enum worker_status status; /* when it was told last */
	bool busy;
};

static bool
policy_facts(void *arg, struct agent *agent, const char *last_words,
    struct turn_facts *facts)
{
	struct policy *policy = arg;

	(void)agent;
	if (!policy->has_task)
		return false;
	facts->driven = true;
	facts->commit_wanted = policy->facts.commit_wanted;
	facts->check_wanted = policy->facts.check_wanted;
	facts->turns = policy->facts.turns;
	facts->turns_max = policy->facts.turns_max;
	said_read(&(struct said_sources){ .text = last_words }, facts->said);
	return true;
}

static bool
policy_held(void *arg, struct agent *agent, const char *words)
{
	const struct policy *policy = arg;

	(void)words;
	if (policy->holds)
		agent_move(agent, WORKER_PAUSED, "no money is left");
	return policy->holds;
}

static void
policy_judged(void *arg, struct agent *agent, enum turn_action action,
    const char *head, const char *reason)
{
	static const char *const words[TURN_ACTION_COUNT] = {
		[TURN_NO_CHANGES] = "no-changes",
		[TURN_CHECK] = "check",
		[TURN_BACK] = "back",
		[TURN_NUDGE] = "nudge",
		[TURN_EXCUSE] = "excuse",
		[TURN_FAIL] = "fail",
	};
	struct policy *policy = arg;

	ck_assert_ptr_nonnull(words[action]);
	ck_assert_uint_eq(strlen(head), 40);
	ck_assert_ptr_null(agent->op); /* it is the policy's now */
	buf_addf(&policy->told, "%s: %s", words[action], reason);
	policy->status = agent->worker->status;
	policy->busy = agent->worker->session.busy;
}

static void
policy_asks(
    void *arg, struct agent *agent, enum ask_kind ask, const char *reason)
{
	struct policy *policy = arg;

	buf_addf(&policy->told, "%s: %s", ask_kind_words[ask], reason);
	policy->status = agent->worker->status;
}

static const struct fleet_policy fleet_policy = {
	.turn_asks = policy_asks,
	.turn_facts = policy_facts,
	.turn_held = policy_held,
	.turn_judged = policy_judged,
};

static void
begin_driven(struct policy *policy)
{
	*policy = (struct policy){ .has_task = true };
	buf_init(&policy->told);
	fleet_world_begin_working(NULL);
	fleet_set_policy(floor_world.fleet, &fleet_policy, policy);
}

static void
end_driven(struct policy *policy)
{
	fleet_world_end();
	buf_release(&policy->told);
}

/* Stop with these last words; what it is answered. */
static const char *
stop_saying(const char *words)
{
	cleanup_free char *data =
	    xasprintf("{\"last_assistant_message\":\"%s\"}", words);
	struct floor_call *call =
	    fleet_world_hook(fleet_world.adam, "Stop", data);
	struct json_object *result;

	ck_assert_ptr_null(floor_world_answer(call));
	result = floor_call_result(call);
	return result != NULL ? json_string_or(result, "reason", "") : "";
}

static const struct policy_row {
	const char *work, *words; /* what it did and said */
	struct turn_facts facts;
	const char *told; /* the policy, begins with this */
	bool back; /* the turn goes on */
	enum worker_status status;
} policy_rows[] = {
	{ "true", "Shall I go on?", { 0 }, "nudge: Nobody can answer", true,
	    WORKER_WORKING },
	{ "echo two >b.txt", "Done.", { 0 }, "back: 1 file is", true,
	    WORKER_WORKING },
	{ "true", "Done.", { .commit_wanted = true },
	    "nudge: There is no commit", true, WORKER_WORKING },
	{ "true", "Done.",
	    { .commit_wanted = true, .turns = 9, .turns_max = 9 },
	    "failure: it made no commit: Done.", false, WORKER_WORKING },
	{ "echo two >b.txt",
	    "```json\\n{\\\"overseerUpdate\\\":{\\\"status\\\":"
	    "\\\"blocked\\\",\\\"blockers\\\":[\\\"needs KEY\\\"]}}"
	    "\\n```",
	    { 0 }, "blocked: it is blocked: needs KEY", false, WORKER_WORKING },
	{ commit_text, "Done.", { .check_wanted = true }, "check: ", false,
	    WORKER_WORKING },
	{ "true", "Done.", { 0 }, "no-changes: ", false, WORKER_NO_CHANGES },
	{ commit_text, "Done.", { 0 }, "", false, WORKER_NEEDS_REVIEW },
};

TEST_ROWS(a_policy_is_told_what_was_judged, nitems(policy_rows))
{
	const struct policy_row *row = &policy_rows[_i];
	struct policy policy;

	begin_driven(&policy);
	policy.facts = row->facts;
	work(row->work);
	ck_assert((stop_saying(row->words)[0] != '\0') == row->back);
	ck_assert_msg(
	    strncmp(policy.told.data, row->told, strlen(row->told)) == 0, "%s",
	    policy.told.data);
	ck_assert((policy.told.len > 0) == (row->told[0] != '\0'));
	/* It is told before the worker is sent back, after it has moved. */
	if (policy.told.len > 0)
		ck_assert_int_eq(policy.status, row->status);
	ck_assert(!policy.busy);
	ck_assert(fleet_world.adam->worker->session.busy == row->back);
	expect_status(row->status);
	end_driven(&policy);
}

/* It is not sent back, and neither is anybody told of that. */
TEST(a_policy_holds_it)
{
	struct policy policy;

	begin_driven(&policy);
	policy.holds = true;
	work("echo two >b.txt");
	ck_assert_str_eq(stop_saying("Done."), "");
	expect_status(WORKER_PAUSED);
	ck_assert_str_eq(fleet_world.adam->worker->reason, "no money is left");
	ck_assert_str_eq(policy.told.data, "");
	ck_assert_int_eq(fleet_world.told[EVENT_SENT_BACK], 0);
	ck_assert(!fleet_world.adam->worker->session.busy);
	end_driven(&policy);
}

/* A worker without a task is a person's, whoever has registered a policy. */
TEST(a_policy_without_a_task)
{
	struct policy policy;

	begin_driven(&policy);
	policy.has_task = false;
	policy.holds = true;
	work("echo two >b.txt");
	ck_assert_str_ne(stop_saying("Shall I go on?"), "");
	expect_status(WORKER_WORKING);
	ck_assert_str_eq(policy.told.data, "");
	end_driven(&policy);
}

/* --- at the wrong moment ---------------------------------------------- */

/* An operation that ends when the test says so. */
static void
wait_for_the_test(struct operation *op)
{
	operation_await(op);
}

static void
on_end(struct operation *op, const struct err *err)
{
	(void)err;
	worker_op_release((struct worker_op *)op);
}

TEST(a_stop_while_an_operation_runs)
{
	static const struct operation_step step = { .name = "wait",
		.run = wait_for_the_test };
	static const struct operation_kind kind = {
		.name = "test", .steps = &step, .count = 1, .end = on_end
	};
	struct worker_op op = { 0 };

	fleet_world_begin_working(NULL);
	work(commit_text);
	worker_op_begin(&op, &kind, fleet_world.adam, NULL);
	ck_assert_str_eq(fleet_world_stop(fleet_world.adam), "");
	expect_status(WORKER_WORKING);
	ck_assert(!turn_end_is_due(fleet_world.adam));
	if (operation_arrived(&op.op, NULL))
		operation_next(&op.op);
	ck_assert(turn_end_is_due(fleet_world.adam));
	life_patrol(floor_world.core);
	floor_world_wait_status(fleet_world.adam, WORKER_NEEDS_REVIEW);
}

/* The second one of two finds the first one at work. */
TEST(two_stops_at_once)
{
	struct floor_call *first, *second;

	fleet_world_begin_working(NULL);
	work("echo two >b.txt");
	first = fleet_world_hook(fleet_world.adam, "Stop", "{}");
	second = fleet_world_hook(fleet_world.adam, "Stop", "{}");
	ck_assert_ptr_null(floor_world_answer(first));
	ck_assert_ptr_null(floor_world_answer(second));
	ck_assert_ptr_nonnull(floor_call_result(first));
	ck_assert_ptr_null(floor_call_result(second));
	ck_assert_int_eq(fleet_world.told[EVENT_SENT_BACK], 1);
	expect_status(WORKER_WORKING);
}
