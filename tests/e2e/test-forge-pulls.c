/* SPDX-License-Identifier: ISC */

/* Work as pull requests, onto a branch that nobody may push to: opened once,
 * corrected when checks or people say so, and landed when it is merged. */
#include "forgerun.h"

const int unit_timeout = 240; /* seconds, each */

static const char *const dialects[] = { "github", "gitea" };

static void
begin(const char *dialect)
{
	forge_begin(dialect);
	forge_protect();
	auto_set("forge.kind", dialect);
}

/* Checks that are green where the commit has this file, "" = always; the agent
 * does what the log of a red one says. */
static void
ci(const char *needs, const char *log)
{
	forge_tell("ci", "{\"name\":\"unit\",\"needs\":\"%s\",\"log\":\"%s\"}",
	    needs, log);
}

static struct json_object *
list(const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(forge_look("state"), name, &found);
	return found;
}

/* The n-th as it is at the forge; NULL = it is not there. */
static struct json_object *
pull(size_t n)
{
	struct json_object *pulls = list("pulls");

	return n <= json_object_array_length(pulls) ?
	    json_object_array_get_idx(pulls, n - 1) :
	    NULL;
}

static size_t
comments(void)
{
	return json_object_array_length(list("comments"));
}

static const char *
origin(const char *command)
{
	return e2e_sh(
	    fleet_root(), e2e_path("git -C ../origin.git %s", command))
	    ->out;
}

static void
wait_no_branch(void)
{
	auto_wait_shell("! git -C ../origin.git for-each-ref refs/heads/llmc | "
			"grep -q .");
}

/* Merged once, as one commit, with nothing left behind. */
static void
check_merged(const char *files)
{
	ck_assert_uint_eq(json_object_array_length(list("pulls")), 1);
	ck_assert(json_bool_or(pull(1), "merged", false));
	ck_assert_str_eq(origin("rev-list --count main~1..main"), "1\n");
	ck_assert_str_eq(
	    origin("diff --name-only main~1 main | tr '\\n' ' '"), files);
	ck_assert_str_eq(origin("for-each-ref refs/heads/llmc"), "");
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_int_eq(auto_finished(NULL), 1);
	ck_assert_str_eq(e2e_git(fleet_root(), "rev-parse", "main", NULL),
	    origin("rev-parse main"));
}

TEST_ROWS(work_becomes_a_pull_request_that_a_person_merges, 2)
{
	begin(dialects[_i]);
	ci("", "");
	auto_task("a.md", "Make\033[2J one\n\nfake: commit one.txt x\n");
	auto_up(NULL);
	auto_wait_event("pull_request", "its checks are green");
	ck_assert_str_eq(json_string_or(pull(1), "state", ""), "open");
	ck_assert_ptr_null(
	    strchr(json_string_or(pull(1), "title", ""), '\033'));
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(pull(1), "body", ""), "<!-- llmc t1 "));
	ck_assert_ptr_null(
	    strstr(json_string_or(pull(1), "body", ""), fleet_root()));
	ck_assert_int_eq(auto_landed(), 0);
	forge_tell("pull", "{\"number\":1,\"do\":\"merge\"}");
	auto_wait_finished("landed", 1);
	wait_no_branch();
	auto_drain();
	check_merged("one.txt ");
	ck_assert_int_eq(forge_count("POST", "/pulls"), 1);
	auto_no_complaints();
}

TEST_ROWS(what_is_red_is_corrected_and_merged_when_green, 2)
{
	begin(dialects[_i]);
	auto_set("forge.merge", "when-green");
	auto_set("forge.draft", "true");
	auto_set("forge.labels", "[\"by-llmc\"]");
	ci("two.txt", "fake: commit two.txt x");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt two.txt ");
	ck_assert_int_eq(fleet_prompts("----- end of log"), 1);
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string(pull(1)), "by-llmc"));
	ck_assert_str_eq(
	    origin("log -1 --format='%(trailers:key=Llmc-Task,valueonly)' main"
		   " | head -1"),
	    "t1\n");
	auto_no_complaints();
}

TEST(a_merge_queue_is_used_where_there_is_one)
{
	begin("github");
	auto_set("forge.merge", "when-green");
	ci("", "");
	forge_tell("rules", "{\"queue\":true}");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt ");
	ck_assert_int_eq(forge_count("POST", "/graphql"), 1);
}

