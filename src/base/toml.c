/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "toml-value.h"
#include "toml.h"

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
		uint32_t codepoint = 0;
		int value;
		int digits;

		reader->at++;
		/* The digits after \u or \U. */
		digits = c == 'u' ? 4 : 8;
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
			return toml_reader_fail(reader,
			    "there is no character U+%04X",
			    (unsigned)codepoint);
		text_add_codepoint(out, codepoint);
		return 0;
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

/* Read the string whose first quote is at the cursor, and append its contents.
 * A key may not span lines. */
static int
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

/* json-c stores the text of a parsed JSON number in the same place. A note is
 * recognised by its first bytes, which form a string too. */
#define NOTE_MAGIC "\1toml"

struct note {
	char magic[sizeof(NOTE_MAGIC)];
	enum toml_origin origin;
	struct toml_mark mark;
};

static void
note_free(struct json_object *value, void *userdata)
{
	(void)value;
	free(userdata);
}

static struct note *
note_of(struct json_object *value)
{
	void *userdata = json_object_get_userdata(value);

	if (!text_is(userdata, NOTE_MAGIC))
		return NULL;
	return userdata;
}

/* json_object_set_userdata() leaves the serializer unchanged, and that of a new
 * object ignores userdata. */
static void
toml_mark_set(struct json_object *value, enum toml_origin origin,
    const struct toml_mark *mark)
{
	struct note *note = xmalloc(sizeof(*note));

	memcpy(note->magic, NOTE_MAGIC, sizeof(NOTE_MAGIC));
	note->origin = origin;
	note->mark = *mark;
	json_object_set_userdata(value, note, note_free);
}

static void
toml_mark_tail(struct json_object *table, size_t tail)
{
	note_of(table)->mark.tail = tail;
}

struct toml_mark
toml_mark_of(struct json_object *value)
{
	static const struct toml_mark none = { .type = TOML_NONE };
	struct note *note = note_of(value);

	return note == NULL ? none : note->mark;
}

enum toml_origin
toml_mark_origin(struct json_object *value)
{
	struct note *note = note_of(value);

	return note == NULL ? TOML_ORIGIN_VALUE : note->origin;
}

const char *
toml_mark_type_name(enum toml_type type)
{
	static const char *const names[TOML_TYPE_COUNT] = {
		[TOML_NONE] = "nothing",
		[TOML_STRING] = "a string",
		[TOML_INTEGER] = "an integer",
		[TOML_FLOAT] = "a float",
		[TOML_BOOL] = "a boolean",
		[TOML_DATETIME] = "a date and time with offset",
		[TOML_DATETIME_LOCAL] = "a date and time",
		[TOML_DATE_LOCAL] = "a date",
		[TOML_TIME_LOCAL] = "a time",
		[TOML_ARRAY] = "an array",
		[TOML_TABLE] = "a table",
	};

	return (unsigned)type < TOML_TYPE_COUNT ? names[type] : "nothing";
}

#define BOM "\xef\xbb\xbf"

/* The parts of a dotted key. */
struct key {
	char *part[TOML_DEPTH_MAX];
	size_t count;
};

struct document {
	struct toml_reader in;
	struct json_object *root;
	struct json_object *section; /* the table that keys are added to */
	size_t section_depth; /* levels from the root to it */
};

static int read_value(struct document *doc, size_t depth, const char *expected,
    struct json_object **ret);

static int
fail_depth(struct document *doc)
{
	return err_set(doc->in.err, -E2BIG,
	    "line %u: nested more than %d levels deep", doc->in.line,
	    TOML_DEPTH_MAX);
}

static void
object_add(
    struct json_object *table, const char *key, struct json_object *value)
{
	if (json_object_object_add(table, key, value) < 0)
		fatalx("out of memory: a TOML table");
}

static void
array_add(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value) < 0)
		fatalx("out of memory: a TOML array");
}

static void
key_cleanup(struct key *key)
{
	for (size_t i = 0; i < key->count; i++)
		free(key->part[i]);
}

static bool
is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static int
read_key_part(struct toml_reader *in, char **ret)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	if (toml_reader_peek(in) == '"' || toml_reader_peek(in) == '\'') {
		cleanup_buf struct buf out = BUF_INIT;

		r = toml_string_read(in, true, &text);
		if (r < 0)
			return r;
		/* json-c keys end at a NUL, so a NUL in a key is stored as the
		 * two bytes C0 80, which never occur in valid text. */
		for (size_t i = 0; i < text.len; i++) {
			if (text.data[i] == '\0')
				buf_adds(&out, "\xc0\x80");
			else
				buf_addc(&out, text.data[i]);
		}
		*ret = buf_take(&out);
		return 0;
	}
	for (; is_bare(toml_reader_peek(in)); in->at++)
		buf_addc(&text, toml_reader_peek(in));
	if (text.len == 0)
		return toml_reader_expected(
		    in, "a key (letters, digits, _ and -, or \"quoted\")");
	*ret = buf_take(&text);
	return 0;
}

