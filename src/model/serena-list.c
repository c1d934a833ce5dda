/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "serena-list.h"
#include "text.h"
#include "yaml-scalar.h"
#include "yaml-text.h"

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
