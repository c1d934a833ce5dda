/* SPDX-License-Identifier: ISC */

/* How agents that work with others end: what is a result, what they are told
 * and what they are charged for. */
#include "base.h"

#include <check.h>

#include "agent.h"
#include "auto-private.h"
#include "outcome.h"
#include "workspace.h"
#include "family-world.h"

#define HOUR_MS (INT64_C(3600) * 1000)

/* t1 is at work and has asked for t2, which is at work too. */
static void
begin(const char *more, const char *run)
{
	family_world_begin(more);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", run);
	auto_world_turn_on("t2");
}

static void
turn_ends(const char *id, const char *file)
{
	family_world_turn_ends(auto_world_turn_on(id), file);
}

/* The turn of t1 ends without a commit, and it waits. */
static void
wait_for_others(void)
{
	turn_ends("t1", NULL);
	family_world_wait("auto-1", WORKER_WAITING);
}

static void
report(const char *id, const char *status)
{
	cleanup_free char *params = xasprintf(
	    "{\"status\": \"%s\", \"summary\": \"No leak found\"}", status);

	mail_world_must(id, "report_completion", params);
}

/* --- results without a commit ----------------------------------------- */

static const char *const wanted[] = { NULL, "require_commit = true\n" };

TEST_ROWS(who_only_delegates_has_done_its_task, nitems(wanted))
{
	begin(wanted[_i], "");
	wait_for_others();
	turn_ends("t2", "b.txt");
	turn_ends("t1", NULL);
	auto_world_wait_step("t1", -1);
	auto_world_filed("t2 landed; t1 no_changes; ");
	plan_world_is("g", "completed; T1.1 done; S1 done; ");
}

/* t1 asks for t2, which asks for t3: only the last one commits. */
TEST(the_same_holds_for_those_in_between)
{
	begin(NULL, "");
	family_world_spawn("t2", "S2", "");
	wait_for_others();
	turn_ends("t2", NULL);
	family_world_wait("team-1", WORKER_WAITING);
	turn_ends("t3", "c.txt");
	turn_ends("t2", NULL);
	auto_world_wait_step("t2", -1);
	auto_world_turn_on("t1");
	ck_assert_str_eq(
	    floor_world_wt("auto-1", "ls *.txt | tr '\n' ' '"), "a.txt c.txt ");
	turn_ends("t1", NULL);
	auto_world_wait_step("t1", -1);
	auto_world_filed("t3 landed; t2 no_changes; t1 no_changes; ");
	plan_world_is("g", "completed; T1.1 done; S1 done; S2 done; ");
}

TEST_ROWS(who_was_asked_for_a_report_has_done_its_task_with_it, nitems(wanted))
{
	struct agent *agent;

	begin(wanted[_i], "");
	wait_for_others();
	report("t2", "complete");
	turn_ends("t2", NULL);
	agent = auto_world_turn_on("t1");
	floor_has(
	    fake_session_prompt(agent->session), "\"outcome\": \"no_changes\"");
	floor_has(fake_session_prompt(agent->session), "No leak found");
	auto_world_wait_step("t2", -1);
	turn_ends("t1", "a.txt");
	auto_world_wait_step("t1", -1);
	auto_world_filed("t2 no_changes; t1 landed; ");
	plan_world_is("g", "completed; T1.1 done; S1 done; ");
}

TEST(a_report_of_something_half_done_is_no_result)
{
	begin(NULL, "");
	wait_for_others();
	report("t2", "partial");
	turn_ends("t2", NULL);
	auto_world_wait_step("t2", -1);
	turn_ends("t1", "a.txt");
	auto_world_wait_step("t1", -1);
	auto_world_filed("t2 failed; t1 landed; ");
	plan_world_is("g", "completed; T1.1 done; S1 cancelled; ");
}

static const struct {
	const char *status, *run, *outcome;
} commits[] = {
	{ "failed", "", "failed" },
	{ "partial", "", "failed" },
	{ "partial", ", \"allow_partial\": true", "landed" },
	{ "failed", ", \"allow_partial\": true", "failed" },
};

/* Its parent decides; its work is salvaged. */
TEST_ROWS(a_commit_of_what_it_reports_as_failed_does_not_land, nitems(commits))
{
	cleanup_free char *filed = NULL;
	struct agent *agent;

	begin(NULL, commits[_i].run);
	wait_for_others();
	report("t2", commits[_i].status);
	turn_ends("t2", "b.txt");
	auto_world_wait_step("t2", -1);
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "No leak found");
	if (strcmp(commits[_i].outcome, "failed") == 0) {
		floor_has(fake_session_prompt(agent->session), "is not landed");
		floor_world_until(
		    floor_world_sh("git for-each-ref refs/llmc/salvage")[0] !=
		    '\0');
	}
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
	turn_ends("t1", "a.txt");
	auto_world_wait_step("t1", -1);
	filed = xasprintf("t2 %s; t1 landed; ", commits[_i].outcome);
	auto_world_filed(filed);
}

