/* SPDX-License-Identifier: ISC */

/* The real Claude Code in a sandbox, on a stub of its API, from a home that has
 * never seen it: no `llmc doctor trust`. */
#include "fleet.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	e2e_need_boxes("");
	fleet_do("config", "set", "defaults.sandbox", "worktree", NULL);
	e2e_write(e2e_path("%s/home/secret", unit_scratch()), "private\n");
	fleet_up();
}

static const char *
transcript(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *path =
	    e2e_path("%s", json_string_or(record, "transcript", ""));

	json_object_put(record);
	return path;
}

static const char *
seen(const char *name)
{
	return e2e_read(e2e_path("%s/%s", fleet_worktree("adam"), name));
}

START_TEST(it_works_from_a_home_that_has_never_seen_it)
{
	fleet_add("adam");
	fleet_start("adam",
	    e2e_path("fake: run { cat ~/secret; ls '%s'; ls /tmp; env; } "
		     ">seen.txt 2>&1\nfake: write written.txt here",
		fleet_root()));
	fleet_wait("adam", "needs_review,no_changes");
	e2e_has(seen("written.txt"), "here");
	e2e_lacks(seen("seen.txt"), "private");
	e2e_lacks(seen("seen.txt"), "README");
	e2e_lacks(seen("seen.txt"), "TMUX");
	e2e_has(transcript("adam"), "/.llmc/box/adam/claude/projects/");
	ck_assert(e2e_exists(transcript("adam")));
	/* Its user's own folder is not even made. */
	ck_assert(
	    !e2e_exists(e2e_path("%s/home/.claude/projects", unit_scratch())));
}
END_TEST

START_TEST(it_resumes_its_conversation)
{
	const char *before;
	int pid;

	fleet_add("adam");
	fleet_start("adam", "fake: run echo 1 >one.txt");
	fleet_wait("adam", "needs_review,no_changes");
	before = transcript("adam");
	pid = fleet_agent_pid("adam");
	fleet_kill(pid);
	fleet_next_agent_pid("adam", pid);
	fleet_do("message", "adam", "fake: run echo 2 >two.txt", NULL);
	fleet_wait_prompt("two.txt");
	fleet_wait("adam", "needs_review,no_changes");
	e2e_has(seen("two.txt"), "2");
	ck_assert_str_eq(transcript("adam"), before);
}
END_TEST

/* A new task begins with /clear. */
START_TEST(it_begins_a_new_conversation)
{
	const char *before;

	fleet_add("adam");
	fleet_start("adam", "fake: run echo 1 >one.txt");
	fleet_wait("adam", "needs_review,no_changes");
	before = transcript("adam");
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: run echo 2 >two.txt");
	fleet_wait("adam", "needs_review,no_changes");
	e2e_has(seen("two.txt"), "2");
	ck_assert_str_ne(transcript("adam"), before);
	e2e_has(transcript("adam"), "/.llmc/box/adam/claude/projects/");
}
END_TEST

/* The login of a person, in a file; it is the file itself that is seen inside.
 */
START_TEST(it_uses_the_login_of_its_user)
{
	const char *file =
	    e2e_path("%s/home/.claude/.credentials.json", unit_scratch());
	const char *text =
	    "{\"claudeAiOauth\":{\"accessToken\":\"sk-ant-oat01-test\","
	    "\"refreshToken\":\"sk-ant-ort01-test\",\"expiresAt\":"
	    "4102444800000,\"scopes\":[\"user:inference\","
	    "\"user:profile\"],\"subscriptionType\":\"max\"}}";

	fleet_do("down", NULL);
	e2e_env("ANTHROPIC_API_KEY");
	e2e_dir("home/.claude");
	e2e_write(file, text);
	fleet_up();
	fleet_add("adam");
	fleet_start("adam",
	    "fake: run cat \"$CLAUDE_CONFIG_DIR/.credentials.json\" "
	    ">login.txt; echo >>\"$CLAUDE_CONFIG_DIR/.credentials.json\"");
	fleet_wait("adam", "needs_review,no_changes");
	ck_assert_str_eq(seen("login.txt"), text);
	ck_assert_str_eq(e2e_read(file), e2e_path("%s\n", text));
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("sandbox-real");
	scenarios_add_test(
	    s, begin, it_works_from_a_home_that_has_never_seen_it);
	scenarios_add_test(s, begin, it_resumes_its_conversation);
	scenarios_add_test(s, begin, it_uses_the_login_of_its_user);
	scenarios_add_test(s, begin, it_begins_a_new_conversation);
	return s;
}