static int
read_key(struct document *doc, struct key *key)
{
	struct toml_reader *in = &doc->in;
	int r;

	for (;;) {
		if (key->count == TOML_DEPTH_MAX)
			return fail_depth(doc);
		r = read_key_part(in, &key->part[key->count]);
		if (r < 0)
			return r;
		key->count++;
		toml_reader_skip_blanks(in);
		if (toml_reader_peek(in) != '.')
			return 0;
		in->at++;
		toml_reader_skip_blanks(in);
	}
}

/* Report "why" about the key up to and including part `last`. */
static int
key_fail(struct document *doc, const struct key *key, size_t last,
    struct json_object *old, const char *why)
{
	cleanup_buf struct buf name = BUF_INIT, shown = BUF_INIT;

	for (size_t i = 0; i <= last; i++)
		buf_addf(&name, "%s%s", i == 0 ? "" : ".", key->part[i]);
	text_add_visible(
	    &shown, name.data, text_cut(name.data, name.len, 60), false);
	return toml_reader_fail(&doc->in, "'%s' is %s since line %u: %s",
	    shown.data, toml_mark_type_name(toml_mark_of(old).type),
	    toml_mark_of(old).line, why);
}

/* Add a table without a header of its own, named at the offset `at`. */
static struct json_object *
table_add_named(struct document *doc, struct json_object *parent,
    const char *name, enum toml_origin origin, size_t at)
{
	struct json_object *table = toml_value_must(json_object_new_object());
	struct toml_mark mark = {
		.type = TOML_TABLE, .line = doc->in.line, .start = at, .end = at
	};

	toml_mark_set(table, origin, &mark);
	object_add(parent, name, table);
	return table;
}

/* One step of a header's path, [here.here.x]: down into a table, or into the
 * last table of an array of tables. */
static int
table_enter(struct document *doc, const struct key *key, size_t i, size_t at,
    struct json_object **table, size_t *depth)
{
	struct json_object *next;
	enum toml_origin origin;

	*depth += 1;
	if (!json_object_object_get_ex(*table, key->part[i], &next)) {
		*table = table_add_named(
		    doc, *table, key->part[i], TOML_ORIGIN_IMPLICIT, at);
		return 0;
	}
	origin = toml_mark_origin(next);
	if (origin == TOML_ORIGIN_VALUE)
		return key_fail(doc, key, i, next,
		    "a header cannot add to a value, nor to an inline {table}");
	if (origin == TOML_ORIGIN_HEADERS) {
		*depth += 1;
		next = json_object_array_get_idx(
		    next, json_object_array_length(next) - 1);
	}
	*table = next;
	return 0;
}

/* [header]: a new table, or one that was only implied so far. */
static int
section_open_table(struct document *doc, const struct key *key,
    const struct toml_mark *mark, struct json_object *parent)
{
	const char *name = key->part[key->count - 1];
	struct json_object *old, *table;

	if (!json_object_object_get_ex(parent, name, &old)) {
		table = toml_value_must(json_object_new_object());
		object_add(parent, name, table);
	} else if (toml_mark_origin(old) == TOML_ORIGIN_IMPLICIT) {
		table = old;
	} else {
		return key_fail(doc, key, key->count - 1, old,
		    "it cannot be defined a second time");
	}
	toml_mark_set(table, TOML_ORIGIN_HEADER, mark);
	doc->section = table;
	return 0;
}

/* [[header]]: one more table in an array of tables. */
static int
section_open_element(struct document *doc, const struct key *key,
    const struct toml_mark *mark, struct json_object *parent)
{
	const char *name = key->part[key->count - 1];
	struct toml_mark array_mark = *mark;
	struct json_object *array;

	if (!json_object_object_get_ex(parent, name, &array)) {
		array = toml_value_must(json_object_new_array());
		array_mark.type = TOML_ARRAY;
		toml_mark_set(array, TOML_ORIGIN_HEADERS, &array_mark);
		object_add(parent, name, array);
	} else if (toml_mark_origin(array) != TOML_ORIGIN_HEADERS) {
		return key_fail(doc, key, key->count - 1, array,
		    "[[...]] can only add to what was begun with [[...]]");
	}
	doc->section = toml_value_must(json_object_new_object());
	toml_mark_set(doc->section, TOML_ORIGIN_HEADER, mark);
	array_add(array, doc->section);
	doc->section_depth++;
	return 0;
}

