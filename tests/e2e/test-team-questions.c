/* SPDX-License-Identifier: ISC */

/* Questions of agents that work for nobody else: a person answers, and the
 * answer is the result of the tool. */
#include "teamrun.h"
#include "toprun.h"

#define ASK                                                     \
	"fake: tool request_orchestrator {\"message\":\"Which " \
	"colour?\",\"options\":[\"red\",\"blue\"],"             \
	"\"timeoutSeconds\":3600}\n"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_ails("");
	auto_task("a.md",
	    "Paint it.\n" ASK "fake: keep %s\nfake: commit a.txt a",
	    team_kept("answer"));
}

/* Every message to people is a line of this file. */
static const char *
channel(void)
{
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());
	const char *file = e2e_path("%s/told", unit_scratch());

	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\ntype = \"command\"\n"
		     "command = \"cat >>'%s'\"\n",
		e2e_read(config), file));
	return file;
}

static const char *
question_in(const char *text)
{
	const char *id = strstr(text, "llmc answer R_");

	ck_assert_msg(id != NULL, "no question in: %s", e2e_shown(text));
	id = strstr(id, "R_");
	return e2e_path("%.*s", (int)strcspn(id, " "), id);
}

static struct json_object *
asks(void)
{
	return e2e_json(fleet_do("--json", "asks", NULL), 0);
}

/* Of the only open ask. */
static const char *
question_id(void)
{
	struct json_object *list = asks();

	ck_assert_uint_eq(json_object_array_length(list), 1);
	ck_assert_str_eq(auto_member(list, "0.kind"), "question");
	ck_assert_str_eq(auto_member(list, "0.options.1"), "blue");
	return e2e_path("%s", auto_member(list, "0.question"));
}

static void
wait_blocked(void)
{
	auto_wait_shell("\"$LLMC\" --json goal tree | grep -q "
			"'\"pendingRequestCount\": *1'");
	e2e_has(fleet_do("--json", "goal", "tree", NULL)->out,
	    "waits for an answer of actor:system:person\"");
	/* What it asks is for the person alone: agents read these, too. */
	e2e_lacks(
	    fleet_do("--json", "goal", "tree", NULL)->out, "Which colour?");
	e2e_lacks(fleet_do("--json", "log", NULL)->out, "Which colour?");
	fleet_do("goal", "tree", NULL);
	e2e_has(fleet_do("why", "t1", NULL)->out,
	    "waits for an answer; see: llmc asks");
	e2e_lacks(fleet_do("--json", "why", "t1", NULL)->out, "Which colour?");
}

/* The answer is the tool's, and not typed into the session. */
static void
landed_with(const char *answer)
{
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: a", NULL);
	e2e_has(team_read("answer"), answer);
	e2e_has(team_read("answer"), "resolved");
	ck_assert_int_eq(fleet_prompts(""), 1);
	ck_assert_int_eq(auto_events("request", NULL), 1);
}

const int unit_timeout = 300; /* seconds, each */

TEST(the_command_in_the_message_answers_the_tool)
{
	const char *file = channel(), *id;
	struct json_object *list;

	auto_up(NULL);
	auto_wait_shell(e2e_path("grep -q 'answer R_' '%s'", file));
	wait_blocked();
	id = question_in(e2e_read(file));
	fleet_fails("there is no option 3, only 2", "answer", id, "3", NULL);
	e2e_has(fleet_do("answer", id, "2", NULL)->out,
	    e2e_path("%s is answered: blue", id));
	landed_with("blue");
	fleet_fails("was answered already", "answer", id, "1", NULL);
	/* It was told once, and not as mail too. */
	ck_assert_str_eq(
	    e2e_sh(NULL, e2e_path("grep -c R_ '%s'", file))->out, "1\n");
	list = e2e_json(fleet_do("--json", "asks", "--all", NULL), 0);
	ck_assert_str_eq(auto_member(list, "0.answer"), "blue");
	ck_assert_str_eq(auto_member(list, "0.how"), "answered");
}

TEST(the_id_of_the_ask_answers_it_too)
{
	auto_up(NULL);
	wait_blocked();
	e2e_has(fleet_do("asks", NULL)->out, "llmc answer a1 TEXT");
	fleet_do("answer", "a1", "as", "you", "like", NULL);
	landed_with("as you like");
}

