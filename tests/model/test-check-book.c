/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "check-book.h"
#include "schema.h"

#define NOW INT64_C(1766502000000)

static struct check_book book;

void
unit_before(void)
{
	book = (struct check_book){ 0 };
}

void
unit_after(void)
{
	schema_release(&check_book_schema, &book);
}

static bool
note(const char *tree, enum check_verdict verdict)
{
	return check_book_note(&book, tree, "c", verdict, NOW, 1000, NOW + 5);
}

TEST(results_are_found_by_tree_and_command)
{
	const struct check_result *result;

	ck_assert_ptr_null(check_book_find(&book, "b", "c"));
	note("b", CHECK_PASSED);
	note("a", CHECK_FAILED);
	note("c", CHECK_FAILED);
	check_book_note(&book, "b", "d", CHECK_FAILED, NOW, 1, 0);
	result = check_book_find(&book, "b", "c");
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->passes, 1);
	ck_assert_int_eq(result->fails, 0);
	ck_assert_int_eq(result->passed_ms, NOW);
	ck_assert_int_eq(check_book_find(&book, "b", "d")->fails, 1);
	ck_assert_int_eq(check_book_find(&book, "a", "c")->fails_row, 1);
	ck_assert_ptr_null(check_book_find(&book, "a", "d"));
	check_book_forget(&book, "b", "c");
	check_book_forget(&book, "b", "c");
	ck_assert_ptr_null(check_book_find(&book, "b", "c"));
	ck_assert_uint_eq(book.count, 3);
}

TEST(all_have_passed_or_not)
{
	static const char *const trees[] = { "a", "b", "unknown", NULL };

	note("a", CHECK_PASSED);
	note("b", CHECK_FAILED);
	ck_assert(check_book_all_passed(&book, trees, 1, "c"));
	ck_assert(!check_book_all_passed(&book, trees, 1, "d"));
	ck_assert(!check_book_all_passed(&book, trees, 0, "c"));
	ck_assert(!check_book_all_passed(&book, trees, 2, "c"));
	note("b", CHECK_PASSED);
	ck_assert(check_book_all_passed(&book, trees, 2, "c"));
	ck_assert(!check_book_all_passed(&book, trees, 3, "c"));
}

TEST(not_judged_waits_and_is_neither)
{
	const struct check_result *result;

	note("a", CHECK_UNJUDGED);
	note("a", CHECK_UNJUDGED);
	result = check_book_find(&book, "a", "c");
	ck_assert_int_eq(result->passes + result->fails, 0);
	ck_assert_int_eq(result->unjudged, 2);
	ck_assert(check_book_waits(result, NOW + 4));
	ck_assert(!check_book_waits(result, NOW + 5));
	/* The clock was turned back by a year. */
	ck_assert(!check_book_waits(result, NOW - INT64_C(31536000000)));
	ck_assert(!check_book_waits(NULL, NOW));
	ck_assert_int_eq(check_book_flake_percent(&book, "c"), -1);
	note("a", CHECK_PASSED);
	ck_assert_int_eq(result->unjudged, 0);
	ck_assert(!check_book_waits(result, NOW));
}

TEST(a_tree_that_did_both_is_flaky_once)
{
	ck_assert(!note("a", CHECK_FAILED));
	ck_assert(note("a", CHECK_PASSED));
	ck_assert(!note("a", CHECK_FAILED));
	ck_assert(!note("a", CHECK_PASSED));
	ck_assert(!note("b", CHECK_PASSED));
	ck_assert(note("b", CHECK_FAILED));
	for (int i = 0; i < 2; i++)
		note("c", CHECK_PASSED);
	note("d", CHECK_FAILED);
	ck_assert_int_eq(check_book_command(&book, "c")->trees, 4);
	ck_assert_int_eq(check_book_command(&book, "c")->flaky, 2);
	ck_assert_int_eq(check_book_flake_percent(&book, "c"), 50);
	ck_assert_int_eq(check_book_flake_percent(&book, "x"), -1);
	ck_assert_ptr_null(check_book_command(&book, "x"));
}

/* `count` trees, the first `flaky` of them flaky. */
static void
judge(int count, int flaky)
{
	char tree[16];

	for (int i = 0; i < count; i++) {
		snprintf(tree, sizeof tree, "t%d", i);
		note(tree, CHECK_PASSED);
		if (i < flaky)
			note(tree, CHECK_FAILED);
	}
}

