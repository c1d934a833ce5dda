/* SPDX-License-Identifier: ISC */

/*
 * What every unit test shares: the main function (unit-main.c runs the suite
 * that the test defines, TAP on standard output) and scratch directories.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stddef.h>

/* Defined by each test file. */
Suite *unit_suite(void);

/* One test case per group of tests: a case named `name` with those functions,
 * NULL terminated. */
void unit_case(Suite *suite, const char *name, const TTest *const *tests);

/* A new empty directory, removed with all it holds when the test program
 * ends. Lives until then. */
const char *unit_scratch(void);

/* "dir/name" inside unit_scratch(); the text lives until the program ends. */
const char *unit_path(const char *name);

/* For unit_suite() to call: the clocks of this program, and of what it runs,
 * go so many times as fast as the machine's (LLMC_TIME_SCALE). For rules about
 * time that are tried with real programs; where there are none, use virtual
 * time. */
void unit_hurry(int times);

/* The vector folder (LLMC_VECTORS, else ../shared/vectors from the source
 * tree), or NULL where it is absent. Set by meson. */
const char *unit_vectors(void);

/* End the running test as skipped: neither passed nor failed. For what the
 * machine does not allow or does not have. */
void unit_skip(const char *why) __attribute__((noreturn));

/* Report the whole program as skipped and exit; called from unit_suite(). */
void unit_skip_all(const char *why) __attribute__((noreturn));

#endif
