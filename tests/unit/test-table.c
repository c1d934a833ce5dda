/* SPDX-License-Identifier: ISC */

#include "table.h"
#include "unit.h"

#define ROW(...) ((const char *const[]){ __VA_ARGS__ })

static const struct table_column workers[] = {
	{ .title = "NAME" },
	{ .title = "AGE", .right = true },
	{ .title = "GOAL", .flexible = true },
};

static void
expect(const struct table *table, int width, bool colours, const char *text)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	table_print(table, width, colours, &out);
	ck_assert_str_eq(out.data + 1, text);
}

static struct table *
make_workers(void)
{
	struct table *table = table_new(workers, nitems(workers));

	table_row(table, ROW("ada", "5m", "write the parser"));
	table_row(table, ROW("grace", "12h", "test it"));
	return table;
}

TEST(columns_line_up)
{
	struct table *table = make_workers();

	expect(table, 0, false,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the parser\n"
	    "grace  12h  test it\n");
	/* Exactly wide enough, and wider. */
	expect(table, 28, false,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the parser\n"
	    "grace  12h  test it\n");
	expect(table, INT_MAX, false,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the parser\n"
	    "grace  12h  test it\n");
	table_free(table);
}

TEST(a_table_without_rows_has_only_its_heading)
{
	struct table *table = table_new(workers, nitems(workers));

	expect(table, 0, false, "NAME  AGE  GOAL\n");
	table_free(table);
	table_free(NULL);
}

TEST(no_titles_no_heading)
{
	struct table *table =
	    table_new((struct table_column[]){ { 0 }, { 0 } }, 2);

	expect(table, 0, false, "");
	table_row(table, ROW("a", "b"));
	expect(table, 0, false, "a  b\n");
	table_free(table);
}

TEST(one_title_is_enough_for_a_heading)
{
	struct table *table =
	    table_new((struct table_column[]){ { 0 }, { .title = "T" } }, 2);

	table_row(table, ROW("ab", "c"));
	expect(table, 0, false, "    T\nab  c\n");
	table_free(table);
}

TEST(texts_are_copied)
{
	char title[] = "T", cell[] = "cell", sgr[] = "32";
	struct table *table =
	    table_new((struct table_column[]){ { .title = title } }, 1);

	table_row(table, ROW(cell));
	table_colour(table, 0, sgr);
	memset(title, 'x', 1);
	memset(cell, 'x', 4);
	memset(sgr, 'x', 2);
	expect(table, 0, true, "T\n\033[32mcell\033[0m\n");
	table_free(table);
}

TEST(no_blanks_at_the_end_of_a_line)
{
	struct table *table = table_new(workers, nitems(workers));

	table_row(table, ROW("ada", NULL, NULL));
	table_row(table, ROW("grace", "", "x  "));
	table_row(table, ROW("  lead", "1", "   "));
	table_row(table, ROW(NULL, NULL, NULL));
	table_row(table, ROW(NULL, NULL, "y"));
	expect(table, 0, false,
	    "NAME    AGE  GOAL\n"
	    "ada\n"
	    "grace        x\n"
	    "  lead    1\n"
	    "\n"
	    "             y\n");
	table_free(table);
}

TEST(control_characters_are_shown)
{
	struct table *table = table_new(workers, nitems(workers));

	table_row(table, ROW("a\033[2Jb", "1", "two\nlines\t\xff"));
	expect(table, 0, false,
	    "NAME       AGE  GOAL\n"
	    "a\\x1b[2Jb    1  two\\x0alines\\x09\\xff\n");
	table_free(table);
}

TEST(wide_and_combining_characters_line_up)
{
	struct table *table =
	    table_new((struct table_column[]){ { 0 }, { 0 } }, 2);

	table_row(table, ROW("\xe6\xbc\xa2\xe5\xad\x97", "1"));
	table_row(table, ROW("abc", "2"));
	table_row(table, ROW("e\xcc\x81", "3"));
	table_row(table, ROW("\xf0\x9f\x98\x80", "4"));
	expect(table, 0, false,
	    "\xe6\xbc\xa2\xe5\xad\x97  1\n"
	    "abc   2\n"
	    "e\xcc\x81     3\n"
	    "\xf0\x9f\x98\x80    4\n");
	table_free(table);
}

TEST(flexible_columns_are_cut_to_the_width)
{
	struct table *table = make_workers();

	expect(table, 22, false,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the\xe2\x80\xa6\n"
	    "grace  12h  test it\n");
	expect(table, 15, false,
	    "NAME   AGE  GO\xe2\x80\xa6\n"
	    "ada     5m  wr\xe2\x80\xa6\n"
	    "grace  12h  te\xe2\x80\xa6\n");
	/* Narrower than possible: one column remains. */
	expect(table, 5, false,
	    "NAME   AGE  \xe2\x80\xa6\n"
	    "ada     5m  \xe2\x80\xa6\n"
	    "grace  12h  \xe2\x80\xa6\n");
	table_free(table);
}

