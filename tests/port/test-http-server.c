/* SPDX-License-Identifier: ISC */

#include "proxy-world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "http-request.h"
#include "http-server.h"
#include "web-world.h"

TEST(it_listens_on_127_0_0_1_and_says_which_port_is_taken)
{
	struct err err = { 0, "" };
	struct sockaddr_in a;
	socklen_t len = sizeof a;
	cleanup_fd int fd = http_listen(NULL, 0, &err);
	cleanup_free char *number = NULL;

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	ck_assert_uint_eq(a.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	number = xasprintf("127.0.0.1:%u", ntohs(a.sin_port));
	ck_assert_int_eq(
	    http_listen(NULL, ntohs(a.sin_port), &err), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(err.msg, number));
}

TEST(a_socket_that_does_not_listen_on_127_0_0_1_is_refused)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };
	struct loop *loop = loop_new();
	struct err err = { 0, "" };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_ptr_null(
	    http_server_new(loop, fd, NULL, web_serve, loop, &err));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_ptr_null(
	    http_server_new(loop, fd, NULL, web_serve, loop, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "127.0.0.1"));
	loop_free(loop);
}

TEST(a_request_is_answered_once_and_the_connection_closed)
{
	cleanup_fd int fd = -1, later = -1, none = -1;

	web_begin();
	fd = web_get("/");
	net_say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	web_expect_all(fd, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	later = web_get("/later");
	web_expect_all(later, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	none = web_get("/nothing");
	web_expect_all(none, "HTTP/1.1 404 ", "nothing here.\n");
	web_end();
}

TEST(a_head_may_come_in_pieces_and_half_closed)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	cleanup_fd int fd = -1;

	web_begin();
	fd = net_connect(web_port);
	for (size_t i = 0; i < sizeof text - 1; i++)
		ck_assert_int_eq(write(fd, text + i, 1), 1);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	web_expect_all(fd, "HTTP/1.1 200 OK\r\n", "\r\n\r\nhello");
	web_end();
}

TEST(a_post_is_handed_out_with_its_whole_body_and_no_more)
{
	static const char text[] =
	    "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n"
	    "\r\nab\ncd";
	cleanup_fd int fd = -1, more = -1, none = -1, large = -1, open = -1;

	web_begin();
	fd = net_connect(web_port);
	for (size_t i = 0; i < sizeof text - 1; i++)
		ck_assert_int_eq(write(fd, text + i, 1), 1);
	web_expect_all(fd, "HTTP/1.1 200 OK\r\n", "\r\n\r\nab\ncd");
	more = net_connect(web_port);
	net_say(more,
	    "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nxyGET / HTTP/1.1\r\n\r\n");
	web_expect_all(more, "HTTP/1.1 200 OK\r\n", "\r\n\r\nxy");
	none = net_connect(web_port);
	net_say(none, "POST /echo HTTP/1.1\r\n\r\n");
	web_expect_all(none, "HTTP/1.1 200 OK\r\n", "\r\n\r\n");
	large = net_connect(web_port);
	net_say(large, "POST /echo HTTP/1.1\r\nContent-Length: 131073\r\n\r\n");
	web_expect(large, "HTTP/1.1 413 ");
	open = net_connect(web_port);
	net_say(
	    open, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
	web_expect(open, "HTTP/1.1 411 ");
	web_end();
}

TEST(head_gets_no_body)
{
	cleanup_fd int fd = -1, stream = -1;

	web_begin();
	fd = net_connect(web_port);
	net_say(fd, "HEAD / HTTP/1.1\r\n\r\n");
	web_expect_all(fd, "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n\r\n");
	stream = net_connect(web_port);
	net_say(stream, "HEAD /ticks HTTP/1.1\r\n\r\n");
	web_expect_all(stream, "HTTP/1.1 200 OK\r\n", "event-stream\r\n\r\n");
	web_end();
}

TEST(what_is_no_request_is_refused_with_its_status)
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
	web_begin();
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_fd int bad = net_connect(web_port);

		net_say(bad, rows[i].text);
		web_expect_all(bad, rows[i].status, "\n");
	}
	fd = net_connect(web_port);
	net_say(fd, large);
	web_expect_all(fd, "HTTP/1.1 431 ", "too long.\n");
	web_end();
}

