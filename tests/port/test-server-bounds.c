/* SPDX-License-Identifier: ISC */

#include <sys/resource.h>
#include <sys/socket.h>

#include "server-world.h"
#include "server.h"

TEST(a_line_must_be_finished_in_time)
{
	int64_t began;
	int fd;

	world_begin("half-line");
	fd = dial(w.path);
	began = clock_mono_ms();
	/* Sending a byte now and then is not enough. */
	for (int i = 0; i < 9; i++) {
		say(fd, "{");
		pass(1000);
	}
	expect(fd,
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
	    "{\"code\":-32700,\"message\":"
	    "\"the line was not finished in time\"}}\nEOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_LINE_MS);
	fd_close(fd);
}

TEST(each_line_has_its_own_time)
{
	int fd;

	world_begin("line-time");
	fd = dial(w.path);
	for (int i = 0; i < 20; i++) {
		say(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,");
		pass(SERVER_LINE_MS - 1000);
		say(fd, "\"method\":\"echo\"}\n{");
		expect(fd, RESULT("1", "null"));
		pass(500);
		say(fd, "}\n");
		free(hear(fd, 1));
	}
	fd_close(fd);
}

TEST(idle_connections_are_closed)
{
	int64_t began;
	int idle, waiting;

	world_begin("idle");
	idle = dial(w.path);
	waiting = dial(w.path);
	say(waiting, REQUEST("1", "park"));
	pass(1);
	say(idle, REQUEST("1", "echo"));
	expect(idle, RESULT("1", "null"));
	began = clock_mono_ms();
	expect(idle, "EOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_IDLE_MS);
	/* With a call in progress it is not idle, until the call is
	 * answered. */
	pass(SERVER_IDLE_MS);
	server_reply(w.parked[0], NULL);
	w.count = 0;
	expect(waiting, RESULT("1", "null"));
	began = clock_mono_ms();
	expect(waiting, "EOF");
	ck_assert_int_eq(clock_mono_ms() - began, SERVER_IDLE_MS);
	fd_close(idle);
	fd_close(waiting);
}

/* Ask for more answers than the kernel and the server would buffer. */
static void
ask_for_much(int fd, int count)
{
	for (int i = 0; i < count; i++)
		say(fd,
		    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\","
		    "\"params\":{\"n\":100000}}\n");
}

TEST(a_client_that_does_not_read_is_not_read_from)
{
	cleanup_free char *text = NULL;
	int fd, before;

	world_begin("slow");
	fd = dial(w.path);
	ask_for_much(fd, 100);
	pass(1000);
	before = world_calls("long");
	ck_assert_int_ge(before, SERVER_OUT_PAUSE / 100000);
	ck_assert_int_lt(before, 50);
	/* Once it reads, it gets everything. */
	text = hear(fd, 100);
	ck_assert_int_eq(world_calls("long"), 100);
	ck_assert_uint_gt(strlen(text), 10000000);
	fd_close(fd);
}

TEST(a_client_that_never_reads_is_hung_up_on)
{
	int fd, other;

	world_begin("never");
	fd = dial(w.path);
	ask_for_much(fd, 100);
	say(fd, REQUEST("1", "park"));
	pass(SERVER_WRITE_MS - 1);
	ck_assert_int_eq(send(fd, "\n", 1, MSG_NOSIGNAL), 1);
	pass(2);
	ck_assert_int_eq(send(fd, "\n", 1, MSG_NOSIGNAL), -1);
	ck_assert_int_lt(world_calls("long"), 50);
	other = dial(w.path);
	say(other, REQUEST("1", "echo"));
	expect(other, RESULT("1", "null"));
	fd_close(fd);
	fd_close(other);
}

TEST(late_answers_are_bounded_too)
{
	int fd;

	world_begin("bounded");
	fd = dial(w.path);
	for (int i = 0; i < 10; i++)
		say(fd, REQUEST("1", "park"));
	pass(1);
	ck_assert_int_eq(w.count, 10);
	for (int i = 0; i < 6; i++)
		server_reply(w.parked[--w.count], long_text(4000000));
	pass(1);
	ck_assert(server_call_gone(w.parked[0]));
	fd_close(fd);
}

TEST(calls_under_way_are_bounded)
{
	int fd;

	world_begin("calls");
	fd = dial(w.path);
	for (int i = 0; i < SERVER_CALLS_MAX + 2; i++)
		say(fd, REQUEST("1", "park"));
	pass(2 * SERVER_IDLE_MS);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX);
	server_reply(w.parked[--w.count], NULL);
	expect(fd, RESULT("1", "null"));
	pass(1);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX);
	fd_close(fd);
	server_reply(w.parked[--w.count], NULL);
	server_reply(w.parked[--w.count], NULL);
	/* It left, but its last call was received. */
	pass(1);
	ck_assert_int_eq(w.count, SERVER_CALLS_MAX - 1);
}

TEST(a_line_may_wait_while_we_do_not_read)
{
	int fd;

	world_begin("waits");
	fd = dial(w.path);
	for (int i = 0; i < SERVER_CALLS_MAX; i++)
		say(fd, REQUEST("1", "park"));
	say(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,");
	pass(2 * SERVER_LINE_MS);
	server_reply(w.parked[--w.count], NULL);
	expect(fd, RESULT("1", "null"));
	pass(SERVER_LINE_MS - 1);
	say(fd, "\"method\":\"echo\"}\n");
	expect(fd, RESULT("2", "null"));
	fd_close(fd);
}

TEST(a_process_has_a_share_of_the_connections)
{
	int fds[SERVER_PEER_MAX], late;
	int64_t began;

	world_begin("share");
	for (int i = 0; i < SERVER_PEER_MAX; i++) {
		fds[i] = dial(w.path);
		say(fds[i], REQUEST("1", "park"));
		pass(1);
	}
	ck_assert_int_eq(w.count, SERVER_PEER_MAX);
	began = clock_mono_ms();
	late = dial(w.path);
	expect(late, "EOF");
	/* At once, not because it is idle. */
	ck_assert_int_lt(clock_mono_ms() - began, SERVER_IDLE_MS);
	fd_close(late);
	fd_close(fds[0]);
	pass(1);
	late = dial(w.path);
	say(late, REQUEST("1", "echo"));
	expect(late, RESULT("1", "null"));
	fd_close(late);
	for (int i = 1; i < SERVER_PEER_MAX; i++)
		fd_close(fds[i]);
}

TEST(the_longest_idle_connection_makes_room)
{
	int fds[SERVER_PEER_MAX], late;

	world_begin("room");
	for (int i = 0; i < SERVER_PEER_MAX; i++) {
		fds[i] = dial(w.path);
		pass(1);
	}
	/* The first one has a call under way, the second one has just been
	 * answered. */
	say(fds[0], REQUEST("1", "park"));
	say(fds[1], REQUEST("1", "echo"));
	expect(fds[1], RESULT("1", "null"));
	late = dial(w.path);
	say(late, REQUEST("1", "echo"));
	expect(late, RESULT("1", "null"));
	expect(fds[2], "EOF");
	server_reply(w.parked[--w.count], NULL);
	expect(fds[0], RESULT("1", "null"));
	for (int i = 0; i < SERVER_PEER_MAX; i++) {
		if (i > 2) {
			say(fds[i], REQUEST("1", "echo"));
			expect(fds[i], RESULT("1", "null"));
		}
		fd_close(fds[i]);
	}
	fd_close(late);
}

/* A process that keeps its share of connections until its pipe is closed. */
struct neighbour {
	pid_t pid;
	int hold;
};

static struct neighbour
neighbour_start(const char *request)
{
	struct neighbour n;
	int ready[2], hold[2];
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(hold, O_CLOEXEC), 0);
	n.pid = fork();
	ck_assert_int_ge(n.pid, 0);
	if (n.pid == 0) {
		fd_close(hold[1]);
		for (int i = 0; i < SERVER_PEER_MAX; i++)
			say(dial(w.path), request);
		fd_close(ready[1]);
		_exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
	}
	fd_close(ready[1]);
	fd_close(hold[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 0);
	fd_close(ready[0]);
	n.hold = hold[1];
	for (int i = 0; i < SERVER_PEER_MAX; i++)
		pass(1);
	return n;
}

/* The newest first: it has inherited the pipes of the others. */
static void
neighbours_end(const struct neighbour *n, size_t count)
{
	int status = -1;

	while (count-- > 0) {
		fd_close(n[count].hold);
		ck_assert_int_eq(
		    waitpid(n[count].pid, &status, 0), n[count].pid);
		ck_assert_int_eq(status, 0);
	}
}

static void
fill(const char *request, int calls)
{
	struct neighbour n[SERVER_CONNECTIONS_MAX / SERVER_PEER_MAX];
	struct rlimit old, more;
	int fd, gone = 0;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	more = old;
	more.rlim_cur = old.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &more), 0);
	world_begin("full");
	for (size_t i = 0; i < nitems(n); i++)
		n[i] = neighbour_start(request);
	ck_assert_int_eq(w.count, calls);
	for (int i = 0; i < 3; i++) {
		fd = dial(w.path);
		say(fd, REQUEST("1", "echo"));
		expect(fd, RESULT("1", "null"));
		fd_close(fd);
	}
	/* One of the others had to go, for there were as many as allowed. */
	for (int i = 0; i < calls; i++)
		gone += server_call_gone(w.parked[i]);
	ck_assert_int_eq(gone, calls > 0);
	neighbours_end(n, nitems(n));
	world_end();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}

