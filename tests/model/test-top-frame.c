/* SPDX-License-Identifier: ISC */

/* Frames are compared with files of tests/model/frames. To write them anew,
 * after a look at what has changed: UNIT_GOLDEN=write test-top-frame. */
#include "screen-emulator.h"
#include "top-scene.h"
#include "top.h"
#include "view.h"

static const struct top_facts live = { .live = true, .now_ms = SCENE_NOW_MS };

/* --- frames that are known ------------------------------------------- */

/* The screen after some keys. */
static void
print_frame(struct json_object *view, const char *keys,
    const struct top_facts *facts, int columns, int rows, struct buf *out)
{
	struct top_ui ui;
	struct grid *grid = grid_new(rows, columns);

	top_ui_init(&ui);
	top_frame(view, &ui, facts, grid);
	for (; *keys != '\0'; keys++) {
		top_key(&ui, view, (uint32_t)(unsigned char)*keys);
		top_frame(view, &ui, facts, grid);
	}
	grid_print(grid, out);
	grid_free(grid);
	top_ui_release(&ui);
}

static void
assert_golden(const char *name, const struct buf *frame)
{
	const char *source = getenv("LLMC_SOURCE");
	cleanup_free char *path = xasprintf("%s/tests/model/frames/%s.txt",
	    source != NULL ? source : ".", name);
	cleanup_buf struct buf known = BUF_INIT;
	const char *mode = getenv("UNIT_GOLDEN");

	if (mode != NULL && strcmp(mode, "write") == 0)
		ck_assert_int_eq(
		    file_replace(path, frame->data, frame->len, 0644, NULL), 0);
	ck_assert_int_eq(file_read(path, 1 << 20, &known, NULL), 0);
	ck_assert_msg(strcmp(known.data, frame->data) == 0,
	    "%s is\n%s\nbut the frame is\n%s", path, known.data, frame->data);
}

static const struct {
	const char *name, *keys;
	int columns, rows;
} frames[] = {
	{ "workers-80x24", "", 80, 24 },
	{ "workers-160x50", "", 160, 50 },
	{ "workers-40x10", "", 40, 10 },
	{ "workers-20x5", "", 20, 5 },
	{ "tasks-80x24", "2", 80, 24 },
	{ "events-80x24", "3", 80, 24 },
	{ "failures-80x24", "4", 80, 24 },
	{ "worker-80x24", "\r", 80, 24 },
	{ "goal-80x24", "2\r", 80, 24 },
	{ "landing-80x24", "2j\r", 80, 24 },
	{ "task-80x24", "2jj\r", 80, 24 },
	{ "todo-80x24", "2jjjjj\r", 80, 24 },
	{ "ended-160x50", "2jjjjjjj", 160, 50 },
	{ "need-80x24", "4\r", 80, 24 },
	{ "question-80x24", "4jjj\r", 80, 24 },
	{ "failure-80x24", "4G\r", 80, 24 },
	{ "event-80x24", "3\r", 80, 24 },
	{ "cost-80x24", "$", 80, 24 },
	{ "help-80x40", "?", 80, 40 },
	{ "help-40x10", "?G", 40, 10 },
	{ "filter-80x24", "/parser", 80, 24 },
	{ "filtered-80x24", "/nobody\r", 80, 24 },
	{ "problems-80x24", "p", 80, 24 },
	{ "sorted-80x24", "s", 80, 24 },
	{ "asked-80x24", "P", 80, 24 },
	{ "message-80x24", "Mhello you", 80, 24 },
	{ "frozen-80x24", " ", 80, 24 },
};

TEST_ROWS(the_frame_of_a_night_is_as_it_was_agreed, nitems(frames))
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;

	print_frame(view, frames[_i].keys, &live, frames[_i].columns,
	    frames[_i].rows, &frame);
	assert_golden(frames[_i].name, &frame);
}

TEST(an_empty_view_is_shown)
{
	cleanup_json struct json_object *view = view_new();
	cleanup_buf struct buf frame = BUF_INIT;

	print_frame(view, "", &live, 80, 24, &frame);
	assert_golden("empty-80x24", &frame);
}

TEST(a_daemon_that_is_away_is_lost_for_some_time)
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;
	struct top_facts facts = { .now_ms = SCENE_NOW_MS,
		.lost_ms = SCENE_NOW_MS - 12500 };

	print_frame(view, "", &facts, 80, 24, &frame);
	ck_assert_ptr_nonnull(strstr(frame.data, "[lost 12s]"));
	ck_assert_ptr_nonnull(strstr(frame.data, "autod does not answer"));
	buf_clear(&frame);
	facts.lost_ms = 0;
	print_frame(view, "", &facts, 80, 24, &frame);
	ck_assert_ptr_nonnull(strstr(frame.data, "[lost]"));
	ck_assert_ptr_nonnull(strstr(frame.data, "autod is not running"));
}

