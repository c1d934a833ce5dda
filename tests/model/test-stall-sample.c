/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "limit.h"

#define MESSAGES 4

static const struct {
	const char *name;
	struct stall_message messages[MESSAGES];
	size_t count;
	enum stall_class class;
	const char *why;
} cases[] = {
	{ "nothing", { { 0 } }, 0, STALL_UNKNOWN, "no messages" },
	{ "a question",
	    { { STALL_ASSISTANT, "Should I use A or B?", NULL, false } }, 1,
	    STALL_WAITING, "asks a question" },
	{ "a question that was answered",
	    { { STALL_ASSISTANT, "Should I use A or B?", NULL, false },
		{ STALL_USER, "A", NULL, false } },
	    2, STALL_SLOW, "has not ended" },
	{ "a refusal",
	    { { STALL_ASSISTANT, "I cannot complete this task.", NULL,
		false } },
	    1, STALL_FAILED, "cannot go on" },
	{ "blocked by its own word",
	    { { STALL_ASSISTANT,
		"```json\n{\"overseerUpdate\":{\"status\":\"blocked\","
		"\"blockers\":[\"no key\"]}}\n```",
		NULL, false } },
	    1, STALL_WAITING, "blocked: no key" },
	{ "plain words",
	    { { STALL_ASSISTANT, "I added the test.", NULL, false } }, 1,
	    STALL_SLOW, "neither a question" },
	{ "a tool that asks",
	    { { STALL_TOOL_CALL, NULL, "AskUserQuestion", false } }, 1,
	    STALL_WAITING, "AskUserQuestion" },
	{ "a tool that runs", { { STALL_TOOL_CALL, NULL, "Bash", false } }, 1,
	    STALL_SLOW, "a tool is running: Bash" },
	{ "tools that fail again and again",
	    { { STALL_TOOL_RESULT, "no", NULL, true },
		{ STALL_TOOL_RESULT, "no", NULL, true },
		{ STALL_TOOL_RESULT, "no", NULL, true } },
	    3, STALL_FAILED, "all failed" },
	{ "a tool that worked in between",
	    { { STALL_TOOL_RESULT, "no", NULL, true },
		{ STALL_TOOL_RESULT, "yes", NULL, false },
		{ STALL_TOOL_RESULT, "no", NULL, true },
		{ STALL_TOOL_RESULT, "no", NULL, true } },
	    4, STALL_SLOW, "has not ended" },
	{ "an outage",
	    { { STALL_ASSISTANT, "API Error: 529 Overloaded", NULL, true } }, 1,
	    STALL_SLOW, "not available" },
	{ "a login",
	    { { STALL_ASSISTANT, "Invalid API key. Please run /login", NULL,
		true } },
	    1, STALL_WAITING, "log in" },
	{ "another error of the API",
	    { { STALL_ASSISTANT, "It broke", NULL, true } }, 1, STALL_FAILED,
	    "the API refused: It broke" },
	{ "a message without text", { { STALL_ASSISTANT, NULL, NULL, false } },
	    1, STALL_SLOW, "" },
};

TEST_ROWS(the_last_messages_tell_the_class, nitems(cases))
{
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert_msg(stall_sample_classify(cases[_i].messages, cases[_i].count,
			  &why) == cases[_i].class,
	    "%s: %s", cases[_i].name, why.data);
	ck_assert_msg(strstr(why.data, cases[_i].why) != NULL, "%s: %s",
	    cases[_i].name, why.data);
	ck_assert_int_eq(
	    stall_sample_classify(cases[_i].messages, cases[_i].count, NULL),
	    cases[_i].class);
}

TEST(only_the_last_twenty_count)
{
	struct stall_message many[STALL_SAMPLE_MESSAGES + 2] = { 0 };

	for (size_t i = 0; i < nitems(many); i++)
		many[i] = (struct stall_message){ .role = STALL_USER };
	/* Two failures in the window, and one before it. */
	many[1] = (struct stall_message){ STALL_TOOL_RESULT, NULL, NULL, true };
	many[2] = many[1];
	many[3] = many[1];
	ck_assert_int_eq(
	    stall_sample_classify(many, nitems(many), NULL), STALL_SLOW);
	ck_assert_int_eq(
	    stall_sample_classify(many, nitems(many) - 1, NULL), STALL_FAILED);
}

TEST(every_class_has_a_name)
{
	for (int i = 0; i < STALL_CLASS_COUNT; i++)
		ck_assert_ptr_nonnull(stall_class_name((enum stall_class)i));
	ck_assert_str_eq(stall_class_name(STALL_WAITING), "waiting");
}
