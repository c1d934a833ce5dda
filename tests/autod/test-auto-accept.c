/* SPDX-License-Identifier: ISC */

/* A person accepts work of auto mode that only a person may accept. */
#include "auto-world.h"
#include "ask.h"
#include "landing.h"
#include "landing-record.h"

#define PATHS 7

/* The work of t1 changes a protected path. */
static struct agent *
begin_guarded(const char *settings)
{
	struct agent *agent;

	auto_world_begin_repo("protected_paths = [\"b.txt\"]\n", settings);
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	floor_world_until(agent->worker->for_person && agent->op == NULL);
	floor_world_settle();
	/* It was frozen before it was refused. */
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/queue"), "");
	return agent;
}

/* As llmc accept does after a review. */
static struct floor_call *
accept(const char *more)
{
	cleanup_free char *seen = xasprintf(",\"commit\":\"%s\"%s",
	    floor_world_wt("auto-1", "git rev-parse HEAD"), more);

	return floor_world_call("worker.accept", "auto-1", seen);
}

/* What agents and git would run, without a setting. */
TEST_ROWS(what_configures_agents_and_hooks_is_for_a_person, PATHS)
{
	static const char *const paths[] = { ".claude/settings.json",
		"sub/.claude/hooks/x.sh", ".mcp.json", ".husky/pre-commit",
		".githooks/post-merge", "sub/.gitattributes", ".claude" };
	cleanup_free char *work = xasprintf(
	    "mkdir -p \"$(dirname '%s')\" && echo x >'%s' && git add -f '%s' "
	    "&& git commit -qm x",
	    paths[_i], paths[_i], paths[_i]);
	struct floor_call *call;
	struct agent *agent;

	ck_assert_uint_eq(nitems(paths), PATHS);
	agent = auto_world_begin_turn("", "First\n");
	floor_world_wt("auto-1", work);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_until(agent->worker->for_person && agent->op == NULL);
	ck_assert_msg(strstr(agent->worker->reason, paths[_i]) != NULL, "%s",
	    agent->worker->reason);
	ck_assert_ptr_nonnull(strstr(agent->worker->reason,
	    "look at it with: llmc review t1, then: llmc accept t1"));
	floor_world_settle();
	call = accept("");
	ck_assert_ptr_null(floor_world_answer(call));
	auto_world_all_filed("t1 landed; ");
}

/* By its diff, or by the number of tests that ran; with ask it waits for a
 * person, otherwise it lands and is pointed out. */
TEST_ROWS(weakened_tests_are_pointed_out, 4)
{
	cleanup_free char *settings = xasprintf(
	    "check_command = \"cat ran 2>/dev/null || echo 5 passed\"\n%s",
	    _i % 2 == 0 ? "" : "test_guard = \"ask\"\n");
	const char *words = _i < 2 ? "it removes 1 test (tests/a.py: test_a)" :
				     "4 tests ran, where 5 ran before";
	const char *told;
	struct floor_call *call;
	struct agent *agent;

	auto_world_begin(settings);
	floor_world_sh("mkdir tests && printf 'def test_a():\\n  pass\\n' "
		       ">tests/a.py && git add tests && git commit -qm tests");
	auto_world_task("a.md", "First\n");
	auto_world_task("b.md", "Second\n");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	agent = auto_world_turn_on("t2");
	floor_world_wt("auto-1",
	    _i < 2 ? "echo >tests/a.py; git commit -qam less" :
		     "echo 4 passed >ran; git add ran; git commit -qm less");
	fake_session_turn_ends(agent->session, "Done.");
	if (_i % 2 == 1) {
		floor_world_until(
		    agent->worker->for_person && agent->op == NULL);
		ck_assert_msg(strstr(agent->worker->reason, words) != NULL,
		    "%s", agent->worker->reason);
		floor_world_settle();
		call = accept("");
		ck_assert_ptr_null(floor_world_answer(call));
	}
	auto_world_all_filed("t1 landed; t2 landed; ");
	told = floor_world_sh("grep -h tests_weakened .llmc/logs/*.log");
	ck_assert_ptr_nonnull(strstr(told, words));
	/* As many as before are not fewer. */
	ck_assert_ptr_null(strstr(told, "5 tests ran"));
}

