/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

#include "loop.h"
#include "rpc.h"
#include "server.h"

/* A request, from its arrival to its answer. */
struct server_call {
	LIST_ENTRY(server_call) entry;
	struct server_conn *conn; /* NULL = the client has gone */
	struct loop *loop;
	struct json_object *id; /* NULL in a notification */
	struct loop_call *gone; /* calls on_gone; NULL = not wanted */
	void (*on_gone)(void *arg); /* NULL = it has been called */
	void *gone_arg;
	server_answer_fn *answer; /* of one without a connection */
	void *answer_arg;
};
LIST_HEAD(server_calls, server_call);

/* The oldest first. */
TAILQ_HEAD(server_conns, server_conn);

struct server {
	struct loop *loop;
	struct loop_listener *accepts;
	server_fn *fn;
	void *fn_arg;
	struct server_conns conns;
	int count, most;
	int fd;
	uid_t uid;
	char *path;
	dev_t dev; /* of the socket's file */
	ino_t ino;
};

#define READ_SIZE 65536
#define NEVER     INT64_MAX

struct server_conn {
	TAILQ_ENTRY(server_conn) entry;
	struct server *server;
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

/* Hang up and take it off the list. */
static void
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
		TAILQ_REMOVE(&conn->server->conns, conn, entry);
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

/* Hang up, and make room for another. Calls under way lose their client. */
static void
server_conn_drop(struct server_conn *conn)
{
	conn->server->count--;
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
	conn->server->fn(call, m->method, m->params, conn->server->fn_arg);
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
	bool part = conn->reader.tail > 0 || conn->reader.skipping;

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

/* Takes ownership of the descriptor and of the peer's pidfd; NULL (and closed)
 * if it cannot be watched. */
static struct server_conn *
server_conn_new(struct server *server, int fd, const struct server_peer *peer)
{
	struct server_conn *conn = xcalloc(1, sizeof *conn);
	struct loop *loop = server->loop;

	conn->server = server;
	conn->peer = *peer;
	conn->loop = loop;
	conn->fd = fd;
	conn->idle_since = clock_mono_ms();
	buf_init(&conn->out);
	rpc_reader_init(&conn->reader, 0);
	LIST_INIT(&conn->calls);
	TAILQ_INSERT_TAIL(&server->conns, conn, entry);
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

/* End the call: send this line to its client, or an error when the line is too
 * long, or nothing when the client has gone. */
static void
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

/* Has the client closed the connection? */
static bool
server_conn_gone(const struct server_conn *conn)
{
	return conn->mute || conn->broken || conn_hung_up(conn);
}

/* Since when it has neither a call under way nor an answer to take; INT64_MAX
 * if it has. */
static int64_t
server_conn_idle_since(const struct server_conn *conn)
{
	return conn->call_count == 0 && conn_unsent(conn) == 0 ?
	    conn->idle_since :
	    NEVER;
}

#define BACKLOG  128
#define ANY_PEER (-1)

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

static int
address_set(struct sockaddr_un *ret_address, const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlcpy(address.sun_path, path, sizeof address.sun_path) >=
	    sizeof address.sun_path)
		return err_set(err, -ENAMETOOLONG,
		    "%s is too long for a socket: at most %zu bytes", path,
		    sizeof address.sun_path - 1);
	*ret_address = address;
	return 0;
}

/* Does anybody listen there? -EADDRINUSE, or 0 if the address is free; the file
 * of a dead listener is removed. */
static int
clear_place(const struct sockaddr_un *address, struct err *err)
{
	const char *path = address->sun_path;
	cleanup_fd int fd = -1;
	struct stat st;

	if (lstat(path, &st) == -1)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", path);
	/* A sandbox of another repository masks our socket with an empty file
	 * (box-plan.c), and bubblewrap makes that if the socket has just gone.
	 */
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return unlink(path) == 0 || errno == ENOENT ?
		    0 :
		    err_errno(err, -errno, "cannot remove %s", path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(
		    err, -EEXIST, "%s exists and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	/* Anything but a refusal means a living listener, perhaps a busy one.
	 */
	if (connect(fd, (const struct sockaddr *)address, sizeof *address) ==
		0 ||
	    errno == EAGAIN)
		return err_set(err, -EADDRINUSE,
		    "another daemon is listening at %s", path);
	if (errno != ECONNREFUSED && errno != ENOENT)
		return err_errno(err, -errno, "%s", path);
	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot remove %s", path);
	return 0;
}

/* A bound descriptor. The mask makes the file 0600 from the start. */
static int
bind_private(const struct sockaddr_un *address, struct err *err)
{
	cleanup_fd int fd = -1;
	mode_t mask;
	int r;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_errno(err, -errno, "%s", address->sun_path);
	mask = umask(0177);
	r = bind(fd, (const struct sockaddr *)address, sizeof *address);
	r = r == -1 ? -errno : 0;
	umask(mask);
	if (r < 0)
		return err_errno(
		    err, r, "cannot listen at %s", address->sun_path);
	return take_fd(&fd);
}

/* How many connections this process has. */
static int
server_share(struct server *server, pid_t peer)
{
	struct server_conn *conn;
	int count = 0;

	TAILQ_FOREACH (conn, &server->conns, entry)
		count += conn->peer.pid == peer;
	return count;
}

/* The connection of this process, or of any, that has been idle for longest;
 * NULL if none is idle. */
static struct server_conn *
server_idlest(struct server *server, pid_t peer)
{
	struct server_conn *conn, *idlest = NULL;
	int64_t since = INT64_MAX;

	TAILQ_FOREACH (conn, &server->conns, entry) {
		if ((peer != ANY_PEER && conn->peer.pid != peer) ||
		    server_conn_idle_since(conn) >= since)
			continue;
		since = server_conn_idle_since(conn);
		idlest = conn;
	}
	return idlest;
}

/* The oldest connection of the process that has most of them. */
static struct server_conn *
server_greediest(struct server *server)
{
	struct server_conn *conn, *greediest = NULL;
	int most = 0, share;

	TAILQ_FOREACH (conn, &server->conns, entry) {
		share = server_share(server, conn->peer.pid);
		if (share <= most)
			continue;
		most = share;
		greediest = conn;
	}
	return greediest;
}

/* Make room for one connection of this process; false if it has its share. */
static bool
server_make_room(struct server *server, pid_t peer)
{
	bool has_share = server_share(server, peer) >= SERVER_PEER_MAX;
	struct server_conn *victim;

	if (!has_share && server->count < server->most)
		return true;
	victim = server_idlest(server, has_share ? peer : ANY_PEER);
	if (victim == NULL && !has_share)
		victim = server_greediest(server);
	if (victim == NULL)
		return false;
	server_conn_drop(victim);
	return true;
}

/* The process itself, not only its number, which may be another's soon. */
static void
peer_open(int fd, struct server_peer *peer)
{
	socklen_t len = sizeof peer->pidfd;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &peer->pidfd, &len) == 0)
		return;
	peer->pidfd = -1;
	peer->gone = errno == ESRCH || errno == EINVAL;
}

static void
server_take(int fd, void *arg)
{
	struct server *server = arg;
	struct server_peer peer = { .pidfd = -1 };
	struct ucred cred;
	socklen_t len = sizeof cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1 ||
	    cred.uid != server->uid || !server_make_room(server, cred.pid)) {
		fd_close(fd);
		return;
	}
	peer.pid = cred.pid;
	peer_open(fd, &peer);
	if (server_conn_new(server, fd, &peer) != NULL)
		server->count++;
}

static int
server_listen(struct server *server, struct err *err)
{
	struct sockaddr_un address;
	struct stat st;
	int r;

	r = address_set(&address, server->path, err);
	if (r == 0)
		r = clear_place(&address, err);
	if (r < 0)
		return r;
	r = bind_private(&address, err);
	if (r < 0)
		return r;
	server->fd = r;
	if (lstat(server->path, &st) == -1)
		return err_errno(err, -errno, "%s", server->path);
	if (listen(server->fd, BACKLOG) == -1) {
		r = -errno;
		unlink(server->path);
		return err_errno(err, r, "cannot listen at %s", server->path);
	}
	server->dev = st.st_dev;
	server->ino = st.st_ino;
	/* The file is older than the listener: make those who watch it look
	 * again. */
	utimensat(AT_FDCWD, server->path, NULL, AT_SYMLINK_NOFOLLOW);
	return 0;
}

int
server_new(struct loop *loop, const char *path, server_fn *fn, void *arg,
    struct server **ret_server, struct err *err)
{
	struct server *server = xcalloc(1, sizeof *server);
	int r;

