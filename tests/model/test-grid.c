/* SPDX-License-Identifier: ISC */

#include "screen-emulator.h"

static void
assert_prints(const struct grid *grid, const char *text)
{
	cleanup_buf struct buf out = BUF_INIT;

	grid_print(grid, &out);
	ck_assert_str_eq(out.data, text);
}

/* Every wide character has its right half, and no cell is without width. */
static bool
is_whole(const struct grid *grid)
{
	for (int row = 0; row < grid->rows; row++)
		for (int i = 0; i < grid->columns; i++) {
			const struct grid_cell *c =
			    &grid->cells[row * grid->columns + i];

			if (c->len == 0 || c->width < 1 || c->width > 2 ||
			    text_width(c->text, c->len) != c->width)
				return false;
			if (c->width == 2 &&
			    (++i == grid->columns || c[1].width != 0 ||
				c[1].len != 0 || c[1].style != c->style))
				return false;
		}
	return true;
}

TEST(text_is_clipped_at_its_width_and_at_the_edge)
{
	struct grid *grid = grid_new(2, 6);

	ck_assert_int_eq(grid_text(grid, 0, 0, 3, "abcdef", STYLE_PLAIN), 3);
	ck_assert_int_eq(grid_text(grid, 1, 4, 9, "abcdef", STYLE_PLAIN), 2);
	ck_assert_int_eq(grid_text(grid, 2, 0, 9, "no row", STYLE_PLAIN), 0);
	ck_assert_int_eq(grid_text(grid, 0, 6, 9, "x", STYLE_PLAIN), 0);
	ck_assert_int_eq(grid_text(grid, -1, -1, 9, "x", STYLE_PLAIN), 0);
	ck_assert_int_eq(grid_text(grid, 0, 0, 9, NULL, STYLE_PLAIN), 0);
	assert_prints(grid, "abc\n    ab\n");
	grid_free(grid);
}

TEST(a_wide_character_is_never_cut_in_half)
{
	struct grid *grid = grid_new(3, 5);

	ck_assert_int_eq(
	    grid_text(grid, 0, 0, 5, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2!",
		STYLE_PLAIN),
	    4);
	ck_assert(is_whole(grid));
	grid_text(grid, 1, 0, 5, "a\xe6\xbc\xa2\xe5\xad\x97", STYLE_PLAIN);
	grid_text(grid, 1, 2, 1, "x", STYLE_PLAIN);
	ck_assert(is_whole(grid));
	grid_text(grid, 2, 0, 5, "a\xe6\xbc\xa2\xe5\xad\x97", STYLE_PLAIN);
	grid_text(grid, 2, 2, 2, "\xe6\xbc\xa2", STYLE_PLAIN);
	ck_assert(is_whole(grid));
	assert_prints(grid,
	    "\xe6\xbc\xa2\xe5\xad\x97\n"
	    "a x\xe5\xad\x97\n"
	    "a \xe6\xbc\xa2\n");
	grid_free(grid);
}

TEST(combining_marks_stay_with_their_character)
{
	struct grid *grid = grid_new(1, 3);
	cleanup_buf struct buf marks = BUF_INIT;

	ck_assert_int_eq(
	    grid_text(grid, 0, 0, 2, "e\xcc\x81x\xcc\x88yz", STYLE_PLAIN), 2);
	assert_prints(grid, "e\xcc\x81x\xcc\x88\n");
	grid_clear(grid);
	ck_assert_int_eq(grid_text(grid, 0, 0, 3, "\xcc\x81x", STYLE_PLAIN), 2);
	assert_prints(grid, "\xe2\x97\x8c\xcc\x81x\n");
	for (int i = 0; i < 100; i++)
		buf_adds(&marks, i == 0 ? "e" : "\xcc\x81");
	grid_clear(grid);
	ck_assert_int_eq(grid_text(grid, 0, 0, 3, marks.data, STYLE_PLAIN), 1);
	ck_assert(is_whole(grid));
	grid_free(grid);
}

TEST(what_would_control_a_terminal_is_made_visible)
{
	struct grid *grid = grid_new(1, 60);

	grid_text(grid, 0, 0, 60,
	    "a\033[31mb\nc\x80\xe2\x80\xae"
	    "d\x7f\xe2\x80\x8dz",
	    STYLE_PLAIN);
	assert_prints(grid, "a\\x1b[31mb\\x0ac\\x80\\u202ed\\x7f\\u200dz\n");
	ck_assert(is_whole(grid));
	ck_assert_int_eq(grid_text_width("\033x"), 5);
	grid_free(grid);
}

