/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "proxy-request.h"

static int
parse(const char *text, struct proxy_request *ret)
{
	struct err err = { 0, "" };
	int r = proxy_request_parse(text, strlen(text), ret, &err);

	ck_assert((r < 0) == (err.msg[0] != '\0'));
	return r;
}

static enum proxy_verdict
ask(const char *const *rules, const char *authority)
{
	cleanup_free char *text =
	    xasprintf("CONNECT %s HTTP/1.1\r\n\r\n", authority);
	struct proxy_request request;

	ck_assert_msg(parse(text, &request) == 1, "%s", authority);
	return proxy_rules_ask(rules, &request.target);
}

TEST(a_tunnel_names_its_host_and_port)
{
	static const char text[] =
	    "CONNECT Api.Anthropic.COM.:443 HTTP/1.1\r\n"
	    "Host: api.anthropic.com:443\r\nProxy-Connection: k\r\n\r\nmore";
	struct proxy_request request;

	ck_assert_int_eq(parse(text, &request), 1);
	ck_assert(request.tunnel);
	ck_assert_str_eq(request.target.host, "api.anthropic.com");
	ck_assert_uint_eq(request.target.port, 443);
	ck_assert(!request.target.literal);
	ck_assert_uint_eq(request.head_len, sizeof text - 1 - 4);
}

TEST(every_beginning_of_a_head_asks_for_more)
{
	static const char text[] =
	    "CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n";
	struct proxy_request request;
	struct err err = { 0, "" };

	for (size_t len = 0; len < sizeof text - 1; len++)
		ck_assert_int_eq(
		    proxy_request_parse(text, len, &request, &err), 0);
	ck_assert_int_eq(
	    proxy_request_parse(text, sizeof text - 1, &request, &err), 1);
}

TEST(a_head_without_end_is_refused_at_its_bound)
{
	cleanup_free char *text = xcalloc(1, PROXY_HEAD_MAX + 1);
	struct proxy_request request;
	struct err err = { 0, "" };

	memset(text, 'a', PROXY_HEAD_MAX);
	ck_assert_int_eq(
	    proxy_request_parse(text, PROXY_HEAD_MAX - 1, &request, &err), 0);
	ck_assert_int_eq(
	    proxy_request_parse(text, PROXY_HEAD_MAX, &request, &err), -EINVAL);
}

TEST(a_plain_request_is_rewritten_for_its_server)
{
	static const char text[] =
	    "GET HTTP://Name.example:8080/a?b HTTP/1.1\r\n"
	    "Host: other.example\r\nProxy-Authorization: x\r\n"
	    "connection: keep-alive\r\nAccept: */*\r\n\r\n";
	cleanup_buf struct buf out = BUF_INIT;
	struct proxy_request request;

	ck_assert_int_eq(parse(text, &request), 1);
	ck_assert(!request.tunnel);
	ck_assert_str_eq(request.target.host, "name.example");
	ck_assert_uint_eq(request.target.port, 8080);
	proxy_request_forward(&request, text, &out);
	ck_assert_str_eq(out.data,
	    "GET /a?b HTTP/1.1\r\nHost: Name.example:8080\r\n"
	    "Connection: close\r\nAccept: */*\r\n\r\n");
	ck_assert_int_eq(
	    parse("GET http://a.example?x HTTP/1.0\r\n\r\n", &request), 1);
	ck_assert_uint_eq(request.target.port, 80);
	buf_clear(&out);
	proxy_request_forward(
	    &request, "GET http://a.example?x HTTP/1.0\r\n\r\n", &out);
	ck_assert(strncmp(out.data, "GET /?x HTTP/1.1\r\n", 18) == 0);
}

