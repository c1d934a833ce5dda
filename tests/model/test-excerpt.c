/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "excerpt.h"

static void
assert_excerpt(const char *output, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	excerpt_add(output, &out);
	ck_assert_str_eq(out.data + 1, wanted);
}

TEST(output_is_fenced)
{
	assert_excerpt("a\nb\n", "```\na\nb\n```\n");
	assert_excerpt("  a", "```\n  a\n```\n");
	assert_excerpt("see ``` here", "````\nsee ``` here\n````\n");
	assert_excerpt("`````", "``````\n`````\n``````\n");
	assert_excerpt("", "It printed nothing.\n");
	assert_excerpt(" \n\t\n", "It printed nothing.\n");
	assert_excerpt("\x1b[0m\x07", "It printed nothing.\n");
}

TEST(colours_and_controls_are_left_out)
{
	assert_excerpt("\x1b[1;31mred\x1b[0m\x1b[K", "```\nred\n```\n");
	assert_excerpt("\x1b]0;title\x07x", "```\nx\n```\n");
	assert_excerpt("\x1b]8;;http://a\x1b\\x", "```\nx\n```\n");
	assert_excerpt("10%\r20%\r\ndone", "```\n10%\n20%\ndone\n```\n");
	assert_excerpt("a\x01\x7f\tb\xff", "```\na\tb\xef\xbf\xbd\n```\n");
	assert_excerpt("a\x1b", "```\na\n```\n");
	assert_excerpt("a\x1b[", "```\na\n```\n");
	assert_excerpt("a\x1b[12", "```\na\n```\n");
	assert_excerpt("a\x1b[3\nb", "```\na\nb\n```\n");
}

/* count bytes of lines "0000001\n", without the last newline. */
static void
add_lines(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count / 8; i++)
		buf_addf(out, "%07zu\n", i);
	buf_truncate(out, out->len - 1);
}

TEST(the_end_stays_in_whole_lines)
{
	cleanup_buf struct buf said = BUF_INIT, out = BUF_INIT;
	cleanup_free char *wanted = NULL;

	add_lines(&said, EXCERPT_MAX);
	excerpt_add(said.data, &out);
	wanted = xasprintf("```\n%s\n```\n", said.data);
	ck_assert_str_eq(out.data, wanted); /* all of it fits */

	buf_clear(&said);
	buf_clear(&out);
	add_lines(&said, EXCERPT_MAX * 2 + 8);
	excerpt_add(said.data, &out);
	ck_assert_int_eq(
	    strncmp(out.data,
		"(The first 8200 bytes are left out.)\n```\n0001025\n", 49),
	    0);
	ck_assert_ptr_nonnull(strstr(out.data, "\n0002048\n```\n"));
}

TEST(one_long_line_is_cut_between_characters)
{
	cleanup_buf struct buf said = BUF_INIT, out = BUF_INIT;

	for (size_t i = 0; i < EXCERPT_MAX; i++)
		buf_adds(&said, "\xe2\x82\xac");
	excerpt_add(said.data, &out);
	ck_assert(text_utf8_valid(out.data, out.len));
	ck_assert_uint_le(out.len, EXCERPT_MAX + 60);
	ck_assert_uint_ge(out.len, EXCERPT_MAX);
}

TEST(plain_text_keeps_lines_and_loses_colours)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_plain("\x1b[1;31mred\x1b[0m\ta\r\n50%\r100%\a\n", &out);
	ck_assert_str_eq(out.data, "red\ta\n50%\n100%\n");
}

TEST(fence_is_longer_than_any_in_the_text)
{
	cleanup_buf struct buf out = BUF_INIT;

	excerpt_fence("a\n````", "", &out);
	ck_assert_str_eq(out.data, "`````\na\n````\n`````\n");
}

static void
assert_tail(const char *text, int lines, size_t max, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	excerpt_tail(text, strlen(text), lines, max, &out);
	ck_assert_str_eq(out.data + 1, wanted);
}

