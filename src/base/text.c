/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "text.h"

#define TEXT_CODEPOINT_MAX 0x10ffff
#define TEXT_REPLACEMENT   0xfffd

#define TEXT_NAME_MAX 32

#define TEXT_DURATION_MAX (INT64_C(1000000) * 86400000)
#define TEXT_FRACTION_MAX 1000000000

#define TEXT_LOWER  "abcdefghijklmnopqrstuvwxyz"
#define TEXT_UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TEXT_DIGITS "0123456789"

static bool
text_codepoint_exists(uint32_t codepoint)
{
	return codepoint <= TEXT_CODEPOINT_MAX &&
	    (codepoint < 0xd800 || codepoint > 0xdfff);
}

/* C0, DEL and C1: the characters that control a terminal. */
static bool
text_is_control(uint32_t codepoint)
{
	return codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0);
}

size_t
text_utf8_decode(const char *s, size_t len, uint32_t *ret_codepoint)
{
	/* The smallest code point of each length: less is an overlong form. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)s;
	uint32_t codepoint;
	size_t n;

	if (len == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*ret_codepoint = bytes[0];
		return 1;
	}
	if (bytes[0] < 0xc0 || bytes[0] > 0xf7)
		return 0;
	n = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	if (n > len)
		return 0;
	codepoint = bytes[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		codepoint = codepoint << 6 | (bytes[i] & 0x3f);
	}
	if (codepoint < least[n] || !text_codepoint_exists(codepoint))
		return 0;
	*ret_codepoint = codepoint;
	return n;
}

size_t
text_utf8_len(const char *s, size_t len)
{
	uint32_t codepoint;

	return text_utf8_decode(s, len, &codepoint);
}

bool
text_utf8_valid(const char *s, size_t len)
{
	size_t n;

	for (; len > 0; s += n, len -= n) {
		n = text_utf8_len(s, len);
		if (n == 0)
			return false;
	}
	return true;
}

void
text_add_utf8(struct buf *out, const char *s, size_t len)
{
	size_t n, good = 0;

	while (good < len) {
		n = text_utf8_len(s + good, len - good);
		if (n > 0) {
			good += n;
			continue;
		}
		buf_add(out, s, good);
		text_add_codepoint(out, TEXT_REPLACEMENT);
		s += good + 1;
		len -= good + 1;
		good = 0;
	}
	buf_add(out, s, good);
}

void
text_add_codepoint(struct buf *out, uint32_t codepoint)
{
	char bytes[4];
	size_t n;

	if (!text_codepoint_exists(codepoint))
		codepoint = TEXT_REPLACEMENT;
	if (codepoint < 0x80) {
		buf_addc(out, (char)codepoint);
		return;
	}
	n = codepoint < 0x800 ? 2 : codepoint < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--) {
		bytes[i] = (char)(0x80 | (codepoint & 0x3f));
		codepoint >>= 6;
	}
	bytes[0] = (char)((0xf00u >> n & 0xff) | codepoint);
	buf_add(out, bytes, n);
}

size_t
text_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	/* A lead byte is never inside another character, so it is enough to
	 * look back for one whose character crosses the cut. */
	for (size_t back = 1; back < 4 && back <= max; back++) {
		size_t at = max - back;

		if (text_utf8_len(s + at, len - at) > back)
			return at;
	}
	return max;
}

void
text_add_json(struct buf *out, const char *s, size_t len)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *found;
	uint32_t codepoint;
	size_t n;

	buf_addc(out, '"');
	for (; len > 0; s += n, len -= n) {
		n = text_utf8_decode(s, len, &codepoint);
		if (n == 0) {
			text_add_codepoint(out, TEXT_REPLACEMENT);
			n = 1;
			continue;
		}
		found = memchr(escaped, *s, sizeof escaped - 1);
		if (found != NULL)
			buf_addf(out, "\\%c", letters[found - escaped]);
		else if (text_is_control(codepoint))
			buf_addf(out, "\\u%04x", (unsigned int)codepoint);
		else
			buf_add(out, s, n);
	}
	buf_addc(out, '"');
}

void
text_add_visible(struct buf *out, const char *s, size_t len, bool keep_newlines)
{
	uint32_t codepoint;
	size_t n;

	for (; len > 0; s += n, len -= n) {
		n = text_utf8_decode(s, len, &codepoint);
		if (n > 0 &&
		    (!text_is_control(codepoint) ||
			(keep_newlines && (*s == '\n' || *s == '\t')))) {
			buf_add(out, s, n);
			continue;
		}
		if (n == 0)
			n = 1;
		for (size_t i = 0; i < n; i++)
			buf_addf(out, "\\x%02x", (unsigned char)s[i]);
	}
}

void
text_add_shell(struct buf *out, const char *s)
{
	/* Without '=': before a command it would be an assignment. */
	static const char plain[] =
	    TEXT_LOWER TEXT_UPPER TEXT_DIGITS "%+,-./:@_";
	size_t n;

	if (*s != '\0' && s[strspn(s, plain)] == '\0') {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '\'');
	for (;;) {
		n = strcspn(s, "'");
		buf_add(out, s, n);
		if (s[n] == '\0')
			break;
		buf_adds(out, "'\\''");
		s += n + 1;
	}
	buf_addc(out, '\'');
}

/* The number of edits and swaps of neighbours that turn a into b; no letter is
 * edited twice. */
