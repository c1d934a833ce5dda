/* SPDX-License-Identifier: ISC */

#include "excerpt.h"
#include "unit.h"

static void
assert_excerpt(const char *output, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	excerpt_add(output, &out);
	ck_assert_str_eq(out.data + 1, wanted);
}

TEST(output_is_fenced)
{
	assert_excerpt("a\nb\n", "```\na\nb\n```\n");
	assert_excerpt("  a", "```\n  a\n```\n");
	assert_excerpt("see ``` here", "````\nsee ``` here\n````\n");
	assert_excerpt("`````", "``````\n`````\n``````\n");
	assert_excerpt("", "It printed nothing.\n");
	assert_excerpt(" \n\t\n", "It printed nothing.\n");
	assert_excerpt("\x1b[0m\x07", "It printed nothing.\n");
}

TEST(colours_and_controls_are_left_out)
{
	assert_excerpt("\x1b[1;31mred\x1b[0m\x1b[K", "```\nred\n```\n");
	assert_excerpt("\x1b]0;title\x07x", "```\nx\n```\n");
	assert_excerpt("\x1b]8;;http://a\x1b\\x", "```\nx\n```\n");
	assert_excerpt("10%\r20%\r\ndone", "```\n10%\n20%\ndone\n```\n");
	assert_excerpt("a\x01\x7f\tb\xff", "```\na\tb\xef\xbf\xbd\n```\n");
	assert_excerpt("a\x1b", "```\na\n```\n");
	assert_excerpt("a\x1b[", "```\na\n```\n");
	assert_excerpt("a\x1b[12", "```\na\n```\n");
	assert_excerpt("a\x1b[3\nb", "```\na\nb\n```\n");
}

/* count bytes of lines "0000001\n", without the last newline. */
static void
add_lines(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count / 8; i++)
		buf_addf(out, "%07zu\n", i);
	buf_truncate(out, out->len - 1);
}

TEST(the_end_stays_in_whole_lines)
{
	cleanup_buf struct buf said = BUF_INIT, out = BUF_INIT;
	cleanup_free char *wanted = NULL;

	add_lines(&said, EXCERPT_MAX);
	excerpt_add(said.data, &out);
	wanted = xasprintf("```\n%s\n```\n", said.data);
	ck_assert_str_eq(out.data, wanted); /* all of it fits */

	buf_clear(&said);
	buf_clear(&out);
	add_lines(&said, EXCERPT_MAX * 2 + 8);
	excerpt_add(said.data, &out);
	ck_assert_int_eq(
	    strncmp(out.data,
		"(The first 8200 bytes are left out.)\n```\n0001025\n", 49),
	    0);
	ck_assert_ptr_nonnull(strstr(out.data, "\n0002048\n```\n"));
}

TEST(one_long_line_is_cut_between_characters)
{
	cleanup_buf struct buf said = BUF_INIT, out = BUF_INIT;

	for (size_t i = 0; i < EXCERPT_MAX; i++)
		buf_adds(&said, "\xe2\x82\xac");
	excerpt_add(said.data, &out);
	ck_assert(text_utf8_valid(out.data, out.len));
	ck_assert_uint_le(out.len, EXCERPT_MAX + 60);
	ck_assert_uint_ge(out.len, EXCERPT_MAX);
}

TEST(plain_text_keeps_lines_and_loses_colours)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_plain("\x1b[1;31mred\x1b[0m\ta\r\n50%\r100%\a\n", &out);
	ck_assert_str_eq(out.data, "red\ta\n50%\n100%\n");
}

TEST(fence_is_longer_than_any_in_the_text)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_fence("a\n````", "", &out);
	ck_assert_str_eq(out.data, "`````\na\n````\n`````\n");
}

static void
assert_tail(const char *text, int lines, size_t max, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	excerpt_tail(text, strlen(text), lines, max, &out);
	ck_assert_str_eq(out.data + 1, wanted);
}

TEST(tail_is_the_last_lines)
{
	assert_tail("a\nb\nc\n", 2, 100, "b\nc\n");
	assert_tail("a\nb\nc", 2, 100, "b\nc");
	assert_tail("a\nb\nc\n", 3, 100, "a\nb\nc\n");
	assert_tail("a\nb\nc\n", 4, 100, "a\nb\nc\n");
	assert_tail("a\n\n\n", 2, 100, "\n\n");
	assert_tail("a\nb\n", 0, 100, "");
	assert_tail("a\nb\n", -1, 100, "");
	assert_tail("", 5, 100, "");
	assert_tail("\n", 5, 100, "\n");
}

TEST(tail_is_cut_at_a_line)
{
	assert_tail("aaaa\nbb\ncc\n", 9, 11, "aaaa\nbb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 10, "bb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 6, "bb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 5, "cc\n");
	assert_tail("aaaa\nbb\ncc\n", 1, 5, "cc\n");
	assert_tail("a\nb\n", 9, 0, "");
}

TEST(tail_of_one_long_line_is_its_end)
{
	assert_tail("abcdef", 9, 4, "cdef");
	assert_tail("x\nabcdef", 9, 4, "cdef");
	assert_tail("\xe2\x82\xac\xe2\x82\xac", 9, 5, "\xe2\x82\xac");
}

TEST(tail_replaces_invalid_bytes_within_its_bound)
{
	assert_tail("a\xff", 9, 4, "a\xef\xbf\xbd");
	assert_tail("a\xff", 9, 3, "\xef\xbf\xbd");
	assert_tail("a\xff", 9, 2, "");
}

/* Line by line from the end, as slowly as it can be done. */
static void
tail_slowly(
    const char *text, size_t len, int lines, size_t max, struct buf *out)
{
	size_t start = len;

	for (size_t i = len; i-- > 0 && lines > 0;) {
		if (i > 0 && text[i - 1] != '\n')
			continue;
		if (len - i > max)
			break;
		start = i;
		lines--;
	}
	buf_add(out, text + start, len - start);
}

TEST(random_tails_are_those_made_slowly)
{
	static const char *const pieces[] = { "a", "\n", "bc\n", "def" };

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_buf struct buf fast = BUF_INIT, slow = BUF_INIT;
		int lines = (int)dice_below(&dice, 8);
		size_t max = dice_below(&dice, 30);

		dice_text(&dice, pieces, nitems(pieces), 60, &text);
		excerpt_tail(text.data, text.len, lines, max, &fast);
		tail_slowly(text.data, text.len, lines, max, &slow);
		/* Only a line longer than the bound is cut in itself. */
		if (slow.len > 0)
			ck_assert_str_eq(fast.data, slow.data);
		else
			ck_assert_uint_le(fast.len, max);
	}
}
