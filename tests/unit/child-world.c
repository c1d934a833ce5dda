/* SPDX-License-Identifier: ISC */

#include "child-world.h"

void
child_world_shell(const char *command, struct child_result *result)
{
	struct child_spec spec = { .shell = command, .deadline_ms = 30000 };
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, result, &err) == 0, "%s", err.msg);
}

void
child_world_done(const struct child_result *result, void *arg)
{
	struct child_waiter *w = arg;

	w->calls++;
	w->cancelled = result->cancelled;
	w->signal = result->signal;
}
