/* SPDX-License-Identifier: ISC */

/*
 * The head of an HTTP request, read as it comes in. Pure.
 *
 * The reader is strict, since anybody on the machine and every web page can
 * send bytes here: lines end with CR LF, no line is folded, there is no NUL or
 * other control character, and the target is a path. What could be read in two
 * ways is refused. Whether the request may be answered is for web-rules.h.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

#define HTTP_HEAD_MAX 8192 /* bytes, with the empty line at its end */

/* With the NUL. A longer target is refused; a longer host or token is cut,
 * which makes it equal to none of ours. */
#define HTTP_TARGET_SIZE 256
#define HTTP_HOST_SIZE   64
#define HTTP_BEARER_SIZE 128

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_OTHER,
};

struct http_head {
	enum http_method method;
	char target[HTTP_TARGET_SIZE];
	unsigned host_count;
	char host[HTTP_HOST_SIZE]; /* of the first Host */
	char bearer[HTTP_BEARER_SIZE]; /* token of Authorization, "" = none */
	bool gzip; /* an answer may be compressed */
	bool body; /* something follows the head */
};

struct http_reader {
	struct http_head request;
	struct buf line; /* the one that has begun */
	size_t taken; /* bytes of the head so far */
	int status; /* http_reader_feed(), once it is not 0 */
	bool begun; /* the request line was read */
	bool cr; /* the last byte was CR */
	bool authorized, sized; /* Authorization, Content-Length were there */
};

void http_reader_init(struct http_reader *reader);
void http_reader_release(struct http_reader *reader);

/* Read on. 0: more bytes are needed; 200: the head is complete, and request is
 * set; otherwise the status to answer with: 400, 414, 431 or 505. What follows
 * the head is ignored. */
int http_reader_feed(struct http_reader *reader, const char *bytes, size_t len);

#endif
