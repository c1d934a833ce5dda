/* SPDX-License-Identifier: ISC */

/* One connection of the proxy, for proxy.c only. */
#ifndef PROXY_CONN_H
#define PROXY_CONN_H

#include <sys/queue.h>

#include "proxy.h"

struct proxy_conn;
TAILQ_HEAD(proxy_conns, proxy_conn);

/* What connections share; the one that was idle longest comes first. */
struct proxy_shared {
	struct loop *loop;
	struct proxy_options options;
	int open; /* connections */
	struct proxy_conns conns;
};

/* Takes the descriptor and serves it; frees itself at its end. */
void proxy_conn_new(struct proxy_shared *shared, int fd);
void proxy_conn_free(struct proxy_conn *conn);

#endif
