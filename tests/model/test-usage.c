/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "account.h"

TEST(tokens_are_kept_by_model_and_kind)
{
	struct usage usage = { 0 }, more = { .tool_calls = 2 };

	ck_assert(usage_is_empty(&usage));
	usage_add(&usage, "a", USAGE_INPUT, 10);
	usage_add(&usage, "b", USAGE_OUTPUT, 5);
	usage_add(&usage, "a", USAGE_INPUT, 1);
	usage_add(&usage, "c", USAGE_INPUT, 0);
	usage_add(&usage, "c", USAGE_INPUT, -7);
	ck_assert_uint_eq(usage.count, 2);
	ck_assert_int_eq(usage.models[0].tokens[USAGE_INPUT], 11);
	usage_add(&more, "b", USAGE_CACHE_READ, 100);
	usage_merge(&usage, &more);
	ck_assert_int_eq(usage.models[1].tokens[USAGE_CACHE_READ], 100);
	ck_assert_int_eq(usage.tool_calls, 2);
	ck_assert_int_eq(usage_budget_tokens(&usage), 16);
	ck_assert(!usage_is_empty(&usage));
}

TEST(it_does_not_grow_with_the_number_of_models)
{
	struct usage usage = { 0 };
	char name[8] = "m0";

	for (int i = 0; i < 2 * USAGE_MODELS_MAX; i++) {
		name[1] = (char)('a' + i);
		usage_add(&usage, name, USAGE_INPUT, 1);
	}
	ck_assert_uint_eq(usage.count, USAGE_MODELS_MAX);
	ck_assert_str_eq(usage.models[USAGE_MODELS_MAX - 1].name, USAGE_OTHERS);
	ck_assert_int_eq(usage_budget_tokens(&usage), 2 * USAGE_MODELS_MAX);
}

/* Nor does all of it with the number of names that agents can think of. */
TEST(names_are_kept_once_and_so_many)
{
	struct usage a = { 0 }, b = { 0 }, last = { 0 };
	char name[] = "a";

	usage_add(&a, name, USAGE_INPUT, 1);
	usage_add(&b, "a", USAGE_INPUT, 1);
	name[0] = 'b';
	ck_assert_str_eq(a.models[0].name, "a");
	ck_assert_ptr_eq(a.models[0].name, b.models[0].name);
	for (int i = 0; i < USAGE_NAMES_MAX; i++) {
		cleanup_free char *other = xasprintf("m%d", i);

		last = (struct usage){ 0 };
		usage_add(&last, other, USAGE_INPUT, 1);
	}
	ck_assert_str_eq(last.models[0].name, USAGE_OTHERS);
	usage_add(&b, "a", USAGE_INPUT, 1);
	ck_assert_uint_eq(b.count, 1);
}

TEST(numbers_end_at_a_bound)
{
	struct usage usage = { 0 };

	usage_add(&usage, "a", USAGE_INPUT, USAGE_MAX);
	usage_add(&usage, "a", USAGE_INPUT, INT64_MAX);
	ck_assert_int_eq(usage.models[0].tokens[USAGE_INPUT], USAGE_MAX);
}

/* A file that is read again from its beginning has less for a while. */
TEST(only_what_is_beyond_is_new)
{
	struct usage counted = { .tool_calls = 3 }, total = { .tool_calls = 5 };
	struct usage more;

	usage_add(&counted, "a", USAGE_INPUT, 10);
	usage_add(&counted, "b", USAGE_INPUT, 10);
	usage_add(&total, "a", USAGE_INPUT, 7);
	more = usage_beyond(&total, &counted);
	ck_assert_uint_eq(more.count, 0);
	ck_assert_int_eq(more.tool_calls, 2);
	usage_add(&total, "a", USAGE_INPUT, 7);
	usage_add(&total, "c", USAGE_OUTPUT, 1);
	more = usage_beyond(&total, &counted);
	ck_assert_uint_eq(more.count, 2);
	ck_assert_int_eq(more.models[0].tokens[USAGE_INPUT], 4);
	ck_assert_int_eq(more.models[1].tokens[USAGE_OUTPUT], 1);
}

TEST(records_come_back)
{
	struct usage usage = { .tool_calls = 4 }, again = { 0 };
	cleanup_json struct json_object *json = NULL;

	usage_add(&usage, "claude-x", USAGE_CACHE_WRITE_1H, 12);
	usage_add(&usage, "claude-y", USAGE_OUTPUT, 3);
	json = usage_to_json(&usage);
	ck_assert_int_eq(usage_from_json(json, "u", &again, NULL), 0);
	ck_assert_mem_eq(&usage, &again, sizeof usage);
}

TEST(wrong_records_are_refused_with_the_member)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "{\"tool_calls\":-1}", "u.tool_calls: " },
		{ "{\"models\":[]}", "u.models: " },
		{ "{\"models\":{\"m\":7}}", "u.models: expected an object" },
		{ "{\"models\":{\"m\":{\"input\":\"x\"}}}",
		    "u.models.input: " },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(rows[i].text);
		struct usage usage = { 0 };
		struct err err = { 0 };

		ck_assert_int_lt(usage_from_json(json, "u", &usage, &err), 0);
		ck_assert_msg(
		    strncmp(err.msg, rows[i].words, strlen(rows[i].words)) == 0,
		    "%s", err.msg);
	}
}
