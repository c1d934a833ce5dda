/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "http-request.h"

#define PORT  8080
#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdee"

/* What a request gets. */
static int
ask(const char *text, enum web_path *ret_path)
{
	struct http_reader reader;
	int status;

	http_reader_init(&reader);
	status = http_reader_feed(&reader, text, strlen(text));
	ck_assert_msg(status == 200, "%d: %s", status, text);
	status = web_decide(&reader.request,
	    &(struct web_rules){ .port = PORT, .token = TOKEN, .origin = "" },
	    ret_path);
	http_reader_release(&reader);
	return status;
}

static const struct {
	const char *fields;
	int status;
} hosts[] = {
	{ "Host: 127.0.0.1:8080\r\n", 200 },
	{ "Host: localhost:8080\r\n", 200 },
	/* Foreign names that lead here (rebinding), other ports, no port. */
	{ "Host: evil.example:8080\r\n", 421 },
	{ "Host: 127.0.0.1:8081\r\n", 421 },
	{ "Host: 127.0.0.1\r\n", 421 },
	{ "Host: localhost\r\n", 421 },
	{ "Host: LOCALHOST:8080\r\n", 421 },
	{ "Host: localhost.:8080\r\n", 421 },
	{ "Host: a.localhost:8080\r\n", 421 },
	{ "Host: 127.0.0.1:8080.evil.example\r\n", 421 },
	{ "Host: user@127.0.0.1:8080\r\n", 421 },
	{ "Host: 127.1:8080\r\n", 421 },
	{ "Host: [::1]:8080\r\n", 421 },
	{ "Host: 0.0.0.0:8080\r\n", 421 },
	{ "Host: 127.0.0.1:08080\r\n", 421 },
	{ "Host: 127.0.0.1:8080, evil.example\r\n", 421 },
	{ "Host:\r\n", 421 },
	{ "", 421 },
	{ "Host: 127.0.0.1:8080\r\nHost: 127.0.0.1:8080\r\n", 421 },
	{ "Host: 127.0.0.1:8080\r\nHost: evil.example\r\n", 421 },
	{ "Host: evil.example\r\nHost: 127.0.0.1:8080\r\n", 421 },
	/* Neither of them stands for the Host. */
	{ "Host: evil.example\r\nOrigin: http://127.0.0.1:8080\r\n", 421 },
	{ "X-Forwarded-Host: 127.0.0.1:8080\r\n", 421 },
};

TEST_ROWS(only_one_host_and_ours_is_answered, nitems(hosts))
{
	cleanup_free char *text =
	    xasprintf("GET / HTTP/1.1\r\n%s\r\n", hosts[_i].fields);
	enum web_path path;

	ck_assert_msg(
	    ask(text, &path) == hosts[_i].status, "%s", hosts[_i].fields);
}

TEST(a_browser_may_leave_out_port_80)
{
	struct http_head request = { .host_count = 1, .host = "localhost" };

	ck_assert(web_host_allowed(&request, 80));
	ck_assert(!web_host_allowed(&request, 8080));
	request.host_count = 2;
	ck_assert(!web_host_allowed(&request, 80));
}

TEST(a_foreign_host_is_refused_before_anything_else)
{
	static const char *const lines[] = { "POST /", "GET /nothing",
		"GET /view", "DELETE /view" };
	enum web_path path;

	for (size_t i = 0; i < nitems(lines); i++) {
		cleanup_free char *text =
		    xasprintf("%s HTTP/1.1\r\nHost: evil.example:8080\r\n"
			      "Authorization: Bearer " TOKEN "\r\n\r\n",
			lines[i]);

		ck_assert_msg(ask(text, &path) == 421, "%s", lines[i]);
	}
}

