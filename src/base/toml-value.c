/* SPDX-License-Identifier: ISC */

/*
 * TOML scalars other than strings. Each is one word of the text (a date and its
 * time may have one blank between them), which is extracted first and then
 * checked as a whole, so that an error message can show it.
 */
#include "base.h"

#include <ctype.h>
#include <json-c/json.h>
#include <locale.h>
#include <math.h>

#include "toml-value.h"

int
toml_reader_fail(struct toml_reader *reader, const char *fmt, ...)
{
	char words[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set(
	    reader->err, -EINVAL, "line %u: %s", reader->line, words);
}

int
toml_reader_expected(struct toml_reader *reader, const char *what)
{
	const char *s = reader->text + reader->at;
	size_t len;

	if (reader->at == reader->len)
		return toml_reader_fail(
		    reader, "expected %s, found the end of the file", what);
	if (toml_reader_at_newline(reader))
		return toml_reader_fail(
		    reader, "expected %s, found the end of the line", what);
	len = text_utf8_len(s, reader->len - reader->at);
	return toml_reader_fail(
	    reader, "expected %s, found '%.*s'", what, (int)len, s);
}

int
toml_reader_check(struct toml_reader *reader)
{
	const char *s = reader->text;
	size_t i, step, len = reader->len;

	for (i = 0; i < len; i += step) {
		unsigned char c = (unsigned char)s[i];
		bool is_crlf = c == '\r' && i + 1 < len && s[i + 1] == '\n';

		step = 1;
		if (c == '\n')
			reader->line++;
		else if (c >= 0x80)
			step = text_utf8_len(s + i, len - i);
		else if ((c < 0x20 && c != '\t' && !is_crlf) || c == 0x7f)
			step = 0;
		if (step == 0) {
			/* Describe a byte that is not allowed in a TOML
			 * document. */
			if (c >= 0x80)
				return toml_reader_fail(reader,
				    "the byte 0x%02x is not valid UTF-8", c);
			if (c == '\r')
				return toml_reader_fail(reader,
				    "a carriage return without a line feed after it");
			return toml_reader_fail(reader,
			    "the control character 0x%02x is not allowed; in a string write "
			    "\\u%04x",
			    c, c);
		}
	}
	reader->line = 1;
	return 0;
}

char
toml_reader_peek(const struct toml_reader *reader)
{
	return reader->at < reader->len ? reader->text[reader->at] : '\0';
}

bool
toml_reader_at(const struct toml_reader *reader, const char *s)
{
	size_t len = strlen(s);

	return len <= reader->len - reader->at &&
	    memcmp(reader->text + reader->at, s, len) == 0;
}

bool
toml_reader_at_newline(const struct toml_reader *reader)
{
	char c = toml_reader_peek(reader);

	return c == '\n' || c == '\r';
}

void
toml_reader_skip_blanks(struct toml_reader *reader)
{
	while (
	    toml_reader_peek(reader) == ' ' || toml_reader_peek(reader) == '\t')
		reader->at++;
}

void
toml_reader_skip_comment(struct toml_reader *reader)
{
	if (toml_reader_peek(reader) != '#')
		return;
	while (reader->at < reader->len && !toml_reader_at_newline(reader))
		reader->at++;
}

void
toml_reader_skip_newline(struct toml_reader *reader)
{
	if (!toml_reader_at_newline(reader))
		return;
	reader->at += toml_reader_peek(reader) == '\r' ? 2 : 1;
	reader->line++;
}

void
toml_reader_skip_space(struct toml_reader *reader)
{
	size_t before;

	do {
		before = reader->at;
		toml_reader_skip_blanks(reader);
		toml_reader_skip_comment(reader);
		toml_reader_skip_newline(reader);
	} while (reader->at != before);
}

#define WORD_SHOWN 60

struct json_object *
toml_value_must(struct json_object *value)
{
	if (value == NULL)
		fatalx("out of memory: a TOML value");
	return value;
}

/* Report an error in the word that was read; the cursor is after it. */
static int
word_fail(struct toml_reader *reader, const struct buf *word, const char *why)
{
	size_t shown = text_cut(word->data, word->len, WORD_SHOWN);

	return toml_reader_fail(reader, "'%.*s%s' %s", (int)shown, word->data,
	    shown < word->len ? "..." : "", why);
}

/* Read digits with single underscores between them and append them to out
 * without the underscores. Returns what follows, or NULL if s is something
 * else. */
static const char *
digits_take(const char *s, const char *allowed, struct buf *out)
{
	if (*s == '\0' || strchr(allowed, *s) == NULL)
		return NULL;
	while (*s != '\0') {
		if (*s == '_')
			s++;
		if (*s == '\0' || strchr(allowed, *s) == NULL)
			return s[-1] == '_' ? NULL : s;
		buf_addc(out, *s++);
	}
	return s;
}

static int
integer_make(struct toml_reader *reader, const struct buf *word,
    const char *digits, int base, struct json_object **ret,
    enum toml_type *ret_type)
{
	long long value;

	errno = 0;
	value = strtoll(digits, NULL, base);
	if (errno == ERANGE)
		return word_fail(
		    reader, word, "is out of range: integers have 64 bits");
	*ret = toml_value_must(json_object_new_int64(value));
	*ret_type = TOML_INTEGER;
	return 0;
}

static int
float_make(const char *text, struct json_object **ret, enum toml_type *ret_type)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	/* Use a decimal point in every locale. */
	if (c_locale == (locale_t)0)
		fatalx("the C locale is missing");
	*ret = toml_value_must(
	    json_object_new_double(strtod_l(text, NULL, c_locale)));
	*ret_type = TOML_FLOAT;
	freelocale(c_locale);
	return 0;
}