TEST(tail_is_the_last_lines)
{
	assert_tail("a\nb\nc\n", 2, 100, "b\nc\n");
	assert_tail("a\nb\nc", 2, 100, "b\nc");
	assert_tail("a\nb\nc\n", 3, 100, "a\nb\nc\n");
	assert_tail("a\nb\nc\n", 4, 100, "a\nb\nc\n");
	assert_tail("a\n\n\n", 2, 100, "\n\n");
	assert_tail("a\nb\n", 0, 100, "");
	assert_tail("a\nb\n", -1, 100, "");
	assert_tail("", 5, 100, "");
	assert_tail("\n", 5, 100, "\n");
}

TEST(tail_is_cut_at_a_line)
{
	assert_tail("aaaa\nbb\ncc\n", 9, 11, "aaaa\nbb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 10, "bb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 6, "bb\ncc\n");
	assert_tail("aaaa\nbb\ncc\n", 9, 5, "cc\n");
	assert_tail("aaaa\nbb\ncc\n", 1, 5, "cc\n");
	assert_tail("a\nb\n", 9, 0, "");
}

TEST(tail_of_one_long_line_is_its_end)
{
	assert_tail("abcdef", 9, 4, "cdef");
	assert_tail("x\nabcdef", 9, 4, "cdef");
	assert_tail("\xe2\x82\xac\xe2\x82\xac", 9, 5, "\xe2\x82\xac");
}

TEST(tail_replaces_invalid_bytes_within_its_bound)
{
	assert_tail("a\xff", 9, 4, "a\xef\xbf\xbd");
	assert_tail("a\xff", 9, 3, "\xef\xbf\xbd");
	assert_tail("a\xff", 9, 2, "");
}

/* Line by line from the end, as slowly as it can be done. */
static void
tail_slowly(
    const char *text, size_t len, int lines, size_t max, struct buf *out)
{
	size_t start = len;

	for (size_t i = len; i-- > 0 && lines > 0;) {
		if (i > 0 && text[i - 1] != '\n')
			continue;
		if (len - i > max)
			break;
		start = i;
		lines--;
	}
	buf_add(out, text + start, len - start);
}

TEST(random_tails_are_those_made_slowly)
{
	static const char *const pieces[] = { "a", "\n", "bc\n", "def" };

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_buf struct buf fast = BUF_INIT, slow = BUF_INIT;
		int lines = (int)dice_below(&dice, 8);
		size_t max = dice_below(&dice, 30);

		dice_text(&dice, pieces, nitems(pieces), 60, &text);
		excerpt_tail(text.data, text.len, lines, max, &fast);
		tail_slowly(text.data, text.len, lines, max, &slow);
		/* Only a line longer than the bound is cut in itself. */
		if (slow.len > 0)
			ck_assert_str_eq(fast.data, slow.data);
		else
			ck_assert_uint_le(fast.len, max);
	}
}

/* --- keys and passwords ---------------------------------------------- */

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

