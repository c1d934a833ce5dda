/* SPDX-License-Identifier: ISC */

/* The rules of the tree of agents; the rows of foxctl_hierarchy.json. */

#include "settings-world.h"
#include "spawn-rules.h"
#include "settings-table.h"

#define ROWS_LEAST 295
#define MAX        1048576

static const char *
reason(int depth, int max, int local)
{
	const struct hierarchy_place place = { depth, max, local };
	const char *code = hierarchy_reason(hierarchy_may_spawn(&place));

	return code != NULL ? code : "";
}

TEST(an_agent_below_both_limits_may_spawn)
{
	ck_assert_str_eq(reason(0, 3, 3), "");
	ck_assert_str_eq(reason(1, 3, 2), "");
	ck_assert_str_eq(reason(2, 3, 3), "");
}

TEST(the_limit_of_the_tree_comes_before_the_local_one)
{
	ck_assert_str_eq(reason(3, 3, 3), "depth_limit_exceeded");
	ck_assert_str_eq(reason(4, 3, 5), "depth_limit_exceeded");
	ck_assert_str_eq(reason(2, 3, 2), "local_limit_exceeded");
	ck_assert_str_eq(reason(2, 3, 1), "local_limit_exceeded");
}

TEST(what_is_no_place_is_malformed)
{
	ck_assert_str_eq(reason(-1, 3, 3), "malformed");
	ck_assert_str_eq(reason(0, 0, 3), "malformed");
	ck_assert_str_eq(reason(0, 3, 0), "malformed");
	ck_assert_str_eq(reason(0, 3, -1), "malformed");
}

TEST(a_child_is_one_deeper_and_its_limit_only_tightens)
{
	const struct hierarchy_place parent = { 1, 5, 3 };
	bool clamped = true;
	struct hierarchy_place child = hierarchy_child(&parent, 2, &clamped);

	ck_assert(child.depth == 2 && child.max_depth == 5 &&
	    child.local_max_depth == 2 && !clamped);
	child = hierarchy_child(&parent, 4, &clamped);
	ck_assert(child.local_max_depth == 3 && clamped);
	child = hierarchy_child(&parent, 0, &clamped);
	ck_assert(child.local_max_depth == 3 && !clamped);
}

TEST(the_tree_of_the_seed_is_as_it_says)
{
	struct hierarchy_place coder = hierarchy_root_worker(3), reviewer;

	ck_assert(coder.depth == 1 && coder.local_max_depth == 3);
	coder.local_max_depth = 2;
	reviewer = hierarchy_child(&coder, 1, NULL);
	ck_assert(reviewer.depth == 2 && reviewer.local_max_depth == 1);
	/* Such a child is a leaf. */
	ck_assert_str_eq(reason(reviewer.depth, reviewer.max_depth,
			     reviewer.local_max_depth),
	    "local_limit_exceeded");
}

static struct json_object *
rows_of(struct json_object *root, const char *key)
{
	struct json_object *rows = json_object_object_get(root, key);

	ck_assert(json_object_is_type(rows, json_type_array));
	return rows;
}

static struct hierarchy_place
place_of(struct json_object *row)
{
	return (struct hierarchy_place){
		.depth = (int)json_int_or(row, "depth", 0),
		.max_depth = (int)json_int_or(row, "max", 0),
		.local_max_depth = (int)json_int_or(row, "local_max", 0),
	};
}

static void
validate_row(struct json_object *row)
{
	const struct hierarchy_place place = place_of(row);

	ck_assert_msg(strcmp(json_string_or(row, "reason", ""),
			  reason(place.depth, place.max_depth,
			      place.local_max_depth)) == 0,
	    "%s", json_object_to_json_string(row));
	ck_assert_int_eq(hierarchy_may_spawn(&place) == HIERARCHY_ALLOW,
	    json_bool_or(row, "allow", false));
}

static void
child_row(struct json_object *row)
{
	const struct hierarchy_place place = place_of(row);
	const struct hierarchy_place child = hierarchy_child(
	    &place, (int)json_int_or(row, "requested", 0), NULL);
	const int got[] = { child.depth, child.max_depth,
		child.local_max_depth };
	struct json_object *want = json_object_object_get(row, "child");

	for (size_t i = 0; i < nitems(got); i++)
		ck_assert_msg(json_object_get_int(
				  json_object_array_get_idx(want, i)) == got[i],
		    "%s", json_object_to_json_string(row));
}

TEST(all_rows_of_the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *rows;
	struct err err = { 0 };
	size_t count = 0;

	path = xasprintf("%s/foxctl_hierarchy.json", unit_vectors());
	ck_assert_msg(json_load(path, MAX, &root, &err) == 0, "%s", err.msg);
	rows = rows_of(root, "validate");
	for (size_t i = 0; i < json_object_array_length(rows); i++, count++)
		validate_row(json_object_array_get_idx(rows, i));
	rows = rows_of(root, "child_limits");
	for (size_t i = 0; i < json_object_array_length(rows); i++, count++)
		child_row(json_object_array_get_idx(rows, i));
	ck_assert_uint_ge(count, ROWS_LEAST);
}

/* --- settings ---------------------------------------------------------- */

TEST(the_defaults_are_those_of_the_vectors)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse("");
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = NULL;
	struct json_object *want;

	path = file_join(unit_vectors(), "foxctl_hierarchy.json");
	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	want = json_object_object_get(file, "defaults");
	ck_assert_int_eq(tuning.team_depth, json_int_or(want, "max_depth", 0));
	ck_assert_int_eq(settings_int(world.settings, "team.max_concurrent"),
	    json_int_or(want, "max_concurrent", 0));
	ck_assert(settings_bool(world.settings, "team.enabled"));
}
