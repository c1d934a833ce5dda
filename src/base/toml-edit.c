/* SPDX-License-Identifier: ISC */

/*
 * Every change is made on a copy of the text, at the offsets recorded in the
 * reader's marks. The copy must parse as intended before it replaces the
 * original.
 */
#include "base.h"

#include <json-c/json.h>

#include "toml-edit.h"
#include "toml.h"

#define BOM "\xef\xbb\xbf"

struct path {
	const char *const *part;
	size_t count;
};

/* The place in a document that a path leads to. Owns nothing. */
struct place {
	struct json_object *value; /* at the end of the path, NULL if missing */
	struct json_object *parent; /* the last table on the path that exists */
	size_t depth; /* number of path parts that lead to the parent */
	struct json_object *owner; /* the parent, or the closest table around it
				    * that has its own header or braces */
	size_t owner_depth;
};

/* One [header] of the document and what follows it. */
struct section {
	size_t start, tail;
	bool gone;
};

struct sections {
	struct section *list; /* owned */
	size_t count;
};

void
toml_edit_quote(struct buf *out, const char *s)
{
	static const char bytes[] = "\b\t\n\f\r\"\\";
	static const char names[] = "btnfr\"\\";
	cleanup_buf struct buf valid = BUF_INIT;
	const char *special;

	text_add_utf8(&valid, s, strlen(s));
	buf_addc(out, '"');
	for (size_t i = 0; i < valid.len; i++) {
		unsigned char c = (unsigned char)valid.data[i];

		special = strchr(bytes, c);
		if (special != NULL)
			buf_addf(out, "\\%c", names[special - bytes]);
		else if (c < 0x20 || c == 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addc(out, (char)c);
	}
	buf_addc(out, '"');
}

void
toml_edit_quote_key(struct buf *out, const char *key)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	if (*key != '\0' && key[strspn(key, bare)] == '\0')
		buf_adds(out, key);
	else
		toml_edit_quote(out, key);
}

static void
path_add(struct buf *out, const struct path *path, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (i > from)
			buf_addc(out, '.');
		toml_edit_quote_key(out, path->part[i]);
	}
}

/* "'a.b' is an array on line 3: why", for the first `count` parts. */
static int
path_fail(const struct path *path, size_t count, struct json_object *value,
    const char *why, struct err *err)
{
	struct toml_mark mark = toml_mark_of(value);
	cleanup_buf struct buf name = BUF_INIT;

	path_add(&name, path, 0, count);
	return err_set(err, -EINVAL, "'%s' is %s on line %u: %s", name.data,
	    toml_mark_type_name(mark.type), mark.line, why);
}

static int
path_missing(const struct path *path, struct err *err)
{
	cleanup_buf struct buf name = BUF_INIT;

	path_add(&name, path, 0, path->count);
	return err_set(err, -ENOENT, "'%s' is not set", name.data);
}

static int
place_find(struct json_object *root, const struct path *path,
    struct place *ret_place, struct err *err)
{
	struct place place = { .parent = root, .owner = root };
	struct json_object *next;
	enum toml_origin origin;

	if (path->count == 0)
		return err_set(err, -EINVAL, "no key given");
	while (json_object_object_get_ex(
	    place.parent, path->part[place.depth], &next)) {
		if (place.depth + 1 == path->count) {
			place.value = next;
			break;
		}
		place.depth++;
		if (!json_object_is_type(next, json_type_object))
			return path_fail(
			    path, place.depth, next, "not a table", err);
		place.parent = next;
		origin = toml_mark_origin(next);
		if (origin == TOML_ORIGIN_DOTTED)
			continue;
		place.owner = next;
		place.owner_depth = place.depth;
	}
	*ret_place = place;
	return 0;
}

/* Where the text begins: a byte order mark is not part of the first line. */
static size_t
document_start(const struct buf *doc)
{
	return text_begins(doc->data, BOM) ? strlen(BOM) : 0;
}

