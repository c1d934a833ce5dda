/* SPDX-License-Identifier: ISC */

/* What a refused end of a turn says: the line to quote, and whether two are the
 * same failure. */

#include "unit.h"
#include "failure-text.h"

static const struct {
	const char *text, *quote;
} quotes[] = {
	{ "==== FAILURES ====\n____ test_sum ____\n>   assert f() == 2\n"
	  "E   assert 0.3 == 2\nFAILED t.py::test_sum - assert 0.3 == 2\n"
	  "==== 1 failed in 0.02s ====",
	    "E   assert 0.3 == 2" },
	{ "collected 0 items / 1 error\n==== ERRORS ====\n"
	  "E   ModuleNotFoundError: No module named 'x'\n"
	  "Interrupted: 1 error during collection",
	    "E   ModuleNotFoundError: No module named 'x'" },
	{ "running 3 tests\nthread 'a' panicked at src/a.rs:3:5:\n"
	  "test result: FAILED. 2 passed; 1 failed",
	    "thread 'a' panicked at src/a.rs:3:5:" },
	{ "", "the check printed nothing" },
};

TEST_ROWS(the_line_that_failed_is_quoted, nitems(quotes))
{
	cleanup_buf struct buf out = BUF_INIT;

	failure_quote(quotes[_i].text, &out);
	ck_assert_str_eq(out.data, quotes[_i].quote);
}

static const struct {
	const char *one, *other;
	bool same;
} pairs[] = {
	{ "E   assert 'a' == 'b'\nFAILED t.py::test_x - assert 'a' == 'b'",
	    "E   assert 'c' == 'd'\nFAILED t.py::test_x - assert 'c' == 'd'",
	    true },
	{ "FAILED t.py::test_x - x", "FAILED t.py::test_y - x", false },
	{ "not ok 3 - reads", "not ok 4 - writes", false },
	{ "print \"a\"\n^\nSyntaxError: x", "print \"b\"\n^\nSyntaxError: x",
	    false },
	{ "error: at 0x7f12 after 3 ms", "error: at 0xffa0 after 9 ms", true },
	{ "error: no\nseed=3", "error: no\nseed=4", true },
};

TEST_ROWS(failures_are_the_same_by_their_names_or_their_lines, nitems(pairs))
{
	struct failure one, other;

	failure_read(pairs[_i].one, &one);
	failure_read(pairs[_i].other, &other);
	ck_assert_int_eq(one.key == other.key, pairs[_i].same);
}

TEST(seconds_since_1970_and_numbers_of_paths_do_not_move)
{
	struct failure f;

	failure_read("FAIL: sum 1789000000 in /tmp/run-17/sum.c:12", &f);
	ck_assert_uint_eq(f.number_count, 1);
	ck_assert(f.numbers[0] == 12);
}
