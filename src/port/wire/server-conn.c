/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <poll.h>
#include <sys/socket.h>

#include "loop.h"
#include "rpc.h"
#include "server-conn.h"

#define READ_SIZE 65536
#define NEVER     INT64_MAX

struct server_conn {
	TAILQ_ENTRY(server_conn) entry;
	struct server_conns *list;
	struct server_owner owner;
	struct server_peer peer;
	struct loop *loop;
	struct loop_watch *readable, *writable;
	struct loop_timer *timer;
	struct loop_call *resume;
	struct server_calls calls;
	int call_count;
	struct rpc_reader reader;
	struct buf out;
	size_t sent; /* bytes of out */
	size_t first; /* bytes of what was sent when nothing waited */
	int64_t line_since; /* when the unfinished line began, 0 = none */
	int64_t taken_since; /* when the client last took from out, or out was
			      * begun */
	int64_t idle_since;
	int fd; /* -1 = hung up */
	bool ended; /* the client sends no more */
	bool mute; /* the client takes nothing any more, but may have sent
		    * requests */
	bool broken; /* to be ended */
	bool serving; /* its callbacks run: freed when they return */
};

static size_t
conn_unsent(const struct server_conn *conn)
{
	return conn->out.len - conn->sent;
}

/* Do we stop reading from this client for now? */
static bool
conn_is_full(const struct server_conn *conn)
{
	return conn->call_count >= SERVER_CALLS_MAX ||
	    conn_unsent(conn) >= SERVER_OUT_PAUSE;
}

