/* SPDX-License-Identifier: ISC */

/*
 * One HTTP request by the program curl. Its options, the token among them, go
 * to its standard input, and the body is in a file that only we can read: no
 * list of processes and no log has them. Redirections are not followed.
 */
#ifndef CURL_H
#define CURL_H

struct buf;
struct curl;
struct err;
struct http_answer;
struct http_request;
struct loop;

/* answer NULL: there is none, and err says why; it has curl's own words, which
 * name the host and never the path. Both are valid until this returns. */
typedef void
curl_fn(const struct http_answer *answer, const struct err *err, void *arg);

/* body (NULL or empty = none) is written to body_file, which is removed in the
 * end. hide: a variable that curl need not see; NULL or "" = none. fn is called
 * once, from the loop, unless this fails. */
int curl_start(struct loop *loop, const struct http_request *request,
    const char *body_file, const struct buf *body, const char *hide,
    curl_fn *fn, void *arg, struct curl **ret_curl, struct err *err);

/* End it; fn will not be called. NULL is ignored. */
void curl_abandon(struct curl *curl);

/* The token in a file, appended: one line of printable characters. As ssh does
 * it with keys, a file of ours that others can read is refused. The caller
 * clears the token after use. */
int curl_token(const char *path, struct buf *out, struct err *err);

/* The same for one that was read already; what: where it comes from. */
int curl_token_take(
    struct buf *text, const char *what, struct buf *out, struct err *err);

#endif
