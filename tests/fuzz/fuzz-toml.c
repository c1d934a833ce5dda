/* SPDX-License-Identifier: ISC */

/*
 * Any bytes as a TOML document. If it parses, its marks must be inside the
 * text, and it must still parse after an edit, with the new value in place.
 */

#include <json-c/json.h>

#include "fuzz.h"
#include "toml-edit.h"
#include "toml.h"

static void
require(int holds)
{
	if (!holds)
		abort();
}

static void
check_marks(struct json_object *value, size_t size)
{
	struct toml_mark mark = toml_mark_of(value);
	struct json_object_iterator at, end;

	require(mark.type > TOML_NONE && mark.type < TOML_TYPE_COUNT);
	require(mark.line >= 1);
	require(mark.start <= mark.end && mark.end <= size);
	require(mark.tail <= size);
	if (mark.type == TOML_ARRAY)
		for (size_t i = 0; i < json_object_array_length(value); i++)
			check_marks(json_object_array_get_idx(value, i), size);
	if (mark.type != TOML_TABLE)
		return;
	end = json_object_iter_end(value);
	for (at = json_object_iter_begin(value);
	     !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		check_marks(json_object_iter_peek_value(&at), size);
}

static struct json_object *
find(struct json_object *root, const char *const *path, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!json_object_is_type(root, json_type_object) ||
		    !json_object_object_get_ex(root, path[i], &root))
			return NULL;
	return root;
}

static void
check_set(const char *bytes, size_t size, const char *const *path, size_t count)
{
	cleanup_buf struct buf doc = BUF_INIT;
	struct json_object *root = NULL, *value;
	int r;

	buf_add(&doc, bytes, size);
	r = toml_edit_set(&doc, path, count, "42424242", NULL);
	if (r < 0) {
		require(r == -EINVAL || r == -E2BIG);
		require(doc.len == size &&
		    (size == 0 || memcmp(doc.data, bytes, size) == 0));
		return;
	}
	require(toml_parse(doc.data, doc.len, &root, NULL, NULL) == 0);
	value = find(root, path, count);
	require(json_object_is_type(value, json_type_int) &&
	    json_object_get_int(value) == 42424242);
	json_object_put(root);
	require(toml_edit_unset(&doc, path, count, NULL) <= 0);
	require(toml_parse(doc.data, doc.len, &root, NULL, NULL) == 0);
	json_object_put(root);
}

/* Remove each top-level table, one after the other. */
static void
check_remove(const char *bytes, size_t size, struct json_object *root)
{
	struct json_object_iterator at = json_object_iter_begin(root);
	struct json_object_iterator end = json_object_iter_end(root);
	struct json_object *left;

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		const char *path[] = { json_object_iter_peek_name(&at) };
		cleanup_buf struct buf doc = BUF_INIT;

		buf_add(&doc, bytes, size);
		if (toml_edit_remove_table(&doc, path, 1, NULL) < 0)
			continue;
		require(toml_parse(doc.data, doc.len, &left, NULL, NULL) == 0);
		require(find(left, path, 1) == NULL);
		require(json_object_object_length(left) ==
		    json_object_object_length(root) - 1);
		json_object_put(left);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[][3] = { { "a", NULL },
		{ "", "b", NULL }, { "a", "b", "c" } };
	const char *bytes = (const char *)data;
	struct json_object *root = NULL;
	struct err err = { 0 };
	unsigned line = 0;
	int r;

	r = toml_parse(bytes, size, &root, &line, &err);
	if (r < 0) {
		require(r == err.code && line >= 1 && root == NULL);
		return 0;
	}
	check_marks(root, size);
	for (size_t i = 0; i < nitems(paths); i++)
		check_set(bytes, size, paths[i], i + 1);
	check_remove(bytes, size, root);
	json_object_put(root);
	return 0;
}
