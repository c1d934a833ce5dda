/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "loop.h"
#include "rpc.h"
#include "server-conn.h"
#include "server.h"

#define BACKLOG      128
#define ACCEPTS_MOST 16 /* in one pass of the loop */
#define ANY_PEER     (-1)

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* since Linux 6.5 */
#endif

struct server {
	struct loop *loop;
	struct loop_watch *watch; /* NULL while nothing is accepted */
	struct loop_timer *pause;
	struct server_owner owner;
	struct server_conns conns;
	int count, most;
	int fd;
	uid_t uid;
	char *path;
	dev_t dev; /* of the socket's file */
	ino_t ino;
};

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

static void server_watch(struct server *server);

static void
server_pause_over(void *arg)
{
	struct server *server = arg;

	loop_timer_free(take_ptr(&server->pause));
	server_watch(server);
}

/* A connection that cannot be accepted now stays readable: without a pause the
 * loop would spin. */
static void
server_pause(struct server *server)
{
	loop_watch_free(take_ptr(&server->watch));
	if (server->pause == NULL)
		server->pause = loop_after(
		    server->loop, SERVER_PAUSE_MS, server_pause_over, server);
}

/* How many connections this process has. */
static int
server_share(struct server *server, pid_t peer)
{
	struct server_conn *conn;
	int count = 0;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL;
	     conn = server_conn_next(conn))
		count += server_conn_peer(conn)->pid == peer;
	return count;
}

/* The connection of this process, or of any, that has been idle for longest;
 * NULL if none is idle. */
static struct server_conn *
server_idlest(struct server *server, pid_t peer)
{
	struct server_conn *conn, *idlest = NULL;
	int64_t since = INT64_MAX;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL;
	     conn = server_conn_next(conn)) {
		if ((peer != ANY_PEER && server_conn_peer(conn)->pid != peer) ||
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

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL;
	     conn = server_conn_next(conn)) {
		share = server_share(server, server_conn_peer(conn)->pid);
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
server_take(struct server *server, int fd)
{
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
	if (server_conn_new(server->loop, fd, &peer, &server->owner,
		&server->conns) != NULL)
		server->count++;
}

static void
server_accept(int fd, unsigned what, void *arg)
{
	struct server *server = arg;
	int peer;

	(void)what;
	for (int i = 0; i < ACCEPTS_MOST; i++) {
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (peer >= 0)
			server_take(server, peer);
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR && errno != ECONNABORTED) {
			server_pause(server);
			return;
		}
	}
}

static void
server_watch(struct server *server)
{
	if (server->watch != NULL || server->pause != NULL)
		return;
	server->watch = loop_watch_new(
	    server->loop, server->fd, LOOP_READ, server_accept, server);
	if (server->watch == NULL)
		server_pause(server);
}

static void
server_conn_ended(struct server_conn *conn, void *arg)
{
	struct server *server = arg;

	(void)conn;
	server->count--;
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
		unlink(server->path); /* nobody would answer there */
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
	server->owner = (struct server_owner){ .fn = fn,
		.fn_arg = arg,
		.ended = server_conn_ended,
		.ended_arg = server };
	TAILQ_INIT(&server->conns);
	r = server_listen(server, err);
	if (r < 0) {
		server_free(server);
		return r;
	}
	server_watch(server);
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
server_listen_again(struct server *server, struct err *err)
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
	server_accept(old, LOOP_READ, server);
	loop_watch_free(take_ptr(&server->watch));
	fd_close(old);
	server_watch(server);
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
	loop_watch_free(server->watch);
	loop_timer_free(server->pause);
	if (server->fd >= 0 && is_in_place(server))
		unlink(server->path);
	fd_close(server->fd);
	free(server->path);
	free(server);
}

void
server_reply(struct server_call *call, struct json_object *result)
{
	cleanup_buf struct buf line = BUF_INIT;

	rpc_encode_result(&line, call->id, result);
	json_object_put(result);
	server_conn_answer(call, &line);
}

void
server_fail(struct server_call *call, int code, const char *message,
    struct json_object *data)
{
	cleanup_buf struct buf line = BUF_INIT;

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

	if (call->conn == NULL)
		return -EPIPE;
	rpc_encode_request(&line, NULL, method, owned);
	return server_conn_notify(call->conn, &line);
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
	return call->conn == NULL || server_conn_gone(call->conn);
}

bool
server_call_waits(const struct server_call *call)
{
	return call->conn != NULL && call->id != NULL;
}

void
server_call_peer(const struct server_call *call, struct server_peer *ret_peer)
{
	*ret_peer = call->conn != NULL ?
	    *server_conn_peer(call->conn) :
	    (struct server_peer){ .pidfd = -1, .gone = true };
}
