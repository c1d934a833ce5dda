/* SPDX-License-Identifier: ISC */

/* What stops a worker, or all of them: budgets, silence, outages, a checkout in
 * the way, workers that cannot continue. */
#include "unit.h"

#include <check.h>

#include "agent.h"
#include "auto-private.h"
#include "auto-world.h"
#include "backoff.h"
#include "limit.h"
#include "moment.h"
#include "quota.h"
#include "settings-table.h"
#include "settings.h"

#define MINUTE_MS (60 * 1000)

static struct agent *
begin_turn(const char *settings)
{
	struct agent *agent = auto_world_begin_turn(settings, "Do it\n");

	auto_world_told("task_assigned t1; ");
	return agent;
}

/* --- budgets --------------------------------------------------------- */

static struct floor_call *
resume(const char *worker)
{
	struct floor_call *call = floor_world_call("auto.resume", worker, "");

	floor_world_answer(call);
	return call;
}

/* No task begins in what is kept for a person; that is said once, and over
 * without a command. What is not known, or was reported by a clock that went
 * wrong, holds up nothing. */
TEST_ROWS(a_reserve_is_kept, 4)
{
	static const struct {
		int64_t used, resets_h, seen_h; /* hours from now */
		bool held;
	} rows[] = { { 800, 1, 0, true }, { 799, 1, 0, false },
		{ 1000, -1, -2, false }, { 1000, 9000, 8999, false } };
	const int64_t now = clock_wall_ms(), hour = 3600000;
	struct state *state;

	auto_world_begin("[budget]\nreserve = 20\n");
	state = &auto_world.core->state;
	state->windows[WINDOW_FIVE_HOUR] = (struct window){ rows[_i].used,
		now + rows[_i].resets_h * hour, now + rows[_i].seen_h * hour };
	xstrset(&state->held, "an old reason");
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	if (rows[_i].held) {
		auto_world_wait("waiting; ");
		for (int i = 0; i < 3; i++)
			auto_world_patrol();
		auto_world_told("waiting; ");
		ck_assert_str_eq(state->held,
		    "80% of the 5 hour window are used, and budget.reserve "
		    "keeps 20% for you");
		ck_assert_int_eq(state->held_until_ms, now + hour);
		state->windows[WINDOW_FIVE_HOUR].resets_ms = now;
		auto_world_patrol();
	}
	auto_world_turn(1);
	auto_world_told(rows[_i].held ? "fleet_resumed; task_assigned t1; " :
					"task_assigned t1; ");
	ck_assert_ptr_null(state->held);
}

/* The agent is told to wrap up, and has nothing yet: it goes on, and neither
 * its attempts nor a person's patience are used up. Once in a window. */
TEST(a_turn_at_the_end_of_a_window_is_no_refusal)
{
	struct agent *agent = begin_turn(NULL);
	const int64_t now = clock_wall_ms(), hour = 3600000;
	struct state *state = &auto_world.core->state;
	struct window *w = &state->windows[WINDOW_FIVE_HOUR];
	const struct task *t = state->tasks[0];

	*w = (struct window){ 951, now + hour, now };
	fake_session_turn_ends(agent->session, "Next: write b.txt.");
	auto_world_turn(2);
	ck_assert_int_eq(t->nudges, 0);
	ck_assert_ptr_nonnull(strstr(
	    fake_session_prompt(agent->session), "A usage limit of the"));
	fake_session_turn_ends(agent->session, "Next: write b.txt.");
	auto_world_turn(3);
	ck_assert_int_eq(t->nudges, 1);
	*w = (struct window){ 951, now + 6 * hour, now };
	fake_session_turn_ends(agent->session, "Next: write b.txt.");
	auto_world_turn(4);
	ck_assert_int_eq(t->nudges, 1);
	auto_world_finish(agent, "b.txt");
	auto_world_all_filed("t1 landed; ");
}

static void
transcript_is(struct agent *agent, const char *lines)
{
	cleanup_free char *path =
	    workspace_path(auto_world.core->workspace, "transcript.jsonl");

	ck_assert_int_eq(
	    file_replace(path, lines, strlen(lines), 0600, NULL), 0);
	fake_session_reads(agent->session, path);
}

#define REQUEST                                                            \
	"{\"type\":\"api-request\",\"requestDigest\":\"a\",\"timestamp\":" \
	"\"2024-10-04T02:02:00Z\"}\n"
