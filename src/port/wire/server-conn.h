/* SPDX-License-Identifier: ISC */

/* One connection of the server: reads lines, passes calls on, writes answers,
 * keeps the deadlines. Private to server.c. */
#ifndef SERVER_CONN_H
#define SERVER_CONN_H

#include <sys/queue.h>
#include <sys/types.h>

#include "server.h"

struct buf;
struct json_object;
struct loop;
struct loop_call;
struct server_conn;

struct server_owner {
	server_fn *fn;
	void *fn_arg;
	/* The connection ended by itself and is about to be freed. */
	void (*ended)(struct server_conn *conn, void *arg);
	void *ended_arg;
};

/* A request, from its arrival to its answer. */
struct server_call {
	LIST_ENTRY(server_call) entry;
	struct server_conn *conn; /* NULL = the client has gone */
	struct loop *loop;
	struct json_object *id; /* NULL in a notification */
	struct loop_call *gone; /* calls on_gone; NULL = nobody asked */
	void (*on_gone)(void *arg); /* NULL = it has been called */
	void *gone_arg;
};
LIST_HEAD(server_calls, server_call);

/* The oldest first. */
TAILQ_HEAD(server_conns, server_conn);

/* Takes ownership of the descriptor and of the peer's pidfd; NULL (and closed)
 * if it cannot be watched. */
struct server_conn *
server_conn_new(struct loop *loop, int fd, const struct server_peer *peer,
    const struct server_owner *owner, struct server_conns *list);

struct server_conn *server_conn_next(struct server_conn *conn);
const struct server_peer *server_conn_peer(const struct server_conn *conn);
/* Since when it has neither a call under way nor an answer to take; INT64_MAX
 * if it has. */
int64_t server_conn_idle_since(const struct server_conn *conn);

/* Hang up, and tell the owner. Calls under way lose their client. */
void server_conn_drop(struct server_conn *conn);

/* Hang up and take it off the list, without telling the owner. */
void server_conn_free(struct server_conn *conn);

/* End the call: send this line to its client, or an error when the line is too
 * long, or nothing when the client has gone. */
void server_conn_answer(struct server_call *call, struct buf *line);

/* Send a line while a call is under way: see server_notify(). */
int server_conn_notify(struct server_conn *conn, const struct buf *line);

/* Has the client closed the connection? */
bool server_conn_gone(const struct server_conn *conn);

#endif