static const struct {
	const char *line;
	const char *token; /* NULL = none */
	int status;
	enum web_path path;
} requests[] = {
	{ "GET /", NULL, 200, WEB_INDEX },
	{ "HEAD /", NULL, 200, WEB_INDEX },
	{ "GET /page.css", NULL, 200, WEB_STYLE },
	{ "GET /page.js", NULL, 200, WEB_SCRIPT },
	{ "GET /desk.js", NULL, 200, WEB_DESK },
	{ "GET /favicon.ico", NULL, 200, WEB_ICON },
	{ "GET /view", TOKEN, 200, WEB_VIEW },
	{ "GET /metrics", TOKEN, 200, WEB_METRICS },
	{ "GET /report.json", TOKEN, 200, WEB_REPORT },
	{ "GET /api/review?worker=adam", TOKEN, 200, WEB_API },
	{ "GET /api/review", NULL, 401, 0 },
	{ "GET /api", TOKEN, 404, 0 },
	/* Data needs the token, whole and right. */
	{ "GET /view", NULL, 401, 0 },
	{ "HEAD /view", NULL, 401, 0 },
	{ "GET /metrics", NULL, 401, 0 },
	{ "GET /report.json", NULL, 401, 0 },
	{ "GET /view", OTHER, 401, 0 },
	{ "GET /view", "0123", 401, 0 },
	{ "GET /view", TOKEN "0", 401, 0 },
	/* A token in the address is none. */
	{ "GET /view?token=" TOKEN, NULL, 404, 0 },
	{ "GET /view?token=" TOKEN, TOKEN, 404, 0 },
	/* Paths are compared, not interpreted. */
	{ "GET /index.html", TOKEN, 404, 0 },
	{ "GET //view", TOKEN, 404, 0 },
	{ "GET /view/", TOKEN, 404, 0 },
	{ "GET /VIEW", TOKEN, 404, 0 },
	{ "GET /%76iew", TOKEN, 404, 0 },
	{ "GET /../view", TOKEN, 404, 0 },
	{ "GET /page.js/../../etc/passwd", TOKEN, 404, 0 },
	{ "GET /web.token", TOKEN, 404, 0 },
	/* Nothing changes anything, with the token either. */
	{ "GET /login", TOKEN, 404, 0 },
	{ "POST /login", TOKEN, 404, 0 },
	{ "POST /", TOKEN, 405, 0 },
	{ "POST /view", TOKEN, 405, 0 },
	{ "PUT /view", TOKEN, 405, 0 },
	{ "DELETE /view", TOKEN, 405, 0 },
	{ "OPTIONS /view", NULL, 405, 0 },
	{ "TRACE /", TOKEN, 405, 0 },
	{ "POST /nothing", NULL, 405, 0 },
};

TEST_ROWS(a_request_gets_what_its_path_and_token_allow, nitems(requests))
{
	cleanup_free char *token = requests[_i].token != NULL ?
	    xasprintf("Authorization: Bearer %s\r\n", requests[_i].token) :
	    xstrdup("");
	cleanup_free char *text =
	    xasprintf("%s HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n%s\r\n",
		requests[_i].line, token);
	enum web_path path = WEB_PATH_COUNT;

	ck_assert_msg(ask(text, &path) == requests[_i].status, "%s", text);
	ck_assert_int_eq(path,
	    requests[_i].status == 200 ? requests[_i].path : WEB_PATH_COUNT);
}

#define ADD       "POST /api/task.add HTTP/1.1\r\n"
#define JSON      "Content-Type: application/json\r\n"
#define BEARER    "Host: 127.0.0.1:8080\r\nAuthorization: Bearer " TOKEN "\r\n"
#define COOKIE    "Host: llmc.example\r\nCookie: a=b; __Host-llmc=" OTHER "\r\n"
#define HERE      BEARER JSON
#define ELSEWHERE COOKIE JSON
#define ORIGIN    "Origin: http://127.0.0.1:8080\r\n"
#define PUBLIC    "Origin: https://llmc.example\r\n"
#define LOGIN     "POST /login HTTP/1.1\r\n"
#define READ      "GET /api/charts HTTP/1.1\r\n"