#define RETRIED REQUEST REQUEST
#define ANSWERED                                                          \
	"{\"type\":\"assistant\",\"timestamp\":\"2024-10-04T02:05:00Z\"," \
	"\"message\":{\"id\":\"a\",\"model\":\"m\",\"content\":[]}}\n"

/* While the agent tries again, its turn goes on, and the view says since when;
 * what it has tried in an earlier turn says nothing. */
TEST(a_service_that_is_away_is_known_before_a_turn_fails)
{
	struct agent *agent = begin_turn(NULL);
	struct state *state = &auto_world.core->state;
	int64_t since;

	moment_parse("2024-10-04T02:02:00Z", &since);
	transcript_is(agent, RETRIED);
	ck_assert_int_eq(state->outage_since_unix, since / 1000);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	transcript_is(agent, RETRIED ANSWERED);
	ck_assert_int_eq(state->outage_since_unix, 0);
	agent->worker->session.busy = false;
	transcript_is(agent, RETRIED);
	ck_assert_int_eq(state->outage_since_unix, 0);
}

static bool is_short; /* of memory */

void __real_machine_read(const char *dir, struct machine *ret_machine);
void __wrap_machine_read(const char *dir, struct machine *ret_machine);

void
__wrap_machine_read(const char *dir, struct machine *ret_machine)
{
	__real_machine_read(dir, ret_machine);
	if (is_short)
		ret_machine->memory_free = 1;
}

/* Nothing more is begun on a machine that is short of memory, unless nobody
 * would give it back. */
TEST_ROWS(a_machine_that_is_short_of_memory, 4)
{
	static const struct {
		enum worker_status status;
		bool holds;
	} rows[] = { { WORKER_STARTING, true }, { WORKER_OFFLINE, true },
		{ WORKER_WORKING, true }, { WORKER_WAITING, false } };
	struct agent *agent = begin_turn(NULL);
	int64_t now = clock_wall_ms();
	struct task *t = task_new("t2", "folder", "b.md", "b", "Do b", now);

	task_take(t, now);
	auto_add_task(auto_world.mode, t);
	tuning.admission = 1;
	is_short = true;
	agent->worker->status = rows[_i].status;
	ck_assert_int_eq(pause_holds(auto_world.mode), rows[_i].holds);
	is_short = false;
	tuning.admission = 0;
}

/* It is parked with its work, and its worker does the next one. */
TEST(a_task_is_parked_at_its_budget)
{
	struct agent *agent = begin_turn("[budget]\ntask_tokens = 1000\n");
	const struct task *t = auto_world.core->state.tasks[0];
	struct floor_call *call;

	auto_world_work("b.txt");
	floor_world_wt("auto-1", "echo more >c.txt");
	auto_world_task("b.md", "Do more\n");
	fake_session_uses(agent->session, 999);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	fake_session_uses(agent->session, 1000);
	auto_world_turn(2);
	auto_world_told("budget t1 task; task_parked t1; task_assigned t2; ");
	ck_assert_int_eq(t->step, TASK_PARKED);
	ck_assert_ptr_nonnull(strstr(t->reason, "llmc task retry t1"));
	ck_assert_ptr_nonnull(t->from);
	floor_world_sh("git cat-file -e refs/llmc/task/t1:b.txt && "
		       "git cat-file -e refs/llmc/task/t1:c.txt");

	ck_assert_int_eq(floor_call_code(resume("eve")), API_UNKNOWN);
	call = resume("t1");
	ck_assert_str_eq(json_string_or(floor_call_result(call), "message", ""),
	    "Continuing.");
	ck_assert_int_eq(t->step, TASK_WAITING);
	auto_world_finish(agent, "d.txt");
	auto_world_turn(3);
	ck_assert_str_eq(agent->worker->task, "t1");
	ck_assert_int_eq(t->attempts, 1); /* it goes on */
	floor_world_wt("auto-1", "test -e b.txt && test -e c.txt");
	/* The same amount again. */
	fake_session_uses(agent->session, 1999);
	floor_world_settle();
	ck_assert_int_eq(t->step, TASK_ASSIGNED);
}

