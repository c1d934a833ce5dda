/* SPDX-License-Identifier: ISC */

/* Finished work is checked against the contract of its task, before its check
 * and its landing. */
#include "operation.h"
#include "plan-world.h"
#include "plan.h"
#include "state.h"
#include "team-private.h"
#include "worker-op.h"
#include "tune.h"

#define OUT \
	"Verification: {\"artifacts\": [{\"path\": \"out.json\"}]%s}\n\nDo it\n"
#define RETRY ", \"onFailure\": \"retry_once\""

/* Only the part of the team that this is about. */
static struct team_floor team;
static const struct auto_team policy = { .verify = team_verify };

static void
join(void)
{
	team.mode = auto_world.mode;
	auto_set_team(auto_world.mode, &policy, &team);
}

static void
reopen(void)
{
	auto_world_reopen();
	join();
}

static struct agent *
begin(const char *settings, const char *more)
{
	cleanup_free char *text = NULL;

	if (asprintf(&text, OUT, more) == -1)
		ck_abort();
	auto_world_begin(settings);
	join();
	auto_world_task("a.md", text);
	auto_world_live();
	return auto_world_turn(1);
}

static struct task *
task(void)
{
	return state_task(&auto_world.core->state, "t1");
}

static void
end_turn(struct agent *agent)
{
	fake_session_turn_ends(agent->session, "Done.");
}

/* Run until the task has ended so. */
static void
ends(const char *want)
{
	auto_world_wait_done();
	auto_world_filed(want);
}

static int
times(const char *words)
{
	int count = 0;

	for (const char *s = auto_world.told.data;
	     (s = strstr(s, words)) != NULL; s++)
		count++;
	return count;
}

/* The record of t1, which has ended, has these words. */
static void
has_record(const char *words)
{
	const char *record = auto_world_record("t1");

	ck_assert_msg(strstr(record, words) != NULL, "%s", record);
}

TEST(work_that_meets_its_contract_lands)
{
	struct agent *agent = begin(NULL, "");
	cleanup_free char *head = NULL;

	ck_assert_str_eq(
	    task()->attempt.base, floor_world_sh("git rev-parse main"));
	ck_assert_int_eq(task()->attempt.verification, VERIFICATION_PENDING);
	auto_world_work("out.json");
	head = xstrdup(floor_world_wt("auto-1", "git rev-parse HEAD"));
	end_turn(agent);
	auto_world_wait("verification t1 passed; ");
	ck_assert_str_eq(
	    json_string_or(task()->attempt.verified, "commit", ""), head);
	ends("t1 landed; ");
	ck_assert_int_eq(times("verification"), 1);
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nout.json");
	ck_assert_str_eq(floor_world_sh("ls .llmc/artifacts 2>&1 || true; "
					"test ! -e .llmc/artifacts"),
	    "ls: cannot access '.llmc/artifacts': No such file or directory");
}

TEST(the_contract_comes_before_the_check)
{
	struct agent *agent = begin(
	    "check_command = \"echo ran >>../../ran\"\nmax_attempts = 1\n", "");

	auto_world_work("other");
	end_turn(agent);
	ends("t1 failed; ");
	ck_assert_str_eq(floor_world_sh("ls ran 2>/dev/null || echo no"), "no");
}

TEST(a_failed_contract_ends_the_task_whatever_attempts_are_left)
{
	struct agent *agent = begin("max_attempts = 5\n", "");

	auto_world_work("other");
	end_turn(agent);
	ends("t1 failed; ");
	auto_world_wait("exhausted; ");
	auto_world_told("task_assigned t1; verification t1 failed; "
			"task_finished t1 failed; exhausted; ");
	/* Its work is not lost. */
	ck_assert_str_eq(
	    floor_world_sh(
		"for r in $(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage); do git ls-tree --name-only $r; done"),
	    "a.txt\nother");
	has_record("out.json: artifact_not_found");
}

TEST(a_retry_is_a_new_attempt_that_knows_why)
{
	struct agent *agent = begin("max_attempts = 1\n", RETRY);

	auto_world_work("other");
	end_turn(agent);
	auto_world_turn(2);
	auto_world_told(
	    "task_assigned t1; verification t1 failed; task_retry t1; "
	    "task_assigned t1; ");
	ck_assert_int_eq(task()->attempts, 2);
	ck_assert_str_eq(task()->attempt.retry_of, "t1-1");
	ck_assert_ptr_nonnull(task()->attempt.retry_of);
	ck_assert(strstr(fake_session_prompt(agent->session),
		      "[RETRY \xe2\x80\x94 Previous attempt failed "
		      "verification]\nFailure reason: out.json: "
		      "artifact_not_found\nOriginal task: Do it") != NULL);
	/* It begins with the branch, not with what failed. */
	ck_assert_str_eq(floor_world_wt("auto-1", "ls"), "a.txt");
	auto_world_work("out.json");
	end_turn(agent);
	ends("t1 landed; ");
}

