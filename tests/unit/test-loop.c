/* SPDX-License-Identifier: ISC */

#include "unit.h"

static struct world {
	struct loop *loop;
	struct buf trace;
	struct loop_timer *timer;
	struct loop_call *call;
	struct loop_watch *watch;
	int count;
	int fd;
} w;

static void
world_end(void)
{
	loop_timer_free(w.timer);
	loop_call_free(w.call);
	loop_watch_free(w.watch);
	loop_free(w.loop);
	buf_release(&w.trace);
	clock_virtual_end();
}

static void
world_begin(void)
{
	memset(&w, 0, sizeof w);
	buf_init(&w.trace);
	w.loop = loop_new();
	unit_at_end(world_end);
}

static void
note_a(void *arg)
{
	(void)arg;
	buf_addf(&w.trace, "a%lld ", (long long)clock_mono_ms());
}

static void
note_b(void *arg)
{
	(void)arg;
	buf_addf(&w.trace, "b%lld ", (long long)clock_mono_ms());
}

static void
stop(void *arg)
{
	(void)arg;
	loop_stop(w.loop, 7);
}

TEST(nothing_to_wait_for_returns)
{
	world_begin();
	ck_assert_int_eq(loop_run(w.loop), 0);
}

TEST(timers_fire_in_order_in_virtual_time)
{
	struct loop_timer *a1, *a2, *b1, *b2;

	world_begin();
	clock_virtual_begin(1000, 0);
	a1 = loop_after(w.loop, 3600000, note_a, &w);
	b1 = loop_after(w.loop, 50, note_b, &w);
	b2 = loop_after(w.loop, 50, note_a, &w);
	a2 = loop_after(w.loop, 10, note_a, &w);
	ck_assert_int_eq(loop_run(w.loop), 0);
	ck_assert_str_eq(w.trace.data, "a1010 b1050 a1050 a3601000 ");
	loop_timer_free(a1);
	loop_timer_free(a2);
	loop_timer_free(b1);
	loop_timer_free(b2);
}

TEST(many_timers_keep_heap_order)
{
	struct loop_timer *timers[500];
	long long last = 0, at;
	unsigned seed = 1;
	char *p;

	world_begin();
	clock_virtual_begin(0, 0);
	for (int i = 0; i < 500; i++) {
		seed = seed * 1103515245u + 12345u;
		timers[i] = loop_after(w.loop, 1 + seed % 1000, note_a, &w);
	}
	for (int i = 0; i < 500; i += 3) {
		loop_timer_free(timers[i]);
		timers[i] = NULL;
	}
	for (int i = 1; i < 500; i += 3)
		loop_timer_restart(timers[i], 1 + (i * 37) % 1000);
	loop_run(w.loop);
	for (p = w.trace.data; *p != '\0'; p = strchr(p, ' ') + 1) {
		at = strtoll(p + 1, NULL, 10);
		ck_assert_int_ge(at, last);
		last = at;
		w.count++;
	}
	ck_assert_int_eq(w.count, 333);
	for (int i = 0; i < 500; i++)
		loop_timer_free(timers[i]);
}

static void
count_three(void *arg)
{
	(void)arg;
	if (++w.count == 3) {
		loop_timer_free(w.timer); /* from inside its own callback */
		w.timer = NULL;
	}
}

TEST(repeating_timer_may_free_itself)
{
	world_begin();
	clock_virtual_begin(0, 0);
	w.timer = loop_every(w.loop, 20, count_three, &w);
	loop_run(w.loop);
	ck_assert_int_eq(w.count, 3);
	ck_assert_int_eq(clock_mono_ms(), 60);
}

static void
stall_then_stop(void *arg)
{
	(void)arg;
	if (++w.count == 1)
		clock_virtual_advance(1000); /* the callback took a second */
	if (w.count == 2)
		loop_stop(w.loop, 0);
}

TEST(a_stall_is_followed_by_one_call)
{
	world_begin();
	clock_virtual_begin(0, 0);
	w.timer = loop_every(w.loop, 10, stall_then_stop, &w);
	loop_run(w.loop);
	/* 10 + 1000, and one full period: not a hundred missed ones. */
	ck_assert_int_eq(clock_mono_ms(), 1020);
	ck_assert_int_ge(loop_lag_ms(w.loop), 1000);
	loop_lag_reset(w.loop);
	ck_assert_int_eq(loop_lag_ms(w.loop), 0);
}

static void
request_again(void *arg)
{
	(void)arg;
	if (++w.count < 5) {
		loop_call_request(w.call);
		loop_call_request(w.call); /* the second request changes
					    * nothing */
	}
}

