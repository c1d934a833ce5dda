/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "error-signature.h"

#include "behaviour-private.h"

/* Where the signature goes: a buffer, or only its hash. */
struct sink {
	struct buf *out;
	uint64_t hash;
	bool names; /* a path counts by its last part */
	bool blank; /* the last byte was one, or nothing was there */
};

struct scan {
	const char *s;
	size_t len, i;
};

static void
put(struct sink *sink, const char *s, size_t len)
{
	if (sink->out != NULL)
		buf_add(sink->out, s, len);
	for (size_t i = 0; i < len; i++)
		sink->hash =
		    behaviour_hash_byte(sink->hash, (unsigned char)s[i]);
	sink->blank = false;
}

static void
put_word(struct sink *sink, const char *word)
{
	put(sink, word, strlen(word));
}

static bool
is_hex(char c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F');
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (unsigned char)c >= 0x80;
}

static bool
is_word(char c)
{
	return is_letter(c) || text_is_digit(c);
}

static bool
is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Of a token that may be a path. */
static bool
is_token(char c)
{
	return is_word(c) || c == '/' || c == '.' || c == '-' || c == '~' ||
	    c == '+' || c == '@' || c == '%' || c == '\\' || c == '*' ||
	    c == '#' || c == '?' || c == '&' || c == '=';
}

static char
at(const struct scan *scan, size_t i)
{
	return i < scan->len ? scan->s[i] : '\0';
}

/* ":12:5", "(12,5)" after a path belong to it. */
static size_t
skip_position(const struct scan *scan, size_t i)
{
	while (at(scan, i) == ':' &&
	    (text_is_digit(at(scan, i + 1)) || at(scan, i + 1) == '/')) {
		i++;
		while (is_token(at(scan, i)))
			i++;
	}
	if (at(scan, i) == '(' && text_is_digit(at(scan, i + 1))) {
		size_t end = i + 1;

		while (text_is_digit(at(scan, end)) || at(scan, end) == ',')
			end++;
		if (at(scan, end) == ')')
			i = end + 1;
	}
	return i;
}

static bool
is_one_of(const char *const *words, size_t count, const char *s, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
			return true;
	return false;
}

/* The ending of a name such as main.c, which counts as a path before a
 * position; 0 = it has none. */
static size_t
ending_of(const char *s, size_t len)
{
	size_t dot = len;

	while (dot > 0 && s[dot - 1] != '.')
		dot--;
	if (dot < 2 || len == dot || len - dot > 5 || !is_letter(s[dot]))
		return 0;
	for (size_t i = dot; i < len; i++)
		if (!is_word(s[i]))
			return 0;
	return dot;
}

/* One that is the name of a file anywhere: obj.name may be none. */
static bool
is_source(const char *ending, size_t len)
{
	static const char *const endings[] = { "c", "cc", "cpp", "cs", "css",
		"go", "h", "hpp", "html", "java", "js", "json", "jsx", "kt",
		"md", "php", "py", "rb", "rs", "sh", "sql", "swift", "toml",
		"ts", "tsx", "txt", "xml", "yaml", "yml" };

	return is_one_of(endings, nitems(endings), ending, len);
}

/* The end of the path that begins here, or 0. */
static size_t
path_end(const struct scan *scan)
{
	size_t i = scan->i, end, close, dot;
	bool slash = false;

	/* In quotes, a path may have blanks. */
	if (i > 0 && is_quote(scan->s[i - 1]) && scan->s[i] == '/') {
		for (close = i; close < scan->len &&
		     scan->s[close] != scan->s[i - 1] && scan->s[close] != '\n';
		     close++)
			;
		if (at(scan, close) == scan->s[i - 1])
			return close;
	}
	for (end = i; is_token(at(scan, end)); end++)
		slash = slash || scan->s[end] == '/';
	if (at(scan, end) == ':' && at(scan, end + 1) == '/')
		slash = true; /* a URL */
	while (end > i && scan->s[end - 1] == '.')
		end--;
	close = skip_position(scan, end);
	if (slash && end - i > 1)
		return close;
	dot = ending_of(scan->s + i, end - i);
	return dot > 0 &&
		(close > end || is_source(scan->s + i + dot, end - i - dot)) ?
	    close :
	    0;
}