TEST(alarm_needs_enough_trees_and_a_high_rate)
{
	static const struct {
		int trees, flaky;
		bool alarm;
	} rows[] = {
		{ 0, 0, false },
		{ 19, 19, false },
		{ 20, 4, false },
		{ 20, 5, true },
		{ 30, 6, false },
		{ 30, 7, true },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		schema_release(&check_book_schema, &book);
		judge(rows[i].trees, rows[i].flaky);
		ck_assert_msg(check_book_alarm(&book, "c") == rows[i].alarm,
		    "row %zu", i);
	}
}

TEST(old_flakes_are_forgotten_in_the_long_run)
{
	char tree[16];

	judge(100, 50);
	for (int i = 0; i < 3000; i++) {
		snprintf(tree, sizeof tree, "n%d", i);
		note(tree, CHECK_PASSED);
		check_book_trim(&book, NULL);
	}
	ck_assert_int_eq(check_book_flake_percent(&book, "c"), 0);
	ck_assert_uint_eq(book.count, CHECK_BOOK_MAX);
}

TEST(a_pass_after_failures_in_a_row_forgives_the_others)
{
	note("a", CHECK_FAILED);
	note("b", CHECK_FAILED);
	note("b", CHECK_PASSED);
	ck_assert_int_eq(check_book_find(&book, "a", "c")->fails_row, 1);
	note("base", CHECK_FAILED);
	note("base", CHECK_FAILED);
	check_book_note(&book, "a", "d", CHECK_FAILED, NOW, 1, 0);
	note("base", CHECK_PASSED);
	ck_assert_int_eq(check_book_find(&book, "a", "c")->fails_row, 0);
	ck_assert_int_eq(check_book_find(&book, "a", "c")->fails, 1);
	/* Another command is not concerned. */
	ck_assert_int_eq(check_book_find(&book, "a", "d")->fails_row, 1);
}

TEST(expected_duration_follows_the_checks)
{
	ck_assert_int_eq(check_book_expected_ms(&book, "c"), 0);
	check_book_note(&book, "a", "c", CHECK_PASSED, NOW, 1000, 0);
	ck_assert_int_eq(check_book_expected_ms(&book, "c"), 1000);
	check_book_note(&book, "a", "c", CHECK_FAILED, NOW, 2000, 0);
	ck_assert_int_eq(check_book_expected_ms(&book, "c"), 1250);
	/* A check that could not be judged says nothing of it. */
	check_book_note(&book, "a", "c", CHECK_UNJUDGED, NOW, 9, NOW);
	ck_assert_int_eq(check_book_expected_ms(&book, "c"), 1250);
}

/* Protected paths were those of another tree: a result of its own. */
TEST(a_tree_with_an_overlay_is_another_one)
{
	const char *const keep[] = { "t", NULL };
	cleanup_free char *plain = check_book_tree("t", "");
	cleanup_free char *with = check_book_tree("t", "k");
	char tree[16];

	ck_assert_str_eq(plain, "t");
	ck_assert_str_eq(with, "t_k");
	note(with, CHECK_PASSED);
	ck_assert_ptr_null(check_book_find(&book, plain, "c"));
	for (int i = 0; i < CHECK_BOOK_MAX; i++) {
		snprintf(tree, sizeof tree, "n%d", i);
		check_book_note(&book, tree, "c", CHECK_PASSED, NOW + 9, 1, 0);
	}
	check_book_trim(&book, keep);
	ck_assert_ptr_nonnull(check_book_find(&book, with, "c"));
}

TEST(the_oldest_go_but_none_of_the_chain)
{
	const char *keep[CHECK_BOOK_MAX + 3] = { "t0", "t2", NULL };
	static char names[CHECK_BOOK_MAX + 2][16];
	char tree[16];

	for (int i = 0; i < CHECK_BOOK_MAX + 2; i++) {
		snprintf(tree, sizeof tree, "t%d", i);
		check_book_note(&book, tree, "c", CHECK_PASSED, NOW + i, 1, 0);
	}
	check_book_trim(&book, keep);
	ck_assert_uint_eq(book.count, CHECK_BOOK_MAX);
	ck_assert_ptr_nonnull(check_book_find(&book, "t0", "c"));
	ck_assert_ptr_null(check_book_find(&book, "t1", "c"));
	ck_assert_ptr_nonnull(check_book_find(&book, "t2", "c"));
	ck_assert_ptr_null(check_book_find(&book, "t3", "c"));
	/* All of them are in the chain: nothing can go. */
	for (int i = 0; i < CHECK_BOOK_MAX + 2; i++) {
		snprintf(names[i], sizeof names[i], "t%d", i);
		keep[i] = names[i];
		check_book_note(&book, names[i], "c", CHECK_PASSED, NOW, 1, 0);
	}
	keep[CHECK_BOOK_MAX + 2] = NULL;
	check_book_trim(&book, keep);
	ck_assert_uint_eq(book.count, CHECK_BOOK_MAX + 2);
}