TEST(a_daemon_that_lives_but_does_nothing_hangs)
{
	static const struct {
		int64_t beat_ms;
		const char *words;
	} rows[] = {
		{ 0, "[live]" }, /* without auto mode */
		{ SCENE_NOW_MS - 29999, "[live]" },
		{ SCENE_NOW_MS - 30000, "[hangs 30s]" },
		{ SCENE_NOW_MS - 40000000, "[live]" }, /* of an earlier one */
	};
	cleanup_json struct json_object *view = scene_night();

	for (size_t i = 0; i < nitems(rows); i++) {
		struct top_facts facts = live;
		cleanup_buf struct buf frame = BUF_INIT;

		facts.beat_ms = rows[i].beat_ms;
		print_frame(view, "", &facts, 80, 24, &frame);
		ck_assert_msg(strstr(frame.data, rows[i].words) != NULL,
		    "row %zu: %s", i, frame.data);
	}
}

TEST(a_worker_that_waits_for_you_says_for_whom)
{
	cleanup_json struct json_object *view = scene_night();
	struct json_object *row = view_row(view, "workers", "auto-1");
	cleanup_buf struct buf frame = BUF_INIT;

	json_set_string(row, "status", "waiting");
	json_set(row, "asks", json_tokener_parse("{\"person\": true}"));
	print_frame(view, "", &live, 80, 24, &frame);
	ck_assert_ptr_nonnull(strstr(frame.data, "waiting for you "));
}

TEST(the_budget_of_a_fleet_is_what_all_hosts_have_spent)
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;
	struct json_object *budget = view_of(view, "budget");

	json_set_int(budget, "cost_micros", 1000000);
	json_set_int(budget, "day_cost_micros", 4000000);
	json_set_int(budget, "cost_others_micros", 3000000);
	print_frame(view, "", &live, 80, 24, &frame);
	ck_assert_ptr_nonnull(strstr(frame.data, "today $4.00 est. /4 #####"));
}

TEST(a_service_that_is_away_is_said_with_its_time)
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;

	json_set_int(view_of(view, "head"), "outage_since_unix",
	    SCENE_NOW_MS / 1000 - 7200);
	print_frame(view, "", &live, 80, 24, &frame);
	ck_assert_ptr_nonnull(
	    strstr(frame.data, "the service does not answer since 04:58"));
}

TEST(a_hundred_workers_are_in_their_natural_order)
{
	cleanup_json struct json_object *view = scene_fleet(100);
	cleanup_buf struct buf frame = BUF_INIT;

	print_frame(view, "", &live, 160, 50, &frame);
	assert_golden("fleet-160x50", &frame);
	buf_clear(&frame);
	print_frame(view, "G", &live, 80, 24, &frame);
	assert_golden("fleet-end-80x24", &frame);
}

TEST(titles_of_all_scripts_keep_the_columns)
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;
	static const char *const titles[] = {
		("\xe6\xbc\xa2\xe5\xad\x97\xe3\x81\xae\xe3\x82\xbf\xe3\x82\xa4"
		 "\xe3\x83\x88\xe3\x83\xab\xe3\x82\x92\xe5\x88\x87\xe3\x82\x8b"
		 "\xe6\x99\x82\xe3\x81\xae\xe8\xa1\xa8\xe7\xa4\xba"),
		("\xf0\x9f\x98\x80 emoji \xf0\x9f\x9a\x80 and e\xcc\x81"
		 "x\xcc\x88 combined"),
		"\033[2J\033]0;evil\007 \xe2\x80\xae reversed \r\n second",
	};
	static const char *const names[] = { "auto-1", "auto-2", "auto-10" };

	for (size_t i = 0; i < nitems(titles); i++) {
		struct json_object *row = view_row(view, "workers", names[i]);

		json_set_string(row, "title", titles[i]);
		json_set_string(row, "status", "working");
	}
	print_frame(view, "", &live, 80, 24, &frame);
	assert_golden("scripts-80x24", &frame);
	ck_assert_ptr_null(strchr(frame.data, '\033'));
	ck_assert_ptr_null(strchr(frame.data, '\r'));
}

/* --- rules ----------------------------------------------------------- */

static const uint32_t some_keys[] = { '1', '2', '3', '4', '\r', '$', 'c', '?',
	'p', 's', 'j', 'k', 'G', 'g', '/', 'a', 0x6f22, 'P', 'R', 'A', 'X', 'M',
	'y', 'n', ' ', TOP_KEY_ESC, TOP_KEY_TAB, TOP_KEY_BACKSPACE, TOP_KEY_UP,
	TOP_KEY_PAGE_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_RESIZE, TOP_KEY_BACKTAB };

