/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "remedy-mask.h"

/* A part of a text that is not terminated, for readers that look ahead. */
struct span {
	const char *s;
	size_t len;
};

static bool
span_is_alnum(char c)
{
	return isalnum((unsigned char)c) != 0;
}

static bool
span_begins(struct span text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.s, word, len) == 0;
}

/* Without its first len bytes; there must be as many. */
static struct span
span_after(struct span text, size_t len)
{
	return (struct span){ text.s + len, text.len - len };
}

/* How many letters, digits and others it begins with. */
static size_t
span_run(struct span text, const char *others)
{
	size_t len = 0;

	while (len < text.len && text.s[len] != '\0' &&
	    (span_is_alnum(text.s[len]) || strchr(others, text.s[len]) != NULL))
		len++;
	return len;
}

/* The offset of the word, or of the end. */
static size_t
span_find(struct span text, const char *word)
{
	/* memmem must not be called with NULL, even for length 0. */
	const char *at = text.s == NULL ?
	    NULL :
	    memmem(text.s, text.len, word, strlen(word));

	return at == NULL ? text.len : (size_t)(at - text.s);
}

/* Its first line, without the newline. */
static size_t
span_line(struct span text)
{
	return span_find(text, "\n");
}

/* A quote with its backslashes, or 0. */
static size_t
span_quote(struct span text)
{
	size_t len = 0;

	while (len < text.len && text.s[len] == '\\')
		len++;
	return len < text.len && (text.s[len] == '"' || text.s[len] == '\'') ?
	    len + 1 :
	    0;
}

/* Blanks and tabs. */
static size_t
span_blank(struct span text)
{
	size_t len = 0;

	while (len < text.len && (text.s[len] == ' ' || text.s[len] == '\t'))
		len++;
	return len;
}

/* A single word below this length has none of these forms. */
#define REMEDY_SHAPE_LEAST 15

#define PEM_BEGIN  "-----BEGIN "
#define PEM_END    "-----END "
#define PEM_RULE   "-----"
#define PEM_MAX    ((size_t)16384)
#define USER_MIN   16 /* a longer user name is a token */
#define BEARER     "bearer"
#define BEARER_MIN 8
#define PASSWORD   "password"
#define NETRC_MAX  1024 /* bytes of an entry before its password */
#define QUOTE_MAX  16 /* a quote with its backslashes */
#define CURL_NEAR  256 /* bytes between curl and its option */

/* Prefixes of keys, and the minimum length after the prefix. */
static const struct {
	const char *prefix;
	size_t least;
	const char *others; /* characters allowed besides letters and digits */
} shapes[] = {
	{ "sk-", 16, "-_" },
	{ "sk_live_", 16, "" },
	{ "sk_test_", 16, "" },
	{ "rk_live_", 16, "" },
	{ "ghp_", 16, "" },
	{ "gho_", 16, "" },
	{ "ghu_", 16, "" },
	{ "ghs_", 16, "" },
	{ "ghr_", 16, "" },
	{ "github_pat_", 16, "_" },
	{ "glpat-", 16, "-_" },
	{ "AKIA", 16, "" },
	{ "ASIA", 16, "" },
	{ "AIza", 30, "-_" },
	{ "xoxa-", 10, "-" },
	{ "xoxb-", 10, "-" },
	{ "xoxp-", 10, "-" },
	{ "xoxr-", 10, "-" },
	{ "xoxs-", 10, "-" },
	{ "npm_", 30, "" },
	{ "pypi-", 30, "-_" },
	{ "hf_", 30, "" },
	{ "eyJ", 30, "-_." }, /* JSON web tokens */
	{ "ya29.", 16, "-_" },
	{ "GOCSPX-", 16, "-_" }, /* Google */
	{ "xapp-", 10, "-" },
	{ "xoxe-", 10, "-" }, /* Slack */
	{ "SG.", 20, "-_." }, /* SendGrid */
	{ "glrt-", 16, "-_" },
	{ "hvs.", 16, "-_" },
	{ "dop_v1_", 16, "" },
	{ "shpat_", 16, "" },
	{ "whsec_", 16, "" },
};

/* A block without an end extends as far as its lines look like it. */
static size_t
torn_pem_len(struct span text)
{
	size_t len = span_line(text), line;

	while (len < text.len) {
		struct span rest = span_after(text, len + 1);

		line = span_line(rest);
		if (line == 0 || span_run(rest, "+/=") != line)
			break;
		len += 1 + line;
	}
	return len;
}

static size_t
pem_len(struct span text)
{
	struct span rest,
	    near = { text.s, text.len < PEM_MAX ? text.len : PEM_MAX };
	size_t end;

	if (!span_begins(text, PEM_BEGIN))
		return 0;
	end = span_find(near, PEM_END);
	if (end == near.len)
		return torn_pem_len(text);
	rest = span_after(text, end + strlen(PEM_END));
	end = span_find(rest, PEM_RULE);
	if (end > span_line(rest))
		end = span_line(rest);
	else if (end < rest.len)
		end += strlen(PEM_RULE);
	return (size_t)(rest.s - text.s) + end;
}