/* With web.origin = https://llmc.example, where OTHER has logged in. */
static const struct {
	const char *head;
	int status;
} changes[] = {
	{ ADD HERE ORIGIN, 200 },
	{ ADD HERE ORIGIN "Sec-Fetch-Site: same-origin\r\n", 200 },
	{ ADD ELSEWHERE PUBLIC, 200 },
	{ READ ELSEWHERE, 200 },
	/* Another page of the browser, which has the token or the cookie. */
	{ ADD HERE, 403 },
	{ ADD HERE "Origin: null\r\n", 403 },
	{ ADD HERE "Origin: http://evil.example\r\n", 403 },
	{ ADD HERE "Origin: http://127.0.0.1:8081\r\n", 403 },
	{ ADD HERE "Origin: http://localhost:8080\r\n", 403 },
	{ ADD HERE "Origin: https://127.0.0.1:8080\r\n", 403 },
	{ ADD HERE PUBLIC, 403 },
	{ ADD ELSEWHERE ORIGIN, 403 },
	{ ADD ELSEWHERE "Origin: http://llmc.example\r\n", 403 },
	{ ADD HERE ORIGIN "Sec-Fetch-Site: cross-site\r\n", 403 },
	{ ADD HERE ORIGIN "Sec-Fetch-Site: same-site\r\n", 403 },
	{ READ ELSEWHERE "Sec-Fetch-Site: cross-site\r\n", 403 },
	/* What a form can send. */
	{ ADD BEARER ORIGIN "Content-Type: text/plain\r\n", 415 },
	{ ADD BEARER ORIGIN, 415 },
	/* Each address has its own way to log in. */
	{ ADD "Host: 127.0.0.1:8080\r\nCookie: __Host-llmc=" OTHER
	      "\r\n" ORIGIN JSON,
	    401 },
	{ ADD "Host: llmc.example\r\nAuthorization: Bearer " TOKEN
	      "\r\n" PUBLIC JSON,
	    401 },
	{ ADD "Host: llmc.example\r\nCookie: __Host-llmc=" TOKEN
	      "\r\n" PUBLIC JSON,
	    401 },
	{ ADD "Host: llmc.example\r\nCookie: llmc=" OTHER "\r\n" PUBLIC JSON,
	    401 },
	{ ADD "Host: llmc.example:443\r\n" PUBLIC, 421 },
	{ ADD "Host: evil.example\r\n" PUBLIC, 421 },
	/* A login needs no cookie, and the right page. */
	{ LOGIN "Host: llmc.example\r\n" PUBLIC JSON, 200 },
	{ LOGIN "Host: llmc.example\r\n" ORIGIN JSON, 403 },
	{ LOGIN "Host: 127.0.0.1:8080\r\n" ORIGIN JSON, 404 },
};

static bool
is_session(const char *session, void *arg)
{
	(void)arg;
	return web_token_equal(session, OTHER);
}

TEST_ROWS(a_change_comes_from_our_own_page_only, nitems(changes))
{
	const struct web_rules rules = { .port = PORT,
		.token = TOKEN,
		.origin = "https://llmc.example",
		.is_session = is_session };
	cleanup_free char *text = xasprintf("%s\r\n", changes[_i].head);
	struct http_reader reader;
	enum web_path path;

	http_reader_init(&reader);
	ck_assert_int_eq(http_reader_feed(&reader, text, strlen(text)), 200);
	ck_assert_msg(
	    web_decide(&reader.request, &rules, &path) == changes[_i].status,
	    "%s", text);
	http_reader_release(&reader);
}

TEST(an_origin_is_of_https_and_has_no_path)
{
	static const char *const good[] = { "https://llmc.example",
		"https://box.tail1234.ts.net:8443", "https://[fd00::1]" };
	static const char *const bad[] = { "", "https://", "llmc.example",
		"http://llmc.example", "https://llmc.example/",
		"https://llmc.example/x", "https://u@llmc.example",
		"https://LLMC.example", "https://llmc example" };

	for (size_t i = 0; i < nitems(good); i++)
		ck_assert_msg(web_origin_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < nitems(bad); i++)
		ck_assert_msg(!web_origin_valid(bad[i]), "%s", bad[i]);
}

TEST(the_cookie_of_a_login_is_for_this_page_alone)
{
	const struct web_content content = { .type = "application/json",
		.session = TOKEN };
	cleanup_buf struct buf head = BUF_INIT;

	web_add_head(&head, 200, &content);
	ck_assert_ptr_nonnull(strstr(
	    head.data, "\r\nSet-Cookie: __Host-llmc=" TOKEN "; Path=/;"));
	ck_assert_ptr_nonnull(
	    strstr(head.data, "; Secure; HttpOnly; SameSite=Strict\r\n"));
}

static const struct {
	const char *query, *taken; /* then ! if the rest is refused */
} queries[] = {
	{ "", "" },
	{ "worker=adam", "worker=adam;" },
	{ "a=1&b=&c=%2Fx%20y+z%3d%26", "a=1;b=;c=/x y z=&;" },
	{ "file=%c3%A4.c", "file=\xc3\xa4.c;" },
	{ "a=b=c", "a=b=c;" },
	{ "a=1&", "!" },
	{ "a", "!" },
	{ "=1", "!" },
	{ "a=1&&b=2", "a=1;!" },
	{ "a=%", "!" },
	{ "a=%4", "!" },
	{ "a=%zz", "!" },
	{ "a=%00", "!" },
	{ "a=%ff", "!" },
	{ "a=1&%c3=2", "a=1;!" },
};

TEST_ROWS(a_query_is_text_or_refused, nitems(queries))
{
	const char *query = queries[_i].query;
	cleanup_buf struct buf name = BUF_INIT, value = BUF_INIT;
	cleanup_buf struct buf taken = BUF_INIT;
	int r;

	while ((r = web_query_next(&query, &name, &value)) == 1)
		buf_addf(&taken, "%s=%s;", name.data, value.data);
	if (r < 0)
		buf_addc(&taken, '!');
	ck_assert_str_eq(taken.data, queries[_i].taken);
}