static const char *const wrong[] = {
	"CONNECT a.example HTTP/1.1\r\n\r\n",
	"CONNECT a.example:0 HTTP/1.1\r\n\r\n",
	"CONNECT a.example:65536 HTTP/1.1\r\n\r\n",
	"CONNECT a.example:0443 HTTP/1.1\r\n\r\n",
	"CONNECT a.example:+443 HTTP/1.1\r\n\r\n",
	"CONNECT :443 HTTP/1.1\r\n\r\n",
	"CONNECT .:443 HTTP/1.1\r\n\r\n",
	"CONNECT a..b:443 HTTP/1.1\r\n\r\n",
	"CONNECT -a.example:443 HTTP/1.1\r\n\r\n",
	"CONNECT a-.example:443 HTTP/1.1\r\n\r\n",
	"CONNECT a.example/x:443 HTTP/1.1\r\n\r\n",
	"CONNECT u@a.example:443 HTTP/1.1\r\n\r\n",
	"CONNECT a%2eexample:443 HTTP/1.1\r\n\r\n",
	"CONNECT a\tb:443 HTTP/1.1\r\n\r\n",
	"CONNECT caf\303\251.example:443 HTTP/1.1\r\n\r\n",
	"CONNECT 127.1:443 HTTP/1.1\r\n\r\n",
	"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n",
	"CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n",
	"CONNECT 0177.0.0.1:443 HTTP/1.1\r\n\r\n",
	"CONNECT a.0x1:443 HTTP/1.1\r\n\r\n",
	"CONNECT ::1:443 HTTP/1.1\r\n\r\n",
	"CONNECT [::1:443 HTTP/1.1\r\n\r\n",
	"CONNECT [::1%lo]:443 HTTP/1.1\r\n\r\n",
	"CONNECT [127.0.0.1]:443 HTTP/1.1\r\n\r\n",
	"CONNECT  a.example:443 HTTP/1.1\r\n\r\n",
	"CONNECT a.example:443 HTTP/2.0\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1 \r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\r\n folded: x\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\r\nno colon\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\nHost: a\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\r\nA: b\nB: c\r\n\r\n",
	"CONNECT a.example:443 HTTP/1.1\r\nA: b\x01\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
	"GET https://a.example/ HTTP/1.1\r\n\r\n",
	"GET http://u:p@a.example/ HTTP/1.1\r\n\r\n",
	"GET http:///x HTTP/1.1\r\n\r\n",
	"GET ftp://a.example/ HTTP/1.1\r\n\r\n",
	"\r\n\r\n",
	"\x16\x03\x01\r\n\r\n",
};

TEST_ROWS(what_could_be_misread_is_refused, nitems(wrong))
{
	struct proxy_request request;

	ck_assert_msg(
	    parse(wrong[_i], &request) == -EINVAL, "taken: %s", wrong[_i]);
}