/* Its work is what the branch had before. */
TEST(a_task_can_be_parked_in_the_middle_of_a_rebase)
{
	struct agent *agent = begin_turn("[budget]\ntask_tokens = 1000\n");
	const struct task *t = auto_world.core->state.tasks[0];
	const char *work;

	auto_world_work("b.txt");
	work = floor_world_wt("auto-1", "git rev-parse HEAD");
	floor_world_sh(
	    "echo theirs >b.txt; git add b.txt; git commit -qm theirs");
	floor_world_wt("auto-1", "! git rebase -q main >/dev/null 2>&1");
	fake_session_uses(agent->session, 1000);
	floor_world_wait_status(agent, WORKER_IDLE);
	ck_assert_int_eq(t->step, TASK_PARKED);
	ck_assert_ptr_nonnull(t->from);
	ck_assert_str_eq(t->from, work);
	ck_assert_int_eq(t->attempts, 1);
}

/* Finished work lands, whatever it cost; a task that would go on is parked. */
TEST(a_turn_too_many_is_not_begun)
{
	struct agent *agent =
	    begin_turn("require_commit = true\n[budget]\ntask_turns = 1\n");

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_IDLE);
	floor_world_settle();
	auto_world_told("budget t1 task; task_parked t1; exhausted; ");
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_PARKED);
	floor_world_done(floor_world_ask("task.retry", "{\"task\":\"t1\"}"));
	auto_world_turn(2);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->attempts, 1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait("task_finished t1 landed; ");
}

TEST(everybody_pauses_at_the_budget_of_the_day)
{
	struct agent *agent = begin_turn("[budget]\nday_tokens = 1000\n");

	fake_session_uses(agent->session, 1000);
	auto_world_task("b.md", "Do more\n");
	auto_world_patrol();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	auto_world_told("fleet_paused; budget t1 day; ");
	ck_assert_uint_eq(
	    auto_world.core->state.task_count, 1); /* none is taken */
	/* Until the next day. */
	auto_world.core->state.today.day--;
	auto_world_patrol();
	auto_world_turn(2);
	auto_world_told("fleet_resumed; ");
	ck_assert_ptr_null(auto_world.core->state.paused);
	/* Or until a person resumes it. */
	fake_session_uses(agent->session, 2000);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	resume(NULL);
	auto_world_turn(3);
}

/* The story: its work is checked while the budget is reached. */
TEST(who_cannot_be_paused_at_once_is_paused_later)
{
	struct agent *agent = begin_turn(
	    "check_command = \"until test -e ../../go; do sleep 0.05; done; "
	    "false\"\nrequire_commit = true\n[budget]\nday_tokens = 1000\n"
	    "task_tokens = 1500\n");

	fake_session_turn_ends(agent->session, "Done.");
	ck_assert(agent_is_taken(agent));
	fake_session_uses(agent->session, 1000);
	auto_world_told("fleet_paused; ");
	floor_world_sh(">.llmc/go");
	auto_world_turn(2);
	auto_world_patrol();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	/* One that a person resumes works on, with the budget of its task once
	 * more; the fleet stays paused. */
	resume("auto-1");
	auto_world_turn(3);
	fake_session_uses(agent->session, 2000);
	auto_world_patrol();
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	ck_assert_ptr_nonnull(auto_world.core->state.paused);
}

/* The story: what is spent after midnight, before the next patrol, belongs to
 * the new day. */
TEST(a_new_day_begins_with_what_was_spent_in_it)
{
	struct agent *agent = begin_turn("[budget]\nday_tokens = 1000\n");

	fake_session_uses(agent->session, 1000);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	auto_world.core->state.today.day--;
	fake_session_uses(agent->session, 1300);
	ck_assert_int_eq(auto_world.core->state.today.tokens, 300);
	auto_world_patrol();
	auto_world_turn(2);
	ck_assert_ptr_null(auto_world.core->state.paused);
	/* And its budget holds. */
	fake_session_uses(agent->session, 2000);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
}

/* The next day gives it its budget, but only a person resumes it. */
TEST(a_new_day_resumes_nobody_whom_a_person_stopped)
{
	struct agent *agent = begin_turn("[budget]\nday_tokens = 1000\n");

	fake_session_uses(agent->session, 1000);
	floor_world_settle();
	floor_world_done(floor_world_call("worker.stop", "auto-1", ""));
	auto_world.core->state.today.day--;
	auto_world_patrol();
	ck_assert_ptr_null(auto_world.core->state.paused);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	resume("auto-1");
	auto_world_turn(2);
	ck_assert_str_eq(agent->worker->task, "t1");
}