TEST(there_is_room_beside_connections_that_say_nothing)
{
	fill("", 0);
}

TEST(there_is_room_beside_connections_that_wait)
{
	fill(REQUEST("1", "park"), SERVER_CONNECTIONS_MAX);
}

TEST(a_listener_may_allow_fewer_connections)
{
	int fds[6];

	world_begin("fewer");
	server_limit(w.server, nitems(fds) - 2);
	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = dial(w.path);
		say(fds[i], REQUEST("1", "park"));
		pass(1);
	}
	expect(fds[0], "EOF");
	expect(fds[1], "EOF");
	for (size_t i = 0; i < nitems(fds); i++) {
		ck_assert_int_eq(server_call_gone(w.parked[i]), i < 2);
		fd_close(fds[i]);
	}
}

/* It accepts the connection first and closes it if it is over the limit. */
static bool
under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

TEST(without_descriptors_it_waits_a_second)
{
	struct rlimit old, none;
	int64_t began;
	uint64_t passes;
	int fd, lowest;

	if (under_valgrind())
		unit_skip("valgrind keeps descriptors of its own");
	world_begin("descriptors");
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
	pass(LOOP_REST_MS - 1);
	ck_assert_uint_lt(loop_passes(w.loop) - passes, 10);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_str_eq(w.trace.data, "");
	expect(fd, RESULT("1", "null"));
	ck_assert_int_eq(clock_mono_ms() - began, LOOP_REST_MS);
	fd_close(fd);
}