static int
number_decimal(struct toml_reader *reader, const struct buf *word,
    struct json_object **ret, enum toml_type *ret_type)
{
	static const char ten[] = "0123456789";
	static const char *const wrong =
	    "is not a value: text goes in \"quotes\", numbers look like 42, "
	    "-1_000 or 6.5e3, else true or false";
	cleanup_buf struct buf plain = BUF_INIT;
	const char *s = word->data;
	bool is_float = false;

	if (*s == '+' || *s == '-')
		buf_addc(&plain, *s++);
	if (s[0] == '0' && (isdigit((unsigned char)s[1]) || s[1] == '_'))
		return word_fail(
		    reader, word, "is not a number: no leading zeros");
	s = digits_take(s, ten, &plain);
	if (s != NULL && *s == '.') {
		is_float = true;
		buf_addc(&plain, '.');
		s = digits_take(s + 1, ten, &plain);
	}
	if (s != NULL && (*s == 'e' || *s == 'E')) {
		is_float = true;
		buf_addc(&plain, 'e');
		s++;
		if (*s == '+' || *s == '-')
			buf_addc(&plain, *s++);
		s = digits_take(s, ten, &plain);
	}
	if (s == NULL || *s != '\0')
		return word_fail(reader, word, wrong);
	if (is_float)
		return float_make(plain.data, ret, ret_type);
	return integer_make(reader, word, plain.data, 10, ret, ret_type);
}

/* Exactly `count` digits with a value in min..max. */
static bool
date_field(const char **s, int count, int min, int max, int *ret)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		if (!isdigit((unsigned char)**s))
			return false;
		value = value * 10 + (**s - '0');
		(*s)++;
	}
	if (value < min || value > max)
		return false;
	*ret = value;
	return true;
}

static bool
date_byte(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

static bool
date_day(const char **s)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
		31 };
	int year, month, day, last;

	if (!date_field(s, 4, 0, 9999, &year) || !date_byte(s, '-') ||
	    !date_field(s, 2, 1, 12, &month) || !date_byte(s, '-'))
		return false;
	last = days[month - 1];
	if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
		last = 29;
	return date_field(s, 2, 1, last, &day);
}

/* Second 60 is a leap second. */
static bool
date_time(const char **s)
{
	int field;

	if (!date_field(s, 2, 0, 23, &field) || !date_byte(s, ':') ||
	    !date_field(s, 2, 0, 59, &field) || !date_byte(s, ':') ||
	    !date_field(s, 2, 0, 60, &field))
		return false;
	if (!date_byte(s, '.'))
		return true;
	if (!isdigit((unsigned char)**s))
		return false;
	while (isdigit((unsigned char)**s))
		(*s)++;
	return true;
}

static bool
date_offset(const char **s)
{
	int field;

	if (date_byte(s, 'Z'))
		return true;
	if (!date_byte(s, '+') && !date_byte(s, '-'))
		return false;
	return date_field(s, 2, 0, 23, &field) && date_byte(s, ':') &&
	    date_field(s, 2, 0, 59, &field);
}

/* The type of the word, TOML_NONE if it is none of the four. By now its letters
 * are upper case and the separator is a T. */
