/* SPDX-License-Identifier: ISC */

/* Which results stand although the branch has moved, and when a person is told
 * that checks are in vain. */

#include "unit.h"
#include "check-book.h"
#include "overtaken.h"
#include "schema.h"

#define COMMAND "c"
#define NOW     INT64_C(1766502000000)
#define MINUTE  (60 * INT64_C(1000))

static const char *const nothing[] = { NULL };
static const char *const passed[] = { "good", NULL };
static const char *const both[] = { "good", "bad", NULL };
static const char *const more[] = { "good", "", NULL };
static const char *const unknown[] = { "other", NULL };

#define LAND .mode = OVERTAKEN_LAND, .merges = true, .forward = true

/* good has passed, bad has failed; trees are those of tasks' commits. */
static const struct {
	struct overtaken_facts facts;
	enum overtaken_verdict want;
} judge_rows[] = {
	/* A person's commits, which are not listed. */
	{ { LAND, .trees = nothing }, OVERTAKEN_STANDS },
	{ { LAND }, OVERTAKEN_STANDS },
	{ { LAND, .trees = passed, .tree_count = 1 }, OVERTAKEN_STANDS },
	{ { LAND, .trees = both, .tree_count = 2 }, OVERTAKEN_UNCHECKED },
	{ { LAND, .trees = unknown, .tree_count = 1 }, OVERTAKEN_UNCHECKED },
	/* More commits than are looked at. */
	{ { LAND, .trees = more, .tree_count = 2 }, OVERTAKEN_UNCHECKED },
	{ { LAND, .shared = 1 }, OVERTAKEN_SHARES },
	{ { LAND, .shared = 1, .trees = unknown, .tree_count = 1 },
	    OVERTAKEN_SHARES },
	{ { .mode = OVERTAKEN_LAND, .merges = true }, OVERTAKEN_LOST },
	{ { .mode = OVERTAKEN_LAND, .forward = true }, OVERTAKEN_CONFLICTS },
	{ { .merges = true, .forward = true }, OVERTAKEN_WAITS },
	{ { .merges = true, .forward = true, .shared = 1 }, OVERTAKEN_WAITS },
};

TEST_ROWS(a_result_stands_only_where_all_of_it_is_so, nitems(judge_rows))
{
	struct overtaken_facts facts = judge_rows[_i].facts;
	struct check_book book = { 0 };

	check_book_note(&book, "good", COMMAND, CHECK_PASSED, NOW, 1000, 0);
	check_book_note(&book, "bad", COMMAND, CHECK_FAILED, NOW, 1000, 0);
	facts.book = &book;
	facts.command = COMMAND;
	ck_assert_int_eq(overtaken_judge(&facts), judge_rows[_i].want);
	schema_release(&check_book_schema, &book);
}

#define WHAT_TO_SET                                                     \
	"nothing lands. To land work on such a result where what came " \
	"changes none of its files: llmc config set auto.overtaken land"
#define WHAT_TO_DO                                                        \
	"nothing lands. With auto.overtaken = land a result only stands " \
	"where what came changes no file of the work and merges: commit " \
	"less often until it has landed, or make auto.check_command faster"

/* A check begins, and the branch moves so often, so long after each other, with
 * so many checks in vain. */
static const struct {
	int moves, checks;
	int64_t every_ms, took_ms;
	enum overtaken_mode mode;
	const char *want;
} ask_rows[] = {
	{ 0, 0, 0, 10 * MINUTE, OVERTAKEN_WAIT, NULL },
	{ 2, 2, 4 * MINUTE, 10 * MINUTE, OVERTAKEN_WAIT, NULL },
	{ 5, 5, 4 * MINUTE, 10 * MINUTE, OVERTAKEN_WAIT,
	    "a check takes 10m, main moves every 4m; 5 checks in a row were in "
	    "vain, " WHAT_TO_SET },
	{ 9, 3, 90 * 1000, 10 * MINUTE, OVERTAKEN_LAND,
	    "a check takes 10m, main moves every 1m30s; 3 checks in a row were "
	    "in vain, " WHAT_TO_DO },
	/* No check has ever ended. */
	{ 3, 3, 2000, 0, OVERTAKEN_WAIT,
	    "main moves every 2s while it is checked; 3 checks in a row were "
	    "in vain, " WHAT_TO_SET },
	/* The clock stands still. */
	{ 3, 3, 0, 1000, OVERTAKEN_WAIT,
	    "a check takes 1s, main moves; 3 checks in a row were in vain, " WHAT_TO_SET },
};

TEST_ROWS(a_person_is_told_in_numbers, nitems(ask_rows))
{
	struct overtaken_record record = { 0 };
	cleanup_free char *words = NULL;

	for (int i = 1; i <= ask_rows[_i].moves; i++)
		overtaken_moved(&record, NOW, NOW + i * ask_rows[_i].every_ms);
	overtaken_in_vain(&record, ask_rows[_i].checks);
	words = overtaken_asks(
	    &record, ask_rows[_i].mode, "main", ask_rows[_i].took_ms);
	ck_assert_pstr_eq(words, ask_rows[_i].want);
	overtaken_over(&record);
	free(words);
	words = overtaken_asks(
	    &record, OVERTAKEN_WAIT, "main", ask_rows[_i].took_ms);
	ck_assert_ptr_null(words);
}

TEST(a_clock_that_was_turned_back_spoils_no_number)
{
	struct overtaken_record record = { 0 };
	cleanup_free char *words = NULL;

	overtaken_moved(&record, NOW, NOW + MINUTE);
	overtaken_moved(&record, NOW - 60 * MINUTE, NOW - 58 * MINUTE);
	overtaken_moved(&record, NOW - 58 * MINUTE, NOW - 56 * MINUTE);
	overtaken_in_vain(&record, 3);
	words = overtaken_asks(&record, OVERTAKEN_WAIT, "main", 0);
	ck_assert_ptr_nonnull(strstr(words, "main moves every 2m "));
}
