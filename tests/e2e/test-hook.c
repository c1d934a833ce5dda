/* SPDX-License-Identifier: ISC */

/* llmc hook, as Claude Code calls it. */
#include "e2e.h"
#include "hook-world.h"
#include "id.h"

#define MEGABYTE (1024 * 1024)

#define HOOK                                                             \
	"exec \"$LLMC\" hook Stop --worker ann --generation 7 --socket " \
	"\"$SOCKET\" --spool \"$SPOOL\" "

/* --- without a daemon ------------------------------------------------ */

TEST(without_a_daemon_the_event_waits)
{
	static const char *const events[] = { "SessionStart", "SessionEnd",
		"UserPromptSubmit", "Notification", "Stop", "StopFailure",
		"PreCompact" };

	world_begin("nobody");
	for (size_t i = 0; i < nitems(events); i++) {
		fire(events[i],
		    "{\"session_id\":\"s\",\"cwd\":\"/x\",\"prompt\":\"a\\nb\","
		    "\"tool_response\":{\"stdout\":\"much\"},"
		    "\"background_tasks\":[{\"id\":\"b\"}]}");
		expect_printed("");
		expect_data(events[i],
		    "{\"session_id\":\"s\",\"prompt\":\"a\\nb\","
		    "\"background_tasks\":[{\"id\":\"b\"}]}");
	}
}

TEST(signs_of_life_do_not_wait)
{
	static const char *const events[] = { "PreToolUse", "PostToolUse",
		"PostToolUseFailure", "SubagentStop" };

	world_begin("life");
	for (size_t i = 0; i < nitems(events); i++) {
		fire(events[i], "{\"tool_name\":\"Bash\",\"agent_id\":\"a1\"}");
		expect_printed("");
	}
	ck_assert(!e2e_exists(w.spool));
}

/* Whether an agent has reported as its last act depends on it. */
TEST(the_last_tool_of_the_conversation_waits)
{
	world_begin("last-tool");
	fire("PreToolUse", "{\"tool_name\":\"Bash\"}");
	ck_assert(!e2e_exists(w.spool));
	fire("PostToolUse", "{\"tool_name\":\"Bash\"}");
	fire("PostToolUseFailure", "{\"tool_name\":\"Edit\"}");
	fire("PostToolUse", "{\"tool_name\":\"Read\",\"agent_id\":\"a1\"}");
	expect_printed("");
	expect_data("PostToolUseFailure", "{\"tool_name\":\"Edit\"}");
}

/* While the daemon has something to say, the hooks of tools wait. */
TEST(a_tool_is_told_what_the_daemon_has_to_say)
{
	static const char said[] =
	    "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\","
	    "\"additionalContext\":\"x\"}}";

	world_begin("told");
	world_listen(ANSWER, said);
	w.expected = 1; /* sent, and not waited for */
	fire("PostToolUse", "{\"agent_id\":\"a1\"}");
	expect_printed("");
	e2e_has(w.heard.data, "\"agent_id\":\"a1\"");
	e2e_write(e2e_path("%s.wait", w.socket), "");
	fire("PostToolUse", "{}");
	expect_printed(e2e_path("%s\n", said));
	fire("PostToolUseFailure", "{}");
	expect_printed(e2e_path("%s\n", said));
	w.expected = 1;
	fire("PreToolUse", "{}");
	expect_printed("");
	ck_assert(!e2e_exists(w.spool));
}

TEST(dead_and_strange_sockets_are_nobody)
{
	char longer[200];

	world_begin("strange");
	e2e_write(w.socket, "not a socket");
	fire("Stop", "{}");
	expect_spooled(1);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	w.socket = e2e_path("/tmp/%s", longer);
	fire("Stop", "{}");
	expect_spooled(1);
	w.socket = "";
	fire("Stop", "{}");
	expect_spooled(1);
}

TEST(spool_that_cannot_be_is_no_trouble)
{
	world_begin("spoolless");
	e2e_write(w.spool, "a file");
	fire("Stop", "{}");
	expect_printed("");
	ck_assert_str_eq(e2e_read(w.spool), "a file");
	w.spool = "/dev/null/at/all";
	fire("Stop", "{}");
	expect_printed("");
}

