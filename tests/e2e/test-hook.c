/* SPDX-License-Identifier: ISC */

/* llmc hook, as Claude Code calls it. */
#include <string.h>

#include "buf.h"
#include "e2e.h"
#include "hook-world.h"
#include "id.h"
#include "json.h"
#include "mem.h"

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
	cleanup_world struct world w;

	world_begin(&w, "nobody");
	for (size_t i = 0; i < nitems(events); i++) {
		fire(&w, events[i],
		    "{\"session_id\":\"s\",\"cwd\":\"/x\",\"prompt\":\"a\\nb\","
		    "\"tool_response\":{\"stdout\":\"much\"},"
		    "\"background_tasks\":[{\"id\":\"b\"}]}");
		expect_printed(&w, "");
		expect_data(&w, events[i],
		    "{\"session_id\":\"s\",\"prompt\":\"a\\nb\","
		    "\"background_tasks\":[{\"id\":\"b\"}]}");
	}
}

TEST(signs_of_life_do_not_wait)
{
	static const char *const events[] = { "PreToolUse", "PostToolUse",
		"PostToolUseFailure", "SubagentStop" };
	cleanup_world struct world w;

	world_begin(&w, "life");
	for (size_t i = 0; i < nitems(events); i++) {
		fire(&w, events[i],
		    "{\"tool_name\":\"Bash\",\"agent_id\":\"a1\"}");
		expect_printed(&w, "");
	}
	ck_assert(!e2e_exists(w.spool));
}

/* Whether an agent has reported as its last act depends on it. */
TEST(the_last_tool_of_the_conversation_waits)
{
	cleanup_world struct world w;

	world_begin(&w, "last-tool");
	fire(&w, "PreToolUse", "{\"tool_name\":\"Bash\"}");
	ck_assert(!e2e_exists(w.spool));
	fire(&w, "PostToolUse", "{\"tool_name\":\"Bash\"}");
	fire(&w, "PostToolUseFailure", "{\"tool_name\":\"Edit\"}");
	fire(&w, "PostToolUse", "{\"tool_name\":\"Read\",\"agent_id\":\"a1\"}");
	expect_printed(&w, "");
	expect_data(&w, "PostToolUseFailure", "{\"tool_name\":\"Edit\"}");
}

/* While the daemon has something to say, the hooks of tools wait. */
TEST(a_tool_is_told_what_the_daemon_has_to_say)
{
	static const char said[] =
	    "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\","
	    "\"additionalContext\":\"x\"}}";
	cleanup_world struct world w;

	world_begin(&w, "told");
	world_listen(&w, ANSWER, said);
	w.expected = 1; /* sent, and not waited for */
	fire(&w, "PostToolUse", "{\"agent_id\":\"a1\"}");
	expect_printed(&w, "");
	e2e_has(w.heard.data, "\"agent_id\":\"a1\"");
	e2e_write(e2e_path("%s.wait", w.socket), "");
	fire(&w, "PostToolUse", "{}");
	expect_printed(&w, e2e_path("%s\n", said));
	fire(&w, "PostToolUseFailure", "{}");
	expect_printed(&w, e2e_path("%s\n", said));
	w.expected = 1;
	fire(&w, "PreToolUse", "{}");
	expect_printed(&w, "");
	ck_assert(!e2e_exists(w.spool));
}

TEST(dead_and_strange_sockets_are_nobody)
{
	cleanup_world struct world w;
	char longer[200];

	world_begin(&w, "strange");
	e2e_write(w.socket, "not a socket");
	fire(&w, "Stop", "{}");
	expect_spooled(&w, 1);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	w.socket = e2e_path("/tmp/%s", longer);
	fire(&w, "Stop", "{}");
	expect_spooled(&w, 1);
	w.socket = "";
	fire(&w, "Stop", "{}");
	expect_spooled(&w, 1);
}

TEST(spool_that_cannot_be_is_no_trouble)
{
	cleanup_world struct world w;

	world_begin(&w, "spoolless");
	e2e_write(w.spool, "a file");
	fire(&w, "Stop", "{}");
	expect_printed(&w, "");
	ck_assert_str_eq(e2e_read(w.spool), "a file");
	w.spool = "/nowhere/at/all";
	fire(&w, "Stop", "{}");
	expect_printed(&w, "");
}

TEST(place_and_environment_do_not_matter)
{
	cleanup_world struct world w;

	world_begin(&w, "bare");
	fire_shell(&w,
	    "cd /; export LLMC_ROOT=/nowhere; unset HOME; exec env -i "
	    "LLMC_ROOT=/nowhere ASAN_OPTIONS=detect_leaks=0 \"$LLMC\" hook "
	    "Stop --worker ann --generation 7 --socket \"$SOCKET\" --spool "
	    "\"$SPOOL\" </dev/null");
	expect_printed(&w, "");
	expect_data(&w, "Stop", "{}");
}

