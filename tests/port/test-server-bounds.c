/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "server-world.h"
#include "server.h"
#include "unit.h"

START_TEST(a_line_must_be_finished_in_time)
{
	struct world w;
	int64_t began;
	int fd;

	world_begin(&w, "half-line");
	fd = dial(w.path);
	began = clock_mono_ms();
	/* Sending a byte now and then is not enough. */
	for (int i = 0; i < 9; i++) {
		say(fd, "{");
		pass(&w, 1000);
	}
	expect(&w, fd,
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
	    "{\"code\":-32700,\"message\":"
	    "\"the line was not finished in time\"}}\nEOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_LINE_MS);
	fd_close(fd);
	world_end(&w);
}
END_TEST

START_TEST(each_line_has_its_own_time)
{
	struct world w;
	int fd;

	world_begin(&w, "line-time");
	fd = dial(w.path);
	for (int i = 0; i < 20; i++) {
		say(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,");
		pass(&w, SERVER_LINE_MS - 1000);
		say(fd, "\"method\":\"echo\"}\n{");
		expect(&w, fd, RESULT("1", "null"));
		pass(&w, 500);
		say(fd, "}\n");
		free(hear(&w, fd, 1));
	}
	fd_close(fd);
	world_end(&w);
}
END_TEST

START_TEST(idle_connections_are_closed)
{
	struct world w;
	int64_t began;
	int idle, waiting;

	world_begin(&w, "idle");
	idle = dial(w.path);
	waiting = dial(w.path);
	say(waiting, REQUEST("1", "park"));
	pass(&w, 1);
	say(idle, REQUEST("1", "echo"));
	expect(&w, idle, RESULT("1", "null"));
	began = clock_mono_ms();
	expect(&w, idle, "EOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_IDLE_MS);
	/* With a call in progress it is not idle, until the call is
	 * answered. */
	pass(&w, SERVER_IDLE_MS);
	server_reply(w.parked[0], NULL);
	w.count = 0;
	expect(&w, waiting, RESULT("1", "null"));
	began = clock_mono_ms();
	expect(&w, waiting, "EOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_IDLE_MS);
	fd_close(idle);
	fd_close(waiting);
	world_end(&w);
}
END_TEST

/* Ask for more answers than the kernel and the server would buffer. */
static void
ask_for_much(int fd, int count)
{
	for (int i = 0; i < count; i++)
		say(fd,
		    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\","
		    "\"params\":{\"n\":100000}}\n");
}

START_TEST(a_client_that_does_not_read_is_not_read_from)
{
	cleanup_free char *text = NULL;
	struct world w;
	int fd, before;

	world_begin(&w, "slow");
	fd = dial(w.path);
	ask_for_much(fd, 100);
	pass(&w, 1000);
	before = world_calls(&w, "long");
	ck_assert_int_ge(before, SERVER_OUT_PAUSE / 100000);
	ck_assert_int_lt(before, 50);
	/* Once it reads, it gets everything. */
	text = hear(&w, fd, 100);
	ck_assert_int_eq(world_calls(&w, "long"), 100);
	ck_assert_uint_gt(strlen(text), 10000000);
	fd_close(fd);
	world_end(&w);
}
END_TEST

START_TEST(a_client_that_never_reads_is_hung_up_on)
{
	struct world w;
	int fd, other;

	world_begin(&w, "never");
	fd = dial(w.path);
	ask_for_much(fd, 100);
	say(fd, REQUEST("1", "park"));
	pass(&w, SERVER_WRITE_MS - 1);
	ck_assert_int_eq(send(fd, "\n", 1, MSG_NOSIGNAL), 1);
	pass(&w, 2);
	ck_assert_int_eq(send(fd, "\n", 1, MSG_NOSIGNAL), -1);
	ck_assert_int_lt(world_calls(&w, "long"), 50);
	other = dial(w.path);
	say(other, REQUEST("1", "echo"));
	expect(&w, other, RESULT("1", "null"));
	fd_close(fd);
	fd_close(other);
	world_end(&w);
}
END_TEST

START_TEST(late_answers_are_bounded_too)
{
	struct world w;
	int fd;

	world_begin(&w, "bounded");
	fd = dial(w.path);
	for (int i = 0; i < 10; i++)
		say(fd, REQUEST("1", "park"));
	pass(&w, 1);
	ck_assert_int_eq(w.count, 10);
	for (int i = 0; i < 6; i++)
		server_reply(w.parked[--w.count], long_text(4000000));
	pass(&w, 1);
	ck_assert(server_call_gone(w.parked[0]));
	fd_close(fd);
	world_end(&w);
}
END_TEST

START_TEST(calls_under_way_are_bounded)
{
	struct world w;
	int fd;

	world_begin(&w, "calls");
	fd = dial(w.path);
	for (int i = 0; i < SERVER_CALLS_MAX + 2; i++)
		say(fd, REQUEST("1", "park"));
	pass(&w, 2 * SERVER_IDLE_MS);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX);
	server_reply(w.parked[--w.count], NULL);
	expect(&w, fd, RESULT("1", "null"));
	pass(&w, 1);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX);
	fd_close(fd);
	server_reply(w.parked[--w.count], NULL);
	server_reply(w.parked[--w.count], NULL);
	/* It left, but its last call was received. */
	pass(&w, 1);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX - 1);
	world_end(&w);
}
END_TEST

START_TEST(a_line_may_wait_while_we_do_not_read)
{
	struct world w;
	int fd;

	world_begin(&w, "waits");
	fd = dial(w.path);
	for (int i = 0; i < SERVER_CALLS_MAX; i++)
		say(fd, REQUEST("1", "park"));
	say(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,");
	pass(&w, 2 * SERVER_LINE_MS);
	server_reply(w.parked[--w.count], NULL);
	expect(&w, fd, RESULT("1", "null"));
	pass(&w, SERVER_LINE_MS - 1);
	say(fd, "\"method\":\"echo\"}\n");
	expect(&w, fd, RESULT("2", "null"));
	fd_close(fd);
	world_end(&w);
}
END_TEST

START_TEST(connections_are_bounded)
{
	int fds[SERVER_CONNECTIONS_MAX], late;
	struct rlimit old, more;
	struct world w;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	more = old;
	more.rlim_cur = old.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &more), 0);
	world_begin(&w, "connections");
	for (int i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		fds[i] = dial(w.path);
		say(fds[i], REQUEST("1", "park"));
		pass(&w, 1);
	}
	ck_assert_int_eq(w.count, SERVER_CONNECTIONS_MAX);
	late = dial(w.path);
	say(late, REQUEST("1", "echo"));
	pass(&w, 5000);
	ck_assert_int_eq(world_calls(&w, "echo"), 0);
	fd_close(fds[100]);
	expect(&w, late, RESULT("1", "null"));
	for (int i = 0; i < SERVER_CONNECTIONS_MAX; i++)
		if (i != 100)
			fd_close(fds[i]);
	fd_close(late);
	world_end(&w);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}
