/* SPDX-License-Identifier: ISC */

/* The answer of landing.list: always as the table of methods says. */
#include "landing-scene.h"
#include "api.h"
#include "landing-record.h"
#include "schema.h"
#include "json-short.h"

static struct landing_record record;

void
unit_before(void)
{
	scene_setup();
	memset(&record, 0, sizeof record);
}

void
unit_after(void)
{
	schema_release(&landing_record_schema, &record);
	scene_teardown();
}

static struct landing_item *
add_item(const char *id)
{
	struct landing_item *item = landing_item_new(id);

	xstrset(&item->head, "cafe");
	item->seq = record.count + 1;
	landing_record_append(&record, item);
	return item;
}

/* Frees the list. "1 covered in 1: why; " */
static void
expect_list(struct json_object *list, const char *want)
{
	struct json_object *items = json_object_object_get(list, "items");
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	ck_assert_msg(
	    schema_check(api_find("landing.list")->result, list, "", &err) == 0,
	    "%s", err.msg);
	JSON_EACH (item, items) {
		buf_addf(&text, "%d %s %s in %d: %s; ",
		    (int)json_int_or(item, "position", 0),
		    json_string_or(item, "id", ""),
		    json_string_or(item, "state", ""),
		    (int)json_int_or(item, "check_slot", 0),
		    json_string_or(item, "why", ""));
	}
	ck_assert_str_eq(text.data, want);
	json_object_put(list);
}

/* The queue of the scene; its items have the letters as ids. */
static struct json_object *
list_scene(const char *hold, const char *const *troubles)
{
	static const int slots[] = { 1, 2, 3 };
	struct landing_item *items[SCENE_MAX];
	struct landing_list list = {
		.record = &record,
		.facts = &scene.facts,
		.items = items,
		.troubles = troubles,
		.slots = slots,
		.branch = "main",
		.check = "make check",
		.hold = hold,
		.now_ms = SCENE_NOW,
	};

	for (size_t i = record.count; i < scene.facts.entry_count; i++)
		add_item(scene.facts.entries[i].task);
	for (size_t i = 0; i < scene.facts.entry_count; i++)
		items[i] = record.items[i];
	return landing_list_json(&list);
}

TEST(why_they_wait)
{
	const char *const troubles[] = { NULL, NULL, NULL, "no such commit" };

	scene_add("abcd");
	scene_entry('d')->held = true;
	scene_passed("0a");
	scene_expect_views("a green, b built 1000, c built 1000, d held");
	expect_list(list_scene(NULL, troubles),
	    "1 a green in 0: passed, lands next; "
	    "2 b built in 0: waits for a check; "
	    "3 c built in 0: waits for a check; "
	    "4 d held in 0: no such commit; ");
	scene_run("0ab", "ab");
	scene.facts.hold = true;
	expect_list(list_scene("your checkout is in the way", troubles),
	    "1 a held in 0: your checkout is in the way; "
	    "2 b covered in 1: a check is running; "
	    "3 c built in 0: waits for a check; "
	    "4 d held in 0: no such commit; ");
}

TEST(a_red_branch_and_a_flaky_command)
{
	struct json_object *list;

	scene_add("a");
	scene_failed("0");
	scene_failed("0");
	scene_failed("0a");
	scene_failed("0a");
	scene_expect_views("a red");
	list = list_scene(NULL, NULL);
	ck_assert(json_bool_or(list, "red", false));
	ck_assert_str_eq(json_string_or(json_object_object_get(list, "check"),
			     "command", ""),
	    "make check");
	expect_list(list, "1 a red in 0: main itself fails its check; ");
	scene_passed("0a");
	list = list_scene(NULL, NULL);
	ck_assert_int_eq(json_int_or(json_object_object_get(list, "check"),
			     "flaky_trees", 0),
	    1);
	json_object_put(list);
}

TEST(without_a_daemon)
{
	struct landing_list list = {
		.record = &record,
		.branch = "main",
		.check = "",
		.now_ms = SCENE_NOW,
	};

	expect_list(landing_list_resting(list, "", "", NULL), "");
	add_item("q1");
	add_item("q2")->priority = PRIORITY_HIGH;
	add_item("q3")->step = ITEM_LANDED;
	add_item("q4")->step = ITEM_EJECTED;
	expect_list(landing_list_resting(list, "c0", "0", NULL),
	    "0 q3 landed in 0: its worker is being reset; "
	    "0 q4 ejected in 0: its worker will be told; "
	    "1 q2 queued in 0: no daemon is running; "
	    "2 q1 queued in 0: no daemon is running; ");
}
