/* SPDX-License-Identifier: ISC */

/*
 * The server in a process of its own; clients that wait. It serves by path: "/"
 * and "/later" (from a timer) say hello, "/long" much more, "/ticks" is a
 * stream of lines, "/flood" one that sends as fast as it may, "/brief" one that
 * ends. What it finds out it writes to a pipe: "gone", "full".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "http-request.h"
#include "http-server.h"
#include "loop.h"
#include "mem.h"
#include "proxy-world.h"
#include "unit.h"
#include "web-rules.h"

#define LONG  (8 * 1024 * 1024)
#define CHUNK 65536

static const struct web_content text_type = { .type = "text/plain", .len = 5 };
static const struct web_content stream_type = { .type = "text/event-stream",
	.endless = true };

/* --- the server's process ----------------------------------------------- */

struct flow {
	struct loop *loop;
	struct http_exchange *exchange;
	struct loop_timer *timer;
	size_t chunk;
	int count;
};

static int report_fd;

static void
report(const char *word)
{
	dprintf(report_fd, "%s\n", word);
}

static void
flow_end(struct flow *flow)
{
	http_stream_end(flow->exchange);
	loop_timer_free(flow->timer);
	free(flow);
}

static void
flow_gone(void *arg)
{
	report("gone");
	flow_end(arg);
}

static void
flow_send(void *arg)
{
	struct flow *flow = arg;
	cleanup_free char *bytes = xcalloc(1, flow->chunk + 32);
	int r;

	memset(bytes, 'x', flow->chunk);
	snprintf(bytes + flow->chunk, 32, "%d\n", flow->count++);
	r = http_stream_send(flow->exchange, bytes, strlen(bytes));
	if (r == -ENOBUFS)
		report("full");
	if (r < 0) {
		flow_end(flow);
		return;
	}
	loop_timer_restart(flow->timer, 1);
}

static void
flow_begin(struct http_exchange *exchange, struct loop *loop, size_t chunk)
{
	struct flow *flow = xcalloc(1, sizeof *flow);

	flow->exchange = exchange;
	flow->chunk = chunk;
	if (http_stream_begin(exchange, &stream_type, flow_gone, flow) < 0) {
		free(flow);
		return;
	}
	flow->timer = loop_after(loop, 1, flow_send, flow);
}

static void
say_hello(void *arg)
{
	http_reply(arg, 200, &text_type, "hello");
}

static void
say_long(struct http_exchange *exchange)
{
	const struct web_content type = { .type = "text/plain", .len = LONG };
	cleanup_free char *body = xcalloc(1, LONG);

	memset(body, 'y', LONG);
	http_reply(exchange, 200, &type, body);
}

static void
serve(
    struct http_exchange *exchange, const struct http_head *request, void *arg)
{
	struct loop *loop = arg;

	if (strcmp(request->target, "/") == 0)
		say_hello(exchange);
	else if (strcmp(request->target, "/later") == 0)
		loop_after(loop, 5, say_hello, exchange);
	else if (strcmp(request->target, "/long") == 0)
		say_long(exchange);
	else if (strcmp(request->target, "/ticks") == 0)
		flow_begin(exchange, loop, 0);
	else if (strcmp(request->target, "/flood") == 0)
		flow_begin(exchange, loop, CHUNK);
	else if (strcmp(request->target, "/brief") == 0) {
		if (http_stream_begin(
			exchange, &stream_type, flow_gone, NULL) == 0) {
			http_stream_send(exchange, "last", 4);
			http_stream_end(exchange);
		}
	} else
		http_refuse(exchange, 404);
}

static unsigned port;
static pid_t server;
static int reports;

/* hurry: time passes ten times as fast for it. */
static void
begin_with(rlim_t descriptors, bool hurry)
{
	struct rlimit limit = { descriptors, descriptors };
	struct err err = { 0, "" };
	int listener = http_listen(0, &err), ends[2];
	struct sockaddr_in a;
	socklen_t len = sizeof a;

	ck_assert_msg(listener >= 0, "%s", err.msg);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	port = ntohs(a.sin_port);
	ck_assert_int_eq(pipe(ends), 0);
	reports = ends[0];
	report_fd = ends[1];
	server = fork();
	ck_assert_int_ge(server, 0);
	if (server == 0) {
		struct loop *loop;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (hurry)
			unit_hurry(10);
		loop = loop_new();
		if (descriptors > 0)
			setrlimit(RLIMIT_NOFILE, &limit);
		if (http_server_new(loop, listener, serve, loop, &err) == NULL)
			_exit(1);
		_exit(loop_run(loop));
	}
	close(listener);
	close(ends[1]);
}