static size_t
line_start(const struct buf *doc, size_t at)
{
	while (at > document_start(doc) && doc->data[at - 1] != '\n')
		at--;
	return at;
}

/* The offset after the newline. */
static size_t
line_end(const struct buf *doc, size_t at)
{
	const char *newline = memchr(doc->data + at, '\n', doc->len - at);

	return newline == NULL ? doc->len : (size_t)(newline - doc->data) + 1;
}

static const char *
line_ending(const struct buf *doc)
{
	const char *newline = memchr(doc->data, '\n', doc->len);

	return newline != NULL && newline > doc->data && newline[-1] == '\r' ?
	    "\r\n" :
	    "\n";
}

/* It must be one value and nothing else: no comment, no second line that would
 * be read as a key or header of the document. */
static int
value_check(const char *value, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *root = NULL;
	struct json_object *read;
	struct toml_mark mark;
	int r;

	buf_adds(&text, "v=");
	buf_adds(&text, value);
	r = toml_parse(text.data, text.len, &root, NULL, err);
	if (r < 0) {
		err_prefix(err, "the new value");
		return r;
	}
	json_object_object_get_ex(root, "v", &read);
	mark = toml_mark_of(read);
	if (mark.start != strlen("v=") || mark.end != text.len)
		return err_set(err, -EINVAL,
		    "the new value must be one value, without blanks or "
		    "comments around it");
	return 0;
}

/* Does the root have keys of its own, not only headers? */
static bool
has_own_keys(struct json_object *root)
{
	struct json_object_iterator at = json_object_iter_begin(root);
	struct json_object_iterator end = json_object_iter_end(root);
	enum toml_origin origin;

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		origin = toml_mark_origin(json_object_iter_peek_value(&at));
		if (origin == TOML_ORIGIN_VALUE || origin == TOML_ORIGIN_DOTTED)
			return true;
	}
	return false;
}

static size_t
insert_value(struct buf *doc, const struct path *path,
    const struct place *place, const char *value)
{
	bool has_table = place->depth + 1 == path->count;

	if (toml_mark_origin(place->owner) == TOML_ORIGIN_VALUE) {
		cleanup_buf struct buf text = BUF_INIT;
		size_t at = toml_mark_of(place->owner).end - 1, begin;
		bool empty = json_object_object_length(place->owner) == 0;

		/* Insert a key into an inline table, before the closing
		 * brace. Returns the offset of the value. */
		while (doc->data[at - 1] == ' ' || doc->data[at - 1] == '\t')
			at--;
		buf_adds(&text, empty ? " " : ", ");
		path_add(&text, path, place->owner_depth, path->count);
		buf_adds(&text, " = ");
		begin = at + text.len;
		buf_adds(&text, value);
		if (empty && doc->data[at] == '}')
			buf_addc(&text, ' ');
		buf_splice(doc, at, 0, text.data, text.len);
		return begin;
	}
	if (has_table &&
	    toml_mark_origin(place->owner) != TOML_ORIGIN_IMPLICIT) {
		cleanup_buf struct buf text = BUF_INIT;
		const char *eol = line_ending(doc);
		size_t begin, at = toml_mark_of(place->owner).tail;

		/* Insert a line after the table's own lines. */
		if (line_start(doc, at) != at)
			buf_adds(&text, eol);
		path_add(&text, path, place->owner_depth, path->count);
		buf_adds(&text, " = ");
		begin = at + text.len;
		buf_adds(&text, value);
		buf_adds(&text, eol);
		/* Separate the first key of the root from the headers below it.
		 */
		if (toml_mark_origin(place->owner) == TOML_ORIGIN_ROOT &&
		    !has_own_keys(place->owner) && at < doc->len)
			buf_adds(&text, eol);
		buf_splice(doc, at, 0, text.data, text.len);
		return begin;
	}
	{
		const char *eol = line_ending(doc);
		size_t begin, last = line_start(doc, doc->len);

		/* Append a new [table] with this key to the document. */
		if (last != doc->len) {
			buf_adds(doc, eol);
			last = doc->len;
		}
		if (last > document_start(doc)) {
			last = line_start(doc, last - 1);
			if (doc->data[last] != '\n' && doc->data[last] != '\r')
				buf_adds(doc, eol);
		}
		buf_addc(doc, '[');
		path_add(doc, path, 0, path->count - 1);
		buf_addf(doc, "]%s", eol);
		path_add(doc, path, path->count - 1, path->count);
		buf_adds(doc, " = ");
		begin = doc->len;
		buf_addf(doc, "%s%s", value, eol);
		return begin;
	}
}

