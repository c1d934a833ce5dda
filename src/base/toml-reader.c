/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "errtext.h"
#include "text.h"
#include "toml-reader.h"

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

/* Describe a byte that is not allowed in a TOML document. */
static int
reader_bad_byte(struct toml_reader *reader, unsigned char c)
{
	if (c >= 0x80)
		return toml_reader_fail(
		    reader, "the byte 0x%02x is not valid UTF-8", c);
	if (c == '\r')
		return toml_reader_fail(
		    reader, "a carriage return without a line feed after it");
	return toml_reader_fail(reader,
	    "the control character 0x%02x is not allowed; in a string write "
	    "\\u%04x",
	    c, c);
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
		if (step == 0)
			return reader_bad_byte(reader, c);
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
