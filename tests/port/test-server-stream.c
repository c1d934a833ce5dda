/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>

#include "rpc.h"
#include "server-world.h"
#include "server.h"

#define NOTE(n)                                     \
	"{\"jsonrpc\":\"2.0\",\"method\":\"note\"," \
	"\"params\":{\"n\":" n "}}\n"

/* The owner of a stream. */
struct owner {
	struct server_call *call; /* NULL = ended */
	int told;
	bool ends; /* ends the call when its client is gone */
};

static int
notify(struct server_call *call, int n)
{
	struct json_object *params = json_object_new_object();

	json_set_int(params, "n", n);
	return server_notify(call, "note", params);
}

static int
notify_long(struct server_call *call, int64_t len)
{
	struct json_object *params = json_object_new_array();

	json_object_array_add(params, long_text(len));
	return server_notify(call, "note", params);
}

static void
on_gone(void *arg)
{
	struct owner *owner = arg;

	owner->told++;
	ck_assert(server_call_gone(owner->call));
	if (owner->ends)
		server_reply(take_ptr(&owner->call), NULL);
}

/* A client with an open stream. */
static int
subscribe(struct owner *owner)
{
	int fd = dial(w.path);

	say(fd, REQUEST("1", "park"));
	pass(1);
	ck_assert_int_gt(w.count, 0);
	owner->call = w.parked[--w.count];
	server_on_gone(owner->call, on_gone, owner);
	return fd;
}

TEST(an_open_call_is_told_things)
{
	struct owner owner = { 0 };
	int fd;

	world_begin("told");
	fd = subscribe(&owner);
	ck_assert_int_eq(notify(owner.call, 1), 0);
	ck_assert_int_eq(notify(owner.call, 2), 0);
	expect(fd, NOTE("1") NOTE("2"));
	/* It is not idle, and other calls work beside it. */
	pass(3 * SERVER_IDLE_MS);
	say(fd, REQUEST("2", "echo"));
	expect(fd, RESULT("2", "null"));
	ck_assert_int_eq(server_notify(owner.call, "bare", NULL), 0);
	expect(fd, NOTICE("bare"));
	ck_assert_int_eq(notify(owner.call, 3), 0);
	server_reply(owner.call, json_object_new_int(4));
	expect(fd, NOTE("3") RESULT("1", "4"));
	expect(fd, "EOF");
	ck_assert_int_eq(owner.told, 0);
	fd_close(fd);
}

TEST(much_is_read_by_one_who_reads)
{
	cleanup_free char *heard = NULL;
	struct owner owner = { 0 };
	int fd;

	world_begin("much");
	fd = subscribe(&owner);
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 5; k++)
			ck_assert_int_eq(notify_long(owner.call, 200000), 0);
		free(hear(fd, 5));
	}
	/* One line over the limit does not make it a slow reader, also if
	 * others follow before it was read. */
	ck_assert_int_eq(notify_long(owner.call, 3 * SERVER_STREAM_MAX), 0);
	ck_assert_int_eq(notify(owner.call, 1), 0);
	heard = hear(fd, 2);
	ck_assert_ptr_nonnull(strstr(heard, NOTE("1")));
	server_reply(owner.call, NULL);
	fd_close(fd);
}

TEST(a_line_too_long_is_not_sent)
{
	struct owner owner = { 0 };
	int fd;

	world_begin("too-long");
	fd = subscribe(&owner);
	ck_assert_int_eq(notify_long(owner.call, RPC_LINE_MAX), -EMSGSIZE);
	ck_assert_int_eq(notify(owner.call, 1), 0);
	expect(fd, NOTE("1"));
	server_reply(owner.call, NULL);
	fd_close(fd);
}

TEST(a_slow_reader_is_dropped_and_others_go_on)
{
	struct owner slow = { .ends = true }, quick = { 0 };
	int slow_fd, quick_fd, r = 0, count = 0;

	world_begin("slow-reader");
	slow_fd = subscribe(&slow);
	quick_fd = subscribe(&quick);
	while (r == 0 && count++ < 100) {
		r = notify_long(slow.call, 100000);
		ck_assert_int_eq(notify_long(quick.call, 100000), 0);
		free(hear(quick_fd, 1));
	}
	ck_assert_int_eq(r, -ENOBUFS);
	ck_assert_int_gt(count, SERVER_STREAM_MAX / 100000);
	ck_assert(server_call_gone(slow.call));
	ck_assert_int_eq(notify(slow.call, 1), -EPIPE);
	ck_assert_int_eq(slow.told, 0);
	pass(1);
	ck_assert_int_eq(slow.told, 1);
	ck_assert_ptr_null(slow.call);
	ck_assert_int_eq(send(slow_fd, "\n", 1, MSG_NOSIGNAL), -1);
	ck_assert_int_eq(notify(quick.call, 2), 0);
	expect(quick_fd, NOTE("2"));
	server_reply(quick.call, NULL);
	fd_close(slow_fd);
	fd_close(quick_fd);
}

