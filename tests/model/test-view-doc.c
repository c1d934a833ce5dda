/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "view.h"

/* The same sequence each time. */
static unsigned seed;

static unsigned
chance(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

static struct json_object *
random_view(int64_t first_event)
{
	struct json_object *view = view_new();

	for (const struct view_section *s = view_sections; s->name != NULL;
	     s++) {
		struct json_object *rows = view_of(view, s->name);

		for (unsigned i = 0; i < 6; i++) {
			cleanup_free char *key = xasprintf("k%u", i);
			struct json_object *row = json_object_new_object();

			json_set_int(row, "value", chance(3));
			if (chance(3) > 0)
				json_set(rows, key, row);
			else
				json_object_put(row);
		}
	}
	for (int64_t n = first_event; n < first_event + 5; n++) {
		struct json_object *event = json_object_new_object();

		json_set_int(event, "n", n);
		json_object_array_add(view_of(view, VIEW_EVENTS), event);
	}
	return view;
}

TEST(a_change_leads_from_one_view_to_the_other)
{
	for (seed = 0; seed < 500; seed++) {
		unsigned start = seed;
		cleanup_json struct json_object *before = random_view(1);
		cleanup_json struct json_object *after = random_view(4);
		cleanup_json struct json_object *change =
		    view_diff(before, after);

		ck_assert_ptr_nonnull(change);
		ck_assert_int_eq(view_apply(before, change), 0);
		json_object_object_del(before, VIEW_EVENTS);
		json_object_object_del(after, VIEW_EVENTS);
		ck_assert(json_object_equal(before, after));
		seed = start;
	}
}

TEST(equal_views_have_no_change)
{
	cleanup_json struct json_object *one = NULL, *two = NULL;

	seed = 7;
	one = random_view(1);
	seed = 7;
	two = random_view(1);
	ck_assert_ptr_null(view_diff(one, two));
}

TEST(only_the_last_events_are_kept)
{
	cleanup_json struct json_object *view = view_new();
	struct json_object *list = view_of(view, VIEW_EVENTS);

	for (int64_t n = 1; n < 100; n++) {
		cleanup_json struct json_object *after = random_view(n * 5);
		cleanup_json struct json_object *change =
		    view_diff(view, after);

		ck_assert_int_eq(view_apply(view, change), 0);
	}
	ck_assert_uint_eq(json_object_array_length(list), VIEW_EVENTS_MAX);
	ck_assert_int_eq(
	    json_int_or(
		json_object_array_get_idx(list, VIEW_EVENTS_MAX - 1), "n", 0),
	    499);
}

TEST(what_is_no_change_is_refused)
{
	static const char *const wrong[] = {
		"{\"set\": []}",
		"{\"set\": {\"workers\": 1}}",
		"{\"unset\": {\"head\": []}}",
		"{\"unset\": {\"workers\": [1]}}",
		"{\"events\": {}}",
	};

	for (size_t i = 0; i < nitems(wrong); i++) {
		cleanup_json struct json_object *view = view_new();
		cleanup_json struct json_object *change =
		    json_tokener_parse(wrong[i]);

		ck_assert_int_eq(view_apply(view, change), -EINVAL);
	}
}

/* Of a later version. */
TEST(a_section_that_is_not_known_is_passed_over)
{
	cleanup_json struct json_object *view = view_new();
	cleanup_json struct json_object *change = json_tokener_parse(
	    "{\"set\": {\"weather\": [1], \"workers\": {\"eve\": {}}}, "
	    "\"unset\": {\"weather\": 1, \"tasks\": [\"t1\"]}}");

	json_set(view_of(view, "tasks"), "t1", json_object_new_object());
	ck_assert_int_eq(view_apply(view, change), 0);
	ck_assert_ptr_nonnull(view_row(view, "workers", "eve"));
	ck_assert_ptr_null(view_row(view, "tasks", "t1"));
	ck_assert_ptr_null(view_of(view, "weather"));
}

TEST(a_brief_view_has_all_rows_without_their_details)
{
	static const char text[] =
	    "{\"head\": {\"pid\": 1}, \"tasks\": {\"t1\": {\"title\": "
	    "\"T\", \"history\": [1], \"last_words\": \"x\"}}, \"goals\": "
	    "{\"g\": {\"nodes\": [1], \"done\": 2}}}";
	cleanup_json struct json_object *view = json_tokener_parse(text);
	cleanup_json struct json_object *same = json_tokener_parse(text);
	cleanup_json struct json_object *brief = view_brief(view);
	cleanup_json struct json_object *wanted = json_tokener_parse(
	    "{\"head\": {\"pid\": 1}, \"tasks\": {\"t1\": {\"title\": "
	    "\"T\"}}, \"goals\": {\"g\": {\"done\": 2}}}");

	ck_assert(json_object_equal(brief, wanted));
	ck_assert(json_object_equal(view, same));
}

TEST(what_a_view_lacks_is_added)
{
	cleanup_json struct json_object *view = view_complete(
	    json_tokener_parse("{\"head\": [], \"tasks\": {\"t1\": {}}}"));
	cleanup_json struct json_object *none =
	    view_complete(json_object_new_array());

	ck_assert(json_object_is_type(view_of(view, "head"), json_type_object));
	ck_assert(
	    json_object_is_type(view_of(view, "workers"), json_type_object));
	ck_assert(
	    json_object_is_type(view_of(view, VIEW_EVENTS), json_type_array));
	ck_assert_ptr_nonnull(view_row(view, "tasks", "t1"));
	ck_assert_ptr_null(view_row(view, "tasks", "t2"));
	ck_assert_ptr_nonnull(view_of(none, "asks"));
}
