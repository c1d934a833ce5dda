/* SPDX-License-Identifier: ISC */

/* Why nothing happens, from the end of a transcript. */
#include "unit.h"
#include "transcript.h"

#define SAYS(who, text)                                            \
	"{\"type\":\"" who "\",\"message\":{\"role\":\"" who "\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define CALLS(tool)                                                    \
	"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\"," \
	"\"content\":[{\"type\":\"tool_use\",\"name\":\"" tool "\"}]}}\n"
#define FAILS                                                            \
	"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":" \
	"[{\"type\":\"tool_result\",\"is_error\":true,"                  \
	"\"content\":\"no\"}]}}\n"

static enum stall_class
class_of(const char *text)
{
	const char *path = unit_path("t.jsonl");
	cleanup_buf struct buf why = BUF_INIT;
	enum stall_class class;

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	class = transcript_tail_class(path, &why);
	ck_assert(class == STALL_UNKNOWN || why.len > 0);
	return class;
}

TEST(the_last_messages_tell_why_nothing_happens)
{
	ck_assert_int_eq(class_of(SAYS("user", "Do it.") SAYS(
			     "assistant", "Shall I delete the old file?")),
	    STALL_WAITING);
	ck_assert_int_eq(
	    class_of(SAYS("user", "Do it.") CALLS("AskUserQuestion")),
	    STALL_WAITING);
	ck_assert_int_eq(class_of(CALLS("Bash") FAILS CALLS("Bash")
				 FAILS CALLS("Bash") FAILS),
	    STALL_FAILED);
	ck_assert_int_eq(
	    class_of(SAYS("user", "Do it.") CALLS("Bash")), STALL_SLOW);
}

TEST(broken_lines_and_other_kinds_do_not_count)
{
	ck_assert_int_eq(class_of(""), STALL_UNKNOWN);
	ck_assert_int_eq(class_of("cut\": 1}\n{\"type\":\"summary\"}\n[1]\n"
				  "{\"type\":\"user\",\"message\":7}\n"),
	    STALL_UNKNOWN);
	ck_assert_int_eq(
	    transcript_tail_class(unit_path("missing.jsonl"), NULL),
	    STALL_UNKNOWN);
}

TEST(only_the_end_of_a_long_file_is_read)
{
	cleanup_buf struct buf text = BUF_INIT;

	while (text.len < (size_t)512 * 1024)
		buf_adds(&text, SAYS("assistant", "Shall I go on?"));
	buf_adds(&text, SAYS("user", "Yes.") CALLS("Bash"));
	ck_assert_int_eq(class_of(text.data), STALL_SLOW);
}