static size_t
key_len(struct span text)
{
	size_t prefix, len;

	for (size_t i = 0; i < nitems(shapes); i++) {
		if (text.len == 0 || text.s[0] != shapes[i].prefix[0] ||
		    !span_begins(text, shapes[i].prefix))
			continue;
		prefix = strlen(shapes[i].prefix);
		len = span_run(span_after(text, prefix), shapes[i].others);
		if (len >= shapes[i].least)
			return prefix + len;
	}
	return 0;
}

/* "Bearer xyz": what is kept, then the length of what is masked. */
static size_t
bearer_len(struct span text, size_t *ret_keep)
{
	size_t keep = strlen(BEARER), len;

	if (text.len <= keep || strncasecmp(text.s, BEARER, keep) != 0 ||
	    text.s[keep] != ' ')
		return 0;
	while (keep < text.len && text.s[keep] == ' ')
		keep++;
	len = span_run(span_after(text, keep), "._~+/=-");
	if (len < BEARER_MIN)
		return 0;
	*ret_keep = keep;
	return len;
}

/* "://user:password@host" */
static size_t
url_len(struct span text, size_t *ret_keep)
{
	size_t start = strlen("://"), end, at, colon;

	if (!span_begins(text, "://"))
		return 0;
	for (end = start; end < text.len && text.s[end] != '\0' &&
	     strchr("/?#\"'<> \t\r\n\\", text.s[end]) == NULL;)
		end++;
	for (at = end; at > start && text.s[at - 1] != '@';)
		at--;
	if (at == start)
		return 0;
	at--;
	colon =
	    start + span_find((struct span){ text.s + start, at - start }, ":");
	if (colon < at)
		start = colon + 1;
	else if (at - start < USER_MIN)
		return 0;
	*ret_keep = start;
	return at - start;
}

static struct span
near(struct span text, size_t most)
{
	return (struct span){ text.s, text.len < most ? text.len : most };
}

/* Blanks and line ends, also as they are written inside JSON. */
static size_t
space_len(struct span text)
{
	size_t len = 0;

	while (len < text.len) {
		if (text.s[len] != '\0' && strchr(" \t\r\n", text.s[len]))
			len++;
		else if (text.s[len] == '\\' && len + 1 < text.len &&
		    text.s[len + 1] != '\0' &&
		    strchr("nrt", text.s[len + 1]) != NULL)
			len += 2;
		else
			break;
	}
	return len;
}

/* Up to a space or a quote, which may have backslashes. */
static size_t
word_len(struct span text)
{
	size_t len = 0;

	while (len < text.len &&
	    space_len(near(span_after(text, len), 2)) == 0 &&
	    text.s[len] != '"' && text.s[len] != '\'')
		len++;
	while (len > 0 && len < text.len && text.s[len - 1] == '\\')
		len--;
	return len;
}

/* The length of "login y ", 0 if it is something else. */
static size_t
netrc_pair(struct span text)
{
	static const char *const keys[] = { "machine ", "machine\t", "login ",
		"login\t", "account ", "account\t" };
	size_t row = 0, len;

	while (row < nitems(keys) && !span_begins(text, keys[row]))
		row++;
	if (row == nitems(keys))
		return 0;
	len = strlen(keys[row]);
	len += span_blank(span_after(text, len));
	len += word_len(span_after(text, len));
	return len + space_len(span_after(text, len));
}

/* netrc: "machine x login y password z", on one line or on several. */
static size_t
netrc_len(struct span text, size_t *ret_keep)
{
	struct span entry = near(text, NETRC_MAX);
	size_t len = 0, pair, blank;

	while ((pair = netrc_pair(span_after(entry, len))) > 0)
		len += pair;
	if (len == 0 || !span_begins(span_after(entry, len), PASSWORD))
		return 0;
	len += strlen(PASSWORD);
	blank = span_blank(span_after(entry, len));
	*ret_keep = len + blank;
	return blank == 0 ? 0 : word_len(span_after(text, len + blank));
}

/* Is this part of a command line with curl? */
static bool
is_after_curl(struct span text, size_t i)
{
	size_t from = i > CURL_NEAR ? i - CURL_NEAR : 0;
	struct span before = { text.s + from, i - from };
	const char *line = memrchr(before.s, '\n', before.len);

	if (line != NULL)
		before = span_after(before, (size_t)(line - before.s));
	return span_find(before, "curl") < before.len;
}