static int
read_header(struct document *doc)
{
	__attribute__((cleanup(key_cleanup))) struct key key = { .count = 0 };
	struct toml_reader *in = &doc->in;
	bool is_element = toml_reader_at(in, "[[");
	const char *close = is_element ? "]]" : "]";
	struct toml_mark mark = {
		.type = TOML_TABLE, .line = in->line, .start = in->at
	};
	int r;

	in->at += strlen(close);
	toml_reader_skip_blanks(in);
	r = read_key(doc, &key);
	if (r < 0)
		return r;
	if (!toml_reader_at(in, close))
		return toml_reader_expected(in,
		    is_element ? "']]' after the table's name" :
				 "']' after the table's name");
	in->at += strlen(close);
	mark.end = in->at;
	{
		struct json_object *parent = doc->root;
		size_t depth = 0;

		for (size_t i = 0; i + 1 < key.count; i++) {
			r = table_enter(
			    doc, &key, i, mark.start, &parent, &depth);
			if (r < 0)
				return r;
		}
		doc->section_depth = depth + 1;
		if (doc->section_depth + is_element > TOML_DEPTH_MAX)
			return fail_depth(doc);
		return is_element ?
		    section_open_element(doc, &key, &mark, parent) :
		    section_open_table(doc, &key, &mark, parent);
	}
}

/* One step of a dotted key, here.here.x = 1: it may only add to tables that
 * dotted keys created. */
static int
pair_enter(struct document *doc, const struct key *key, size_t i, size_t at,
    struct json_object **table)
{
	struct json_object *next;

	if (!json_object_object_get_ex(*table, key->part[i], &next)) {
		*table = table_add_named(
		    doc, *table, key->part[i], TOML_ORIGIN_DOTTED, at);
		return 0;
	}
	if (toml_mark_origin(next) == TOML_ORIGIN_VALUE)
		return key_fail(
		    doc, key, i, next, "nothing can be added to it");
	if (toml_mark_origin(next) != TOML_ORIGIN_DOTTED)
		return key_fail(
		    doc, key, i, next, "put the key under its [header]");
	*table = next;
	return 0;
}

/* key = value, added to the table, which is `depth` levels deep. */
static int
read_pair(struct document *doc, struct json_object *table, size_t depth)
{
	__attribute__((cleanup(key_cleanup))) struct key key = { .count = 0 };
	struct toml_reader *in = &doc->in;
	struct json_object *value;
	size_t last, at = in->at;
	int r;

	r = read_key(doc, &key);
	if (r < 0)
		return r;
	last = key.count - 1;
	if (toml_reader_peek(in) != '=')
		return toml_reader_expected(in, "'=' after the key");
	for (size_t i = 0; i < last; i++) {
		r = pair_enter(doc, &key, i, at, &table);
		if (r < 0)
			return r;
	}
	if (json_object_object_get_ex(table, key.part[last], &value))
		return key_fail(
		    doc, &key, last, value, "it cannot be set a second time");
	in->at++;
	toml_reader_skip_blanks(in);
	r = read_value(doc, depth + key.count, "a value after '='", &value);
	if (r < 0)
		return r;
	object_add(table, key.part[last], value);
	return 0;
}

static int
fail_array_end(struct toml_reader *in, unsigned first_line)
{
	return toml_reader_fail(in,
	    "the array that starts on line %u has no closing ']'", first_line);
}

static int
read_array(struct document *doc, size_t depth, struct json_object *array)
{
	struct toml_reader *in = &doc->in;
	unsigned first_line = in->line;
	struct json_object *value = NULL;
	int r;

	in->at++;
	toml_reader_skip_space(in);
	while (toml_reader_peek(in) != ']') {
		if (in->at == in->len)
			return fail_array_end(in, first_line);
		r = read_value(
		    doc, depth + 1, "a value or ']' in the array", &value);
		if (r < 0)
			return r;
		array_add(array, value);
		toml_reader_skip_space(in);
		if (toml_reader_peek(in) == ']')
			break;
		if (in->at == in->len)
			return fail_array_end(in, first_line);
		if (toml_reader_peek(in) != ',')
			return toml_reader_expected(
			    in, "',' or ']' after the array's value");
		in->at++;
		toml_reader_skip_space(in);
	}
	in->at++;
	return 0;
}

static int
read_inline_table(struct document *doc, size_t depth, struct json_object *table)
{
	struct toml_reader *in = &doc->in;
	int r;

	in->at++;
	toml_reader_skip_blanks(in);
	if (toml_reader_peek(in) == '}') {
		in->at++;
		return 0;
	}
	for (;;) {
		r = read_pair(doc, table, depth);
		if (r < 0)
			return r;
		toml_reader_skip_blanks(in);
		if (toml_reader_peek(in) == '}')
			break;
		if (toml_reader_peek(in) != ',')
			return toml_reader_expected(in,
			    "',' or '}' on the same line in the inline table");
		in->at++;
		toml_reader_skip_blanks(in);
	}
	in->at++;
	return 0;
}

