/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "curl-config.h"

/* A week: more is nonsense, and days are what servers say at most. */
#define RETRY_MAX_S ((int64_t)7 * 24 * 60 * 60)

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
	    "max-time = %d\nconnect-timeout = %d\nmax-filesize = %d\n",
	    CURL_MAX_SECONDS, CURL_CONNECT_SECONDS, CURL_ANSWER_MAX);
	add_header(
	    out, "Accept", r->accept != NULL ? r->accept : "application/json");
	if (r->event_id != NULL)
		add_header(out, "Idempotency-Key", r->event_id);
	if (r->authorization != NULL)
		add_header(out, "Authorization", r->authorization);
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

	if (len < 5 || strncmp(line, "HTTP/", 5) != 0 || len < at + 3)
		return 0;
	for (size_t i = at; i < at + 3; i++)
		if (line[i] < '0' || line[i] > '9')
			return 0;
	if (len > at + 3 && line[at + 3] != ' ')
		return 0;
	return (line[at] - '0') * 100 + (line[at + 1] - '0') * 10 +
	    (line[at + 2] - '0');
}

/* Seconds; a date counts as not said. */
static int64_t
retry_of(const char *line, size_t len)
{
	static const char name[] = "retry-after:";
	size_t at = sizeof name - 1;
	int64_t seconds = 0;

	if (len <= at || strncasecmp(line, name, at) != 0)
		return -1;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	if (at == len)
		return -1;
	for (; at < len; at++) {
		if (line[at] < '0' || line[at] > '9')
			return -1;
		if (seconds < RETRY_MAX_S)
			seconds = seconds * 10 + (line[at] - '0');
	}
	return seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S;
}

int
http_answer_parse(const char *bytes, size_t len, struct http_answer *ret_answer)
{
	size_t at = 0, next, n;
	int status;
	int64_t retry;

	do {
		n = line_len(bytes + at, len - at, &next);
		status = status_of(bytes + at, n);
		if (status == 0)
			return -EBADMSG;
		retry = -1;
		do {
			int64_t said;

			at += next;
			n = line_len(bytes + at, len - at, &next);
			said = retry_of(bytes + at, n);
			if (said >= 0)
				retry = said;
		} while (n > 0);
		at += next;
	} while (status >= 100 && status < 200 && at < len);
	*ret_answer = (struct http_answer){ .status = status,
		.retry_after_s = retry,
		.body = bytes + at,
		.body_len = len - at };
	return 0;
}