/* After a restart the transcript is read from its beginning. */
TEST(what_was_used_is_counted_once)
{
	struct agent *agent = begin_turn(NULL);

	fake_session_uses(agent->session, 700);
	fake_session_uses(agent->session, 700);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->tokens, 700);
	auto_world_restart();
	auto_world_live();
	agent = auto_world_turn(1);
	fake_session_uses(agent->session, 300);
	fake_session_uses(agent->session, 900);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->tokens, 900);
	ck_assert_int_eq(auto_world.core->state.today.tokens, 900);
}

/* --- silence --------------------------------------------------------- */

static bool
is_silent(struct agent *agent)
{
	struct session_life life = {
		.quiet_ms = 2 * MINUTE_MS,
		.process = true,
	};

	if (agent->stall_ms > 0)
		agent->stall_ms = clock_mono_ms() - 2 * MINUTE_MS;
	return stalls_silence(auto_world.mode, agent, &life);
}

TEST(a_silent_worker_is_interrupted_restarted_given_up)
{
	struct agent *agent = begin_turn("worker_stall_timeout = \"1m\"\n");

	ck_assert(is_silent(agent));
	auto_world_turn(2);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 1);
	auto_world_told("stall t1 redirect; ");
	ck_assert(is_silent(agent));
	auto_world_turn(3);
	ck_assert_int_eq(fake_session_launches(agent->session), 2);
	auto_world_told("stall t1 restart; ");
	ck_assert(is_silent(agent));
	auto_world_turn(4);
	auto_world_told(
	    "stall t1 retry; given_up t1; task_retry t1; task_assigned t1; ");
}

static bool
is_parked(void *arg)
{
	const struct task *t = state_task(&auto_world.core->state, "t1");

	(void)arg;
	return t != NULL && t->step == TASK_PARKED;
}

TEST(silence_in_the_last_attempt_is_for_a_person)
{
	struct agent *agent =
	    begin_turn("max_attempts = 1\nworker_stall_timeout = \"1m\"\n");

	is_silent(agent);
	auto_world_turn(2);
	is_silent(agent);
	auto_world_turn(3);
	is_silent(agent);
	floor_world_wait(is_parked, &auto_world);
	ck_assert_str_eq(state_task(&auto_world.core->state, "t1")->reason,
	    "no sign of life");
}

/* After Escape it runs one tool, then hangs in the same way as before. */
TEST(a_tool_between_two_silences_does_not_end_the_stages)
{
	struct agent *agent = begin_turn("worker_stall_timeout = \"1m\"\n");

	is_silent(agent);
	auto_world_turn(2);
	fake_session_progresses(agent->session);
	is_silent(agent);
	auto_world_turn(3);
	fake_session_progresses(agent->session);
	is_silent(agent);
	auto_world_turn(4);
	auto_world_told("stall t1 redirect; stall t1 restart; stall t1 retry; "
			"given_up t1; task_retry t1; task_assigned t1; ");
	ck_assert_int_eq(agent->worker->stalls, 0);
}

TEST(the_end_of_a_turn_ends_the_suspicion)
{
	struct agent *agent = begin_turn("worker_stall_timeout = \"1m\"\n");

	is_silent(agent);
	auto_world_turn(2);
	ck_assert_int_eq(agent->worker->stalls, 1);
	fake_session_turn_ends(agent->session, "What shall I do?");
	auto_world_turn(3);
	ck_assert_int_eq(agent->worker->stalls, 0);
	is_silent(agent);
	auto_world_turn(4);
	auto_world_told("stall t1 redirect; sent_back t1; stall t1 redirect; ");
	/* Without a task the fleet judges it. */
	xstrset(&agent->worker->task, NULL);
	ck_assert(!is_silent(agent));
}

/* What the overseer is told in the heartbeat. */
TEST(signs_of_life_are_published)
{
	struct agent *agent = begin_turn("worker_stall_timeout = \"1m\"\n");

	fake_session_is_quiet(agent->session, 5 * MINUTE_MS);
	ck_assert_int_gt(stalls_sign_ms(auto_world.mode), 0);
	ck_assert_int_le(
	    stalls_sign_ms(auto_world.mode), clock_mono_ms() - 5 * MINUTE_MS);
	/* What is done about the silence counts too. */
	is_silent(agent);
	ck_assert_int_gt(
	    stalls_sign_ms(auto_world.mode), clock_mono_ms() - MINUTE_MS);
	/* A worker without a task says nothing about those with one. */
	xstrset(&agent->worker->task, NULL);
	ck_assert_int_eq(stalls_sign_ms(auto_world.mode), 0);
}

