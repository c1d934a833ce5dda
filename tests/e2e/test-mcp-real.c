/* SPDX-License-Identifier: ISC */

/* The real Claude Code uses the tools of llmc mcp, on a stub of its API. */
#include "fleet.h"
#include "scenarios.h"

#define ABSENT "No such tool available"
#define ASKS   "mcp__llmc__request_orchestrator"
#define INBOX  "mcp__llmc__mail_inbox"
#define SEARCH "fake: tool ToolSearch {\"max_results\":5,\"query\":\""
#define WORK(id, file)                                                \
	SEARCH "read mail inbox\"}\n"                                 \
	       "fake: tool mail_inbox {\"id\":\"" id "\"}\n" SEARCH   \
	       "reserve files\"}\n"                                   \
	       "fake: tool mail_reserve {\"paths\":[\"" file "\"]}\n" \
	       "fake: commit " file " x"
#define FOUND(tool) "\"tool_name\":\"mcp__llmc__" tool "\""

static void
begin_first(void)
{
	fleet_begin_real();
	fleet_do("config", "set", "plan.enabled", "true", NULL);
}

static void
begin(void)
{
	begin_first();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_up();
}

/* From a home that has never seen it. */
static void
begin_boxed(void)
{
	begin_first();
	e2e_need_boxes("");
	fleet_do("config", "set", "defaults.sandbox", "worktree", NULL);
	fleet_up();
}

/* The conversation is too long for a message. */
static void
lacks(const char *worker, const char *words)
{
	const char *text = fleet_conversation(worker),
		   *at = strstr(text, words);

	ck_assert_msg(at == NULL, "%s: %.300s", worker,
	    at == NULL ? "" : e2e_shown(at - text > 200 ? at - 200 : text));
}

/* Two tasks, one after the other. */
static void
work_twice(void)
{
	fleet_add("adam");
	fleet_start("adam", WORK("first", "a.txt"));
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_conversation("adam"), "\"name\":\"" INBOX "\"");
	lacks("adam", ABSENT);
	lacks("adam", "MCP error");
	/* What it seldom needs waits behind a search that finds it. */
	e2e_has(fleet_conversation("adam"), FOUND("mail_inbox"));
	e2e_has(fleet_conversation("adam"), FOUND("mail_reserve"));
	e2e_has(fleet_conversation("adam"), "\\\"reserved\\\"");
	e2e_has(e2e_read(fleet_prompt_log()), INBOX);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", WORK("second", "b.txt"));
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_conversation("adam"), "\"id\":\"second\"");
	lacks("adam", ABSENT);
	lacks("adam", "MCP error");
}

/* From now on a script is the agent: it puts another one in the place of the
 * server, and becomes Claude Code. */
static void
replace_server(const char *server)
{
	const char *agent = e2e_path("%s/agent.sh", unit_scratch());

	e2e_script(agent,
	    e2e_path("#!/bin/sh\n"
		     "sed -i 's|\"command\": *\"[^\"]*\"|\"command\": \"%s\"|' "
		     "'%s/.llmc/sessions/'$LLMC_WORKER/mcp.json\n"
		     "exec '%s' \"$@\"\n",
		server, fleet_root(), fleet_real_agent()));
	fleet_do("config", "set", "defaults.agent_command", agent, NULL);
}

/* Claude Code does not wait by itself for a server that is slower than the
 * first prompt. */
START_TEST(the_first_request_of_a_session_has_the_tools)
{
	const char *slow = e2e_path("%s/slow.sh", unit_scratch());

	e2e_script(slow,
	    e2e_path(
		"#!/bin/sh\nsleep 1\nexec '%s' \"$@\"\n", e2e_llmc_path()));
	replace_server(slow);
	for (int i = 0; i < 5; i++) {
		const char *name = e2e_path("w%d", i);
		const char *words = e2e_path("first words for %s", name);
		const char *log, *at;

		fleet_add(name);
		fleet_start(name,
		    e2e_path("%s\nfake: tool mail_inbox "
			     "{\"id\":\"now\"}",
			words));
		fleet_wait(name, "no_changes");
		lacks(name, ABSENT);
		log = e2e_read(fleet_prompt_log());
		at = strstr(log, words);
		ck_assert_ptr_nonnull(at);
		while (at > log && at[-1] != '\n')
			at--;
		e2e_has(e2e_path("%.*s", (int)strcspn(at, "\n"), at),
		    "\"" ASKS "\"");
	}
}
END_TEST

START_TEST(it_uses_the_tools_in_two_tasks)
{
	work_twice();
}
END_TEST

START_TEST(it_uses_the_tools_in_a_sandbox)
{
	work_twice();
}
END_TEST

START_TEST(nobody_is_asked_whether_it_may)
{
	static const char *const modes[] = { "default", "dontAsk" };

	for (size_t i = 0; i < nitems(modes); i++) {
		const char *name = e2e_path("w%zu", i);

		fleet_do("config", "set", "defaults.permission_mode", modes[i],
		    NULL);
		fleet_add(name);
		fleet_start(name, "fake: tool mail_inbox {\"id\":\"asked\"}");
		fleet_wait(name, "no_changes");
		e2e_has(fleet_conversation(name), "\"id\":\"asked\"");
		lacks(name, "unattended");
		lacks(name, "Permission to use");
		lacks(name, ABSENT);
	}
}
END_TEST

/* A script before the server writes down what it is told. */
START_TEST(it_asks_in_the_order_that_is_known)
{
	const char *log = e2e_path("%s/asked", unit_scratch());
	const char *tee = e2e_path("%s/tee.sh", unit_scratch());
	static const char *const order[] = { "\"server/discover\"",
		"\"initialize\"", "\"notifications/initialized\"",
		"\"tools/list\"", "\"tools/call\"" };
	const char *at;

	e2e_script(tee,
	    e2e_path("#!/bin/sh\ntee -a '%s' | '%s' \"$@\"\n", log,
		e2e_llmc_path()));
	replace_server(tee);
	fleet_add("adam");
	fleet_start("adam", WORK("order", "a.txt"));
	fleet_wait("adam", "needs_review");
	at = e2e_read(log);
	for (size_t i = 0; i < nitems(order); i++) {
		const char *next = strstr(at, order[i]);

		ck_assert_msg(
		    next != NULL, "no %s behind: %s", order[i], e2e_shown(at));
		at = next;
	}
	e2e_has(at, "\"claudecode/toolUseId\":\"toolu_");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("mcp-real");
	scenarios_add_test(
	    s, begin, the_first_request_of_a_session_has_the_tools);
	scenarios_add_test(s, begin, it_uses_the_tools_in_two_tasks);
	scenarios_add_test(s, begin_boxed, it_uses_the_tools_in_a_sandbox);
	scenarios_add_test(s, begin, nobody_is_asked_whether_it_may);
	scenarios_add_test(s, begin, it_asks_in_the_order_that_is_known);
	return s;
}
