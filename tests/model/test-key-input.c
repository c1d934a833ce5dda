/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "top.h"

static const struct {
	uint32_t key;
	const char *name;
} names[] = {
	{ TOP_KEY_UP, "<up>" },
	{ TOP_KEY_DOWN, "<down>" },
	{ TOP_KEY_LEFT, "<left>" },
	{ TOP_KEY_RIGHT, "<right>" },
	{ TOP_KEY_HOME, "<home>" },
	{ TOP_KEY_END, "<end>" },
	{ TOP_KEY_PAGE_UP, "<pgup>" },
	{ TOP_KEY_PAGE_DOWN, "<pgdn>" },
	{ TOP_KEY_F1, "<f1>" },
	{ TOP_KEY_F10, "<f10>" },
	{ TOP_KEY_ENTER, "<enter>" },
	{ TOP_KEY_TAB, "<tab>" },
	{ TOP_KEY_BACKTAB, "<backtab>" },
	{ TOP_KEY_BACKSPACE, "<bs>" },
	{ TOP_KEY_ESC, "<esc>" },
	{ TOP_KEY_INTERRUPT, "<int>" },
	{ TOP_KEY_REDRAW, "<redraw>" },
};

static void
add_key(uint32_t key, bool pasted, void *arg)
{
	struct buf *out = arg;

	if (pasted)
		buf_addc(out, '\'');
	for (size_t i = 0; i < nitems(names); i++)
		if (names[i].key == key) {
			buf_adds(out, names[i].name);
			return;
		}
	if (key < ' ')
		buf_addf(out, "^%c", (char)(key + '@'));
	else
		text_add_codepoint(out, key);
}

/* What the bytes are, at once and byte by byte. */
static void
expect(const char *bytes, size_t len, const char *keys)
{
	cleanup_buf struct buf whole = BUF_INIT, single = BUF_INIT;
	struct key_input a = KEY_INPUT_INIT, b = KEY_INPUT_INIT;

	key_input_feed(&a, bytes, len, add_key, &whole);
	for (size_t i = 0; i < len; i++)
		key_input_feed(&b, bytes + i, 1, add_key, &single);
	ck_assert_int_eq(key_input_wait_ms(&a), key_input_wait_ms(&b));
	if (key_input_wait_ms(&a) > 0) {
		key_input_timeout(&a, add_key, &whole);
		key_input_timeout(&b, add_key, &single);
	}
	ck_assert_int_eq(key_input_wait_ms(&a), 0);
	ck_assert_str_eq(whole.data, keys);
	ck_assert_str_eq(single.data, keys);
}

static const struct {
	const char *bytes, *keys;
} rows[] = {
	{ "jk/ $", "jk/ $" },
	{ "\r\n\t\b\x7f", "<enter><enter><tab><bs><bs>" },
	{ "\x03\x0c\x1a", "<int><redraw>^Z" },
	{ "\x1b[A\x1b[B\x1b[C\x1b[D", "<up><down><right><left>" },
	{ "\x1bOA\x1bOB\x1bOC\x1bOD\x1bOM", "<up><down><right><left><enter>" },
	{ "\x1b[1;5Ax\x1b[1;2B", "<up>x<down>" },
	{ "\x1b[H\x1b[F\x1bOH\x1bOF", "<home><end><home><end>" },
	{ "\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "<home><end><home><end>" },
	{ "\x1b[5~\x1b[6~\x1b[5;3~", "<pgup><pgdn><pgup>" },
	{ "\x1bOP\x1b[11~\x1b[P\x1b[21~\x1bO5P", "<f1><f1><f1><f10><f1>" },
	{ "\x1b[Z", "<backtab>" },
	/* A character of two, three and four bytes, and a combining one. */
	{ "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80"
	  "e\xcc\x81",
	    "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x98\x80"
	    "e\xcc\x81" },
	/* Cut, overlong, a surrogate, a control character of two bytes. */
	{ "\xe6\x97q\xc0\xafq\xed\xa0\x80q\xc2\x9bq\xff\x80q", "qqqqq" },
	/* Esc alone, twice, and before an arrow. */
	{ "\x1b", "<esc>" },
	{ "\x1b\x1b", "<esc><esc>" },
	{ "\x1b\x1b[A", "<esc><up>" },
	/* Alt with a key, the mouse, focus, answers, other keys: nothing. */
	{ "\x1bqa", "a" },
	{ "\x1b[M !!a", "a" },
	{ "\x1b[<0;12;7Ma\x1b[<0;12;7mb", "ab" },
	{ "\x1b[Ia\x1b[Ob", "ab" },
	{ "\x1b[24;80Ra\x1b[?1;2cb\x1b[>0;136;0cd", "abd" },
	{ "\x1b]11;rgb:0/0/0\x1b\\a\x1b]0;q\ab\x1bPqq\x1b\\d", "abd" },
	{ "\x1b]q\x1b[Aa", "<up>a" },
	{ "\x1b[[Aa\x1b[3~b\x1b[99~d\x1b[1;1;1;1;1;1;1;1;1;1;1;1Ae", "abde" },
	/* Begun, and never ended. */
	{ "\x1b[1;", "" },
	{ "\x1b]11;q", "" },
	{ "\xe6\x97", "" },
	{ "\x1b[12\x1b[A", "<up>" },
	{ "\x1b[1\rq", "q" },
};

TEST_ROWS(bytes_become_keys, nitems(rows))
{
	expect(rows[_i].bytes, strlen(rows[_i].bytes), rows[_i].keys);
}

TEST(a_paste_is_text_and_no_command)
{
	const char paste[] = "a\x1b[200~q\nx\ty\x03\x1b[A\x1b[M\xc3\xa4"
			     "\x1b[201~b";

	expect(paste, sizeof paste - 1,
	    "a'q' 'x' 'y'\xc3\xa4"
	    "b");
}

TEST(a_paste_that_never_ends_lets_keys_through_again)
{
	cleanup_buf struct buf keys = BUF_INIT;
	struct key_input input = KEY_INPUT_INIT;

	key_input_feed(&input, "\x1b[200~ab", 8, add_key, &keys);
	ck_assert_int_gt(key_input_wait_ms(&input), 1000);
	key_input_timeout(&input, add_key, &keys);
	key_input_feed(&input, "q", 1, add_key, &keys);
	ck_assert_str_eq(keys.data, "'a'bq");
}

TEST(a_nul_is_no_key)
{
	expect("a\0b", 3, "ab");
}