TEST(one_that_takes_nothing_is_dropped_in_time)
{
	struct owner owner = { .ends = true };
	int fd;

	world_begin("takes-nothing");
	fd = subscribe(&owner);
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(notify_long(owner.call, 100000), 0);
	pass(SERVER_WRITE_MS - 1);
	ck_assert_int_eq(owner.told, 0);
	pass(2);
	ck_assert_int_eq(owner.told, 1);
	fd_close(fd);
}

TEST(a_client_that_goes_away_is_told_of)
{
	struct owner ends = { .ends = true }, keeps = { 0 };
	int a, b;

	world_begin("goes-away");
	a = subscribe(&ends);
	b = subscribe(&keeps);
	fd_close(a);
	pass(1);
	ck_assert_int_eq(ends.told, 1);
	ck_assert_ptr_null(ends.call);
	ck_assert_int_eq(keeps.told, 0);
	ck_assert_int_eq(notify(keeps.call, 1), 0);
	expect(b, NOTE("1"));
	/* Reported once, however long the owner keeps it. */
	fd_close(b);
	ck_assert_int_eq(notify(keeps.call, 2), -EPIPE);
	pass(1);
	ck_assert_int_eq(notify(keeps.call, 3), -EPIPE);
	pass(1000);
	ck_assert_int_eq(keeps.told, 1);
	server_reply(keeps.call, NULL);
}

TEST(one_that_had_gone_before_is_told_of_too)
{
	struct owner owner = { 0 };
	int fd;

	world_begin("had-gone");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park"));
	pass(1);
	owner.call = w.parked[--w.count];
	fd_close(fd);
	pass(1);
	server_on_gone(owner.call, on_gone, &owner);
	ck_assert_int_eq(owner.told, 0);
	pass(1);
	ck_assert_int_eq(owner.told, 1);
	server_reply(owner.call, NULL);
}

TEST(a_half_closed_one_is_found_gone_by_sending)
{
	struct owner owner = { 0 };
	int fd;

	world_begin("half-closed");
	fd = subscribe(&owner);
	shutdown(fd, SHUT_WR);
	pass(2 * SERVER_IDLE_MS);
	ck_assert_int_eq(notify(owner.call, 1), 0);
	expect(fd, NOTE("1"));
	ck_assert_int_eq(owner.told, 0);
	fd_close(fd);
	ck_assert_int_eq(notify(owner.call, 2), -EPIPE);
	pass(1);
	ck_assert_int_eq(owner.told, 1);
	server_reply(owner.call, NULL);
}

TEST(streams_that_fill_a_connection_are_told_of_its_end)
{
	struct owner owners[SERVER_CALLS_MAX] = { 0 };
	int fd;

	world_begin("full");
	fd = dial(w.path);
	for (int i = 0; i < SERVER_CALLS_MAX; i++)
		say(fd, REQUEST("1", "park"));
	pass(1);
	for (int i = 0; i < SERVER_CALLS_MAX; i++) {
		owners[i].ends = true;
		owners[i].call = w.parked[--w.count];
		server_on_gone(owners[i].call, on_gone, &owners[i]);
	}
	fd_close(fd);
	ck_assert_int_eq(notify(owners[0].call, 1), -EPIPE);
	pass(1);
	for (int i = 0; i < SERVER_CALLS_MAX; i++)
		ck_assert_int_eq(owners[i].told, 1);
}

TEST(the_server_may_be_freed_while_a_stream_is_open)
{
	struct owner keeps = { 0 }, ends = { .ends = true }, first = { 0 };
	int a, b, c;

	world_begin("freed");
	a = subscribe(&keeps);
	b = subscribe(&ends);
	c = subscribe(&first);
	ck_assert_int_eq(notify(keeps.call, 1), 0);
	server_free(take_ptr(&w.server));
	/* Ended before that could be reported. */
	server_reply(first.call, NULL);
	ck_assert_int_eq(keeps.told + ends.told, 0);
	ck_assert_int_eq(notify(keeps.call, 2), -EPIPE);
	expect(a, NOTE("1"));
	expect(a, "EOF");
	expect(b, "EOF");
	pass(1);
	ck_assert_int_eq(keeps.told, 1);
	ck_assert_int_eq(ends.told, 1);
	ck_assert_int_eq(first.told, 0);
	server_reply(keeps.call, NULL);
	fd_close(a);
	fd_close(b);
	fd_close(c);
}