/* Every cell is a character that a terminal may get, with its right half. */
static bool
is_whole(const struct grid *grid)
{
	for (int row = 0; row < grid->rows; row++)
		for (int i = 0; i < grid->columns; i++) {
			const struct grid_cell *c =
			    &grid->cells[row * grid->columns + i];

			if (c->width < 1 || c->width > 2 || c->len < 1 ||
			    text_width(c->text, c->len) != c->width ||
			    (c->len == 1 &&
				(*c->text < 0x20 || *c->text > 0x7e)) ||
			    (c->width == 2 && ++i == grid->columns))
				return false;
		}
	return true;
}

TEST(any_view_at_any_size_fits_its_grid)
{
	int trials = unit_times(1000);

	for (int i = 0; i < trials; i++) {
		struct dice dice = { (uint64_t)i + 1 };
		cleanup_json struct json_object *view = scene_random(&dice);
		struct grid *grid = grid_new(1, 1);
		struct top_facts facts = { .live = dice_coin(&dice),
			.lost_ms = dice_coin(&dice) ? SCENE_NOW_MS - 1 : 0,
			.now_ms = SCENE_NOW_MS,
			.utc_offset_s = 3600 };
		struct top_ui ui;

		top_ui_init(&ui);
		for (unsigned k = dice_below(&dice, 30); k > 0; k--) {
			int rows = 1 + (int)dice_below(&dice, 60);

			grid_free(grid);
			grid = grid_new(rows, 1 + (int)dice_below(&dice, 200));
			top_frame(view, &ui, &facts, grid);
			ck_assert_msg(is_whole(grid), "trial %d", i);
			ck_assert_int_gt(ui.next_change_ms, SCENE_NOW_MS);
			top_key(&ui, view,
			    some_keys[dice_below(&dice, nitems(some_keys))]);
		}
		top_ui_release(&ui);
		grid_free(grid);
	}
}

static const struct {
	int rows, columns;
	uint32_t key; /* TOP_KEY_NONE = none */
} sizes[] = {
	{ 50, 160, TOP_KEY_NONE },
	{ 24, 160, TOP_KEY_NONE },
	{ 24, 80, TOP_KEY_NONE },
	{ 24, 80, TOP_KEY_ENTER },
	{ 24, 80, '2' },
	{ 10, 40, TOP_KEY_NONE },
	{ 10, 40, TOP_KEY_ENTER },
	{ 10, 40, TOP_KEY_F1 },
	{ 5, 20, TOP_KEY_NONE },
};

/* Until the moment that was named, and not at it: nobody is woken up for
 * nothing. */
TEST_ROWS(a_frame_says_when_the_next_one_differs, nitems(sizes))
{
	cleanup_json struct json_object *view = scene_night();
	int rows = sizes[_i].rows, columns = sizes[_i].columns;
	struct grid *first = grid_new(rows, columns);
	struct grid *later = grid_new(rows, columns);
	struct top_facts facts = live;
	struct top_ui ui;

	top_ui_init(&ui);
	top_key(&ui, view, sizes[_i].key);
	for (int i = 0; i < 200; i++) {
		int64_t next;

		top_frame(view, &ui, &facts, first);
		next = ui.next_change_ms;
		if (next == INT64_MAX)
			break;
		ck_assert_int_gt(next, facts.now_ms);
		facts.now_ms = next - 1;
		top_frame(view, &ui, &facts, later);
		ck_assert(screen_same(first, later));
		facts.now_ms = next;
		top_frame(view, &ui, &facts, later);
		ck_assert_msg(
		    !screen_same(first, later), "at %lld", (long long)next);
	}
	top_key(&ui, view, TOP_KEY_SPACE);
	top_frame(view, &ui, &facts, first);
	ck_assert_int_eq(ui.next_change_ms, INT64_MAX);
	top_ui_release(&ui);
	grid_free(first);
	grid_free(later);
}

TEST(a_frozen_frame_does_not_change_with_the_view)
{
	cleanup_json struct json_object *view = scene_night();
	struct grid *first = grid_new(24, 80), *later = grid_new(24, 80);
	struct top_facts facts = live;
	struct top_ui ui;

	top_ui_init(&ui);
	top_key(&ui, view, TOP_KEY_SPACE);
	top_frame(view, &ui, &facts, first);
	json_object_object_del(view_of(view, "workers"), "auto-1");
	facts.now_ms += 3600000;
	top_frame(view, &ui, &facts, later);
	ck_assert(screen_same(first, later));
	top_key(&ui, view, TOP_KEY_SPACE);
	top_frame(view, &ui, &facts, later);
	ck_assert(!screen_same(first, later));
	top_ui_release(&ui);
	grid_free(first);
	grid_free(later);
}

TEST(without_styles_a_need_is_still_marked)
{
	cleanup_json struct json_object *view = scene_night();
	cleanup_buf struct buf frame = BUF_INIT;

	print_frame(view, "", &live, 80, 24, &frame);
	ck_assert_ptr_nonnull(strstr(frame.data, "\n!auto-4"));
	ck_assert_ptr_nonnull(strstr(frame.data, "\n>auto-1"));
	ck_assert_ptr_nonnull(strstr(frame.data, "!NEEDS YOU"));
}