TEST_ROWS(accepted_work_lands, 2)
{
	struct floor_call *call;

	begin_guarded("");
	call = accept(_i == 0 ? "" : ",\"force\":true");
	ck_assert_ptr_null(floor_world_answer(call));
	auto_world_all_filed("t1 landed; ");
}

/* Who waits for the landing of a task that is dropped gets an answer. */
TEST_ROWS(dropped_before_it_lands, 2)
{
	struct floor_call *accepted;
	struct agent *agent = begin_guarded(
	    "check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" || sleep "
	    "60\"\n");

	accepted = accept(_i == 0 ? "" : ",\"force\":true");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	floor_world_settle();
	ck_assert(auto_world.core->state.landings.items[0]->approved);
	floor_world_done(floor_world_ask("task.drop", "{\"task\": \"t1\"}"));
	ck_assert_str_eq(floor_world_answer(accepted), "its task was dropped");
}

/* The person is told, not the agent, which cannot review anything. */
TEST(other_work_than_was_shown)
{
	struct agent *agent = begin_guarded("");
	struct floor_call *call = accept("");

	floor_world_wait_step(agent, "write");
	floor_world_wt("auto-1", "echo more >>b.txt; git commit -qam later");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "is not what you were shown"));
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_NEEDS_REVIEW);
	ck_assert_int_eq(agent->worker->session.step, PROMPT_NONE);
	ck_assert_int_eq(auto_world.core->exit_status, 0);
	call = accept("");
	ck_assert_ptr_null(floor_world_answer(call));
	auto_world_wait_done();
}

/* --- its worker is needed ------------------------------------------------ */

static struct landing_item *
held(void)
{
	return landing_record_held(&auto_world.core->state.landings, "t1");
}

/* And it is of t1, for which a person was told once. */
static void
is_asked_of(const char *subject)
{
	const struct state *state = &auto_world.core->state;

	ck_assert_uint_eq(state->ask_count, 1);
	ck_assert_str_eq(state->asks[0]->key, "review/t1");
	ck_assert_str_eq(state->asks[0]->id, "a1");
	ck_assert_str_eq(ask_subject(state->asks[0]), subject);
	ck_assert_str_eq(state->asks[0]->command, "llmc review t1");
	ck_assert_ptr_nonnull(
	    strstr(state->asks[0]->words, "t1 changes protected paths: b.txt"));
}

/* The queue has the work of t1, and auto-1 is in its turn on t2. */
static struct agent *
begin_held(const char *settings)
{
	struct agent *agent = begin_guarded(settings);

	is_asked_of("auto-1");
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	agent = auto_world_turn_on("t2");
	ck_assert_str_eq(agent->worker->name, "auto-1");
	ck_assert_ptr_nonnull(held());
	ck_assert_ptr_null(held()->worker);
	is_asked_of("t1");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	ck_assert_str_eq(floor_world_wt("auto-1",
			     "git log -1 --format=%s; git status --porcelain"),
	    "first");
	return agent;
}

TEST_ROWS(work_that_waits_for_a_person_keeps_no_worker, 2)
{
	struct agent *agent = begin_held("check_command = \"test -e a.txt\"\n");

	if (_i == 1) {
		auto_world_reopen();
		auto_world_live();
		agent = auto_world_turn_on("t2");
	}
	auto_world_finish(agent, "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	ck_assert_ptr_nonnull(held());
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_call("worker.accept", "t1", "")));
	auto_world_all_filed("t2 landed; t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git log --format=%s main"),
	    "add b.txt\nadd c.txt\nfirst");
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/queue"), "");
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
}

/* Its worker goes on in the conversation that it had, with what it had done. */
TEST(held_work_is_sent_back_to_a_worker)
{
	struct agent *agent = begin_held("");
	cleanup_free char *conversation =
	    xstrdup(auto_world_of("t1")->conversation);
	struct floor_call *call = floor_world_done(floor_world_call(
	    "worker.reject", "t1", ",\"text\":\"Leave b.txt alone.\""));

	ck_assert_ptr_nonnull(floor_call_result(call));
	ck_assert_ptr_null(held());
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_WAITING);
	auto_world_finish(agent, "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	agent = auto_world_turn_on("t1");
	ck_assert_ptr_nonnull(
	    strstr(agent->worker->prompt, "Leave b.txt alone."));
	ck_assert_str_eq(agent->worker->session.id, conversation);
	ck_assert_str_eq(
	    floor_world_wt("auto-1", "git log -1 --format=%s"), "add b.txt");
	floor_world_wt("auto-1", "git rm -q b.txt; git commit -qm less");
	auto_world_finish(agent, "d.txt");
	auto_world_all_filed("t2 landed; t1 landed; ");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nc.txt\nd.txt");
}

