/* SPDX-License-Identifier: ISC */

/*
 * HTTP as text: the head of a request, read as it comes in, and requests of
 * ours, for curl. Pure.
 *
 * The reader is strict, since anybody on the machine and every web page can
 * send bytes here: lines end with CR LF, no line is folded, there is no NUL or
 * other control character, and the target is a path. What could be read in two
 * ways is refused.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct buf;
struct err;

#define HTTP_HEAD_MAX 8192 /* bytes, with the empty line at its end */
#define HTTP_BODY_MAX ((size_t)128 * 1024)

/* With the NUL. A longer target is refused; a longer host or token is cut,
 * which makes it equal to none of ours. */
#define HTTP_TARGET_SIZE 2048
#define HTTP_HOST_SIZE   64
#define HTTP_BEARER_SIZE 128
#define HTTP_ORIGIN_SIZE 128

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_OTHER,
};

struct http_head {
	enum http_method method;
	char target[HTTP_TARGET_SIZE];
	unsigned host_count;
	char host[HTTP_HOST_SIZE]; /* of the first Host */
	char bearer[HTTP_BEARER_SIZE]; /* token of Authorization, "" = none */
	char session[HTTP_BEARER_SIZE]; /* of the Cookie WEB_COOKIE */
	char origin[HTTP_ORIGIN_SIZE];
	char page[HTTP_BEARER_SIZE]; /* X-Llmc-Page: of the page that asks */
	char click[HTTP_BEARER_SIZE]; /* X-Llmc-Request: one for each click */
	bool foreign; /* Sec-Fetch-Site says that another site asks */
	bool json; /* so is the body, as Content-Type says */
	bool gzip; /* an answer may be compressed */
	bool body; /* something follows the head */
	bool chunked; /* of a length that is not said */
	size_t length; /* of the body; above HTTP_BODY_MAX it may be less */
};

struct http_reader {
	struct http_head request;
	struct buf line; /* the one that has begun */
	size_t taken; /* bytes of the head so far */
	int status; /* http_reader_feed(), once it is not 0 */
	bool begun; /* the request line was read */
	bool cr; /* the last byte was CR */
	unsigned seen; /* fields that may be there once */
};

void http_reader_init(struct http_reader *reader);
void http_reader_release(struct http_reader *reader);

/* Read on. 0: more bytes are needed; 200: the head is complete, and request is
 * set; otherwise the status to answer with: 400, 414, 431 or 505. What follows
 * the head is ignored. */
int http_reader_feed(struct http_reader *reader, const char *bytes, size_t len);

/*
 * The rules of the page on 127.0.0.1: what a request gets. Pure.
 *
 * They protect against other web pages in the person's browser (also when a
 * foreign name leads to 127.0.0.1) and against other users of the machine:
 *
 *   the Host must be ours, whatever is asked for;
 *   GET and HEAD change nothing; a POST is answered below WEB_API_PREFIX
 *     only, if its Origin is ours and its body is JSON;
 *   every path with data needs the token, in Authorization and nowhere else;
 *   no answer lets another origin read it.
 *
 * With web.origin, the page has a second address, where something else speaks
 * TLS for it. There the token is not taken, but the cookie of a login: a code
 * that llmc web makes for one use is exchanged for it.
 */

#define WEB_TOKEN_BYTES 32
#define WEB_TOKEN_CHARS (2 * WEB_TOKEN_BYTES) /* hexadecimal, lower case */

/* What the daemon tells the overseer: keep the listener that comes with this,
 * and with the token behind it; close what you have. */
#define WEB_KEEP "web.keep "
#define WEB_DROP "web.drop"

#define WEB_LOOPBACK   "127.0.0.1"
#define WEB_API_PREFIX "/api/"
#define WEB_COOKIE     "__Host-llmc"
#define WEB_SESSION_S  (30 * 24 * 3600) /* how long a login lasts */

