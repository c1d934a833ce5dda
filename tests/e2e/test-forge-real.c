/* SPDX-License-Identifier: ISC */

/* From an issue to a merged pull request, with the real Claude Code on a stub
 * of its API: its checks are red, and a person wants more. */
#include "forgerun.h"
#include "scenarios.h"

static void
begin(void)
{
	/* Set by the tests' own helpers, for speed. */
	forge_begin_real("github");
	fleet_do("config", "unset", "daemon.patrol_interval", NULL);
	forge_protect();
	auto_set("auto.source", "github");
	auto_set("forge.merge", "when-green");
}

static const char *
origin(const char *command)
{
	return e2e_sh(
	    fleet_root(), e2e_path("git -C ../origin.git %s", command))
	    ->out;
}

START_TEST(an_issue_becomes_a_merged_pull_request)
{
	cleanup_buf struct buf said = BUF_INIT;
	struct json_object *state;

	/* The worker is at the red check while the person writes. */
	forge_tell("ci",
	    "{\"name\":\"unit\",\"needs\":\"two.txt\",\"log\":"
	    "\"fake: run %s\\nfake: commit two.txt x\"}",
	    auto_gate("red"));
	forge_tell("issue",
	    "{\"title\":\"Make one\",\"body\":\"fake: commit one.txt x\","
	    "\"user\":\"ann\",\"labels\":[\"llmc\"],\"by\":\"ann\"}");
	auto_launch("--until-empty", NULL);
	auto_wait_event("pull_request", "is open");
	auto_wait_gate("red");
	forge_tell("say",
	    "{\"number\":2,\"user\":\"eve\","
	    "\"body\":\"fake: commit eve.txt x\"}");
	forge_tell("review",
	    "{\"number\":2,\"user\":\"ann\",\"state\":\"COMMENTED\","
	    "\"body\":\"\",\"comments\":[{\"path\":\"one.txt\",\"line\":1,"
	    "\"body\":\"fake: commit three.txt x\"}]}");
	auto_open_gate("red");
	auto_wait_events("pull_request", "new work is to be pushed", 1);
	auto_wait_events("pull_request", "new work is to be pushed", 2);
	auto_wait_finished("landed", 1);
	ck_assert_int_eq(auto_wait_exit(), 0);
	state = forge_look("state");
	ck_assert_str_eq(auto_member(state, "pulls.0.merged"), "true");
	ck_assert_str_eq(auto_member(state, "issues.0.state"), "closed");
	ck_assert_str_eq(origin("rev-list --count main~1..main"), "1\n");
	ck_assert_str_eq(origin("diff --name-only main~1 main | tr '\\n' ' '"),
	    "one.txt three.txt two.txt ");
	ck_assert_str_eq(origin("for-each-ref refs/heads/llmc"), "");
	ck_assert_str_eq(e2e_git(fleet_root(), "rev-parse", "main", NULL),
	    origin("rev-parse main"));
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_int_eq(auto_finished(NULL), 1);
	ck_assert_int_ge(fleet_prompts("about one.txt, line 1"), 1);
	ck_assert_int_eq(fleet_prompts("eve.txt"), 0);
	/* One answer on the pull request, one comment on the issue. */
	for (int i = 0; i < 4; i++)
		buf_adds(
		    &said, auto_member(state, e2e_path("comments.%d.body", i)));
	ck_assert_msg(strstr(said.data, " round ") != NULL &&
		strstr(said.data, "<!-- llmc issue 1 -->") != NULL &&
		strstr(said.data, "Done (task t1), in commit ") != NULL,
	    "%s", said.data);
	ck_assert_int_eq(forge_count("POST", "/comments"), 2);
	ck_assert_int_eq(forge_count("POST", "/work/pulls"), 1);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;
	TCase *tc;

	scenarios_real();
	s = suite_create("forge-real");
	tc = tcase_create("forge");
	unit_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_test(tc, an_issue_becomes_a_merged_pull_request);
	suite_add_tcase(s, tc);
	return s;
}