TEST(the_command_unused_for_longest_goes)
{
	char command[16];

	for (int i = 0; i <= CHECK_BOOK_COMMANDS; i++) {
		snprintf(command, sizeof command, "c%d", i);
		check_book_note(&book, "a", command, CHECK_PASSED,
		    NOW + (i != 3) * i, 1, 0);
	}
	ck_assert_uint_eq(book.command_count, CHECK_BOOK_COMMANDS);
	ck_assert_ptr_nonnull(check_book_command(&book, "c8"));
	ck_assert_ptr_null(check_book_command(&book, "c0"));
	check_book_note(&book, "a", "new", CHECK_PASSED, NOW + 9, 1, 0);
	ck_assert_ptr_null(check_book_command(&book, "c3"));
}

static int
read_text(const char *text, struct check_book *ret_book, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r;

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &json, NULL), 0);
	r = schema_read(&check_book_schema, json, "checks", ret_book, err);
	if (r < 0)
		schema_release(&check_book_schema, ret_book);
	return r;
}

TEST(it_is_written_and_read_back)
{
	cleanup_json struct json_object *json = NULL, *second = NULL;
	struct check_book again = { 0 };

	judge(12, 3);
	note("u", CHECK_UNJUDGED);
	json = schema_json(&check_book_schema, &book);
	ck_assert_int_eq(
	    schema_read(&check_book_schema, json, "", &again, NULL), 0);
	second = schema_json(&check_book_schema, &again);
	ck_assert(json_object_equal(json, second));
	ck_assert_int_eq(check_book_find(&again, "t0", "c")->fails, 1);
	ck_assert_int_eq(check_book_expected_ms(&again, "c"), 1000);
	schema_release(&check_book_schema, &again);
}

TEST(what_a_person_broke_is_repaired_or_named)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "{\"results\":3}",
		    "checks.results: expected an array, found a number" },
		{ "{\"results\":[{\"command\":\"c\"}]}",
		    "checks.results[0].tree: missing" },
		{ "{\"results\":[{\"tree\":\"t\",\"command\":\"c\","
		  "\"fails\":\"x\"}]}",
		    "checks.results[0].fails: expected an integer, found a "
		    "string" },
		{ "{\"commands\":[1]}",
		    "checks.commands[0]: expected an "
		    "object, found a number" },
	};
	struct check_book again = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < nitems(rows); i++) {
		ck_assert_int_eq(
		    read_text(rows[i].text, &again, &err), -EINVAL);
		ck_assert_str_eq(err.msg, rows[i].message);
		ck_assert_uint_eq(again.count, 0);
	}
	ck_assert_int_eq(read_text("{}", &again, &err), 0);
	ck_assert_uint_eq(again.count, 0);
	ck_assert_int_eq(
	    read_text(
		"{\"results\":[{\"tree\":\"t\",\"command\":\"c\",\"fails\":1,"
		"\"fails_row\":7,\"passed_ms\":5},"
		"{\"tree\":\"t\",\"command\":\"c\",\"passes\":1},"
		"{\"tree\":\"\",\"command\":\"c\"}],\"commands\":["
		"{\"command\":\"c\",\"trees\":3,\"flaky\":9},"
		"{\"command\":\"c\"},{\"command\":\"\"}],\"more\":1}",
		&again, &err),
	    0);
	ck_assert_uint_eq(again.count, 1);
	ck_assert_int_eq(again.results[0].fails_row, 1);
	ck_assert_int_eq(again.results[0].passes, 0);
	ck_assert_int_eq(again.results[0].passed_ms, 0);
	ck_assert_uint_eq(again.command_count, 1);
	ck_assert_int_eq(check_book_flake_percent(&again, "c"), 100);
	schema_release(&check_book_schema, &again);
}

/* One failure may be a flake: it says nothing about the command yet. */
TEST(a_command_has_judged_when_it_has_passed_or_blamed)
{
	ck_assert(!check_book_judged(&book, "c"));
	note("t", CHECK_UNJUDGED);
	note("t", CHECK_FAILED);
	note("u", CHECK_FAILED);
	ck_assert(!check_book_judged(&book, "c"));
	note("t", CHECK_FAILED);
	ck_assert(check_book_judged(&book, "c"));
	ck_assert(!check_book_judged(&book, "d"));
	check_book_note(&book, "t", "d", CHECK_PASSED, NOW, 1, 0);
	ck_assert(check_book_judged(&book, "d"));
}
