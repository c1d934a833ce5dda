/* SPDX-License-Identifier: ISC */

#include "script.h"
#include "stub.h"
#include "unit.h"

static void
load(struct script *script, const char *text)
{
	script_add(script, text, strlen(text));
}

/* The next answer, in one word. */
static char *
next(struct script *script)
{
	static const char *const kinds[] = {
		[SCRIPT_DO_REPLY] = "reply",
		[SCRIPT_DO_TOOL] = "tool",
		[SCRIPT_DO_FAIL] = "fail",
		[SCRIPT_DO_COMPACT] = "compact",
		[SCRIPT_DO_EXIT] = "exit",
		[SCRIPT_DO_HANG] = "hang",
		[SCRIPT_DO_IGNORE_ENTER] = "ignore",
	};
	struct script_action action = SCRIPT_ACTION_INIT;
	char *text;

	script_next(script, &action);
	text = xasprintf("%s|%s|%s|%d%s|%d", kinds[action.kind],
	    action.say.data, action.command.data, action.status,
	    action.text.data, (int)(action.delay_ms + action.number));
	script_action_release(&action);
	return text;
}

static void
check_next(struct script *script, const char *want)
{
	cleanup_free char *text = next(script);

	ck_assert_str_eq(text, want);
}

TEST(a_prompt_without_steps_is_done)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script, "do something\nabout unfake: say no\n");
	check_next(&script, "reply|done||0|0");
}

TEST(steps_are_found_behind_a_prefix)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script, "[task 1] fake: run a\n   fake: run b  \r\nfake: run c");
	check_next(&script, "tool||a|0|0");
	check_next(&script, "tool||b|0|0");
	check_next(&script, "tool||c|0|0");
	check_next(&script, "reply|done||0|0");
}

TEST(words_and_delays_belong_to_the_answer_behind_them)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script,
	    "fake: say one\nfake: sleep 20\nfake: sleep 3\nfake: run x\n"
	    "fake: say two\nfake: say three");
	check_next(&script, "tool|one|x|0|23");
	check_next(&script, "reply|two\nthree||0|0");
}

TEST(a_question_ends_the_answer)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script, "fake: ask Why?\nfake: run later");
	check_next(&script, "reply|Why?||0|0");
}

TEST(failures_have_a_status_and_words)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script,
	    "fake: limit resets 7pm\nfake: fail 529\nfake: fail 500 oh\n"
	    "fake: fail server_error\nfake: fail model_not_found\n"
	    "fake: fail nonsense");
	check_next(&script, "fail|||429resets 7pm|0");
	check_next(&script, "fail|||529Overloaded|0");
	check_next(&script, "fail|||500oh|0");
	check_next(&script, "fail|||500Internal server error|0");
	check_next(&script, "fail|||404no such model|0");
	check_next(&script, "fail|||400bad request|0");
}

TEST(text_is_quoted_for_the_shell)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script, "fake: write a$b it's $(x)");
	check_next(&script, "tool||printf '%s\\n' 'it'\\''s $(x)' >'a$b'|0|0");
}

TEST(a_mistyped_step_is_said)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script,
	    "fake: comit a b\nfake: exit 4\nfake: ignore-enter 2\n"
	    "fake: hang\nfake: compact");
	check_next(&script, "exit|no such step: comit a b||0|4");
	check_next(&script, "ignore|||0|2");
	check_next(&script, "hang|||0|0");
	check_next(&script, "compact|||0|0");
}

/* ---- the stub: which step is next, from the conversation alone */

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define SAID(text)                                                 \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\"," \
	"\"text\":\"" text "\"}]}"
#define CALLED                                                         \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"," \
	"\"name\":\"Bash\",\"id\":\"t\",\"input\":{}}]}"
#define BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define RESULT(text)                                       \
	"{\"type\":\"tool_result\",\"tool_use_id\":\"t\"," \
	"\"content\":\"" text "\"}"
