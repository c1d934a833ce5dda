/* SPDX-License-Identifier: ISC */

/* Shared by the tests of children. */
#ifndef CHILD_WORLD_H
#define CHILD_WORLD_H

#include "unit.h"

/* Run a shell command and return the result. */
void child_world_shell(const char *command, struct child_result *result);

/* Records ends: the argument of the callback child_world_done(). */
struct child_waiter {
	struct loop *loop;
	struct child *child;
	int calls;
	bool cancelled;
	int signal;
};
void child_world_done(const struct child_result *result, void *arg);

/* A test that runs with and without pidfds. */
#define CHILD_TEST(name)                        \
	static void name##_body(void);          \
	TEST_ROWS(name, 2)                      \
	{                                       \
		procref_disable_pidfd(_i == 1); \
		name##_body();                  \
	}                                       \
	static void name##_body(void)

#endif
