/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "errtext.h"
#include "yaml-text.h"

#define BOM "\xef\xbb\xbf"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Is the byte at `at` a blank, or past the end of the line? */
static bool
ends_word(const struct yaml_text *yaml, size_t at, size_t end)
{
	return at >= end || is_blank(yaml->text[at]);
}

struct yaml_line
yaml_line_at(const struct yaml_text *yaml, size_t start)
{
	const char *newline =
	    memchr(yaml->text + start, '\n', yaml->len - start);
	struct yaml_line line = { .start = start };
	size_t at;

	line.end = newline != NULL ? (size_t)(newline - yaml->text) : yaml->len;
	line.next = newline != NULL ? line.end + 1 : yaml->len;
	if (line.end > start && yaml->text[line.end - 1] == '\r')
		line.end--;
	if (start == 0 && line.end >= strlen(BOM) &&
	    memcmp(yaml->text, BOM, strlen(BOM)) == 0)
		line.start = strlen(BOM);
	for (at = line.start; at < line.end && yaml->text[at] == ' '; at++)
		line.indent++;
	while (at < line.end && is_blank(yaml->text[at]))
		at++;
	line.empty = at == line.end || yaml->text[at] == '#';
	return line;
}

unsigned
yaml_line_number(const struct yaml_text *yaml, size_t at)
{
	unsigned number = 1;

	for (size_t i = 0; i < at && i < yaml->len; i++)
		number += yaml->text[i] == '\n';
	return number;
}

bool
yaml_line_is_item(const struct yaml_text *yaml, const struct yaml_line *line)
{
	size_t at = line->start + line->indent;

	return at < line->end && yaml->text[at] == '-' &&
	    ends_word(yaml, at + 1, line->end);
}

const char *
yaml_eol(const struct yaml_text *yaml)
{
	const char *newline =
	    yaml->len > 0 ? memchr(yaml->text, '\n', yaml->len) : NULL;

	return newline != NULL && newline > yaml->text && newline[-1] == '\r' ?
	    "\r\n" :
	    "\n";
}

size_t
yaml_skip_void(const struct yaml_text *yaml, size_t at, size_t end)
{
	while (at < end) {
		if (yaml->text[at] == '#' &&
		    (at == 0 || strchr(" \t\r\n", yaml->text[at - 1]) != NULL))
			while (at < end && yaml->text[at] != '\n')
				at++;
		else if (strchr(" \t\r\n", yaml->text[at]) != NULL)
			at++;
		else
			break;
	}
	return at;
}

bool
yaml_is_void(const struct yaml_text *yaml, size_t at, size_t end)
{
	return yaml_skip_void(yaml, at, end) == end;
}

/* "---" or "..." */
static bool
is_marker(const struct yaml_text *yaml, const struct yaml_line *line,
    const char *mark)
{
	return line->end - line->start >= 3 &&
	    memcmp(yaml->text + line->start, mark, 3) == 0 &&
	    ends_word(yaml, line->start + 3, line->end);
}

/* The offset after `name:` (or a quoted name) at the beginning of a line, 0 if
 * it is not there. */
static size_t
match_key(const struct yaml_text *yaml, const struct yaml_line *line,
    const char *name)
{
	size_t at = line->start, len = strlen(name);
	char quote = yaml->text[at];

	if (quote == '"' || quote == '\'')
		at++;
	else
		quote = '\0';
	if (line->end - at < len || memcmp(yaml->text + at, name, len) != 0)
		return 0;
	at += len;
	if (quote != '\0' && (at == line->end || yaml->text[at++] != quote))
		return 0;
	while (at < line->end && is_blank(yaml->text[at]))
		at++;
	if (at == line->end || yaml->text[at] != ':' ||
	    !ends_word(yaml, at + 1, line->end))
		return 0;
	return at + 1;
}

/* Does the line look like "key: ..."? */
static bool
is_mapping(const struct yaml_text *yaml, const struct yaml_line *line)
{
	size_t at = line->start;

	if (line->indent > 0 ||
	    strchr("{}[],-?|>!&*%@`\t", yaml->text[line->start]) != NULL)
		return false;
	/* Skip a quoted key. */
	if (strchr("\"'", yaml->text[at]) != NULL)
		while (++at < line->end &&
		    yaml->text[at] != yaml->text[line->start])
			;
	for (at++; at < line->end; at++) {
		if (yaml->text[at] == ':' && ends_word(yaml, at + 1, line->end))
			return true;
		if (yaml->text[at] == '#' && is_blank(yaml->text[at - 1]))
			return false;
	}
	return false;
}

/* The kinds of top-level lines. */
enum top {
	TOP_SKIP, /* a comment, a continuation, the head of the document */
	TOP_KEY,
	TOP_BAD
};

static enum top
classify(const struct yaml_text *yaml, const struct yaml_line *line, bool any)
{
	if (line->empty)
		return TOP_SKIP;
	if (is_marker(yaml, line, "---"))
		return !any && yaml_is_void(yaml, line->start + 3, line->end) ?
		    TOP_SKIP :
		    TOP_BAD;
	if (is_marker(yaml, line, "..."))
		return TOP_BAD;
	if (!any && yaml->text[line->start] == '%')
		return TOP_SKIP;
	if (any &&
	    (line->indent > 0 || yaml->text[line->start] == '\t' ||
		yaml_line_is_item(yaml, line)))
		return TOP_SKIP;
	/* It may be the end of a list in brackets. */
	if (any && strchr("]}", yaml->text[line->start]) != NULL)
		return TOP_SKIP;
	return is_mapping(yaml, line) ? TOP_KEY : TOP_BAD;
}

/* Refuse bytes that would end a line where we do not see it. */
static int
check_bytes(const struct yaml_text *yaml, struct err *err)
{
	for (size_t at = 0; at < yaml->len; at++)
		if (yaml->text[at] == '\0' ||
		    (yaml->text[at] == '\r' &&
			(at + 1 == yaml->len || yaml->text[at + 1] != '\n')))
			return err_set(err, -EINVAL,
			    "line %u: it contains a NUL or a lone carriage "
			    "return",
			    yaml_line_number(yaml, at));
	return 0;
}

int
yaml_find_key(const struct yaml_text *yaml, const char *name,
    struct yaml_key *ret_key, struct err *err)
{
	struct yaml_key key = { 0, yaml->len };
	struct yaml_line line;
	bool any = false;
	size_t value;

	if (check_bytes(yaml, err) < 0)
		return -EINVAL;
	for (size_t at = 0; at < yaml->len; at = line.next) {
		enum top top;

		line = yaml_line_at(yaml, at);
		top = classify(yaml, &line, any);
		if (top == TOP_BAD)
			return err_set(err, -EINVAL,
			    "line %u: this is not \"key: value\", the only "
			    "form that llmc edits",
			    yaml_line_number(yaml, at));
		if (top == TOP_SKIP)
			continue;
		any = true;
		value = match_key(yaml, &line, name);
		if (value > 0 && key.value > 0)
			return err_set(err, -EINVAL,
			    "line %u: %s appears a second time",
			    yaml_line_number(yaml, at), name);
		if (value > 0)
			key.value = value;
		else if (key.value > 0 && key.end == yaml->len)
			key.end = line.start;
	}
	if (key.value == 0)
		return 0;
	*ret_key = key;
	return 1;
}