TEST(the_second_failure_is_final_and_files_are_kept)
{
	struct agent *agent = begin(
	    "max_attempts = 5\n", ", \"requireCompletionReport\": true" RETRY);

	for (int i = 0; i < 2; i++) {
		auto_world_work("out.json");
		end_turn(agent);
		if (i == 0)
			auto_world_turn(2);
	}
	ends("t1 failed; ");
	ck_assert_int_eq(times("task_retry"), 1);
	ck_assert_int_eq(times("verification t1 failed"), 2);
	ck_assert_str_eq(
	    floor_world_sh("ls .llmc/artifacts/t1-1 .llmc/artifacts/t1-2"),
	    ".llmc/artifacts/t1-1:\nout.json\n\n.llmc/artifacts/t1-2:\n"
	    "out.json");
	has_record("/.llmc/artifacts/t1-2");
}

TEST(a_file_that_the_branch_had_before_does_not_count)
{
	cleanup_free char *text = NULL;
	struct agent *agent;

	if (asprintf(&text, OUT, "") == -1)
		ck_abort();
	auto_world_begin(NULL);
	join();
	floor_world_sh(
	    "echo old >out.json && git add out.json && git commit -qm old");
	auto_world_task("a.md", text);
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_work("other");
	end_turn(agent);
	ends("t1 failed; ");
	has_record("artifact_unchanged");
}

TEST(without_a_commit_only_a_report_can_be_wanted)
{
	for (int reported = 0; reported < 2; reported++) {
		struct agent *agent;

		auto_world_begin("require_commit = false\n");
		join();
		auto_world_task("a.md",
		    "Verification: {\"requireCompletionReport\": true}\n\n"
		    "Look at it\n");
		auto_world_live();
		agent = auto_world_turn(1);
		if (reported)
			xstrset(&task()->attempt.last_tool,
			    "mcp__llmc__report_completion");
		end_turn(agent);
		ends(reported ? "t1 no_changes; " : "t1 failed; ");
		ck_assert_int_eq(times("verification"), 1);
		auto_world_end();
	}
}

/* --- time -------------------------------------------------------------- */

/* git hangs: the time of the contract is over some time. */
TEST(checks_that_hang_have_failed)
{
	struct agent *agent = begin(NULL, ", \"verificationTimeoutMs\": 300");

	auto_world_work("out.json");
	end_turn(agent);
	floor_world_wait_step(agent, "write");
	floor_world_trap(1, "hang");
	auto_world_wait("verification t1 failed; ");
	floor_world_trap(0, "before");
	ends("t1 failed; ");
	has_record("contract: verification_timeout");
}

TEST(one_end_of_a_turn_is_verified_once)
{
	struct agent *agent = begin(NULL, "");

	auto_world_work("out.json");
	end_turn(agent);
	floor_world_wait_step(agent, "check");
	ck_assert(!turn_end_is_due(agent));
	/* The same Stop once more, and a patrol. */
	turn_end_begin(agent, NULL, NULL);
	ck_assert(team_verify(&team, agent, NULL));
	auto_world_patrol();
	ends("t1 landed; ");
	ck_assert_int_eq(times("verification"), 1);
}

/* --- interrupted ------------------------------------------------------- */

static const char *const steps[] = { "write", "check" };

/* The state on the disk says that it runs before anything does. */
TEST_ROWS(a_daemon_that_dies_has_it_run_again, nitems(steps))
{
	for (int good = 0; good < 2; good++) {
		struct agent *agent = begin(NULL, RETRY);

		auto_world_work(good ? "out.json" : "other");
		end_turn(agent);
		floor_world_wait_step(agent, steps[_i]);
		if (_i == 1)
			ck_assert_ptr_nonnull(strstr(floor_world_saved(),
			    "\"verification\": \"running\""));
		reopen();
		auto_world_live();
		agent = auto_world_turn(1);
		end_turn(agent);
		if (!good) {
			/* One retry, and not another one. */
			auto_world_turn(2);
			ck_assert_int_eq(task()->attempts, 2);
			auto_world_work("other");
			end_turn(agent);
		}
		ends(good ? "t1 landed; " : "t1 failed; ");
		ck_assert_int_eq(times("task_retry"), good ? 0 : 1);
		auto_world_end();
	}
}

static bool
is_retry_saved(void *arg)
{
	(void)arg;
	return strstr(floor_world_saved(), "\"retry_of\"") != NULL;
}

/* The retry is decided, and not yet begun. */
TEST(a_daemon_that_dies_after_a_failure_retries_once)
{
	struct agent *agent = begin(NULL, RETRY);

	auto_world_work("other");
	end_turn(agent);
	floor_world_wait(is_retry_saved, &floor_world);
	reopen();
	auto_world_live();
	agent = auto_world_turn_on("t1");
	ck_assert_str_eq(task()->attempt.retry_of, "t1-1");
	auto_world_work("other");
	end_turn(agent);
	ends("t1 failed; ");
	ck_assert_int_eq(times("task_retry"), 1);
	has_record("\"attempts\":2");
}

