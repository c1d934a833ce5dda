/* SPDX-License-Identifier: ISC */

/* Finished work is checked against the contract of its task, before its check
 * and its landing. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "json.h"
#include "mem.h"
#include "operation.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-world.h"
#include "plan.h"
#include "state.h"
#include "task-run.h"
#include "task.h"
#include "team-private.h"
#include "turn-end.h"
#include "unit.h"
#include "worker-op.h"

#define OUT \
	"Verification: {\"artifacts\": [{\"path\": \"out.json\"}]%s}\n\nDo it\n"
#define RETRY ", \"onFailure\": \"retry_once\""

/* Only the part of the team that this is about. */
static struct team_floor team;
static const struct auto_team policy = { .verify = team_verify };

static void
join(struct auto_world *world)
{
	team.mode = world->mode;
	auto_set_team(world->mode, &policy, &team);
}

static void
reopen(struct auto_world *world)
{
	auto_world_reopen(world);
	join(world);
}

static struct agent *
begin(struct auto_world *world, const char *settings, const char *more)
{
	cleanup_free char *text = NULL;

	if (asprintf(&text, OUT, more) == -1)
		ck_abort();
	auto_world_begin(world, settings);
	join(world);
	auto_world_task(world, "a.md", text);
	auto_world_live(world);
	return auto_world_turn(world, 1);
}

static struct task *
task(struct auto_world *world)
{
	return state_task(&world->core->state, "t1");
}

static void
end_turn(struct agent *agent)
{
	fake_session_turn_ends(agent->session, "Done.");
}

/* Run until the task has ended so. */
static void
ends(struct auto_world *world, const char *want)
{
	auto_world_wait_done(world);
	auto_world_filed(world, want);
}

static int
times(const struct auto_world *world, const char *words)
{
	int count = 0;

	for (const char *s = world->told.data; (s = strstr(s, words)) != NULL;
	     s++)
		count++;
	return count;
}

/* The record of t1, which has ended, has these words. */
static void
has_record(struct auto_world *world, const char *words)
{
	const char *record = auto_world_record(world, "t1");

	ck_assert_msg(strstr(record, words) != NULL, "%s", record);
}

TEST(work_that_meets_its_contract_lands)
{
	struct auto_world world;
	struct agent *agent = begin(&world, NULL, "");
	cleanup_free char *head = NULL;

	ck_assert_str_eq(task(&world)->run->base,
	    floor_world_sh(&world.floor, "git rev-parse main"));
	ck_assert_int_eq(task(&world)->run->verification, VERIFICATION_PENDING);
	auto_world_work(&world, "out.json");
	head = xstrdup(
	    floor_world_wt(&world.floor, "auto-1", "git rev-parse HEAD"));
	end_turn(agent);
	auto_world_wait(&world, "verification t1 passed; ");
	ck_assert_str_eq(
	    json_string_or(task(&world)->run->verified, "commit", ""), head);
	ends(&world, "t1 landed; ");
	ck_assert_int_eq(times(&world, "verification"), 1);
	ck_assert_str_eq(floor_world_sh(&world.floor, "ls"), "a.txt\nout.json");
	ck_assert_str_eq(floor_world_sh(&world.floor,
			     "ls .llmc/artifacts 2>&1 || true; "
			     "test ! -e .llmc/artifacts"),
	    "ls: cannot access '.llmc/artifacts': No such file or directory");
	auto_world_end(&world);
}

TEST(the_contract_comes_before_the_check)
{
	struct auto_world world;
	struct agent *agent = begin(&world,
	    "check_command = \"echo ran >>../../ran\"\nmax_attempts = 1\n", "");

	auto_world_work(&world, "other");
	end_turn(agent);
	ends(&world, "t1 failed; ");
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "ls ran 2>/dev/null || echo no"),
	    "no");
	auto_world_end(&world);
}

TEST(a_failed_contract_ends_the_task_whatever_attempts_are_left)
{
	struct auto_world world;
	struct agent *agent = begin(&world, "max_attempts = 5\n", "");

	auto_world_work(&world, "other");
	end_turn(agent);
	ends(&world, "t1 failed; ");
	auto_world_wait(&world, "exhausted; ");
	auto_world_told(&world,
	    "task_assigned t1; verification t1 failed; "
	    "task_finished t1 failed; exhausted; ");
	/* Its work is not lost. */
	ck_assert_str_eq(
	    floor_world_sh(&world.floor,
		"for r in $(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage); do git ls-tree --name-only $r; done"),
	    "a.txt\nother");
	has_record(&world, "out.json: artifact_not_found");
	auto_world_end(&world);
}

