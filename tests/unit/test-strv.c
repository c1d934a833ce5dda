/* SPDX-License-Identifier: ISC */

#include "unit.h"

static void
assert_list(char *const *list, const char *const *wanted)
{
	size_t count = 0;

	for (; wanted[count] != NULL; count++) {
		ck_assert_uint_gt(strv_count(list), count);
		ck_assert_str_eq(list[count], wanted[count]);
	}
	ck_assert_uint_eq(strv_count(list), count);
}

TEST(null_is_the_empty_list)
{
	cleanup_strv char **list = NULL;

	ck_assert_uint_eq(strv_count(NULL), 0);
	ck_assert_ptr_nonnull(strv_const(NULL));
	ck_assert_ptr_null(strv_const(NULL)[0]);
	strv_remove(NULL, "a");
	strv_free(NULL);
	strv_clear(&list);
	ck_assert_ptr_null(list);
	strv_add_all(&list, NULL);
	ck_assert_uint_eq(strv_count(list), 0);
}

TEST(strings_are_added_in_order)
{
	static const char *const more[] = { "c", "", NULL };
	cleanup_strv char **list = NULL;
	const char *a = "a";

	strv_add(&list, a);
	ck_assert_ptr_ne(list[0], a);
	strv_take(&list, xstrdup("b"));
	strv_add_all(&list, more);
	assert_list(list, (const char *const[]){ "a", "b", "c", "", NULL });
	ck_assert_ptr_eq(strv_const(list), list);
	strv_clear(&list);
	ck_assert_ptr_null(list);
	strv_add(&list, "again");
	ck_assert_uint_eq(strv_count(list), 1);
}

TEST(copies_are_never_null)
{
	static const char *const two[] = { "x", "y", NULL };
	cleanup_strv char **copy = strv_copy(two), **none = strv_copy(NULL);

	assert_list(copy, two);
	ck_assert_ptr_ne(copy[0], two[0]);
	ck_assert_ptr_nonnull(none);
	ck_assert_ptr_null(none[0]);
}

TEST(every_equal_string_is_removed)
{
	static const char *const words[] = { "a", "b", "a", "ab", "a", NULL };
	cleanup_strv char **list = strv_copy(words);

	strv_remove(list, "none");
	assert_list(list, words);
	strv_remove(list, "a");
	assert_list(list, (const char *const[]){ "b", "ab", NULL });
	strv_remove(list, "b");
	strv_remove(list, "ab");
	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(strv_count(list), 0);
}

TEST(json_and_back)
{
	static const char *const words[] = { "a", "", "\"\xc3\xa4", NULL };
	cleanup_strv char **list = strv_copy(words), **again = NULL;
	cleanup_strv char **none = strv_from_json(NULL);
	cleanup_json struct json_object *json = strv_to_json(list);
	cleanup_json struct json_object *empty = strv_to_json(NULL);

	ck_assert_uint_eq(json_object_array_length(json), 3);
	ck_assert_uint_eq(json_object_array_length(empty), 0);
	again = strv_from_json(json);
	assert_list(again, words);
	ck_assert_ptr_nonnull(none);
	ck_assert_uint_eq(strv_count(none), 0);
}
