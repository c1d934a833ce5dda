/* SPDX-License-Identifier: ISC */

#include "schema.h"
#include "unit.h"

static const char *const states[] = { "idle", "busy", "done", NULL };

static const struct schema_field worker_fields[] = {
	{ .name = "status",
	    .type = SCHEMA_STRING,
	    .choices = states,
	    .help = "what it does" },
	{ .name = "pid", .type = SCHEMA_INT, .min = 1, .max = 4194304 },
	{ .name = "load", .type = SCHEMA_NUMBER, .flags = SCHEMA_OPTIONAL },
	{ .name = "note",
	    .type = SCHEMA_STRING,
	    .flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE,
	    .min = 2,
	    .max = 5 },
	{ .name = NULL },
};
static const struct schema worker_shape = { .fields = worker_fields,
	.help = "one agent" };
static const struct schema workers_shape = {
	.fields = (const struct schema_field[]){ { .type = SCHEMA_OBJECT,
	    .of = &worker_shape } },
};
static const struct schema tags_shape = {
	.fields = (const struct schema_field[]){ { .type = SCHEMA_STRING } },
};
static const struct schema nullables_shape = {
	.fields = (const struct schema_field[]){ { .type = SCHEMA_INT,
	    .flags = SCHEMA_NULLABLE } },
};
static const struct schema open_shape = {
	.fields = (const struct schema_field[]){ { .name = NULL } },
	.open = true,
	.help = "whatever",
};
static const struct schema_field document_fields[] = {
	{ .name = "workers",
	    .type = SCHEMA_MAP,
	    .of = &workers_shape,
	    .max = 2 },
	{ .name = "tags",
	    .type = SCHEMA_ARRAY,
	    .flags = SCHEMA_OPTIONAL,
	    .of = &tags_shape,
	    .min = 1,
	    .max = 3 },
	{ .name = "extra", .type = SCHEMA_ANY, .flags = SCHEMA_OPTIONAL },
	{ .name = "on", .type = SCHEMA_BOOL, .flags = SCHEMA_OPTIONAL },
	{ .name = NULL },
};
static const struct schema document_shape = { .fields = document_fields };
static const struct schema_field document = { .type = SCHEMA_OBJECT,
	.of = &document_shape };

/* A field checked alone. words NULL: valid. */
static void
assert_check(const struct schema_field *field, const char *text, const char *at,
    const char *words)
{
	cleanup_json struct json_object *value = NULL;
	struct err err = { 0, "" };
	int r;

	if (strcmp(text, "null") != 0)
		ck_assert_int_eq(
		    json_parse(text, strlen(text), 4096, &value, NULL), 0);
	r = schema_check(field, value, at, &err);
	ck_assert_str_eq(err.msg, words == NULL ? "" : words);
	ck_assert_int_eq(r, words == NULL ? 0 : -EINVAL);
	ck_assert_int_eq(err.code, r);
	ck_assert_int_eq(schema_check(field, value, at, NULL), r);
}

static void
assert_document(const char *text, const char *words)
{
	assert_check(&document, text, "", words);
}

TEST(what_fits_is_accepted)
{
	assert_document("{\"workers\":{}}", NULL);
	assert_document("{\"workers\":{\"auto-1\":{\"status\":\"idle\","
			"\"pid\":1,\"load\":2,\"note\":null},"
			"\"\":{\"status\":\"done\",\"pid\":4194304,"
			"\"load\":0.5,\"note\":\"abcde\"}},"
			"\"tags\":[\"a\",\"\",\"c\"],\"extra\":[{}],"
			"\"on\":false}",
	    NULL);
}

TEST(wrong_types_are_named_with_their_path)
{
	assert_document("[]", "expected an object, found an array");
	assert_check(&document, "[]", "plan.goals[2]",
	    "plan.goals[2]: expected an object, found an array");
	assert_document(
	    "{\"workers\":3}", "workers: expected an object, found a number");
	assert_document("{\"workers\":{\"auto-1\":{\"status\":1.5,\"pid\":1}}}",
	    "workers.auto-1.status: expected a string, found a number");
	assert_document("{\"workers\":{\"a\":\"x\"}}",
	    "workers.a: expected an object, found a string");
	assert_document("{\"workers\":{},\"tags\":[\"a\",true]}",
	    "tags[1]: expected a string, found a boolean");
	assert_document("{\"workers\":{},\"tags\":{}}",
	    "tags: expected an array, found an object");
	assert_document("{\"workers\":{},\"on\":0}",
	    "on: expected a boolean, found a number");
	assert_document("{\"workers\":{\"a\":{\"status\":\"idle\",\"pid\":1,"
			"\"load\":\"1\"}}}",
	    "workers.a.load: expected a number, found a string");
	assert_check(&document, "{\"workers\":[]}", "file",
	    "file.workers: expected an object, found an array");
}