/* --- outages --------------------------------------------------------- */

/* A login that is refused is waited for as long. */
TEST_ROWS(an_outage_is_waited_for_but_not_for_ever, 2)
{
	static const struct {
		enum limit_class class;
		const char *failure;
	} rows[] = { { LIMIT_OUTAGE, "outage" }, { LIMIT_AUTH, "login" } };
	struct agent *agent = begin_turn("max_attempts = 1\n");
	struct state *state = &auto_world.core->state;
	int64_t now = clock_wall_ms() / 1000;

	/* The end of a turn ends the outage. */
	state->outage_since_unix = now;
	fake_session_turn_ends(agent->session, "Shall I go on?");
	auto_world_turn(2);
	ck_assert_int_eq(state->outage_since_unix, 0);
	auto_world_told("sent_back t1; ");
	outage_limited(auto_world.mode, agent, LIMIT_USAGE, "limit", 0);
	state->outage_since_unix = now;
	outage_limited(auto_world.mode, agent, rows[_i].class, "503", 0);
	ck_assert(!auto_world.core->failing);
	state->outage_since_unix -= 6 * 3600 + 1;
	outage_limited(auto_world.mode, agent, LIMIT_USAGE, "limit", 0);
	ck_assert(!auto_world.core->failing);
	outage_limited(auto_world.mode, agent, rows[_i].class, "503", 0);
	auto_world_fails(rows[_i].failure);
}

/* They have bought more: one goes on, or everything does. */
TEST_ROWS(a_person_says_that_a_limit_is_over, 2)
{
	struct agent *agent = begin_turn(NULL);
	struct floor_call *call;
	cleanup_free char *text =
	    xasprintf("You've hit your weekly limit, resets at %lld",
		(long long)clock_wall_ms() / 1000 + 86400);

	turn_failure(agent, "rate_limit", text);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_LIMITED);
	call = resume(_i == 0 ? NULL : "auto-1");
	ck_assert_str_eq(json_string_or(floor_call_result(call), "message", ""),
	    "Continuing.\nauto-1 waits for its limit no longer");
	auto_world_turn(2);
	ck_assert_int_eq(agent->worker->until_ms, 0);
}

/* --- landings that have to wait -------------------------------------- */

static struct agent *
begin_dirty(int tries)
{
	struct agent *agent = begin_turn(NULL);

	ck_assert_int_eq(settings_override(auto_world.core->settings,
			     "repo.dirty_checkout", "wait", NULL),
	    0);
	auto_world.core->state.source_repo_dirty_retry_count = tries;
	floor_world_sh("echo mine >a.txt");
	auto_world_finish(agent, "b.txt");
	return agent;
}

TEST(a_checkout_in_the_way_is_waited_for)
{
	struct agent *agent = begin_dirty(0);

	auto_world_wait("waiting; ");
	floor_world_settle();
	auto_world_told(
	    "task_completed t1 needs_review; landing_queued t1; waiting; ");
	ck_assert_int_eq(agent->worker->status, WORKER_ACCEPTING);
	ck_assert_int_eq(
	    auto_world.core->state.source_repo_dirty_retry_count, 1);
	/* Nothing is tried before the wait is over, */
	auto_world_patrol();
	auto_world_told("");
	/* but what the user does about it is noticed. */
	floor_world_sh("git checkout -q a.txt");
	auto_world_wait("task_finished t1 landed; ");
	ck_assert_int_eq(
	    auto_world.core->state.source_repo_dirty_retry_count, 0);
}

TEST(a_checkout_is_not_waited_for_for_ever)
{
	begin_dirty(backoff_dirty.tries_max);
	auto_world_fails("dirty_checkout");
}

/* Row 15a of the failure table, with its ten waits. */
TEST(a_checkout_is_waited_for_ten_times)
{
	const struct state *state;
	int64_t wait_s = 60;

	begin_dirty(0);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
	state = &auto_world.core->state;
	for (int i = 1; i <= 10; i++) {
		floor_world_until(state->source_repo_dirty_retry_count == i);
		ck_assert(!auto_world.core->failing);
		ck_assert_int_eq(state->source_repo_dirty_backoff_secs, wait_s);
		ck_assert_int_gt(state->source_repo_dirty_retry_after_unix,
		    clock_wall_ms() / 1000 + wait_s - 10);
		clock_virtual_advance(wait_s * 1000);
		wait_s = wait_s < 1800 ? 2 * wait_s : 3600;
	}
	auto_world_fails("dirty_checkout");
	clock_virtual_end();
}

