/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "work-record.h"

TEST(every_priority_has_a_name_and_a_number)
{
	enum priority priority;

	for (int i = 0; i < PRIORITY_COUNT; i++) {
		priority = PRIORITY_COUNT;
		ck_assert(
		    priority_parse(priority_name((enum priority)i), &priority));
		ck_assert_int_eq(priority, i);
		ck_assert_int_eq(
		    priority_from_number(priority_to_number((enum priority)i)),
		    i);
	}
}

TEST(other_words_are_refused)
{
	static const char *const words[] = { "", "Urgent", "urgen", "3" };
	enum priority priority = PRIORITY_LOW;

	for (size_t i = 0; i < nitems(words); i++)
		ck_assert(!priority_parse(words[i], &priority));
	ck_assert_int_eq(priority, PRIORITY_LOW);
}

TEST(urgent_is_first_and_low_is_last)
{
	for (int i = 0; i < PRIORITY_COUNT; i++)
		for (int k = 0; k < PRIORITY_COUNT; k++)
			ck_assert_int_eq(priority_compare((enum priority)i,
					     (enum priority)k),
			    i < k ? -1 : i > k);
	ck_assert_int_lt(priority_compare(PRIORITY_URGENT, PRIORITY_LOW), 0);
}

TEST(numbers_of_task_files_have_a_priority)
{
	static const struct {
		int64_t number;
		enum priority priority;
	} rows[] = {
		{ INT64_MIN, PRIORITY_URGENT },
		{ 0, PRIORITY_URGENT },
		{ 1, PRIORITY_HIGH },
		{ 2, PRIORITY_HIGH },
		{ 3, PRIORITY_NORMAL },
		{ 4, PRIORITY_LOW },
		{ INT64_MAX, PRIORITY_LOW },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_int_eq(
		    priority_from_number(rows[i].number), rows[i].priority);
}

/* --- places ---------------------------------------------------------- */

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

TEST(a_pattern_is_within_itself_or_a_place_above_it)
{
	char pattern[] = "src/*.c", docs[] = "docs";
	char *const places[] = { pattern, docs, NULL };
	static const struct {
		const char *place;
		bool within;
	} rows[] = {
		{ "src/*.c", true },
		{ "src/*.c/x*", false },
		{ "docs/*.md", true },
		{ "src/*", false },
		{ "src/a.c", true },
		{ "src", false },
		{ NULL, false },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(
		    scope_path_within(places, rows[i].place) == rows[i].within,
		    "%s", rows[i].place);
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
