/* SPDX-License-Identifier: ISC */

/*
 * HTTP on 127.0.0.1: a small server in the loop, and the files of its page.
 *
 * The server: one request a connection; the
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

#include "http-request.h"

struct err;
struct http_exchange;
struct http_head;
struct http_server;
struct loop;
struct web_content;
struct workspace;

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

/*
 * Files of the page on 127.0.0.1: .llmc/web.token, its secret, which only the
 * user can read, the file that leads a browser there, and the logins.
 */

#define WEB_FILES_TOKEN  "web.token"
#define WEB_FILES_LINK   "web.html"
#define WEB_FILES_LOGINS "web.logins"

/* Who has logged in at web.origin, and until when. */
#define WEB_LOGINS_MAX 16

struct web_login {
	char session[WEB_TOKEN_CHARS + 1];
	int64_t until_unix;
};

/* The token. -ENOENT: there is none; -EINVAL: it is not one, or others could
 * have read it. */
int web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err);
/* A random one. */
void web_files_new_token(char ret_token[WEB_TOKEN_CHARS + 1]);
/* This is the token from now on. */
int web_files_put_token(
    const struct workspace *workspace, const char *token, struct err *err);

/* The logins, at most WEB_LOGINS_MAX; 0 if there are none, or if others could
 * have read them. */
size_t web_files_logins(
    const struct workspace *workspace, struct web_login *ret_logins);
int web_files_put_logins(const struct workspace *workspace,
    const struct web_login *logins, size_t count, struct err *err);

/* Write a file that leads a browser to the address, .llmc/web.html, which only
 * the user can read. The caller frees its path. */
int web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err);

#endif
