/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "json-scan.h"
#include "json.h"
#include "mem.h"
#include "text.h"

/*
 * json-c's strict mode still accepts NaN, -01, 1., the wrong kind of quotes,
 * raw control characters and overlong UTF-8, truncates keys at \u0000 and
 * saturates integers. So the tokens are checked here first; only the grammar is
 * left to json-c.
 */
static bool
json_scan_fail(struct json_scan *s, const char *words)
{
	s->words = words;
	return false;
}

/* The byte at pos, 0 at the end: callers never look for a NUL. */
static char
json_scan_peek(const struct json_scan *s)
{
	return s->pos < s->len ? s->bytes[s->pos] : '\0';
}

static size_t
json_scan_digits(struct json_scan *s)
{
	size_t start = s->pos;

	while (json_scan_peek(s) >= '0' && json_scan_peek(s) <= '9')
		s->pos++;
	return s->pos - start;
}

static bool
json_scan_escape(struct json_scan *s)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t start = s->pos++;
	bool zero = true;
	char c = json_scan_peek(s);

	if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL)
		return json_scan_fail(s, "unknown escape in a string");
	s->pos++;
	if (c != 'u')
		return true;
	for (int i = 0; i < 4; i++, s->pos++) {
		c = json_scan_peek(s);
		if (c == '\0' || strchr(hex, c) == NULL)
			return json_scan_fail(s, "\\u needs four hex digits");
		zero = zero && c == '0';
	}
	if (zero) {
		s->pos = start;
		return json_scan_fail(s, "\\u0000 in a string");
	}
	return true;
}

static bool
json_scan_string(struct json_scan *s)
{
	size_t n;
	unsigned char c;

	for (s->pos++; s->pos < s->len;) {
		c = (unsigned char)s->bytes[s->pos];
		if (c == '"') {
			s->pos++;
			return true;
		}
		if (c < 0x20)
			return json_scan_fail(
			    s, "control character in a string");
		if (c == '\\') {
			if (!json_scan_escape(s))
				return false;
			continue;
		}
		n = c < 0x80 ?
		    1 :
		    text_utf8_len(s->bytes + s->pos, s->len - s->pos);
		if (n == 0)
			return json_scan_fail(s, "invalid UTF-8");
		s->pos += n;
	}
	return json_scan_fail(s, "unexpected end of data in a string");
}

/* Can json-c hold a number of these digits exactly? There are no leading zeros
 * here, so strings of equal length compare like numbers. */
static bool
json_digits_fit(const char *digits, size_t len, bool negative)
{
	const char *most =
	    negative ? "9223372036854775808" : "18446744073709551615";
	size_t most_len = strlen(most);

	return len < most_len ||
	    (len == most_len && memcmp(digits, most, len) <= 0);
}

static bool
json_scan_number(struct json_scan *s)
{
	size_t start = s->pos, digits, len;
	bool negative = json_scan_peek(s) == '-', integer = true;

	s->pos += negative;
	digits = s->pos;
	len = json_scan_digits(s);
	if (len == 0)
		return json_scan_fail(s, "expected a digit");
	if (s->bytes[digits] == '0' && len > 1) {
		s->pos = start;
		return json_scan_fail(s, "number with a leading zero");
	}
	if (json_scan_peek(s) == '.') {
		integer = false;
		s->pos++;
		if (json_scan_digits(s) == 0)
			return json_scan_fail(s, "expected a digit");
	}
	if (json_scan_peek(s) == 'e' || json_scan_peek(s) == 'E') {
		integer = false;
		s->pos++;
		if (json_scan_peek(s) == '+' || json_scan_peek(s) == '-')
			s->pos++;
		if (json_scan_digits(s) == 0)
			return json_scan_fail(s, "expected a digit");
	}
	if (integer && !json_digits_fit(s->bytes + digits, len, negative)) {
		s->pos = start;
		return json_scan_fail(s, "integer out of range");
	}
	return true;
}

static bool
json_scan_literal(struct json_scan *s)
{
	static const char *const literals[] = { "true", "false", "null" };
	size_t len;

	for (size_t i = 0; i < nitems(literals); i++) {
		len = strlen(literals[i]);
		if (len <= s->len - s->pos &&
		    memcmp(s->bytes + s->pos, literals[i], len) == 0) {
			s->pos += len;
			return true;
		}
	}
	return json_scan_fail(s, "unexpected character");
}

static bool
json_scan_token(struct json_scan *s)
{
	char c = json_scan_peek(s);

	if (c == '"')
		return json_scan_string(s);
	if (c == '-' || (c >= '0' && c <= '9'))
		return json_scan_number(s);
	if (c == '\0' || strchr(" \t\r\n{}[]:,", c) == NULL)
		return json_scan_literal(s);
	s->pos++;
	return true;
}

/* What json-c allocates for the token, in units of about 50 bytes: even an
 * empty object has a table, and an empty array a list. */
static size_t
json_scan_weight(char c)
{
	static const struct {
		char first;
		size_t weight;
	} weights[] = {
		{ '{', 16 },
		{ '[', 6 },
		{ '}', 0 },
		{ ']', 0 },
		{ ':', 0 },
		{ ',', 0 },
		{ ' ', 0 },
		{ '\t', 0 },
		{ '\r', 0 },
		{ '\n', 0 },
	};

	for (size_t i = 0; i < nitems(weights); i++)
		if (weights[i].first == c)
			return weights[i].weight;
	return 1;
}

int
json_scan(struct json_scan *s)
{
	size_t weight = 0;
	int depth = 0;
	char c;

	while (s->pos < s->len) {
		c = json_scan_peek(s);
		if (c == '[' || c == '{')
			depth++;
		else if (c == ']' || c == '}')
			depth--;
		weight += json_scan_weight(c);
		if (depth > JSON_DEPTH_MAX || weight > s->weight_max) {
			s->words = depth > JSON_DEPTH_MAX ?
			    "nested too deeply" :
			    "too many values";
			return -E2BIG;
		}
		if (!json_scan_token(s))
			return -EINVAL;
	}
	return 0;
}
