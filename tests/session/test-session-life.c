/* SPDX-License-Identifier: ISC */

/* Signs of life of a session. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proctree.h"
#include "session-world.h"
#include "transcript.h"
#include "unit.h"

TEST(what_never_was_has_no_age)
{
	struct session_life life;
	struct world w;

	world_begin(&w);
	session_life(w.session, NULL, &life);
	ck_assert(life.quiet_ms == INT64_MAX);
	ck_assert(life.cpu_ms == INT64_MAX);
	ck_assert(!life.process);
	ck_assert(!life.tool_open);
	ck_assert_ptr_null(session_transcript(w.session));
	world_end(&w);
}

TEST(hooks_and_growth_are_signs_of_life)
{
	struct session_life life;
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_run(&w, 5000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 5000);
	ck_assert(life.process);
	world_hook(&w, "PreToolUse", "{}", NULL);
	world_hook_of(&w, "PreToolUse", "{}", 0, "older");
	world_run(&w, 2000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 2000);
	world_writes(&w, "hello");
	world_run(&w, 100);
	world_expect(&w, "grew");
	world_run(&w, 900);
	session_life(w.session, NULL, &life);
	ck_assert_int_le(life.quiet_ms, 1000);
	ck_assert(life.tool_open);
	ck_assert_int_gt(
	    transcript_parser_totals(session_transcript(w.session))->bytes, 0);
	world_agent_exits(&w);
	session_life(w.session, NULL, &life);
	ck_assert(!life.process);
	world_end(&w);
}

TEST(a_launch_counts_as_a_sign)
{
	struct session_life life;
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.record.ready = w.record.busy = true;
	session_adopt(w.session, w.agent, WORLD_START_MS);
	world_run(&w, 3000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 3000);
	world_end(&w);
}

static void
read_tree(struct world *w, struct session_life *ret_life)
{
	struct proctree *tree = NULL;

	ck_assert_int_eq(proctree_read(PROCTREE_PROC, &tree, NULL), 0);
	session_life(w->session, tree, ret_life);
	proctree_free(tree);
}

static int64_t
used_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000;
}

static void
burn_ms(int64_t ms)
{
	int64_t end = used_ms() + ms;

	while (used_ms() < end)
		for (volatile int i = 0; i < 1000000; i++)
			continue;
}

TEST(cpu_time_counts_when_it_grows)
{
	struct session_life life;
	struct world w;

	world_begin(&w);
	/* Our own process, which has used some CPU time. */
	w.record.ready = true;
	session_adopt(w.session, getpid(), WORLD_START_MS);
	read_tree(&w, &life);
	burn_ms(400);
	read_tree(&w, &life);
	ck_assert_int_eq(life.cpu_ms, 0);
	world_run(&w, 10000);
	read_tree(&w, &life); /* almost nothing since then */
	ck_assert_int_eq(life.cpu_ms, 10000);
	world_run(&w, 5000);
	session_life(w.session, NULL, &life); /* without checking */
	ck_assert_int_eq(life.cpu_ms, 15000);
	world_end(&w);
}
