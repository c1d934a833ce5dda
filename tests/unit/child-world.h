/* SPDX-License-Identifier: ISC */

/* What the tests of children share. */
#ifndef CHILD_WORLD_H
#define CHILD_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "child.h"
#include "unit.h"

/* Run through the shell and give the result back. */
void child_world_shell(const char *command, struct child_result *result);

/* Somebody who is told of ends: the callback child_world_done() takes it. */
struct child_waiter {
	struct loop *loop;
	struct child *child;
	int calls;
	bool cancelled;
	int signal;
};
void child_world_done(const struct child_result *result, void *arg);

/* A suite of tests that are run with pidfds and without. */
Suite *
child_world_suite(const char *name, const TTest *const *tests, size_t count);

#endif