static void
begin(void)
{
	begin_with(0, false);
}

static void
end(void)
{
	net_end(server);
	close(reports);
}

/* --- clients ----------------------------------------------------------- */

static int
get(const char *target)
{
	cleanup_free char *head = xasprintf(
	    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", target, port);
	int fd = net_connect(port);

	net_say(fd, head);
	return fd;
}

static void
expect(int fd, const char *status)
{
	cleanup_free char *head = net_head(fd);

	ck_assert_msg(strncmp(head, status, strlen(status)) == 0,
	    "expected %s, got %s", status, head);
}

/* The whole answer begins with that, and ends with that. */
static void
expect_all(int fd, const char *first, const char *last)
{
	cleanup_free char *text = net_drain(fd);

	ck_assert_msg(
	    strncmp(text, first, strlen(first)) == 0, "got %.300s", text);
	ck_assert_uint_ge(strlen(text), strlen(last));
	ck_assert_str_eq(text + strlen(text) - strlen(last), last);
}

static void
expect_report(const char *word)
{
	char line[16] = "";
	struct pollfd p = { .fd = reports, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	ck_assert_int_eq(
	    read(reports, line, strlen(word) + 1), (ssize_t)strlen(word) + 1);
	ck_assert_int_eq(strncmp(line, word, strlen(word)), 0);
}

START_TEST(it_listens_on_127_0_0_1_and_says_which_port_is_taken)
{
	struct err err = { 0, "" };
	struct sockaddr_in a;
	socklen_t len = sizeof a;
	cleanup_fd int fd = http_listen(0, &err);
	cleanup_free char *number = NULL;

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	ck_assert_uint_eq(a.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	number = xasprintf("127.0.0.1:%u", ntohs(a.sin_port));
	ck_assert_int_eq(http_listen(ntohs(a.sin_port), &err), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(err.msg, number));
}
END_TEST

START_TEST(a_socket_that_does_not_listen_on_127_0_0_1_is_refused)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };
	struct loop *loop = loop_new();
	struct err err = { 0, "" };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_ptr_null(http_server_new(loop, fd, serve, loop, &err));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_ptr_null(http_server_new(loop, fd, serve, loop, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "127.0.0.1"));
	loop_free(loop);
}
END_TEST

START_TEST(a_request_is_answered_once_and_the_connection_closed)
{
	cleanup_fd int fd = -1, later = -1, none = -1;

	begin();
	fd = get("/");
	net_say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_all(fd, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	later = get("/later");
	expect_all(later, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	none = get("/nothing");
	expect_all(none, "HTTP/1.1 404 ", "nothing here.\n");
	end();
}
END_TEST

START_TEST(a_head_may_come_in_pieces_and_half_closed)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	cleanup_fd int fd = -1;

	begin();
	fd = net_connect(port);
	for (size_t i = 0; i < sizeof text - 1; i++)
		ck_assert_int_eq(write(fd, text + i, 1), 1);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	expect_all(fd, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	end();
}
END_TEST

START_TEST(head_gets_no_body)
{
	cleanup_fd int fd = -1, stream = -1;

	begin();
	fd = net_connect(port);
	net_say(fd, "HEAD / HTTP/1.1\r\n\r\n");
	expect_all(fd, "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n\r\n");
	stream = net_connect(port);
	net_say(stream, "HEAD /ticks HTTP/1.1\r\n\r\n");
	expect_all(stream, "HTTP/1.1 200 OK\r\n", "event-stream\r\n\r\n");
	end();
}
END_TEST

START_TEST(what_is_no_request_is_refused_with_its_status)
{
	static const struct {
		const char *text, *status;
	} rows[] = {
		{ "GET / HTTP/1.1\nHost: x\n\n", "HTTP/1.1 400 " },
		{ "GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 " },
		{ "\x16\x03\x01", "HTTP/1.1 400 " },
	};
	cleanup_free char *large = xcalloc(1, HTTP_HEAD_MAX + 2);
	cleanup_fd int fd = -1;

	memset(large, 'a', HTTP_HEAD_MAX + 1);
	begin();
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_fd int bad = net_connect(port);

		net_say(bad, rows[i].text);
		expect_all(bad, rows[i].status, "\n");
	}
	fd = net_connect(port);
	net_say(fd, large);
	expect_all(fd, "HTTP/1.1 431 ", "too long.\n");
	end();
}
END_TEST

START_TEST(a_client_that_still_sends_gets_its_refusal)
{
	cleanup_free char *body = xcalloc(1, HTTP_IGNORED_MAX / 2 + 1);
	cleanup_fd int fd = -1;

	memset(body, 'b', HTTP_IGNORED_MAX / 2);
	begin();
	fd = net_connect(port);
	net_say(fd, "POST /nothing HTTP/1.1\r\nContent-Length: 524288\r\n\r\n");
	net_say(fd, body);
	expect_all(fd, "HTTP/1.1 404 ", "nothing here.\n");
	end();
}
END_TEST

/* Sends a byte now and then until the server has ended it. */
START_TEST(a_head_has_5_seconds_however_many_bytes_come)
{
	cleanup_free char *text = NULL;
	cleanup_fd int fd = -1, silent = -1;
	struct pollfd p = { .events = POLLIN };

	begin_with(0, true);
	silent = net_connect(port);
	fd = net_connect(port);
	net_say(fd, "GET / HTTP/1.1\r\nX: ");
	for (p.fd = fd; poll(&p, 1, 20) == 0;)
		net_say(fd, "x");
	text = net_drain(fd);
	ck_assert_int_eq(strncmp(text, "HTTP/1.1 408 ", 13), 0);
	/* Who has asked nothing gets no answer. */
	expect_all(silent, "", "");
	end();
}
END_TEST

START_TEST(more_connections_than_32_make_the_oldest_end)
{
	int fds[HTTP_CONNECTIONS_MAX + 10];
	cleanup_fd int fd = -1, stream = -1;

	begin();
	stream = get("/ticks");
	expect(stream, "HTTP/1.1 200 ");
	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = net_connect(port);
		net_say(fds[i], "GET ");
	}
	fd = get("/");
	expect_all(fd, "HTTP/1.1 200 ", "hello");
	/* The first were dropped, without an answer; the last ones were not,
	 * nor the stream. */
	for (size_t i = 0; i < 10; i++) {
		char byte;

		ck_assert_int_le(read(fds[i], &byte, 1), 0);
	}
	net_say(fds[nitems(fds) - 1], "/ HTTP/1.1\r\n\r\n");
	expect_all(fds[nitems(fds) - 1], "HTTP/1.1 200 ", "hello");
	free(net_head(get("/")));
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	ck_assert_int_gt(read(stream, &fds, sizeof fds), 0);
	end();
}
END_TEST

START_TEST(eight_streams_are_served_and_no_ninth_until_one_ends)
{
	int fds[HTTP_STREAMS_MAX];
	cleanup_fd int ninth = -1, next = -1;

	begin();
	for (int i = 0; i < HTTP_STREAMS_MAX; i++) {
		fds[i] = get("/ticks");
		expect(fds[i], "HTTP/1.1 200 ");
	}
	ninth = get("/ticks");
	expect_all(ninth, "HTTP/1.1 503 ", "close one.\n");
	close(fds[3]);
	expect_report("gone");
	next = get("/ticks");
	expect(next, "HTTP/1.1 200 ");
	for (int i = 0; i < HTTP_STREAMS_MAX; i++)
		if (i != 3)
			close(fds[i]);
	end();
}
END_TEST

START_TEST(a_stream_reaches_its_reader_in_order)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	char byte;

	begin();
	fd = get("/ticks");
	expect(fd, "HTTP/1.1 200 ");
	while (strstr(text.data, "\n9\n") == NULL && read(fd, &byte, 1) == 1)
		buf_addc(&text, byte);
	ck_assert_str_eq(text.data, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
	end();
}
END_TEST

START_TEST(a_stream_that_is_ended_is_read_to_its_end)
{
	begin();
	expect_all(get("/brief"), "HTTP/1.1 200 ", "\r\n\r\nlast");
	end();
}
END_TEST

START_TEST(a_reader_that_is_too_slow_is_dropped_and_others_are_not)
{
	cleanup_fd int slow = -1, fd = -1, stream = -1;
	char first[2];

	begin();
	stream = get("/ticks");
	expect(stream, "HTTP/1.1 200 ");
	slow = get("/flood");
	expect_report("full");
	fd = get("/");
	expect_all(fd, "HTTP/1.1 200 ", "hello");
	ck_assert_int_eq(read(stream, first, sizeof first), sizeof first);
	ck_assert_int_eq(strncmp(first, "0\n", 2), 0);
	end();
}
END_TEST

START_TEST(a_long_answer_arrives_whole)
{
	cleanup_free char *text = NULL;
	const char *body;

	begin();
	text = net_drain(get("/long"));
	body = strstr(text, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(strlen(body + 4), LONG);
	end();
}
END_TEST

/* More than the kernel buffers, so that the server waits for us. */
START_TEST(an_answer_that_nobody_takes_is_given_up)
{
	struct pollfd p = { .events = POLLHUP };
	cleanup_fd int fd = -1;
	int size = 4096;

	begin_with(0, true);
	fd = net_connect(port);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
	net_say(fd, "GET /long HTTP/1.1\r\n\r\nmore");
	p.fd = fd;
	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	end();
}
END_TEST

START_TEST(running_out_of_descriptors_is_survived)
{
	int fds[20];
	cleanup_fd int fd = -1;

	begin_with(16, true);
	for (size_t i = 0; i < nitems(fds); i++)
		fds[i] = net_connect(port);
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	fd = get("/");
	expect_all(fd, "HTTP/1.1 200 ", "hello");
	end();
}
END_TEST

static void
forget(void *arg)
{
	*(struct http_exchange **)arg = NULL;
}

static struct http_exchange *kept;

static void
keep(struct http_exchange *exchange, const struct http_head *request, void *arg)
{
	(void)request;
	if (http_stream_begin(exchange, &stream_type, forget, &kept) == 0)
		kept = exchange;
	loop_stop(arg, 0);
}

START_TEST(a_server_that_is_freed_tells_its_streams)
{
	struct loop *loop = loop_new();
	struct err err = { 0, "" };
	struct http_server *http =
	    http_server_new(loop, http_listen(0, &err), keep, loop, &err);
	struct http_exchange *exchange;
	int fd;

	port = http_server_port(http);
	fd = get("/");
	loop_run(loop);
	exchange = kept;
	ck_assert_ptr_nonnull(exchange);
	http_server_free(http);
	ck_assert_int_eq(http_stream_send(exchange, "x", 1), -EPIPE);
	loop_run(loop);
	ck_assert_ptr_null(kept);
	http_stream_end(exchange);
	close(fd);
	loop_free(loop);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		it_listens_on_127_0_0_1_and_says_which_port_is_taken,
		a_socket_that_does_not_listen_on_127_0_0_1_is_refused,
		a_request_is_answered_once_and_the_connection_closed,
		a_head_may_come_in_pieces_and_half_closed,
		head_gets_no_body,
		what_is_no_request_is_refused_with_its_status,
		a_client_that_still_sends_gets_its_refusal,
		a_head_has_5_seconds_however_many_bytes_come,
		more_connections_than_32_make_the_oldest_end,
		eight_streams_are_served_and_no_ninth_until_one_ends,
		a_stream_reaches_its_reader_in_order,
		a_stream_that_is_ended_is_read_to_its_end,
		a_reader_that_is_too_slow_is_dropped_and_others_are_not,
		a_long_answer_arrives_whole,
		an_answer_that_nobody_takes_is_given_up,
		running_out_of_descriptors_is_survived,
		a_server_that_is_freed_tells_its_streams,
		NULL,
	};
	Suite *suite = suite_create("http-server");

	unit_case(suite, "http-server", tests);
	return suite;
}