/* Who repairs a failure would end it, and with it what they have not done. */
TEST(what_a_user_has_not_finished_is_waited_for_for_ever)
{
	struct agent *agent = begin_turn(NULL);
	struct state *state = &auto_world.core->state;

	state->source_repo_dirty_retry_count = backoff_dirty.tries_max;
	floor_world_sh("git rebase -q --exec false --root 2>/dev/null; "
		       "git checkout -q main");
	auto_world_finish(agent, "b.txt");
	auto_world_wait("waiting; ");
	floor_world_settle();
	ck_assert_ptr_nonnull(strstr(state->source_repo_dirty_reason,
	    "a rebase of the branch is in progress"));
	floor_world_sh("git rebase --abort");
	auto_world_wait("task_finished t1 landed; ");
	ck_assert_ptr_null(state->source_repo_dirty_reason);
}

TEST(another_git_is_not_waited_for_for_ever)
{
	struct err err = { 0 };
	struct landing_end end = { .agent = begin_turn(NULL),
		.task = "t1",
		.result = LANDING_END_FAILED,
		.err = &err };

	err_set(&err, -EBUSY, "the index is locked");
	for (int i = 0; i < backoff_git.tries_max; i++)
		after_landing_ended(auto_world.mode, &end);
	ck_assert(!auto_world.core->failing);
	after_landing_ended(auto_world.mode, &end);
	auto_world_fails("git_lock");
}

TEST(conflicts_that_stay_are_a_failure)
{
	struct agent *agent = begin_turn(NULL);

	agent->worker->conflicts = 1000;
	floor_world_sh("echo theirs >b.txt; git add b.txt; "
		       "git commit -qm theirs");
	auto_world_finish(agent, "b.txt");
	auto_world_fails("conflicts");
}

/* --- workers --------------------------------------------------------- */

TEST(a_worker_in_error_is_a_failure_and_repaired)
{
	struct agent *agent = begin_turn(NULL);

	agent_move(agent, WORKER_ERROR, "it is broken");
	auto_world_fails("worker_error");
	auto_world_told("failure t1 worker_error worker; ");
	auto_world_reopen();
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_told("task_retry t1; task_assigned t1; ");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "it is broken"));
}

/* Not before: auto mode has begun by then. */
TEST(a_worker_is_repaired_when_its_remains_are_gone)
{
	struct agent *agent = begin_turn(NULL);

	agent_move(agent, WORKER_ERROR, "it is broken");
	auto_world_fails("worker_error");
	auto_world_told("failure t1 worker_error worker; ");
	auto_world_reopen();
	fake_session_leave_remains(1500); /* more than fleet.c waits */
	auto_world_live();
	auto_world_turn(1);
	auto_world_told("task_retry t1; task_assigned t1; ");
	auto_world_end();
	fake_session_leave_remains(0);
}

/* A pause of the worker is not the fault of its task. */
TEST(a_paused_worker_is_repaired)
{
	struct agent *agent = begin_turn(NULL);

	agent_move(agent, WORKER_PAUSED, "a dialog");
	auto_world_restart();
	auto_world_live();
	auto_world_turn(1);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->attempts, 1);
	auto_world_told("task_assigned t1; ");
}

TEST(a_worker_that_is_reset_gives_its_task_back)
{
	begin_turn(NULL);
	floor_world_done(floor_world_call("worker.reset", "auto-1", ""));
	auto_world_turn(2);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->attempts, 1);
	auto_world_told("task_assigned t1; ");
}

/* What the overseer does about a stall: a task that always stalls is not tried
 * for ever. */
TEST(an_attempt_that_is_said_to_have_failed_counts)
{
	begin_turn("max_attempts = 2\n");
	for (int turn = 2; turn <= 3; turn++) {
		floor_world_done(floor_world_call(
		    "worker.reset", "auto-1", ",\"failed\":\"no progress\""));
		if (turn == 2)
			auto_world_turn(turn);
	}
	auto_world_wait("exhausted; ");
	auto_world_told(
	    "task_retry t1; task_assigned t1; task_finished t1 dead-letter; "
	    "exhausted; ");
}