	server->loop = loop;
	server->path = xstrdup(path);
	server->fd = -1;
	server->most = SERVER_CONNECTIONS_MAX;
	server->uid = geteuid();
	server->fn = fn;
	server->fn_arg = arg;
	TAILQ_INIT(&server->conns);
	r = server_listen(server, err);
	if (r < 0) {
		server_free(server);
		return r;
	}
	server->accepts =
	    loop_listener_new(loop, server->fd, server_take, server);
	*ret_server = server;
	return 0;
}

void
server_limit(struct server *server, int connections)
{
	server->most = connections;
}

static bool
is_in_place(const struct server *server)
{
	struct stat st;

	return lstat(server->path, &st) == 0 && st.st_dev == server->dev &&
	    st.st_ino == server->ino;
}

int
server_reopen(struct server *server, struct err *err)
{
	int old = server->fd, r;

	if (is_in_place(server))
		return 0;
	r = server_listen(server, err);
	if (r < 0) {
		if (server->fd != old)
			fd_close(server->fd);
		server->fd = old;
		return r;
	}
	/* Those who connected before the file was gone. */
	loop_listener_accept(server->accepts);
	loop_listener_free(server->accepts);
	fd_close(old);
	server->accepts =
	    loop_listener_new(server->loop, server->fd, server_take, server);
	return 1;
}

void
server_free(struct server *server)
{
	struct server_conn *conn;

	if (server == NULL)
		return;
	while ((conn = TAILQ_FIRST(&server->conns)) != NULL)
		server_conn_free(conn);
	loop_listener_free(server->accepts);
	if (server->fd >= 0 && is_in_place(server))
		unlink(server->path);
	fd_close(server->fd);
	free(server->path);
	free(server);
}

struct server_call *
server_call_new(struct loop *loop, server_answer_fn *fn, void *arg)
{
	struct server_call *call = xcalloc(1, sizeof *call);

	call->loop = loop;
	call->answer = fn;
	call->answer_arg = arg;
	return call;
}

/* Ends a call without a connection; takes ownership of result. */
static void
call_answer(struct server_call *call, struct json_object *result, int code,
    const char *message)
{
	call->answer(result, code, message, call->answer_arg);
	json_object_put(result);
	loop_call_free(call->gone);
	free(call);
}

void
server_reply(struct server_call *call, struct json_object *result)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (call->answer != NULL) {
		call_answer(call, result, 0, NULL);
		return;
	}
	rpc_encode_result(&line, call->id, result);
	json_object_put(result);
	server_conn_answer(call, &line);
}

