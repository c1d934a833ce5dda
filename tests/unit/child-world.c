/* SPDX-License-Identifier: ISC */

#include "child-world.h"
#include "errtext.h"
#include "mem.h"
#include "procref.h"

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

static void
without_pidfd(void)
{
	procref_disable_pidfd(true);
}

static void
with_pidfd(void)
{
	procref_disable_pidfd(false);
}

Suite *
child_world_suite(const char *name, const TTest *const *tests, size_t count)
{
	const struct {
		const char *name;
		void (*setup)(void);
	} ways[] = { { "pidfd", with_pidfd }, { "sigchld", without_pidfd } };
	Suite *s = suite_create(name);

	for (size_t w = 0; w < nitems(ways); w++) {
		TCase *tc = tcase_create(ways[w].name);

		tcase_set_timeout(tc, 60);
		tcase_add_checked_fixture(tc, ways[w].setup, with_pidfd);
		for (size_t i = 0; i < count; i++)
			tcase_add_test(tc, tests[i]);
		suite_add_tcase(s, tc);
	}
	return s;
}
