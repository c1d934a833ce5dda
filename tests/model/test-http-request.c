/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "http-request.h"

/* A text with NULs in it. */
struct bytes {
	const char *text;
	size_t len;
};
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

/* All at once, and byte by byte: the same. */
static int
parse(const char *text, size_t len, struct http_head *ret)
{
	struct http_reader whole, single;
	int status;

	http_reader_init(&whole);
	http_reader_init(&single);
	status = http_reader_feed(&whole, text, len);
	for (size_t i = 0; i < len; i++)
		http_reader_feed(&single, text + i, 1);
	ck_assert_int_eq(single.status, status);
	if (status == 200)
		ck_assert_mem_eq(
		    &single.request, &whole.request, sizeof single.request);
	*ret = whole.request;
	http_reader_release(&whole);
	http_reader_release(&single);
	return status;
}

static struct http_head
take(const char *text)
{
	struct http_head request;

	ck_assert_msg(
	    parse(text, strlen(text), &request) == 200, "refused: %s", text);
	return request;
}

TEST(a_request_is_taken_with_what_matters_of_it)
{
	struct http_head request =
	    take("GET /view HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
		 "User-Agent: x\r\nAccept-Encoding: br, gzip;q=1.0\r\n"
		 "authorization:  bearer abc  \r\nEmpty:\r\n"
		 "Content-Length: 0\r\n\r\nmore");

	ck_assert_int_eq(request.method, HTTP_GET);
	ck_assert_str_eq(request.target, "/view");
	ck_assert_uint_eq(request.host_count, 1);
	ck_assert_str_eq(request.host, "127.0.0.1:8080");
	ck_assert_str_eq(request.bearer, "abc");
	ck_assert(request.gzip);
	ck_assert(!request.body);
}

TEST(methods_are_told_apart_by_case)
{
	ck_assert_int_eq(take("HEAD / HTTP/1.0\r\n\r\n").method, HTTP_HEAD);
	ck_assert_int_eq(take("POST / HTTP/1.1\r\n\r\n").method, HTTP_POST);
	ck_assert_int_eq(take("PUT / HTTP/1.1\r\n\r\n").method, HTTP_OTHER);
	ck_assert_int_eq(take("get / HTTP/1.1\r\n\r\n").method, HTTP_OTHER);
	ck_assert_int_eq(take("GETX / HTTP/1.1\r\n\r\n").method, HTTP_OTHER);
}

TEST(every_host_is_counted_and_the_first_is_kept)
{
	struct http_head request =
	    take("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n");

	ck_assert_uint_eq(request.host_count, 2);
	ck_assert_str_eq(request.host, "a");
	ck_assert_uint_eq(take("GET / HTTP/1.1\r\n\r\n").host_count, 0);
}

TEST(only_bearer_is_a_token)
{
	ck_assert_str_eq(
	    take("GET / HTTP/1.1\r\nAuthorization: Basic abc\r\n\r\n").bearer,
	    "");
	ck_assert_str_eq(
	    take("GET / HTTP/1.1\r\nAuthorization: Bearer\r\n\r\n").bearer, "");
	ck_assert_str_eq(
	    take("GET / HTTP/1.1\r\nAuthorization: abc\r\n\r\n").bearer, "");
	ck_assert_str_eq(
	    take("GET /?token=abc HTTP/1.1\r\nCookie: token=abc\r\n\r\n")
		.bearer,
	    "");
}

