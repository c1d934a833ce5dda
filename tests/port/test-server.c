/* SPDX-License-Identifier: ISC */

#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "identity.h"
#include "rpc.h"
#include "server-world.h"
#include "server.h"

TEST(answers_requests_by_their_id)
{
	int fd;

	world_begin("answers");
	fd = dial(w.path);
	say(fd,
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\","
	    "\"params\":{\"a\":[1,\"\\u00e4\"]}}\n");
	say(fd, REQUEST("\"seven\"", "echo"));
	expect(
	    fd, RESULT("7", "{\"a\":[1,\"ä\"]}") RESULT("\"seven\"", "null"));
	say(fd, REQUEST("9", "dance"));
	expect(fd,
	    "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":"
	    "{\"code\":-32601,\"message\":\"what?\","
	    "\"data\":\"dance\"}}\n");
	fd_close(fd);
}

TEST(answers_may_come_later_and_in_any_order)
{
	int fd;

	world_begin("later");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park") REQUEST("2", "park") REQUEST("3", "echo"));
	expect(fd, RESULT("3", "null"));
	ck_assert(!server_call_gone(w.parked[0]));
	server_reply(w.parked[1], json_object_new_int(22));
	server_reply(w.parked[0], json_object_new_int(11));
	w.count = 0;
	expect(fd, RESULT("2", "22") RESULT("1", "11"));
	fd_close(fd);
}

TEST(notifications_are_not_answered)
{
	int fd;

	world_begin("notification");
	fd = dial(w.path);
	say(fd, NOTICE("echo") NOTICE("dance") NOTICE("park"));
	say(fd, REQUEST("1", "echo"));
	expect(fd, RESULT("1", "null"));
	ck_assert_str_eq(w.trace.data, "echo dance park echo ");
	fd_close(fd);
}

TEST(malformed_lines_are_answered)
{
	static const struct {
		const char *line;
		const char *id;
		int code;
	} rows[] = {
		{ "{\"jsonrpc\":", "null", RPC_PARSE_ERROR },
		{ "hello", "null", RPC_PARSE_ERROR },
		{ "\"a\\u0000b\"", "null", RPC_PARSE_ERROR },
		{ "{\"a\":\"\xff\"}", "null", RPC_PARSE_ERROR },
		{ "3", "null", RPC_INVALID_REQUEST },
		{ "[" NOTICE("echo") /* cut at the newline */, "null",
		    RPC_PARSE_ERROR },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}]",
		    "null", RPC_INVALID_REQUEST },
		{ "{\"id\":4,\"method\":\"echo\"}", "4", RPC_INVALID_REQUEST },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}", "\"x\"",
		    RPC_INVALID_REQUEST },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":5}", "5",
		    RPC_INVALID_REQUEST },
	};
	int fd;

	world_begin("malformed");
	fd = dial(w.path);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *line =
		    xstrndup(rows[i].line, strcspn(rows[i].line, "\n"));
		cleanup_free char *want =
		    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":"
			      "{\"code\":%d,\"message\":\"",
			rows[i].id, rows[i].code);
		cleanup_free char *text = NULL;

		say(fd, line);
		say(fd, "\n");
		text = hear(fd, 1);
		ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s: %s",
		    line, text);
	}
	say(fd, "\n \r\n" REQUEST("1", "echo"));
	expect(fd, RESULT("1", "null"));
	ck_assert_str_eq(w.trace.data, "echo ");
	fd_close(fd);
}

TEST(a_line_too_long_is_refused_and_the_next_is_served)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *answer = NULL;
	int fd;

	world_begin("long");
	fd = dial(w.path);
	buf_adds(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
	while (text.len <= RPC_LINE_MAX)
		buf_adds(&text, "aaaaaaaaaaaaaaaa");
	buf_adds(&text, "\"}\n" REQUEST("2", "echo"));
	say_long(fd, &text);
	answer = hear(fd, 2);
	ck_assert_ptr_nonnull(strstr(answer, "\"id\":null"));
	ck_assert_ptr_nonnull(strstr(answer, "-32700"));
	ck_assert_ptr_nonnull(strstr(answer, "longer than 4 MiB"));
	ck_assert_ptr_nonnull(strstr(answer, RESULT("2", "null")));
	fd_close(fd);
}