/* --- people ------------------------------------------------------- */

TEST_ROWS(remarks_are_answered_if_their_author_may_write, 2)
{
	begin(dialects[_i]);
	ci("", "");
	forge_tell("user",
	    "{\"login\":\"x[bot]\",\"permission\":\"write\",\"type\":\"Bot\"}");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	auto_up(NULL);
	auto_wait_event("pull_request", "is open");
	forge_tell("say",
	    "{\"number\":1,\"user\":\"eve\","
	    "\"body\":\"fake: commit eve.txt x\"}");
	forge_tell("say",
	    "{\"number\":1,\"user\":\"x[bot]\","
	    "\"body\":\"fake: commit bot.txt x\"}");
	forge_tell("review",
	    "{\"number\":1,\"user\":\"ann\",\"state\":\"%s\",\"body\":\"\","
	    "\"comments\":[{\"path\":\"one.txt\",\"line\":1,"
	    "\"body\":\"fake: commit two.txt x\"}]}",
	    _i == 0 ? "CHANGES_REQUESTED" : "REQUEST_CHANGES");
	auto_wait_shell("git -C ../origin.git cat-file -e "
			"llmc/t1-make-one:two.txt");
	auto_wait_event("pull_request", "its worker has a turn");
	while (comments() < 3)
		poll(NULL, 0, 50); /* for another program */
	ck_assert_int_eq(fleet_prompts("about one.txt, line 1"), 1);
	ck_assert_int_eq(fleet_prompts("eve.txt"), 0);
	ck_assert_int_eq(fleet_prompts("bot.txt"), 0);
	forge_tell("pull", "{\"number\":1,\"do\":\"merge\"}");
	auto_wait_finished("landed", 1);
	auto_drain();
	ck_assert_uint_eq(comments(), 3);
	ck_assert_ptr_nonnull(strstr(
	    json_string_or(
		json_object_array_get_idx(list("comments"), 2), "body", ""),
	    "<!-- llmc t1 "));
	ck_assert_str_eq(origin("diff --name-only main~1 main | tr '\\n' ' '"),
	    "one.txt two.txt ");
}

TEST(what_a_person_closes_is_declined)
{
	begin("github");
	ci("", "");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	auto_up(NULL);
	auto_wait_event("pull_request", "is open");
	forge_tell("pull", "{\"number\":1,\"do\":\"close\"}");
	auto_wait_finished("aborted", 1);
	ck_assert_int_eq(auto_events("task_finished", "closed by a person"), 1);
	auto_drain();
	ck_assert_int_eq(auto_landed(), 0);
	auto_salvaged("auto-1", "one.txt");
}

TEST(what_stays_red_is_asked_about_and_given_up)
{
	begin("github");
	ci("never.txt", "fake: append more.txt x");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	auto_up(NULL);
	auto_wait_state("tasks.0.step", "parked");
	ck_assert_int_eq(fleet_prompts("----- end of log"), 3);
	e2e_has(fleet_do("asks", NULL)->out, "a check still fails");
	fleet_do("task", "drop", "t1", NULL);
	auto_wait_finished("aborted", 1);
	wait_no_branch();
	auto_drain();
	ck_assert_str_eq(json_string_or(pull(1), "state", ""), "closed");
	ck_assert(!json_bool_or(pull(1), "merged", false));
}

TEST(a_task_that_is_dropped_takes_its_pull_request_back)
{
	begin("gitea");
	ci("", "");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	/* A run ends when the rest is for a person. */
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	e2e_has(fleet_do("asks", NULL)->out, "review it, and merge or close");
	e2e_has(fleet_do("task", "list", NULL)->out, "pull request #1 is open");
	auto_up(NULL);
	fleet_do("task", "drop", "t1", NULL);
	auto_wait_finished("aborted", 1);
	wait_no_branch();
	auto_drain();
	ck_assert_str_eq(json_string_or(pull(1), "state", ""), "closed");
	auto_salvaged("auto-1", "one.txt");
}

