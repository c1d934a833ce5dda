/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "http-request.h"
#include "mem.h"
#include "web-rules.h"

static const struct {
	const char *path;
	const char *type;
	bool open; /* without a token: no secret is there */
} paths[WEB_PATH_COUNT] = {
	[WEB_INDEX] = { "/", "text/html; charset=utf-8", true },
	[WEB_STYLE] = { "/page.css", "text/css; charset=utf-8", true },
	[WEB_SCRIPT] = { "/page.js", "text/javascript; charset=utf-8", true },
	[WEB_ICON] = { "/favicon.ico", NULL, true },
	[WEB_VIEW] = { "/view", "text/event-stream", false },
	[WEB_METRICS] = { "/metrics",
	    "text/plain; version=0.0.4; charset=utf-8", false },
	[WEB_REPORT] = { "/report.json", "application/json", false },
};

/* Of every answer. There is no field that would let another origin in. */
static const char *const always[] = {
	("Content-Security-Policy: default-src 'none'; script-src 'self'; "
	 "style-src 'self'; connect-src 'self'; base-uri 'none'; "
	 "form-action 'none'; frame-ancestors 'none'"),
	"Cross-Origin-Resource-Policy: same-origin",
	"X-Content-Type-Options: nosniff",
	"Referrer-Policy: no-referrer",
	"Cache-Control: no-store",
	"Connection: close",
};

static const struct {
	int status;
	const char *reason;
	const char *field; /* one more; NULL = none */
	const char *words;
} answers[] = {
	{ 200, "OK", NULL, "" },
	{ 204, "No Content", NULL, "" },
	{ 400, "Bad Request", NULL, "This is not a request that is served.\n" },
	{ 401, "Unauthorized", "WWW-Authenticate: Bearer",
	    "This needs the token: open the address that llmc web prints.\n" },
	{ 404, "Not Found", NULL, "There is nothing here.\n" },
	{ 405, "Method Not Allowed", "Allow: GET, HEAD",
	    "Only GET and HEAD are served; to change something, use llmc.\n" },
	{ 408, "Request Timeout", NULL, "The request came too slowly.\n" },
	{ 414, "URI Too Long", NULL, "The path is too long.\n" },
	{ 421, "Misdirected Request", NULL,
	    "This is not the host that was asked for: open the address that "
	    "llmc web prints.\n" },
	{ 431, "Request Header Fields Too Large", NULL,
	    "The head of the request is too long.\n" },
	{ 503, "Service Unavailable", "Retry-After: 5",
	    "Too many pages are open: close one.\n" },
	{ 505, "HTTP Version Not Supported", NULL,
	    "Only HTTP/1.0 and HTTP/1.1 are served.\n" },
	/* The last one stands for what is not in the table. */
	{ 500, "Internal Server Error", NULL, "This failed; see llmc logs.\n" },
};

static size_t
answer_index(int status)
{
	size_t i;

	for (i = 0; i < nitems(answers) - 1; i++)
		if (answers[i].status == status)
			break;
	return i;
}

bool
web_host_allowed(const struct http_head *request, unsigned port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char host[HTTP_HOST_SIZE];

	for (size_t i = 0; i < nitems(names); i++) {
		snprintf(host, sizeof host, "%s:%u", names[i], port);
		/* Browsers leave out the usual port. */
		if (strcmp(request->host, host) == 0 ||
		    (port == 80 && strcmp(request->host, names[i]) == 0))
			return request->host_count == 1;
	}
	return false;
}

static bool
is_digit_of_token(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool
web_token_valid(const char *token)
{
	size_t len = 0;

	while (is_digit_of_token(token[len]))
		len++;
	return len == WEB_TOKEN_CHARS && token[len] == '\0';
}

bool
web_token_equal(const char *given, const char *token)
{
	volatile unsigned char differs = 0;

	if (!web_token_valid(token) || strlen(given) != WEB_TOKEN_CHARS)
		return false;
	for (size_t i = 0; i < WEB_TOKEN_CHARS; i++)
		differs |= (unsigned char)(given[i] ^ token[i]);
	return differs == 0;
}

int
web_decide(const struct http_head *request, unsigned port, const char *token,
    enum web_path *ret_path)
{
	size_t i;

	if (!web_host_allowed(request, port))
		return 421;
	if (request->method == HTTP_OTHER)
		return 405;
	if (request->body)
		return 400;
	for (i = 0; i < nitems(paths); i++)
		if (strcmp(request->target, paths[i].path) == 0)
			break;
	if (i == nitems(paths))
		return 404;
	if (!paths[i].open && !web_token_equal(request->bearer, token))
		return 401;
	*ret_path = (enum web_path)i;
	return 200;
}

const char *
web_path_type(enum web_path path)
{
	return paths[path].type;
}

const char *
web_words(int status)
{
	return answers[answer_index(status)].words;
}

void
web_add_head(struct buf *out, int status, const struct web_content *content)
{
	size_t row = answer_index(status);

	buf_addf(out, "HTTP/1.1 %d %s\r\n", answers[row].status,
	    answers[row].reason);
	if (answers[row].field != NULL)
		buf_addf(out, "%s\r\n", answers[row].field);
	for (size_t i = 0; i < nitems(always); i++)
		buf_addf(out, "%s\r\n", always[i]);
	if (content->type != NULL) {
		buf_addf(out, "Content-Type: %s\r\n", content->type);
		if (content->gzip)
			buf_adds(out, "Content-Encoding: gzip\r\n");
		if (!content->endless)
			buf_addf(out, "Content-Length: %zu\r\n", content->len);
	}
	buf_adds(out, "\r\n");
}