TEST(an_answer_too_long_becomes_an_error)
{
	cleanup_free char *text = NULL;
	cleanup_free char *answer = NULL;
	int fd;

	world_begin("long-answer");
	fd = dial(w.path);
	text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\","
			 "\"params\":{\"n\":%d}}\n",
	    RPC_LINE_MAX);
	say(fd, text);
	answer = hear(fd, 1);
	ck_assert_ptr_nonnull(strstr(answer, "-32603"));
	ck_assert_ptr_nonnull(strstr(answer, "\"id\":1"));
	fd_close(fd);
}

TEST(a_client_that_left_is_no_trouble)
{
	int fd;

	world_begin("left");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park") REQUEST("2", "park"));
	pass(1);
	ck_assert_int_eq(w.count, 2);
	ck_assert(!server_call_gone(w.parked[0]));
	fd_close(fd);
	ck_assert(server_call_gone(w.parked[0]));
	server_reply(w.parked[0], json_object_new_int(1));
	pass(1);
	ck_assert(server_call_gone(w.parked[1]));
	server_fail(w.parked[1], 5, "late", json_object_new_int(1));
	w.count = 0;
}

TEST(what_a_client_said_before_it_left_is_heard)
{
	int fd;

	world_begin("said");
	fd = dial(w.path);
	say(fd, REQUEST("1", "echo") NOTICE("a") REQUEST("1", "park"));
	for (int i = 0; i < 100; i++)
		say(fd, NOTICE("b"));
	fd_close(fd);
	pass(1);
	ck_assert(strncmp(w.trace.data, "echo a park b b ", 16) == 0);
	ck_assert_uint_eq(w.trace.len, strlen("echo a park ") + 200);
	ck_assert(server_call_gone(w.parked[0]));
}

TEST(a_client_that_only_stopped_sending_gets_its_answers)
{
	int fd;

	world_begin("half-closed");
	fd = dial(w.path);
	/* The last line may lack its newline then. */
	say(fd,
	    REQUEST("1", "park") "{\"jsonrpc\":\"2.0\",\"id\":2,"
				 "\"method\":\"echo\"}");
	shutdown(fd, SHUT_WR);
	expect(fd, RESULT("2", "null"));
	pass(2 * SERVER_IDLE_MS);
	ck_assert(!server_call_gone(w.parked[0]));
	server_reply(w.parked[0], NULL);
	w.count = 0;
	expect(fd, RESULT("1", "null") "EOF");
	fd_close(fd);
}