static const struct {
	const char *text, *masked; /* NULL = it is kept */
} masks[] = {
	/* Keys are known by their shape. */
	{ "sk-ant-api03-AbCdEfGhIjKlMnOp-_x9 used", "[masked] used" },
	{ "(ghp_16C7e42F292c6912E7710c838347Ae178B4a)", "([masked])" },
	{ "github_pat_11ABCDEFG0aBcDeFgHiJ_kLm.", "[masked]." },
	{ "id AKIAIOSFODNN7EXAMPLE,", "id [masked]," },
	{ "xoxb-123456789012-abc", "[masked]" },
	{ "glpat-abcdefghijklmnopqrst", "[masked]" },
	{ "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_def", "[masked]" },
	{ "{\"m\":\"line\\nsk-aaaaaaaaaaaaaaaaaaaa\"}",
	    "{\"m\":\"line\\n[masked]\"}" },
	{ "SG.1 and ya29. and xapp-x", NULL },
	/* Passwords of netrc are masked. */
	{ "machine h.example login me password hunter2\nx",
	    "machine h.example login me password [masked]\nx" },
	{ "machine h\n\tlogin me\n\tpassword hunter2\n",
	    "machine h\n\tlogin me\n\tpassword [masked]\n" },
	{ "\"machine h\\nlogin me\\npassword hunter2\"",
	    "\"machine h\\nlogin me\\npassword [masked]\"" },
	{ "login me password hunter2 account x",
	    "login me password [masked] account x" },
	{ "machine h login me", NULL },
	{ "machine h login me password", NULL },
	{ "the login page; a machine; no password given", NULL },
	/* Passwords after curl are masked. */
	{ "curl -u me:hunter2 https://h/x", "curl -u me:[masked] https://h/x" },
	{ "curl -sS --user 'me:hunter2' x", "curl -sS --user 'me:[masked]' x" },
	{ "{\"c\":\"curl -u \\\"me:h\\\" x\"}",
	    "{\"c\":\"curl -u \\\"me:[masked]\\\" x\"}" },
	{ "curl -ume:hunter2 x", "curl -ume:[masked] x" },
	{ "curl --proxy-user=me:h:2", "curl --proxy-user=me:[masked]" },
	{ "docker run -u 1000:1000 image", NULL },
	{ "curl x\ndocker run -u 1000:1000 image", NULL },
	{ "curl -u me: x", NULL },
	{ "curl -u me https://h:80/", NULL },
	/* Variables are known by the end of their name. */
	{ "STRIPE_KEY=abc", "STRIPE_KEY=[masked]" },
	{ "export GH_PAT='a b'", "export GH_PAT='[masked]'" },
	{ "{\"DB_PASS\":\"x\"}", "{\"DB_PASS\":\"[masked]\"}" },
	{ "MYSQL_PWD: x, AWS_CREDS=y",
	    "MYSQL_PWD: [masked], AWS_CREDS=[masked]" },
	{ "sort_key=name primary_key: id GH_PATH=/x PWD=/x", NULL },
	{ "the _KEY=x, ONE_KEYBOARD=y", NULL },
	/* What only begins like a key is kept. */
	{ "task-aaaaaaaaaaaaaaaaaaaaaaaa and disk-usage", NULL },
	{ "sk-learn is sk-", NULL },
	{ "AKIA is a prefix, ghp_ too", NULL },
	{ "c3c49918bf93888e9912ace4e6543002c3c49918", NULL },
	{ "a3bb189e-8bf9-3888-9912-ace4e6543002", NULL },
	/* Bearer tokens are masked. */
	{ "Bearer abc123def456", "Bearer [masked]" },
	{ "with bearer  a.b-c_d~e+f/g== ok", "with bearer  [masked] ok" },
	{ "a bearer of news", NULL },
	{ "Bearer", NULL },
	{ "forbearer abc123def456", NULL },
	/* Passwords in urls are masked. */
	{ "https://user:p%40ss@host/x?y=a@b",
	    "https://user:[masked]@host/x?y=a@b" },
	{ "postgres://u:p:w@d@db:5432/x", "postgres://u:[masked]@db:5432/x" },
	{ "https://0123456789abcdef0123@github.com/a/b",
	    "https://[masked]@github.com/a/b" },
	{ "ssh://git@github.com/a/b", NULL },
	{ "https://host:8080/a@b and a@b.c:d", NULL },
	{ "https://", NULL },
	/* Pem blocks are masked whole. */
	{ "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n"
	  "-----END RSA PRIVATE KEY-----\nb",
	    "a\n[masked]\nb" },
	{ "key-----BEGIN X-----\nMIIE\n-----END X-----", "key[masked]" },
	{ "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END "
	  "PRIVATE KEY-----\\n\"}",
	    "{\"k\":\"[masked]\\n\"}" },
	/* Pem block that was cut off is masked as far as it goes. */
	{ "-----BEGIN PRIVATE KEY-----\nMIIE+/x\nabc=\n\nhello",
	    "[masked]\n\nhello" },
	{ "-----BEGIN PRIVATE KEY-----\nMIIE\nin words: hello",
	    "[masked]\nin words: hello" },
	{ "-----BEGIN PRIVATE KEY-----", "[masked]" },
	{ "-----BEGIN X-----\nMIIE\n-----END X\nb", "[masked]\nb" },
	{ "-----BEGIN X-----\nMIIE\n-----END X", "[masked]" },
	/* Values are known by the name before them. */
	{ "password=hunter2 ok", "password=[masked] ok" },
	{ "DB_PASSWORD: hunter2", "DB_PASSWORD: [masked]" },
	{ "{\"api_key\": \"a b\\\"c\", \"x\": 1}",
	    "{\"api_key\": \"[masked]\", \"x\": 1}" },
	{ "authToken='abc def', x", "authToken='[masked]', x" },
	{ "client-secret => s3, next", "client-secret => [masked], next" },
	{ "x?access_token=abc&y=1", "x?access_token=[masked]&y=1" },
	{ "AWS_SECRET_ACCESS_KEY=a/b+c", "AWS_SECRET_ACCESS_KEY=[masked]" },
	{ "X-Api-Key: k", "X-Api-Key: [masked]" },
	{ "(passphrase=x)", "(passphrase=[masked])" },
	{ "token_2=abc", "token_2=[masked]" },
	{ "secret=\xe2\x82\xacx y", "secret=[masked] y" },
	/* Values in quoted json are masked. */
	{ "\"{\\\"token\\\":\\\"abc\\\",\\\"x\\\":1}\"",
	    "\"{\\\"token\\\":\\\"[masked]\\\",\\\"x\\\":1}\"" },
	{ "\"{\\\"pin_token\\\": abc\\\"",
	    "\"{\\\"pin_token\\\": [masked]\\\"" },
	/* Headers are masked to the end of the line. */
	{ "Authorization: Basic dXNlcjpw\nHost: x",
	    "Authorization: [masked]\nHost: x" },
	{ "Set-Cookie: a=b; Path=/\r\nHost: x",
	    "Set-Cookie: [masked]\r\nHost: x" },
	{ "curl -H 'Authorization: token abc' x",
	    "curl -H 'Authorization: [masked]' x" },
	/* Values of options are masked. */
	{ "run --password hunter2 --x y", "run --password [masked] --x y" },
	{ "run --api-key=abc x", "run --api-key=[masked] x" },
	{ "run --password --x y", NULL },
	{ "run --password\nx", NULL },
	/* Unclosed value is masked to the end of the line. */
	{ "password=\"hunter2\nnext", "password=\"[masked]\nnext" },
	{ "password='hunter2", "password='[masked]" },
	/* Value that was masked in part is masked whole. */
	{ "token=sk-aaaaaaaaaaaaaaaaaaaa.rest x", "token=[masked] x" },
	{ "password=\"x sk-aaaaaaaaaaaaaaaaaaaa y\"", "password=\"[masked]\"" },
	/* What gives nothing away is kept. */
	{ "max_tokens: 4096, \"input_tokens\":12.5", NULL },
	{ "\"token\": null, password=, secret=\"\"", NULL },
	{ "token: true, password: false, secret: None", NULL },
	{ "tokenizer: fast, secretary=ann", NULL },
	{ "the password is wrong; no token given", NULL },
	{ "Unexpected token: }", NULL },
	{ "password=1234", "password=[masked]" },
	{ "tokenizer_token=x", "tokenizer_token=[masked]" },
};

TEST_ROWS(secrets_are_masked_and_nothing_else, nitems(masks))
{
	const char *wanted =
	    masks[_i].masked != NULL ? masks[_i].masked : masks[_i].text;

	assert_masked(masks[_i].text, wanted);
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