TEST(a_get_with_a_body_is_refused)
{
	enum web_path path;

	ck_assert_int_eq(ask("GET / HTTP/1.1\r\nHost: localhost:8080\r\n"
			     "Content-Length: 3\r\n\r\n",
			     &path),
	    400);
}

TEST(a_token_is_64_hexadecimal_characters)
{
	ck_assert(web_token_valid(TOKEN));
	ck_assert(!web_token_valid(""));
	ck_assert(!web_token_valid(TOKEN "0"));
	ck_assert(!web_token_valid("0123"));
	ck_assert(!web_token_valid("0123456789ABCDEF0123456789ABCDEF"
				   "0123456789ABCDEF0123456789ABCDEF"));
}

TEST(tokens_are_equal_in_every_character_or_not_at_all)
{
	char given[WEB_TOKEN_CHARS + 1];

	ck_assert(web_token_equal(TOKEN, TOKEN));
	for (size_t i = 0; i < WEB_TOKEN_CHARS; i++) {
		memcpy(given, TOKEN, sizeof given);
		given[i] = given[i] == '0' ? '1' : '0';
		ck_assert(!web_token_equal(given, TOKEN));
	}
	/* A token that could not be made lets nobody in. */
	ck_assert(!web_token_equal("", ""));
}

TEST(every_answer_has_the_fields_that_protect_it)
{
	static const char *const fields[] = {
		("\r\nContent-Security-Policy: default-src 'none'; "
		 "script-src 'self'; style-src 'self'; connect-src 'self'; "
		 "base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'\r\n"),
		"\r\nX-Content-Type-Options: nosniff\r\n",
		"\r\nReferrer-Policy: no-referrer\r\n",
		"\r\nCache-Control: no-store\r\n",
		"\r\nConnection: close\r\n",
	};
	static const char *const never[] = { "Set-Cookie", "Access-Control",
		"Server:" };
	static const int statuses[] = { 200, 204, 400, 401, 403, 404, 405, 408,
		409, 411, 413, 414, 415, 421, 431, 500, 503, 505 };
	const struct web_content content = { .type = "text/plain", .len = 3 };

	for (size_t i = 0; i < nitems(statuses); i++) {
		cleanup_free char *first =
		    xasprintf("HTTP/1.1 %d ", statuses[i]);
		cleanup_buf struct buf head = BUF_INIT;

		web_add_head(&head, statuses[i], &content);
		ck_assert_msg(
		    strncmp(head.data, first, strlen(first)) == 0, "%s", first);
		for (size_t j = 0; j < nitems(fields); j++)
			ck_assert_msg(strstr(head.data, fields[j]) != NULL,
			    "%d: %s", statuses[i], fields[j]);
		for (size_t j = 0; j < nitems(never); j++)
			ck_assert_ptr_null(strstr(head.data, never[j]));
		ck_assert_str_eq(head.data + head.len - 4, "\r\n\r\n");
		ck_assert(
		    statuses[i] < 400 || web_words(statuses[i])[0] != '\0');
	}
}

TEST(an_answer_says_what_its_body_is)
{
	const struct web_content zipped = {
		.type = "text/css", .len = 7, .gzip = true
	};
	const struct web_content stream = { .type = "text/event-stream",
		.endless = true };
	const struct web_content nothing = { 0 };
	cleanup_buf struct buf head = BUF_INIT;

	web_add_head(&head, 200, &zipped);
	ck_assert_ptr_nonnull(strstr(head.data, "Content-Type: text/css\r\n"));
	ck_assert_ptr_nonnull(strstr(head.data, "Content-Length: 7\r\n"));
	ck_assert_ptr_nonnull(strstr(head.data, "Content-Encoding: gzip\r\n"));
	buf_clear(&head);
	web_add_head(&head, 200, &stream);
	ck_assert_ptr_null(strstr(head.data, "Content-Length"));
	ck_assert_ptr_null(strstr(head.data, "Content-Encoding"));
	buf_clear(&head);
	web_add_head(&head, 204, &nothing);
	ck_assert_ptr_null(strstr(head.data, "Content-Type:"));
	buf_clear(&head);
	web_add_head(&head, 401, &nothing);
	ck_assert_ptr_nonnull(
	    strstr(head.data, "WWW-Authenticate: Bearer\r\n"));
}