TEST(permission_is_denied_by_the_hook_itself)
{
	cleanup_world struct world w;
	cleanup_json struct json_object *answer = NULL;
	struct json_object *output, *decision;

	world_begin(&w, "permission");
	fire(&w, "PermissionRequest", "{\"tool_name\":\"Bash\"}");
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
	cleanup_world struct world w;

	world_begin(&w, "garbage");
	for (size_t i = 0; i < nitems(inputs); i++) {
		fire_bytes(&w, "Stop", inputs[i].bytes, inputs[i].len);
		expect_printed(&w, "");
		expect_data(&w, "Stop", "{}");
	}
}

TEST(endless_nesting_is_garbage)
{
	cleanup_buf struct buf input = BUF_INIT;
	cleanup_world struct world w;

	world_begin(&w, "nesting");
	for (int i = 0; i < MEGABYTE; i++)
		buf_addc(&input, '[');
	fire_bytes(&w, "Stop", input.data, input.len);
	expect_data(&w, "Stop", "{}");
}

TEST(huge_input_is_read_but_not_kept)
{
	cleanup_buf struct buf input = BUF_INIT;
	cleanup_world struct world w;

	world_begin(&w, "huge");
	buf_adds(&input, "{\"session_id\":\"s\",\"tool_response\":\"");
	for (int i = 0; i < 20 * MEGABYTE; i += 16)
		buf_adds(&input, "0123456789abcdef");
	buf_adds(&input, "\"}");
	fire_bytes(&w, "Stop", input.data, input.len);
	expect_data(&w, "Stop", "{}");
	fire_bytes(&w, "PostToolUse", input.data, input.len);
	expect_printed(&w, "");
	expect_spooled(&w, 0);
}