TEST(a_retry_is_a_new_attempt_that_knows_why)
{
	struct auto_world world;
	struct agent *agent = begin(&world, "max_attempts = 1\n", RETRY);

	auto_world_work(&world, "other");
	end_turn(agent);
	auto_world_turn(&world, 2);
	auto_world_told(&world,
	    "task_assigned t1; verification t1 failed; task_retry t1; "
	    "task_assigned t1; ");
	ck_assert_int_eq(task(&world)->attempts, 2);
	ck_assert_str_eq(task(&world)->run->retry_of, "t1-1");
	ck_assert_ptr_nonnull(task(&world)->run->retry_of);
	ck_assert(strstr(fake_session_prompt(agent->session),
		      "[RETRY \xe2\x80\x94 Previous attempt failed "
		      "verification]\nFailure reason: out.json: "
		      "artifact_not_found\nOriginal task: Do it") != NULL);
	/* It begins with the branch, not with what failed. */
	ck_assert_str_eq(floor_world_wt(&world.floor, "auto-1", "ls"), "a.txt");
	auto_world_work(&world, "out.json");
	end_turn(agent);
	ends(&world, "t1 landed; ");
	auto_world_end(&world);
}

TEST(the_second_failure_is_final_and_files_are_kept)
{
	struct auto_world world;
	struct agent *agent = begin(&world, "max_attempts = 5\n",
	    ", \"requireCompletionReport\": true" RETRY);

	for (int i = 0; i < 2; i++) {
		auto_world_work(&world, "out.json");
		end_turn(agent);
		if (i == 0)
			auto_world_turn(&world, 2);
	}
	ends(&world, "t1 failed; ");
	ck_assert_int_eq(times(&world, "task_retry"), 1);
	ck_assert_int_eq(times(&world, "verification t1 failed"), 2);
	ck_assert_str_eq(floor_world_sh(&world.floor,
			     "ls .llmc/artifacts/t1-1 .llmc/artifacts/t1-2"),
	    ".llmc/artifacts/t1-1:\nout.json\n\n.llmc/artifacts/t1-2:\n"
	    "out.json");
	has_record(&world, "/.llmc/artifacts/t1-2");
	auto_world_end(&world);
}

TEST(a_file_that_the_branch_had_before_does_not_count)
{
	struct auto_world world;
	cleanup_free char *text = NULL;
	struct agent *agent;

	if (asprintf(&text, OUT, "") == -1)
		ck_abort();
	auto_world_begin(&world, NULL);
	join(&world);
	floor_world_sh(&world.floor,
	    "echo old >out.json && git add out.json && git commit -qm old");
	auto_world_task(&world, "a.md", text);
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "other");
	end_turn(agent);
	ends(&world, "t1 failed; ");
	has_record(&world, "artifact_unchanged");
	auto_world_end(&world);
}

TEST(without_a_commit_only_a_report_can_be_wanted)
{
	for (int reported = 0; reported < 2; reported++) {
		struct auto_world world;
		struct agent *agent;

		auto_world_begin(&world, "require_commit = false\n");
		join(&world);
		auto_world_task(&world, "a.md",
		    "Verification: {\"requireCompletionReport\": true}\n\n"
		    "Look at it\n");
		auto_world_live(&world);
		agent = auto_world_turn(&world, 1);
		if (reported)
			xstrset(&task(&world)->run->last_tool,
			    "mcp__llmc__report_completion");
		end_turn(agent);
		ends(&world, reported ? "t1 no_changes; " : "t1 failed; ");
		ck_assert_int_eq(times(&world, "verification"), 1);
		auto_world_end(&world);
	}
}

/* --- time -------------------------------------------------------------- */

/* git hangs: the time of the contract is over some time. */
TEST(checks_that_hang_have_failed)
{
	struct auto_world world;
	struct agent *agent =
	    begin(&world, NULL, ", \"verificationTimeoutMs\": 300");

	auto_world_work(&world, "out.json");
	end_turn(agent);
	floor_world_wait_step(&world.floor, agent, "write");
	floor_world_trap(&world.floor, 1, "hang");
	auto_world_wait(&world, "verification t1 failed; ");
	floor_world_trap(&world.floor, 0, "before");
	ends(&world, "t1 failed; ");
	has_record(&world, "contract: verification_timeout");
	auto_world_end(&world);
}

