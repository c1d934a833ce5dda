/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "errtext.h"
#include "loop.h"
#include "mem.h"
#include "proxy-conn.h"
#include "proxy.h"

#define ACCEPTS_A_PASS 16 /* so that one box's burst leaves time for relays */
#define REST_MS        1000 /* without accepting, when descriptors run out */

struct proxy {
	struct proxy_shared shared;
	struct loop_watch *watch;
	struct loop_timer *rest;
	int listener;
};

static void proxy_on_readable(int fd, unsigned what, void *arg);

static void
proxy_listen(void *arg)
{
	struct proxy *proxy = arg;

	if (proxy->watch == NULL)
		proxy->watch = loop_watch_new(proxy->shared.loop,
		    proxy->listener, LOOP_READ, proxy_on_readable, proxy);
}

/* Out of descriptors or memory: the listener would stay readable, and the loop
 * would spin. */
static void
proxy_rest(struct proxy *proxy)
{
	loop_watch_free(take_ptr(&proxy->watch));
	if (proxy->rest == NULL)
		proxy->rest = loop_after(
		    proxy->shared.loop, REST_MS, proxy_listen, proxy);
	else
		loop_timer_restart(proxy->rest, REST_MS);
}

static void
proxy_on_readable(int listener, unsigned what, void *arg)
{
	struct proxy *proxy = arg;
	struct proxy_shared *shared = &proxy->shared;

	(void)what;
	for (int i = 0; i < ACCEPTS_A_PASS; i++) {
		int fd =
		    accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd == -1 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd == -1 && errno != EAGAIN)
			proxy_rest(proxy);
		if (fd == -1)
			return;
		if (shared->open >= shared->options.connections)
			proxy_conn_free(TAILQ_FIRST(&shared->conns));
		proxy_conn_new(shared, fd);
	}
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
	proxy_listen(proxy);
	if (proxy->watch == NULL) {
		err_errno(err, -errno, "the socket of the box");
		proxy_free(proxy);
		return NULL;
	}
	return proxy;
}

void
proxy_free(struct proxy *proxy)
{
	struct proxy_conn *conn;

	if (proxy == NULL)
		return;
	while ((conn = TAILQ_FIRST(&proxy->shared.conns)) != NULL)
		proxy_conn_free(conn);
	loop_watch_free(proxy->watch);
	loop_timer_free(proxy->rest);
	fd_close(proxy->listener);
	free(proxy);
}