TEST(place_and_environment_do_not_matter)
{
	world_begin("bare");
	fire_shell(
	    "cd /; export LLMC_ROOT=/nowhere; unset HOME; exec env -i "
	    "LLMC_ROOT=/nowhere ASAN_OPTIONS=detect_leaks=0 \"$LLMC\" hook "
	    "Stop --worker ann --generation 7 --socket \"$SOCKET\" --spool "
	    "\"$SPOOL\" </dev/null");
	expect_printed("");
	expect_data("Stop", "{}");
}

TEST(permission_is_denied_by_the_hook_itself)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *output, *decision;

	world_begin("permission");
	fire("PermissionRequest", "{\"tool_name\":\"Bash\"}");
	answer = json_tokener_parse(w.out.data);
	ck_assert(json_get_object(
		      answer, "", "hookSpecificOutput", &output, NULL) == 0);
	ck_assert_str_eq(
	    json_string_or(output, "hookEventName", ""), "PermissionRequest");
	ck_assert(
	    json_get_object(output, "", "decision", &decision, NULL) == 0);
	ck_assert_str_eq(json_string_or(decision, "behavior", ""), "deny");
	ck_assert_str_ne(json_string_or(decision, "message", ""), "");
	ck_assert(!e2e_exists(w.spool));
}

TEST(a_server_that_asks_for_input_gets_none)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *output;

	world_begin("elicitation");
	fire("Elicitation", "{\"message\":\"Who are you?\"}");
	answer = json_tokener_parse(w.out.data);
	ck_assert(json_get_object(
		      answer, "", "hookSpecificOutput", &output, NULL) == 0);
	ck_assert_str_eq(
	    json_string_or(output, "hookEventName", ""), "Elicitation");
	ck_assert_str_eq(json_string_or(output, "action", ""), "decline");
	ck_assert(!e2e_exists(w.spool));
}

/* --- input ----------------------------------------------------------- */

TEST(garbage_is_an_event_all_the_same)
{
	static const struct {
		const char *bytes;
		size_t len;
	} inputs[] = {
		{ "", 0 },
		{ "garbage", 7 },
		{ "{\"session_id\":", 14 },
		{ "[{\"session_id\":\"s\"}]", 20 },
		{ "null", 4 },
		{ "\"text\"", 6 },
		{ "{\"session_id\":\"\xff\"}", 18 },
		{ "{}\0{}", 5 },
		{ "\0", 1 },
		{ "{} {\"session_id\":\"s\"}", 21 },
	};

	world_begin("garbage");
	for (size_t i = 0; i < nitems(inputs); i++) {
		fire_bytes("Stop", inputs[i].bytes, inputs[i].len);
		expect_printed("");
		expect_data("Stop", "{}");
	}
}

TEST(endless_nesting_is_garbage)
{
	cleanup_buf struct buf input = BUF_INIT;

	world_begin("nesting");
	for (int i = 0; i < MEGABYTE; i++)
		buf_addc(&input, '[');
	fire_bytes("Stop", input.data, input.len);
	expect_data("Stop", "{}");
}

TEST(huge_input_is_read_but_not_kept)
{
	cleanup_buf struct buf input = BUF_INIT;

	world_begin("huge");
	buf_adds(&input, "{\"session_id\":\"s\",\"tool_response\":\"");
	for (int i = 0; i < 20 * MEGABYTE; i += 16)
		buf_adds(&input, "0123456789abcdef");
	buf_adds(&input, "\"}");
	fire_bytes("Stop", input.data, input.len);
	expect_data("Stop", "{}");
	fire_bytes("PostToolUse", input.data, input.len);
	expect_printed("");
	expect_spooled(0);
}

/* Writing to a closed pipe would be an error. */
TEST(input_is_taken_to_its_end)
{
	static const char *const events[] = { "Stop", "PermissionRequest",
		"PreToolUse" };

	world_begin("taken");
	for (size_t i = 0; i < nitems(events); i++) {
		const char *done = e2e_path("%s.%s", w.spool, events[i]);

		fire_shell(e2e_path(
		    "{ head -c 20000000 /dev/zero && : >\"$SPOOL.%s\"; "
		    "} | \"$LLMC\" hook %s --worker ann "
		    "--generation 7 --socket \"$SOCKET\"",
		    events[i], events[i]));
		ck_assert_msg(e2e_exists(done), "%s", events[i]);
	}
}

