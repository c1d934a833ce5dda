/* SPDX-License-Identifier: ISC */

#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "text.h"
#include "toml-reader.h"
#include "toml-string.h"

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The digits after \u or \U. */
static int
string_codepoint(struct toml_reader *reader, int digits, struct buf *out)
{
	uint32_t codepoint = 0;
	int value;

	for (int i = 0; i < digits; i++) {
		value = hex_value(toml_reader_peek(reader));
		if (value < 0)
			return toml_reader_expected(reader,
			    digits == 4 ? "four hex digits after \\u" :
					  "eight hex digits after \\U");
		codepoint = codepoint << 4 | (uint32_t)value;
		reader->at++;
	}
	if (codepoint > 0x10ffff ||
	    (codepoint >= 0xd800 && codepoint <= 0xdfff))
		return toml_reader_fail(reader, "there is no character U+%04X",
		    (unsigned)codepoint);
	text_add_codepoint(out, codepoint);
	return 0;
}

/* A backslash at the end of a line: drop the white space up to the next text.
 * Only blanks may follow it on the line. */
static bool
string_skip_line_end(struct toml_reader *reader)
{
	size_t start = reader->at;

	toml_reader_skip_blanks(reader);
	if (!toml_reader_at_newline(reader)) {
		reader->at = start;
		return false;
	}
	while (toml_reader_at_newline(reader)) {
		toml_reader_skip_newline(reader);
		toml_reader_skip_blanks(reader);
	}
	return true;
}

/* The cursor is after the backslash. */
static int
string_escape(struct toml_reader *reader, bool is_long, struct buf *out)
{
	static const char names[] = "btnfr\"\\";
	static const char bytes[] = "\b\t\n\f\r\"\\";
	char c = toml_reader_peek(reader);
	const char *name = c == '\0' ? NULL : strchr(names, c);

	if (name != NULL) {
		buf_addc(out, bytes[name - names]);
		reader->at++;
		return 0;
	}
	if (c == 'u' || c == 'U') {
		reader->at++;
		return string_codepoint(reader, c == 'u' ? 4 : 8, out);
	}
	if (is_long && string_skip_line_end(reader))
		return 0;
	return toml_reader_expected(reader,
	    "one of b t n f r \" \\ uXXXX UXXXXXXXX after the backslash "
	    "(or use 'single quotes')");
}

/* At a quote inside a long string: up to two belong to the text, even right
 * before the closing three. True at the end of the string. */
static bool
string_long_quotes(struct toml_reader *reader, char quote, struct buf *out)
{
	size_t count = 0, text;

	while (count < 5 && toml_reader_peek(reader) == quote) {
		reader->at++;
		count++;
	}
	text = count >= 3 ? count - 3 : count;
	for (size_t i = 0; i < text; i++)
		buf_addc(out, quote);
	return count >= 3;
}

static int
string_unclosed(struct toml_reader *reader, char quote, bool is_long)
{
	if (is_long)
		return toml_reader_fail(reader,
		    "the string that starts here with %c%c%c never ends", quote,
		    quote, quote);
	return toml_reader_fail(reader,
	    "the string has no closing %c on its line (%c%c%c allows several "
	    "lines)",
	    quote, quote, quote, quote);
}

static int
string_long(struct toml_reader *reader, char quote, struct buf *out)
{
	unsigned first = reader->line;
	int r;

	toml_reader_skip_newline(
	    reader); /* a newline right after the quotes is dropped */
	while (reader->at < reader->len) {
		char c = toml_reader_peek(reader);

		if (c == quote) {
			if (string_long_quotes(reader, quote, out))
				return 0;
		} else if (c == '\\' && quote == '"') {
			reader->at++;
			r = string_escape(reader, true, out);
			if (r < 0)
				return r;
		} else if (toml_reader_at_newline(reader)) {
			buf_addc(out, '\n');
			toml_reader_skip_newline(reader);
		} else {
			buf_addc(out, c);
			reader->at++;
		}
	}
	reader->line = first;
	return string_unclosed(reader, quote, true);
}

int
toml_string_read(struct toml_reader *reader, bool is_key, struct buf *out)
{
	char c, quote = toml_reader_peek(reader);
	int r;

	if (toml_reader_at(reader, "\"\"\"") || toml_reader_at(reader, "'''")) {
		if (is_key)
			return toml_reader_fail(
			    reader, "a key cannot span several lines");
		reader->at += 3;
		return string_long(reader, quote, out);
	}
	reader->at++;
	while (reader->at < reader->len && !toml_reader_at_newline(reader)) {
		c = toml_reader_peek(reader);
		reader->at++;
		if (c == quote)
			return 0;
		if (c != '\\' || quote == '\'') {
			buf_addc(out, c);
			continue;
		}
		r = string_escape(reader, false, out);
		if (r < 0)
			return r;
	}
	return string_unclosed(reader, quote, false);
}