void
server_fail(struct server_call *call, int code, const char *message,
    struct json_object *data)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (call->answer != NULL) {
		call_answer(call, data, code, message);
		return;
	}
	rpc_encode_error(&line, call->id, code, message, data);
	json_object_put(data);
	server_conn_answer(call, &line);
}

int
server_notify(
    struct server_call *call, const char *method, struct json_object *params)
{
	cleanup_json struct json_object *owned = params;
	cleanup_buf struct buf line = BUF_INIT;
	struct server_conn *conn = call->conn;

	if (conn == NULL || conn->mute || conn->broken)
		return -EPIPE;
	rpc_encode_request(&line, NULL, method, owned);
	if (line.len - 1 > RPC_LINE_MAX)
		return -EMSGSIZE;
	if (conn_unsent(conn) >= conn->first + SERVER_STREAM_MAX) {
		conn->broken = true;
		loop_call_request(conn->resume);
		return -ENOBUFS;
	}
	if (conn_unsent(conn) == 0)
		conn->first = line.len;
	conn_send(conn, &line);
	return conn->mute ? -EPIPE : 0;
}

/* Once. */
static void
call_gone(void *arg)
{
	struct server_call *call = arg;
	void (*fn)(void *arg) = call->on_gone;

	call->on_gone = NULL;
	fn(call->gone_arg);
}

void
server_on_gone(struct server_call *call, void (*fn)(void *arg), void *arg)
{
	call->on_gone = fn;
	call->gone_arg = arg;
	if (call->gone == NULL)
		call->gone = loop_call_new(call->loop, call_gone, call);
	if (server_call_gone(call))
		loop_call_request(call->gone);
}

bool
server_call_gone(const struct server_call *call)
{
	return call->answer == NULL &&
	    (call->conn == NULL || server_conn_gone(call->conn));
}

bool
server_call_waits(const struct server_call *call)
{
	return call->answer != NULL || (call->conn != NULL && call->id != NULL);
}

void
server_call_peer(const struct server_call *call, struct server_peer *ret_peer)
{
	*ret_peer = call->conn != NULL ?
	    call->conn->peer :
	    (struct server_peer){ .pidfd = -1, .gone = true };
}