TEST(megabytes_of_a_tool_stay_here)
{
	cleanup_buf struct buf input = BUF_INIT;

	world_begin("tool");
	world_listen(ANSWER, NULL);
	w.expected = 1;
	buf_adds(&input, "{\"tool_name\":\"Bash\",\"tool_response\":\"");
	for (int i = 0; i < 5 * MEGABYTE; i += 16)
		buf_adds(&input, "0123456789abcdef");
	buf_adds(&input, "\"}");
	fire_bytes("PostToolUse", input.data, input.len);
	e2e_has(w.heard.data, "\"data\":{\"tool_name\":\"Bash\"}}");
	ck_assert_uint_lt(w.heard.len, 1000);
}

/* Longer than the spool and a line allow. */
TEST(long_prompt_is_cut_between_characters)
{
	cleanup_json struct json_object *events = NULL;
	cleanup_buf struct buf input = BUF_INIT;
	struct json_object *data;
	const char *prompt;

	world_begin("long");
	buf_adds(&input, "{\"prompt\":\"[task 1] ");
	for (int i = 0; i < 5 * MEGABYTE; i += 3)
		buf_adds(&input, "\xe2\x82\xac");
	buf_adds(&input, "\",\"session_id\":\"s\"}");
	fire_bytes("UserPromptSubmit", input.data, input.len);
	events = drain();
	ck_assert_uint_eq(json_object_array_length(events), 1);
	data = json_object_object_get(
	    json_object_array_get_idx(events, 0), "data");
	prompt = json_string_or(data, "prompt", "");
	ck_assert_uint_gt(strlen(prompt), 100 * 1024);
	ck_assert_uint_lt(strlen(prompt), 200 * 1024);
	ck_assert(strncmp(prompt, "[task 1] \xe2\x82\xac", 12) == 0);
	ck_assert_str_eq(prompt + strlen(prompt) - 3, "\xe2\x82\xac");
	ck_assert_str_eq(json_string_or(data, "session_id", ""), "s");
}

TEST(input_that_is_never_closed_ends_in_time)
{
	world_begin("open");
	fire_shell("mkfifo \"$SPOOL.fifo\"; exec 3<>\"$SPOOL.fifo\"; "
		   "printf '{\"session_id\":\"s\"}' >&3; " HOOK "<&3");
	ck_assert_int_lt(w.took_ms, 15000);
	expect_data("Stop", "{\"session_id\":\"s\"}");
}

TEST(missing_and_odd_input_is_none)
{
	static const char *const scripts[] = { HOOK "<&-", HOOK "</",
		HOOK "</dev/null", HOOK "<&- >&- 2>&-",
		"exec 3>\"$SPOOL.x\"; " HOOK "<&3" };

	world_begin("odd");
	for (size_t i = 0; i < nitems(scripts); i++) {
		fire_shell(scripts[i]);
		expect_printed("");
		expect_data("Stop", "{}");
	}
}

/* --- with a daemon --------------------------------------------------- */

TEST(daemon_hears_the_event_and_nothing_waits)
{
	world_begin("heard");
	world_listen(ANSWER, NULL);
	fire("SessionStart",
	    "{\"session_id\":\"s\",\"source\":\"startup\",\"secret\":1}");
	ck_assert_uint_eq(w.calls, 1);
	ck_assert(strncmp(w.heard.data, "hook.event {", 12) == 0);
	e2e_has(w.heard.data,
	    "{\"event\":\"SessionStart\",\"worker\":\"ann\","
	    "\"generation\":7,\"id\":\"");
	e2e_has(w.heard.data,
	    "\"data\":{\"session_id\":\"s\",\"source\":\"startup\"}}");
	expect_printed("");
	expect_spooled(0);
}

TEST(decision_is_printed_as_it_is)
{
	static const char *const decisions[] = {
		"{\"decision\":\"block\",\"reason\":\"Commit first.\"}",
		"{\"decision\":\"block\",\"reason\":\"two\\nlines \\\"q\\\" "
		"a/b \xc3\xbc\xf0\x9f\x8c\x8d\"}",
		"{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\","
		"\"additionalContext\":\"x\"},\"n\":[1,2.5,null,true]}",
		"{}",
	};

	world_begin("decision");
	world_listen(ANSWER, NULL);
	for (size_t i = 0; i < nitems(decisions); i++) {
		w.answer = decisions[i];
		fire("Stop", "{\"stop_hook_active\":false}");
		expect_printed(e2e_path("%s\n", decisions[i]));
	}
	expect_spooled(0);
}

