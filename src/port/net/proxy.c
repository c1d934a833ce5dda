/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "child.h"
#include "loop.h"
#include "proxy-request.h"
#include "proxy.h"

#define PROXY_CONNECTIONS 256

#define PROXY_BUFFER 65536 /* bytes each way */

#define PROXY_HEAD_MS (15 * 1000)

#define PROXY_CONNECT_MS (15 * 1000) /* for each address */

#define PROXY_IDLE_MS (15 * 60 * 1000)

#define PROXY_LINGER_MS (2 * 1000) /* after an answer of our own */

#define RESOLVE_MS (15 * 1000)

#define RESOLVE_MAX 8 /* addresses */

/* Called once, from the loop, after which the object is gone. addresses is
 * ended by NULL, the preferred one first; empty, with err set, if there is
 * none. Both are valid until the callback returns. */
typedef void
resolve_fn(const char *const *addresses, const struct err *err, void *arg);

TAILQ_HEAD(proxy_conns, proxy_conn);

/* What connections share; the one that was idle longest comes first. */
struct proxy_shared {
	struct loop *loop;
	struct proxy_options options;
	int open; /* connections */
	struct proxy_conns conns;
};

struct proxy;
struct proxy_conn;
struct resolve;

static void proxy_conn_new(struct proxy_shared *shared, int fd);
static void proxy_conn_free(struct proxy_conn *conn);
static void proxy_free(struct proxy *proxy);
static void resolve_free(struct resolve *resolve);

struct proxy {
	struct proxy_shared shared;
	struct loop_listener *accepts;
	int listener;
};

static void
proxy_accept(int fd, void *arg)
{
	struct proxy_shared *shared = arg;

	if (shared->open >= shared->options.connections)
		proxy_conn_free(TAILQ_FIRST(&shared->conns));
	proxy_conn_new(shared, fd);
}

static int
check_listener(int fd, struct err *err)
{
	int listens = 0, type = 0, flags;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == -1 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == -1)
		return err_errno(err, -errno, "the socket of the box");
	if (!listens || type != SOCK_STREAM)
		return err_set(
		    err, -EINVAL, "the socket of the box does not listen");
	flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return err_errno(err, -errno, "the socket of the box");
	return 0;
}

struct proxy *
proxy_new(struct loop *loop, int listener, const struct proxy_options *options,
    struct err *err)
{
	struct proxy *proxy = xcalloc(1, sizeof *proxy);

	proxy->listener = listener;
	proxy->shared.loop = loop;
	proxy->shared.options = *options;
	if (options->connections <= 0)
		proxy->shared.options.connections = PROXY_CONNECTIONS;
	TAILQ_INIT(&proxy->shared.conns);
	if (check_listener(listener, err) < 0) {
		proxy_free(proxy);
		return NULL;
	}
	proxy->accepts =
	    loop_listener_new(loop, listener, proxy_accept, &proxy->shared);
	return proxy;
}

/* Closes everything. Not from inside a callback of the options. */
static void
proxy_free(struct proxy *proxy)
{
	struct proxy_conn *conn;

	if (proxy == NULL)
		return;
	while ((conn = TAILQ_FIRST(&proxy->shared.conns)) != NULL)
		proxy_conn_free(conn);
	loop_listener_free(proxy->accepts);
	fd_close(proxy->listener);
	free(proxy);
}

struct resolve {
	struct child *child;
	char *host;
	resolve_fn *fn;
	void *arg;
};

static bool
is_address(const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, address) == 1 ||
	    inet_pton(AF_INET6, text, address) == 1;
}

char **
resolve_parse(const char *text)
{
	char **list = NULL;
	const char *next;

	for (; *text != '\0'; text = next) {
		size_t len = strcspn(text, "\n"), word = strcspn(text, " \t\n");
		cleanup_free char *line = xstrndup(text, len);
		cleanup_free char *address = xstrndup(text, word);

		next = text + len + (text[len] == '\n' ? 1 : 0);
		if (strstr(line, "STREAM") != NULL && is_address(address) &&
		    !strv_has(strv_const(list), address) &&
		    strv_count(list) < RESOLVE_MAX)
			strv_add(&list, address);
	}
	return list;
}