static size_t
text_distance(const char *a, const char *b)
{
	size_t alen = strlen(a), blen = strlen(b), best;
	cleanup_free size_t *rows = xcalloc(3 * (blen + 1), sizeof *rows);
	size_t *now = rows, *last = now + blen + 1, *older = last + blen + 1;
	size_t *spare;

	for (size_t j = 0; j <= blen; j++)
		now[j] = j;
	for (size_t i = 1; i <= alen; i++) {
		int ca = tolower((unsigned char)a[i - 1]);

		spare = older;
		older = last;
		last = now;
		now = spare;
		now[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			int cb = tolower((unsigned char)b[j - 1]);

			best = last[j - 1] + (ca != cb);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && older[j - 2] + 1 < best &&
			    tolower((unsigned char)a[i - 2]) == cb &&
			    tolower((unsigned char)b[j - 2]) == ca)
				best = older[j - 2] + 1;
			now[j] = best;
		}
	}
	return now[blen];
}

const char *
text_nearest(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	size_t len = strlen(word), best = 0;

	for (; *candidates != NULL; candidates++) {
		size_t other = strlen(*candidates);
		size_t longer = len > other ? len : other;
		size_t shorter = len > other ? other : len;
		size_t limit = longer < 3 ? 1 : longer / 3;
		size_t distance;

		/* Too different in length: avoid the work for huge words. */
		if (longer - shorter > limit)
			continue;
		distance = text_distance(word, *candidates);
		if (distance > limit || (nearest != NULL && distance >= best))
			continue;
		nearest = *candidates;
		best = distance;
	}
	return nearest;
}

/* Largest first, in the order they are written. */
static const struct text_unit {
	const char *name;
	int64_t ms;
} text_units[] = {
	{ "d", 86400000 },
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

/* "12" or "1.5": whole + fraction / of. */
struct text_number {
	int64_t whole, fraction, of;
};

static bool
text_scan_number(const char **s, struct text_number *ret)
{
	struct text_number n = { 0, 0, 1 };
	const char *p = *s;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++) {
		n.whole = n.whole * 10 + (*p - '0');
		if (n.whole > TEXT_DURATION_MAX)
			return false;
	}
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return false;
		for (; isdigit((unsigned char)*p); p++) {
			if (n.of == TEXT_FRACTION_MAX)
				return false;
			n.fraction = n.fraction * 10 + (*p - '0');
			n.of *= 10;
		}
	}
	*ret = n;
	*s = p;
	return true;
}

/* Round up to a millisecond, so that only zero gives zero. */
static bool
text_sum_duration(const struct text_number *n, int64_t unit_ms, int64_t *total)
{
	int64_t ms;

	if (n->whole > TEXT_DURATION_MAX / unit_ms)
		return false;
	ms = n->whole * unit_ms + (n->fraction * unit_ms + n->of - 1) / n->of;
	if (ms > TEXT_DURATION_MAX - *total)
		return false;
	*total += ms;
	return true;
}

bool
text_parse_duration(const char *s, int64_t *ret_ms)
{
	const struct text_unit *unit = text_units;
	const struct text_unit *end = text_units + nitems(text_units);
	struct text_number n;
	int64_t total = 0;
	size_t len;

	if (!text_scan_number(&s, &n))
		return false;
	if (*s == '\0')
		s = "s";
	for (;;) {
		len = strspn(s, "dhms");
		while (unit < end &&
		    (strlen(unit->name) != len ||
			memcmp(unit->name, s, len) != 0))
			unit++;
		if (unit == end || !text_sum_duration(&n, unit->ms, &total))
			return false;
		unit++;
		s += len;
		if (*s == '\0')
			break;
		/* Only the last number may have a fraction. */
		if (n.of > 1 || !text_scan_number(&s, &n))
			return false;
	}
	*ret_ms = total;
	return true;
}

/* "1.25s", without trailing zeros. */
static void
text_add_seconds(struct buf *out, unsigned int ms)
{
	buf_addf(out, "%u.%03u", ms / 1000, ms % 1000);
	while (out->data[out->len - 1] == '0')
		buf_truncate(out, out->len - 1);
	buf_addc(out, 's');
}

void
text_add_duration(struct buf *out, int64_t ms)
{
	uint64_t left = ms < 0 ? -(uint64_t)ms : (uint64_t)ms, count;
	int parts = 0;

	if (ms < 0)
		buf_addc(out, '-');
	if (left == 0) {
		buf_adds(out, "0s");
		return;
	}
	if (left > 1000 && left < 10000 && left % 1000 != 0) {
		text_add_seconds(out, (unsigned int)left);
		return;
	}
	if (left >= 10000)
		left -= left % 1000;
	for (size_t i = 0; i < nitems(text_units) && parts < 2; i++) {
		count = left / (uint64_t)text_units[i].ms;
		left %= (uint64_t)text_units[i].ms;
		if (count == 0)
			continue;
		buf_addf(out, "%" PRIu64 "%s", count, text_units[i].name);
		parts++;
	}
}

bool
text_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	const char *digits = s + (*s == '-');
	long long value;

	if (*digits == '\0' || digits[strspn(digits, TEXT_DIGITS)] != '\0')
		return false;
	errno = 0;
	value = strtoll(s, NULL, 10);
	if (errno != 0 || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

bool
text_is_name(const char *s)
{
	size_t len = strspn(s, TEXT_LOWER TEXT_DIGITS "_-");

	return len > 0 && len <= TEXT_NAME_MAX && s[len] == '\0' && *s != '_' &&
	    *s != '-';
}
