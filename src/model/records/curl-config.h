/* SPDX-License-Identifier: ISC */

/*
 * One HTTP request as a config file for curl, which gets it on its standard
 * input: nothing of it shows in a list of processes, and no value can become an
 * option of its own. And what curl prints about the answer (--include). Pure.
 */
#ifndef CURL_CONFIG_H
#define CURL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

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
