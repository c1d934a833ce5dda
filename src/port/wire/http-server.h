/* SPDX-License-Identifier: ISC */

/*
 * A small HTTP server in the loop: one request a connection; the
 * body of a POST is read before it is handed out. Whether a request is answered
 * is for model/records/http-request.h; requests that cannot be read are refused
 * here.
 *
 * Everything is bounded: connections (the oldest one that is not a stream makes
 * room for a new one), streams, the head of a request and its time, and what
 * waits for a reader that is too slow, who is dropped.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <sys/queue.h>

struct err;
struct http_exchange;
struct http_head;
struct http_server;
struct loop;
struct web_content;

#define HTTP_CONNECTIONS_MAX 32
#define HTTP_STREAMS_MAX     8

/* Bytes after the head, which are ignored. */
#define HTTP_IGNORED_MAX (1024 * 1024)

/* A request. Answer it exactly once, now or later, with http_reply() or as a
 * stream. The server is not freed from inside this. */
typedef void http_server_fn(
    struct http_exchange *exchange, const struct http_head *request, void *arg);

/* The server owns the listening descriptor from now on, also on failure. NULL
 * with err set if it does not listen on the address (NULL = 127.0.0.1). */
struct http_server *http_server_new(struct loop *loop, int listener,
    const char *address, http_server_fn *fn, void *arg, struct err *err);

/* Closes all connections. Exchanges that are not ended yet lose their client,
 * and must be ended before the loop is freed. */
void http_server_free(struct http_server *server);

/* The body of the request, len bytes and a NUL; while it is handed out. */
const char *http_body(const struct http_exchange *exchange, size_t *ret_len);

/* Where it listens; it keeps the descriptor. */
unsigned http_server_port(const struct http_server *server);
int http_server_listener(const struct http_server *server);

/* Answer and end the exchange. The content says how the body, which is copied,
 * is described; its len is used. */
void http_reply(struct http_exchange *exchange, int status,
    const struct web_content *content, const char *body);

/* The same with the words of the status. */
void http_refuse(struct http_exchange *exchange, int status);

/*
 * Begin a stream. gone is called from the loop, once, when the client has gone;
 * the exchange must still be ended. Negative: it was answered and has ended,
 * since HTTP_STREAMS_MAX are open, the client has gone, or asked for a head.
 */
int http_stream_begin(struct http_exchange *exchange,
    const struct web_content *content, void (*gone)(void *arg), void *arg);

/* -EPIPE: the client has gone. -ENOBUFS: HTTP_UNSENT_MAX bytes wait for it
 * already, and the connection is dropped. */
int
http_stream_send(struct http_exchange *exchange, const char *bytes, size_t len);

/* Ends the exchange; what was sent still reaches the client. */
void http_stream_end(struct http_exchange *exchange);

/* Sockets that listen on an IPv4 address (NULL = 127.0.0.1), and on no other.
 */

/* A new one, without waiting clients; port 0 = any free one. Negative errno,
 * with words that name the port: -EADDRINUSE. */
int http_listen(const char *address, unsigned port, struct err *err);

/* Is it one? A descriptor from somewhere else may be anything: -EINVAL, or what
 * the kernel says. ret_port may be NULL. */
int
http_listens(int fd, const char *address, unsigned *ret_port, struct err *err);

#endif