TEST(one_end_of_a_turn_is_verified_once)
{
	struct auto_world world;
	struct agent *agent = begin(&world, NULL, "");

	auto_world_work(&world, "out.json");
	end_turn(agent);
	floor_world_wait_step(&world.floor, agent, "check");
	ck_assert(!turn_end_is_due(agent));
	/* The same Stop once more, and a patrol. */
	turn_end_begin(agent, NULL, NULL);
	ck_assert(team_verify(&team, agent, NULL));
	auto_world_patrol(&world);
	ends(&world, "t1 landed; ");
	ck_assert_int_eq(times(&world, "verification"), 1);
	auto_world_end(&world);
}

/* --- interrupted ------------------------------------------------------- */

static const char *const steps[] = { "write", "check" };

/* The state on the disk says that it runs before anything does. */
TEST_ROWS(a_daemon_that_dies_has_it_run_again, nitems(steps))
{
	for (int good = 0; good < 2; good++) {
		struct auto_world world;
		struct agent *agent = begin(&world, NULL, RETRY);

		auto_world_work(&world, good ? "out.json" : "other");
		end_turn(agent);
		floor_world_wait_step(&world.floor, agent, steps[_i]);
		if (_i == 1)
			ck_assert_ptr_nonnull(
			    strstr(floor_world_saved(&world.floor),
				"\"verification\": \"running\""));
		reopen(&world);
		auto_world_live(&world);
		agent = auto_world_turn(&world, 1);
		end_turn(agent);
		if (!good) {
			/* One retry, and not another one. */
			auto_world_turn(&world, 2);
			ck_assert_int_eq(task(&world)->attempts, 2);
			auto_world_work(&world, "other");
			end_turn(agent);
		}
		ends(&world, good ? "t1 landed; " : "t1 failed; ");
		ck_assert_int_eq(times(&world, "task_retry"), good ? 0 : 1);
		auto_world_end(&world);
	}
}

static bool
is_retry_saved(void *arg)
{
	return strstr(floor_world_saved(arg), "\"retry_of\"") != NULL;
}

/* The retry is decided, and not yet begun. */
TEST(a_daemon_that_dies_after_a_failure_retries_once)
{
	struct auto_world world;
	struct agent *agent = begin(&world, NULL, RETRY);

	auto_world_work(&world, "other");
	end_turn(agent);
	floor_world_wait(&world.floor, is_retry_saved, &world.floor);
	reopen(&world);
	auto_world_live(&world);
	agent = auto_world_turn_on(&world, "t1");
	ck_assert_str_eq(task(&world)->run->retry_of, "t1-1");
	auto_world_work(&world, "other");
	end_turn(agent);
	ends(&world, "t1 failed; ");
	ck_assert_int_eq(times(&world, "task_retry"), 1);
	has_record(&world, "\"attempts\":2");
	auto_world_end(&world);
}

TEST(cancelled_it_is_due_again)
{
	struct auto_world world;
	struct agent *agent = begin(&world, NULL, "");

	auto_world_work(&world, "out.json");
	end_turn(agent);
	floor_world_wait_step(&world.floor, agent, "check");
	operation_cancel(&agent->op->op, "enough");
	floor_world_settle(&world.floor);
	ck_assert_int_eq(task(&world)->run->verification, VERIFICATION_RUNNING);
	ck_assert(turn_end_is_due(agent));
	turn_end_begin(agent, NULL, NULL);
	ends(&world, "t1 landed; ");
	auto_world_end(&world);
}

/* --- sent back --------------------------------------------------------- */

TEST(work_that_is_sent_back_is_verified_again)
{
	struct auto_world world;
	struct agent *agent = begin(&world,
	    "check_command = \"test ! -e bad || test -e pass\"\n"
	    "max_turns = 5\n",
	    "");

	auto_world_work(&world, "out.json");
	auto_world_work(&world, "bad");
	end_turn(agent);
	auto_world_turn(&world, 2);
	ck_assert_int_eq(times(&world, "verification t1 passed"), 1);
	floor_world_wt(&world.floor, "auto-1",
	    "git rm -q out.json && git commit -qm gone");
	auto_world_work(&world, "pass");
	end_turn(agent);
	ends(&world, "t1 failed; ");
	ck_assert_int_eq(times(&world, "verification t1 failed"), 1);
	auto_world_end(&world);
}

