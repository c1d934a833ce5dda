/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "curl-config.h"

/* A week: more is nonsense, and days are what servers say at most. */
#define RETRY_MAX_S ((int64_t)7 * 24 * 60 * 60)
#define UNIX_MAX    ((int64_t)1 << 40)

/* One line of the file. Inside quotes curl knows five escapes; any other
 * control character is dropped, since none belongs into a value. */
static void
add_option(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "%s = \"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c >= ' ' && c != 0x7f)
			buf_addc(out, (char)c);
	}
	buf_adds(out, "\"\n");
}

static void
add_header(struct buf *out, const char *name, const char *value)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "%s: %s", name, value);
	add_option(out, "header", line.data);
	buf_release(&line);
}

void
curl_config(const struct http_request *r, struct buf *out)
{
	const char *file;

	add_option(out, "url", r->url);
	add_option(out, "request", r->method);
	add_option(out, "proto", "=http,https");
	buf_addf(out,
	    "silent\nshow-error\ninclude\nsuppress-connect-headers\ngloboff\n"
	    "max-time = %d\nconnect-timeout = %d\n",
	    CURL_MAX_SECONDS, CURL_CONNECT_SECONDS);
	if (!r->tail)
		buf_addf(out, "max-filesize = %d\n", CURL_ANSWER_MAX);
	add_header(
	    out, "Accept", r->accept != NULL ? r->accept : "application/json");
	if (r->event_id != NULL)
		add_header(out, "Idempotency-Key", r->event_id);
	if (r->authorization != NULL)
		add_header(out, "Authorization", r->authorization);
	if (r->known != NULL)
		add_header(out, "If-None-Match", r->known);
	if (r->body_file == NULL)
		return;
	add_header(out, "Content-Type", "application/json");
	add_option(out, "header", "Expect:");
	/* A file name keeps its control characters: as the escapes of curl,
	 * or it cannot be said. */
	file = r->body_file;
	buf_adds(out, "data-binary = \"@");
	for (; *file != '\0'; file++) {
		if (*file == '"' || *file == '\\')
			buf_addf(out, "\\%c", *file);
		else if (*file == '\n')
			buf_adds(out, "\\n");
		else if (*file == '\r')
			buf_adds(out, "\\r");
		else if (*file == '\t')
			buf_adds(out, "\\t");
		else if (*file == '\v')
			buf_adds(out, "\\v");
		else
			buf_addc(out, *file);
	}
	buf_adds(out, "\"\n");
}

/* --- the answer ------------------------------------------------------- */

/* Length of the line at s, without its end; *ret_next: where the next one
 * begins. */
static size_t
line_len(const char *s, size_t len, size_t *ret_next)
{
	const char *end = memchr(s, '\n', len);
	size_t n = end != NULL ? (size_t)(end - s) : len;

	*ret_next = end != NULL ? n + 1 : len;
	return n > 0 && s[n - 1] == '\r' ? n - 1 : n;
}

/* "HTTP/1.1 200 OK", "HTTP/2 200": 0 = it is none. */
static int
status_of(const char *line, size_t len)
{
	const char *space = memchr(line, ' ', len);
	size_t at = space != NULL ? (size_t)(space - line) + 1 : len;

	if (len < 5 || !text_begins(line, "HTTP/") || len < at + 3)
		return 0;
	for (size_t i = at; i < at + 3; i++)
		if (line[i] < '0' || line[i] > '9')
			return 0;
	if (len > at + 3 && line[at + 3] != ' ')
		return 0;
	return (line[at] - '0') * 100 + (line[at + 1] - '0') * 10 +
	    (line[at + 2] - '0');
}

/* The value of this header, without blanks around it; NULL = it is another
 * one. */
static const char *
value_of(const char *line, size_t len, const char *name, size_t *ret_len)
{
	size_t at = strlen(name);

	if (len <= at || strncasecmp(line, name, at) != 0)
		return NULL;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	*ret_len = len - at;
	return line + at;
}

/* A number that is not above max; -1 = it is none. A date counts as none. */
static int64_t
number_of(const char *line, size_t len, const char *name, int64_t max)
{
	const char *value = value_of(line, len, name, &len);
	int64_t number = 0;

	if (value == NULL || len == 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9')
			return -1;
		if (number < max)
			number = number * 10 + (value[i] - '0');
	}
	return number < max ? number : max;
}

/* What a line of the head says. */
static void
read_header(const char *line, size_t len, struct http_answer *answer,
    int64_t *remaining)
{
	int64_t retry = number_of(line, len, "retry-after:", RETRY_MAX_S);
	int64_t reset = number_of(line, len, "x-ratelimit-reset:", UNIX_MAX);
	int64_t left = number_of(line, len, "x-ratelimit-remaining:", UNIX_MAX);
	size_t tag_len = 0, place_len = 0;
	const char *tag = value_of(line, len, "etag:", &tag_len);
	const char *place = value_of(line, len, "location:", &place_len);

	if (retry >= 0)
		answer->retry_after_s = retry;
	if (reset >= 0)
		answer->reset_unix = reset;
	if (left >= 0)
		*remaining = left;
	if (tag != NULL && tag_len < sizeof answer->tag)
		snprintf(
		    answer->tag, sizeof answer->tag, "%.*s", (int)tag_len, tag);
	if (place != NULL) {
		answer->location = place;
		answer->location_len = place_len;
	}
}

int
http_answer_parse(const char *bytes, size_t len, struct http_answer *ret_answer)
{
	struct http_answer answer;
	size_t at = 0, next, n;
	int64_t remaining;

	do {
		n = line_len(bytes + at, len - at, &next);
		remaining = -1;
		answer =
		    (struct http_answer){ .status = status_of(bytes + at, n),
			    .retry_after_s = -1 };
		if (answer.status == 0)
			return -EBADMSG;
		do {
			at += next;
			n = line_len(bytes + at, len - at, &next);
			read_header(bytes + at, n, &answer, &remaining);
		} while (n > 0);
		at += next;
	} while (answer.status >= 100 && answer.status < 200 && at < len);
	/* While something is left of it, a limit says nothing. */
	if (remaining != 0)
		answer.reset_unix = 0;
	answer.body = bytes + at;
	answer.body_len = len - at;
	*ret_answer = answer;
	return 0;
}
