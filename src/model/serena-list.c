/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "mem.h"
#include "serena-list.h"
#include "text.h"

struct yaml_text {
	const char *text;
	size_t len;
};

struct yaml_line {
	size_t start, end; /* without its newline */
	size_t next; /* offset of the next line; the text's length if there is
		      * none */
	size_t indent; /* leading blanks */
	bool empty; /* only blanks or a comment */
};

/* Find a top-level key: 1 with the offset after its colon and the end of its
 * value, 0 if it is missing, -EINVAL if it appears twice or the text is not a
 * block mapping. */
struct yaml_key {
	size_t value, end;
};

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

static struct yaml_line
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

static unsigned
yaml_line_number(const struct yaml_text *yaml, size_t at)
{
	unsigned number = 1;

	for (size_t i = 0; i < at && i < yaml->len; i++)
		number += yaml->text[i] == '\n';
	return number;
}

static bool
yaml_line_is_item(const struct yaml_text *yaml, const struct yaml_line *line)
{
	size_t at = line->start + line->indent;

	return at < line->end && yaml->text[at] == '-' &&
	    ends_word(yaml, at + 1, line->end);
}

static const char *
yaml_eol(const struct yaml_text *yaml)
{
	const char *newline =
	    yaml->len > 0 ? memchr(yaml->text, '\n', yaml->len) : NULL;

	return newline != NULL && newline > yaml->text && newline[-1] == '\r' ?
	    "\r\n" :
	    "\n";
}

static size_t
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

/* Nothing but blanks, newlines and comments? */
static bool
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

static int
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

/* YAML scalars: plain, single-quoted and double-quoted. */

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

/* Read the scalar that begins at `at`, with lines folded and escapes resolved;
 * *ret_end is the offset after it. In a flow list it also ends at a comma or
 * bracket. -EINVAL if it is not a plain or quoted scalar. */
static int
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

/* The edit to make: remove `gone` bytes at `at`, and insert the new item at the
 * end of a line, or in brackets. */
struct list {
	const struct yaml_text *yaml;
	const char *path;
	bool there; /* the path is already in the list */
	size_t items;
	size_t cut, gone;
	size_t at; /* where to insert the item */
	size_t indent;
	bool flow, comma; /* in brackets; already ends with a comma */
};

static int
refuse(const struct list *list, size_t at, struct err *err)
{
	return err_set(err, -EINVAL,
	    "line %u: the list of projects is written in a way that llmc does "
	    "not edit; use lines of \"- path\"",
	    yaml_line_number(list->yaml, at));
}

