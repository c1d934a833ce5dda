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

/* Characters that control a terminal, or that nobody sees: with them a text
 * looks like another one. */
static const struct {
	uint32_t first, last;
} text_hidden[] = {
	{ 0x0, 0x1f }, { 0x7f, 0x9f }, /* C0, DEL, C1 */
	{ 0xad, 0xad }, /* soft hyphen */
	{ 0x61c, 0x61c }, { 0x200e, 0x200f }, /* marks of direction */
	{ 0x180e, 0x180e }, { 0x200b, 0x200d }, /* no width */
	{ 0x2028, 0x2029 }, /* separators of lines and paragraphs */
	{ 0x202a, 0x202e }, { 0x2066, 0x2069 }, /* direction changed */
	{ 0x2060, 0x2065 }, { 0x206a, 0x206f }, { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, /* notes between the lines */
	{ 0xe0000, 0xe0fff }, /* tags, selectors of variants */
};

static bool
text_is_hidden(uint32_t codepoint)
{
	if (codepoint >= 0x20 && codepoint < 0x7f)
		return false;
	for (size_t i = 0; i < nitems(text_hidden); i++)
		if (codepoint >= text_hidden[i].first &&
		    codepoint <= text_hidden[i].last)
			return true;
	return false;
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

/* \u202e, and a surrogate pair beyond U+FFFF. */
static void
text_add_escape(struct buf *out, uint32_t codepoint)
{
	if (codepoint < 0x10000) {
		buf_addf(out, "\\u%04x", (unsigned int)codepoint);
		return;
	}
	codepoint -= 0x10000;
	buf_addf(out, "\\u%04x\\u%04x",
	    0xd800u | (unsigned int)(codepoint >> 10),
	    0xdc00u | (unsigned int)(codepoint & 0x3ff));
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
		else if (text_is_hidden(codepoint))
			text_add_escape(out, codepoint);
		else
			buf_add(out, s, n);
	}
	buf_addc(out, '"');
}

void
text_add_json_escaped(struct buf *out, const char *s, size_t len)
{
	uint32_t codepoint;
	size_t n, good = 0;

	while (good < len) {
		n = text_utf8_decode(s + good, len - good, &codepoint);
		if (n > 0 && (codepoint < 0x20 || !text_is_hidden(codepoint))) {
			good += n;
			continue;
		}
		buf_add(out, s, good);
		if (n == 0)
			text_add_codepoint(out, TEXT_REPLACEMENT);
		else
			text_add_escape(out, codepoint);
		s += good + (n == 0 ? 1 : n);
		len -= good + (n == 0 ? 1 : n);
		good = 0;
	}
	buf_add(out, s, good);
}

/* Bytes of control characters and invalid ones as \xNN, characters that nobody
 * sees as \u202e. */
static void
text_add_hidden(struct buf *out, const char *s, size_t n, uint32_t codepoint)
{
	if (n > 0 && codepoint >= 0xa0) {
		text_add_escape(out, codepoint);
		return;
	}
	for (size_t i = 0; i < (n == 0 ? 1 : n); i++)
		buf_addf(out, "\\x%02x", (unsigned char)s[i]);
}

void
text_add_visible(struct buf *out, const char *s, size_t len, bool keep_newlines)
{
	uint32_t codepoint = 0;
	size_t n;

	for (; len > 0; s += n, len -= n) {
		n = text_utf8_decode(s, len, &codepoint);
		if (n > 0 &&
		    (!text_is_hidden(codepoint) ||
			(keep_newlines && (*s == '\n' || *s == '\t')))) {
			buf_add(out, s, n);
			continue;
		}
		text_add_hidden(out, s, n, codepoint);
		if (n == 0)
			n = 1;
	}
}

void
text_add_line(struct buf *out, const char *s, size_t len)
{
	bool gap = false, begun = false;

	for (size_t i = 0; i < len; i++) {
		if (memchr(" \t\n\v\f\r", s[i], 6) != NULL) {
			gap = begun;
			continue;
		}
		if (gap)
			buf_addc(out, ' ');
		buf_addc(out, s[i]);
		gap = false;
		begun = true;
	}
}

void
text_add_words(struct buf *out, const char *s, size_t len)
{
	cleanup_buf struct buf line = BUF_INIT;

	text_add_line(&line, s, len);
	if (line.len > 0)
		text_add_visible(out, line.data, line.len, false);
}

void
text_add_quoted(struct buf *out, const char *s, size_t len)
{
	cleanup_buf struct buf visible = BUF_INIT;
	const char *line;

	text_add_visible(&visible, s, len, true);
	for (line = visible.data; *line != '\0';) {
		size_t n = strcspn(line, "\n");

		buf_adds(out, "| ");
		buf_add(out, line, n);
		buf_addc(out, '\n');
		line += n;
		if (*line == '\n')
			line++;
	}
}

/* The length of a sequence that sets colours, 0 if it is something else. */
static size_t
text_sgr_len(const char *s, size_t len)
{
	size_t n = 2;

	if (len < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (n < len && ((s[n] >= '0' && s[n] <= '9') || s[n] == ';'))
		n++;
	return n < len && s[n] == 'm' ? n + 1 : 0;
}

void
text_add_terminal(struct buf *out, const char *s, size_t len)
{
	const char *escape;
	size_t n, sgr;

	for (; len > 0; s += n + sgr, len -= n + sgr) {
		escape = memchr(s, '\033', len);
		n = escape == NULL ? len : (size_t)(escape - s);
		sgr = text_sgr_len(s + n, len - n);
		if (n < len && sgr == 0)
			n++;
		text_add_visible(out, s, n, true);
		buf_add(out, s + n, sgr);
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
