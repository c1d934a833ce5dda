/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "remedy-mask.h"

static void
assert_masked(const char *text, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT, again = BUF_INIT;

	buf_adds(&out, ">");
	remedy_mask(text, strlen(text), &out);
	ck_assert_str_eq(out.data + 1, wanted);
	/* Masking again changes nothing. */
	remedy_mask(wanted, strlen(wanted), &again);
	ck_assert_str_eq(again.data, wanted);
}

static void
assert_kept(const char *text)
{
	assert_masked(text, text);
}

TEST(keys_are_known_by_their_shape)
{
	assert_masked(
	    "sk-ant-api03-AbCdEfGhIjKlMnOp-_x9 used", "[masked] used");
	assert_masked(
	    "(ghp_16C7e42F292c6912E7710c838347Ae178B4a)", "([masked])");
	assert_masked("github_pat_11ABCDEFG0aBcDeFgHiJ_kLm.", "[masked].");
	assert_masked("id AKIAIOSFODNN7EXAMPLE,", "id [masked],");
	assert_masked("xoxb-123456789012-abc", "[masked]");
	assert_masked("glpat-abcdefghijklmnopqrst", "[masked]");
	assert_masked(
	    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_def", "[masked]");
	assert_masked("{\"m\":\"line\\nsk-aaaaaaaaaaaaaaaaaaaa\"}",
	    "{\"m\":\"line\\n[masked]\"}");
}

TEST(keys_of_services_are_known_by_their_shape)
{
	static const char *const keys[] = { "ya29.a0AfH6SMBx-aBcDeFg_hIjK",
		"GOCSPX-aBcDeFgHiJkLmNoPqRsT", "xapp-1-A0123-456-abcdef",
		"xoxe-1-My0xLjAxMjM0", "SG.aBcDeFgHiJkLmNoP.qRsTuVwXyZ-_0123",
		"glrt-abcdefghijklmnopqrst", "hvs.CAESIJabcdefghijkl",
		"dop_v1_0123456789abcdef01", "shpat_0123456789abcdef",
		"whsec_0123456789abcdef" };

	for (size_t i = 0; i < nitems(keys); i++)
		assert_masked(keys[i], "[masked]");
	assert_kept("SG.1 and ya29. and xapp-x");
}

TEST(passwords_of_netrc_are_masked)
{
	assert_masked("machine h.example login me password hunter2\nx",
	    "machine h.example login me password [masked]\nx");
	assert_masked("machine h\n\tlogin me\n\tpassword hunter2\n",
	    "machine h\n\tlogin me\n\tpassword [masked]\n");
	assert_masked("\"machine h\\nlogin me\\npassword hunter2\"",
	    "\"machine h\\nlogin me\\npassword [masked]\"");
	assert_masked("login me password hunter2 account x",
	    "login me password [masked] account x");
	assert_kept("machine h login me");
	assert_kept("machine h login me password");
	assert_kept("the login page; a machine; no password given");
}

TEST(passwords_after_curl_are_masked)
{
	assert_masked("curl -u me:hunter2 https://h/x",
	    "curl -u me:[masked] https://h/x");
	assert_masked("curl -sS --user 'me:hunter2' x",
	    "curl -sS --user 'me:[masked]' x");
	assert_masked("{\"c\":\"curl -u \\\"me:h\\\" x\"}",
	    "{\"c\":\"curl -u \\\"me:[masked]\\\" x\"}");
	assert_masked("curl -ume:hunter2 x", "curl -ume:[masked] x");
	assert_masked(
	    "curl --proxy-user=me:h:2", "curl --proxy-user=me:[masked]");
	assert_kept("docker run -u 1000:1000 image");
	assert_kept("curl x\ndocker run -u 1000:1000 image");
	assert_kept("curl -u me: x");
	assert_kept("curl -u me https://h:80/");
}

TEST(variables_are_known_by_the_end_of_their_name)
{
	assert_masked("STRIPE_KEY=abc", "STRIPE_KEY=[masked]");
	assert_masked("export GH_PAT='a b'", "export GH_PAT='[masked]'");
	assert_masked("{\"DB_PASS\":\"x\"}", "{\"DB_PASS\":\"[masked]\"}");
	assert_masked("MYSQL_PWD: x, AWS_CREDS=y",
	    "MYSQL_PWD: [masked], AWS_CREDS=[masked]");
	assert_kept("sort_key=name primary_key: id GH_PATH=/x PWD=/x");
	assert_kept("the _KEY=x, ONE_KEYBOARD=y");
}

TEST(what_only_begins_like_a_key_is_kept)
{
	assert_kept("task-aaaaaaaaaaaaaaaaaaaaaaaa and disk-usage");
	assert_kept("sk-learn is sk-");
	assert_kept("AKIA is a prefix, ghp_ too");
	assert_kept("c3c49918bf93888e9912ace4e6543002c3c49918");
	assert_kept("a3bb189e-8bf9-3888-9912-ace4e6543002");
}

TEST(bearer_tokens_are_masked)
{
	assert_masked("Bearer abc123def456", "Bearer [masked]");
	assert_masked(
	    "with bearer  a.b-c_d~e+f/g== ok", "with bearer  [masked] ok");
	assert_kept("a bearer of news");
	assert_kept("Bearer");
	assert_kept("forbearer abc123def456");
}

TEST(passwords_in_urls_are_masked)
{
	assert_masked("https://user:p%40ss@host/x?y=a@b",
	    "https://user:[masked]@host/x?y=a@b");
	assert_masked(
	    "postgres://u:p:w@d@db:5432/x", "postgres://u:[masked]@db:5432/x");
	assert_masked("https://0123456789abcdef0123@github.com/a/b",
	    "https://[masked]@github.com/a/b");
	assert_kept("ssh://git@github.com/a/b");
	assert_kept("https://host:8080/a@b and a@b.c:d");
	assert_kept("https://");
}

TEST(pem_blocks_are_masked_whole)
{
	assert_masked("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n"
		      "-----END RSA PRIVATE KEY-----\nb",
	    "a\n[masked]\nb");
	assert_masked(
	    "key-----BEGIN X-----\nMIIE\n-----END X-----", "key[masked]");
	assert_masked("{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END "
		      "PRIVATE KEY-----\\n\"}",
	    "{\"k\":\"[masked]\\n\"}");
}

TEST(pem_block_that_was_cut_off_is_masked_as_far_as_it_goes)
{
	assert_masked("-----BEGIN PRIVATE KEY-----\nMIIE+/x\nabc=\n\nhello",
	    "[masked]\n\nhello");
	assert_masked("-----BEGIN PRIVATE KEY-----\nMIIE\nin words: hello",
	    "[masked]\nin words: hello");
	assert_masked("-----BEGIN PRIVATE KEY-----", "[masked]");
	assert_masked("-----BEGIN X-----\nMIIE\n-----END X\nb", "[masked]\nb");
	assert_masked("-----BEGIN X-----\nMIIE\n-----END X", "[masked]");
}

TEST(values_are_known_by_the_name_before_them)
{
	assert_masked("password=hunter2 ok", "password=[masked] ok");
	assert_masked("DB_PASSWORD: hunter2", "DB_PASSWORD: [masked]");
	assert_masked("{\"api_key\": \"a b\\\"c\", \"x\": 1}",
	    "{\"api_key\": \"[masked]\", \"x\": 1}");
	assert_masked("authToken='abc def', x", "authToken='[masked]', x");
	assert_masked(
	    "client-secret => s3, next", "client-secret => [masked], next");
	assert_masked("x?access_token=abc&y=1", "x?access_token=[masked]&y=1");
	assert_masked(
	    "AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=[masked]");
	assert_masked("X-Api-Key: k", "X-Api-Key: [masked]");
	assert_masked("(passphrase=x)", "(passphrase=[masked])");
	assert_masked("token_2=abc", "token_2=[masked]");
	assert_masked("secret=\xe2\x82\xacx y", "secret=[masked] y");
}

TEST(values_in_quoted_json_are_masked)
{
	assert_masked("\"{\\\"token\\\":\\\"abc\\\",\\\"x\\\":1}\"",
	    "\"{\\\"token\\\":\\\"[masked]\\\",\\\"x\\\":1}\"");
	assert_masked("\"{\\\"pin_token\\\": abc\\\"",
	    "\"{\\\"pin_token\\\": [masked]\\\"");
}

TEST(headers_are_masked_to_the_end_of_the_line)
{
	assert_masked("Authorization: Basic dXNlcjpw\nHost: x",
	    "Authorization: [masked]\nHost: x");
	assert_masked("Set-Cookie: a=b; Path=/\r\nHost: x",
	    "Set-Cookie: [masked]\r\nHost: x");
	assert_masked("curl -H 'Authorization: token abc' x",
	    "curl -H 'Authorization: [masked]' x");
}

TEST(values_of_options_are_masked)
{
	assert_masked(
	    "run --password hunter2 --x y", "run --password [masked] --x y");
	assert_masked("run --api-key=abc x", "run --api-key=[masked] x");
	assert_kept("run --password --x y");
	assert_kept("run --password\nx");
}

TEST(unclosed_value_is_masked_to_the_end_of_the_line)
{
	assert_masked("password=\"hunter2\nnext", "password=\"[masked]\nnext");
	assert_masked("password='hunter2", "password='[masked]");
}

TEST(value_that_was_masked_in_part_is_masked_whole)
{
	assert_masked(
	    "token=sk-aaaaaaaaaaaaaaaaaaaa.rest x", "token=[masked] x");
	assert_masked("password=\"x sk-aaaaaaaaaaaaaaaaaaaa y\"",
	    "password=\"[masked]\"");
}

TEST(what_gives_nothing_away_is_kept)
{
	assert_kept("max_tokens: 4096, \"input_tokens\":12.5");
	assert_kept("\"token\": null, password=, secret=\"\"");
	assert_kept("token: true, password: false, secret: None");
	assert_kept("tokenizer: fast, secretary=ann");
	assert_kept("the password is wrong; no token given");
	assert_kept("Unexpected token: }");
	assert_masked("password=1234", "password=[masked]");
	assert_masked("tokenizer_token=x", "tokenizer_token=[masked]");
}

TEST(name_alone_says_whether_its_value_is_secret)
{
	ck_assert(remedy_mask_name("password"));
	ck_assert(remedy_mask_name("GH_TOKEN"));
	ck_assert(remedy_mask_name("apiKey"));
	ck_assert(!remedy_mask_name("sessionKey"));
	ck_assert(!remedy_mask_name("tokenizer"));
	ck_assert(!remedy_mask_name(""));
}

TEST(long_name_is_known_by_its_end)
{
	cleanup_buf struct buf text = BUF_INIT, wanted = BUF_INIT;

	for (int i = 0; i < 500; i++)
		buf_addc(&text, 'a');
	buf_adds(&text, "_password=");
	buf_add(&wanted, text.data, text.len);
	buf_adds(&text, "x");
	buf_adds(&wanted, "[masked]");
	assert_masked(text.data, wanted.data);
}

TEST(invalid_bytes_are_replaced)
{
	cleanup_buf struct buf out = BUF_INIT;

	remedy_mask("a\xff token=\xfe b\0c", 14, &out);
	ck_assert_uint_eq(
	    out.len, strlen("a\xef\xbf\xbd token=[masked] b") + 2);
	ck_assert_int_eq(
	    memcmp(out.data, "a\xef\xbf\xbd token=[masked] b\0c", out.len), 0);
}

TEST(random_text_stays_valid_and_bounded)
{
	static const char *const pieces[] = { "token", "password", "=", ": ",
		"\"", "\\\"", "'", "-----BEGIN X-----", "-----END X-----", "\n",
		" ", "sk-abcdefghijklmnop1", "bearer ", "://", "@", "a", "1",
		"\xe2\x82\xac", "\xff", "--", "authorization", "[masked]", "]",
		"AKIAIOSFODNN7EXAMPLE", "curl", " -u ", "login ", "machine ",
		"_KEY", "ya29." };

	for (int seed = 1; seed <= unit_times(3000); seed++) {
		struct dice dice = { (uint64_t)seed * 0x9e3779b97f4a7c15 };
		cleanup_buf struct buf text = BUF_INIT, out = BUF_INIT;

		dice_text(&dice, pieces, nitems(pieces), 400, &text);
		remedy_mask(text.data, text.len, &out);
		ck_assert(text_utf8_valid(out.data, out.len));
		ck_assert_uint_le(out.len, 9 * text.len);
	}
}

/* A search that starts over at every byte would not finish here. */
TEST(hostile_text_takes_no_longer_than_its_length)
{
	static const char *const pieces[] = { "-----BEGIN X-----\n",
		"token=", "cookie:[masked]", "://", "bearer ", "password='",
		"\\", "a", "--secret ", "sk-", "@", "machine ", "login x ",
		"curl -u ", " -u", "\\n", "X_KEY " };

	for (size_t i = 0; i < nitems(pieces); i++) {
		cleanup_buf struct buf text = BUF_INIT, out = BUF_INIT;

		while (text.len < 300000)
			buf_adds(&text, pieces[i]);
		remedy_mask(text.data, text.len, &out);
		ck_assert(text_utf8_valid(out.data, out.len));
	}
}