/* "curl -u user:password" */
static size_t
curl_len(struct span text, size_t i, size_t *ret_keep)
{
	static const char *const options[] = { "--proxy-user", "--user", "-u",
		"-U" };
	struct span rest = span_after(text, i);
	size_t row = 0, len, colon, word;

	if (i == 0 || rest.s[0] != '-' ||
	    (text.s[i - 1] != ' ' && text.s[i - 1] != '\t'))
		return 0;
	while (row < nitems(options) && !span_begins(rest, options[row]))
		row++;
	if (row == nitems(options) || !is_after_curl(text, i))
		return 0;
	len = strlen(options[row]);
	if (len < rest.len && rest.s[len] == '=')
		len++;
	len += span_blank(span_after(rest, len));
	len += span_quote(near(span_after(rest, len), QUOTE_MAX));
	word = word_len(span_after(rest, len));
	colon = span_find((struct span){ rest.s + len, word }, ":");
	if (colon + 1 >= word)
		return 0;
	*ret_keep = len + colon + 1;
	return word - colon - 1;
}

/* Does a word begin here? Also after the n of a "\n" inside JSON. */
static bool
is_edge(struct span text, size_t i)
{
	if (i == 0 || !span_is_alnum(text.s[i - 1]))
		return true;
	return i > 1 && text.s[i - 2] == '\\' &&
	    strchr("nrt", text.s[i - 1]) != NULL;
}

/* Is there a secret at offset i of the text? Returns its length, 0 = none;
 * *ret_keep bytes at i come before it and are kept. */
static size_t
remedy_shape(struct span text, size_t i, size_t *ret_keep)
{
	struct span rest = span_after(text, i);
	size_t len;

	*ret_keep = 0;
	len = pem_len(rest);
	if (len == 0)
		len = url_len(rest, ret_keep);
	if (len > 0 || !is_edge(text, i))
		return len;
	len = key_len(rest);
	if (len == 0)
		len = bearer_len(rest, ret_keep);
	if (len == 0)
		len = netrc_len(rest, ret_keep);
	return len > 0 ? len : curl_len(text, i, ret_keep);
}

/*
 * Finds secrets in two ways: by patterns that are always secret, and by the
 * name in front of a value. When in doubt, mask: a missing word in a log is
 * better than a leaked key.
 */

#define MASK         "[masked]"
#define NAME_MAX_LEN 80

/* Parts of names, with '-' written as '_'. */
static const struct {
	const char *part;
	bool to_line_end; /* the value may contain blanks */
	bool may_count; /* a number is a count: "max_tokens: 4096" */
	bool capitals; /* only at the end of a name in capitals: "sort_key=a",
			* "GH_PATH=b" */
} names[] = {
	{ .part = "authorization", .to_line_end = true },
	{ .part = "cookie", .to_line_end = true },
	{ .part = "token", .may_count = true },
	{ .part = "secret" },
	{ .part = "password" },
	{ .part = "passwd" },
	{ .part = "passphrase" },
	{ .part = "api_key" },
	{ .part = "apikey" },
	{ .part = "access_key" },
	{ .part = "private_key" },
	{ .part = "credential" },
	{ .part = "_key", .capitals = true },
	{ .part = "_pat", .capitals = true },
	{ .part = "_pass", .capitals = true },
	{ .part = "_pwd", .capitals = true },
	{ .part = "_creds", .capitals = true },
};

static bool
is_name_char(char c)
{
	return span_is_alnum(c) || c == '_' || c == '-';
}

static void
mask_shapes(struct span text, struct buf *out)
{
	size_t keep = 0, len;

	for (size_t i = 0; i < text.len;) {
		len = remedy_shape(text, i, &keep);
		if (len == 0) {
			buf_addc(out, text.s[i++]);
			continue;
		}
		buf_add(out, text.s + i, keep);
		buf_adds(out, MASK);
		i += keep + len;
	}
}

/* A letter after the part makes it another word: "tokenizer". */
static bool
name_has(const char *lower, const char *name, const char *part)
{
	size_t end;

	for (const char *at = strstr(lower, part); at != NULL;
	     at = strstr(at + 1, part)) {
		end = (size_t)(at - lower) + strlen(part);
		if (lower[end] == 's')
			end++;
		if (lower[end] == '\0' || !islower((unsigned char)name[end]))
			return true;
	}
	return false;
}

static bool
name_ends(const char *lower, struct span name, const char *part)
{
	size_t len = strlen(part);

	if (name.len <= len || strcmp(lower + name.len - len, part) != 0)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (islower((unsigned char)name.s[i]))
			return false;
	return true;
}

