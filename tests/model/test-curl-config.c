/* SPDX-License-Identifier: ISC */

#include "http-request.h"
#include "unit.h"

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