TEST(it_is_known_who_called)
{
	struct server_peer peer;
	pid_t pid;
	int fd;

	world_begin("peer");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park"));
	pass(1);
	server_call_peer(w.parked[0], &peer);
	ck_assert_int_eq(peer.pid, getpid());
	ck_assert(!peer.gone);
	ck_assert(peer.pidfd == -1 ||
	    ancestry_pidfd(ANCESTRY_PROC, peer.pidfd) == getpid());
	/* One that has ended before we look: its number proves nothing. */
	pid = fork();
	if (pid == 0) {
		say(dial(w.path), NOTICE("park"));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	pass(1);
	ck_assert_int_eq(w.count, 2);
	server_call_peer(w.parked[1], &peer);
	ck_assert(peer.gone || peer.pidfd == -1 ||
	    ancestry_pidfd(ANCESTRY_PROC, peer.pidfd) == -ESRCH);
	fd_close(fd);
	pass(1);
	server_call_peer(w.parked[0], &peer);
	ck_assert(peer.gone);
}

TEST(others_are_refused)
{
	int fd;

	if (geteuid() != 0)
		unit_skip("only root can be somebody else");
	world_begin("others");
	/* The mode of file and folder would be enough, if they were kept. */
	ck_assert_int_eq(chmod(unit_scratch(), 0711), 0);
	ck_assert_int_eq(chmod(w.path, 0666), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	fd = dial(w.path);
	ck_assert_int_eq(seteuid(0), 0);
	say(fd, REQUEST("1", "echo"));
	pass(1);
	ck_assert_str_eq(w.trace.data, "");
	ck_assert_int_eq(send(fd, "\n", 1, MSG_NOSIGNAL), -1);
	fd_close(fd);
}

TEST(the_file_is_private_whatever_the_mask)
{
	static const mode_t masks[] = { 0, 022, 0777 };
	struct stat st;
	mode_t old;

	for (size_t i = 0; i < nitems(masks); i++) {
		old = umask(masks[i]);
		world_begin("private");
		ck_assert_uint_eq(umask(old), masks[i]);
		ck_assert_int_eq(lstat(w.path, &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, 0600);
		world_end();
		ck_assert(!file_exists(unit_path("private")));
	}
}

TEST(a_live_listener_is_left_alone)
{
	struct err err = { 0, "" };
	int fd;

	world_begin("live");
	ck_assert_int_eq(world_try(w.path, &err), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(err.msg, w.path));
	fd = dial(w.path);
	say(fd, REQUEST("1", "echo"));
	expect(fd, RESULT("1", "null"));
	fd_close(fd);
}

/* The socket file of a listener that died. */
static void
leave_dead(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strlcpy(a.sun_path, path, sizeof a.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	fd_close(fd);
}

TEST(a_dead_ones_file_is_replaced)
{
	leave_dead(unit_path("dead"));
	world_begin("dead");
	fd_close(dial(w.path));
}

TEST(impossible_places_are_refused)
{
	char path[200] = "";
	size_t len;

	world_begin("places");
	len = strlen(unit_scratch());
	memset(path, 'a', sizeof path - 1);
	memcpy(path, unit_scratch(), len);
	path[len] = '/';
	ck_assert_int_eq(world_try(path, NULL), -ENAMETOOLONG);
	path[108] = '\0';
	ck_assert_int_eq(world_try(path, NULL), -ENAMETOOLONG);
	path[107] = '\0';
	ck_assert_int_eq(world_try(path, NULL), 0);
	ck_assert_int_eq(world_try(unit_path("no/where"), NULL), -ENOENT);
	ck_assert_int_eq(
	    file_replace(unit_path("file"), "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(world_try(unit_path("file"), NULL), -EEXIST);
	ck_assert(file_exists(unit_path("file")));
}

TEST(anothers_file_is_not_removed)
{
	world_begin("anothers");
	ck_assert_int_eq(unlink(w.path), 0);
	leave_dead(w.path);
	server_free(take_ptr(&w.server));
	ck_assert(file_exists(w.path));
}

/* A client that is connected stays; one that waits to be accepted too. */
TEST(a_removed_file_is_made_again)
{
	int old, waiting, fresh;

	world_begin("again");
	old = dial(w.path);
	say(old, REQUEST("1", "echo"));
	expect(old, RESULT("1", "null"));
	ck_assert_int_eq(server_reopen(w.server, NULL), 0);
	waiting = dial(w.path);
	ck_assert_int_eq(unlink(w.path), 0);
	ck_assert_int_eq(server_reopen(w.server, NULL), 1);
	fresh = dial(w.path);
	say(old, REQUEST("2", "echo"));
	say(waiting, REQUEST("3", "echo"));
	say(fresh, REQUEST("4", "echo"));
	expect(old, RESULT("2", "null"));
	expect(waiting, RESULT("3", "null"));
	expect(fresh, RESULT("4", "null"));
	/* Not over what somebody else put there. */
	ck_assert_int_eq(unlink(w.path), 0);
	ck_assert_int_eq(file_replace(w.path, "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(server_reopen(w.server, NULL), -EEXIST);
	ck_assert_int_eq(unlink(w.path), 0);
	ck_assert_int_eq(server_reopen(w.server, NULL), 1);
	fd_close(old);
	fd_close(waiting);
	fd_close(fresh);
}

/* Its last change: bind(2) creates it before anybody listens. */
TEST(the_file_changes_when_it_is_listened_at)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} in;
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	uint32_t last = 0;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(inotify_add_watch(fd, unit_scratch(),
			     IN_CREATE | IN_ATTRIB | IN_DELETE),
	    0);
	world_begin("changes");
	while ((n = read(fd, in.bytes, sizeof in.bytes)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event =
			    (const void *)(in.bytes + at);

			last = event->mask;
			at += (ssize_t)(sizeof *event + event->len);
		}
	ck_assert_uint_eq(last, IN_ATTRIB);
	fd_close(fd);
}

TEST(may_be_freed_by_a_call)
{
	int fd;

	world_begin("quit");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park") REQUEST("2", "quit") REQUEST("3", "echo"));
	expect(fd, "EOF");
	ck_assert_str_eq(w.trace.data, "park quit ");
	ck_assert_ptr_null(w.server);
	ck_assert(server_call_gone(w.parked[0]));
	fd_close(fd);
}

TEST(an_answer_before_the_end_arrives)
{
	int fd;

	world_begin("last");
	fd = dial(w.path);
	say(fd, REQUEST("1", "park"));
	pass(1);
	server_reply(w.parked[0], NULL);
	w.count = 0;
	server_free(take_ptr(&w.server));
	expect(fd, RESULT("1", "null"));
	expect(fd, "EOF");
	fd_close(fd);
}
