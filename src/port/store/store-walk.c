/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "store-walk.h"

#define KEY_MAX 4096

void
store_walk_init(struct store_walk *walk, const char *text, size_t len)
{
	memset(walk, 0, sizeof *walk);
	walk->text = text;
	walk->len = len;
	walk->first = true;
}

static void
skip_blanks(struct store_walk *walk)
{
	while (walk->pos < walk->len && walk->text[walk->pos] != '\0' &&
	    strchr(" \t\r\n", walk->text[walk->pos]) != NULL)
		walk->pos++;
}

static bool
peek(struct store_walk *walk, char c)
{
	skip_blanks(walk);
	return walk->pos < walk->len && walk->text[walk->pos] == c;
}

static int
expect(struct store_walk *walk, char c, struct err *err)
{
	if (!peek(walk, c))
		return err_set(
		    err, -EINVAL, "byte %zu: expected %c", walk->pos, c);
	walk->pos++;
	return 0;
}

bool
store_span_is(const struct store_span *span, char opening)
{
	return span->len > 0 && span->text[0] == opening;
}

int
store_walk_enter(struct store_walk *walk, char opening, struct err *err)
{
	return expect(walk, opening, err);
}

/* At a quote: to the byte after the closing one. */
static int
skip_string(struct store_walk *walk, struct err *err)
{
	size_t start = walk->pos++;

	while (walk->pos < walk->len) {
		char c = walk->text[walk->pos++];

		if (c == '"')
			return 0;
		if (c == '\\')
			walk->pos++;
	}
	walk->pos = walk->len;
	return err_set(
	    err, -EINVAL, "byte %zu: a string that does not end", start);
}

/* Numbers and words end where the next sign begins. */
static bool
ends_word(char c)
{
	return c == '\0' || strchr(" \t\r\n,:{}[]\"", c) != NULL;
}

static int
skip_value(struct store_walk *walk, struct err *err)
{
	size_t start = walk->pos, depth = 0;
	int r = 0;

	do {
		char c;

		if (walk->pos >= walk->len)
			return err_set(err, -EINVAL,
			    "byte %zu: a value that does not end", start);
		c = walk->text[walk->pos];
		if (c == '"') {
			r = skip_string(walk, err);
		} else if (c == '{' || c == '[') {
			depth++;
			walk->pos++;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
			walk->pos++;
		} else if (depth > 0) {
			walk->pos++;
		} else {
			while (walk->pos < walk->len &&
			    !ends_word(walk->text[walk->pos]))
				walk->pos++;
		}
	} while (r == 0 && depth > 0);
	if (r == 0 && walk->pos == start)
		r = err_set(err, -EINVAL, "byte %zu: expected a value", start);
	return r;
}

/* As the parser reads it, with its escapes. */
static int
read_key(struct store_walk *walk, struct buf *key, struct err *err)
{
	cleanup_json struct json_object *list = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	size_t start;
	int r;

	if (!peek(walk, '"'))
		return err_set(
		    err, -EINVAL, "byte %zu: expected a key", walk->pos);
	start = walk->pos;
	r = skip_string(walk, err);
	if (r < 0)
		return r;
	buf_addc(&text, '[');
	buf_add(&text, walk->text + start, walk->pos - start);
	buf_addc(&text, ']');
	r = json_parse(text.data, text.len, KEY_MAX, &list, err);
	if (r < 0)
		return err_prefix(err, "the key at byte %zu", start), r;
	buf_clear(key);
	buf_adds(
	    key, json_object_get_string(json_object_array_get_idx(list, 0)));
	return expect(walk, ':', err);
}

static int
at_end(struct store_walk *walk, struct err *err)
{
	walk->pos++;
	skip_blanks(walk);
	if (walk->pos < walk->len)
		return err_set(err, -EINVAL,
		    "byte %zu: something after the end", walk->pos);
	return 0;
}

int
store_walk_next(struct store_walk *walk, char opening, struct buf *key,
    struct store_span *ret_value, struct err *err)
{
	size_t start;
	int r = 0;

	if (peek(walk, opening == '{' ? '}' : ']'))
		return at_end(walk, err);
	if (!walk->first)
		r = expect(walk, ',', err);
	walk->first = false;
	if (r == 0 && opening == '{')
		r = read_key(walk, key, err);
	if (r < 0)
		return r;
	skip_blanks(walk);
	start = walk->pos;
	r = skip_value(walk, err);
	if (r < 0)
		return r;
	ret_value->text = walk->text + start;
	ret_value->len = walk->pos - start;
	return 1;
}
