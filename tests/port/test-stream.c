/* SPDX-License-Identifier: ISC */

/* An agent without a terminal: what is typed, and what it says in words. */
#include "claude-world.h"
#include "stream.h"

TEST(what_it_says_is_shown_in_words)
{
	static const struct {
		const char *line, *words;
	} rows[] = {
		{ "{\"type\":\"assistant\",\"message\":{\"content\":["
		  "{\"type\":\"text\",\"text\":\"hi \\u001b[2J\"},"
		  "{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":"
		  "{\"description\":\"d\",\"command\":\"ls\\n-l\"}},"
		  "{\"type\":\"tool_use\",\"name\":\"X\",\"input\":{}}]}}",
		    "hi \\x1b[2J\n* Bash ls -l\n* X {}\n" },
		{ "{\"type\":\"user\",\"message\":{\"content\":["
		  "{\"type\":\"tool_result\",\"content\":\"a\\nb\"}]}}",
		    "  = a b\n" },
		{ "{\"type\":\"user\",\"message\":{\"content\":\"t\"}}",
		    "t\n" },
		{ "{\"type\":\"result\",\"is_error\":true,\"result\":\"429\"}",
		    "--- the turn failed: 429\n" },
		{ "{\"type\":\"result\",\"num_turns\":2}",
		    "--- the turn ended\n" },
		{ "{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
		  "\"a piece\",\"delta\":true}",
		    "a piece" },
		{ "{\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"}",
		    "" },
		{ "{\"type\":\"tool_use\",\"tool_name\":\"T\","
		  "\"parameters\":{\"command\":\"ls\"}}",
		    "* T ls\n" },
		{ "{\"type\":\"tool_result\",\"output\":\"o\"}", "  = o\n" },
		{ "{\"type\":\"error\",\"message\":\"m\"}", "--- m\n" },
		{ "{\"type\":\"result\",\"error\":{\"message\":\"quota\"}}",
		    "--- the turn failed: quota\n" },
		{ "{\"type\":\"conversation_reset\"}",
		    "--- a new conversation\n" },
		{ "{\"type\":\"system\",\"subtype\":\"init\"}", "" },
		{ "{\"type\":\"assistant\",\"message\":7}", "" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *json = NULL;
		cleanup_buf struct buf out = BUF_INIT;

		ck_assert_int_eq(json_parse(rows[i].line, strlen(rows[i].line),
				     65536, &json, NULL),
		    0);
		stream_words(json, &out);
		ck_assert_str_eq(out.data, rows[i].words);
	}
}

/* [text] is a prompt, ! an interrupt. */
TEST(keys_are_prompts_and_interrupts)
{
	static const struct {
		const char *bytes, *acts;
	} rows[] = {
		{ "hi\r", "[hi]" },
		{ "\r\r", "" },
		{ "\033[200~a\nb\tc\rd\033[201~\r", "[a\nb\tc\rd]" },
		{ "\033[200~a\033[201~\033[200~b\033[201~\r\r", "[ab]" },
		{ "\033[200~\033[A\033[201~\r", "[\033[A]" },
		{ "a\177b\r", "[b]" },
		{ "\303\274\177x\r", "[x]" },
		{ "old\025new\r", "[new]" },
		{ "\033\033[Ax\003\r", "!![x]" },
		{ "\033[999999999999999999999999999999999999~y\r", "[y]" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct stream_keys keys = { .box = BUF_INIT,
			.sequence = BUF_INIT };
		cleanup_buf struct buf acts = BUF_INIT;

		for (const char *c = rows[i].bytes; *c != '\0'; c++)
			switch (stream_key(&keys, *c)) {
			case STREAM_SUBMIT:
				buf_addf(&acts, "[%s]", keys.box.data);
				buf_clear(&keys.box);
				break;
			case STREAM_INTERRUPT:
				buf_addc(&acts, '!');
				break;
			default:
				break;
			}
		ck_assert_str_eq(acts.data, rows[i].acts);
		buf_release(&keys.box);
		buf_release(&keys.sequence);
	}
}

TEST(it_is_claude_with_a_terminal_of_ours)
{
	cleanup_free char *launcher = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	static const char *const words[] = { "\"stream\"", "\"-p\"",
		"\"--input-format\"", "\"--settings\"", "\"--session-id\"" };

	claude_world_begin("[defaults]\nagent = \"claude-headless\"\n");
	launcher = claude_world_prepare();
	ck_assert_int_eq(file_read(launcher, 1 << 20, &text, NULL), 0);
	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_msg(
		    strstr(text.data, words[i]) != NULL, "%s", words[i]);
}