TEST(a_client_that_still_sends_gets_its_refusal)
{
	cleanup_free char *body = xcalloc(1, HTTP_IGNORED_MAX / 2 + 1);
	cleanup_fd int fd = -1;

	memset(body, 'b', HTTP_IGNORED_MAX / 2);
	web_begin();
	fd = net_connect(web_port);
	net_say(fd, "POST /nothing HTTP/1.1\r\nContent-Length: 524288\r\n\r\n");
	net_say(fd, body);
	web_expect_all(fd, "HTTP/1.1 413 ", "use llmc.\n");
	web_end();
}

/* Sends a byte now and then until the server has ended it. */
TEST(a_head_has_5_seconds_however_many_bytes_come)
{
	cleanup_free char *text = NULL;
	cleanup_fd int fd = -1, silent = -1;
	struct pollfd p = { .events = POLLIN };

	web_begin_with(0, true);
	silent = net_connect(web_port);
	fd = net_connect(web_port);
	net_say(fd, "GET / HTTP/1.1\r\nX: ");
	for (p.fd = fd; poll(&p, 1, 20) == 0;)
		net_say(fd, "x");
	text = net_drain(fd);
	ck_assert_int_eq(strncmp(text, "HTTP/1.1 408 ", 13), 0);
	/* Who has asked nothing gets no answer. */
	web_expect_all(silent, "", "");
	web_end();
}

TEST(more_connections_than_32_make_the_oldest_end)
{
	int fds[HTTP_CONNECTIONS_MAX + 10];
	cleanup_fd int fd = -1, stream = -1;

	web_begin();
	stream = web_get("/ticks");
	web_expect(stream, "HTTP/1.1 200 ");
	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = net_connect(web_port);
		net_say(fds[i], "GET ");
	}
	fd = web_get("/");
	web_expect_all(fd, "HTTP/1.1 200 ", "hello");
	/* The first were dropped, without an answer; the last ones were not,
	 * nor the stream. */
	for (size_t i = 0; i < 10; i++) {
		char byte;

		ck_assert_int_le(read(fds[i], &byte, 1), 0);
	}
	net_say(fds[nitems(fds) - 1], "/ HTTP/1.1\r\n\r\n");
	web_expect_all(fds[nitems(fds) - 1], "HTTP/1.1 200 ", "hello");
	free(net_head(web_get("/")));
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	ck_assert_int_gt(read(stream, &fds, sizeof fds), 0);
	web_end();
}

TEST(eight_streams_are_served_and_no_ninth_until_one_ends)
{
	int fds[HTTP_STREAMS_MAX];
	cleanup_fd int ninth = -1, next = -1;

	web_begin();
	for (int i = 0; i < HTTP_STREAMS_MAX; i++) {
		fds[i] = web_get("/quiet");
		web_expect(fds[i], "HTTP/1.1 200 ");
	}
	ninth = web_get("/quiet");
	web_expect_all(ninth, "HTTP/1.1 503 ", "close one.\n");
	close(fds[3]);
	web_expect_report("gone");
	next = web_get("/quiet");
	web_expect(next, "HTTP/1.1 200 ");
	for (int i = 0; i < HTTP_STREAMS_MAX; i++)
		if (i != 3)
			close(fds[i]);
	web_end();
}

TEST(a_stream_reaches_its_reader_in_order)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	char byte;

	web_begin();
	fd = web_get("/ticks");
	web_expect(fd, "HTTP/1.1 200 ");
	while (strstr(text.data, "\n9\n") == NULL && read(fd, &byte, 1) == 1)
		buf_addc(&text, byte);
	ck_assert_str_eq(text.data, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
	web_end();
}

TEST(a_stream_that_is_ended_is_read_to_its_end)
{
	web_begin();
	web_expect_all(web_get("/brief"), "HTTP/1.1 200 ", "\r\n\r\nlast");
	web_end();
}

TEST(a_reader_that_is_too_slow_is_dropped_and_others_are_not)
{
	cleanup_fd int slow = -1, fd = -1, stream = -1;
	char first[2];

	web_begin();
	stream = web_get("/ticks");
	web_expect(stream, "HTTP/1.1 200 ");
	slow = web_get("/flood");
	web_expect_report("full");
	fd = web_get("/");
	web_expect_all(fd, "HTTP/1.1 200 ", "hello");
	ck_assert_int_eq(read(stream, first, sizeof first), sizeof first);
	ck_assert_int_eq(strncmp(first, "0\n", 2), 0);
	web_end();
}

/* The first message may be longer than what may wait; only what comes after it
 * counts. */