static enum toml_type
date_type(const char *s)
{
	if (s[2] == ':')
		return date_time(&s) && *s == '\0' ? TOML_TIME_LOCAL :
						     TOML_NONE;
	if (!date_day(&s))
		return TOML_NONE;
	if (*s == '\0')
		return TOML_DATE_LOCAL;
	if (!date_byte(&s, 'T') || !date_time(&s))
		return TOML_NONE;
	if (*s == '\0')
		return TOML_DATETIME_LOCAL;
	return date_offset(&s) && *s == '\0' ? TOML_DATETIME : TOML_NONE;
}

/* 2024-... or 07:...: meant as a date or time, valid or not. */
static bool
date_meant(const struct buf *word)
{
	size_t digits = strspn(word->data, "0123456789");

	return digits > 0 &&
	    (word->data[digits] == '-' || word->data[digits] == ':');
}

static int
date_make(struct toml_reader *reader, const struct buf *word,
    struct json_object **ret, enum toml_type *ret_type)
{
	cleanup_buf struct buf plain = BUF_INIT;
	enum toml_type type = TOML_NONE;

	buf_adds(&plain, word->data);
	for (size_t i = 0; i < plain.len; i++) {
		char c = plain.data[i];

		if ((c == ' ' || c == 't') && i == 10)
			plain.data[i] = 'T';
		else if (c == 'z')
			plain.data[i] = 'Z';
	}
	if (plain.len > 2)
		type = date_type(plain.data);
	if (type == TOML_NONE)
		return word_fail(reader, word,
		    "is not a valid date or time: they look like 2024-02-29, "
		    "07:32:00 and 2024-02-29T07:32:00Z");
	*ret = toml_value_must(
	    json_object_new_string_len(plain.data, (int)plain.len));
	*ret_type = type;
	return 0;
}

static size_t
word_length(const struct toml_reader *reader, size_t at)
{
	size_t end = at;

	while (end < reader->len &&
	    strchr(" \t\r\n,]}#", reader->text[end]) == NULL)
		end++;
	return end - at;
}

int
toml_value_read(struct toml_reader *reader, struct json_object **ret_value,
    enum toml_type *ret_type)
{
	cleanup_buf struct buf word = BUF_INIT;
	const char *unsigned_word;
	const char *s = reader->text + reader->at;
	size_t left, len = word_length(reader, reader->at);

	/* 2024-02-29 07:32:00 is one value. */
	left = reader->len - reader->at - len;
	if (len == 10 && s[4] == '-' && s[7] == '-' && left >= 2 &&
	    s[10] == ' ' && isdigit((unsigned char)s[11]))
		len += 1 + word_length(reader, reader->at + len + 1);
	buf_add(&word, s, len);
	reader->at += len;
	if (strcmp(word.data, "true") == 0 || strcmp(word.data, "false") == 0) {
		*ret_type = TOML_BOOL;
		*ret_value = toml_value_must(
		    json_object_new_boolean(word.data[0] == 't'));
		return 0;
	}
	unsigned_word =
	    word.data + (word.data[0] == '+' || word.data[0] == '-');
	if (strcmp(unsigned_word, "inf") == 0 ||
	    strcmp(unsigned_word, "nan") == 0)
		return float_make(word.data, ret_value, ret_type);
	if (word.data[0] == '0' && isalpha((unsigned char)word.data[1]) &&
	    word.data[1] != 'e' && word.data[1] != 'E') {
		static const struct {
			char letter;
			int base;
			const char *digits, *words;
		} kinds[] = {
			{ 'x', 16, "0123456789abcdefABCDEF",
			    "is not a hexadecimal integer such as 0xff" },
			{ 'o', 8, "01234567",
			    "is not an octal integer such as 0o755" },
			{ 'b', 2, "01",
			    "is not a binary integer such as 0b101" },
		};
		cleanup_buf struct buf digits = BUF_INIT;
		const char *rest;

		/* 0x..., 0o..., 0b... */
		for (size_t i = 0; i < nitems(kinds); i++) {
			if (word.data[1] != kinds[i].letter)
				continue;
			rest = digits_take(
			    word.data + 2, kinds[i].digits, &digits);
			if (rest == NULL || *rest != '\0')
				return word_fail(reader, &word, kinds[i].words);
			return integer_make(reader, &word, digits.data,
			    kinds[i].base, ret_value, ret_type);
		}
		return word_fail(reader, &word,
		    "is not a number: the prefixes are 0x, 0o and 0b");
	}
	if (date_meant(&word))
		return date_make(reader, &word, ret_value, ret_type);
	return number_decimal(reader, &word, ret_value, ret_type);
}