TEST(missing_and_null_are_different)
{
	assert_document("{}", "workers: missing");
	assert_document(
	    "{\"workers\":null}", "workers: expected an object, found null");
	assert_document(
	    "{\"workers\":{\"a\":{\"pid\":1}}}", "workers.a.status: missing");
	/* Optional is not nullable. */
	assert_document("{\"workers\":{},\"tags\":null}",
	    "tags: expected an array, found null");
	/* SCHEMA_ANY includes null. */
	assert_document("{\"workers\":{},\"extra\":null}", NULL);
}

TEST(unknown_members_are_refused_unless_open)
{
	static const struct schema open = { .fields = document_fields,
		.open = true };
	static const struct schema_field field = { .type = SCHEMA_OBJECT,
		.of = &open };

	assert_document(
	    "{\"workers\":{},\"zebra\":1}", "zebra: unknown member");
	assert_document("{\"wrokers\":{}}",
	    "wrokers: unknown member, did you mean \"workers\"?");
	assert_document("{\"workers\":{\"a\":{\"status\":\"idle\",\"pid\":1,"
			"\"stat\\nus\":1}}}",
	    "workers.a.stat\\x0aus: unknown member, "
	    "did you mean \"status\"?");
	assert_check(&field, "{\"workers\":{},\"zebra\":1}", "", NULL);
	assert_check(&field, "{\"workers\":1,\"zebra\":1}", "",
	    "workers: expected an object, found a number");
}

TEST(integers_have_bounds)
{
	static const struct schema_field bounded = {
		.type = SCHEMA_INT, .min = -2, .max = 7
	};
	static const struct schema_field free = { .type = SCHEMA_INT };

	assert_check(&bounded, "-2", "n", NULL);
	assert_check(&bounded, "7", "n", NULL);
	assert_check(
	    &bounded, "8", "n", "n: expected an integer from -2 to 7, found 8");
	assert_check(
	    &bounded, "-3", "", "expected an integer from -2 to 7, found -3");
	assert_check(&bounded, "3.0", "n", "n: expected an integer, found 3.0");
	assert_check(
	    &bounded, "\"3\"", "n", "n: expected an integer, found a string");
	assert_check(&free, "9223372036854775807", "n", NULL);
	assert_check(&free, "-9223372036854775808", "n", NULL);
	assert_check(
	    &free, "9223372036854775808", "n", "n: integer out of range");
}

TEST(numbers_are_finite)
{
	static const struct schema_field number = { .type = SCHEMA_NUMBER };

	assert_check(&number, "3", "n", NULL);
	assert_check(&number, "-0.5e10", "n", NULL);
	assert_check(&number, "18446744073709551615", "n", NULL);
	assert_check(&number, "1e999", "n", "n: number out of range");
}

TEST(strings_have_lengths_in_bytes)
{
	static const struct schema_field text = {
		.type = SCHEMA_STRING, .min = 2, .max = 4
	};
	static const struct schema_field filled = { .type = SCHEMA_STRING,
		.min = 1 };

	assert_check(&text, "\"ab\"", "s", NULL);
	assert_check(&text, "\"\\u00e9\\u00e9\"", "s", NULL);
	assert_check(
	    &text, "\"a\"", "s", "s: expected 2 or more bytes, found 1");
	assert_check(
	    &text, "\"abcde\"", "s", "s: expected 4 or fewer bytes, found 5");
	assert_check(
	    &filled, "\"\"", "s", "s: expected 1 or more bytes, found 0");
	assert_check(&filled, "\"any length at all\"", "s", NULL);
}

TEST(choices_are_listed)
{
	static const struct schema_field choice = { .type = SCHEMA_STRING,
		.choices = states };

	assert_check(&choice, "\"busy\"", "s", NULL);
	assert_check(&choice, "\"Busy\"", "s",
	    "s: expected one of idle, busy, done; found \"Busy\"");
	assert_check(&choice, "\"\"", "s",
	    "s: expected one of idle, busy, done; found \"\"");
	/* Long ones are cut between characters. */
	assert_check(&choice,
	    "\"123456789 123456789 123456789 123456789\xc3\xa9 and on\"", "s",
	    "s: expected one of idle, busy, done; "
	    "found \"123456789 123456789 123456789 123456789\"...");
}