/* Find the path in the changed text, which must parse. The mark is TOML_NONE if
 * nothing is there. */
static int
document_check(const struct buf *changed, const struct path *path,
    struct toml_mark *ret_mark, struct err *err)
{
	cleanup_json struct json_object *root = NULL;
	struct place place = { 0 };
	int r;

	r = toml_parse(changed->data, changed->len, &root, NULL, err);
	if (r == 0)
		r = place_find(root, path, &place, err);
	if (r < 0) {
		err_prefix(err, "after the change");
		return r;
	}
	*ret_mark = toml_mark_of(place.value);
	return 0;
}

static void
document_swap(struct buf *document, struct buf *changed)
{
	struct buf old = *document;

	*document = *changed;
	*changed = old;
}

int
toml_edit_set(struct buf *document, const char *const *path, size_t count,
    const char *value, struct err *err)
{
	const struct path where = { path, count };
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf changed = BUF_INIT;
	size_t begin, len = strlen(value);
	struct toml_mark mark;
	struct place place = { 0 };
	int r;

	r = value_check(value, err);
	if (r == 0)
		r = toml_parse(document->data, document->len, &root, NULL, err);
	if (r == 0)
		r = place_find(root, &where, &place, err);
	if (r < 0)
		return r;
	buf_add(&changed, document->data, document->len);
	if (place.value == NULL) {
		begin = insert_value(&changed, &where, &place, value);
	} else if (toml_mark_origin(place.value) == TOML_ORIGIN_VALUE) {
		mark = toml_mark_of(place.value);
		begin = mark.start;
		buf_splice(&changed, begin, mark.end - begin, value, len);
	} else {
		return path_fail(
		    &where, count, place.value, "set its keys one by one", err);
	}
	r = document_check(&changed, &where, &mark, err);
	if (r < 0)
		return r;
	/* The value must be exactly where it was written. */
	if (mark.start != begin || mark.end != begin + len)
		return err_set(err, -EINVAL,
		    "the key cannot be written: is it valid UTF-8?");
	document_swap(document, &changed);
	return 0;
}

int
toml_edit_unset(struct buf *document, const char *const *path, size_t count,
    struct err *err)
{
	const struct path where = { path, count };
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf changed = BUF_INIT;
	struct toml_mark mark;
	struct place place = { 0 };
	size_t start;
	int r;

	r = toml_parse(document->data, document->len, &root, NULL, err);
	if (r == 0)
		r = place_find(root, &where, &place, err);
	if (r < 0)
		return r;
	if (place.value == NULL)
		return path_missing(&where, err);
	if (toml_mark_origin(place.owner) == TOML_ORIGIN_VALUE)
		return path_fail(&where, place.owner_depth, place.owner,
		    "written inline; edit the file instead", err);
	if (toml_mark_origin(place.value) != TOML_ORIGIN_VALUE)
		return path_fail(&where, count, place.value,
		    "only a single key can be unset", err);
	mark = toml_mark_of(place.value);
	start = line_start(document, mark.start);
	buf_add(&changed, document->data, document->len);
	buf_splice(
	    &changed, start, line_end(document, mark.end) - start, NULL, 0);
	r = document_check(&changed, &where, &mark, err);
	if (r < 0)
		return r;
	document_swap(document, &changed);
	return 0;
}

static void
sections_cleanup(struct sections *sections)
{
	free(sections->list);
}