TEST(rules_allow_a_name_at_its_port_and_nothing_else)
{
	static const char *const rules[] = { "api.example", "Two.example:8443",
		"127.0.0.1:8080", "[::1]:80", NULL };

	ck_assert_int_eq(ask(rules, "API.example:443"), PROXY_NAMED);
	ck_assert_int_eq(ask(rules, "api.example.:443"), PROXY_NAMED);
	ck_assert_int_eq(ask(rules, "api.example:80"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "x.api.example:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "xapi.example:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "two.example:8443"), PROXY_NAMED);
	ck_assert_int_eq(ask(rules, "two.example:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "127.0.0.1:8080"), PROXY_NAMED);
	ck_assert_int_eq(ask(rules, "127.0.0.2:8080"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "localhost:8080"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "[0:0::1]:80"), PROXY_NAMED);
	ck_assert_int_eq(ask(rules, "[::ffff:127.0.0.1]:8080"), PROXY_REFUSED);
	ck_assert_int_eq(ask(NULL, "api.example:443"), PROXY_REFUSED);
}

TEST(a_star_means_the_names_below_and_no_address)
{
	static const char *const rules[] = { "*.example.org", "*.b.example:80",
		"x.b.example:80", NULL };

	ck_assert_int_eq(ask(rules, "a.example.org:443"), PROXY_BELOW);
	ck_assert_int_eq(ask(rules, "a.b.example.org:443"), PROXY_BELOW);
	ck_assert_int_eq(ask(rules, "example.org:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "aexample.org:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "another-example.org:443"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "a.example.org:80"), PROXY_REFUSED);
	ck_assert_int_eq(ask(rules, "y.b.example:80"), PROXY_BELOW);
	ck_assert_int_eq(ask(rules, "x.b.example:80"), PROXY_NAMED);
}

TEST(rules_that_are_not_valid_allow_nothing)
{
	static const char *const bad[] = { "", "*", "*.", "*.1.2.3.4",
		"http://a.example", "a.example/x", "a.*.example", "a:0" };
	static const char *const hosts[] = { "a.example:443", "a:443",
		"1.2.3.4:443", "a.b.example:443" };

	for (size_t i = 0; i < nitems(bad); i++)
		for (size_t k = 0; k < nitems(hosts); k++)
			ck_assert_int_eq(
			    ask((const char *const[]){ bad[i], NULL },
				hosts[k]),
			    PROXY_REFUSED);
}

TEST(the_api_is_allowed_by_default_and_its_gateway_always)
{
	static const char *const hosts[] = { "a.example", NULL };
	static const struct {
		const char *url, *rule;
	} rows[] = {
		{ "http://127.0.0.1:8099", "127.0.0.1:8099" },
		{ "https://gate.example/v1?x", "gate.example:443" },
		{ "http://u:p@Gate.example/", "gate.example:80" },
		{ "http://[::1]:99/", "[::1]:99" },
		{ "gate.example", NULL },
		{ "http://", NULL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_strv char **rules =
		    proxy_rules_effective(NULL, rows[i].url);

		ck_assert_str_eq(rules[0], PROXY_API_HOST);
		ck_assert_uint_eq(
		    strv_count(rules), rows[i].rule != NULL ? 2 : 1);
		if (rows[i].rule != NULL)
			ck_assert_str_eq(rules[1], rows[i].rule);
	}
	{
		cleanup_strv char **rules =
		    proxy_rules_effective(hosts, "http://gate.example");

		ck_assert_uint_eq(strv_count(rules), 2);
		ck_assert_str_eq(rules[0], "a.example");
		ck_assert_str_eq(rules[1], "gate.example:80");
	}
}

/* --- addresses ------------------------------------------------------- */

static const struct {
	const char *address;
	const char *kind; /* NULL: of the internet */
} rows[] = {
	{ "0.0.0.0", "a reserved address" },
	{ "0.1.2.3", "a reserved address" },
	{ "1.0.0.0", NULL },
	{ "9.255.255.255", NULL },
	{ "10.0.0.0", "a private address" },
	{ "10.255.255.255", "a private address" },
	{ "11.0.0.0", NULL },
	{ "100.63.255.255", NULL },
	{ "100.64.0.0", "a private address" },
	{ "100.127.255.255", "a private address" },
	{ "100.128.0.0", NULL },
	{ "127.0.0.1", "a loopback address" },
	{ "127.255.255.254", "a loopback address" },
	{ "128.0.0.1", NULL },
	{ "169.253.255.255", NULL },
	{ "169.254.169.254", "a link-local address" },
	{ "169.255.0.0", NULL },
	{ "172.15.255.255", NULL },
	{ "172.16.0.1", "a private address" },
	{ "172.31.255.255", "a private address" },
	{ "172.32.0.0", NULL },
	{ "192.0.0.8", "a reserved address" },
	{ "192.0.2.1", NULL },
	{ "192.167.255.255", NULL },
	{ "192.168.1.1", "a private address" },
	{ "192.169.0.0", NULL },
	{ "198.17.255.255", NULL },
	{ "198.19.0.1", "a private address" },
	{ "198.20.0.0", NULL },
	{ "223.255.255.255", NULL },
	{ "224.0.0.1", "a multicast address" },
	{ "239.1.2.3", "a multicast address" },
	{ "240.0.0.1", "a reserved address" },
	{ "255.255.255.255", "a reserved address" },
	{ "::", "a reserved address" },
	{ "::1", "a loopback address" },
	{ "::2", "a reserved address" }, /* 0.0.0.2 */
	{ "fc00::1", "a private address" },
	{ "fd00:ec2::254", "a private address" },
	{ "fe00::1", NULL },
	{ "fe80::1", "a link-local address" },
	{ "febf::1", "a link-local address" },
	{ "fec0::1", "a private address" },
	{ "ff02::1", "a multicast address" },
	{ "2001:db8::1", NULL },
	{ "2606:4700::1", NULL },
	{ "::ffff:127.0.0.1", "a loopback address" },
	{ "::ffff:10.1.2.3", "a private address" },
	{ "::ffff:169.254.169.254", "a link-local address" },
	{ "::ffff:192.0.2.1", NULL },
	{ "::127.0.0.1", "a loopback address" },
	{ "64:ff9b::7f00:1", "a loopback address" },
	{ "64:ff9b::c000:201", NULL },
	{ "64:ff9b:1::1", "a private address" },
	{ "2002:7f00:1::1", "a loopback address" },
	{ "2002:a00:1::", "a private address" },
	{ "2002:c000:201::1", NULL },
	{ "127.1", "no address" },
	{ "x", "no address" },
	{ "", "no address" },
};

/* A name below a star leads to the internet; one that a rule names leads where
 * it likes; one that is refused leads nowhere. */
TEST_ROWS(an_address_is_of_its_kind, nitems(rows))
{
	const char *kind = proxy_address_kind(rows[_i].address);

	ck_assert_pstr_eq(kind, rows[_i].kind);
	ck_assert(proxy_address_allowed(rows[_i].address, PROXY_BELOW) ==
	    (rows[_i].kind == NULL));
	ck_assert(proxy_address_allowed(rows[_i].address, PROXY_NAMED));
	ck_assert(!proxy_address_allowed(rows[_i].address, PROXY_REFUSED));
}
