/* SPDX-License-Identifier: ISC */

/*
 * Does a change weaken the tests? Read from its diff: tests that are removed,
 * or skipped from now on; and from the output of the check: how many ran. By
 * the names and words that test frameworks use, so it is a hint for a person
 * (auto.test_guard), never a verdict. Pure.
 */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

struct buf;

enum test_guard {
	TEST_GUARD_OFF,
	TEST_GUARD_NOTE, /* point it out */
	TEST_GUARD_ASK, /* only a person lets it land */
	TEST_GUARD_COUNT
};

/* "off", "note", "ask"; NULL terminated: auto.test_guard. */
extern const char *const test_guard_words[TEST_GUARD_COUNT + 1];

/* For git: paths that may be tests; NULL terminated. */
extern const char *const test_guard_pathspecs[];
/* Is it the path of a test, by its name? */
bool test_guard_is_test(const char *path);

/* Append what a diff of git takes away: "it removes 2 tests (tests/a.py:
 * test_x, test_y) and skips 1 test"; nothing if it weakens none. What has moved
 * is not removed. */
void test_guard_read(const char *diff, size_t len, struct buf *out);

/* How many tests ran, by the output of the check; 0 = it does not say. */
int64_t test_guard_count(const char *output);

#endif
