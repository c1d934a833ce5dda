/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "notice.h"

TEST(every_class_has_a_name_and_words)
{
	for (int i = NOTICE_NONE + 1; i < NOTICE_CLASS_COUNT; i++) {
		struct notice n = { .class = (enum notice_class)i };
		cleanup_json struct json_object *json =
		    notice_json(&n, "/r", "autod", "now");

		ck_assert_ptr_nonnull(notice_name(n.class));
		ck_assert_str_eq(
		    json_string_or(json, "class", ""), notice_name(n.class));
		ck_assert_str_ne(json_string_or(json, "what", ""), "");
	}
	ck_assert_ptr_null(notice_names[NOTICE_CLASS_COUNT - 1]);
}

/* Programs read these members: they are in llmc.conf(5). */
TEST(a_message_has_every_member)
{
	static const char *const members[] = { "timestamp", "root", "program",
		"class", "what", "why", "worker", "task", "exit_status",
		"failure", "evidence", "count", "earlier" };
	struct notice n = { .class = NOTICE_PUSH, .why = "refused" };
	cleanup_json struct json_object *json =
	    notice_json(&n, "/r", "autod", "2026-01-01T00:00:00Z");

	ck_assert_int_eq(json_object_object_length(json), nitems(members));
	for (size_t i = 0; i < nitems(members); i++)
		ck_assert_msg(json_object_object_get_ex(json, members[i], NULL),
		    "%s", members[i]);
	ck_assert_str_eq(json_string_or(json, "why", ""), "refused");
}

TEST(several_become_one)
{
	struct json_object *message = NULL, *list;
	char why[] = "number 00\nand its second line";

	for (int i = 0; i < 30; i++) {
		struct notice n = { .class = NOTICE_TASK, .why = why };
		struct json_object *json = notice_json(&n, "/r", "a", "now");

		why[7] = (char)('0' + i / 10);
		why[8] = (char)('0' + i % 10);
		json_set_string(json, "why", why);
		message = message != NULL ? notice_merge(message, json) : json;
	}
	ck_assert_int_eq(json_int_or(message, "count", 0), 30);
	ck_assert_int_eq(
	    strncmp(json_string_or(message, "why", ""), "number 29\n", 10), 0);
	list = json_object_object_get(message, "earlier");
	ck_assert_uint_eq(json_object_array_length(list), 10);
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(list, 0)),
	    "number 00");
	json_object_put(message);
}

TEST(a_class_that_is_none_is_refused_by_name)
{
	cleanup_settings_world struct settings_world good =
	    settings_world_parse("[people]\nnotify_on = [\"end\", \"limit\"]");
	cleanup_settings_world struct settings_world bad =
	    settings_world_parse("[people]\nnotify_on = [\"end\", \"ends\"]");
	const char *const *list;

	ck_assert(!good.problems.fatal);
	ck_assert_uint_eq(
	    settings_list(good.settings, "people.notify_on", &list), 2);
	ck_assert(bad.problems.fatal);
	ck_assert_ptr_nonnull(
	    strstr(bad.problems.list[0].text, "\"checkout\""));
}