/* A client that closed only its sending side still waits for its answer. */
static bool
conn_hung_up(const struct server_conn *conn)
{
	struct pollfd p = { .fd = conn->fd, .events = 0 };

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

/* Tell the owner from the loop, never in the middle of its own code. */
static void
call_lost(struct server_call *call)
{
	if (call->gone != NULL && call->on_gone != NULL)
		loop_call_request(call->gone);
}

void
server_conn_free(struct server_conn *conn)
{
	if (conn->fd >= 0) {
		struct server_call *call;

		/* Free everything but the object itself. */
		while ((call = LIST_FIRST(&conn->calls)) != NULL) {
			LIST_REMOVE(call, entry);
			call->conn = NULL;
			call_lost(call);
		}
		TAILQ_REMOVE(conn->list, conn, entry);
		loop_watch_free(take_ptr(&conn->readable));
		loop_watch_free(take_ptr(&conn->writable));
		loop_timer_free(take_ptr(&conn->timer));
		loop_call_free(take_ptr(&conn->resume));
		rpc_reader_release(&conn->reader);
		buf_release(&conn->out);
		conn->fd = fd_close(conn->fd);
		conn->peer.pidfd = fd_close(conn->peer.pidfd);
	}
	if (!conn->serving)
		free(conn);
}

void
server_conn_drop(struct server_conn *conn)
{
	conn->owner.ended(conn, conn->owner.ended_arg);
	server_conn_free(conn);
}

/* Send as much as the kernel takes. */
static void
conn_flush(struct server_conn *conn)
{
	ssize_t n;

	while (!conn->mute && conn_unsent(conn) > 0) {
		n = send(conn->fd, conn->out.data + conn->sent,
		    conn_unsent(conn), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n == -1) {
			conn->mute = true;
			break;
		}
		conn->sent += (size_t)n;
		conn->taken_since = clock_mono_ms();
	}
	buf_release(&conn->out);
	conn->sent = 0;
	conn->first = 0;
}

/* Send one line; what cannot be sent now waits for the client. */
static void
conn_send(struct server_conn *conn, const struct buf *line)
{
	if (conn_unsent(conn) == 0)
		conn->taken_since = clock_mono_ms();
	if (conn_unsent(conn) + line->len > SERVER_OUT_MAX)
		conn->broken = true;
	if (!conn->broken && !conn->mute)
		buf_add(&conn->out, line->data, line->len);
	conn_flush(conn);
	/* The loop does the rest (end, read on, deadlines) when the caller has
	 * returned. */
	loop_call_request(conn->resume);
}

static void
conn_complain(struct server_conn *conn, struct json_object *id, int code,
    const char *message)
{
	cleanup_buf struct buf line = BUF_INIT;

	rpc_encode_error(&line, id, code, message, NULL);
	conn_send(conn, &line);
}

static void
conn_call(struct server_conn *conn, const struct rpc_message *m)
{
	struct server_call *call = xcalloc(1, sizeof *call);

	call->conn = conn;
	call->loop = conn->loop;
	call->id = json_object_get(m->id);
	LIST_INSERT_HEAD(&conn->calls, call, entry);
	conn->call_count++;
	conn->owner.fn(call, m->method, m->params, conn->owner.fn_arg);
}

static void
conn_line(struct server_conn *conn, const struct buf *line)
{
	cleanup_json struct json_object *id = NULL;
	struct err err = { 0, "" };
	struct rpc_message m;
	int code = 0;

	if (rpc_decode(line->data, line->len, &m, &code, &id, &err) < 0) {
		conn_complain(conn, id, code, err.msg);
		return;
	}
	if (m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION)
		conn_call(conn, &m);
	else
		conn_complain(conn, m.id, RPC_INVALID_REQUEST,
		    "expected a request, found an answer");
	rpc_message_release(&m);
}

/* Handle complete lines, as long as the client may have more calls under way.
 * Any of the calls may free the server. */
static void
conn_take_lines(struct server_conn *conn)
{
	cleanup_buf struct buf line = BUF_INIT;
	int r;

	while (conn->fd >= 0 && !conn->broken && !conn_is_full(conn)) {
		r = rpc_reader_next(&conn->reader, &line);
		if (r == 0)
			break;
		conn->line_since = 0;
		conn->idle_since = clock_mono_ms();
		if (r == 1)
			conn_line(conn, &line);
		else
			conn_complain(conn, NULL, RPC_PARSE_ERROR,
			    "the line is longer than 4 MiB");
	}
}

static bool
reader_has_part(const struct rpc_reader *reader)
{
	return reader->tail > 0 || reader->skipping;
}

/* The next deadline of this client. */
static int64_t
conn_due(const struct server_conn *conn)
{
	int64_t due = NEVER;

	if (conn->call_count == 0)
		due = conn->idle_since + SERVER_IDLE_MS;
	if (conn->line_since > 0 && conn->line_since + SERVER_LINE_MS < due)
		due = conn->line_since + SERVER_LINE_MS;
	if (conn_unsent(conn) > 0 && conn->taken_since + SERVER_WRITE_MS < due)
		due = conn->taken_since + SERVER_WRITE_MS;
	return due;
}

static void conn_set_timer(struct server_conn *conn);

static void
conn_timeout(void *arg)
{
	struct server_conn *conn = arg;

	if (conn_due(conn) > clock_mono_ms()) {
		conn_set_timer(conn);
		return;
	}
	if (conn->line_since > 0 &&
	    conn->line_since + SERVER_LINE_MS <= clock_mono_ms())
		conn_complain(conn, NULL, RPC_PARSE_ERROR,
		    "the line was not finished in time");
	server_conn_drop(conn);
}

static void
conn_set_timer(struct server_conn *conn)
{
	int64_t now = clock_mono_ms(), due = conn_due(conn);

	if (due == NEVER) {
		loop_timer_free(take_ptr(&conn->timer));
		return;
	}
	if (conn->timer == NULL)
		conn->timer =
		    loop_after(conn->loop, due - now, conn_timeout, conn);
	else if (loop_timer_remaining(conn->timer, now) != due - now)
		loop_timer_restart(conn->timer, due - now);
}

static void conn_readable(int fd, unsigned what, void *arg);
static void conn_writable(int fd, unsigned what, void *arg);

/* Create or free the watch. */
static void
conn_set_watch(struct server_conn *conn, struct loop_watch **watch,
    unsigned what, loop_watch_fn *fn, bool wanted)
{
	if (wanted == (*watch != NULL))
		return;
	if (wanted) {
		*watch = loop_watch_new(conn->loop, conn->fd, what, fn, conn);
		conn->broken = conn->broken || *watch == NULL;
	} else
		loop_watch_free(take_ptr(watch));
}

/* Decide what to wait for next: the only place where a connection ends or goes
 * on. */
static void
conn_settle(struct server_conn *conn)
{
	bool full = conn_is_full(conn);
	bool part = reader_has_part(&conn->reader);

	/* Everything that it sent has been handled; does it wait for answers?
	 */
	if (conn->ended && !full)
		conn->broken = conn->broken || conn->mute ||
		    (conn->call_count == 0 && conn_unsent(conn) == 0) ||
		    conn_hung_up(conn);
	/* A line is not late while we do not read. */
	if (!part || full)
		conn->line_since = 0;
	else if (conn->line_since == 0)
		conn->line_since = clock_mono_ms();
	if (!part && conn->reader.taken == conn->reader.pending.len)
		rpc_reader_release(&conn->reader);
	if (conn->mute) {
		struct server_call *call;

		/* For a stream, a client that takes nothing has gone, even
		 * while its requests are still being read. */
		LIST_FOREACH (call, &conn->calls, entry)
			call_lost(call);
	}
	conn_set_watch(conn, &conn->readable, LOOP_READ, conn_readable,
	    !conn->ended && !full && !conn->broken);
	conn_set_watch(conn, &conn->writable, LOOP_WRITE, conn_writable,
	    conn_unsent(conn) > 0 && !conn->broken);
	if (conn->broken)
		server_conn_drop(conn);
	else
		conn_set_timer(conn);
}

static void
conn_serve(void *arg)
{
	struct server_conn *conn = arg;

	conn->serving = true;
	conn_take_lines(conn);
	conn->serving = false;
	if (conn->fd < 0)
		free(conn); /* a call freed the server */
	else
		conn_settle(conn);
}

static void
conn_writable(int fd, unsigned what, void *arg)
{
	struct server_conn *conn = arg;

	(void)fd;
	(void)what;
	conn_flush(conn);
	conn_serve(conn);
}

static void
conn_readable(int fd, unsigned what, void *arg)
{
	struct server_conn *conn = arg;
	char bytes[READ_SIZE];
	ssize_t n;

	(void)what;
	n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		rpc_reader_feed(&conn->reader, bytes, (size_t)n);
	else {
		rpc_reader_feed(&conn->reader, "\n", 1);
		conn->ended = true;
	}
	conn_serve(conn);
}

struct server_conn *
server_conn_new(struct loop *loop, int fd, const struct server_peer *peer,
    const struct server_owner *owner, struct server_conns *list)
{
	struct server_conn *conn = xcalloc(1, sizeof *conn);

	conn->owner = *owner;
	conn->peer = *peer;
	conn->loop = loop;
	conn->fd = fd;
	conn->idle_since = clock_mono_ms();
	buf_init(&conn->out);
	rpc_reader_init(&conn->reader, 0);
	LIST_INIT(&conn->calls);
	conn->list = list;
	TAILQ_INSERT_TAIL(list, conn, entry);
	conn->resume = loop_call_new(loop, conn_serve, conn);
	conn->readable =
	    loop_watch_new(loop, fd, LOOP_READ, conn_readable, conn);
	if (conn->readable == NULL) {
		server_conn_free(conn);
		return NULL;
	}
	conn_set_timer(conn);
	return conn;
}

void
server_conn_answer(struct server_call *call, struct buf *line)
{
	struct server_conn *conn = call->conn;

	loop_call_free(call->gone);
	if (conn != NULL) {
		LIST_REMOVE(call, entry);
		conn->call_count--;
		conn->idle_since = clock_mono_ms();
	}
	if (conn != NULL && line->len - 1 > RPC_LINE_MAX) {
		buf_clear(line);
		rpc_encode_error(line, call->id, RPC_INTERNAL_ERROR,
		    "the answer is longer than 4 MiB", NULL);
	}
	if (conn != NULL && call->id != NULL)
		conn_send(conn, line);
	else if (conn != NULL)
		loop_call_request(conn->resume);
	json_object_put(call->id);
	free(call);
}

int
server_conn_notify(struct server_conn *conn, const struct buf *line)
{
	if (conn->mute || conn->broken)
		return -EPIPE;
	if (line->len - 1 > RPC_LINE_MAX)
		return -EMSGSIZE;
	if (conn_unsent(conn) >= conn->first + SERVER_STREAM_MAX) {
		conn->broken = true;
		loop_call_request(conn->resume);
		return -ENOBUFS;
	}
	if (conn_unsent(conn) == 0)
		conn->first = line->len;
	conn_send(conn, line);
	return conn->mute ? -EPIPE : 0;
}

bool
server_conn_gone(const struct server_conn *conn)
{
	return conn->mute || conn->broken || conn_hung_up(conn);
}

struct server_conn *
server_conn_next(struct server_conn *conn)
{
	return TAILQ_NEXT(conn, entry);
}

const struct server_peer *
server_conn_peer(const struct server_conn *conn)
{
	return &conn->peer;
}

int64_t
server_conn_idle_since(const struct server_conn *conn)
{
	return conn->call_count == 0 && conn_unsent(conn) == 0 ?
	    conn->idle_since :
	    NEVER;
}
