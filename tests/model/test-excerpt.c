/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "excerpt.h"
#include "mem.h"
#include "text.h"
#include "unit.h"

static void
assert_excerpt(const char *output, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	excerpt_add(output, &out);
	ck_assert_str_eq(out.data + 1, wanted);
}

START_TEST(output_is_fenced)
{
	assert_excerpt("a\nb\n", "```\na\nb\n```\n");
	assert_excerpt("  a", "```\n  a\n```\n");
	assert_excerpt("see ``` here", "````\nsee ``` here\n````\n");
	assert_excerpt("`````", "``````\n`````\n``````\n");
	assert_excerpt("", "It printed nothing.\n");
	assert_excerpt(" \n\t\n", "It printed nothing.\n");
	assert_excerpt("\x1b[0m\x07", "It printed nothing.\n");
}
END_TEST

START_TEST(colours_and_controls_are_left_out)
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
END_TEST

/* count bytes of lines "0000001\n", the newline of the last one missing. */
static void
add_lines(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count / 8; i++)
		buf_addf(out, "%07zu\n", i);
	buf_truncate(out, out->len - 1);
}

START_TEST(the_end_stays_in_whole_lines)
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
END_TEST

START_TEST(one_long_line_is_cut_between_characters)
{
	cleanup_buf struct buf said = BUF_INIT, out = BUF_INIT;

	for (size_t i = 0; i < EXCERPT_MAX; i++)
		buf_adds(&said, "\xe2\x82\xac");
	excerpt_add(said.data, &out);
	ck_assert(text_utf8_valid(out.data, out.len));
	ck_assert_uint_le(out.len, EXCERPT_MAX + 60);
	ck_assert_uint_ge(out.len, EXCERPT_MAX);
}
END_TEST

START_TEST(plain_text_keeps_lines_and_loses_colours)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_plain("\x1b[1;31mred\x1b[0m\ta\r\n50%\r100%\a\n", &out);
	ck_assert_str_eq(out.data, "red\ta\n50%\n100%\n");
}
END_TEST

START_TEST(fence_is_longer_than_any_in_the_text)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_fence("a\n````", &out);
	ck_assert_str_eq(out.data, "`````\na\n````\n`````\n");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("excerpt");

	unit_case(suite, "excerpt",
	    (const TTest *[]){ output_is_fenced,
		colours_and_controls_are_left_out, the_end_stays_in_whole_lines,
		one_long_line_is_cut_between_characters,
		plain_text_keeps_lines_and_loses_colours,
		fence_is_longer_than_any_in_the_text, NULL });
	return suite;
}
