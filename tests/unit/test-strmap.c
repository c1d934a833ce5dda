/* SPDX-License-Identifier: ISC */

#include "unit.h"

#define KEYS 5000

static char names[KEYS][16];

static void
name_all(void)
{
	for (int i = 0; i < KEYS; i++)
		snprintf(names[i], sizeof names[i], "S%d.%d", i / 7, i % 7);
}

TEST(an_empty_map_has_nothing)
{
	struct strmap map = { 0 };

	ck_assert_ptr_null(strmap_get(&map, "a"));
	ck_assert_ptr_null(strmap_remove(&map, "a"));
	strmap_release(&map);
}

TEST(a_key_is_added_once)
{
	struct strmap map = { 0 };
	int one, two;

	ck_assert(strmap_add(&map, "a", &one));
	ck_assert(!strmap_add(&map, "a", &two));
	ck_assert_ptr_eq(strmap_get(&map, "a"), &one);
	ck_assert_uint_eq(map.count, 1);
	strmap_release(&map);
}

TEST(every_key_is_found_after_growth)
{
	struct strmap map = { 0 };

	name_all();
	for (int i = 0; i < KEYS; i++)
		ck_assert(strmap_add(&map, names[i], names[i]));
	for (int i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(strmap_get(&map, names[i]), names[i]);
	ck_assert_ptr_null(strmap_get(&map, "S1"));
	strmap_release(&map);
}

TEST(a_removal_hides_no_other_key)
{
	struct strmap map = { 0 };

	name_all();
	for (int i = 0; i < KEYS; i++)
		strmap_add(&map, names[i], names[i]);
	for (int i = 0; i < KEYS; i += 2)
		ck_assert_ptr_eq(strmap_remove(&map, names[i]), names[i]);
	for (int i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(
		    strmap_get(&map, names[i]), i % 2 == 0 ? NULL : names[i]);
	for (int i = 0; i < KEYS; i += 2)
		ck_assert(strmap_add(&map, names[i], names[i]));
	for (int i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(strmap_remove(&map, names[i]), names[i]);
	ck_assert_uint_eq(map.count, 0);
	strmap_release(&map);
}
