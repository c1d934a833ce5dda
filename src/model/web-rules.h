/* SPDX-License-Identifier: ISC */

/*
 * The rules of the page on 127.0.0.1: what a request gets. Pure.
 *
 * They protect against other web pages in the person's browser (also when a
 * foreign name leads to 127.0.0.1) and against other users of the machine:
 *
 *   the Host must be ours, whatever is asked for;
 *   only GET and HEAD are answered, and change nothing;
 *   every path with data needs the token, in Authorization and nowhere else;
 *   no answer sets a cookie or lets another origin read it.
 */
#ifndef WEB_RULES_H
#define WEB_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct http_head;

#define WEB_TOKEN_BYTES 32
#define WEB_TOKEN_CHARS (2 * WEB_TOKEN_BYTES) /* hexadecimal, lower case */

/* What the daemon tells the overseer: keep the listener that comes with this,
 * and with the token behind it; close what you have. */
#define WEB_KEEP "web.keep "
#define WEB_DROP "web.drop"

enum web_path {
	WEB_INDEX,
	WEB_STYLE,
	WEB_SCRIPT,
	WEB_ICON, /* browsers ask for it by themselves; there is none */
	WEB_VIEW,
	WEB_METRICS,
	WEB_REPORT,
	WEB_PATH_COUNT
};

/* What an answer says about its body. */
struct web_content {
	const char *type; /* NULL = no body */
	size_t len;
	bool gzip; /* the body is compressed */
	bool endless; /* a stream; len is not said */
};

/* 200: *ret_path is set. Otherwise the status to refuse it with: 421 (not our
 * Host), 405, 400 (a GET with a body), 404, 401 (no token, or a wrong one). */
int web_decide(const struct http_head *request, unsigned port,
    const char *token, enum web_path *ret_path);

/* The Host is 127.0.0.1:PORT or localhost:PORT, and there is one; without the
 * port if that is 80. */
bool web_host_allowed(const struct http_head *request, unsigned port);

/* 64 hexadecimal characters? */
bool web_token_valid(const char *token);
/* In a time that does not depend on what is different. */
bool web_token_equal(const char *given, const char *token);

/* The type of what is at a path; NULL = nothing is. */
const char *web_path_type(enum web_path path);

/* The head of an answer, with its empty line. */
void
web_add_head(struct buf *out, int status, const struct web_content *content);

/* What the body of a refusal says: a sentence with a newline. */
const char *web_words(int status);

#endif
