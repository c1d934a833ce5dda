/* SPDX-License-Identifier: ISC */

#include "top-scene.h"
#include "landing-list.h"
#include "task.h"
#include "top.h"
#include "view-private.h"
#include "view.h"
#include "worker.h"

static struct top_ui ui;
static struct json_object *view;

void
unit_before(void)
{
	view = scene_night();
	top_ui_init(&ui);
	ui.list_rows = 3;
}

void
unit_after(void)
{
	top_ui_release(&ui);
	json_object_put(view);
}

static struct top_action
press(uint32_t key)
{
	return top_key(&ui, view, key);
}

static void
type(const char *keys)
{
	for (; *keys != '\0'; keys++)
		press((uint32_t)(unsigned char)*keys);
}

/* The key of the chosen row. */
static const char *
chosen(void)
{
	static char key[64];
	struct top_rows rows;
	size_t i;

	top_rows_make(&ui, top_ui_view(&ui, view), &rows);
	i = top_rows_chosen(&rows, &ui);
	strlcpy(key, rows.count > 0 ? rows.rows[i].key : "", sizeof key);
	top_rows_release(&rows);
	return key;
}

static void
assert_action(struct top_action action, enum top_do what, const char *target,
    const char *text)
{
	ck_assert_int_eq(action.what, what);
	if (target == NULL)
		ck_assert_ptr_null(action.target);
	else
		ck_assert_str_eq(action.target, target);
	if (text == NULL)
		ck_assert_ptr_null(action.text);
	else
		ck_assert_str_eq(action.text, text);
}

/* --- moving ---------------------------------------------------------- */

static const struct {
	const char *from; /* that is chosen with j before */
	uint32_t key;
	const char *to;
} moves[] = {
	{ "", TOP_KEY_DOWN, "auto-2" },
	{ "", 'j', "auto-2" },
	{ "jj", TOP_KEY_UP, "auto-2" },
	{ "jj", 'k', "auto-2" },
	{ "", TOP_KEY_UP, "auto-1" },
	{ "jjjjjjj", TOP_KEY_DOWN, "auto-10" },
	{ "", TOP_KEY_PAGE_DOWN, "auto-3" },
	{ "jjj", TOP_KEY_PAGE_UP, "auto-2" },
	{ "jj", 'g', "auto-1" },
	{ "jj", TOP_KEY_HOME, "auto-1" },
	{ "", 'G', "auto-10" },
	{ "", TOP_KEY_END, "auto-10" },
};

TEST_ROWS(a_key_moves_through_the_rows_in_their_natural_order, nitems(moves))
{
	type(moves[_i].from);
	assert_action(press(moves[_i].key), TOP_REDRAW, NULL, NULL);
	ck_assert_str_eq(chosen(), moves[_i].to);
}

TEST(the_chosen_row_stays_chosen_when_others_come_and_go)
{
	type("jj");
	ck_assert_str_eq(chosen(), "auto-3");
	json_object_object_del(view_of(view, "workers"), "auto-1");
	ck_assert_str_eq(chosen(), "auto-3");
	json_object_object_del(view_of(view, "workers"), "auto-3");
	ck_assert_str_eq(chosen(), "auto-2");
}

/* --- what is shown --------------------------------------------------- */

static const struct {
	uint32_t key;
	enum top_screen screen;
	enum top_page page;
} shows[] = {
	{ '1', TOP_WORKERS, TOP_PAGE_NONE },
	{ '2', TOP_TASKS, TOP_PAGE_NONE },
	{ '3', TOP_EVENTS, TOP_PAGE_NONE },
	{ '4', TOP_FAILURES, TOP_PAGE_NONE },
	{ TOP_KEY_TAB, TOP_TASKS, TOP_PAGE_NONE },
	{ TOP_KEY_BACKTAB, TOP_FAILURES, TOP_PAGE_NONE },
	{ TOP_KEY_ENTER, TOP_WORKERS, TOP_PAGE_DETAIL },
	{ '$', TOP_WORKERS, TOP_PAGE_COST },
	{ 'c', TOP_WORKERS, TOP_PAGE_CHARTS },
	{ '?', TOP_WORKERS, TOP_PAGE_HELP },
	{ TOP_KEY_F1, TOP_WORKERS, TOP_PAGE_HELP },
};

TEST_ROWS(a_key_shows_its_screen_and_escape_goes_back, nitems(shows))
{
	assert_action(press(shows[_i].key), TOP_REDRAW, NULL, NULL);
	ck_assert_int_eq(ui.screen, shows[_i].screen);
	ck_assert_int_eq(ui.page, shows[_i].page);
	assert_action(press(TOP_KEY_ESC), TOP_REDRAW, NULL, NULL);
	ck_assert_int_eq(ui.page, TOP_PAGE_NONE);
	ck_assert_int_eq(ui.screen, shows[_i].screen);
}

