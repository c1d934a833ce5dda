/* SPDX-License-Identifier: ISC */

/*
 * The daemon's unix socket: JSON-RPC, one object a line, 0600, peers of our own
 * uid only, bounded in connections, line length and time. A call is answered
 * now or later; a client that went away meanwhile is no trouble.
 *
 * What is not a request is answered with the error that JSON-RPC has for it. A
 * client that sends faster than it reads, or has SERVER_CALLS_MAX calls under
 * way, is not read from until that is better. A last line without its newline
 * counts when the client has shut down its side.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_object;
struct loop;
struct server;
struct server_call;

/* A request (or notification: then answers go nowhere). params may be NULL and
 * live until this returns. Answer exactly once, now or later. */
typedef void server_fn(struct server_call *call, const char *method,
    struct json_object *params, void *arg);

/* Listen. A live listener at path is -EADDRINUSE, a dead one's file is
 * replaced, anything but a socket is -EEXIST. A path too long for a socket is
 * -ENAMETOOLONG (client_socket_path()). The file changes once more when it is
 * listened at, for those who watch it. The caller frees the server before the
 * loop. Two that start at once are the business of a lock. */
int server_new(struct loop *loop, const char *path, server_fn *fn, void *arg,
    struct server **ret_server, struct err *err);

/* Hangs up, and unlinks the file unless it is another's by now. Calls under way
 * lose their client; they still want their answer, which ends them. May be
 * called from inside of a server_fn. */
void server_free(struct server *server);

/* Both end the call. result is taken over; NULL = null. An answer too long for
 * a line becomes an error. */
void server_reply(struct server_call *call, struct json_object *result);
/* data (taken over) may be NULL. */
void server_fail(struct server_call *call, int code, const char *message,
    struct json_object *data);

/*
 * Streams: a call that is not answered yet can send notifications to its
 * client, any number of them. It counts as under way, so the connection is not
 * idle. A reader that is too slow is dropped, never waited for.
 *
 * server_notify() takes params over. -EPIPE: the client has gone. -ENOBUFS:
 * SERVER_STREAM_MAX bytes wait for it already; it is hung up on. -EMSGSIZE: too
 * long for a line, nothing was sent. After any of them the call still has to be
 * ended with server_reply() or server_fail().
 */
int server_notify(
    struct server_call *call, const char *method, struct json_object *params);
/* Have fn called from the loop, once, when the client of the call has gone, or
 * the server was freed. fn may end the call; without that it has to be ended
 * later, in any case before the loop is freed. A client that has closed its
 * sending side only is found to be gone when something is sent to it. */
void server_on_gone(struct server_call *call, void (*fn)(void *arg), void *arg);

/* Has the client gone? What server_on_gone() waits for, for its tests. Says
 * little of a notification: nobody waits for it. */
bool server_call_gone(const struct server_call *call);

#define SERVER_CONNECTIONS_MAX 256 /* further ones wait to be accepted */
#define SERVER_CALLS_MAX       64 /* under way, of one connection */

#define SERVER_LINE_MS  10000 /* to finish a line that was begun */
#define SERVER_WRITE_MS 10000 /* to take anything of what we have to say */
#define SERVER_IDLE_MS  60000 /* without a call under way */
#define SERVER_PAUSE_MS 1000 /* no accepting when descriptors ran out */

/* Bytes of answers that a client has not taken: from the first we read no
 * more from it, at the second we hang up. */
#define SERVER_OUT_PAUSE (1024 * 1024)
#define SERVER_OUT_MAX   (16 * 1024 * 1024)
/* And of those, what may wait before a notification. */
#define SERVER_STREAM_MAX (1024 * 1024)

#endif