TEST(held_work_is_shown_and_only_what_was_shown_is_accepted)
{
	struct json_object *result;
	struct floor_call *call;

	begin_held("");
	call = floor_world_done(
	    floor_world_ask("review.get", "{\"task\": \"t1\"}"));
	result = floor_call_result(call);
	ck_assert_ptr_nonnull(result);
	ck_assert_str_eq(json_string_or(result, "commit", ""), held()->head);
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string(result), "b.txt"));
	call = floor_world_done(floor_world_call("worker.review", "t1", ""));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    held()->head);
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(floor_world_call(
		       "worker.accept", "t1", ",\"commit\":\"0123456789ab\"")),
		"is not what you were shown"));
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(floor_world_call("worker.accept", "t7", "")),
	    "there is no worker t7"));
	floor_world_done(floor_world_ask("task.drop", "{\"task\": \"t1\"}"));
	ck_assert_ptr_null(held());
	floor_world_settle();
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/queue"), "");
}

/* A daemon that is killed at any step of it loses neither the work nor that
 * only a person may accept it. */
TEST_ROWS(a_kill_while_a_worker_is_freed_loses_nothing, 4)
{
	static const char *const steps[] = { "write", "freeze", "sync",
		"reset" };
	struct agent *agent = begin_guarded("");

	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	floor_world_wait_step(agent, steps[_i]);
	auto_world_reopen();
	auto_world_live();
	agent = auto_world_turn_on("t2");
	ck_assert_ptr_nonnull(held());
	is_asked_of("t1");
	auto_world_finish(agent, "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_call("worker.accept", "t1", "")));
	auto_world_all_filed("t2 landed; t1 landed; ");
}

/* What a person accepts and conflicts is resolved by a worker, and asked
 * about again: it is other work then. */
TEST(accepted_work_that_conflicts_goes_to_a_worker)
{
	struct agent *agent = begin_held("");

	floor_world_wt("auto-1", "echo other >b.txt; git add b.txt");
	floor_world_sh("echo mine >b.txt; git add b.txt; git commit -qm mine");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(floor_world_call("worker.accept", "t1", "")),
	    "conflict with main; a worker resolves it"));
	floor_world_wt("auto-1", "git rm -qf --cached b.txt; rm b.txt");
	auto_world_finish(agent, "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	auto_world_turn_on("t1");
}

/* --- what has landed is rebased ------------------------------------------- */

/* A task is known by the commit that the branch has now, and is taken back by
 * it; that is checked. */
TEST(a_task_that_landed_is_known_by_its_rebased_commit)
{
	cleanup_free char *landed = NULL, *params = NULL;
	struct floor_call *call;

	auto_world_begin_repo("upstream = \"follow\"\n",
	    "check_command = \"echo $LLMC_CHECK_SLOT >>../checked; true\"\n");
	floor_world_sh("git init -q --bare -b main \"$B/origin\"; "
		       "git remote add origin \"$B/origin\"; "
		       "git push -q -u origin main; "
		       "git clone -q \"$B/origin\" \"$B/other\"");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	auto_world_finish(auto_world_turn(1), "b.txt");
	auto_world_all_filed("t1 landed; ");
	floor_world_sh("cd \"$B/other\" && echo x >x && git add x && git -c "
		       "user.name=o -c user.email=o@x commit -qm theirs && "
		       "git push -q");
	landings_follow(auto_world.landings);
	floor_world_until(strcmp(floor_world_sh("git log --format=%s main"),
			      "add b.txt\ntheirs\nfirst") == 0);
	floor_world_settle();
	landed = xstrdup(floor_world_sh("git rev-parse main"));
	ck_assert_msg(strstr(auto_world_record("t1"), landed) != NULL, "%s",
	    auto_world_record("t1"));
	floor_world_until(
	    auto_world.core->state.landings.overtaken.commit == NULL);
	params = xasprintf("{\"commit\":\"%s\"}", landed);
	call = floor_world_ask("landing.revert", params);
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nx");
}