TEST(text_is_aligned_to_the_right)
{
	struct grid *grid = grid_new(1, 8);

	grid_text_right(grid, 0, 1, 5, "12", STYLE_PLAIN);
	assert_prints(grid, "    12\n");
	grid_text_right(grid, 0, 1, 5, "1234567", STYLE_PLAIN);
	assert_prints(grid, " 12345\n");
	grid_free(grid);
}

TEST(equal_screens_need_no_bytes)
{
	struct grid *a = grid_new(4, 20), *b = grid_new(4, 20);
	cleanup_buf struct buf out = BUF_INIT;

	grid_text(a, 1, 3, 9, "same", STYLE_BAD);
	grid_text(b, 1, 3, 9, "same", STYLE_BAD);
	ck_assert(screen_same(a, b));
	grid_draw(a, b, GRID_COLOURS_16, &out);
	ck_assert_uint_eq(out.len, 0);
	grid_text(b, 1, 3, 9, "sane", STYLE_BAD);
	ck_assert(!screen_same(a, b));
	grid_draw(a, b, GRID_COLOURS_16, &out);
	ck_assert_str_eq(out.data, "\033[2;6H\033[0;1;31mn\033[0m");
	grid_free(a);
	grid_free(b);
}

TEST(without_colours_no_byte_is_about_colours)
{
	struct grid *grid = grid_new(1, STYLE_COUNT);
	cleanup_buf struct buf out = BUF_INIT;

	for (int i = 0; i < STYLE_COUNT; i++)
		grid_text(grid, 0, i, 1, "x", (enum grid_style)i);
	grid_draw(NULL, grid, GRID_COLOURS_NONE, &out);
	ck_assert_ptr_null(strstr(out.data, ";3"));
	grid_free(grid);
}

static void
scribble(struct grid *grid, struct dice *dice)
{
	static const char *const words[] = { "a", "plain words", "  ", "\033[H",
		"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", "e\xcc\x81\xcc\x88",
		"\xf0\x9f\x98\x80!", "\xff\xfe", "\xcc\x81",
		"\xc3\xa4\xc3\xb6" };
	int writes = (int)dice_below(dice, 40);

	while (writes-- > 0) {
		int row = (int)dice_below(dice, (unsigned)grid->rows);
		int column = (int)dice_below(dice, (unsigned)grid->columns);
		enum grid_style style =
		    (enum grid_style)dice_below(dice, STYLE_COUNT);

		if (dice_below(dice, 5) == 0)
			grid_restyle(grid, row, column, 7, style);
		else if (dice_below(dice, 5) == 0)
			grid_fill(grid, row, column, 9, ' ', STYLE_PLAIN);
		else
			grid_text(grid, row, column, 12,
			    words[dice_below(dice, nitems(words))], style);
	}
}

TEST(a_terminal_that_gets_the_bytes_shows_the_new_screen)
{
	int trials = unit_times(5000);

	for (int i = 0; i < trials; i++) {
		struct dice dice = { (uint64_t)i + 1 };
		int rows = 1 + (int)dice_below(&dice, 8);
		int columns = 1 + (int)dice_below(&dice, 30);
		struct grid *before = grid_new(rows, columns);
		struct grid *after = grid_new(rows, columns);
		enum grid_colours colours =
		    (enum grid_colours)(1 + dice_below(&dice, 3));
		cleanup_buf struct buf out = BUF_INIT;

		scribble(before, &dice);
		if (dice_below(&dice, 2) == 0)
			memcpy(after->cells, before->cells,
			    (size_t)(rows * columns) * sizeof *after->cells);
		scribble(after, &dice);
		ck_assert_msg(is_whole(after), "trial %d", i);
		grid_draw(before, after, colours, &out);
		screen_emulate(before, colours, out.data, out.len);
		ck_assert_msg(screen_same(before, after), "trial %d", i);
		grid_clear(before);
		scribble(before, &dice);
		buf_clear(&out);
		grid_draw(NULL, after, colours, &out);
		screen_emulate(before, colours, out.data, out.len);
		ck_assert_msg(screen_same(before, after), "trial %d", i);
		grid_free(before);
		grid_free(after);
	}
}