TEST(more_than_may_be_open_wait_in_the_queue)
{
	begin("github");
	ci("", "");
	auto_set("forge.pull_requests_open", "1");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	auto_task("b.md", "Make two\n\nfake: commit two.txt x\n");
	auto_task("c.md", "Make three\n\nfake: commit three.txt x\n");
	auto_up(NULL);
	/* Its worker does not wait with it. */
	auto_wait_event("task_assigned", "t3");
	auto_wait_state("tasks.1.step", "queued");
	e2e_has(fleet_do("landing", NULL)->out,
	    "1 pull request is open, and forge.pull_requests_open is 1");
	for (int i = 1; i <= 3; i++) {
		auto_wait_event(
		    "pull_request", e2e_path("pull request #%d is open", i));
		ck_assert_uint_eq(
		    json_object_array_length(list("pulls")), (size_t)i);
		forge_tell("pull", "{\"number\":%d,\"do\":\"merge\"}", i);
	}
	auto_wait_finished("landed", 3);
	auto_drain();
	ck_assert_str_eq(origin("rev-list --count main~3..main"), "3\n");
	auto_no_complaints();
}

TEST(what_somebody_else_has_pushed_is_not_overwritten)
{
	begin("github");
	ci("two.txt",
	    e2e_path(
		"fake: run %s\\nfake: commit two.txt x", auto_gate("turn")));
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	auto_up(NULL);
	auto_wait_gate("turn");
	e2e_expect(
	    e2e_sh(fleet_root(),
		"git fetch -q origin llmc/t1-make-one && git worktree add -q "
		"--detach ../theirs FETCH_HEAD && cd ../theirs && echo y "
		">theirs.txt && git add . && git -c user.name=a -c "
		"user.email=a@b commit -qm theirs && git push -q origin "
		"HEAD:refs/heads/llmc/t1-make-one"),
	    0, NULL);
	auto_open_gate("turn");
	auto_wait_event("pull_request", "omebody else has pushed");
	auto_wait_state("tasks.0.pull_asks", "true");
	e2e_has(fleet_do("asks", NULL)->out, "omebody else has pushed");
	ck_assert_str_eq(
	    origin("log -1 --format=%s llmc/t1-make-one"), "theirs\n");
	forge_tell("pull", "{\"number\":1,\"do\":\"merge\"}");
	auto_wait_finished("landed", 1);
	auto_drain();
}

static void
issue(const char *what)
{
	forge_tell("issue",
	    "{\"title\":\"Make %s\",\"body\":\"fake: commit %s.txt x\","
	    "\"user\":\"ann\",\"labels\":[\"llmc\"],\"by\":\"ann\"}",
	    what, what);
}

TEST(an_issue_is_closed_when_its_pull_request_is_merged)
{
	begin("gitea");
	ci("", "");
	auto_set("auto.source", "gitea");
	auto_set("forge.merge", "when-green");
	issue("one");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt ");
	ck_assert_int_eq(auto_events("issue_told", "done"), 1);
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(pull(1), "body", ""), "For #1."));
}

/* Nor is it merged when its checks are green; that of another issue is. */
TEST(work_for_an_issue_that_has_changed_is_merged_by_a_person_only)
{
	begin("gitea");
	ci("", "");
	auto_set("auto.source", "gitea");
	issue("one");
	auto_up(NULL);
	auto_wait_event("pull_request", "its checks are green");
	forge_tell("edit", "{\"number\":1,\"body\":\"Other.\"}");
	auto_wait_event("issue_changed", "its text was changed");
	auto_set("forge.merge", "when-green");
	issue("two");
	auto_wait_finished("landed", 1);
	ck_assert(json_bool_or(pull(2), "merged", false));
	ck_assert(!json_bool_or(pull(1), "merged", true));
	e2e_has(fleet_do("asks", NULL)->out, "its text was changed");
	ck_assert_int_eq(auto_events("issue_changed", NULL), 1);
	forge_tell("pull", "{\"number\":%d,\"do\":\"merge\"}",
	    (int)json_int_or(pull(1), "number", 0));
	auto_wait_finished("landed", 2);
	auto_drain();
}

/* --- a forge that is not well ------------------------------------- */

