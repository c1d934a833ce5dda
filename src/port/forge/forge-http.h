/* SPDX-License-Identifier: ISC */

/*
 * Requests to a forge: one at a time, writes at least a second apart. The token
 * is read for each of them, so that a new one is used at once; it is in no
 * argument, no environment and no log. The log of a job is elsewhere: that
 * address is followed once, and its server does not get the token.
 */
#ifndef FORGE_HTTP_H
#define FORGE_HTTP_H

#include "forge.h"

struct forge_http;
struct loop;
struct settings;
struct workspace;

struct forge_answer {
	enum forge_verdict verdict;
	int status; /* 0 = there was no answer */
	struct json_object *json; /* NULL = none; the caller's own */
	const char *text; /* FORGE_ASK_LOG: its end, not JSON; else NULL */
	size_t text_len;
	const char *tag; /* of the answer, for the next request; "" = none */
	int64_t wait_ms; /* FORGE_AGAIN: before the next request */
	const char *words; /* what went wrong, for people */
};

/* Valid until it returns. */
typedef void forge_fn(const struct forge_answer *answer, void *arg);

/* place is borrowed. token_file: an absolute path; NULL = `gh auth token` is
 * asked for one. body_file: where the body of a request is for a moment. */
struct forge_http *
forge_http_new(struct loop *loop, const struct forge_place *place,
    const char *token_file, const char *body_file);

/* A request that is under way is ended, without an answer. */
void forge_http_free(struct forge_http *http);

/* known: the tag of the last answer; NULL = none. fn is called once, from the
 * loop. */
void
forge_http_send(struct forge_http *http, const struct forge_request *request,
    const char *known, forge_fn *fn, void *arg);

/* The place that settings and origin name, once there is a token for it, which
 * is not asked about: a negative errno says what is missing. Runs git and gh,
 * and waits for them: never from inside a loop. ret_place is released by the
 * caller, also after an error. */
int forge_find(const struct workspace *ws, const struct settings *settings,
    struct forge_place *ret_place, struct err *err);

#endif
