/* SPDX-License-Identifier: ISC */

/* One connection of the server: reads lines, hands calls on, writes answers,
 * keeps the deadlines. For server.c only. */
#ifndef SERVER_CONN_H
#define SERVER_CONN_H

#include <sys/queue.h>

#include "server.h"

struct loop;
struct server_conn;

struct server_owner {
	server_fn *fn;
	void *fn_arg;
	/* The connection ended by itself and is about to be freed. */
	void (*ended)(struct server_conn *conn, void *arg);
	void *ended_arg;
};

LIST_HEAD(server_conns, server_conn);

/* Takes the descriptor over; NULL (and closed) when it cannot be watched. */
struct server_conn *server_conn_new(struct loop *loop, int fd,
    const struct server_owner *owner, struct server_conns *list);

/* Hang up and take it off the list, without a word to the owner. */
void server_conn_free(struct server_conn *conn);

#endif