/* Something commits after the verification: that is not what lands. */
TEST(another_head_is_verified_before_it_lands)
{
	struct auto_world world;
	struct agent *agent = begin(&world, NULL, "");
	struct task *t;

	auto_world_work(&world, "out.json");
	end_turn(agent);
	floor_world_wait_step(&world.floor, agent, "check");
	floor_world_wt(&world.floor, "auto-1",
	    "echo late >late && git add late && git rm -q out.json && "
	    "git commit -qm late");
	ends(&world, "t1 failed; ");
	ck_assert_int_eq(times(&world, "verification t1 passed"), 1);
	ck_assert_int_eq(times(&world, "verification t1 failed"), 1);
	t = task(&world);
	ck_assert_ptr_null(t);
	ck_assert_str_eq(floor_world_sh(&world.floor, "ls"), "a.txt");
	auto_world_end(&world);
}

TEST(a_contract_that_is_none_keeps_the_task_from_beginning)
{
	struct auto_world world;

	auto_world_begin(&world, NULL);
	join(&world);
	auto_world_task(&world, "a.md",
	    "Verification: {\"command\": \"rm -rf /\"}\n\nDo it\n");
	auto_world_live(&world);
	auto_world_wait(&world, "quarantine; ");
	auto_world_folder(&world, "todo: a.md; ");
	auto_world_end(&world);
}

/* --- nodes of plans ---------------------------------------------------- */

#define PLAN                                                  \
	"# g\\n## p\\n### k\\nAcceptance: a\\nVerification: " \
	"{\\\"artifacts\\\": [{\\\"path\\\": \\\"out.json\\\"}]}\\n"

static bool
is_blocked(void *arg)
{
	struct plan_world *world = arg;
	const struct plan_set *set = plan_floor_set(world->floor);

	return set->plan_count > 0 &&
	    plan_find(set->plans[0], "T1.1")->status == NODE_BLOCKED;
}

TEST(a_node_that_does_not_meet_its_contract_is_blocked_at_once)
{
	struct plan_world world;
	const struct plan_node *node;
	struct agent *agent;

	plan_world_begin(&world, "max_retries = 5\n", "max_attempts = 5\n");
	join(&world.world);
	plan_world_live(&world);
	plan_world_must(&world, "overseer.goal.create",
	    "{\"title\": \"g\", \"plan\": \"" PLAN "\"}");
	agent = auto_world_turn(&world.world, 1);
	ck_assert_ptr_nonnull(task(&world.world)->run->contract);
	auto_world_work(&world.world, "other");
	end_turn(agent);
	floor_world_wait(&world.world.floor, is_blocked, &world);
	node = plan_find(plan_floor_set(world.floor)->plans[0], "T1.1");
	ck_assert_ptr_nonnull(
	    strstr(node->blocked_reason, "artifact_not_found"));
	ck_assert_int_eq(node->attempts, 1);
	plan_world_end(&world);
}

static bool
is_done(void *arg)
{
	struct plan_world *world = arg;
	const struct plan_set *set = plan_floor_set(world->floor);

	return set->plan_count > 0 &&
	    plan_find(set->plans[0], "T1.1")->status == NODE_DONE;
}

TEST(a_node_that_only_reports_is_done_without_a_commit)
{
	struct plan_world world;
	const struct plan_node *node;
	struct agent *agent;

	plan_world_begin(&world, "max_retries = 0\n", NULL);
	join(&world.world);
	plan_world_live(&world);
	plan_world_must(&world, "overseer.goal.create",
	    "{\"title\": \"g\", \"plan\": \"# g\\n## p\\n### k\\nAcceptance: "
	    "a\\nVerification: {\\\"requireCompletionReport\\\": "
	    "true}\\n### l\\nAcceptance: b\\nDepends: k\\n\"}");
	agent = auto_world_turn(&world.world, 1);
	xstrset(&task(&world.world)->run->last_tool, "report_completion");
	end_turn(agent);
	floor_world_wait(&world.world.floor, is_done, &world);
	node = plan_find(plan_floor_set(world.floor)->plans[0], "T1.1");
	ck_assert_str_eq(
	    node->evidence.external_refs[0], "task t1: its contract is met");
	plan_world_end(&world);
}