/* Collect all headers below a value; the target and its sub-tables are to be
 * removed. */
static void
sections_collect(struct sections *sections, struct json_object *value,
    struct json_object *target, bool gone)
{
	enum toml_origin origin = toml_mark_origin(value);
	struct json_object_iterator at, end;

	if (value == target)
		gone = true;
	if (origin == TOML_ORIGIN_VALUE)
		return;
	if (origin == TOML_ORIGIN_HEADERS) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			sections_collect(sections,
			    json_object_array_get_idx(value, i), target, gone);
		return;
	}
	if (origin == TOML_ORIGIN_HEADER) {
		struct toml_mark mark = toml_mark_of(value);

		sections->list = xreallocarray(sections->list,
		    sections->count + 1, sizeof(*sections->list));
		sections->list[sections->count++] = (struct section){
			.start = mark.start, .tail = mark.tail, .gone = gone
		};
	}
	end = json_object_iter_end(value);
	for (at = json_object_iter_begin(value);
	     !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		sections_collect(
		    sections, json_object_iter_peek_value(&at), target, gone);
}

static int
section_compare(const void *a, const void *b)
{
	const struct section *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static void
sections_cut(struct sections *sections, size_t bound, struct buf *doc)
{
	struct section *list = sections->list;
	size_t end = doc->len;

	if (sections->count == 0)
		return;
	qsort(list, sections->count, sizeof(*list), section_compare);
	for (size_t i = 0; i < sections->count; i++) {
		size_t header = list[i].start;
		size_t previous, begin = line_start(doc, header);

		/* A section begins with the comment lines directly above its
		 * header. `bound` is the lower limit, which keeps the search
		 * out of strings. A comment at the top of the document belongs
		 * to the whole document. */
		while (begin > bound) {
			previous = line_start(doc, begin - 1);
			if (doc->data[previous +
				strspn(doc->data + previous, " \t")] != '#')
				break;
			begin = previous;
		}
		list[i].start = begin == document_start(doc) ?
		    line_start(doc, header) :
		    begin;
		bound = list[i].tail;
	}
	for (size_t i = sections->count; i-- > 0;) {
		size_t start = list[i].start;

		if (list[i].gone)
			buf_splice(doc, start, end - start, NULL, 0);
		end = start;
	}
}

static bool
ends_blank(const struct buf *text)
{
	size_t len = text->len;

	if (len < 2 || text->data[len - 1] != '\n')
		return false;
	if (text->data[len - 2] == '\r')
		len--;
	return len >= 2 && text->data[len - 2] == '\n';
}

int
toml_edit_remove_table(struct buf *document, const char *const *path,
    size_t count, struct err *err)
{
	const struct path where = { path, count };
	__attribute__((
	    cleanup(sections_cleanup))) struct sections sections = { NULL, 0 };
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf changed = BUF_INIT;
	struct toml_mark mark;
	struct place place = { 0 };
	enum toml_origin origin;
	int r;

	r = toml_parse(document->data, document->len, &root, NULL, err);
	if (r == 0)
		r = place_find(root, &where, &place, err);
	if (r < 0)
		return r;
	if (place.value == NULL)
		return path_missing(&where, err);
	origin = toml_mark_origin(place.value);
	if (origin == TOML_ORIGIN_VALUE || origin == TOML_ORIGIN_DOTTED)
		return path_fail(&where, count, place.value,
		    "it has no [header] of its own; unset its key", err);
	buf_add(&changed, document->data, document->len);
	sections_collect(&sections, root, place.value, false);
	sections_cut(&sections, toml_mark_of(root).tail, &changed);
	/* Remove the blank lines that stood between the last table and those
	 * before it. */
	while (!ends_blank(document) && ends_blank(&changed))
		buf_truncate(&changed,
		    changed.len -
			(changed.data[changed.len - 2] == '\r' ? 2 : 1));
	r = document_check(&changed, &where, &mark, err);
	if (r < 0)
		return r;
	document_swap(document, &changed);
	return 0;
}
