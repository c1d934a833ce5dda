/* SPDX-License-Identifier: ISC */

/* Shared by the tests of children. */
#ifndef CHILD_WORLD_H
#define CHILD_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "child.h"
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

/* A suite whose tests run with and without pidfds. */
Suite *
child_world_suite(const char *name, const TTest *const *tests, size_t count);

#endif
