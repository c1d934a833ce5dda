/* SPDX-License-Identifier: ISC */

#include "proxy-world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "http-request.h"
#include "http-server.h"
#include "web-world.h"

#define CHUNK 65536

static const struct web_content text_type = { .type = "text/plain", .len = 5 };
const struct web_content web_stream_type = { .type = "text/event-stream",
	.endless = true };

/* --- the server's process ----------------------------------------------- */

struct flow {
	struct loop *loop;
	struct http_exchange *exchange;
	struct loop_timer *timer;
	size_t first, chunk; /* bytes of the first message, and of others */
	int count;
	bool once; /* no other message follows the first */
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
	size_t len = flow->count == 0 ? flow->first : flow->chunk;
	cleanup_free char *bytes = xcalloc(1, len + 32);
	int r;

	memset(bytes, 'x', len);
	snprintf(bytes + len, 32, "%d\n", flow->count++);
	if (flow->first > flow->chunk && flow->count == 100)
		report("hundred");
	r = http_stream_send(flow->exchange, bytes, strlen(bytes));
	if (r == -ENOBUFS)
		report("full");
	if (r < 0) {
		flow_end(flow);
		return;
	}
	if (!flow->once)
		loop_timer_restart(flow->timer, 1);
}

static void
flow_begin(struct http_exchange *exchange, struct loop *loop, size_t first,
    size_t chunk, bool once)
{
	struct flow *flow = xcalloc(1, sizeof *flow);

	flow->exchange = exchange;
	flow->first = first;
	flow->chunk = chunk;
	flow->once = once;
	if (http_stream_begin(exchange, &web_stream_type, flow_gone, flow) <
	    0) {
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
	const struct web_content type = { .type = "text/plain",
		.len = WEB_LONG };
	cleanup_free char *body = xcalloc(1, WEB_LONG);

	memset(body, 'y', WEB_LONG);
	http_reply(exchange, 200, &type, body);
}

void
web_serve(
    struct http_exchange *exchange, const struct http_head *request, void *arg)
{
	struct loop *loop = arg;

	if (strcmp(request->target, "/echo") == 0) {
		struct web_content type = { .type = "text/plain" };
		const char *body = http_body(exchange, &type.len);

		http_reply(exchange, 200, &type, body);
	} else if (strcmp(request->target, "/") == 0)
		say_hello(exchange);
	else if (strcmp(request->target, "/later") == 0)
		loop_after(loop, 5, say_hello, exchange);
	else if (strcmp(request->target, "/long") == 0)
		say_long(exchange);
	else if (strcmp(request->target, "/ticks") == 0)
		flow_begin(exchange, loop, 0, 0, false);
	else if (strcmp(request->target, "/quiet") == 0)
		flow_begin(exchange, loop, 0, 0, true);
	else if (strcmp(request->target, "/flood") == 0)
		flow_begin(exchange, loop, CHUNK, CHUNK, false);
	else if (strcmp(request->target, "/large") == 0)
		flow_begin(exchange, loop, 2 * WEB_LONG, 0, false);
	else if (strcmp(request->target, "/brief") == 0) {
		if (http_stream_begin(
			exchange, &web_stream_type, flow_gone, NULL) == 0) {
			http_stream_send(exchange, "last", 4);
			http_stream_end(exchange);
		}
	} else
		http_refuse(exchange, 404);
}

unsigned web_port;
static pid_t server;
static int reports;

void
web_begin_with(rlim_t descriptors, bool hurry)
{
	struct rlimit limit = { descriptors, descriptors };
	struct err err = { 0, "" };
	int listener = http_listen(NULL, 0, &err), ends[2];
	struct sockaddr_in a;
	socklen_t len = sizeof a;

	ck_assert_msg(listener >= 0, "%s", err.msg);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	web_port = ntohs(a.sin_port);
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
		if (http_server_new(
			loop, listener, NULL, web_serve, loop, &err) == NULL)
			_exit(1);
		_exit(loop_run(loop));
	}
	close(listener);
	close(ends[1]);
}

void
web_begin(void)
{
	web_begin_with(0, false);
}

void
web_end(void)
{
	net_end(server);
	close(reports);
}

/* --- clients ----------------------------------------------------------- */

int
web_get(const char *target)
{
	cleanup_free char *head = xasprintf(
	    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", target, web_port);
	int fd = net_connect(web_port);

	net_say(fd, head);
	return fd;
}

void
web_expect(int fd, const char *status)
{
	cleanup_free char *head = net_head(fd);

	ck_assert_msg(strncmp(head, status, strlen(status)) == 0,
	    "expected %s, got %s", status, head);
}

void
web_expect_all(int fd, const char *first, const char *last)
{
	cleanup_free char *text = net_drain(fd);

	ck_assert_msg(
	    strncmp(text, first, strlen(first)) == 0, "got %.300s", text);
	ck_assert_uint_ge(strlen(text), strlen(last));
	ck_assert_str_eq(text + strlen(text) - strlen(last), last);
}

void
web_expect_report(const char *word)
{
	char line[16] = "";
	struct pollfd p = { .fd = reports, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	ck_assert_int_eq(
	    read(reports, line, strlen(word) + 1), (ssize_t)strlen(word) + 1);
	ck_assert_int_eq(strncmp(line, word, strlen(word)), 0);
}