/* 0x7f.., a UUID or at least seven hexadecimal digits, not only letters: the
 * end of it, or 0. */
static size_t
hash_end(const struct scan *scan, const char **ret_word)
{
	size_t i = scan->i, digits = 0, groups = 1, end;

	if (scan->s[i] == '0' && (at(scan, i + 1) | 0x20) == 'x' &&
	    is_hex(at(scan, i + 2))) {
		for (end = i + 2; is_hex(at(scan, end)); end++)
			;
		*ret_word = "<addr>";
		return is_word(at(scan, end)) ? 0 : end;
	}
	for (end = i; is_hex(at(scan, end)) ||
	     (at(scan, end) == '-' && is_hex(at(scan, end + 1)));
	     end++) {
		digits += text_is_digit(scan->s[end]);
		groups += scan->s[end] == '-';
	}
	if (is_word(at(scan, end)) || digits == 0 || digits == end - i)
		return 0;
	*ret_word = "<hash>";
	if (groups == 1)
		return end - i >= 7 ? end : 0;
	return groups == 5 && end - i == 36 ? end : 0;
}

/* The end of a word that begins here. */
static size_t
word_end(const struct scan *scan, size_t i)
{
	while (is_word(at(scan, i)))
		i++;
	return i;
}

/* "Mon", "Nov" and "PM" of a time. */
static bool
is_date(const char *s, size_t len)
{
	static const char *const words[] = { "AM", "PM", "Mon", "Tue", "Wed",
		"Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May",
		"Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

	return s[0] >= 'A' && s[0] <= 'Z' &&
	    is_one_of(words, nitems(words), s, len);
}

/* A number, a date, a time, or several with one sign between them. */
static size_t
number_end(const struct scan *scan)
{
	size_t i = scan->i;

	for (;;) {
		char c = at(scan, i);

		if (text_is_digit(c))
			i++;
		else if (c != '\0' && strchr(".:,-+T", c) != NULL &&
		    text_is_digit(at(scan, i + 1)))
			i++;
		else if (c == 'Z' && !is_word(at(scan, i + 1)))
			i++;
		else {
			static const char *const units[] = { "h", "m", "min",
				"ms", "ns", "s", "sec", "us" };
			size_t end = word_end(scan, i);

			/* The end of the unit of a time, which goes with the
			 * number before it. */
			return is_one_of(
				   units, nitems(units), scan->s + i, end - i) ?
			    end :
			    i;
		}
	}
}

/* The end of a terminal escape: its final letter. */
static size_t
escape_end(const struct scan *scan)
{
	size_t i = scan->i + 1;

	if (at(scan, i) != '[')
		return i;
	for (i++; i < scan->len; i++)
		if (scan->s[i] >= '@' && scan->s[i] <= '~')
			return i + 1;
	return scan->len;
}

/* The last part of a path, without words that have a digit: what fails in
 * another file, or another test, is another failure. Of an absolute path only
 * a source's: others may be temporary. */
static void
put_name(struct sink *sink, const struct scan *scan)
{
	const char *s = scan->s;
	size_t begin = scan->i, end, next, dot;

	for (end = begin; is_token(at(scan, end)); end++)
		if (s[end] == '/')
			begin = end + 1;
	dot = ending_of(s + begin, end - begin);
	if (s[scan->i] == '/' &&
	    (dot == 0 || !is_source(s + begin + dot, end - begin - dot)))
		return;
	for (; begin < end; begin = next) {
		bool digit = false;

		next = word_end(scan, begin);
		next = next > begin ? next : begin + 1;
		for (size_t i = begin; i < next; i++)
			digit = digit || text_is_digit(s[i]);
		if (!digit)
			put(sink, s + begin, next - begin);
	}
}

/* At the beginning of a word. */
static void
take_word(struct scan *scan, struct sink *sink)
{
	const char *word = NULL;
	size_t end = hash_end(scan, &word);

	if (end == 0 && (end = path_end(scan)) != 0) {
		word = "<path>";
		if (sink->names)
			put_name(sink, scan);
	}
	if (end == 0 && text_is_digit(scan->s[scan->i])) {
		end = number_end(scan);
		word = "<n>";
	}
	if (end != 0) {
		put_word(sink, word);
		scan->i = end;
		return;
	}
	end = word_end(scan, scan->i);
	if (end == scan->i)
		end++;
	if (is_date(scan->s + scan->i, end - scan->i))
		put_word(sink, "<n>");
	else
		put(sink, scan->s + scan->i, end - scan->i);
	scan->i = end;
}

static void
run(const char *text, size_t len, struct sink *sink)
{
	struct scan scan = { text,
		len < ERROR_SIGNATURE_BYTES ? len : ERROR_SIGNATURE_BYTES, 0 };

	sink->hash = BEHAVIOUR_HASH_INIT;
	sink->blank = true;
	while (scan.i < scan.len) {
		unsigned char c = (unsigned char)scan.s[scan.i];

		if (c == 0x1b) {
			scan.i = escape_end(&scan);
		} else if (c <= ' ' || c == 0x7f) {
			if (!sink->blank)
				put(sink, " ", 1);
			sink->blank = true;
			scan.i++;
		} else {
			take_word(&scan, sink);
		}
	}
}

void
error_signature(const char *text, size_t len, struct buf *out)
{
	struct sink sink = { .out = out };
	size_t before = out->len;

	run(text, len, &sink);
	if (sink.blank && out->len > before)
		buf_truncate(out, out->len - 1);
}

/* The byte after the word, or NULL: another one is there. */
static const char *
skip_word(const char *s, const char *end, const char *word)
{
	while (s < end && ((unsigned char)*s <= ' ' || *s == ':'))
		s++;
	for (; *word != '\0'; word++, s++)
		if (s == end || (*s | 0x20) != *word)
			return NULL;
	return s;
}

/* Is there no word, or only those of an exit code? */
static bool
says_nothing(const char *text, size_t len)
{
	static const char *const words[] = { "error", "command", "failed",
		"with", "exited", "exit", "code", "status" };
	const char *s = text, *end = text + len;
	bool exits = false;
	size_t i = 0;

	while (i < nitems(words)) {
		const char *next = skip_word(s, end, words[i]);

		if (next != NULL && (next == end || !is_word(*next))) {
			exits = exits || text_begins(words[i], "exit");
			s = next;
			i = 0;
		} else {
			i++;
		}
	}
	for (s = exits ? s : text; s < end; s++)
		if (is_letter(*s))
			return false;
	return true;
}

uint64_t
error_answer_hash(const char *text, size_t len)
{
	uint64_t hash = BEHAVIOUR_HASH_INIT;

	/* A word with a digit in it may be a time, an address or a hash. */
	for (size_t i = 0, end; i < len; i = end) {
		bool digit = false;

		for (end = i; end < len && is_word(text[end]); end++)
			digit = digit || text_is_digit(text[end]);
		if (end == i)
			end++;
		for (size_t k = i; k < end && !digit; k++)
			hash =
			    behaviour_hash_byte(hash, (unsigned char)text[k]);
		if (digit)
			hash = behaviour_hash_byte(hash, '0');
	}
	return behaviour_hash_end(hash);
}

uint64_t
error_line_hash(const char *line, size_t len)
{
	struct sink sink = { .names = true };

	run(line, len, &sink);
	return behaviour_hash_end(sink.hash);
}

uint64_t
error_signature_hash(const char *text, size_t len)
{
	struct sink sink = { .out = NULL };

	while (len > 0 && (unsigned char)text[len - 1] <= ' ')
		len--;
	if (says_nothing(text, len))
		return 0;
	run(text, len, &sink);
	return behaviour_hash_end(sink.hash);
}