TEST(q_leaves_a_page_and_then_the_program)
{
	press('?');
	assert_action(press('q'), TOP_REDRAW, NULL, NULL);
	assert_action(press('q'), TOP_QUIT, NULL, NULL);
	press('?');
	assert_action(press(TOP_KEY_F10), TOP_QUIT, NULL, NULL);
	assert_action(press(TOP_KEY_INTERRUPT), TOP_QUIT, NULL, NULL);
}

TEST(a_page_scrolls_within_its_lines)
{
	press('?');
	ui.page_rows = 10;
	ui.page_lines = 25;
	press(TOP_KEY_DOWN);
	ck_assert_int_eq(ui.scroll, 1);
	press(TOP_KEY_PAGE_DOWN);
	ck_assert_int_eq(ui.scroll, 10);
	press('G');
	ck_assert_int_eq(ui.scroll, 15);
	press('j');
	ck_assert_int_eq(ui.scroll, 15);
	press('g');
	ck_assert_int_eq(ui.scroll, 0);
	ck_assert_str_eq(chosen(), "auto-1");
}

TEST(the_filter_is_typed_and_cleared)
{
	type("/PARSEx");
	press(TOP_KEY_BACKSPACE);
	ck_assert(ui.typing);
	ck_assert_str_eq(ui.filter.data, "PARSE");
	ck_assert_str_eq(chosen(), "auto-2");
	type("q");
	press(TOP_KEY_BACKSPACE);
	press(TOP_KEY_ENTER);
	ck_assert(!ui.typing);
	press('j');
	ck_assert_str_eq(chosen(), "auto-4");
	press(TOP_KEY_ESC);
	ck_assert_uint_eq(ui.filter.len, 0);
	type("/x");
	press(TOP_KEY_ESC);
	ck_assert_uint_eq(ui.filter.len, 0);
	ck_assert(!ui.typing);
	type("/");
	press(0x6f22);
	ck_assert_str_eq(ui.filter.data, "\xe6\xbc\xa2");
	press(TOP_KEY_BACKSPACE);
	ck_assert_uint_eq(ui.filter.len, 0);
	press(TOP_KEY_BACKSPACE);
}

TEST(problems_and_the_order_are_toggled)
{
	press('p');
	ck_assert_str_eq(chosen(), "auto-4");
	press('G');
	ck_assert_str_eq(chosen(), "auto-4");
	press(TOP_KEY_ESC);
	press('g');
	ck_assert_str_eq(chosen(), "auto-1");
	press('s'); /* age */
	press('g');
	ck_assert_str_eq(chosen(), "auto-10");
	press('s'); /* cost */
	press('g');
	ck_assert_str_eq(chosen(), "auto-4");
	press('s');
	press('g');
	ck_assert_str_eq(chosen(), "auto-1");
}

TEST(space_keeps_the_view_and_gives_it_back)
{
	press(TOP_KEY_SPACE);
	json_object_object_del(view_of(view, "workers"), "auto-1");
	ck_assert_str_eq(chosen(), "auto-1");
	press(TOP_KEY_SPACE);
	ck_assert_str_eq(chosen(), "auto-2");
}

/* --- actions --------------------------------------------------------- */

TEST(looking_at_a_worker_needs_no_answer)
{
	assert_action(press('a'), TOP_ATTACH, "auto-1", NULL);
	assert_action(press('l'), TOP_LOGS, "auto-1", NULL);
	press('2');
	press('j'); /* an entry of the landing queue */
	assert_action(press('a'), TOP_ATTACH, "auto-2", NULL);
	press('j'); /* a task */
	assert_action(press('l'), TOP_LOGS, "auto-4", NULL);
	press('3');
	assert_action(press('a'), TOP_ATTACH, "auto-2", NULL);
}

TEST(a_row_without_a_worker_says_so)
{
	press('2'); /* a goal */
	assert_action(press('a'), TOP_REDRAW, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(ui.notice, "no worker"));
	assert_action(press(TOP_KEY_DOWN), TOP_REDRAW, NULL, NULL);
	ck_assert_ptr_null(ui.notice);
}

TEST(pause_and_resume_wait_for_y)
{
	assert_action(press('P'), TOP_REDRAW, NULL, NULL);
	ck_assert_int_eq(ui.asked, TOP_PAUSE);
	assert_action(press('n'), TOP_REDRAW, NULL, NULL);
	ck_assert_ptr_nonnull(ui.notice);
	ck_assert_int_eq(ui.asked, TOP_NOTHING);
	press('P');
	assert_action(press('y'), TOP_PAUSE, "auto-1", NULL);
	press('R');
	assert_action(press(TOP_KEY_ENTER), TOP_REDRAW, NULL, NULL);
	press('R');
	assert_action(press('y'), TOP_RESUME, "auto-1", NULL);
	ck_assert_int_eq(ui.asked, TOP_NOTHING);
}

TEST(a_parked_task_is_resumed_itself)
{
	json_set_string(view_row(view, "tasks", "t94"), "step", "parked");
	press('2');
	type("/Waits");
	press(TOP_KEY_ENTER);
	press('R');
	assert_action(press('y'), TOP_RESUME, "t94", NULL);
}

