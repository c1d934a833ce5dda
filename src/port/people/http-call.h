/* SPDX-License-Identifier: ISC */

/*
 * One HTTP request, by the program curl: its options, the token among them,
 * come on its standard input, and the body from a file that only we can read.
 * Neither is ever logged.
 */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

struct buf;
struct channel;
struct child;
struct err;
struct http_answer;
struct http_request;
struct loop;

struct http_call;

/* answer is NULL if there was none: err says why, without any secret. Both are
 * valid until the callback returns; the call is not any more. */
typedef void http_call_fn(
    const struct http_answer *answer, const struct err *err, void *arg);

/* dir: where the body is put; name: of its file there. body may be NULL.
 * request->body_file is set by this. hide: an environment variable that curl
 * does not get, "" = none. NULL with err: it cannot be started. */
struct http_call *
http_call_start(struct loop *loop, const struct http_request *request,
    const struct buf *body, const char *dir, const char *name, const char *hide,
    http_call_fn *done, void *arg, struct err *err);
/* End it; done is not called. */
void http_call_cancel(struct http_call *call);

/* Append the token of the channel; nothing if it has none. -EINVAL, -ENOENT,
 * -EPERM (others can read its file) ... with words that do not contain it.
 * root: where relative paths begin. */
int http_token(const struct channel *channel, const char *root, struct buf *out,
    struct err *err);
/* The path of its token file, for the caller to free; NULL = it has none. */
char *http_token_path(const struct channel *channel, const char *root);

#endif