#define BLOCKS(list) "{\"role\":\"user\",\"content\":[" list "]}"
#define ASK(list)    "{\"messages\":[" list "]}"

static const struct {
	const char *request;
	const char *answer;
} plans[] = {
	{ ASK(USER("hello")), "done" },
	{ ASK(USER("fake: say x")), "x" },
	{ ASK(USER("fake: run a\\nfake: run b")), "a" },
	{ ASK(USER("fake: run a\\nfake: run b") "," CALLED
						"," BLOCKS(RESULT("ok"))),
	    "b" },
	{ ASK(USER("fake: run a") "," CALLED "," BLOCKS(RESULT("ok"))),
	    "done" },
	/* The previous turn is over. */
	{ ASK(USER("fake: run a\\nfake: run b") "," SAID("no") "," USER("go")),
	    "done" },
	/* A failure is not repeated for another prompt. */
	{ ASK(USER("fake: fail 500")), "Internal server error" },
	{ ASK(BLOCKS(BLOCK("fake: fail 500\\n") "," BLOCK("then"))), "done" },
	{ ASK(BLOCKS(BLOCK("<system-reminder>fake: say no") "," BLOCK(
	      "fake: say yes") "," BLOCK("<system-reminder>z"))),
	    "yes" },
	/* A prompt that arrived during a tool adds to the turn. */
	{ ASK(USER("fake: run a\\nfake: run b") "," CALLED "," BLOCKS(
	      RESULT("ok") "," BLOCK("sent meanwhile:\\nfake: run c"))),
	    "b" },
	{ ASK(USER("fake: run a") "," CALLED "," BLOCKS(
	      RESULT("ok") "," BLOCK("sent meanwhile:\\nfake: run c"))),
	    "c" },
	/* Killed within the tool: the rest is not continued. */
	{ ASK(USER("fake: crash\\nfake: run b") "," CALLED "," BLOCKS(
	      RESULT("[Tool call interrupted: ...]") "," BLOCK("go on"))),
	    "done" },
	{ ASK(USER(
	      "fake: compact\\nfake: run a\\nfake: exit 3\\nfake: run b") "," CALLED
									  "," BLOCKS(RESULT(
									      "ok"))),
	    "b" },
	{ ASK(USER("Your task is to create a detailed summary of")),
	    "<summary>A short summary.</summary>" },
	{ "{}", "done" },
	/* Rules come before the steps of the prompt. */
	{ ASK(USER("report, and try again\\nfake: run a")), "b" },
	{ ASK(USER("report, and try again") "," CALLED
					    "," BLOCKS(RESULT("ok"))),
	    "c" },
	{ ASK(USER("report\\nfake: run a")), "reported" },
	{ ASK(USER("answer")), "true" },
};

static const char rules_text[] =
    "[{\"words\":\"report\",\"steps\":\"fake: say reported\"},"
    "{\"words\":\"try again\",\"steps\":\"fake: run b\\nfake: run c\"},"
    "{\"words\":\"answer\",\"steps\":\"fake: answer {\\\"a\\\":1}\"}]";

TEST_ROWS(the_conversation_tells_what_is_next, nitems(plans))
{
	struct script_action action = SCRIPT_ACTION_INIT;
	cleanup_json struct json_object *request = NULL, *rules = NULL;
	const char *text = plans[_i].request;

	ck_assert_int_eq(
	    json_parse(rules_text, strlen(rules_text), 1 << 20, &rules, NULL),
	    0);
	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &request, NULL), 0);
	stub_plan(request, rules, &action);
	ck_assert_str_eq(action.kind == SCRIPT_DO_TOOL ? action.command.data :
		action.kind == SCRIPT_DO_FAIL          ? action.text.data :
							 action.say.data,
	    plans[_i].answer);
	script_action_release(&action);
}