static size_t
without_slashes(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

/* Read the item that begins at `at`; *ret_end is the offset after it. */
static int
read_item(struct list *list, size_t at, size_t end, size_t *ret_end)
{
	size_t want = without_slashes(list->path, strlen(list->path));
	cleanup_buf struct buf value = BUF_INIT;
	size_t len;
	int r = yaml_scalar(list->yaml, at, end, list->flow, &value, ret_end);

	if (r < 0)
		return r;
	len = without_slashes(value.data, value.len);
	if (len == want && memcmp(value.data, list->path, len) == 0)
		list->there = true;
	list->items++;
	return 0;
}

/* Lines "- path", each followed by the lines indented deeper. */
static int
read_block(struct list *list, size_t start, size_t end, struct err *err)
{
	const struct yaml_text *yaml = list->yaml;
	struct yaml_line line;

	for (size_t at = start; at < end; at = line.next) {
		size_t next, value, behind = 0;

		line = yaml_line_at(yaml, at);
		if (line.empty)
			continue;
		if (list->items == 0)
			list->indent = line.indent;
		if (line.indent != list->indent ||
		    !yaml_line_is_item(yaml, &line))
			return refuse(list, at, err);
		for (next = line.next; next < end;) {
			struct yaml_line more = yaml_line_at(yaml, next);

			if (!more.empty && more.indent <= list->indent)
				break;
			next = more.next;
		}
		value =
		    yaml_skip_void(yaml, line.start + line.indent + 1, next);
		if (read_item(list, value, next, &behind) < 0 ||
		    !yaml_is_void(yaml, behind, next))
			return refuse(list, at, err);
		/* The item ends on this line; only comments follow. */
		while (line.end < behind)
			line = yaml_line_at(yaml, line.next);
		list->at = line.end;
		line.next = next;
	}
	return 0;
}

static int
read_brackets(struct list *list, size_t open, size_t end, struct err *err)
{
	const struct yaml_text *yaml = list->yaml;
	size_t at = yaml_skip_void(yaml, open + 1, end);
	size_t last = 0; /* the offset after the last item */

	list->flow = list->comma = true;
	while (at < end && yaml->text[at] != ']') {
		if (!list->comma || read_item(list, at, end, &last) < 0)
			return refuse(list, open, err);
		at = yaml_skip_void(yaml, last, end);
		list->comma = at < end && yaml->text[at] == ',';
		if (list->comma)
			last = ++at;
		at = yaml_skip_void(yaml, at, end);
	}
	if (at == end || !yaml_is_void(yaml, at + 1, end))
		return refuse(list, open, err);
	list->at = last;
	if (list->items > 0)
		return 0;
	/* An empty list becomes a block, as Serena writes them. */
	list->flow = false;
	list->cut = open;
	list->gone = at + 1 - open;
	list->at = yaml_line_at(yaml, at).end;
	return 0;
}

/* A missing or null value, which a block may follow. */
static int
read_value(struct list *list, const struct yaml_key *key, struct err *err)
{
	static const char *const none[] = { "~", "null", "Null", "NULL", NULL };
	const struct yaml_text *yaml = list->yaml;
	struct yaml_line line = yaml_line_at(yaml, key->value);
	size_t at = yaml_skip_void(yaml, key->value, line.end);

	list->at = line.end;
	if (at < line.end && yaml->text[at] == '[')
		return read_brackets(list, at, key->end, err);
	for (size_t i = 0; at < line.end && none[i] != NULL; i++) {
		size_t len = strlen(none[i]);

		if (line.end - at < len ||
		    memcmp(yaml->text + at, none[i], len) != 0 ||
		    !yaml_is_void(yaml, at + len, key->end) ||
		    (at + len < line.end &&
			strchr(" \t", yaml->text[at + len]) == NULL))
			continue;
		list->cut = at;
		list->gone = len;
		return 0;
	}
	if (at < line.end)
		return refuse(list, key->value, err);
	return read_block(list, line.next, key->end, err);
}

/* A path of harmless characters is written as it is, any other in quotes. */
static void
add_path(struct buf *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";

	if (*path == '/' && path[strspn(path, plain)] == '\0')
		buf_adds(out, path);
	else
		text_add_json(out, path, strlen(path));
}

static void
write_list(const struct list *list, struct buf *out)
{
	const struct yaml_text *yaml = list->yaml;
	size_t from = 0;

	if (list->gone > 0) {
		buf_add(out, yaml->text, list->cut);
		from = list->cut + list->gone;
	}
	buf_add(out, yaml->text + from, list->at - from);
	if (list->flow) {
		buf_adds(out, list->comma ? " " : ", ");
	} else {
		buf_adds(out, yaml_eol(yaml));
		for (size_t i = 0; i < list->indent; i++)
			buf_addc(out, ' ');
		buf_adds(out, "- ");
	}
	add_path(out, list->path);
	buf_add(out, yaml->text + list->at, yaml->len - list->at);
}

/* For a new key at the end: copy the text, adding a final newline if it has
 * none. */
static void
copy_whole(const struct yaml_text *yaml, struct buf *out)
{
	buf_add(out, yaml->text, yaml->len);
	if (yaml->len > 0 && yaml->text[yaml->len - 1] != '\n')
		buf_adds(out, yaml_eol(yaml));
}

int
serena_list_add(const char *text, size_t len, const char *path, struct buf *out,
    struct err *err)
{
	struct yaml_text yaml = { text, len };
	struct list list = { .yaml = &yaml, .path = path };
	struct yaml_key key = { 0 };
	int r;

	if (*path == '\0' || !text_utf8_valid(path, strlen(path)))
		return err_set(
		    err, -EINVAL, "YAML cannot hold the path \"%s\"", path);
	r = yaml_find_key(&yaml, "projects", &key, err);
	if (r < 0)
		return r;
	if (r == 0) {
		copy_whole(&yaml, out);
		buf_addf(out, "projects:%s- ", yaml_eol(&yaml));
		add_path(out, path);
		buf_adds(out, yaml_eol(&yaml));
		return 1;
	}
	r = read_value(&list, &key, err);
	if (r < 0 || list.there)
		return r;
	write_list(&list, out);
	return 1;
}

int
serena_name_set(const char *text, size_t len, const char *name, struct buf *out)
{
	struct yaml_text yaml = { text, len };
	struct yaml_key key = { 0 };
	cleanup_buf struct buf value = BUF_INIT;
	size_t at, behind = 0;
	int r = yaml_find_key(&yaml, "project_name", &key, NULL);

	if (r == 1) {
		at = yaml_skip_void(&yaml, key.value, key.end);
		r = yaml_scalar(&yaml, at, key.end, false, &value, &behind);
		if (r == 0 && !yaml_is_void(&yaml, behind, key.end))
			r = -EINVAL;
		if (r == 0 && value.len == strlen(name) &&
		    memcmp(value.data, name, value.len) == 0)
			return 0;
		if (r == 0) {
			buf_add(out, text, key.value);
			buf_addc(out, ' ');
			text_add_json(out, name, strlen(name));
			buf_add(out, text + behind, len - behind);
			return 1;
		}
	} else if (r == 0) {
		copy_whole(&yaml, out);
	}
	buf_adds(out, "project_name: ");
	text_add_json(out, name, strlen(name));
	buf_adds(out, yaml_eol(&yaml));
	return 1;
}