static void
on_answer(const struct child_result *result, void *arg)
{
	struct resolve *resolve = arg;
	cleanup_strv char **list = NULL;
	struct err err = { 0, "" };

	resolve->child = NULL;
	if (result->start_error < 0)
		err_errno(&err, result->start_error, "getent");
	else if (result->timed_out)
		err_set(&err, -ETIMEDOUT, "%s was not found in time",
		    resolve->host);
	else
		list = resolve_parse(result->out.head.data);
	if (list == NULL && err.code == 0)
		err_set(
		    &err, -EHOSTUNREACH, "%s has no address", resolve->host);
	resolve->fn(strv_const(list), &err, resolve->arg);
	resolve_free(resolve);
}

/* host must be a valid name (model/records/proxy-request.h). NULL with err set
 * if nothing could be started; then there is no callback. */
static struct resolve *
resolve_new(struct loop *loop, const char *host, resolve_fn *fn, void *arg,
    struct err *err)
{
	const char *const argv[] = { "getent", "ahosts", host, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = RESOLVE_MS };
	struct resolve *resolve = xcalloc(1, sizeof *resolve);

	resolve->fn = fn;
	resolve->arg = arg;
	resolve->host = xstrdup(host);
	if (child_spawn(loop, &spec, on_answer, resolve, &resolve->child, err) <
	    0) {
		resolve->child = NULL;
		resolve_free(resolve);
		return NULL;
	}
	return resolve;
}

/* Forget the question; there is no callback. */
static void
resolve_free(struct resolve *resolve)
{
	if (resolve == NULL)
		return;
	if (resolve->child != NULL)
		child_abandon(resolve->child);
	free(resolve->host);
	free(resolve);
}

enum step {
	STEP_HEAD, /* of the request, read */
	STEP_RESOLVE,
	STEP_CONNECT,
	STEP_RELAY,
	STEP_ANSWER, /* of our own; then the end */
	STEP_END,
};

/* One way: what was read at one side and not yet written at the other. */
struct flow {
	struct buf bytes;
	bool ended; /* the reading side has no more */
	bool shut; /* ... and the writing side was shut down */
};

struct proxy_conn {
	TAILQ_ENTRY(proxy_conn) entry;
	struct proxy_shared *shared;
	enum step step;
	int client, server; /* descriptors, -1 = none */
	struct loop_watch *client_in, *client_out, *server_in, *server_out;
	struct flow up, down; /* from the box, and into it */
	struct loop_timer *timer;
	int64_t active_ms;
	struct proxy_request request;
	enum proxy_verdict verdict;
	struct resolve *resolve;
	char **addresses;
	size_t next_address;
};

static void conn_settle(struct proxy_conn *conn);

static void
proxy_conn_free(struct proxy_conn *conn)
{
	struct loop_watch **watches[] = { &conn->client_in, &conn->client_out,
		&conn->server_in, &conn->server_out };

	for (size_t i = 0; i < nitems(watches); i++)
		loop_watch_free(take_ptr(watches[i]));
	loop_timer_free(conn->timer);
	resolve_free(conn->resolve);
	strv_free(conn->addresses);
	buf_release(&conn->up.bytes);
	buf_release(&conn->down.bytes);
	fd_close(conn->client);
	fd_close(conn->server);
	TAILQ_REMOVE(&conn->shared->conns, conn, entry);
	conn->shared->open--;
	free(conn);
}

static void
conn_active(struct proxy_conn *conn)
{
	conn->active_ms = clock_mono_ms();
	TAILQ_REMOVE(&conn->shared->conns, conn, entry);
	TAILQ_INSERT_TAIL(&conn->shared->conns, conn, entry);
}

static void
conn_enter(struct proxy_conn *conn, enum step step)
{
	conn->step = step;
	conn_active(conn);
}

/* --- answers of our own ---------------------------------------------- */