TEST(cancelled_it_is_due_again)
{
	struct agent *agent = begin(NULL, "");

	auto_world_work("out.json");
	end_turn(agent);
	floor_world_wait_step(agent, "check");
	operation_cancel(&agent->op->op, "enough");
	floor_world_settle();
	ck_assert_int_eq(task()->attempt.verification, VERIFICATION_RUNNING);
	ck_assert(turn_end_is_due(agent));
	turn_end_begin(agent, NULL, NULL);
	ends("t1 landed; ");
}

/* --- sent back --------------------------------------------------------- */

TEST(work_that_is_sent_back_is_verified_again)
{
	struct agent *agent =
	    begin("check_command = \"test ! -e bad || test -e pass\"\n"
		  "max_turns = 5\n",
		"");

	auto_world_work("out.json");
	auto_world_work("bad");
	end_turn(agent);
	auto_world_turn(2);
	ck_assert_int_eq(times("verification t1 passed"), 1);
	floor_world_wt("auto-1", "git rm -q out.json && git commit -qm gone");
	auto_world_work("pass");
	end_turn(agent);
	ends("t1 failed; ");
	ck_assert_int_eq(times("verification t1 failed"), 1);
}

/* Something commits after the verification: that is not what lands. */
TEST(another_head_is_verified_before_it_lands)
{
	struct agent *agent = begin(NULL, "");
	struct task *t;

	auto_world_work("out.json");
	end_turn(agent);
	floor_world_wait_step(agent, "check");
	floor_world_wt("auto-1",
	    "echo late >late && git add late && git rm -q out.json && "
	    "git commit -qm late");
	ends("t1 failed; ");
	ck_assert_int_eq(times("verification t1 passed"), 1);
	ck_assert_int_eq(times("verification t1 failed"), 1);
	t = task();
	ck_assert_ptr_null(t);
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt");
}

TEST(a_contract_that_is_none_keeps_the_task_from_beginning)
{
	auto_world_begin(NULL);
	join();
	auto_world_task(
	    "a.md", "Verification: {\"command\": \"rm -rf /\"}\n\nDo it\n");
	auto_world_live();
	auto_world_wait("quarantine; ");
	auto_world_folder("todo: a.md; ");
}

/* --- nodes of plans ---------------------------------------------------- */

#define PLAN                                                  \
	"# g\\n## p\\n### k\\nAcceptance: a\\nVerification: " \
	"{\\\"artifacts\\\": [{\\\"path\\\": \\\"out.json\\\"}]}\\n"

static bool
is_blocked(void *arg)
{
	const struct plan_set *set = plan_floor_set(plan_world.floor);

	(void)arg;
	return set->plan_count > 0 &&
	    plan_find(set->plans[0], "T1.1")->status == NODE_BLOCKED;
}

TEST(a_node_that_does_not_meet_its_contract_is_blocked_at_once)
{
	const struct plan_node *node;
	struct agent *agent;

	tune("plan_retries=5");
	plan_world_begin(NULL, "max_attempts = 5\n");
	join();
	plan_world_live();
	plan_world_must("overseer.goal.create",
	    "{\"title\": \"g\", \"plan\": \"" PLAN "\"}");
	agent = auto_world_turn(1);
	ck_assert_ptr_nonnull(task()->launch.contract);
	auto_world_work("other");
	end_turn(agent);
	floor_world_wait(is_blocked, &plan_world);
	node = plan_find(plan_floor_set(plan_world.floor)->plans[0], "T1.1");
	ck_assert_ptr_nonnull(
	    strstr(node->blocked_reason, "artifact_not_found"));
	ck_assert_int_eq(node->attempts, 1);
}

static bool
is_done(void *arg)
{
	const struct plan_set *set = plan_floor_set(plan_world.floor);

	(void)arg;
	return set->plan_count > 0 &&
	    plan_find(set->plans[0], "T1.1")->status == NODE_DONE;
}

TEST(a_node_that_only_reports_is_done_without_a_commit)
{
	const struct plan_node *node;
	struct agent *agent;

	tune("plan_retries=0");
	plan_world_begin(NULL, NULL);
	join();
	plan_world_live();
	plan_world_must("overseer.goal.create",
	    "{\"title\": \"g\", \"plan\": \"# g\\n## p\\n### k\\nAcceptance: "
	    "a\\nVerification: {\\\"requireCompletionReport\\\": "
	    "true}\\n### l\\nAcceptance: b\\nDepends: k\\n\"}");
	agent = auto_world_turn(1);
	xstrset(&task()->attempt.last_tool, "report_completion");
	end_turn(agent);
	floor_world_wait(is_done, &plan_world);
	node = plan_find(plan_floor_set(plan_world.floor)->plans[0], "T1.1");
	ck_assert_str_eq(
	    node->evidence.external_refs[0], "task t1: its contract is met");
}
