/* SPDX-License-Identifier: ISC */

/* One connection of the HTTP server, for http-server.c only. */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <sys/queue.h>

#include "http-server.h"

struct http_conn;
TAILQ_HEAD(http_conns, http_conn); /* the oldest first */

/* What the connections share. */
struct http_shared {
	struct loop *loop;
	http_server_fn *fn;
	void *arg;
	struct http_conns conns;
	int count, streams;
};

/* Takes the descriptor, serves it, and frees itself at its end. */
void http_conn_new(struct http_shared *shared, int fd);
void http_conn_free(struct http_conn *conn);

/* Who makes room for another one: the oldest that reads or has read, then the
 * oldest that is no stream. NULL = all are streams. */
struct http_conn *http_conn_victim(struct http_shared *shared);

#endif