TEST(nor_is_the_report_of_one_that_nobody_asked_for)
{
	family_world_begin(NULL);
	auto_world_turn_on("t1");
	report("t1", "complete");
	turn_ends("t1", NULL);
	auto_world_turn_on("t1");
	report("t1", "complete");
	turn_ends("t1", NULL);
	auto_world_wait_step("t1", TASK_PARKED);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->ask, ASK_FAILURE);
}

/* --- another attempt --------------------------------------------------- */

TEST(a_new_attempt_knows_the_agents_that_it_has)
{
	struct agent *agent;
	const char *prompt;

	begin(NULL, "");
	family_world_spawn("t1", "S2", "");
	auto_world_turn_on("t3");
	turn_ends("t2", "b.txt");
	auto_world_wait_step("t2", -1);
	agent = auto_world_turn_on("t1");
	ck_assert_ptr_null(
	    strstr(fake_session_prompt(agent->session), "earlier attempt"));
	outcome_attempt_failed(auto_world.mode, agent, "no sign of life");
	agent = auto_world_turn_on("t1");
	ck_assert_int_eq(auto_world_of("t1")->attempts, 2);
	prompt = fake_session_prompt(agent->session);
	floor_has(
	    prompt, "These work for you, and you get their results: S2 (t3).");
	floor_has(prompt, "what they changed has landed: S1 (S1).");
}

/* --- what is charged --------------------------------------------------- */

TEST(time_spent_waiting_is_not_charged)
{
	struct agent *agent;

	begin("[budget]\ntask_time = \"1h\"\n", "");
	wait_for_others();
	auto_world_of("t1")->assigned_ms -= 2 * HOUR_MS;
	auto_world_of("t1")->attempt.waiting_ms -= 2 * HOUR_MS;
	mail_world_die();
	turn_ends("t2", "b.txt");
	agent = auto_world_turn_on("t1");
	auto_world_patrol();
	ck_assert_str_eq(agent->worker->task, "t1");
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	/* Work is. */
	auto_world_of("t1")->assigned_ms -= 2 * HOUR_MS;
	auto_world_patrol();
	family_world_wait("auto-1", WORKER_IDLE);
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_PARKED);
}

static const struct {
	const char *run;
	bool shared;
} purses[] = {
	{ "", true },
	{ ", \"own_budget\": true", false },
};

TEST_ROWS(a_budget_is_shared_with_the_children, nitems(purses))
{
	struct agent *child;
	const struct task *t;

	begin("[budget]\ntask_tokens = 1000\n", purses[_i].run);
	wait_for_others();
	auto_world_of("t1")->tokens = 600;
	auto_world_of("t2")->tokens = 600;
	child = auto_world_turn_on("t2");
	auto_world_patrol();
	if (!purses[_i].shared) {
		ck_assert_int_eq(child->worker->status, WORKER_WORKING);
		turn_ends("t2", "b.txt");
		auto_world_turn_on("t1");
		ck_assert_int_eq(auto_world_of("t1")->family_tokens, 0);
		return;
	}
	auto_world_wait_step("t2", TASK_PARKED);
	floor_has(auto_world_of("t2")->reason, "which it shares with t1");
	/* A person grants the same once more, to both. */
	floor_world_result(
	    floor_world_ask("auto.resume", "{\"worker\":\"t2\"}"));
	child = auto_world_turn_on("t2");
	auto_world_patrol();
	ck_assert_int_eq(child->worker->status, WORKER_WORKING);
	turn_ends("t2", "b.txt");
	auto_world_wait_step("t2", -1);
	t = auto_world_of("t1");
	ck_assert_int_eq(t->family_tokens, 600);
	ck_assert_int_eq(t->tokens_allowed, 1200);
}