/* Writing to a closed pipe would be an error. */
TEST(input_is_taken_to_its_end)
{
	static const char *const events[] = { "Stop", "PermissionRequest",
		"PreToolUse" };
	cleanup_world struct world w;

	world_begin(&w, "taken");
	for (size_t i = 0; i < nitems(events); i++) {
		const char *done = e2e_path("%s.%s", w.spool, events[i]);

		fire_shell(&w,
		    e2e_path(
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
	cleanup_world struct world w;

	world_begin(&w, "tool");
	world_listen(&w, ANSWER, NULL);
	w.expected = 1;
	buf_adds(&input, "{\"tool_name\":\"Bash\",\"tool_response\":\"");
	for (int i = 0; i < 5 * MEGABYTE; i += 16)
		buf_adds(&input, "0123456789abcdef");
	buf_adds(&input, "\"}");
	fire_bytes(&w, "PostToolUse", input.data, input.len);
	e2e_has(w.heard.data, "\"data\":{\"tool_name\":\"Bash\"}}");
	ck_assert_uint_lt(w.heard.len, 1000);
}

/* Longer than the spool and a line allow. */
TEST(long_prompt_is_cut_between_characters)
{
	cleanup_json struct json_object *events = NULL;
	cleanup_buf struct buf input = BUF_INIT;
	cleanup_world struct world w;
	struct json_object *data;
	const char *prompt;

	world_begin(&w, "long");
	buf_adds(&input, "{\"prompt\":\"[task 1] ");
	for (int i = 0; i < 5 * MEGABYTE; i += 3)
		buf_adds(&input, "\xe2\x82\xac");
	buf_adds(&input, "\",\"session_id\":\"s\"}");
	fire_bytes(&w, "UserPromptSubmit", input.data, input.len);
	events = drain(&w);
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
	cleanup_world struct world w;

	world_begin(&w, "open");
	fire_shell(&w,
	    "mkfifo \"$SPOOL.fifo\"; exec 3<>\"$SPOOL.fifo\"; "
	    "printf '{\"session_id\":\"s\"}' >&3; " HOOK "<&3");
	ck_assert_int_lt(w.took_ms, 15000);
	expect_data(&w, "Stop", "{\"session_id\":\"s\"}");
}

TEST(missing_and_odd_input_is_none)
{
	static const char *const scripts[] = { HOOK "<&-", HOOK "</",
		HOOK "</dev/null", HOOK "<&- >&- 2>&-",
		"exec 3>\"$SPOOL.x\"; " HOOK "<&3" };
	cleanup_world struct world w;

	world_begin(&w, "odd");
	for (size_t i = 0; i < nitems(scripts); i++) {
		fire_shell(&w, scripts[i]);
		expect_printed(&w, "");
		expect_data(&w, "Stop", "{}");
	}
}

/* --- with a daemon --------------------------------------------------- */

TEST(daemon_hears_the_event_and_nothing_waits)
{
	cleanup_world struct world w;

	world_begin(&w, "heard");
	world_listen(&w, ANSWER, NULL);
	fire(&w, "SessionStart",
	    "{\"session_id\":\"s\",\"source\":\"startup\",\"secret\":1}");
	ck_assert_uint_eq(w.calls, 1);
	ck_assert(strncmp(w.heard.data, "hook.event {", 12) == 0);
	e2e_has(w.heard.data,
	    "{\"event\":\"SessionStart\",\"worker\":\"ann\","
	    "\"generation\":7,\"id\":\"");
	e2e_has(w.heard.data,
	    "\"data\":{\"session_id\":\"s\",\"source\":\"startup\"}}");
	expect_printed(&w, "");
	expect_spooled(&w, 0);
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
	cleanup_world struct world w;

	world_begin(&w, "decision");
	world_listen(&w, ANSWER, NULL);
	for (size_t i = 0; i < nitems(decisions); i++) {
		w.answer = decisions[i];
		fire(&w, "Stop", "{\"stop_hook_active\":false}");
		expect_printed(&w, e2e_path("%s\n", decisions[i]));
	}
	expect_spooled(&w, 0);
}

TEST(answer_that_is_no_decision_is_not_printed)
{
	static const char *const answers[] = { "null", "\"text\"", "7", "true",
		"[{}]" };
	cleanup_world struct world w;

	world_begin(&w, "answers");
	world_listen(&w, ANSWER, NULL);
	for (size_t i = 0; i < nitems(answers); i++) {
		w.answer = answers[i];
		fire(&w, "Stop", "{}");
		expect_printed(&w, "");
	}
	expect_spooled(&w, 0);
}

TEST(refused_event_is_gone)
{
	cleanup_world struct world w;

	world_begin(&w, "refused");
	world_listen(&w, REFUSE, NULL);
	fire(&w, "Stop", "{}");
	ck_assert_uint_eq(w.calls, 1);
	expect_printed(&w, "");
	expect_spooled(&w, 0);
}

TEST(daemon_that_dies_leaves_the_event_waiting)
{
	cleanup_world struct world w;

	world_begin(&w, "dies");
	world_listen(&w, HANG_UP, NULL);
	fire(&w, "Stop", "{\"session_id\":\"s\"}");
	ck_assert_uint_eq(w.calls, 1);
	expect_printed(&w, "");
	expect_data(&w, "Stop", "{\"session_id\":\"s\"}");
}

/* The daemon recognises by the id what it has already received. */
TEST(silent_daemon_is_waited_for_a_while)
{
	cleanup_json struct json_object *events = NULL;
	cleanup_world struct world w;
	const char *id;

	world_begin(&w, "silent");
	world_listen(&w, SAY_NOTHING, NULL);
	fire(&w, "SessionStart", "{}");
	ck_assert_int_ge(w.took_ms, 1000);
	ck_assert_int_lt(w.took_ms, 15000);
	expect_printed(&w, "");
	events = drain(&w);
	ck_assert_uint_eq(json_object_array_length(events), 1);
	id = json_string_or(json_object_array_get_idx(events, 0), "id", "");
	ck_assert(id_ulid_valid(id));
	e2e_has(w.heard.data, id);
}

TEST(signs_of_life_wait_for_no_answer)
{
	cleanup_world struct world w;

	world_begin(&w, "quick");
	world_listen(&w, SAY_NOTHING, NULL);
	w.expected = 1;
	fire(&w, "PreToolUse", "{\"tool_name\":\"Bash\"}");
	ck_assert_int_lt(w.took_ms, 2500);
	e2e_has(w.heard.data, "\"event\":\"PreToolUse\"");
	expect_printed(&w, "");
	expect_spooled(&w, 0);
}

TEST(output_that_nobody_takes_is_no_failure)
{
	cleanup_world struct world w;

	world_begin(&w, "full");
	world_listen(&w, ANSWER, "{\"decision\":\"block\"}");
	fire_shell(&w, HOOK "</dev/null >/dev/full");
	ck_assert_uint_eq(w.calls, 1);
	fire_shell(&w, HOOK "</dev/null >&-");
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
	cleanup_world struct world w;

	world_begin(&w, "wrong");
	for (size_t i = 0; i < nitems(calls); i++) {
		fire_shell(&w,
		    e2e_path("exec \"$LLMC\" hook %s </dev/null", calls[i]));
		expect_printed(&w, "");
	}
	ck_assert(!e2e_exists(w.spool));
}

TEST(odd_values_are_sent_as_they_are)
{
	cleanup_world struct world w;

	world_begin(&w, "values");
	world_listen(&w, ANSWER, NULL);
	fire_shell(&w,
	    "exec \"$LLMC\" hook 'Never Heard' --worker 'a \"b\"' "
	    "--generation x --socket \"$SOCKET\" </dev/null");
	e2e_has(w.heard.data,
	    "{\"event\":\"Never Heard\",\"worker\":\"a \\\"b\\\"\","
	    "\"generation\":0,");
	expect_printed(&w, "");
}
