/* SPDX-License-Identifier: ISC */

/* Signs of life of a session. */
#include <sys/resource.h>

#include "base.h"
#include "orphans.h"
#include "session-world.h"
#include "transcript.h"

TEST(what_never_was_has_no_age)
{
	struct session_life life;

	world_begin();
	session_life(w.session, NULL, &life);
	ck_assert(life.quiet_ms == INT64_MAX);
	ck_assert(life.cpu_ms == INT64_MAX);
	ck_assert(!life.process);
	ck_assert(!life.tool_open);
	ck_assert_ptr_null(session_transcript(w.session));
}

TEST(hooks_and_growth_are_signs_of_life)
{
	struct session_life life;

	world_begin();
	world_up();
	world_run(5000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 5000);
	ck_assert(life.process);
	world_hook("PreToolUse", "{}", NULL);
	world_hook_of("PreToolUse", "{}", 0, "older");
	world_run(2000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 2000);
	world_writes("hello");
	world_run(100);
	world_expect("grew");
	world_run(900);
	session_life(w.session, NULL, &life);
	ck_assert_int_le(life.quiet_ms, 1000);
	ck_assert(life.tool_open);
	ck_assert_int_gt(
	    transcript_parser_totals(session_transcript(w.session))->bytes, 0);
	world_agent_exits();
	session_life(w.session, NULL, &life);
	ck_assert(!life.process);
}

TEST(a_launch_counts_as_a_sign)
{
	struct session_life life;

	world_begin();
	world_agent(false);
	w.record.ready = w.record.busy = true;
	session_adopt(w.session, w.agent, WORLD_START_MS);
	world_run(3000);
	session_life(w.session, NULL, &life);
	ck_assert_int_eq(life.quiet_ms, 3000);
}

static void
read_tree(struct session_life *ret_life)
{
	struct proctree *tree = NULL;

	ck_assert_int_eq(proctree_read(PROCTREE_PROC, &tree, NULL), 0);
	session_life(w.session, tree, ret_life);
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

	world_begin();
	/* Our own process, which has used some CPU time. */
	w.record.ready = true;
	session_adopt(w.session, getpid(), WORLD_START_MS);
	read_tree(&life);
	burn_ms(400);
	read_tree(&life);
	ck_assert_int_eq(life.cpu_ms, 0);
	world_run(10000);
	read_tree(&life); /* almost nothing since then */
	ck_assert_int_eq(life.cpu_ms, 10000);
	world_run(5000);
	session_life(w.session, NULL, &life); /* without checking */
	ck_assert_int_eq(life.cpu_ms, 15000);
}