TEST(deferred_calls_run_once_a_turn)
{
	world_begin();
	w.call = loop_call_new(w.loop, request_again, &w);
	loop_call_request(w.call);
	loop_call_request(w.call);
	loop_run(w.loop);
	ck_assert_int_eq(w.count, 5);
	ck_assert_uint_ge(loop_passes(w.loop), 5);
}

static void
free_other_call(void *arg)
{
	(void)arg;
	w.count++;
	loop_call_free(w.call);
	w.call = NULL;
}

TEST(a_call_may_free_a_waiting_one)
{
	struct loop_call *first;

	world_begin();
	first = loop_call_new(w.loop, free_other_call, &w);
	w.call = loop_call_new(w.loop, note_a, &w);
	loop_call_request(first);
	loop_call_request(w.call);
	loop_run(w.loop);
	ck_assert_int_eq(w.count, 1);
	ck_assert_str_eq(w.trace.data, "");
	loop_call_free(first);
}

static void
on_signal(int signo, void *arg)
{
	(void)arg;
	buf_addf(&w.trace, "signal %d", signo);
	loop_stop(w.loop, 3);
}

static void
raise_usr1(void *arg)
{
	(void)arg;
	raise(SIGUSR1);
}

TEST(signals_reach_the_loop)
{
	struct loop_signal *sig;

	world_begin();
	sig = loop_signal_new(w.loop, SIGUSR1, on_signal, &w);
	w.timer = loop_after(w.loop, 1, raise_usr1, NULL);
	ck_assert_int_eq(loop_run(w.loop), 3);
	ck_assert_str_eq(w.trace.data, "signal 10");
	loop_signal_free(sig);
}

static void
read_one(int fd, unsigned what, void *arg)
{
	char c = '?';

	(void)arg;
	ck_assert_uint_eq(what, LOOP_READ);
	if (read(fd, &c, 1) == 0) {
		loop_watch_free(w.watch);
		w.watch = NULL;
		return;
	}
	buf_addc(&w.trace, c);
}

TEST(descriptors_are_watched_until_freed)
{
	int fds[2];

	world_begin();
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], "xyz", 3), 3);
	close(fds[1]);
	w.watch = loop_watch_new(w.loop, fds[0], LOOP_READ, read_one, &w);
	ck_assert_int_eq(loop_run(w.loop), 0);
	ck_assert_str_eq(w.trace.data, "xyz");
	close(fds[0]);
}

static void
leave_ready(int fd, unsigned what, void *arg)
{
	(void)arg;
	(void)fd;
	(void)what;
	loop_call_request(w.call);
	/* Without this the test would not end when it fails. */
	if (++w.count > 100)
		loop_stop(w.loop, 1);
}

static void
stop_well(void *arg)
{
	(void)arg;
	loop_stop(w.loop, 0);
}

/* Two passes, since the first one waits and the second one does not. */
static void
request_stop(void *arg)
{
	(void)arg;
	loop_call_free(w.call);
	w.call = loop_call_new(w.loop, stop_well, &w);
	loop_call_request(w.call);
}

TEST(deferred_calls_run_while_a_descriptor_stays_ready)
{
	struct loop_watch *watch;
	int ends[2];

	world_begin();
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	w.call = loop_call_new(w.loop, request_stop, &w);
	watch = loop_watch_new(w.loop, ends[0], LOOP_READ, leave_ready, &w);
	ck_assert_int_eq(loop_run(w.loop), 0);
	loop_watch_free(watch);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_regular_file_cannot_be_watched)
{
	FILE *f = fopen(unit_path("plain"), "w");

	world_begin();
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(
	    loop_watch_new(w.loop, fileno(f), LOOP_READ, read_one, &w));
	fclose(f);
}

TEST(stop_ends_the_run_with_its_status)
{
	world_begin();
	w.timer = loop_after(w.loop, 1, stop, &w);
	ck_assert(loop_timer_pending(w.timer));
	ck_assert_int_le(loop_timer_remaining(w.timer, clock_mono_ms()), 1);
	ck_assert_int_eq(loop_run(w.loop), 7);
	ck_assert(!loop_timer_pending(w.timer));
	ck_assert_int_eq(loop_timer_remaining(w.timer, clock_mono_ms()), 0);
	/* And the loop can be run again. */
	loop_timer_restart(w.timer, 1);
	ck_assert_int_eq(loop_run(w.loop), 7);
}

TEST(real_timers_are_not_early)
{
	int64_t began;

	world_begin();
	began = clock_mono_ms();
	w.timer = loop_after(w.loop, 30, note_a, &w);
	loop_run(w.loop);
	ck_assert_int_ge(clock_mono_ms() - began, 30);
	ck_assert_uint_le(loop_passes(w.loop), 5);
}
