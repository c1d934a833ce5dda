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
#include "remedy-shape.h"
#include "span.h"
#include "text.h"

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

bool
remedy_mask_name(const char *name)
{
	return name_find((struct span){ name, strlen(name) }) < nitems(names);
}