/* No channel: it is seen where people look, whatever they read before. */
TEST(a_question_is_shown_until_it_is_answered)
{
	struct json_object *status;
	const char *id;

	auto_up(NULL);
	wait_blocked();
	e2e_has(fleet_do("mail", "inbox", NULL)->out, "request:R_");
	e2e_has(fleet_do("mail", "inbox", NULL)->out, "request:R_");
	id = question_id();
	e2e_has(fleet_do("status", NULL)->out, "auto-1 asks: Which colour?");
	e2e_lacks(fleet_do("status", NULL)->out, "Nothing needs you");
	status = e2e_json(fleet_do("--json", "status", NULL), 0);
	ck_assert_str_eq(
	    auto_member(status, "auto_workers.0.status"), "waiting");
	ck_assert_str_eq(auto_member(status, "auto_workers.0.question"), id);
	ck_assert_str_eq(auto_member(status, "needs.0.what"), "question");
	e2e_has(fleet_do("status", NULL)->out, "waiting for you");
	e2e_has(fleet_do("asks", NULL)->out, "Which colour? 1. red, 2. blue");
	e2e_has(fleet_do("log", NULL)->out, "auto-1 asks a person (R_");
	/* In numbers, too. */
	e2e_has(fleet_do("report", "metrics", NULL)->out,
	    "llmc_workers{mode=\"auto\",status=\"waiting\"} 1\n");
	auto_wait_shell("\"$LLMC\" report | grep -q 'waiting for a person'");
	/* Where a person sees it. */
	ck_assert_str_eq(auto_member(asks(), "0.told_by"), "");
	top_shell(120, 30);
	top_keys("'\"$LLMC\" asks' Enter");
	top_wait("Which colour?");
	top_end();
	auto_wait_shell(
	    "\"$LLMC\" --json asks | grep -q '\"told_by\": *\"seen\"'");
	/* The earlier names. */
	e2e_has(fleet_do("asks", NULL)->out, "Which colour?");
	e2e_has(fleet_do("report", NULL)->out, "auto-1 asks: Which colour?");
	e2e_has(fleet_do("doctor", NULL)->out, "auto-1 asks: Which colour?");
	fleet_do("answer", id, "blue", NULL);
	landed_with("blue");
	e2e_lacks(fleet_do("status", NULL)->out, "Which colour?");
	e2e_has(fleet_do("status", NULL)->out, "Nothing needs you");
	e2e_has(fleet_do("asks", NULL)->out, "Nothing is asked of you");
}

/* No channel, and no daemon when it is answered. */
TEST(an_answer_that_is_given_without_a_daemon_arrives)
{
	struct json_object *answer;
	const char *id;

	auto_up(NULL);
	wait_blocked();
	id = e2e_sh(fleet_root(),
	    "\"$LLMC\" log | grep -o 'R_[0-9A-Za-z]*' | head -n 1 | "
	    "tr -d '\\n'")
		 ->out;
	auto_kill9_daemon();
	answer = e2e_json(fleet_do("--json", "answer", id, "RED", NULL), 0);
	ck_assert_str_eq(auto_member(answer, "status"), "answered");
	fleet_fails("was answered already", "answer", id, "blue", NULL);
	auto_up(NULL);
	landed_with("red");
}

TEST(a_question_is_there_after_a_restart)
{
	const char *id;

	auto_up(NULL);
	wait_blocked();
	id = question_id();
	auto_kill9_daemon();
	auto_up(NULL);
	wait_blocked();
	ck_assert_str_eq(question_id(), id);
	fleet_do("answer", id, "blue", NULL);
	landed_with("blue");
}

/* The task goes on in the conversation in which it asked; what its worker did
 * meanwhile was said in another one. */
static void
goes_on_in_its_conversation(void)
{
	const char *file;

	fleet_wait_written("auto-1", "The answer is:");
	file = e2e_read(e2e_path(
	    "%s", auto_member(auto_state(), "workers.auto-1.transcript")));
	ck_assert_ptr_nonnull(strstr(file, "Paint it."));
	ck_assert_ptr_null(strstr(file, "b.txt"));
	e2e_has(e2e_sh(fleet_root(),
		    "grep -c '\"resume\":\"yes\"' .llmc/logs/autod.log")
		    ->out,
	    "1");
}

/* The worker does other work meanwhile, and the answer is not lost. */
TEST(a_worker_does_not_wait_for_long)
{
	static const char *const steps[] = { "assigned", "parked" };
	bool has_sqlite =
	    e2e_sh(fleet_root(), "command -v sqlite3")->status == 0;
	struct json_object *list;

	auto_tune("answer_wait=1000");
	auto_task("b.md", "fake: commit b.txt b");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	list = asks();
	ck_assert_uint_eq(json_object_array_length(list), 1);
	ck_assert_str_eq(auto_member(list, "0.id"), "a1");
	ck_assert_str_eq(auto_member(list, "0.kind"), "question");
	ck_assert_str_eq(auto_member(list, "0.key"), "task/t1");
	ck_assert_str_eq(auto_member(list, "0.options.1"), "blue");
	e2e_has(fleet_do("status", NULL)->out, "asks: Which colour?");
	auto_kill9_daemon();
	/* Not without a daemon, nor one that has not parked it yet; it stays
	 * open, and is answered then. */
	for (size_t i = 0; i < nitems(steps); i++) {
		if (has_sqlite)
			e2e_expect(
			    e2e_sh(fleet_root(),
				e2e_path("sqlite3 .llmc/llmc.db \"UPDATE "
					 "task SET step = '%s'\"",
				    steps[i])),
			    0, NULL);
		e2e_json_error(e2e_llmc(fleet_root(), "--json", "answer", "a1",
				   "blue", NULL),
		    1, "no_daemon", "start it with: llmc up --auto");
	}
	ck_assert_str_eq(auto_member(asks(), "0.answer"), "");
	auto_tune("answer_wait=3600000");
	auto_up(NULL);
	e2e_lacks(fleet_do("--json", "log", NULL)->out, "Which colour?");
	fleet_do("answer", "a1", "blue", NULL);
	/* This one asks whatever it is told. */
	auto_wait_shell("\"$LLMC\" --json goal tree | grep -q "
			"'\"pendingRequestCount\": *1'");
	ck_assert_int_eq(fleet_prompts("Which colour?\n\nThe answer is:"), 1);
	goes_on_in_its_conversation();
	fleet_do("answer", "a2", "blue", NULL);
	auto_wait_finished("landed", 2);
	auto_drain();
	auto_history("b.txt: b", "a.txt: a", NULL);
}
