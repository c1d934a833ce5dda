/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "fleet.h"
#include "scenarios.h"

#define TIMEOUT_S 120
#define MINUTE_MS 60000

#define ATTRIBUTION "Co-Authored-By: Claude <noreply@anthropic.com>"

static void
press_escape(const char *worker)
{
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
			 "send-keys -t '=llmc-%s:' Escape",
		    worker)),
	    0, NULL);
}

/* How often the daemon has written a line with these words. */
static int
logged(const char *words)
{
	const char *log =
	    e2e_read(e2e_path("%s/.llmc/logs/autod.log", fleet_root()));
	int count = 0;

	while ((log = strstr(log, words)) != NULL) {
		count++;
		log += strlen(words);
	}
	return count;
}

START_TEST(a_task_lands_as_one_commit_without_attribution)
{
	fleet_add("adam");
	fleet_start("adam",
	    "fake: commit hello.txt hi\n"
	    "fake: run echo yes >again.txt && git add again.txt && git commit "
	    "-q -m 'Say it again' -m '" ATTRIBUTION "'");
	fleet_wait("adam", "needs_review");
	e2e_has(e2e_git(fleet_worktree("adam"), "log", NULL), ATTRIBUTION);
	ck_assert_int_eq(fleet_commits(), 1);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	ck_assert_int_eq(fleet_commits(), 2);
	e2e_lacks(e2e_git(fleet_root(), "log", "main", NULL), "Co-Authored-By");
	/* The checkout was updated, and is clean. */
	e2e_has(e2e_read(e2e_path("%s/hello.txt", fleet_root())), "hi");
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "status", "--porcelain", NULL), "");
	ck_assert_int_eq(fleet_prompts("fake: commit hello.txt"), 1);
}
END_TEST

static const char *
long_text(int lines, int width)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < lines; i++)
		buf_addf(&text, "%sline %03d of a long prompt,%*s and its end",
		    i > 0 ? "\n" : "", i, width, "");
	return e2e_path("%s", text.data);
}

/* One task after the other, each in a new conversation of one process. */
START_TEST(every_prompt_arrives_whole)
{
	const char *const texts[] = { "please greet me", long_text(50, 1),
		long_text(256, 41),
		"/clear is a word of this task, not a command",
		"!touch bang.txt",
		"gr\u00fc\u00df Gott, \u4f60\u597d, "
		"\U0001f98a na\u00efve \"q\" $(x) #{y} %s" };
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	for (size_t i = 0; i < nitems(texts); i++) {
		const char *task =
		    e2e_path("%s\nfake: commit %zu.txt x", texts[i], i);

		fleet_start("adam", task);
		fleet_wait("adam", "needs_review");
		ck_assert_int_eq(fleet_prompts(task), 1);
		fleet_do("accept", "adam", NULL);
		fleet_wait("adam", "idle");
		ck_assert_int_eq(fleet_commits(), (int)i + 2);
		ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	}
	ck_assert(!e2e_exists(e2e_path("%s/bang.txt", fleet_root())));
}
END_TEST

START_TEST(a_message_is_text_whatever_it_begins_with)
{
	static const char *const texts[] = { "!touch bang.txt",
		"/clear the table", "exit" };

	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	for (size_t i = 0; i < nitems(texts); i++) {
		fleet_do("message", "adam", texts[i], NULL);
		fleet_wait_prompt(texts[i]);
		fleet_wait("adam", "needs_review");
	}
	ck_assert(!e2e_exists(e2e_path("%s/bang.txt", fleet_worktree("adam"))));
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 1);
}
END_TEST

START_TEST(leftovers_are_sent_back_then_committed)
{
	fleet_add("adam");
	fleet_start("adam", "fake: write left.txt over");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(logged("sent back at the end of its turn"), 2);
	ck_assert_str_eq(
	    e2e_git(fleet_worktree("adam"), "status", "--porcelain", NULL), "");
	e2e_has(
	    e2e_read(e2e_path("%s/left.txt", fleet_worktree("adam"))), "over");
}
END_TEST