TEST(a_reader_has_time_to_take_a_large_first_message)
{
	const size_t wanted = 2 * WEB_LONG + 6;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	char bytes[65536];
	ssize_t n;

	web_begin();
	fd = web_get("/large");
	web_expect_report("hundred");
	web_expect(fd, "HTTP/1.1 200 ");
	while (text.len < wanted && (n = read(fd, bytes, sizeof bytes)) > 0)
		buf_add(&text, bytes, (size_t)n);
	ck_assert_uint_ge(text.len, wanted);
	ck_assert_int_eq(
	    memcmp(text.data + 2 * WEB_LONG - 1, "x0\n1\n2\n", 7), 0);
	web_end();
}

TEST(a_long_answer_arrives_whole)
{
	cleanup_free char *text = NULL;
	const char *body;

	web_begin();
	text = net_drain(web_get("/long"));
	body = strstr(text, "\r\n\r\n");
	ck_assert_ptr_nonnull(body);
	ck_assert_uint_eq(strlen(body + 4), WEB_LONG);
	web_end();
}

/* More than the kernel buffers, so that the server waits for us. */
TEST(an_answer_that_nobody_takes_is_given_up)
{
	struct pollfd p = { .events = POLLHUP };
	cleanup_fd int fd = -1;
	int size = 4096;

	web_begin_with(0, true);
	fd = net_connect(web_port);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
	net_say(fd, "GET /long HTTP/1.1\r\n\r\nmore");
	p.fd = fd;
	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	web_end();
}

TEST(running_out_of_descriptors_is_survived)
{
	int fds[20];
	cleanup_fd int fd = -1;

	web_begin_with(16, true);
	for (size_t i = 0; i < nitems(fds); i++)
		fds[i] = net_connect(web_port);
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	fd = web_get("/");
	web_expect_all(fd, "HTTP/1.1 200 ", "hello");
	web_end();
}

static void
reset(int fd)
{
	const struct linger none = { .l_onoff = 1 };

	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none), 0);
	close(fd);
}

TEST(a_client_that_resets_its_connection_is_forgotten)
{
	int fd;

	web_begin();
	for (int i = 0; i < 2 * HTTP_CONNECTIONS_MAX; i++) {
		fd = net_connect(web_port);
		net_say(fd, "GET / HT");
		reset(fd);
		reset(web_get("/long"));
		reset(web_get("/later"));
	}
	for (int i = 0; i < 2 * HTTP_STREAMS_MAX; i++) {
		cleanup_free char *head = NULL;

		/* It may not have noticed the last one yet. */
		do {
			free(take_ptr(&head));
			fd = web_get("/ticks");
			head = net_head(fd);
			reset(fd);
		} while (strncmp(head, "HTTP/1.1 503 ", 13) == 0);
		ck_assert_int_eq(strncmp(head, "HTTP/1.1 200 ", 13), 0);
	}
	web_expect_all(web_get("/"), "HTTP/1.1 200 OK\r\n", "hello");
	web_end();
}

/* There is no second request, whatever the first one says about its length. */
TEST(bytes_behind_a_request_are_never_another_one)
{
	static const char *const fields[] = { "", "Content-Length: 0\r\n",
		"Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n",
		("Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
		 "Content-Length: 5\r\n"),
		"Connection: Upgrade\r\nUpgrade: h2c\r\n",
		"Expect: 100-continue\r\n" };

	web_begin();
	for (size_t i = 0; i < nitems(fields); i++) {
		cleanup_free char *request =
		    xasprintf("GET / HTTP/1.1\r\nHost: x\r\n%s\r\n0\r\n\r\n"
			      "GET /long HTTP/1.1\r\nHost: x\r\n\r\n",
			fields[i]);
		cleanup_free char *text = NULL;
		int fd = net_connect(web_port);

		net_say(fd, request);
		text = net_drain(fd);
		ck_assert_msg(strncmp(text, "HTTP/1.1 200 OK\r\n", 17) == 0,
		    "%s: %.100s", fields[i], text);
		ck_assert_ptr_null(strstr(text + 1, "HTTP/1.1"));
		ck_assert_ptr_nonnull(strstr(text, "Connection: close\r\n"));
	}
	web_end();
}

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
	if (http_stream_begin(exchange, &web_stream_type, forget, &kept) == 0)
		kept = exchange;
	loop_stop(arg, 0);
}

TEST(a_server_that_is_freed_tells_its_streams)
{
	struct loop *loop = loop_new();
	struct err err = { 0, "" };
	struct http_server *http = http_server_new(
	    loop, http_listen(NULL, 0, &err), NULL, keep, loop, &err);
	struct http_exchange *exchange;
	int fd;

	web_port = http_server_port(http);
	fd = web_get("/");
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