/* One after another, from the first look to the merge. */
static const char *const faults[][6] = {
	{ "\"path\":\"/pulls\",\"times\":2,\"status\":500",
	    "\"method\":\"POST\",\"path\":\"/pulls\",\"lost\":true",
	    "\"path\":\"/pulls/1\",\"garbage\":true",
	    "\"path\":\"/status\",\"status\":502",
	    "\"method\":\"PUT\",\"path\":\"/merge\",\"lost\":true" },
	{ "\"path\":\"/pulls\",\"status\":403,\"retry_after\":20",
	    "\"path\":\"/status\",\"status\":502",
	    "\"method\":\"POST\",\"path\":\"/merge\",\"status\":409",
	    "\"method\":\"POST\",\"path\":\"/merge\",\"lost\":true" },
};

TEST_ROWS(a_pull_request_is_made_in_spite_of_faults, nitems(faults))
{
	begin(dialects[_i]);
	auto_set("forge.merge", "when-green");
	ci("", "");
	for (size_t i = 0; faults[_i][i] != NULL; i++)
		forge_tell("fault", "{%s}", faults[_i][i]);
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt ");
}

/* --- kills -------------------------------------------------------- */

/* A request whose answer the daemon does not live to see: it is done. */
static const struct {
	const char *method, *path;
} requests[] = {
	{ "GET", "/work/pulls" },
	{ "POST", "/work/pulls" },
	{ "GET", "/pulls/1" },
	{ "GET", "/check-runs" },
	{ "GET", "/logs" },
	{ "PUT", "/pulls/1/merge" },
};

TEST(a_daemon_killed_at_each_request_makes_one_pull_request)
{
	begin("github");
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	auto_set("forge.merge", "when-green");
	ci("two.txt", "fake: commit two.txt x");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	for (size_t i = 0; i < nitems(requests); i++) {
		int before = forge_count(requests[i].method, requests[i].path);

		forge_tell("fault",
		    "{\"method\":\"%s\",\"path\":\"%s\",\"slow\":60000}",
		    requests[i].method, requests[i].path);
		auto_up(NULL);
		forge_wait(requests[i].method, requests[i].path, before + 1);
		auto_kill9_daemon();
	}
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt two.txt ");
	ck_assert_int_eq(forge_count("POST", "/work/pulls"), 1);
}

/* The same for the push of its branch, the push of a correction and its
 * removal: origin has it, and nobody knows. */
TEST(a_daemon_killed_at_each_push_makes_one_pull_request)
{
	/* The zeroes are of what is made, or removed. */
	static const char *const moves[] = { "00000000*)",
		"00000000*|*' 00000000'*) ;; *)", "*' 00000000'*)" };
	const char *hook;

	begin("gitea");
	hook = e2e_path("%s/../origin.git/hooks/post-receive", fleet_root());
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	auto_set("forge.merge", "when-green");
	ci("two.txt", "fake: commit two.txt x");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	for (size_t i = 0; i < nitems(moves); i++) {
		const char *gate = e2e_path("push-%zu", i);

		e2e_script(hook,
		    e2e_path("#!/bin/sh\nread old new ref\n"
			     "case \"$old $new\" in %s %s;; esac\n",
			moves[i], auto_gate(gate)));
		auto_up(NULL);
		auto_wait_gate(gate);
		auto_kill9_daemon();
		unlink(hook);
		auto_open_gate(gate);
	}
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt two.txt ");
}

/* The daemon is killed each time when this was said, and another one goes on.
 */
TEST(a_daemon_killed_meanwhile_makes_one_pull_request)
{
	static const struct {
		const char *event, *words;
	} moments[] = {
		{ "landing_queued", NULL },
		{ "pull_request", "is to become a pull request" },
		{ "pull_request", "its worker has a turn for it" },
		{ "pull_request", "new work is to be pushed" },
		{ "pull_request", "was merged" },
	};

	begin("gitea");
	auto_set("forge.merge", "when-green");
	ci("two.txt", "fake: commit two.txt x");
	auto_task("a.md", "Make one\n\nfake: commit one.txt x\n");
	for (size_t i = 0; i < nitems(moments); i++) {
		auto_up(NULL);
		auto_wait_event(moments[i].event, moments[i].words);
		auto_kill9_daemon();
	}
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	check_merged("one.txt two.txt ");
}