START_TEST(a_killed_agent_goes_on)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam", "fake: sleep 60000");
	fleet_wait("adam", "working");
	fleet_wait_prompt("fake: sleep");
	fleet_wait_written("adam", "fake: sleep");
	agent = fleet_agent_pid("adam");
	fleet_kill(agent);
	fleet_wait("adam", "no_changes,needs_review");
	ck_assert_int_ne(fleet_agent_pid("adam"), agent);
	ck_assert_int_eq(logged("\"resume\":\"yes\""), 1);
	/* Told to continue once; the task itself was not given twice. */
	ck_assert_int_eq(fleet_prompts("fake: sleep"), 1);
	ck_assert_int_eq(fleet_prompts("has been resumed"), 1);
}
END_TEST

/* Hangs the first time, and does its work the second time. */
static const char second_time[] =
    "fake: run [ -e \"$FLEET/seen\" ] || { touch \"$FLEET/seen\"; "
    "tail --pid=$CLAUDE_PID -f /dev/null; }\n"
    "fake: commit second.txt x";

bool scenarios_kept_elsewhere;

/* Kill the agent in its turn, while no daemon notices, and change the file of
 * its conversation. */
static void
interrupt(const char *damage)
{
	struct json_object *worker;
	const char *file;

	if (scenarios_kept_elsewhere)
		unit_skip("its conversations are in a database of its own, and "
			  "its shell has no CLAUDE_PID, for which the first "
			  "turn waits");
	fleet_add("adam");
	fleet_start("adam", second_time);
	fleet_wait("adam", "working");
	fleet_wait_written("adam", "second.txt");
	e2e_sh(fleet_root(),
	    e2e_path("until [ -e '%s/seen' ]; do :; done", unit_scratch()));
	fleet_kill(fleet_daemon_pid());
	fleet_kill(fleet_agent_pid("adam"));
	worker = fleet_worker("adam");
	file = e2e_path("%s", json_string_or(worker, "transcript", ""));
	json_object_put(worker);
	e2e_expect(
	    e2e_sh(fleet_root(), e2e_path("%s '%s'", damage, file)), 0, NULL);
	fleet_up();
}

START_TEST(a_lost_conversation_is_given_the_task_again)
{
	interrupt("rm");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(logged("\"resume\":\"yes\""), 0);
	ck_assert_int_eq(fleet_prompts("second.txt"), 2);
	ck_assert_int_eq(fleet_prompts("what was said in it is lost"), 1);
}
END_TEST

START_TEST(a_conversation_that_cannot_be_resumed_begins_anew)
{
	interrupt("echo '{}' >");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(logged("its conversation cannot be resumed"), 1);
	ck_assert_int_eq(fleet_prompts("second.txt"), 2);
}
END_TEST

START_TEST(a_killed_daemon_adopts_what_runs)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam", "fake: sleep 1500\nfake: commit late.txt x");
	fleet_wait("adam", "working");
	agent = fleet_agent_pid("adam");
	fleet_kill(fleet_daemon_pid());
	fleet_up();
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	ck_assert_int_eq(fleet_prompts("late.txt"), 1);
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/late.txt", fleet_root())), "x");
}
END_TEST

/* Answers of the API, and what happens to the worker. */
static const struct failure {
	const char *step;
	const char *status;
	const char *words; /* in the reason */
	int64_t wait_ms; /* at least, and at most 20 times that */
} failures[] = {
	{ "limit You've hit your limit", "limited", "hit your limit",
	    5 * MINUTE_MS },
	{ "fail 500", "limited", "500", MINUTE_MS / 2 },
	{ "fail 529", "limited", "Overloaded", MINUTE_MS / 2 },
	{ "fail 401", "paused", "or just wait", 3 * MINUTE_MS },
	{ "fail 403", "paused", "or just wait", 3 * MINUTE_MS },
};

