/* SPDX-License-Identifier: ISC */

/* A head is read in the same way however it is cut, within its bound; what is
 * taken is printable, and only one Host, ours, gets an answer. */

#include "fuzz.h"
#include "http-request.h"

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
check_taken(const struct http_head *request)
{
	enum web_path path;
	int status = web_decide(request, 8080, TOKEN, &path);

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
		    strcmp(request->host, "localhost:8080") != 0)))
		abort();
	if (status == 200 && path >= WEB_VIEW &&
	    strcmp(request->bearer, TOKEN) != 0)
		abort();
	if (status == 200 && request->method == HTTP_OTHER)
		abort();
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
