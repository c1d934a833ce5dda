/* SPDX-License-Identifier: ISC */

/*
 * What speaks against accepting work: it weakens the tests, or is not what the
 * person has seen. Pure.
 */
#ifndef ACCEPTANCE_H
#define ACCEPTANCE_H

struct buf;

/*
 * Does a change weaken the tests? Read from its diff: tests that are removed,
 * or skipped from now on; and from the output of the check: how many ran. By
 * the names and words that test frameworks use, so it is a hint for a person
 * (auto.test_guard), never a verdict.
 */

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

/* --- is it still what was seen --------------------------------------- */

/*
 * Is the work of a worker still what a person has seen? Compared before it is
 * accepted, rejected or picked; the sentence says what is different.
 */

/* All strings are borrowed. */
struct inspection {
	const char *worker;
	const char *worktree;
	/* What is expected. */
	const char *seen; /* commit id, may be shortened */
	bool reviewed; /* llmc review showed it; else the caller found it */
	const char *branch; /* that must be checked out, NULL = any or none */
	bool clean; /* without uncommitted changes */
	/* What is there. */
	const char *head; /* "" = no commit */
	const char *checked_out; /* branch, "" = none */
	bool rebasing;
	int dirty; /* files with uncommitted changes */
	/* What has happened since `seen`, for the sentence: see
	 * git_since_read(). */
	bool known;
	int commits;
	const char *const *files;
	size_t file_count;
	const char *const *uncommitted;
	size_t uncommitted_count;
};

/* Could it be a commit id: 7 to 64 hexadecimal digits, lower case? */
bool inspection_is_id(const char *text);

/* Is everything as expected? */
bool inspection_holds(const struct inspection *inspection);

/* Append the sentence for one that does not hold. Names of files are made safe
 * for a terminal; at most INSPECTION_NAMES of each kind are listed. */
#define INSPECTION_NAMES 5
void inspection_sentence(const struct inspection *inspection, struct buf *out);

#endif
