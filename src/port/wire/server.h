/* SPDX-License-Identifier: ISC */

/*
 * The daemon's unix socket: JSON-RPC, one object per line, 0600, peers of our
 * own uid only, bounded in connections, line length and time. A call is
 * answered now or later; it does not matter if the client has gone by then.
 *
 * What is not a request is answered with the error that JSON-RPC has for it. A
 * client that sends faster than it reads, or has SERVER_CALLS_MAX calls under
 * way, is not read from until that has changed. A last line without its newline
 * counts if the client has shut down its sending side.
 */
#ifndef SERVER_H
#define SERVER_H

#include <sys/types.h>

struct err;
struct json_object;
struct loop;
struct server;
struct server_call;

/* A request, or a notification, whose answer is not sent. params may be NULL
 * and is valid until this returns. Answer exactly once, now or later. */
typedef void server_fn(struct server_call *call, const char *method,
    struct json_object *params, void *arg);

/* Listen. -EADDRINUSE: another process listens at path. The file of a dead
 * listener is replaced; -EEXIST: it is not a socket. -ENAMETOOLONG: path is too
 * long for a socket (client_socket_path()). The file is touched when the server
 * listens, for those who watch it. The caller frees the server before the loop,
 * and holds a lock so that no two servers start at once. */
int server_new(struct loop *loop, const char *path, server_fn *fn, void *arg,
    struct server **ret_server, struct err *err);

/* Set the maximum of connections; default: SERVER_CONNECTIONS_MAX. */
void server_limit(struct server *server, int connections);

/* Is our socket still at its path? If its file is gone, listen there again;
 * connections stay. Returns 1 if it listens again, 0 if nothing was wrong;
 * negative errno if something else is there: clients cannot connect until it is
 * gone. */
int server_reopen(struct server *server, struct err *err);

/* Hangs up, and unlinks the file unless it belongs to another server by now.
 * Calls under way lose their client, but must still be answered, which ends
 * them. May be called from inside a server_fn. */
void server_free(struct server *server);

/* Both end the call. Takes ownership of result; NULL = null. An answer too long
 * for a line becomes an error. */
void server_reply(struct server_call *call, struct json_object *result);
/* Takes ownership of data, which may be NULL. */
void server_fail(struct server_call *call, int code, const char *message,
    struct json_object *data);

/* A call that came by another way than the socket, such as the page: it is
 * handed to a handler like the others, and its answer to fn, which owns nothing
 * of it. message: NULL = it succeeded with result (NULL = null); otherwise
 * result is the data of the error. It has no peer, and never goes away. */
typedef void server_answer_fn(
    struct json_object *result, int code, const char *message, void *arg);
struct server_call *
server_call_new(struct loop *loop, server_answer_fn *fn, void *arg);

/*
 * Streams: a call that is not answered yet can send notifications to its
 * client, any number of them. It counts as under way, so the connection is not
 * idle. A reader that is too slow is dropped, never waited for.
 *
 * server_notify() takes ownership of params. -EPIPE: the client has gone.
 * -ENOBUFS: SERVER_STREAM_MAX bytes wait for it already, and the connection is
 * closed. -EMSGSIZE: too long for a line, nothing was sent. After any of them
 * the call still has to be ended with server_reply() or server_fail().
 */
int server_notify(
    struct server_call *call, const char *method, struct json_object *params);
/* Call fn from the loop, once, when the client of the call has gone or the
 * server was freed. fn may end the call; otherwise it must be ended later,
 * before the loop is freed. A client that has only closed its sending side is
 * found to be gone when something is sent to it. */
void server_on_gone(struct server_call *call, void (*fn)(void *arg), void *arg);

/* Has the client gone? What server_on_gone() waits for. Means nothing for a
 * notification, which has no answer. */
bool server_call_gone(const struct server_call *call);
/* Not a notification: its answer is sent. */
bool server_call_waits(const struct server_call *call);

/* Who connected. Valid as long as the connection: ask while the call is being
 * handed out. */
struct server_peer {
	pid_t pid; /* 0 = outside our pid namespace */
	int pidfd; /* -1 = the kernel gives none; the server's */
	bool gone; /* it had ended, and was reaped, when we asked for that */
};
void
server_call_peer(const struct server_call *call, struct server_peer *ret_peer);

/* There is always room for one connection more: the one that has been idle for
 * longest is dropped for it; if all have calls under way, the oldest one of the
 * process that has most of them. A process that has its share and no idle one
 * among them is refused. */
#define SERVER_CONNECTIONS_MAX 256
#define SERVER_PEER_MAX        32 /* of one process */
#define SERVER_SESSION_MAX                                  \
	32 /* for a session's socket: many of them together \
	    * must not use up our descriptors */
#define SERVER_CALLS_MAX 64 /* under way, of one connection */

#define SERVER_LINE_MS  10000 /* to finish a line that was begun */
#define SERVER_WRITE_MS 10000 /* to take at least a part of our answers */
#define SERVER_IDLE_MS  60000 /* without a call under way */

/* Bytes of answers that a client has not taken: at the first limit we stop
 * reading from it, at the second we hang up. */
#define SERVER_OUT_PAUSE (1024 * 1024)
#define SERVER_OUT_MAX   (16 * 1024 * 1024)
/* Bytes that may wait before another notification is refused, behind one of any
 * length: a large view takes its time. */
#define SERVER_STREAM_MAX (1024 * 1024)

#endif
