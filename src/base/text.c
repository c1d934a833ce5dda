/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

bool
text_is(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool
text_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
text_begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

bool
text_ends(const char *s, const char *with)
{
	size_t len = strlen(s), end = strlen(with);

	return len >= end && strcmp(s + len - end, with) == 0;
}

bool
text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
text_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of any length; both are passed over. */
static int
compare_numbers(const char **a, const char **b)
{
	size_t len_a, len_b;
	int order;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	len_a = strspn(*a, "0123456789");
	len_b = strspn(*b, "0123456789");
	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	order = strncmp(*a, *b, len_a);
	*a += len_a;
	*b += len_b;
	return order;
}

int
natural_compare(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;
	int order;

	while (*a != '\0' && *b != '\0') {
		if (text_is_digit(*a) && text_is_digit(*b)) {
			order = compare_numbers(&a, &b);
			if (order != 0)
				return order;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	if (*a != *b)
		return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
	return strcmp(whole_a, whole_b); /* 01 and 1 */
}

#define TEXT_CODEPOINT_MAX 0x10ffff
#define TEXT_REPLACEMENT   0xfffd
#define TEXT_NAME_MAX      32
#define TEXT_DURATION_MAX  (INT64_C(1000000) * 86400000)
#define TEXT_FRACTION_MAX  1000000000
#define TEXT_LOWER         "abcdefghijklmnopqrstuvwxyz"
#define TEXT_UPPER         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TEXT_DIGITS        "0123456789"

static bool
text_codepoint_exists(uint32_t codepoint)
{
	return codepoint <= TEXT_CODEPOINT_MAX &&
	    (codepoint < 0xd800 || codepoint > 0xdfff);
}

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

bool
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

/* Bytes of control characters and invalid ones as \xNN, invisible characters as
 * \u202e. */
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
text_add_names(
    struct buf *out, const char *const *names, size_t count, size_t most)
{
	for (size_t i = 0; i < count && i < most; i++) {
		buf_adds(out, i > 0 ? ", " : "");
		text_add_visible(out, names[i], strlen(names[i]), false);
	}
	if (count > most)
		buf_addf(out, " and %zu more", count - most);
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

struct text_range {
	uint32_t first, last;
};

/* Combining marks, format characters, and the parts of Hangul syllables that
 * join the preceding one. */
static const struct text_range text_zero[] = { { 0x0000, 0x001f },
	{ 0x007f, 0x009f }, { 0x0300, 0x036f }, { 0x0483, 0x0489 },
	{ 0x0591, 0x05bd }, { 0x05bf, 0x05bf }, { 0x05c1, 0x05c2 },
	{ 0x05c4, 0x05c5 }, { 0x05c7, 0x05c7 }, { 0x0610, 0x061a },
	{ 0x061c, 0x061c }, { 0x064b, 0x065f }, { 0x0670, 0x0670 },
	{ 0x06d6, 0x06dc }, { 0x06df, 0x06e4 }, { 0x06e7, 0x06e8 },
	{ 0x06ea, 0x06ed }, { 0x0711, 0x0711 }, { 0x0730, 0x074a },
	{ 0x07a6, 0x07b0 }, { 0x07eb, 0x07f3 }, { 0x07fd, 0x07fd },
	{ 0x0816, 0x0819 }, { 0x081b, 0x0823 }, { 0x0825, 0x0827 },
	{ 0x0829, 0x082d }, { 0x0859, 0x085b }, { 0x0897, 0x089f },
	{ 0x08ca, 0x08e1 }, { 0x08e3, 0x0902 }, { 0x093a, 0x093a },
	{ 0x093c, 0x093c }, { 0x0941, 0x0948 }, { 0x094d, 0x094d },
	{ 0x0951, 0x0957 }, { 0x0962, 0x0963 }, { 0x0981, 0x0981 },
	{ 0x09bc, 0x09bc }, { 0x09c1, 0x09c4 }, { 0x09cd, 0x09cd },
	{ 0x09e2, 0x09e3 }, { 0x09fe, 0x0a02 }, { 0x0a3c, 0x0a3c },
	{ 0x0a41, 0x0a51 }, { 0x0a70, 0x0a71 }, { 0x0a75, 0x0a75 },
	{ 0x0a81, 0x0a82 }, { 0x0abc, 0x0abc }, { 0x0ac1, 0x0ac8 },
	{ 0x0acd, 0x0acd }, { 0x0ae2, 0x0ae3 }, { 0x0afa, 0x0b01 },
	{ 0x0b3c, 0x0b3c }, { 0x0b3f, 0x0b3f }, { 0x0b41, 0x0b44 },
	{ 0x0b4d, 0x0b56 }, { 0x0b62, 0x0b63 }, { 0x0b82, 0x0b82 },
	{ 0x0bc0, 0x0bc0 }, { 0x0bcd, 0x0bcd }, { 0x0c00, 0x0c00 },
	{ 0x0c04, 0x0c04 }, { 0x0c3c, 0x0c3c }, { 0x0c3e, 0x0c40 },
	{ 0x0c46, 0x0c56 }, { 0x0c62, 0x0c63 }, { 0x0c81, 0x0c81 },
	{ 0x0cbc, 0x0cbc }, { 0x0cbf, 0x0cbf }, { 0x0cc6, 0x0cc6 },
	{ 0x0ccc, 0x0ccd }, { 0x0ce2, 0x0ce3 }, { 0x0d00, 0x0d01 },
	{ 0x0d3b, 0x0d3c }, { 0x0d41, 0x0d44 }, { 0x0d4d, 0x0d4d },
	{ 0x0d62, 0x0d63 }, { 0x0d81, 0x0d81 }, { 0x0dca, 0x0dca },
	{ 0x0dd2, 0x0dd6 }, { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e }, { 0x0eb1, 0x0eb1 }, { 0x0eb4, 0x0ebc },
	{ 0x0ec8, 0x0ece }, { 0x0f18, 0x0f19 }, { 0x0f35, 0x0f35 },
	{ 0x0f37, 0x0f37 }, { 0x0f39, 0x0f39 }, { 0x0f71, 0x0f7e },
	{ 0x0f80, 0x0f84 }, { 0x0f86, 0x0f87 }, { 0x0f8d, 0x0fbc },
	{ 0x0fc6, 0x0fc6 }, { 0x102d, 0x1030 }, { 0x1032, 0x1037 },
	{ 0x1039, 0x103a }, { 0x103d, 0x103e }, { 0x1058, 0x1059 },
	{ 0x105e, 0x1060 }, { 0x1071, 0x1074 }, { 0x1082, 0x1082 },
	{ 0x1085, 0x1086 }, { 0x108d, 0x108d }, { 0x109d, 0x109d },
	{ 0x1160, 0x11ff }, { 0x135d, 0x135f }, { 0x1712, 0x1714 },
	{ 0x1732, 0x1733 }, { 0x1752, 0x1753 }, { 0x1772, 0x1773 },
	{ 0x17b4, 0x17b5 }, { 0x17b7, 0x17bd }, { 0x17c6, 0x17c6 },
	{ 0x17c9, 0x17d3 }, { 0x17dd, 0x17dd }, { 0x180b, 0x180f },
	{ 0x1885, 0x1886 }, { 0x18a9, 0x18a9 }, { 0x1920, 0x1922 },
	{ 0x1927, 0x1928 }, { 0x1932, 0x1932 }, { 0x1939, 0x193b },
	{ 0x1a17, 0x1a18 }, { 0x1a1b, 0x1a1b }, { 0x1a56, 0x1a56 },
	{ 0x1a58, 0x1a60 }, { 0x1a62, 0x1a62 }, { 0x1a65, 0x1a6c },
	{ 0x1a73, 0x1a7f }, { 0x1ab0, 0x1b03 }, { 0x1b34, 0x1b34 },
	{ 0x1b36, 0x1b3a }, { 0x1b3c, 0x1b3c }, { 0x1b42, 0x1b42 },
	{ 0x1b6b, 0x1b73 }, { 0x1b80, 0x1b81 }, { 0x1ba2, 0x1ba5 },
	{ 0x1ba8, 0x1ba9 }, { 0x1bab, 0x1bad }, { 0x1be6, 0x1be6 },
	{ 0x1be8, 0x1be9 }, { 0x1bed, 0x1bed }, { 0x1bef, 0x1bf1 },
	{ 0x1c2c, 0x1c33 }, { 0x1c36, 0x1c37 }, { 0x1cd0, 0x1cd2 },
	{ 0x1cd4, 0x1ce0 }, { 0x1ce2, 0x1ce8 }, { 0x1ced, 0x1ced },
	{ 0x1cf4, 0x1cf4 }, { 0x1cf8, 0x1cf9 }, { 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x206f },
	{ 0x20d0, 0x20ff }, { 0x2cef, 0x2cf1 }, { 0x2d7f, 0x2d7f },
	{ 0x2de0, 0x2dff }, { 0x302a, 0x302d }, { 0x3099, 0x309a },
	{ 0xa66f, 0xa672 }, { 0xa674, 0xa67d }, { 0xa69e, 0xa69f },
	{ 0xa6f0, 0xa6f1 }, { 0xa802, 0xa802 }, { 0xa806, 0xa806 },
	{ 0xa80b, 0xa80b }, { 0xa825, 0xa826 }, { 0xa82c, 0xa82c },
	{ 0xa8c4, 0xa8c5 }, { 0xa8e0, 0xa8f1 }, { 0xa8ff, 0xa8ff },
	{ 0xa926, 0xa92d }, { 0xa947, 0xa951 }, { 0xa980, 0xa982 },
	{ 0xa9b3, 0xa9b3 }, { 0xa9b6, 0xa9b9 }, { 0xa9bc, 0xa9bd },
	{ 0xa9e5, 0xa9e5 }, { 0xaa29, 0xaa2e }, { 0xaa31, 0xaa32 },
	{ 0xaa35, 0xaa36 }, { 0xaa43, 0xaa43 }, { 0xaa4c, 0xaa4c },
	{ 0xaa7c, 0xaa7c }, { 0xaab0, 0xaab0 }, { 0xaab2, 0xaab4 },
	{ 0xaab7, 0xaab8 }, { 0xaabe, 0xaabf }, { 0xaac1, 0xaac1 },
	{ 0xaaec, 0xaaed }, { 0xaaf6, 0xaaf6 }, { 0xabe5, 0xabe5 },
	{ 0xabe8, 0xabe8 }, { 0xabed, 0xabed }, { 0xd7b0, 0xd7ff },
	{ 0xfb1e, 0xfb1e }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0x101fd, 0x101fd },
	{ 0x102e0, 0x102e0 }, { 0x10376, 0x1037a }, { 0x10a01, 0x10a0f },
	{ 0x10a38, 0x10a3f }, { 0x10ae5, 0x10ae6 }, { 0x10d24, 0x10d27 },
	{ 0x10d69, 0x10d6d }, { 0x10eab, 0x10eac }, { 0x10efc, 0x10eff },
	{ 0x10f46, 0x10f50 }, { 0x10f82, 0x10f85 }, { 0x11001, 0x11001 },
	{ 0x11038, 0x11046 }, { 0x11070, 0x11070 }, { 0x11073, 0x11074 },
	{ 0x1107f, 0x11081 }, { 0x110b3, 0x110b6 }, { 0x110b9, 0x110ba },
	{ 0x110c2, 0x110c2 }, { 0x11100, 0x11102 }, { 0x11127, 0x1112b },
	{ 0x1112d, 0x11134 }, { 0x11173, 0x11173 }, { 0x11180, 0x11181 },
	{ 0x111b6, 0x111be }, { 0x111c9, 0x111cc }, { 0x111cf, 0x111cf },
	{ 0x1122f, 0x11231 }, { 0x11234, 0x11234 }, { 0x11236, 0x11237 },
	{ 0x1123e, 0x1123e }, { 0x11241, 0x11241 }, { 0x112df, 0x112df },
	{ 0x112e3, 0x112ea }, { 0x11300, 0x11301 }, { 0x1133b, 0x1133c },
	{ 0x11340, 0x11340 }, { 0x11366, 0x11374 }, { 0x11438, 0x1143f },
	{ 0x11442, 0x11444 }, { 0x11446, 0x11446 }, { 0x1145e, 0x1145e },
	{ 0x114b3, 0x114b8 }, { 0x114ba, 0x114ba }, { 0x114bf, 0x114c0 },
	{ 0x114c2, 0x114c3 }, { 0x115b2, 0x115b5 }, { 0x115bc, 0x115bd },
	{ 0x115bf, 0x115c0 }, { 0x115dc, 0x115dd }, { 0x11633, 0x1163a },
	{ 0x1163d, 0x1163d }, { 0x1163f, 0x11640 }, { 0x116ab, 0x116ab },
	{ 0x116ad, 0x116ad }, { 0x116b0, 0x116b5 }, { 0x116b7, 0x116b7 },
	{ 0x1171d, 0x1171f }, { 0x11722, 0x11725 }, { 0x11727, 0x1172b },
	{ 0x1182f, 0x11837 }, { 0x11839, 0x1183a }, { 0x1193b, 0x1193c },
	{ 0x1193e, 0x1193e }, { 0x11943, 0x11943 }, { 0x119d4, 0x119db },
	{ 0x119e0, 0x119e0 }, { 0x11a01, 0x11a0a }, { 0x11a33, 0x11a38 },
	{ 0x11a3b, 0x11a3e }, { 0x11a47, 0x11a47 }, { 0x11a51, 0x11a56 },
	{ 0x11a59, 0x11a5b }, { 0x11a8a, 0x11a96 }, { 0x11a98, 0x11a99 },
	{ 0x11c30, 0x11c3d }, { 0x11c3f, 0x11c3f }, { 0x11c92, 0x11ca7 },
	{ 0x11caa, 0x11cb0 }, { 0x11cb2, 0x11cb3 }, { 0x11cb5, 0x11cb6 },
	{ 0x11d31, 0x11d45 }, { 0x11d47, 0x11d47 }, { 0x11d90, 0x11d91 },
	{ 0x11d95, 0x11d95 }, { 0x11d97, 0x11d97 }, { 0x11ef3, 0x11ef4 },
	{ 0x11f00, 0x11f01 }, { 0x11f36, 0x11f3a }, { 0x11f40, 0x11f40 },
	{ 0x11f42, 0x11f42 }, { 0x13430, 0x13440 }, { 0x13447, 0x13455 },
	{ 0x16af0, 0x16af4 }, { 0x16b30, 0x16b36 }, { 0x16f4f, 0x16f4f },
	{ 0x16f8f, 0x16f92 }, { 0x16fe4, 0x16fe4 }, { 0x1bc9d, 0x1bc9e },
	{ 0x1bca0, 0x1bca3 }, { 0x1cf00, 0x1cf46 }, { 0x1d167, 0x1d169 },
	{ 0x1d173, 0x1d182 }, { 0x1d185, 0x1d18b }, { 0x1d1aa, 0x1d1ad },
	{ 0x1d242, 0x1d244 }, { 0x1da00, 0x1da36 }, { 0x1da3b, 0x1da6c },
	{ 0x1da75, 0x1da75 }, { 0x1da84, 0x1da84 }, { 0x1da9b, 0x1daaf },
	{ 0x1e000, 0x1e02a }, { 0x1e08f, 0x1e08f }, { 0x1e130, 0x1e136 },
	{ 0x1e2ae, 0x1e2ae }, { 0x1e2ec, 0x1e2ef }, { 0x1e4ec, 0x1e4ef },
	{ 0x1e8d0, 0x1e8d6 }, { 0x1e944, 0x1e94a }, { 0xe0000, 0xe0fff } };

/* East Asian wide and full-width characters, and emoji shown as pictures. */
static const struct text_range text_wide[] = { { 0x1100, 0x115f },
	{ 0x231a, 0x231b }, { 0x2329, 0x232a }, { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 }, { 0x23f3, 0x23f3 }, { 0x25fd, 0x25fe },
	{ 0x2614, 0x2615 }, { 0x2648, 0x2653 }, { 0x267f, 0x267f },
	{ 0x2693, 0x2693 }, { 0x26a1, 0x26a1 }, { 0x26aa, 0x26ab },
	{ 0x26bd, 0x26be }, { 0x26c4, 0x26c5 }, { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea }, { 0x26f2, 0x26f3 },
	{ 0x26f5, 0x26f5 }, { 0x26fa, 0x26fa }, { 0x26fd, 0x26fd },
	{ 0x2705, 0x2705 }, { 0x270a, 0x270b }, { 0x2728, 0x2728 },
	{ 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 }, { 0x2795, 0x2797 }, { 0x27b0, 0x27b0 },
	{ 0x27bf, 0x27bf }, { 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b50 },
	{ 0x2b55, 0x2b55 }, { 0x2e80, 0x303e }, { 0x3041, 0x3247 },
	{ 0x3250, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe10, 0xfe1f }, { 0xfe30, 0xfe6f },
	{ 0xff01, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x16fe0, 0x18dff },
	{ 0x1aff0, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 },
	{ 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 },
	{ 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 },
	{ 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 },
	{ 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e },
	{ 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 },
	{ 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 },
	{ 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df },
	{ 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6ff }, { 0x1f7e0, 0x1f7ff },
	{ 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd } };

static int
text_range_compare(const void *key, const void *element)
{
	const uint32_t *codepoint = key;
	const struct text_range *range = element;

	if (*codepoint < range->first)
		return -1;
	return *codepoint > range->last;
}

static bool
text_in(uint32_t codepoint, const struct text_range *ranges, size_t count)
{
	return bsearch(&codepoint, ranges, count, sizeof *ranges,
		   text_range_compare) != NULL;
}

/* Advance *s by one character and return its columns. An invalid byte is shown
 * as one replacement character. */
static int
text_take_columns(const char **s, size_t *len)
{
	uint32_t codepoint;
	size_t n = text_utf8_decode(*s, *len, &codepoint);
	int columns = 1;

	if (n == 0)
		n = 1;
	else if (text_in(codepoint, text_zero, nitems(text_zero)))
		columns = 0;
	else if (text_in(codepoint, text_wide, nitems(text_wide)))
		columns = 2;
	*s += n;
	*len -= n;
	return columns;
}

int
text_width(const char *s, size_t len)
{
	int width = 0;

	while (len > 0 && width < INT_MAX - 2)
		width += text_take_columns(&s, &len);
	return width;
}

size_t
text_width_cut(const char *s, size_t len, int max)
{
	const char *start = s, *fits = s;

	while (len > 0 && max >= 0) {
		max -= text_take_columns(&s, &len);
		if (max >= 0)
			fits = s;
	}
	return (size_t)(fits - start);
}
