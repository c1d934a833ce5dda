/* SPDX-License-Identifier: ISC */

/*
 * A server on 127.0.0.1 in the test's own loop, that does what is asked of it,
 * or anything but that; and the channels that lead to it. It also is a small
 * Gitea and a small GitHub: labels, issues and comments.
 */
#ifndef HTTP_WORLD_H
#define HTTP_WORLD_H

#include "unit.h"

struct courier;
struct evhttp;
struct evhttp_request;
struct json_object;
struct loop;
struct settings;

enum http_mood {
	HTTP_WELL,
	HTTP_HANGS, /* takes the request, and never answers */
	HTTP_500,
	HTTP_429, /* Retry-After: 120 */
	HTTP_HTML, /* 200, but no JSON */
	HTTP_REDIRECT,
	HTTP_DENIES, /* 401 */
	HTTP_ECHOES, /* 401, with the token that it got */
	HTTP_RAW, /* what is no HTTP */
	HTTP_HALF, /* an answer that breaks off */
	HTTP_CLOSES, /* nothing at all */
	HTTP_ENDLESS, /* more than anybody wants */
	HTTP_REFUSES, /* nobody listens */
	HTTP_MOOD_COUNT
};

#define HTTP_SEEN_MAX 200

struct http_seen {
	char *method, *uri, *authorization, *key;
	struct json_object *body; /* NULL = none */
	struct evhttp_request *unanswered; /* NULL = it was answered */
};

struct http_world {
	struct loop *loop;
	struct evhttp *http;
	int port;
	int raw; /* a socket that answers with what is no HTTP */
	int raw_port, no_port;
	struct loop_watch *raw_watch;
	enum http_mood mood;
	struct http_seen seen[HTTP_SEEN_MAX];
	size_t count;
	struct json_object *labels, *issues, *comments;
	void (*on_seen)(struct http_world *w, const struct http_seen *seen);
	bool dropped; /* the connection is closed instead of an answer */
	char *root; /* with .llmc in it */
	struct message_spool *spool; /* of the courier */
};

struct http_world *http_world_new(void);
void http_world_free(struct http_world *w);

/* Settings with [people.channels.x] of this type, at the server as it is in its
 * mood; more: lines for the section. */
struct settings *http_world_settings(
    const struct http_world *w, const char *type, const char *more);

/* Run the loop until is_so is true; fails the test after a minute. */
void
http_world_until(struct http_world *w, bool (*is_so)(void *arg), void *arg);
/* Until so many requests were seen. */
void http_world_await(struct http_world *w, size_t count);

/* How many requests had this method, and this at the end of their path. */
size_t http_world_seen(
    const struct http_world *w, const char *method, const char *end);

/* A courier that keeps its messages in the spool of the root, and sends what it
 * finds there; the one before is freed by the caller. */
struct courier *http_world_courier(
    struct http_world *w, const struct settings *settings, const char *program);

/* The spool: how many wait, how many are done, and the state of the only one
 * at its channel ("" = there is not just one). The caller frees it. */
size_t http_world_waiting(const struct http_world *w);
size_t http_world_done(const struct http_world *w);
char *http_world_state(const struct http_world *w, int *ret_attempts,
    int64_t *ret_wait_ms, char **ret_reason);

#endif