static void
conn_answer(struct proxy_conn *conn, const char *status, const char *words)
{
	buf_addf(&conn->down.bytes,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
	    status, strlen(words) + 1, words);
	conn->down.ended = true;
	conn_enter(conn, STEP_ANSWER);
}

static void
conn_fail(struct proxy_conn *conn, const char *why)
{
	cleanup_free char *words = xasprintf("llmc: %s", why);

	conn_answer(conn, "502 Bad Gateway", words);
}

static void
conn_refuse(struct proxy_conn *conn, const char *why)
{
	const struct proxy_target *target = &conn->request.target;
	cleanup_free char *words =
	    xasprintf("llmc: %s:%u %s; a person can add it there: man "
		      "llmc.conf",
		target->host, target->port, why);

	conn_answer(conn, "403 Not in sandbox_hosts", words);
	if (conn->shared->options.refused != NULL)
		conn->shared->options.refused(
		    target, conn->shared->options.arg);
}

/* --- the way to the server ------------------------------------------- */

static socklen_t
make_address(const char *text, unsigned port, struct sockaddr_storage *ret)
{
	struct sockaddr_in four = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port) };

	memset(ret, 0, sizeof *ret);
	if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
		memcpy(ret, &four, sizeof four);
		return sizeof four;
	}
	if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
		return 0;
	memcpy(ret, &six, sizeof six);
	return sizeof six;
}

