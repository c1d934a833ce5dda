/* SPDX-License-Identifier: ISC */

#include "filed.h"

#include "e2e.h"

struct json_object *
filed_tasks(const char *root)
{
	return e2e_look(root, "tasks", "{}");
}

struct json_object *
filed_last(const char *root)
{
	cleanup_json struct json_object *list =
	    e2e_look(root, "tasks", "{\"limit\": 1}");

	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	return json_object_get(json_object_array_get_idx(list, 0));
}

void
filed_take(const char *root)
{
	e2e_expect(e2e_sh(root,
		       "test ! -e .llmc/llmc.db || "
		       "\"$STATE\" | \"$AUTOD\" --root . --rebuild "
		       ">/dev/null"),
	    0, NULL);
}
