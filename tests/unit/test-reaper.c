/* SPDX-License-Identifier: ISC */

#include "unit.h"

#define LOOK_MS 10

struct world {
	struct loop *loop;
	struct loop_timer *look, *guard;
	pid_t stranger;
	bool ended;
};

static void
too_late(void *arg)
{
	struct world *w = arg;

	loop_stop(w->loop, 1);
}

/* A zombie still accepts signal 0; a reaped process does not. */
static void
look(void *arg)
{
	struct world *w = arg;

	if (w->ended && kill(w->stranger, 0) == -1 && errno == ESRCH)
		loop_stop(w->loop, 0);
}

static void
left_behind(const struct child_result *result, void *arg)
{
	struct world *w = arg;
	cleanup_buf struct buf text = BUF_INIT;
	int64_t pid = 0;

	child_output_text(&result->out, &text);
	buf_truncate(&text, text.len - 1);
	ck_assert(child_succeeded(result));
	ck_assert(text_parse_int(text.data, 1, INT64_C(1) << 31, &pid));
	w->stranger = (pid_t)pid;
	w->ended = true;
	kill(w->stranger, SIGKILL);
}

static int
run(struct world *w)
{
	int status;

	w->look = loop_every(w->loop, LOOK_MS, look, w);
	w->guard = loop_after(w->loop, unit_guard_ms(), too_late, w);
	status = loop_run(w->loop);
	loop_timer_free(w->look);
	loop_timer_free(w->guard);
	return status;
}

/* The shell leaves a process in its own session and exits: the orphan becomes
 * our child, and is reaped when it exits. */
TEST(an_orphan_is_collected)
{
	struct world w = { .loop = loop_new() };
	struct reaper *reaper = reaper_new(w.loop);
	struct child_spec spec = { .shell = "setsid sleep 1000 >/dev/null "
					    "2>&1 & echo $!" };

	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, left_behind, &w, NULL, NULL), 0);
	ck_assert_int_eq(run(&w), 0);
	reaper_free(reaper);
	loop_free(w.loop);
}

static void
count_good(const struct child_result *result, void *arg)
{
	int *good = arg;

	*good += result->exited && result->status == 7;
}

/* The exit status of a child still reaches the code that started it. */
TEST(children_of_our_own_keep_their_status)
{
	struct loop *loop = loop_new();
	struct reaper *reaper = reaper_new(loop);
	struct child_spec spec = { .shell = "exit 7" };
	struct world w = { .loop = loop };
	int good = 0;

	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(
		    child_spawn(loop, &spec, count_good, &good, NULL, NULL), 0);
	w.guard = loop_after(loop, unit_guard_ms(), too_late, &w);
	while (good < 20 && loop_timer_pending(w.guard)) {
		struct loop_timer *tick =
		    loop_after(loop, LOOK_MS, too_late, &w);

		loop_run(loop);
		loop_timer_free(tick);
	}
	ck_assert_int_eq(good, 20);
	loop_timer_free(w.guard);
	reaper_free(reaper);
	loop_free(loop);
}
