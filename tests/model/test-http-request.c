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

/* --- requests of ours ------------------------------------------------ */

TEST(no_value_becomes_an_option)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct http_request r = { .method = "POST",
		.url = "https://a/\"\noutput = \"/etc/x",
		.authorization = "Bearer x\r\nproxy = evil\\",
		.event_id = "id\nurl=b",
		.body_file = "/a b/\"c\\\nd\te" };

	curl_config(&r, &text);
	ck_assert_ptr_null(strstr(text.data, "\noutput"));
	ck_assert_ptr_null(strstr(text.data, "\nproxy"));
	ck_assert_ptr_null(strstr(text.data, "\nurl=b"));
	ck_assert_ptr_nonnull(
	    strstr(text.data, "url = \"https://a/\\\"output = \\\"/etc/x\"\n"));
	ck_assert_ptr_nonnull(strstr(text.data,
	    "header = \"Authorization: Bearer xproxy = evil\\\\\"\n"));
	ck_assert_ptr_nonnull(
	    strstr(text.data, "data-binary = \"@/a b/\\\"c\\\\\\nd\\te\"\n"));
	ck_assert_ptr_nonnull(strstr(text.data, "proto = \"=http,https\"\n"));
}

TEST(a_request_without_a_body_names_no_file)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct http_request r = { .method = "GET", .url = "https://a" };

	curl_config(&r, &text);
	ck_assert_ptr_null(strstr(text.data, "data"));
	ck_assert_ptr_null(strstr(text.data, "Authorization"));
}

TEST(tags_and_limits_are_read)
{
	static const char text[] =
	    "HTTP/2 403\r\netag: W/\"abc\"\r\nx-ratelimit-remaining: 0\r\n"
	    "x-ratelimit-reset: 1700000000\r\n\r\n";
	static const char left[] = "HTTP/2 200\r\nx-ratelimit-remaining: 5\r\n"
				   "x-ratelimit-reset: 1700000000\r\n\r\n";
	struct http_answer answer;
	cleanup_buf struct buf config = BUF_INIT;

	ck_assert_int_eq(http_answer_parse(text, strlen(text), &answer), 0);
	ck_assert_str_eq(answer.tag, "W/\"abc\"");
	ck_assert_int_eq(answer.reset_unix, 1700000000);
	curl_config(
	    &(struct http_request){
		.method = "GET", .url = "https://a", .known = answer.tag },
	    &config);
	ck_assert_ptr_nonnull(
	    strstr(config.data, "header = \"If-None-Match: W/\\\"abc\\\"\"\n"));
	ck_assert_int_eq(http_answer_parse(left, strlen(left), &answer), 0);
	ck_assert_int_eq(answer.reset_unix, 0);
	ck_assert_str_eq(answer.tag, "");
}

static const struct {
	const char *text;
	int status;
	int64_t retry;
	const char *body;
} rows[] = {
	{ "HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}", 200, -1, "{}" },
	{ "HTTP/2 204\r\n\r\n", 204, -1, "" },
	{ "HTTP/1.1 429 Too Many\r\nretry-after:  17\r\n\r\nx\n\ny", 429, 17,
	    "x\n\ny" },
	{ "HTTP/1.1 503 X\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 "
	  "GMT\r\n\r\n",
	    503, -1, "" },
	{ "HTTP/1.1 429 X\r\nRetry-After: 99999999999999999999999\r\n\r\n", 429,
	    604800, "" },
	{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\r\nb", 201, -1,
	    "b" },
	{ "HTTP/1.1 200", 200, -1, "" },
	{ "", 0, 0, NULL },
	{ "garbage", 0, 0, NULL },
	{ "HTTP/1.1 abc\r\n\r\n", 0, 0, NULL },
	{ "HTTP/1.1 2000 OK\r\n\r\n", 0, 0, NULL },
};

TEST_ROWS(answers_are_read, nitems(rows))
{
	struct http_answer answer;
	int r =
	    http_answer_parse(rows[_i].text, strlen(rows[_i].text), &answer);

	if (rows[_i].status == 0) {
		ck_assert_int_eq(r, -EBADMSG);
		return;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(answer.status, rows[_i].status);
	ck_assert_int_eq(answer.retry_after_s, rows[_i].retry);
	ck_assert_uint_eq(answer.body_len, strlen(rows[_i].body));
	ck_assert_mem_eq(answer.body, rows[_i].body, answer.body_len);
}