/* The row of the first part that this name contains, or nitems(names). */
static size_t
name_find(struct span name)
{
	char lower[NAME_MAX_LEN + 1];
	size_t len = 0, i = 0;

	/* The end of a long name says what it is. */
	if (name.len > NAME_MAX_LEN)
		name = span_after(name, name.len - NAME_MAX_LEN);
	for (; len < name.len; len++)
		lower[len] = name.s[len] == '-' ?
		    '_' :
		    (char)tolower((unsigned char)name.s[len]);
	lower[len] = '\0';
	while (i < nitems(names) &&
	    !(names[i].capitals ? name_ends(lower, name, names[i].part) :
				  name_has(lower, name.s, names[i].part)))
		i++;
	return i;
}

/* The separator between a name and its value: `": "`, `=`, ` => `, or a blank
 * after an option. 0 = no value follows. */
static size_t
between_len(struct span text, bool option)
{
	size_t len = span_quote(text), sign;

	len += span_blank(span_after(text, len));
	sign = len;
	while (sign < text.len && sign < len + 2 && text.s[sign] != '\0' &&
	    strchr(":=>", text.s[sign]) != NULL)
		sign++;
	if (sign == len)
		return option && len > 0 && len < text.len &&
			text.s[len] != '-' ?
		    len :
		    0;
	return sign + span_blank(span_after(text, sign));
}

/* Up to the quote with as many backslashes as the opening one. */
static size_t
quoted_len(struct span text, size_t quote, char sign)
{
	size_t backslashes = 0;

	for (size_t i = 0; i < text.len && text.s[i] != '\n'; i++) {
		if (text.s[i] == sign && backslashes < quote)
			return i - backslashes;
		backslashes = text.s[i] == '\\' ? backslashes + 1 : 0;
	}
	return span_line(text);
}

static size_t
bare_len(struct span text, bool to_line_end)
{
	const char *ends = to_line_end ? "\r\n\"'" : " \t\r\n\"',;&)}]";
	size_t len = span_begins(text, MASK) ? strlen(MASK) : 0;

	while (len < text.len &&
	    (text.s[len] == '\0' || strchr(ends, text.s[len]) == NULL))
		len++;
	while (len > 0 && text.s[len - 1] == '\\')
		len--;
	return len;
}

/* Values that are not secret. */
static bool
is_plain(struct span value, bool may_count)
{
	static const char *const plain[] = { "null", "true", "false", "none",
		"None" };
	size_t digits = 0;

	for (size_t i = 0; i < nitems(plain); i++)
		if (span_begins(value, plain[i]) &&
		    value.len == strlen(plain[i]))
			return true;
	while (digits < value.len &&
	    strchr("0123456789.,", value.s[digits]) != NULL &&
	    value.s[digits] != '\0')
		digits++;
	return value.len == 0 || (may_count && digits == value.len);
}

/* The text after a name: how much of it is kept, and how long the secret is. */
static size_t
value_len(struct span text, size_t row, bool option, size_t *ret_keep)
{
	size_t keep = between_len(text, option), quote, len;
	struct span value;

	if (keep == 0)
		return 0;
	quote = span_quote(span_after(text, keep));
	keep += quote;
	value = span_after(text, keep);
	len = quote > 0 ? quoted_len(value, quote, text.s[keep - 1]) :
			  bare_len(value, names[row].to_line_end);
	value.len = len;
	if (is_plain(value, names[row].may_count))
		return 0;
	*ret_keep = keep;
	return len;
}

static void
mask_names(struct span text, struct buf *out)
{
	size_t name, row, keep = 0, len;

	for (size_t i = 0; i < text.len; i += name) {
		struct span rest = span_after(text, i);

		for (name = 0; name < rest.len && is_name_char(rest.s[name]);)
			name++;
		if (name == 0) {
			buf_addc(out, text.s[i]);
			name = 1;
			continue;
		}
		buf_add(out, rest.s, name);
		row = name_find((struct span){ rest.s, name });
		if (row == nitems(names))
			continue;
		len = value_len(span_after(rest, name), row,
		    span_begins(rest, "--"), &keep);
		if (len == 0)
			continue;
		buf_add(out, rest.s + name, keep);
		buf_adds(out, MASK);
		name += keep + len;
	}
}

void
remedy_mask(const char *text, size_t len, struct buf *out)
{
	cleanup_buf struct buf clean = BUF_INIT, half = BUF_INIT;

	/* One word, too short for a key. */
	if (len < REMEDY_SHAPE_LEAST &&
	    span_run((struct span){ text, len }, "._-") == len) {
		buf_add(out, text, len);
		return;
	}
	text_add_utf8(&clean, text, len);
	mask_shapes((struct span){ clean.data, clean.len }, &half);
	mask_names((struct span){ half.data, half.len }, out);
}

char *
remedy_mask_copy(const char *text, size_t max)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (text == NULL)
		return NULL;
	remedy_mask(text, strlen(text), &out);
	buf_truncate(&out, text_cut(out.data, out.len, max));
	return buf_take(&out);
}

bool
remedy_mask_name(const char *name)
{
	return name_find((struct span){ name, strlen(name) }) < nitems(names);
}
