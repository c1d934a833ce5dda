/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "work-record.h"

TEST(a_place_has_one_shortest_form)
{
	static const struct {
		const char *place, *normal;
	} table[] = {
		{ "src", "src" },
		{ "./src/", "src" },
		{ "src//api///a.c", "src/api/a.c" },
		{ "src/./api/../b", "src/b" },
		{ ".", "" },
		{ "", "" },
		{ "a/..", "" },
		{ "..a/b..", "..a/b.." },
		{ ".hidden", ".hidden" },
		{ "/", NULL },
		{ "/etc/passwd", NULL },
		{ "..", NULL },
		{ "../x", NULL },
		{ "a/../../x", NULL },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *normal = scope_path_normal(table[i].place);

		ck_assert_msg((normal == NULL) == (table[i].normal == NULL),
		    "%s", table[i].place);
		if (normal != NULL)
			ck_assert_str_eq(normal, table[i].normal);
	}
}

TEST(a_folder_covers_what_is_in_it_by_whole_names)
{
	static const struct {
		const char *place, *file;
		bool covers;
	} table[] = {
		{ "src", "src/a.c", true },
		{ "src/", "src/a/b.c", true },
		{ "src", "src", true },
		{ "src", "src2/a.c", false },
		{ "src", "src.c", false },
		{ "src/a.c", "src/a.c", true },
		{ "src/a.c", "src", false },
		{ ".", "anything/at/all", true },
		{ "./", "x", true },
		{ "src/*.c", "src/a.c", true },
		{ "src/*.c", "src/a.h", false },
		{ "src/**", "src/a/b.h", true },
		{ "**/*.md", "docs/a.md", true },
		{ "app/[id].tsx", "app/[id].tsx", true },
		{ "/src", "src/a.c", false },
		{ "../src", "src/a.c", false },
		{ "docs/../src", "src/a.c", true },
	};

	for (size_t i = 0; i < nitems(table); i++)
		ck_assert_msg(scope_path_covers(table[i].place,
				  table[i].file) == table[i].covers,
		    "%s %s", table[i].place, table[i].file);
}

TEST(two_places_meet_if_one_covers_the_other)
{
	ck_assert(scope_path_meets("src", "src/a.c"));
	ck_assert(scope_path_meets("src/a.c", "src"));
	ck_assert(scope_path_meets("src", "src"));
	ck_assert(scope_path_meets("", "src"));
	ck_assert(!scope_path_meets("src", "src2"));
	ck_assert(!scope_path_meets("src/a", "src/b"));
	ck_assert(!scope_path_meets("src/*", "src/a"));
}

TEST(no_places_cover_nothing)
{
	char *const none[] = { NULL };
	char docs[] = "docs", src[] = "src";
	char *const two[] = { docs, src, NULL };

	ck_assert(!scope_path_in(NULL, "a"));
	ck_assert(!scope_path_in(none, "a"));
	ck_assert(scope_path_in(two, "src/a"));
	ck_assert(!scope_path_in(two, "lib/a"));
}
