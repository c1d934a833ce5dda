/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "errtext.h"
#include "http-conn.h"
#include "http-server.h"
#include "loop.h"
#include "loopback.h"
#include "mem.h"

#define ACCEPTS_A_PASS 16 /* so that a burst leaves time for the rest */
#define REST_MS        1000 /* without accepting, when descriptors run out */

struct http_server {
	struct http_shared shared;
	struct loop_watch *watch;
	struct loop_timer *rest;
	unsigned port;
	int listener;
};

static void server_on_readable(int fd, unsigned what, void *arg);
static void server_on_rested(void *arg);

static void
server_listen(struct http_server *server)
{
	if (server->watch == NULL)
		server->watch = loop_watch_new(server->shared.loop,
		    server->listener, LOOP_READ, server_on_readable, server);
}

/* Out of descriptors or memory: the listener would stay readable, and the loop
 * would spin. */
static void
server_rest(struct http_server *server)
{
	loop_watch_free(take_ptr(&server->watch));
	if (server->rest == NULL)
		server->rest = loop_after(
		    server->shared.loop, REST_MS, server_on_rested, server);
	else
		loop_timer_restart(server->rest, REST_MS);
}

static void
server_on_rested(void *arg)
{
	struct http_server *server = arg;

	server_listen(server);
	if (server->watch == NULL)
		server_rest(server);
}

static void
server_take(struct http_shared *shared, int fd)
{
	struct http_conn *victim = shared->count >= HTTP_CONNECTIONS_MAX ?
	    http_conn_victim(shared) :
	    NULL;

	if (victim != NULL)
		http_conn_free(victim);
	http_conn_new(shared, fd);
}

static void
server_on_readable(int listener, unsigned what, void *arg)
{
	struct http_server *server = arg;

	(void)what;
	for (int i = 0; i < ACCEPTS_A_PASS; i++) {
		int fd =
		    accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			server_take(&server->shared, fd);
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR && errno != ECONNABORTED) {
			server_rest(server);
			return;
		}
	}
}

/* One that was inherited may have any flags. */
static int
check_listener(int fd, unsigned *ret_port, struct err *err)
{
	int r = loopback_check(fd, ret_port, err), flags;

	if (r < 0)
		return r;
	flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return err_errno(err, -errno, "the socket of the page");
	return 0;
}

struct http_server *
http_server_new(struct loop *loop, int listener, http_server_fn *fn, void *arg,
    struct err *err)
{
	struct http_server *server = xcalloc(1, sizeof *server);

	server->listener = listener;
	server->shared.loop = loop;
	server->shared.fn = fn;
	server->shared.arg = arg;
	TAILQ_INIT(&server->shared.conns);
	if (check_listener(listener, &server->port, err) < 0) {
		http_server_free(server);
		return NULL;
	}
	server_listen(server);
	if (server->watch == NULL) {
		err_errno(err, -errno, "the socket of the page");
		http_server_free(server);
		return NULL;
	}
	return server;
}

void
http_server_free(struct http_server *server)
{
	struct http_conn *conn;

	if (server == NULL)
		return;
	while ((conn = TAILQ_FIRST(&server->shared.conns)) != NULL)
		http_conn_free(conn);
	loop_watch_free(server->watch);
	loop_timer_free(server->rest);
	fd_close(server->listener);
	free(server);
}

unsigned
http_server_port(const struct http_server *server)
{
	return server->port;
}

int
http_server_listener(const struct http_server *server)
{
	return server->listener;
}