/* True if the connection is under way. */
static bool
conn_try(struct proxy_conn *conn, const char *text)
{
	struct sockaddr_storage address;
	socklen_t len = make_address(text, conn->request.target.port, &address);

	if (len == 0)
		return false;
	conn->server = socket(
	    address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (conn->server == -1)
		return false;
	if (connect(conn->server, (struct sockaddr *)&address, len) == 0 ||
	    errno == EINPROGRESS)
		return true;
	conn->server = fd_close(conn->server);
	return false;
}

static void
conn_try_next(struct proxy_conn *conn)
{
	const char *const *list = strv_const(conn->addresses);

	loop_watch_free(take_ptr(&conn->server_in));
	loop_watch_free(take_ptr(&conn->server_out));
	conn->server = fd_close(conn->server);
	while (list[conn->next_address] != NULL)
		if (conn_try(conn, list[conn->next_address++])) {
			conn_enter(conn, STEP_CONNECT);
			return;
		}
	conn_fail(conn, "no address of the host can be reached");
}

static void
conn_refuse_address(struct proxy_conn *conn, const char *address)
{
	cleanup_free char *why =
	    xasprintf("is at %s, %s: a rule with \"*.\" does not allow that, "
		      "sandbox_hosts must have its own name",
		address, proxy_address_kind(address));

	conn_refuse(conn, why);
}

static void
on_resolved(const char *const *addresses, const struct err *err, void *arg)
{
	struct proxy_conn *conn = arg;

	conn->resolve = NULL;
	for (size_t i = 0; addresses[i] != NULL; i++)
		if (proxy_address_allowed(addresses[i], conn->verdict))
			strv_add(&conn->addresses, addresses[i]);
	if (conn->addresses != NULL)
		conn_try_next(conn);
	else if (addresses[0] != NULL)
		conn_refuse_address(conn, addresses[0]);
	else
		conn_fail(conn, err->msg);
	conn_settle(conn);
}

static void
conn_find(struct proxy_conn *conn)
{
	const struct proxy_target *target = &conn->request.target;
	struct err err = { 0, "" };

	if (target->literal) {
		strv_add(&conn->addresses, target->host);
		conn_try_next(conn);
		return;
	}
	conn->resolve = resolve_new(
	    conn->shared->loop, target->host, on_resolved, conn, &err);
	if (conn->resolve != NULL)
		conn_enter(conn, STEP_RESOLVE);
	else
		conn_fail(conn, err.msg);
}

static void
conn_read_head(struct proxy_conn *conn)
{
	const struct proxy_options *options = &conn->shared->options;
	struct err err = { 0, "" };
	int r = proxy_request_parse(
	    conn->up.bytes.data, conn->up.bytes.len, &conn->request, &err);

	if (r == 0 && conn->up.ended)
		conn->step = STEP_END;
	if (r == 0)
		return;
	if (r < 0) {
		cleanup_free char *words = xasprintf(
		    "llmc: the proxy cannot read the request: %s", err.msg);

		conn_answer(conn, "400 Bad Request", words);
		return;
	}
	conn->verdict = proxy_rules_ask(
	    options->rules(options->arg), &conn->request.target);
	if (conn->verdict == PROXY_REFUSED)
		conn_refuse(conn, "is not in sandbox_hosts");
	else
		conn_find(conn);
}

static void
conn_connected(struct proxy_conn *conn)
{
	int error = 0, on = 1;
	socklen_t len = sizeof error;
	size_t head = conn->request.head_len;

	if (getsockopt(conn->server, SOL_SOCKET, SO_ERROR, &error, &len) ==
		-1 ||
	    error != 0) {
		conn_try_next(conn);
		return;
	}
	setsockopt(conn->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(conn->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (conn->request.tunnel) {
		buf_consume(&conn->up.bytes, head);
		buf_adds(&conn->down.bytes,
		    "HTTP/1.1 200 Connection established\r\n\r\n");
	} else {
		cleanup_buf struct buf out = BUF_INIT;

		proxy_request_forward(
		    &conn->request, conn->up.bytes.data, &out);
		buf_splice(&conn->up.bytes, 0, head, out.data, out.len);
	}
	conn_enter(conn, STEP_RELAY);
}

/* --- bytes ----------------------------------------------------------- */

static void
conn_read(struct proxy_conn *conn, int fd, struct flow *flow)
{
	ssize_t n;

	buf_reserve(&flow->bytes, PROXY_BUFFER);
	n = recv(
	    fd, flow->bytes.data + flow->bytes.len, PROXY_BUFFER, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_grew(&flow->bytes, (size_t)n);
	else if (n == 0)
		flow->ended = true;
	else
		conn->step = STEP_END;
	if (conn->step == STEP_RELAY)
		conn_active(conn);
}

static void
conn_write(struct proxy_conn *conn, int fd, struct flow *flow)
{
	ssize_t n = 0;

	if (flow->bytes.len > 0)
		n = send(fd, flow->bytes.data, flow->bytes.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n == -1 && errno != EAGAIN && errno != EINTR)
		conn->step = STEP_END;
	if (n > 0) {
		buf_consume(&flow->bytes, (size_t)n);
		if (conn->step == STEP_RELAY)
			conn_active(conn);
	}
	if (flow->bytes.len == 0)
		buf_release(&flow->bytes);
	if (flow->bytes.len == 0 && flow->ended && !flow->shut) {
		flow->shut = true;
		shutdown(fd, SHUT_WR);
	}
}

static void
on_client_in(int fd, unsigned what, void *arg)
{
	struct proxy_conn *conn = arg;

	(void)what;
	conn_read(conn, fd, &conn->up);
	if (conn->step == STEP_HEAD)
		conn_read_head(conn);
	else if (conn->step == STEP_ANSWER)
		buf_clear(&conn->up.bytes);
	conn_settle(conn);
}

static void
on_client_out(int fd, unsigned what, void *arg)
{
	struct proxy_conn *conn = arg;

	(void)what;
	conn_write(conn, fd, &conn->down);
	conn_settle(conn);
}

static void
on_server_in(int fd, unsigned what, void *arg)
{
	struct proxy_conn *conn = arg;

	(void)what;
	conn_read(conn, fd, &conn->down);
	conn_settle(conn);
}

static void
on_server_out(int fd, unsigned what, void *arg)
{
	struct proxy_conn *conn = arg;

	(void)what;
	if (conn->step == STEP_CONNECT)
		conn_connected(conn);
	if (conn->step == STEP_RELAY)
		conn_write(conn, fd, &conn->up);
	conn_settle(conn);
}

/* --- what to wait for ------------------------------------------------ */

static int64_t
conn_patience(const struct proxy_conn *conn)
{
	switch (conn->step) {
	case STEP_HEAD:
		return PROXY_HEAD_MS;
	case STEP_RESOLVE:
		return RESOLVE_MS * 2; /* the resolver has its own */
	case STEP_CONNECT:
		return PROXY_CONNECT_MS;
	case STEP_ANSWER:
		return PROXY_LINGER_MS;
	case STEP_RELAY:
	case STEP_END:
		break;
	}
	return PROXY_IDLE_MS;
}

static void
on_timer(void *arg)
{
	struct proxy_conn *conn = arg;

	if (conn->active_ms + conn_patience(conn) > clock_mono_ms())
		;
	else if (conn->step == STEP_CONNECT)
		conn_try_next(conn);
	else
		conn->step = STEP_END;
	conn_settle(conn);
}

static void
conn_watch(struct proxy_conn *conn, struct loop_watch **watch, int fd,
    unsigned what, loop_watch_fn *fn, bool wanted)
{
	if (wanted == (*watch != NULL))
		return;
	if (!wanted) {
		loop_watch_free(take_ptr(watch));
		return;
	}
	*watch = loop_watch_new(conn->shared->loop, fd, what, fn, conn);
	if (*watch == NULL)
		conn->step = STEP_END;
}

static bool
flow_has_room(const struct flow *flow)
{
	return !flow->ended && flow->bytes.len < PROXY_BUFFER;
}

/* Bytes are to be written, or the end is to be passed on. */
static bool
flow_is_due(const struct flow *flow)
{
	return flow->bytes.len > 0 || (flow->ended && !flow->shut);
}

/* The only place where a connection ends or goes on; the last thing that a
 * callback does. */
static void
conn_settle(struct proxy_conn *conn)
{
	bool relay = conn->step == STEP_RELAY;
	bool reads = conn->step == STEP_HEAD || conn->step == STEP_ANSWER;
	int64_t left;

	if (relay && conn->up.shut && conn->down.shut)
		conn->step = STEP_END;
	if (conn->step == STEP_ANSWER && conn->down.shut && conn->up.ended)
		conn->step = STEP_END;
	if (conn->step != STEP_END) {
		conn_watch(conn, &conn->client_in, conn->client, LOOP_READ,
		    on_client_in, (relay || reads) && flow_has_room(&conn->up));
		conn_watch(conn, &conn->client_out, conn->client, LOOP_WRITE,
		    on_client_out,
		    (relay || conn->step == STEP_ANSWER) &&
			flow_is_due(&conn->down));
		conn_watch(conn, &conn->server_in, conn->server, LOOP_READ,
		    on_server_in, relay && flow_has_room(&conn->down));
		conn_watch(conn, &conn->server_out, conn->server, LOOP_WRITE,
		    on_server_out,
		    conn->step == STEP_CONNECT ||
			(relay && flow_is_due(&conn->up)));
	}
	if (conn->step == STEP_END) {
		proxy_conn_free(conn);
		return;
	}
	left = conn->active_ms + conn_patience(conn) - clock_mono_ms();
	if (conn->timer == NULL)
		conn->timer =
		    loop_after(conn->shared->loop, left, on_timer, conn);
	/* A relay's timer looks again when it is due: it is not set anew for
	 * every piece. */
	else if (!relay || !loop_timer_pending(conn->timer) ||
	    loop_timer_remaining(conn->timer, clock_mono_ms()) > left)
		loop_timer_restart(conn->timer, left);
}

/* Takes the descriptor and serves it; frees itself at its end. */
static void
proxy_conn_new(struct proxy_shared *shared, int fd)
{
	struct proxy_conn *conn = xcalloc(1, sizeof *conn);

	conn->shared = shared;
	conn->client = fd;
	conn->server = -1;
	conn->active_ms = clock_mono_ms();
	buf_init(&conn->up.bytes);
	buf_init(&conn->down.bytes);
	TAILQ_INSERT_TAIL(&shared->conns, conn, entry);
	shared->open++;
	conn_settle(conn);
}