TEST(rigid_columns_are_never_cut)
{
	struct table *table =
	    table_new((struct table_column[]){ { 0 }, { 0 } }, 2);

	table_row(table, ROW("abcdef", "ghijkl"));
	expect(table, 3, false, "abcdef  ghijkl\n");
	table_free(table);
}

TEST(the_widest_flexible_column_gives_first)
{
	struct table *table =
	    table_new((struct table_column[]){ { .flexible = true },
			  { .flexible = true }, { 0 } },
		3);

	table_row(table, ROW("abcd", "abcdefgh", "abcdefghijkl"));
	expect(table, 27, false, "abcd  abcdef\xe2\x80\xa6  abcdefghijkl\n");
	expect(table, 24, false, "abcd  abc\xe2\x80\xa6  abcdefghijkl\n");
	expect(table, 23, false, "abcd  ab\xe2\x80\xa6  abcdefghijkl\n");
	expect(
	    table, 22, false, "ab\xe2\x80\xa6  ab\xe2\x80\xa6  abcdefghijkl\n");
	table_free(table);
}

TEST(a_wide_character_is_not_cut_in_half)
{
	struct table *table = table_new(
	    (struct table_column[]){ { .flexible = true }, { 0 } }, 2);

	table_row(table, ROW("\xe6\xbc\xa2\xe5\xad\x97", "1"));
	table_row(table, ROW("abcd", "2"));
	/* Three columns: the second Han does not fit beside the ellipsis. */
	expect(table, 6, false,
	    "\xe6\xbc\xa2\xe2\x80\xa6  1\n"
	    "ab\xe2\x80\xa6  2\n");
	expect(table, 5, false,
	    "\xe2\x80\xa6   1\n"
	    "a\xe2\x80\xa6  2\n");
	table_free(table);
}

TEST(a_right_column_is_cut_at_its_end)
{
	struct table *table = table_new(
	    (struct table_column[]){
		{ .right = true, .flexible = true }, { 0 } },
	    2);

	table_row(table, ROW("\xe6\xbc\xa2\xe5\xad\x97", "1"));
	table_row(table, ROW("x", "2"));
	expect(table, 5, false, " \xe2\x80\xa6  1\n x  2\n");
	table_free(table);
}

TEST(printed_lines_fit_the_width)
{
	struct table *table = table_new(
	    (struct table_column[]){ { .flexible = true },
		{ .right = true, .flexible = true }, { .flexible = true } },
	    3);

	table_row(table,
	    ROW("\xe6\xbc\xa2\xe5\xad\x97 and text", "123456789",
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"));
	table_row(table, ROW("short", "1", "a longer text than the others"));
	for (int width = 7; width < 70; width++) {
		cleanup_buf struct buf out = BUF_INIT;
		char *line, *rest;

		table_print(table, width, false, &out);
		rest = out.data;
		while ((line = strsep(&rest, "\n")) != NULL)
			ck_assert_int_le(text_width(line, strlen(line)), width);
	}
	table_free(table);
}

TEST(colours_wrap_the_text_but_not_the_padding)
{
	struct table *table = make_workers();

	table_colour(table, 0, "31");
	table_colour(table, 0, "1;32");
	table_colour(table, 1, "33");
	table_colour(table, 2, "7");
	table_row(table, ROW("x", "", "plain again"));
	table_colour(table, 1, "33");
	table_colour(table, 2, "33");
	table_colour(table, 2, NULL);
	expect(table, 0, true,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the parser\n"
	    "\033[1;32mgrace\033[0m  \033[33m12h\033[0m  "
	    "\033[7mtest it\033[0m\n"
	    "x           plain again\n");
	expect(table, 14, true,
	    "NAME   AGE  G\xe2\x80\xa6\n"
	    "ada     5m  w\xe2\x80\xa6\n"
	    "\033[1;32mgrace\033[0m  \033[33m12h\033[0m  "
	    "\033[7mt\xe2\x80\xa6\033[0m\n"
	    "x           p\xe2\x80\xa6\n");
	expect(table, 0, false,
	    "NAME   AGE  GOAL\n"
	    "ada     5m  write the parser\n"
	    "grace  12h  test it\n"
	    "x           plain again\n");
	table_free(table);
}

TEST(colour_of_a_cell_that_is_not_there_is_ignored)
{
	struct table *table = table_new(workers, nitems(workers));

	table_colour(table, 0, "31");
	table_row(table, ROW("a", "b", "c"));
	table_colour(table, -1, "31");
	table_colour(table, 3, "31");
	expect(table, 0, true, "NAME  AGE  GOAL\na       b  c\n");
	table_free(table);
}

TEST(many_rows)
{
	struct table *table =
	    table_new((struct table_column[]){ { .right = true } }, 1);
	cleanup_buf struct buf expected = BUF_INIT;

	for (int i = 0; i < 1000; i++) {
		cleanup_free char *cell = xasprintf("%d", i);

		table_row(table, ROW(cell));
		buf_addf(&expected, "%3d\n", i);
	}
	expect(table, 80, true, expected.data);
	table_free(table);
}
