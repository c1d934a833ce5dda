/* SPDX-License-Identifier: ISC */

/* YAML scalars: plain, single-quoted and double-quoted. */

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "text.h"
#include "yaml-scalar.h"
#include "yaml-text.h"

struct reader {
	const struct yaml_text *yaml;
	size_t at, end;
	struct buf *out;
	size_t floor; /* do not fold blanks in out before this offset */
};

static bool
is_space(char c)
{
	return c != '\0' && strchr(" \t\r\n", c) != NULL;
}

/* At a blank or newline: one newline with the blanks around it becomes a blank,
 * each further one a newline. Returns the number of newlines. */
static unsigned
fold(struct reader *r)
{
	size_t start = r->at;
	unsigned lines = 0;

	for (; r->at < r->end && is_space(r->yaml->text[r->at]); r->at++)
		lines += r->yaml->text[r->at] == '\n';
	if (lines == 0) {
		buf_add(r->out, r->yaml->text + start, r->at - start);
		return 0;
	}
	while (
	    r->out->len > r->floor && is_space(r->out->data[r->out->len - 1]))
		buf_truncate(r->out, r->out->len - 1);
	if (lines == 1)
		buf_addc(r->out, ' ');
	for (unsigned i = 1; i < lines; i++)
		buf_addc(r->out, '\n');
	return lines;
}

static const struct escape {
	char letter;
	uint8_t digits; /* hex digits that follow; 0: use code */
	uint16_t code;
} escapes[] = {
	{ '0', 0, 0x00 },
	{ 'a', 0, 0x07 },
	{ 'b', 0, 0x08 },
	{ 't', 0, 0x09 },
	{ '\t', 0, 0x09 },
	{ 'n', 0, 0x0a },
	{ 'v', 0, 0x0b },
	{ 'f', 0, 0x0c },
	{ 'r', 0, 0x0d },
	{ 'e', 0, 0x1b },
	{ ' ', 0, 0x20 },
	{ '"', 0, 0x22 },
	{ '/', 0, 0x2f },
	{ '\\', 0, 0x5c },
	{ 'N', 0, 0x85 },
	{ '_', 0, 0xa0 },
	{ 'L', 0, 0x2028 },
	{ 'P', 0, 0x2029 },
	{ 'x', 2, 0 },
	{ 'u', 4, 0 },
	{ 'U', 8, 0 },
};

static int
hex(struct reader *r, unsigned digits, uint32_t *ret_code)
{
	static const char set[] = "0123456789abcdef";
	uint32_t code = 0;

	for (; digits > 0; digits--) {
		int c =
		    r->at < r->end ? (unsigned char)r->yaml->text[r->at] : 0;

		if (!isxdigit(c))
			return -EINVAL;
		code = code << 4 | (uint32_t)(strchr(set, tolower(c)) - set);
		r->at++;
	}
	*ret_code = code;
	return 0;
}

/* After a backslash. */
static int
escape(struct reader *r)
{
	char letter = r->at < r->end ? r->yaml->text[r->at++] : '\0';
	uint32_t code;

	if (letter == '\r' && r->at < r->end && r->yaml->text[r->at] == '\n')
		letter = r->yaml->text[r->at++];
	if (letter == '\n') {
		while (r->at < r->end &&
		    (r->yaml->text[r->at] == ' ' ||
			r->yaml->text[r->at] == '\t'))
			r->at++;
		r->floor = r->out->len;
		return 0;
	}
	for (size_t i = 0; i < nitems(escapes); i++) {
		if (escapes[i].letter != letter)
			continue;
		code = escapes[i].code;
		if (escapes[i].digits > 0 &&
		    hex(r, escapes[i].digits, &code) < 0)
			return -EINVAL;
		text_add_codepoint(r->out, code);
		r->floor = r->out->len;
		return 0;
	}
	return -EINVAL;
}

static int
read_double(struct reader *r)
{
	for (r->at++; r->at < r->end;) {
		char c = r->yaml->text[r->at];

		if (is_space(c)) {
			fold(r);
			continue;
		}
		r->at++;
		if (c == '"')
			return 0;
		if (c != '\\')
			buf_addc(r->out, c);
		else if (escape(r) < 0)
			return -EINVAL;
	}
	return -EINVAL;
}

static int
read_single(struct reader *r)
{
	for (r->at++; r->at < r->end;) {
		char c = r->yaml->text[r->at];

		if (is_space(c)) {
			fold(r);
			continue;
		}
		r->at++;
		if (c == '\'') {
			if (r->at == r->end || r->yaml->text[r->at] != '\'')
				return 0;
			r->at++;
		}
		buf_addc(r->out, c);
	}
	return -EINVAL;
}

static int
read_plain(struct reader *r, bool flow)
{
	size_t behind = r->at, len = r->out->len;

	if (strchr("|>[]{},&*!?%@`#", r->yaml->text[r->at]) != NULL ||
	    (strchr("-:", r->yaml->text[r->at]) != NULL &&
		(r->at + 1 == r->end || is_space(r->yaml->text[r->at + 1]))))
		return -EINVAL;
	while (r->at < r->end) {
		char c = r->yaml->text[r->at];

		if (is_space(c)) {
			fold(r);
			if (r->at < r->end && r->yaml->text[r->at] == '#')
				break;
			continue;
		}
		if (flow && strchr(",[]{}", c) != NULL)
			break;
		if (c == ':' &&
		    (r->at + 1 == r->end || is_space(r->yaml->text[r->at + 1])))
			return -EINVAL;
		buf_addc(r->out, c);
		behind = ++r->at;
		len = r->out->len;
	}
	r->at = behind;
	buf_truncate(r->out, len);
	return 0;
}

int
yaml_scalar(const struct yaml_text *yaml, size_t at, size_t end, bool flow,
    struct buf *value, size_t *ret_end)
{
	struct reader r = { .yaml = yaml, .at = at, .end = end, .out = value };
	int result;

	r.floor = value->len;
	if (at == end)
		return -EINVAL;
	if (yaml->text[at] == '"')
		result = read_double(&r);
	else if (yaml->text[at] == '\'')
		result = read_single(&r);
	else
		result = read_plain(&r, flow);
	if (result < 0)
		return result;
	*ret_end = r.at;
	return 0;
}