enum web_path {
	WEB_INDEX,
	WEB_STYLE,
	WEB_SCRIPT,
	WEB_DESK,
	WEB_REVIEW,
	WEB_CHARTS,
	WEB_REPLAY, /* until here: the files of the page, in this order */
	WEB_ICON, /* browsers ask for it by themselves; there is none */
	WEB_VIEW,
	WEB_METRICS,
	WEB_REPORT,
	WEB_API, /* what is behind WEB_API_PREFIX, with ?NAME=VALUE&... */
	WEB_LOGIN, /* with a code for a cookie, at web.origin */
	WEB_PATH_COUNT
};

/* What an answer says about its body. */
struct web_content {
	const char *type; /* NULL = no body */
	size_t len;
	bool gzip; /* the body is compressed */
	bool endless; /* a stream; len is not said */
	const char *session; /* set it as the cookie; NULL = none */
};

/* What a request is compared with. */
struct web_rules {
	unsigned port;
	const char *token;
	const char *origin; /* "https://example.org"; "" = none */
	/* Is this the session of a login? */
	bool (*is_session)(const char *session, void *arg);
	void *arg;
};

/* 200: *ret_path is set. Otherwise the status to refuse it with: 421 (not our
 * Host), 405, 400 (a GET with a body), 404, 401 (no token, or a wrong one), 403
 * (from another origin), 415 (no JSON). */
int web_decide(const struct http_head *request, const struct web_rules *rules,
    enum web_path *ret_path);

/* May the page listen on that address, with this web.origin? -EPERM: others
 * could read along; the message says what to type. */
int web_may_listen(const char *address, const char *origin, struct err *err);

/* Is it an https origin without a path, such as https://example.org? */
bool web_origin_valid(const char *origin);

/* The Host is 127.0.0.1:PORT or localhost:PORT, and there is one; without the
 * port if that is 80. */
bool web_host_allowed(const struct http_head *request, unsigned port);

/* 64 hexadecimal characters? */
bool web_token_valid(const char *token);
/* In a time that does not depend on what is different. */
bool web_token_equal(const char *given, const char *token);

/* The next NAME=VALUE of a query, decoded; *query moves behind it. 1: there is
 * one; 0: none is left; -EINVAL: it is none, or it is not UTF-8 text. */
int
web_query_next(const char **query, struct buf *ret_name, struct buf *ret_value);

/* The type of what is at a path; NULL = nothing is. */
const char *web_path_type(enum web_path path);

/* The head of an answer, with its empty line. */
void
web_add_head(struct buf *out, int status, const struct web_content *content);

/* What the body of a refusal says: a sentence with a newline. */
const char *web_words(int status);

/* --- requests of ours, by curl --------------------------------------- */

/*
 * One HTTP request as a config file for curl, which gets it on its standard
 * input: nothing of it shows in a list of processes, and no value can become an
 * option of its own. And what curl prints about the answer (--include). Pure.
 */

#define CURL_MAX_SECONDS     30
#define CURL_CONNECT_SECONDS 10
#define CURL_ANSWER_MAX      (4 * 1024 * 1024) /* bytes */
#define CURL_TAIL_MAX        (64 * 1024)

struct http_request {
	const char *method;
	const char *url;
	const char *authorization; /* the value of the header; NULL = none */
	const char *accept; /* NULL = application/json */
	const char *known; /* the tag of the answer that is known; NULL =
			    * none */
	const char *event_id;
	const char *body_file; /* JSON; NULL = none */
	bool tail; /* of a long answer its end will do: CURL_TAIL_MAX bytes */
};

void curl_config(const struct http_request *request, struct buf *out);

#define HTTP_TAG_SIZE 128

struct http_answer {
	int status;
	int64_t retry_after_s; /* -1 = not said */
	int64_t reset_unix; /* when a limit that is used up ends; 0 = not
			     * said */
	char tag[HTTP_TAG_SIZE]; /* of the answer; "" = none */
	const char *location; /* where it is instead; in the bytes, NULL = not
			       * said */
	size_t location_len;
	const char *body; /* in the bytes that were given */
	size_t body_len;
};

/* Headers and body. -EBADMSG: not an answer. */
int http_answer_parse(
    const char *bytes, size_t len, struct http_answer *ret_answer);

#endif
