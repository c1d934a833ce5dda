/* SPDX-License-Identifier: ISC */

#include "id.h"
#include "state.h"
#include "unit.h"
#include "worker.h"

#define NOW INT64_C(1700000000000)

TEST(workers_are_sorted_and_found)
{
	static const char *const names[] = { "m", "a", "z", "auto-10", "auto-2",
		"b" };
	ended_by(state_release) struct state state;

	state_init(&state);
	for (size_t i = 0; i < nitems(names); i++)
		state_add(&state, worker_new(names[i], NOW));
	for (size_t i = 1; i < state.count; i++)
		ck_assert_str_lt(
		    state.workers[i - 1]->name, state.workers[i]->name);
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_str_eq(state_find(&state, names[i])->name, names[i]);
	ck_assert_ptr_null(state_find(&state, "auto"));
	state_remove(&state, "auto");
	ck_assert_uint_eq(state.count, nitems(names));
	for (size_t i = 0; i < nitems(names); i++) {
		state_remove(&state, names[i]);
		ck_assert_ptr_null(state_find(&state, names[i]));
		ck_assert_uint_eq(state.count, nitems(names) - 1 - i);
	}
}

/* Whatever the file says: no number twice, none without ports of its own. */
TEST(each_worker_has_a_number_of_its_own)
{
	static const int before[] = { 3, 0, 3, 5000, 201, -7, 1 };
	static const int after[] = { 3, 2, 4, 5, 6, 7, 1 };
	ended_by(state_release) struct state state;

	state_init(&state);
	for (size_t i = 0; i < nitems(before); i++) {
		struct worker *w =
		    worker_new((char[]){ (char)('a' + i), '\0' }, NOW);

		w->index = before[i];
		state_add(&state, w);
	}
	ck_assert(state_give_indexes(&state));
	for (size_t i = 0; i < nitems(after); i++)
		ck_assert_int_eq(state.workers[i]->index, after[i]);
	ck_assert(!state_give_indexes(&state));
}

TEST(unknown_members_are_kept)
{
	static const char text[] =
	    "{\"receipts\":3,\"from_the_future\":{\"a\":[1,2.5,null]},"
	    "\"nothing\":null,\"workers\":{}}";
	cleanup_json struct json_object *json = NULL;
	struct json_object *value;
	ended_by(state_release) struct state state;

	ck_assert_int_eq(state_parse(text, strlen(text), NOW, &state, NULL), 0);
	ck_assert_int_eq(json_object_object_length(state.rest), 2);
	json = state_to_json(&state);
	ck_assert(json_object_object_get_ex(json, "from_the_future", &value));
	ck_assert_str_eq(
	    json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN),
	    "{\"a\":[1,2.5,null]}");
	ck_assert(json_object_object_get_ex(json, "nothing", NULL));
	ck_assert_int_eq(json_int_or(json, "receipts", 0), 3);
}

TEST(missing_members_have_defaults)
{
	ended_by(state_release) struct state state;

	ck_assert_int_eq(state_parse("{}", 2, NOW, &state, NULL), 0);
	ck_assert(id_uuid_valid(state.root_id));
	ck_assert_uint_eq(state.receipts, 0);
	ck_assert_ptr_null(state.last_reviewed);
	ck_assert_ptr_null(state.rest);
}

TEST(complaints_name_the_member)
{
	static const struct {
		const char *text;
		const char *words;
	} rows[] = {
		{ "[]", "expected an object" },
		{ "{\"root_id\":\"x\"}", "root_id: expected a UUID" },
		{ "{\"root_id\":5}", "root_id: expected a string" },
		{ "{\"receipts\":-1}", "receipts: expected an integer" },
		{ "{\"receipts\":1.5}", "receipts: expected an integer" },
		{ "{\"last_reviewed\":[]}", "last_reviewed: " },
		{ "{\"daemon_running\":1}", "daemon_running: " },
		{ "{\"workers\":5}", "workers: expected an object" },
		{ "{\"workers\":{\"adam\":null}}", "workers.adam" },
		{ "{\"workers\":{\"adam\":{}}}", "workers.adam.name" },
		{ "{\"workers\":{\"adam\":{\"name\":\"eve\"}}}",
		    "workers.adam.name: expected the same name as its key" },
		{ "{\"workers\":{\"adam\":{\"name\":\"adam\","
		  "\"status\":\"dancing\"}}}",
		    "workers.adam.status" },
		{ "{\"workers\":{\"../x\":{\"name\":\"../x\"}}}",
		    "workers.../x" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0, "" };
		struct state state;

		ck_assert_msg(state_parse(rows[i].text, strlen(rows[i].text),
				  NOW, &state, &err) == -EINVAL,
		    "%s", rows[i].text);
		ck_assert_int_eq(err.code, -EINVAL);
		ck_assert_msg(
		    strncmp(err.msg, rows[i].words, strlen(rows[i].words)) == 0,
		    "%s: %s", rows[i].text, err.msg);
	}
}