TEST(answer_that_is_no_decision_is_not_printed)
{
	static const char *const answers[] = { "null", "\"text\"", "7", "true",
		"[{}]" };

	world_begin("answers");
	world_listen(ANSWER, NULL);
	for (size_t i = 0; i < nitems(answers); i++) {
		w.answer = answers[i];
		fire("Stop", "{}");
		expect_printed("");
	}
	expect_spooled(0);
}

TEST(refused_event_is_gone)
{
	world_begin("refused");
	world_listen(REFUSE, NULL);
	fire("Stop", "{}");
	ck_assert_uint_eq(w.calls, 1);
	expect_printed("");
	expect_spooled(0);
}

TEST(daemon_that_dies_leaves_the_event_waiting)
{
	world_begin("dies");
	world_listen(HANG_UP, NULL);
	fire("Stop", "{\"session_id\":\"s\"}");
	ck_assert_uint_eq(w.calls, 1);
	expect_printed("");
	expect_data("Stop", "{\"session_id\":\"s\"}");
}

/* The daemon recognises by the id what it has already received. */
TEST(silent_daemon_is_waited_for_a_while)
{
	cleanup_json struct json_object *events = NULL;
	const char *id;

	world_begin("silent");
	world_listen(SAY_NOTHING, NULL);
	fire("SessionStart", "{}");
	ck_assert_int_ge(w.took_ms, 1000);
	ck_assert_int_lt(w.took_ms, 15000);
	expect_printed("");
	events = drain();
	ck_assert_uint_eq(json_object_array_length(events), 1);
	id = json_string_or(json_object_array_get_idx(events, 0), "id", "");
	ck_assert(id_ulid_valid(id));
	e2e_has(w.heard.data, id);
}

TEST(signs_of_life_wait_for_no_answer)
{
	world_begin("quick");
	world_listen(SAY_NOTHING, NULL);
	w.expected = 1;
	fire("PreToolUse", "{\"tool_name\":\"Bash\"}");
	ck_assert_int_lt(w.took_ms, 2500);
	e2e_has(w.heard.data, "\"event\":\"PreToolUse\"");
	expect_printed("");
	expect_spooled(0);
}

TEST(output_that_nobody_takes_is_no_failure)
{
	world_begin("full");
	world_listen(ANSWER, "{\"decision\":\"block\"}");
	fire_shell(HOOK "</dev/null >/dev/full");
	ck_assert_uint_eq(w.calls, 1);
	fire_shell(HOOK "</dev/null >&-");
	ck_assert_uint_eq(w.calls, 1);
}

/* --- arguments ------------------------------------------------------- */

/* Status 2 would block Claude. */
TEST(wrong_arguments_are_passed_over_in_silence)
{
	static const char *const calls[] = { "", "Stop", "Stop Start",
		"Stop --worker", "Stop --wroker ann", "Stop --worker ann",
		"Stop --worker ann --generation 7", "-x", "--spool",
		"Stop --worker ann --generation 7 --socket",
		"Stop More --worker ann --generation 7 --socket /x",
		"Stop --version", "Stop --json --bogus",
		"Stop --worker=ann --generation=7 --spool=/x", "--root" };

	world_begin("wrong");
	for (size_t i = 0; i < nitems(calls); i++) {
		fire_shell(
		    e2e_path("exec \"$LLMC\" hook %s </dev/null", calls[i]));
		expect_printed("");
	}
	ck_assert(!e2e_exists(w.spool));
}

TEST(odd_values_are_sent_as_they_are)
{
	world_begin("values");
	world_listen(ANSWER, NULL);
	fire_shell("exec \"$LLMC\" hook 'Never Heard' --worker 'a \"b\"' "
		   "--generation x --socket \"$SOCKET\" </dev/null");
	e2e_has(w.heard.data,
	    "{\"event\":\"Never Heard\",\"worker\":\"a \\\"b\\\"\","
	    "\"generation\":0,");
	expect_printed("");
}