END_TEST

/* It accepts the connection first and closes it if it is over the limit. */
static bool
under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

START_TEST(without_descriptors_it_waits_a_second)
{
	struct rlimit old, none;
	struct world w;
	int64_t began;
	uint64_t passes;
	int fd, lowest;

	if (under_valgrind())
		unit_skip("valgrind keeps descriptors of its own");
	world_begin(&w, "descriptors");
	fd = dial(w.path);
	say(fd, REQUEST("1", "echo"));
	lowest = dup(fd);
	fd_close(lowest);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)lowest;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	began = clock_mono_ms();
	passes = loop_passes(w.loop);
	pass(&w, SERVER_PAUSE_MS - 1);
	ck_assert_uint_lt(loop_passes(w.loop) - passes, 10);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_str_eq(w.trace.data, "");
	expect(&w, fd, RESULT("1", "null"));
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_PAUSE_MS);
	fd_close(fd);
	world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("server-bounds");

	unit_case(s, "bounds",
	    (const TTest *[]){ a_line_must_be_finished_in_time,
		each_line_has_its_own_time, idle_connections_are_closed,
		a_client_that_does_not_read_is_not_read_from,
		a_client_that_never_reads_is_hung_up_on,
		late_answers_are_bounded_too, calls_under_way_are_bounded,
		a_line_may_wait_while_we_do_not_read, connections_are_bounded,
		without_descriptors_it_waits_a_second, NULL });
	return s;
}
