/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "excerpt.h"

/* Length of the escape sequence at s, which begins with ESC. */
static size_t
escape_len(const char *s)
{
	size_t len = 2;

	if (s[1] == '\0')
		return 1;
	if (s[1] == ']') { /* a title or link, to BEL or ESC \ */
		len += strcspn(s + len, "\a\x1b\n");
		return len + (s[len] == '\a' ? 1 : 0);
	}
	if (s[1] != '[')
		return len;
	/* Parameters and intermediates, then one final byte. */
	while (s[len] >= 0x20 && s[len] <= 0x3f)
		len++;
	return len + (s[len] >= 0x40 && s[len] <= 0x7e ? 1 : 0);
}

void
excerpt_plain(const char *text, struct buf *out)
{
	size_t n;

	for (const char *s = text; *s != '\0'; s += n) {
		n = *s == '\x1b' ? escape_len(s) : 1;
		if (s[0] == '\r' && s[1] != '\n')
			buf_addc(out, '\n');
		else if (*s == '\n' || *s == '\t' ||
		    ((unsigned char)*s >= 0x20 && *s != 0x7f))
			buf_addc(out, *s);
	}
}

/* Where the last lines begin that fit into max bytes; of one longer line, its
 * end. */
static size_t
tail_start(const char *s, size_t len, int lines, size_t max)
{
	size_t start = len, least = len > max ? len - max : 0;

	/* The newline at the end of the last line does not start another
	 * one. */
	for (size_t i = len > 0 ? len - 1 : 0; i > 0 && lines > 0; i--) {
		if (s[i - 1] != '\n')
			continue;
		if (i < least)
			break;
		start = i;
		lines--;
	}
	if (lines > 0 && least == 0)
		return 0;
	if (start < len || lines <= 0)
		return start;
	for (start = least;
	     start < len && ((unsigned char)s[start] & 0xc0) == 0x80;)
		start++;
	return start;
}

void
excerpt_tail(
    const char *text, size_t len, int lines, size_t max, struct buf *out)
{
	cleanup_buf struct buf clean = BUF_INIT;
	size_t start;

	text_add_utf8(&clean, text, len);
	start = tail_start(clean.data, clean.len, lines, max);
	buf_add(out, clean.data + start, clean.len - start);
}

/* More backticks than the longest run in the text, at least three. */
static size_t
fence_len(const char *s)
{
	size_t longest = 2, run;

	for (; *s != '\0'; s += run + (s[run] == '\0' ? 0 : 1)) {
		run = strspn(s, "`");
		if (run > longest)
			longest = run;
	}
	return longest + 1;
}

void
excerpt_fence(const char *text, const char *kind, struct buf *out)
{
	size_t ticks = fence_len(text), len = strlen(text);
	cleanup_free char *fence = xcalloc(1, ticks + 1);

	memset(fence, '`', ticks);
	buf_addf(out, "%s%s\n%s%s%s\n", fence, kind, text,
	    len > 0 && text[len - 1] == '\n' ? "" : "\n", fence);
}

void
excerpt_add(const char *output, struct buf *out)
{
	cleanup_buf struct buf plain = BUF_INIT, text = BUF_INIT,
			       tail = BUF_INIT;

	excerpt_plain(output, &plain);
	text_add_utf8(&text, plain.data, plain.len);
	while (text.len > 0 && strchr(" \t\n", text.data[text.len - 1]) != NULL)
		buf_truncate(&text, text.len - 1);
	if (text.len == 0) {
		buf_adds(out, "It printed nothing.\n");
		return;
	}
	excerpt_tail(text.data, text.len, INT_MAX, EXCERPT_MAX, &tail);
	if (tail.len < text.len)
		buf_addf(out, "(The first %zu bytes are left out.)\n",
		    text.len - tail.len);
	excerpt_fence(tail.data, "", out);
}

/* Length of a Markdown mark at the start of a line (with the blank after it):
 * heading, quotation, list item, checkbox. 0 = none: "#12" and "-v" are
 * words. */
static size_t
mark_len(const char *s)
{
	static const char *const boxes[] = { "[ ] ", "[x] ", "[X] " };
	size_t len = strspn(s, "0123456789");

	for (size_t i = 0; i < nitems(boxes); i++)
		if (text_begins(s, boxes[i]))
			return strlen(boxes[i]);
	if (len > 0 && (s[len] == '.' || s[len] == ')'))
		len++;
	else if (len == 0 && *s != '\0' && strchr("*-+>", *s) != NULL)
		len = 1;
	else if (len == 0)
		len = strspn(s, "#");
	else
		return 0;
	return len > 0 && (s[len] == ' ' || s[len] == '\t') ? len + 1 : 0;
}

static bool
is_blank(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f;
}

/* The line without its marks, with each run of blanks and controls as one. */
static void
add_unmarked(const char *line, size_t len, struct buf *out)
{
	cleanup_free char *copy = xstrndup(line, len);
	const char *s = copy;
	size_t n, before = out->len;

	for (;;) {
		while (*s != '\0' && is_blank(*s))
			s++;
		if ((n = mark_len(s)) == 0)
			break;
		s += n;
	}
	for (; *s != '\0'; s++) {
		if (*s == '`' || (s[0] == '*' && s[1] == '*')) {
			s += *s == '*' ? 1 : 0;
		} else if (!is_blank(*s)) {
			buf_addc(out, *s);
		} else if (out->len > before &&
		    out->data[out->len - 1] != ' ') {
			buf_addc(out, ' ');
		}
	}
	while (out->len > before && out->data[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
}

/* Letters or digits of any language; a line of dashes has none. */
static bool
says_something(const char *s)
{
	for (; *s != '\0'; s++)
		if ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
		    (*s >= 'a' && *s <= 'z') || (unsigned char)*s >= 0x80)
			return true;
	return false;
}

char *
excerpt_title(const char *text, size_t max)
{
	cleanup_buf struct buf line = BUF_INIT, title = BUF_INIT;
	size_t len;

	for (; text != NULL && *text != '\0'; text += len) {
		len = strcspn(text, "\n");
		buf_clear(&line);
		if (!text_begins(text, "```"))
			add_unmarked(text, len, &line);
		if (says_something(line.data)) {
			text_add_utf8(&title, line.data, line.len);
			buf_truncate(
			    &title, text_cut(title.data, title.len, max));
			return buf_take(&title);
		}
		len += text[len] == '\n' ? 1 : 0;
	}
	return NULL;
}

char *
excerpt_clean(const char *text, size_t len, size_t max, bool lines)
{
	cleanup_buf struct buf valid = BUF_INIT, out = BUF_INIT;
	size_t end, start;

	text_add_utf8(&valid, text, text_cut(text, len, max * 4));
	for (size_t i = 0; i < valid.len; i++) {
		unsigned char c = (unsigned char)valid.data[i];

		if ((c >= ' ' && c != 0x7f) || (lines && c == '\n') ||
		    (lines && c == '\t'))
			buf_addc(&out, (char)c);
		else if (c == '\n' || c == '\t')
			buf_addc(&out, ' ');
	}
	start = strspn(out.data, " \t\r\n\v\f");
	buf_consume(&out, start < out.len ? start : out.len);
	end = text_cut(out.data, out.len, max);
	while (end > 0 && strchr(" \t\r\n\v\f", out.data[end - 1]) != NULL)
		end--;
	buf_truncate(&out, end);
	return buf_take(&out);
}

/* --- without keys and passwords -------------------------------------- */

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
