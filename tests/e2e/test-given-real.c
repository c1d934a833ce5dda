/* SPDX-License-Identifier: ISC */

/*
 * What a worker with the real Claude Code is given, which changes with its
 * versions: which tools, how much of llmc in each request to the model, where
 * its file tools write, what its environment says. A stub of the API answers
 * and says what it was sent.
 */
#include "autorun.h"
#include "agent-card.h"
#include "jsonl.h"
#include "scenarios.h"

#define REQUEST_MAX 5000 /* bytes of llmc's tools and prompt */
#define TASK        "Give-it"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("plan.enabled", "true");
	auto_set("auto.concurrency", "1");
}

/* The first request of the conversation about the task. */
static struct json_object *
first_request(void)
{
	struct json_object *line;
	struct jsonl_cursor cursor;

	jsonl_cursor_init(&cursor, fleet_prompt_log());
	while ((line = jsonl_cursor_next(&cursor)) != NULL) {
		const char *prompts = json_object_to_json_string(
		    json_object_object_get(line, "prompts"));

		if (strstr(prompts, TASK) != NULL &&
		    json_object_array_length(
			json_object_object_get(line, "tools")) > 0)
			break;
		json_object_put(line);
	}
	ck_assert_msg(line != NULL, "no request has the task");
	jsonl_cursor_release(&cursor);
	return line;
}

static bool
is_in(const char *const *names, const char *name)
{
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* A new version offers tools that nobody has thought about: add each to one of
 * the lists. */
static void
knows_tools(struct json_object *tools)
{
	ck_assert_uint_gt(json_object_array_length(tools), 5);
	for (size_t i = 0; i < json_object_array_length(tools); i++) {
		const char *name =
		    json_object_get_string(json_object_array_get_idx(tools, i));

		if (strcmp(name, "DeferredToolPlaceholder") == 0)
			continue;
		ck_assert_msg(
		    !is_in(claude_denied_tools, name), "it has %s", name);
		ck_assert_msg(is_in(claude_tools, name),
		    "%s is new: a tool for workers?", name);
	}
}

/* All that is said around the task. */
static size_t
said_bytes(struct json_object *prompts, const char *task)
{
	size_t bytes = 0;

	for (size_t i = 0; i < json_object_array_length(prompts); i++) {
		const char *text = json_object_get_string(
		    json_object_array_get_idx(prompts, i));

		if (strstr(text, TASK) != NULL)
			bytes = strlen(text) - strlen(task);
	}
	return bytes;
}

START_TEST(little_of_llmc_is_in_a_request_and_no_tool_is_new)
{
	const char *gate = auto_gate("g");
	const char *task =
	    e2e_path(TASK "\nfake: run %s\nfake: commit a.txt x", gate);
	struct json_object *line;
	size_t tools, said;

	auto_task("a.md", "%s", task);
	auto_up(NULL);
	auto_wait_gate("g");
	/* It knows every tool that it is denied, or says so on its screen. */
	auto_wait_shell("\"$LLMC\" peek auto-1 | grep -q .");
	auto_wait_shell("! \"$LLMC\" peek auto-1 | grep 'matches no tool'");
	auto_open_gate("g");
	auto_wait_landed(1);
	auto_drain();
	auto_history("a.txt: x", NULL);
	line = first_request();
	knows_tools(json_object_object_get(line, "tools"));
	tools = (size_t)json_int_or(line, "served_bytes", 0);
	said = said_bytes(json_object_object_get(line, "prompts"), task);
	ck_assert_uint_gt(tools, 500);
	ck_assert_uint_gt(said, 500);
	ck_assert_msg(tools + said <= REQUEST_MAX,
	    "%zu bytes of tools and %zu of the prompt", tools, said);
	/* Once in a run. */
	ck_assert_int_eq(auto_events("agent_version", NULL), 1);
	json_object_put(line);
}
END_TEST

/* As if it had been typed: what is pasted may not be the user's. */
START_TEST(its_task_is_its_users_words)
{
	struct json_object *line;
	const char *prompts;

	auto_task("a.md", TASK "\nfake: commit a.txt x\n%s",
	    e2e_sh(NULL,
		"for i in $(seq 100); do echo \"line $i of a long task\"; "
		"echo; done")
		->out);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	line = first_request();
	prompts =
	    json_object_to_json_string(json_object_object_get(line, "prompts"));
	e2e_has(prompts, "line 100 of a long task");
	ck_assert_ptr_null(strstr(prompts, "pasted_content"));
	json_object_put(line);
}
END_TEST

START_TEST(its_file_tools_stay_in_its_worktree)
{
	const char *outside = e2e_path("%s/outside.txt", unit_scratch());
	const char *env = e2e_path("%s/env.txt", unit_scratch());
	static const char *const words[] = { "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS=2",
		"OTEL_SERVICE_NAME=night" };

	e2e_env("OTEL_SERVICE_NAME=night");
	auto_set("defaults.subagents", "2");
	/* Its own: it keeps some from what it runs. */
	auto_task("a.md",
	    TASK "\nfake: file %s\nfake: run tr '\\0' '\\n' "
		 "</proc/$CLAUDE_PID/environ >%s\nfake: commit a.txt x",
	    outside, env);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert(!e2e_exists(outside));
	for (size_t i = 0; i < nitems(words); i++)
		e2e_has(e2e_read(env), words[i]);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("given-real");
	scenarios_add_test(
	    s, begin, little_of_llmc_is_in_a_request_and_no_tool_is_new);
	scenarios_add_test(s, begin, its_task_is_its_users_words);
	scenarios_add_test(s, begin, its_file_tools_stay_in_its_worktree);
	return s;
}