static void
check_failure(const struct failure *failure)
{
	struct json_object *worker = fleet_worker("adam");
	int64_t wait = json_int_or(worker, "until_ms", 0) - clock_wall_ms();

	/* Other kinds of agents have words of their own. */
	if (strcmp(e2e_setting(fleet_root(), "defaults.agent"), "claude") == 0)
		e2e_has(json_string_or(worker, "reason", ""), failure->words);
	ck_assert_int_gt(wait, failure->wait_ms / 2);
	ck_assert_int_lt(wait, failure->wait_ms * 20);
	json_object_put(worker);
}

START_TEST(failures_of_the_api_are_told_apart)
{
	fleet_add("adam");
	for (size_t i = 0; i < nitems(failures); i++) {
		fleet_start("adam", e2e_path("fake: %s", failures[i].step));
		fleet_wait("adam", "limited,paused,error,needs_review");
		ck_assert_str_eq(fleet_status("adam"), failures[i].status);
		check_failure(&failures[i]);
		e2e_has(fleet_do("status", NULL)->out, failures[i].status);
		fleet_do("reset", "adam", "--yes", NULL);
		fleet_wait("adam", "idle");
	}
}
END_TEST

const char *
scenarios_need(const char *title, const char *name)
{
	cleanup_free char *variable = xasprintf("LLMC_REAL_%s", name);
	const char *agent;

	for (char *p = variable; *p != '\0'; p++)
		*p = (char)toupper((unsigned char)*p);
	agent = getenv(variable);
	if (agent == NULL || !e2e_exists(agent))
		unit_skip_all(
		    e2e_path("the real %s is not here: "
			     "%s=$(tests/tools/real-agent.sh %s FOLDER) has it",
			title, variable, name));
	return e2e_path("%s", agent);
}

void
scenarios_real(void)
{
	scenarios_need("Claude Code", "claude");
}

void
scenarios_add_test(Suite *suite, SFun begin, const TTest *test)
{
	TCase *tc;

	if (!unit_is_mine())
		return;
	tc = tcase_create(test->name);
	tcase_set_tags(tc, test->name);
	unit_set_timeout(tc, TIMEOUT_S * fleet_patience);
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

static bool without_ours;

void
scenarios_of_agent(void)
{
	without_ours = getenv("UNIT_WHOLE") == NULL;
}

void
scenarios_add_ours(Suite *suite, SFun begin, const TTest *test)
{
	if (!without_ours)
		scenarios_add_test(suite, begin, test);
}

/* No hook tells of it, only the transcript. */
START_TEST(escape_in_its_session_pauses_a_worker)
{
	struct json_object *worker;

	fleet_add("adam");
	fleet_start("adam",
	    e2e_path("fake: run touch '%s/here'\nfake: sleep 60000",
		unit_scratch()));
	while (!e2e_exists(e2e_path("%s/here", unit_scratch())))
		poll(NULL, 0, 50); /* for another program */
	press_escape("adam");
	fleet_wait("adam", "paused");
	worker = fleet_worker("adam");
	e2e_has(json_string_or(worker, "reason", ""), "llmc resume adam");
	json_object_put(worker);
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
}
END_TEST

void
scenarios_add(Suite *suite, SFun begin)
{
	const TTest *const all[] = { every_prompt_arrives_whole,
		a_message_is_text_whatever_it_begins_with,
		a_killed_agent_goes_on,
		a_lost_conversation_is_given_the_task_again,
		a_conversation_that_cannot_be_resumed_begins_anew,
		a_killed_daemon_adopts_what_runs,
		escape_in_its_session_pauses_a_worker,
		failures_of_the_api_are_told_apart };

	scenarios_add_ours(
	    suite, begin, a_task_lands_as_one_commit_without_attribution);
	scenarios_add_ours(
	    suite, begin, leftovers_are_sent_back_then_committed);
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(suite, begin, all[i]);
}