TEST(turns_that_began_with_mail_are_not_charged)
{
	struct agent *agent;

	begin("max_turns = 2\nmax_attempts = 1\n", "");
	wait_for_others();
	turn_ends("t2", "b.txt");
	agent = auto_world_turn_on("t1");
	floor_world_wt("auto-1", "echo new >new.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "changed or untracked");
	floor_world_wt("auto-1", "git add new.txt; git commit -qm new");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_step("t1", -1);
	auto_world_filed("t2 landed; t1 landed; ");
}

/* --- what lands -------------------------------------------------------- */

struct pinned {
	const char *commit;
};

static bool
is_pinned(void *arg)
{
	const struct pinned *pinned = arg;
	const struct worker *w = state_find(&auto_world.core->state, "team-2");

	return w != NULL && w->accepted && w->accepted_head != NULL &&
	    strcmp(w->accepted_head, pinned->commit) == 0;
}

TEST(only_what_was_looked_at_lands_after_a_conflict)
{
	static const char scope[] = ", \"scope_paths\": [\"same.txt\"]";
	struct pinned pinned = { 0 };
	cleanup_free char *head = NULL;
	struct agent *agent;

	begin(NULL, scope);
	family_world_spawn("t1", "S2", scope);
	auto_world_turn_on("t3");
	turn_ends("t2", "same.txt");
	auto_world_wait_step("t2", -1);
	turn_ends("t3", "same.txt");
	family_world_wait("team-2", WORKER_REBASING);
	agent = auto_world_turn_on("t3");
	head = xstrdup(floor_world_wt("team-2",
	    "echo both >same.txt; git add same.txt; "
	    "GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; "
	    "git rev-parse HEAD"));
	pinned.commit = head;
	fake_session_turn_ends(agent->session, "Resolved.");
	floor_world_wait_closely(is_pinned, &pinned);
	auto_world_wait_step("t3", -1);
	ck_assert_str_eq(floor_world_sh("cat same.txt"), "both");
}

/* --- what they are told ------------------------------------------------ */

TEST(agents_know_who_answers_and_how_deep_they_are)
{
	struct json_object *you = NULL;
	const char *prompt;

	begin(NULL,
	    ", \"parent_actor\": \"actor:task:t1\", \"max_depth\": 3, "
	    "\"local_max_depth\": 2");
	prompt = fake_session_prompt(auto_world_turn_on("t1")->session);
	floor_has(prompt, "ask a person with the tool request_orchestrator");
	floor_has(prompt, "You are at depth 1 of at most 3.");
	prompt = fake_session_prompt(auto_world_turn_on("t2")->session);
	floor_has(prompt, "ask the agent that you work for with the tool");
	ck_assert_ptr_null(strstr(prompt, "agent_spawn"));
	ck_assert_ptr_null(strstr(prompt, "Nobody can answer"));
	ck_assert(json_object_object_get_ex(
	    mail_world_must("t2", "agent_status", "{}"), "you", &you));
	ck_assert_int_eq(json_int_or(you, "depth", 0), 2);
	ck_assert_int_eq(json_int_or(you, "max_depth", 0), 2);
}

TEST(who_waits_for_an_answer_is_not_stalled)
{
	static const struct session_life quiet = { .quiet_ms = HOUR_MS,
		.process = true };
	struct agent *agent;

	begin("worker_stall_timeout = \"10m\"\n",
	    ", \"parent_actor\": \"actor:task:t1\"");
	agent = auto_world_turn_on("t2");
	mail_world_ask(agent->worker->name, "request_orchestrator",
	    "{\"message\": \"A or B?\", \"timeoutSeconds\": 3600}");
	floor_world_settle();
	plan_world_settle();
	for (int i = 0; i < 3; i++)
		ck_assert(stalls_silence(auto_world.mode, agent, &quiet));
	ck_assert_int_eq(agent->worker->stalls, 0);
	/* Another one is. */
	agent = auto_world_turn_on("t1");
	ck_assert(stalls_silence(auto_world.mode, agent, &quiet));
	ck_assert_int_eq(agent->worker->stalls, 1);
}

static bool
is_notified(void *arg)
{
	const char *const *file = arg;

	return file_exists(*file);
}

TEST(a_contract_that_escalates_tells_the_parent_and_a_person_once)
{
	const char *file = unit_path("notified");
	cleanup_free char *settings =
	    xasprintf("[people.channels.told]\ntype = \"command\"\n"
		      "command = \"if grep -q class.:.task; then echo told "
		      ">>'%s'; fi\"\n",
		file);
	cleanup_buf struct buf told = BUF_INIT;
	struct agent *agent;

	begin(settings,
	    ", \"contract\": {\"onFailure\": \"escalate\", "
	    "\"artifacts\": [{\"path\": \"out.json\"}]}");
	wait_for_others();
	turn_ends("t2", "b.txt");
	agent = auto_world_turn_on("t1");
	floor_has(
	    fake_session_prompt(agent->session), "\"outcome\": \"failed\"");
	floor_has(fake_session_prompt(agent->session), "artifact_not_found");
	floor_world_wait(is_notified, &file);
	turn_ends("t1", "a.txt");
	auto_world_wait_step("t1", -1);
	mail_world_end();
	ck_assert_int_eq(file_read(file, 1000, &told, NULL), 0);
	ck_assert_str_eq(told.data, "told\n");
}