/* Read the value at the cursor, without its mark. *ret is set on failure too if
 * a part of it was built. */
static int
read_unmarked(struct document *doc, size_t depth, const char *expected,
    struct json_object **ret, enum toml_type *type)
{
	struct toml_reader *in = &doc->in;

	switch (toml_reader_peek(in)) {
	case '"':
	case '\'':
		*type = TOML_STRING;
		{
			cleanup_buf struct buf text = BUF_INIT;
			int r;

			r = toml_string_read(in, false, &text);
			if (r < 0)
				return r;
			*ret = toml_value_must(json_object_new_string_len(
			    text.data, (int)text.len));
			return 0;
		}
	case '[':
		*type = TOML_ARRAY;
		*ret = toml_value_must(json_object_new_array());
		return read_array(doc, depth, *ret);
	case '{':
		*type = TOML_TABLE;
		*ret = toml_value_must(json_object_new_object());
		return read_inline_table(doc, depth, *ret);
	case '\0':
	case '\r':
	case '\n':
	case '#':
	case ',':
	case ']':
	case '}':
	case '=':
		return toml_reader_expected(in, expected);
	default:
		return toml_value_read(in, ret, type);
	}
}

static int
read_value(struct document *doc, size_t depth, const char *expected,
    struct json_object **ret)
{
	struct toml_mark mark = { .line = doc->in.line, .start = doc->in.at };
	struct json_object *value = NULL;
	int r;

	if (depth > TOML_DEPTH_MAX)
		return fail_depth(doc);
	r = read_unmarked(doc, depth, expected, &value, &mark.type);
	if (r < 0) {
		json_object_put(value);
		return r;
	}
	mark.end = doc->in.at;
	toml_mark_set(value, TOML_ORIGIN_VALUE, &mark);
	*ret = value;
	return 0;
}

static int
read_line_end(struct toml_reader *in, const char *expected)
{
	toml_reader_skip_blanks(in);
	toml_reader_skip_comment(in);
	if (in->at < in->len && !toml_reader_at_newline(in))
		return toml_reader_expected(in, expected);
	toml_reader_skip_newline(in);
	return 0;
}

/* Read a header or a key/value pair and the rest of its line, then move the
 * section's tail after it. */
static int
read_statement(struct document *doc)
{
	bool is_header = toml_reader_peek(&doc->in) == '[';
	int r;

	r = is_header ? read_header(doc) :
			read_pair(doc, doc->section, doc->section_depth);
	if (r < 0)
		return r;
	r = read_line_end(&doc->in,
	    is_header ? "the end of the line after the header" :
			"the end of the line after the value");
	if (r < 0)
		return r;
	toml_mark_tail(doc->section, doc->in.at);
	return 0;
}

/* If the root has no keys, its first key would go before the first header and
 * the comment lines directly above it. */
static int
read_document(struct document *doc)
{
	struct toml_reader *in = &doc->in;
	bool has_statement = false, in_comment = false;
	size_t start, lead = 0;
	int r;

	while (in->at < in->len) {
		start = in->at;
		toml_reader_skip_blanks(in);
		if (toml_reader_peek(in) == '#' || toml_reader_at_newline(in) ||
		    in->at == in->len) {
			if (toml_reader_peek(in) != '#')
				in_comment = false;
			else if (!in_comment) {
				in_comment = true;
				lead = start;
			}
			toml_reader_skip_comment(in);
			toml_reader_skip_newline(in);
			continue;
		}
		if (!has_statement)
			toml_mark_tail(doc->root, in_comment ? lead : start);
		has_statement = true;
		in_comment = false;
		r = read_statement(doc);
		if (r < 0)
			return r;
	}
	if (!has_statement)
		toml_mark_tail(doc->root, in->len);
	return 0;
}

int
toml_parse(const char *bytes, size_t len, struct json_object **ret_root,
    unsigned *ret_line, struct err *err)
{
	struct document doc = {
		.in = { .text = bytes, .len = len, .line = 1, .err = err }
	};
	struct toml_mark mark = { .type = TOML_TABLE, .line = 1, .end = len };
	int r;

	doc.root = toml_value_must(json_object_new_object());
	doc.section = doc.root;
	toml_mark_set(doc.root, TOML_ORIGIN_ROOT, &mark);
	if (len > TOML_SIZE_MAX)
		r = err_set(err, -E2BIG, "the text is larger than %d MiB",
		    TOML_SIZE_MAX / 1024 / 1024);
	else
		r = toml_reader_check(&doc.in);
	if (r == 0) {
		if (toml_reader_at(&doc.in, BOM))
			doc.in.at = strlen(BOM);
		r = read_document(&doc);
	}
	if (r < 0) {
		json_object_put(doc.root);
		if (ret_line != NULL)
			*ret_line = doc.in.line;
		return r;
	}
	*ret_root = doc.root;
	return 0;
}
