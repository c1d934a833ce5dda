/* SPDX-License-Identifier: ISC */

/*
 * Finds secrets in two ways: by patterns that are always secret, and by the
 * name in front of a value. When in doubt, mask: a missing word in a log is
 * better than a leaked key.
 */

#include <ctype.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "remedy-mask.h"
#include "text.h"

#define MASK         "[masked]"
#define PEM_BEGIN    "-----BEGIN "
#define PEM_END      "-----END "
#define PEM_RULE     "-----"
#define PEM_MAX      ((size_t)16384)
#define USER_MIN     16 /* a longer user name is a token */
#define BEARER       "bearer"
#define BEARER_MIN   8
#define NAME_MAX_LEN 80

struct span {
	const char *s;
	size_t len;
};

/* Prefixes of keys, and the minimum length after the prefix. */
static const struct {
	const char *prefix;
	size_t least;
	const char *others; /* characters allowed besides letters and digits */
} shapes[] = {
	{ "sk-", 16, "-_" }, { "sk_live_", 16, "" }, { "sk_test_", 16, "" },
	{ "rk_live_", 16, "" }, { "ghp_", 16, "" }, { "gho_", 16, "" },
	{ "ghu_", 16, "" }, { "ghs_", 16, "" }, { "ghr_", 16, "" },
	{ "github_pat_", 16, "_" }, { "glpat-", 16, "-_" }, { "AKIA", 16, "" },
	{ "ASIA", 16, "" }, { "AIza", 30, "-_" }, { "xoxa-", 10, "-" },
	{ "xoxb-", 10, "-" }, { "xoxp-", 10, "-" }, { "xoxr-", 10, "-" },
	{ "xoxs-", 10, "-" }, { "npm_", 30, "" }, { "pypi-", 30, "-_" },
	{ "hf_", 30, "" }, { "eyJ", 30, "-_." }, /* JSON web tokens */
};

/* Parts of names, with '-' written as '_'. */
static const struct {
	const char *part;
	bool to_line_end; /* the value may contain blanks */
	bool may_count; /* a number is a count: "max_tokens: 4096" */
} names[] = {
	{ "authorization", true, false },
	{ "cookie", true, false },
	{ "token", false, true },
	{ "secret", false, false },
	{ "password", false, false },
	{ "passwd", false, false },
	{ "passphrase", false, false },
	{ "api_key", false, false },
	{ "apikey", false, false },
	{ "access_key", false, false },
	{ "private_key", false, false },
	{ "credential", false, false },
};

static bool
is_alnum(char c)
{
	return isalnum((unsigned char)c) != 0;
}

static bool
is_name_char(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

static bool
begins(struct span text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.s, word, len) == 0;
}

static struct span
after(struct span text, size_t len)
{
	return (struct span){ text.s + len, text.len - len };
}

/* Length of the run of letters, digits and others. */
static size_t
run_len(struct span text, const char *others)
{
	size_t len = 0;

	while (len < text.len && text.s[len] != '\0' &&
	    (is_alnum(text.s[len]) || strchr(others, text.s[len]) != NULL))
		len++;
	return len;
}

static size_t
find(struct span text, const char *word)
{
	/* memmem must not be called with NULL, even for length 0. */
	const char *at = text.s == NULL ?
	    NULL :
	    memmem(text.s, text.len, word, strlen(word));

	return at == NULL ? text.len : (size_t)(at - text.s);
}

static size_t
line_len(struct span text)
{
	return find(text, "\n");
}

