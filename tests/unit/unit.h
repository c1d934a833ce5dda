/* SPDX-License-Identifier: ISC */

/*
 * Shared by all unit tests: the main function (unit-main.c runs the suite that
 * the test defines, with TAP on standard output), scratch directories, and the
 * headers that most tests need.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "child.h"
#include "dice.h"
#include "loop.h"
#include "procref.h"

/* The most frequent assertions as calls: check's own macros of them take up to
 * a quarter of the time that a test takes to compile, on average 8 %. */
#undef ck_assert_int_eq
#undef ck_assert_uint_eq
#undef ck_assert_str_eq
#define ck_assert_int_eq(x, y)  unit_int_eq(x, y, #x, #y, __FILE__, __LINE__)
#define ck_assert_uint_eq(x, y) unit_uint_eq(x, y, #x, #y, __FILE__, __LINE__)
#define ck_assert_str_eq(x, y)  unit_str_eq(x, y, #x, #y, __FILE__, __LINE__)
void unit_int_eq(intmax_t x, intmax_t y, const char *x_text, const char *y_text,
    const char *file, int line);
void unit_uint_eq(uintmax_t x, uintmax_t y, const char *x_text,
    const char *y_text, const char *file, int line);
void unit_str_eq(const char *x, const char *y, const char *x_text,
    const char *y_text, const char *file, int line);

/*
 * TEST(name) { ... } is a test; TEST_ROWS(name, count) one that is run for each
 * row: _i; TEST_IN(begin, name) one with its own begin() instead of
 * unit_before(); TEST_EXIT(status, name) one that must end the process. Each is
 * a test case of its own (CK_RUN_CASE=name), in the order of the file.
 */
#define TEST(name)            UNIT_TEST(name, .rows = 1)
#define TEST_ROWS(name, n)    UNIT_TEST(name, .rows = (int)(n))
#define TEST_IN(begin, name)  UNIT_TEST(name, .rows = 1, .before = begin)
#define TEST_EXIT(code, name) UNIT_TEST(name, .rows = 1, .status = code)
#define UNIT_TEST(name, ...)                                           \
	static void name##_fn(int _i);                                 \
	static const TTest name##_test = { #name, name##_fn, __FILE__, \
		__LINE__ };                                            \
	__attribute__((constructor)) static void name##_add(void)      \
	{                                                              \
		unit_add(&(const struct unit_test){                    \
		    .test = &name##_test, __VA_ARGS__ });              \
	}                                                              \
	static void name##_fn(__attribute__((unused)) int _i)

struct unit_test {
	const TTest *test;
	int rows;
	int status;
	void (*before)(void);
};

void unit_add(const struct unit_test *test);

/* What a test file may define: seconds for each of its tests (60), of which a
 * busy machine may take three times as many; what is done once before the
 * first, and before and after each. */
extern const int unit_timeout __attribute__((weak));
void unit_begin(void) __attribute__((weak));
void unit_before(void) __attribute__((weak));
void unit_after(void) __attribute__((weak));
/* What a library of tests makes once for all of them (repo.c). */
void unit_once(void) __attribute__((weak));

/* Called by what sets something up: end() is called when the running test has
 * ended, unless it has failed. The last one first; twice is once. */
void unit_at_end(void (*end)(void));

/* For a variable: end(&variable) is called when its block ends. */
#define ended_by(end) __attribute__((cleanup(end)))

/* Or, for a choice of tests at run time, the whole suite: of START_TEST(). Or
 * only those that come on top. */
Suite *unit_suite(void) __attribute__((weak));
void unit_more(Suite *suite) __attribute__((weak));

/* Is the next test one of this process? UNIT_PART=1/3: the second of every
 * three; meson runs a program that takes long in parts, at the same time. */
bool unit_is_mine(void);

/* Each test of the case may take so many seconds. */
void unit_set_timeout(TCase *tc, double of_each);

/* Add one test case `name` with these functions, NULL terminated. */
void unit_case(Suite *suite, const char *name, const TTest *const *tests);
/* Add a test case of its own for one function, run once for each row: _i. */
void unit_rows(Suite *suite, const TTest *test, size_t count);

/* A new empty directory, removed with its contents when the test program ends.
 * The string is valid until then. */
const char *unit_scratch(void);

/* "dir/name" inside unit_scratch(); valid until the program ends. */
const char *unit_path(const char *name);

/* git reads no settings of the machine, and does not begin to tidy up after a
 * command: that is thousands of processes that find nothing to do. */
void unit_git_settings(void);

/*
 * Wait for a fact that follows from what was done, never for a time: until the
 * condition holds, which is looked at again and again, for what other programs
 * do. The guard is nearly all the time that the test has; known(), which may be
 * NULL, says what there was instead.
 */
#define unit_until(condition, known)                       \
	do {                                               \
		while (!(condition))                       \
			unit_wait_on(#condition, (known)); \
	} while (0)
void unit_wait_on(const char *what, const char *(*known)(void));
/* The same for a loop of its own: is it time to give up? And how long it is
 * until then, in our clocks, for the guard of a loop or a child. */
bool unit_is_late(void);
int64_t unit_guard_ms(void);

/* Called by unit_begin(): the clocks of this program, and of the programs it
 * runs, run this many times as fast as the machine's (LLMC_TIME_SCALE). For
 * rules about time that are tested with real programs; otherwise use virtual
 * time. */
void unit_hurry(int times);

/* How often to try something random that tests/soak.sh (UNIT_WHOLE) tries whole
 * times: a tenth of that, or a fiftieth with the sanitizers. */
int unit_times(int whole);

/* The folder of tables of inputs and expected outcomes: tests/vectors, or a
 * folder with tables of the same names and form (LLMC_VECTORS). */
const char *unit_vectors(void);

/* End the running test as skipped: neither passed nor failed. For features that
 * the machine does not allow or does not have. */
void unit_skip(const char *why) __attribute__((noreturn));

/* Report the whole program as skipped and exit; called from unit_begin(). */
void unit_skip_all(const char *why) __attribute__((noreturn));

#endif