TEST(collections_have_sizes)
{
	assert_document("{\"workers\":{},\"tags\":[]}",
	    "tags: expected 1 or more elements, found 0");
	assert_document("{\"workers\":{},\"tags\":[\"\",\"\",\"\",\"\"]}",
	    "tags: expected 3 or fewer elements, found 4");
	assert_document("{\"workers\":{\"a\":1,\"b\":2,\"c\":3}}",
	    "workers: expected 2 or fewer members, found 3");
}

TEST(without_a_shape_of_its_own_nothing_is_looked_into)
{
	static const struct schema_field object = { .type = SCHEMA_OBJECT };
	static const struct schema_field array = { .type = SCHEMA_ARRAY,
		.max = 2 };
	static const struct schema_field map = { .type = SCHEMA_MAP, .min = 1 };

	assert_check(&object, "{\"a\":[1]}", "x", NULL);
	assert_check(
	    &object, "[]", "x", "x: expected an object, found an array");
	assert_check(&array, "[1,{}]", "x", NULL);
	assert_check(
	    &array, "[1,2,3]", "x", "x: expected 2 or fewer elements, found 3");
	assert_check(&map, "{\"a\":null}", "x", NULL);
	assert_check(&map, "{}", "x", "x: expected 1 or more members, found 0");
}

TEST(elements_may_be_nullable)
{
	static const struct schema_field array = { .type = SCHEMA_ARRAY,
		.of = &nullables_shape };
	static const struct schema_field map = { .type = SCHEMA_MAP,
		.of = &nullables_shape };

	assert_check(&array, "[1,null]", "x", NULL);
	assert_check(&array, "[null,\"\"]", "x",
	    "x[1]: expected an integer, found a string");
	assert_check(&map, "{\"k\":null}", "x", NULL);
	assert_check(
	    &map, "{\"k\":[]}", "", "k: expected an integer, found an array");
	assert_document("{\"workers\":{\"a\":null}}",
	    "workers.a: expected an object, found null");
}

static const struct schema single = {
	.fields =
	    (const struct schema_field[]){
		{ .name = "a", .type = SCHEMA_INT },
		{ .name = NULL },
	    },
};
static const struct schema one_or_text = {
	.fields =
	    (const struct schema_field[]){
		{ .name = "one", .type = SCHEMA_OBJECT, .of = &single },
		{ .name = "text", .type = SCHEMA_STRING },
		{ .name = NULL },
	    },
};

TEST(one_of_several)
{
	const struct schema_field field = { .type = SCHEMA_ONE,
		.of = &one_or_text };
	static const struct {
		const char *text;
		bool fits;
	} rows[] = { { "{\"a\":1}", true }, { "\"x\"", true },
		{ "{\"a\":1,\"b\":2}", false }, { "3", false } };
	cleanup_json struct json_object *schema = schema_print(&field);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *value = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(json_parse(rows[i].text, strlen(rows[i].text),
				     100, &value, NULL),
		    0);
		ck_assert_int_eq(
		    schema_check(&field, value, "x", &err) == 0, rows[i].fits);
		if (!rows[i].fits)
			ck_assert_str_eq(
			    err.msg, "x: does not match any of: one, text");
	}
	json_print(json_object_object_get(schema, "anyOf"), false, &text);
	ck_assert_str_eq(text.data,
	    "[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
	    "\"integer\"}},\"required\":[\"a\"],"
	    "\"additionalProperties\":false,\"title\":\"one\"},"
	    "{\"type\":\"string\",\"title\":\"text\"}]");
}

TEST(null_alone)
{
	static const struct schema_field nullable = { .type = SCHEMA_BOOL,
		.flags = SCHEMA_NULLABLE };
	static const struct schema_field any = { .type = SCHEMA_ANY };

	assert_check(&nullable, "null", "x", NULL);
	assert_check(&any, "null", "x", NULL);
	assert_check(
	    &document, "null", "x", "x: expected an object, found null");
}

static void
assert_schema(const struct schema_field *field, const char *expected)
{
	cleanup_json struct json_object *schema = schema_print(field);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(schema, false, &text);
	ck_assert_str_eq(text.data, expected);
}

#define DIALECT "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\""