TEST(only_finished_work_is_accepted_or_rejected)
{
	assert_action(press('A'), TOP_REDRAW, NULL, NULL);
	ck_assert_int_eq(ui.asked, TOP_NOTHING);
	ck_assert_ptr_nonnull(strstr(ui.notice, "no finished work"));
	json_set_string(
	    view_row(view, "workers", "auto-1"), "status", "needs_review");
	press('A');
	assert_action(press('y'), TOP_ACCEPT, "auto-1", NULL);
	press('X');
	type("no tests, y");
	assert_action(
	    press(TOP_KEY_ENTER), TOP_REJECT, "auto-1", "no tests, y");
}

TEST(a_message_is_typed_and_sent_with_enter)
{
	press('M');
	assert_action(press('q'), TOP_REDRAW, NULL, NULL);
	press(TOP_KEY_BACKSPACE);
	type("hello");
	assert_action(press(TOP_KEY_TAB), TOP_NOTHING, NULL, NULL);
	assert_action(press(TOP_KEY_ENTER), TOP_MESSAGE, "auto-1", "hello");
	press('M');
	assert_action(press(TOP_KEY_ENTER), TOP_REDRAW, NULL, NULL);
	ck_assert_ptr_nonnull(ui.notice);
	press('M');
	type("not this");
	assert_action(press(TOP_KEY_ESC), TOP_REDRAW, NULL, NULL);
	ck_assert_int_eq(ui.asked, TOP_NOTHING);
}

TEST(other_keys_do_nothing)
{
	assert_action(press('z'), TOP_NOTHING, NULL, NULL);
	assert_action(press(TOP_KEY_NONE), TOP_NOTHING, NULL, NULL);
	assert_action(press('y'), TOP_NOTHING, NULL, NULL);
	assert_action(press(TOP_KEY_BACKSPACE), TOP_NOTHING, NULL, NULL);
	assert_action(press(TOP_KEY_RESIZE), TOP_REDRAW, NULL, NULL);
	assert_action(press(TOP_KEY_REDRAW), TOP_REDRAW, NULL, NULL);
	json_set(view, "workers", json_object_new_object());
	assert_action(press('a'), TOP_NOTHING, NULL, NULL);
	assert_action(press('j'), TOP_REDRAW, NULL, NULL);
}

/* Words of the help, each with a blank before and after it. */
static void
read_help(struct buf *out)
{
	struct top_clock clock = { .next_ms = INT64_MAX };
	struct top_lines lines;

	top_lines_init(&lines, 80, &clock);
	top_help_add(&lines);
	for (size_t i = 0; i < lines.count; i++)
		buf_addf(out, " %s ", lines.lines[i].text);
	top_lines_release(&lines);
	for (char *c = out->data; *c != '\0'; c++)
		if (strchr(".,;:", *c) != NULL)
			*c = ' ';
}

static void
assert_explained(const struct buf *help, const char *word)
{
	cleanup_free char *spaced = xasprintf(" %s ", word);

	ck_assert_msg(
	    strstr(help->data, spaced) != NULL, "no help for \"%s\"", word);
}

TEST(help_explains_every_key_and_word)
{
	cleanup_buf struct buf help = BUF_INIT;

	read_help(&help);
	for (char key = '!'; key <= '~'; key++) {
		const char word[] = { key, '\0' };

		if (press((uint32_t)key).what != TOP_NOTHING)
			assert_explained(&help, word);
		top_ui_release(&ui);
	}
	for (int i = 0; i < WORKER_STATUS_COUNT; i++)
		assert_explained(&help, worker_status_words[i]);
	for (int i = 0; i < TASK_STEP_COUNT; i++)
		assert_explained(&help, task_step_words[i]);
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		assert_explained(
		    &help, task_outcome_name((enum task_outcome)i));
	for (int i = 0; i < LANDING_STATE_COUNT; i++)
		assert_explained(
		    &help, landing_state_name((enum landing_state)i));
}

TEST(a_need_leads_to_its_worker_or_task)
{
	type("4");
	ck_assert_str_eq(chosen(), "d-auto-4-a1");
	assert_action(press('a'), TOP_ATTACH, "auto-4", NULL);
	json_set_string(view_row(view, "tasks", "t94"), "step", "parked");
	json_set(view_of(view, "asks"), "a9",
	    json_tokener_parse("{\"kind\": \"budget\", \"who\": \"t94\", "
			       "\"task\": \"t94\"}"));
	view_needs(view);
	type("4");
	for (int i = 0; i < 10 && strcmp(chosen(), "f-t94-a9") != 0; i++)
		press('j');
	assert_action(press('a'), TOP_REDRAW, NULL, NULL);
	ck_assert_str_eq(ui.notice, "this row has no worker now");
	press('R');
	assert_action(press('y'), TOP_RESUME, "t94", NULL);
}