TEST(compression_is_used_only_where_it_is_asked_for)
{
	static const struct {
		const char *field;
		bool gzip;
	} rows[] = {
		{ "", false },
		{ "Accept-Encoding: identity\r\n", false },
		{ "Accept-Encoding: gzip\r\n", true },
		{ "Accept-Encoding: deflate , GZIP\r\n", true },
		{ "Accept-Encoding: gzip;q=0\r\n", false },
		{ "Accept-Encoding: gzip; q=0.00\r\n", false },
		{ "Accept-Encoding: gzip;q=0.5\r\n", true },
		{ "Accept-Encoding: gzipped, x-gzip\r\n", false },
		{ "Accept-Encoding: ,,;\r\n", false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *text =
		    xasprintf("GET / HTTP/1.1\r\n%s\r\n", rows[i].field);

		ck_assert_msg(take(text).gzip == rows[i].gzip, "%s", text);
	}
}

TEST(a_body_is_noticed)
{
	ck_assert(take("GET / HTTP/1.1\r\nContent-Length: 005\r\n\r\n").body);
	ck_assert(
	    take("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").body);
	ck_assert_uint_eq(
	    take("POST / HTTP/1.1\r\nContent-Length: 0012\r\n\r\n").length, 12);
	ck_assert_uint_gt(
	    take(
		"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n"
		"\r\n")
		.length,
	    HTTP_BODY_MAX);
}

TEST(who_asks_is_said_once)
{
	static const char *const fields[] = { "Origin: http://x\r\n",
		"Sec-Fetch-Site: none\r\n",
		"Content-Type: application/json\r\n", "X-Llmc-Page: a\r\n",
		"X-Llmc-Request: a\r\n", "Content-Length: 1\r\n" };
	struct http_head request;

	for (size_t i = 0; i < nitems(fields); i++) {
		cleanup_free char *once =
		    xasprintf("POST / HTTP/1.1\r\n%s\r\n", fields[i]);
		cleanup_free char *twice = xasprintf(
		    "POST / HTTP/1.1\r\n%s%s\r\n", fields[i], fields[i]);

		take(once);
		ck_assert_msg(
		    parse(twice, strlen(twice), &request) == 400, "%s", twice);
	}
	request = take("POST / HTTP/1.1\r\norigin: http://x\r\n"
		       "Cookie: a=1; __Host-llmc=abc;b=2\r\n"
		       "Content-Type: Application/JSON; charset=utf-8\r\n"
		       "Sec-Fetch-Site: same-site\r\n\r\n");
	ck_assert_str_eq(request.origin, "http://x");
	ck_assert_str_eq(request.session, "abc");
	ck_assert(request.json && request.foreign);
}

TEST(what_is_too_long_for_a_field_is_cut_and_for_a_path_refused)
{
	cleanup_free char *text = xcalloc(1, HTTP_TARGET_SIZE + 1);
	cleanup_free char *head = NULL;
	struct http_head request;

	memset(text, 'a', HTTP_TARGET_SIZE);
	head = xasprintf("GET / HTTP/1.1\r\nHost: %s\r\n"
			 "Authorization: Bearer %s\r\n\r\n",
	    text, text);
	request = take(head);
	ck_assert_uint_eq(strlen(request.host), HTTP_HOST_SIZE - 1);
	ck_assert_uint_eq(strlen(request.bearer), HTTP_BEARER_SIZE - 1);
	free(head);
	head = xasprintf("GET /%s HTTP/1.1\r\n\r\n", text);
	ck_assert_int_eq(parse(head, strlen(head), &request), 414);
}

TEST(a_head_has_8_kilobytes_and_not_one_byte_more)
{
	static const char first[] = "GET / HTTP/1.1\r\nX: ";
	cleanup_free char *text = xcalloc(1, HTTP_HEAD_MAX + 2);
	struct http_head request;

	memset(text, 'a', HTTP_HEAD_MAX + 1);
	memcpy(text, first, sizeof first - 1);
	ck_assert_int_eq(parse(text, HTTP_HEAD_MAX, &request), 0);
	ck_assert_int_eq(parse(text, HTTP_HEAD_MAX + 1, &request), 431);
	memcpy(text + HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	ck_assert_int_eq(parse(text, HTTP_HEAD_MAX, &request), 200);
	memcpy(text + HTTP_HEAD_MAX - 4, "a\r\n\r\n", 5);
	ck_assert_int_eq(parse(text, HTTP_HEAD_MAX + 1, &request), 431);
}

TEST(a_request_that_is_refused_stays_refused)
{
	static const char rest[] = "GET / HTTP/1.1\r\n\r\n";
	struct http_reader reader;

	http_reader_init(&reader);
	ck_assert_int_eq(http_reader_feed(&reader, "\n", 1), 400);
	ck_assert_int_eq(http_reader_feed(&reader, rest, sizeof rest - 1), 400);
	http_reader_release(&reader);
}

static const struct bytes misread[] = {
	/* the line ends */
	BYTES("GET / HTTP/1.1\nHost: a\n\n"),
	BYTES("GET / HTTP/1.1\r\nHost: a\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\r\n\r\n"),
	BYTES("\r\nGET / HTTP/1.1\r\n\r\n"),
	/* control characters */
	BYTES("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\0evil\r\n\r\n"),
	BYTES("GET /\0 HTTP/1.1\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nHo\0st: a\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nX: \x1b[31m\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nX: a\x7f\r\n\r\n"),
	/* folded lines, names that are none */
	BYTES("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nHost: a\r\n\tb: c\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nHost\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\n: a\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nH\xc3\xb6st: a\r\n\r\n"),
	/* the request line */
	BYTES("GET /\r\n\r\n"),
	BYTES("GET  / HTTP/1.1\r\n\r\n"),
	BYTES("GET /  HTTP/1.1\r\n\r\n"),
	BYTES("GET\t/\tHTTP/1.1\r\n\r\n"),
	BYTES("GET / HTTP/1.1 \r\n\r\n"),
	BYTES("GET / http/1.1\r\n\r\n"),
	BYTES("GET / HTTP/11\r\n\r\n"),
	BYTES("G(T / HTTP/1.1\r\n\r\n"),
	BYTES(" / HTTP/1.1\r\n\r\n"),
	BYTES("GET * HTTP/1.1\r\n\r\n"),
	BYTES("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"),
	BYTES("GET page.js HTTP/1.1\r\n\r\n"),
	BYTES("GET /\xc3\xb6 HTTP/1.1\r\n\r\n"),
	BYTES("PRI * HTTP/2.0\r\n\r\n"),
	BYTES("\x16\x03\x01\x02"), /* TLS */
	/* fields that contradict each other */
	BYTES("GET / HTTP/1.1\r\nAuthorization: Bearer a\r\n"
	      "Authorization: Bearer b\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nContent-Length: 0\r\n"
	      "Content-Length: 5\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nContent-Length: +0\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
	BYTES("GET / HTTP/1.1\r\nContent-Length:\r\n\r\n"),
};

TEST_ROWS(what_could_be_misread_is_refused, nitems(misread))
{
	struct http_head request;

	ck_assert_int_eq(
	    parse(misread[_i].text, misread[_i].len, &request), 400);
}

TEST(another_version_is_named_as_such)
{
	static const char text[] = "GET / HTTP/2.0\r\n\r\n";
	struct http_head request;

	ck_assert_int_eq(parse(text, sizeof text - 1, &request), 505);
}