TEST(schema_says_the_same)
{
	assert_schema(&document,
	    "{" DIALECT ",\"type\":\"object\",\"properties\":{"
	    "\"workers\":{\"type\":\"object\",\"maxProperties\":2,"
	    "\"additionalProperties\":{"
	    "\"description\":\"one agent\",\"type\":\"object\",\"properties\":{"
	    "\"status\":{\"description\":\"what it does\","
	    "\"type\":\"string\",\"enum\":[\"idle\",\"busy\",\"done\"]},"
	    "\"pid\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":4194304},"
	    "\"load\":{\"type\":\"number\"},"
	    "\"note\":{\"type\":[\"string\",\"null\"],\"minLength\":2,"
	    "\"maxLength\":5}},\"required\":[\"status\",\"pid\"],"
	    "\"additionalProperties\":false}},"
	    "\"tags\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
	    "\"items\":{\"type\":\"string\"}},"
	    "\"extra\":{},\"on\":{\"type\":\"boolean\"}},"
	    "\"required\":[\"workers\"],\"additionalProperties\":false}");
}

TEST(a_string_may_stand_for_another_type)
{
	static const struct schema_field number = { .type = SCHEMA_NUMBER,
		.flags = SCHEMA_OR_STRING };
	static const struct schema_field list = { .type = SCHEMA_ARRAY,
		.flags = SCHEMA_OR_STRING | SCHEMA_NULLABLE,
		.max = 3 };

	assert_check(&number, "1.5", "at", NULL);
	assert_check(&number, "\"many\"", "at", NULL);
	assert_check(&number, "true", "at",
	    "at: expected a number or a string, found a boolean");
	assert_check(&list, "[1]", "at", NULL);
	assert_check(&list, "\"much longer than three\"", "at", NULL);
	assert_check(&list, "[1,2,3,4]", "at",
	    "at: expected 3 or fewer elements, found 4");
	assert_schema(
	    &number, "{" DIALECT ",\"type\":[\"number\",\"string\"]}");
	assert_schema(&list,
	    "{" DIALECT ",\"type\":[\"array\",\"string\",\"null\"],"
	    "\"maxItems\":3}");
}

TEST(choices_that_are_advice_are_printed_and_not_checked)
{
	static const struct schema_field state = { .type = SCHEMA_STRING,
		.flags = SCHEMA_ADVICE,
		.max = 8,
		.choices = states };

	assert_check(&state, "\" IDLE \"", "at", NULL);
	assert_check(&state, "\"far too long\"", "at",
	    "at: expected 8 or fewer bytes, found 12");
	assert_schema(&state,
	    "{" DIALECT ",\"type\":\"string\","
	    "\"enum\":[\"idle\",\"busy\",\"done\"],\"maxLength\":8}");
}

TEST(schema_of_single_fields)
{
	assert_schema(
	    &(struct schema_field){ .type = SCHEMA_ANY }, "{" DIALECT "}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_INT },
	    "{" DIALECT ",\"type\":\"integer\"}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_INT, .max = 9 },
	    "{" DIALECT ",\"type\":\"integer\",\"minimum\":0,\"maximum\":9}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_INT, .min = -9 },
	    "{" DIALECT ",\"type\":\"integer\",\"minimum\":-9,\"maximum\":0}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_STRING, .min = 1 },
	    "{" DIALECT ",\"type\":\"string\",\"minLength\":1}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_STRING,
			  .flags = SCHEMA_NULLABLE,
			  .choices = states },
	    "{" DIALECT ",\"type\":[\"string\",\"null\"],"
	    "\"enum\":[\"idle\",\"busy\",\"done\",null]}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_OBJECT },
	    "{" DIALECT ",\"type\":\"object\"}");
	assert_schema(
	    &(struct schema_field){ .type = SCHEMA_NUMBER, .max = 100 },
	    "{" DIALECT ",\"type\":\"number\",\"minimum\":0,\"maximum\":100}");
	assert_schema(&(struct schema_field){ .type = SCHEMA_MAP, .min = 1 },
	    "{" DIALECT ",\"type\":\"object\",\"minProperties\":1}");
	assert_schema(
	    &(struct schema_field){ .type = SCHEMA_OBJECT, .of = &open_shape },
	    "{" DIALECT ",\"description\":\"whatever\",\"type\":\"object\","
	    "\"properties\":{},\"additionalProperties\":true}");
	assert_schema(
	    &(struct schema_field){
		.type = SCHEMA_OBJECT, .of = &open_shape, .help = "this one" },
	    "{" DIALECT ",\"description\":\"this one\",\"type\":\"object\","
	    "\"properties\":{},\"additionalProperties\":true}");
}