/* A block without an end extends as far as its lines look like it. */
static size_t
torn_pem_len(struct span text)
{
	size_t len = line_len(text), line;

	while (len < text.len) {
		struct span rest = after(text, len + 1);

		line = line_len(rest);
		if (line == 0 || run_len(rest, "+/=") != line)
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

	if (!begins(text, PEM_BEGIN))
		return 0;
	end = find(near, PEM_END);
	if (end == near.len)
		return torn_pem_len(text);
	rest = after(text, end + strlen(PEM_END));
	end = find(rest, PEM_RULE);
	if (end > line_len(rest))
		end = line_len(rest);
	else if (end < rest.len)
		end += strlen(PEM_RULE);
	return (size_t)(rest.s - text.s) + end;
}

static size_t
key_len(struct span text)
{
	size_t prefix, len;

	for (size_t i = 0; i < nitems(shapes); i++) {
		if (!begins(text, shapes[i].prefix))
			continue;
		prefix = strlen(shapes[i].prefix);
		len = run_len(after(text, prefix), shapes[i].others);
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
	len = run_len(after(text, keep), "._~+/=-");
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

	if (!begins(text, "://"))
		return 0;
	for (end = start; end < text.len && text.s[end] != '\0' &&
	     strchr("/?#\"'<> \t\r\n\\", text.s[end]) == NULL;)
		end++;
	for (at = end; at > start && text.s[at - 1] != '@';)
		at--;
	if (at == start)
		return 0;
	at--;
	colon = start + find((struct span){ text.s + start, at - start }, ":");
	if (colon < at)
		start = colon + 1;
	else if (at - start < USER_MIN)
		return 0;
	*ret_keep = start;
	return at - start;
}

/* Does a word begin here? Also after the n of a "\n" inside JSON. */
static bool
is_edge(struct span text, size_t i)
{
	if (i == 0 || !is_alnum(text.s[i - 1]))
		return true;
	return i > 1 && text.s[i - 2] == '\\' &&
	    strchr("nrt", text.s[i - 1]) != NULL;
}

/* The length to mask, and how much before it is kept. */
static size_t
shape_len(struct span text, size_t i, size_t *ret_keep)
{
	struct span rest = after(text, i);
	size_t len;

	*ret_keep = 0;
	len = pem_len(rest);
	if (len == 0)
		len = url_len(rest, ret_keep);
	if (len > 0 || !is_edge(text, i))
		return len;
	len = key_len(rest);
	return len > 0 ? len : bearer_len(rest, ret_keep);
}

static void
mask_shapes(struct span text, struct buf *out)
{
	size_t keep = 0, len;

	for (size_t i = 0; i < text.len;) {
		len = shape_len(text, i, &keep);
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

/* The row of the first part that this name contains, or nitems(names). */
static size_t
name_find(struct span name)
{
	char lower[NAME_MAX_LEN + 1];
	size_t len = 0, i = 0;

	/* The end of a long name says what it is. */
	if (name.len > NAME_MAX_LEN)
		name = after(name, name.len - NAME_MAX_LEN);
	for (; len < name.len; len++)
		lower[len] = name.s[len] == '-' ?
		    '_' :
		    (char)tolower((unsigned char)name.s[len]);
	lower[len] = '\0';
	while (i < nitems(names) && !name_has(lower, name.s, names[i].part))
		i++;
	return i;
}

/* The length of a quote with its backslashes, or 0. */
static size_t
quote_len(struct span text)
{
	size_t len = 0;

	while (len < text.len && text.s[len] == '\\')
		len++;
	return len < text.len && (text.s[len] == '"' || text.s[len] == '\'') ?
	    len + 1 :
	    0;
}

static size_t
blank_len(struct span text)
{
	size_t len = 0;

	while (len < text.len && (text.s[len] == ' ' || text.s[len] == '\t'))
		len++;
	return len;
}

/* The separator between a name and its value: `": "`, `=`, ` => `, or a blank
 * after an option. 0 = no value follows. */
static size_t
between_len(struct span text, bool option)
{
	size_t len = quote_len(text), sign;

	len += blank_len(after(text, len));
	sign = len;
	while (sign < text.len && sign < len + 2 && text.s[sign] != '\0' &&
	    strchr(":=>", text.s[sign]) != NULL)
		sign++;
	if (sign == len)
		return option && len > 0 && len < text.len &&
			text.s[len] != '-' ?
		    len :
		    0;
	return sign + blank_len(after(text, sign));
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
	return line_len(text);
}

static size_t
bare_len(struct span text, bool to_line_end)
{
	const char *ends = to_line_end ? "\r\n\"'" : " \t\r\n\"',;&)}]";
	size_t len = begins(text, MASK) ? strlen(MASK) : 0;

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
		if (begins(value, plain[i]) && value.len == strlen(plain[i]))
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
	quote = quote_len(after(text, keep));
	keep += quote;
	value = after(text, keep);
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
		struct span rest = after(text, i);

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
		len = value_len(
		    after(rest, name), row, begins(rest, "--"), &keep);
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

	text_add_utf8(&clean, text, len);
	mask_shapes((struct span){ clean.data, clean.len }, &half);
	mask_names((struct span){ half.data, half.len }, out);
}
