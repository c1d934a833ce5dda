/* SPDX-License-Identifier: ISC */

/* Workers with the real Codex, on a stub of its API; the kind claude is the
 * fake agent. */
#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

static const char *url; /* of the stub */

static void
begin_auto(void)
{
	url = fleet_begin_codex();
}

static void
begin(void)
{
	fleet_begin_codex();
	fleet_up();
}

static const char *
reason(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *words =
	    e2e_path("%s", json_string_or(record, "reason", ""));

	json_object_put(record);
	return words;
}

START_TEST(three_tasks_in_a_row_are_three_conversations)
{
	auto_task("a", "fake: commit a.txt x");
	auto_task("b", "fake: commit b.txt x");
	auto_task("c", "fake: commit c.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 4);
}
END_TEST

/* Each worker has its own kind, and a task may ask for another one. */
START_TEST(two_kinds_land_together)
{
	e2e_set(fleet_root(), "defaults.agent", "claude");
	e2e_set(fleet_root(), "workers.eve.agent", "codex");
	fleet_up();
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_start("eve", "fake: commit b.txt x");
	fleet_wait("adam", "needs_review");
	fleet_wait("eve", "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_do("accept", "eve", NULL);
	ck_assert_int_eq(fleet_commits(), 3);
}
END_TEST

START_TEST(a_task_names_its_kind)
{
	e2e_set(fleet_root(), "defaults.agent", "claude");
	auto_task("a", "Agent: codex\n\nfake: commit a.txt x");
	auto_task("b", "fake: commit b.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 3);
	e2e_has(e2e_read(fleet_prompt_log()), "/v1/responses");
}
END_TEST

START_TEST(a_sandbox_holds_it)
{
	fleet_box("worktree");
	/* Its other programs are beside its folder. */
	e2e_set(fleet_root(), "defaults.sandbox_read",
	    e2e_path("[\"%.*s\"]",
		(int)(strstr(fleet_real_codex(), "/bin/codex") -
		    fleet_real_codex()),
		fleet_real_codex()));
	e2e_set(fleet_root(), "defaults.extra_args",
	    e2e_path("[\"-c\", \"model_provider=stub\", \"-c\", "
		     "\"model_providers.stub={name=\\\"stub\\\","
		     "base_url=\\\"%s/v1\\\",env_key=\\\"OPENAI_API_KEY\\\","
		     "wire_api=\\\"responses\\\",supports_websockets=false}\"]",
		url));
	fleet_up();
	fleet_add("adam");
	fleet_start(
	    "adam", "fake: run touch ../../escaped\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	ck_assert(!e2e_exists(e2e_path("%s/escaped", fleet_root())));
}
END_TEST

START_TEST(what_it_cannot_do_is_refused)
{
	e2e_set(fleet_root(), "defaults.permission_mode", "plan");
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused,error");
	e2e_has(reason("adam"), "codex has no permission_mode");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	if (fleet_real_codex() == NULL || !e2e_exists(fleet_real_codex()))
		unit_skip_all("the real Codex is not here: "
			      "LLMC_REAL_CODEX=$(tests/tools/real-codex.sh "
			      "FOLDER) has it");
	s = suite_create("codex-real");
	scenarios_add_test(
	    s, begin_auto, three_tasks_in_a_row_are_three_conversations);
	scenarios_add_test(s, begin_auto, two_kinds_land_together);
	scenarios_add_test(s, begin_auto, a_task_names_its_kind);
	scenarios_add_test(s, begin_auto, a_sandbox_holds_it);
	scenarios_add_test(s, begin, what_it_cannot_do_is_refused);
	scenarios_add(s, begin);
	return s;
}
