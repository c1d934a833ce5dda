/* SPDX-License-Identifier: ISC */

/* A head is read in the same way however it is cut, within its bound; what is
 * taken is printable, and only one Host, ours, gets an answer. */

#include "fuzz.h"
#include "http-request.h"

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What is taken of a query is text, and there is an end. */
static void
check_query(const char *query)
{
	cleanup_buf struct buf name = BUF_INIT, value = BUF_INIT;
	const char *last = query;

	while (web_query_next(&query, &name, &value) == 1) {
		if (query <= last || name.len == 0 ||
		    strlen(name.data) != name.len ||
		    strlen(value.data) != value.len)
			abort();
		last = query;
	}
}

static bool
is_session(const char *session, void *arg)
{
	(void)arg;
	return strcmp(session, TOKEN) == 0;
}

static void
check_taken(const struct http_head *request)
{
	const struct web_rules rules = { .port = 8080,
		.token = TOKEN,
		.origin = "https://llmc.example",
		.is_session = is_session };
	enum web_path path;
	int status = web_decide(request, &rules, &path);

	if (request->target[0] != '/')
		abort();
	for (const char *p = request->target; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			abort();
	for (const char *p = request->host; *p != '\0'; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			abort();
	if (status != 421 &&
	    (request->host_count != 1 ||
		(strcmp(request->host, "127.0.0.1:8080") != 0 &&
		    strcmp(request->host, "localhost:8080") != 0 &&
		    strcmp(request->host, "llmc.example") != 0)))
		abort();
	if (status != 200)
		return;
	if (path >= WEB_VIEW && path != WEB_LOGIN &&
	    strcmp(strcmp(request->host, "llmc.example") == 0 ?
		    request->session :
		    request->bearer,
		TOKEN) != 0)
		abort();
	if (request->method == HTTP_OTHER ||
	    (request->method == HTTP_POST &&
		((path != WEB_API && path != WEB_LOGIN) || request->foreign ||
		    !request->json ||
		    strstr(request->origin, request->host) == NULL)))
		abort();
	check_query(request->target);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct http_reader whole, cut, single;
	size_t half = size / 2;
	int status;

	http_reader_init(&whole);
	http_reader_init(&cut);
	http_reader_init(&single);
	status = http_reader_feed(&whole, bytes, size);
	http_reader_feed(&cut, bytes, half);
	if (http_reader_feed(&cut, bytes + half, size - half) != status ||
	    memcmp(&cut.request, &whole.request, sizeof cut.request) != 0)
		abort();
	for (size_t i = 0; i < size; i++)
		http_reader_feed(&single, bytes + i, 1);
	if (single.status != status ||
	    memcmp(&single.request, &whole.request, sizeof single.request) != 0)
		abort();
	if ((status == 0 && size > HTTP_HEAD_MAX) ||
	    whole.taken > HTTP_HEAD_MAX + 1)
		abort();
	if (status != 0 && status != 200 && status != 400 && status != 414 &&
	    status != 431 && status != 505)
		abort();
	if (status == 200)
		check_taken(&whole.request);
	http_reader_release(&whole);
	http_reader_release(&cut);
	http_reader_release(&single);
	return 0;
}