TEST(a_stream_holds_the_whole_message)
{
	struct script_action action = SCRIPT_ACTION_INIT;
	cleanup_json struct json_object *request = json_object_new_object();
	cleanup_json struct json_object *message = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	action.kind = SCRIPT_DO_TOOL;
	buf_adds(&action.say, "Look.");
	buf_adds(&action.command, "ls");
	json_set_string(request, "model", "m");
	message = stub_message(request, &action, NULL);
	stub_stream(message, &out);
	ck_assert_int_eq(
	    strncmp(out.data, "event: message_start\ndata: {", 28), 0);
	ck_assert_ptr_nonnull(strstr(out.data, "\"text\":\"Look.\""));
	ck_assert_ptr_nonnull(
	    strstr(out.data, "\"partial_json\":\"{\\\"command\\\":\\\"ls\\\""));
	ck_assert_ptr_nonnull(strstr(out.data, "\"stop_reason\":\"tool_use\""));
	ck_assert_ptr_nonnull(strstr(out.data, "event: message_stop\n"));
	script_action_release(&action);
}

TEST(a_structured_answer_is_the_call_of_a_tool)
{
	struct script_action action = SCRIPT_ACTION_INIT;
	ended_by(script_release) struct script script = { 0 };
	cleanup_json struct json_object *request = json_object_new_object();
	cleanup_json struct json_object *message = NULL;
	const char *text = "fake: answer {\"a\":1}";

	script_add(&script, text, strlen(text));
	script_next(&script, &action);
	message = stub_message(request, &action, NULL);
	text = json_object_to_json_string(message);
	ck_assert_ptr_nonnull(strstr(text, "\"StructuredOutput\""));
	ck_assert_ptr_nonnull(strstr(text, "\"input\": { \"a\": 1 }"));
	ck_assert_ptr_nonnull(strstr(text, "\"tool_use\""));
	script_action_release(&action);
}

/* The uses of the next answer: "NAME INPUT;". */
static void
check_uses(struct script *script, const char *want)
{
	struct script_action action = SCRIPT_ACTION_INIT;
	cleanup_buf struct buf uses = BUF_INIT;

	script_next(script, &action);
	ck_assert_int_eq(action.kind, SCRIPT_DO_TOOL);
	for (size_t i = 0; i < action.use_count; i++)
		buf_addf(
		    &uses, "%s %s;", action.uses[i].name, action.uses[i].input);
	script_action_release(&action);
	ck_assert_str_eq(uses.data, want);
}

TEST(tools_of_llmc_are_used_alone_or_at_once)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script,
	    "fake: tool a\nfake: also b {\"x\":{\"y\":1}}\nfake: also c\n"
	    "fake: tool d {}\nfake: also e");
	check_uses(&script, "a {};");
	check_uses(&script, "b {\"x\":{\"y\":1}};c {};d {};");
	/* Without a tool at the end, they are what is done. */
	check_uses(&script, "e {};");
	check_next(&script, "reply|done||0|0");
}

TEST(what_a_tool_said_can_be_used_and_kept)
{
	ended_by(script_release) struct script script = { 0 };

	load(&script,
	    "requestId: r-17 of eve\n"
	    "fake: tool a {\"id\":\"{{requestId}}\"}\n"
	    "fake: tool b {\"id\":\"{{id}}\",\"r\":\"{{requestId}}\"}\n"
	    "fake: tool c {\"id\":\"{{second id}}\",\"n\":{{n}}}\n"
	    "fake: say {{missing}}{{id}}\n"
	    "fake: keep /a b/c\n");
	check_uses(&script, "a {\"id\":\"r-17\"};");
	script_answer(&script,
	    "{\"kid\":\"no\",\"id\":\"m_1\",\"n\": 5,"
	    "\"second\":{\"id\":\"actor:team:x\"}}");
	check_uses(&script, "b {\"id\":\"m_1\",\"r\":\"r-17\"};");
	check_uses(&script, "c {\"id\":\"actor:team:x\",\"n\":5};");
	script_answer(&script, "it's");
	check_next(&script, "tool||printf '%s\\n' 'it'\\''s' >'/a b/c'|0|0");
}
