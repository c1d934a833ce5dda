/* SPDX-License-Identifier: ISC */

#include "schema.h"
#include "unit.h"

enum colour {
	RED,
	GREEN,
	BLUE
};

static const char *const colour_words[] = { "red", "green", "blue", NULL };

struct thing {
	char *name, *note;
	bool on;
	int count, grade, tries;
	int64_t sum, at_ms;
	uint64_t number;
	enum colour colour;
	struct json_object *extra;
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct thing, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("name", name, .flags = SCHEMA_REQUIRED),
	FIELD("note", note, .flags = SCHEMA_OMIT_UNSET),
	FIELD("on", on),
	FIELD("count", count),
	FIELD("grade", grade, .flags = SCHEMA_CLAMP, .max = 4),
	FIELD("tries", tries, .flags = SCHEMA_ZERO_IS_NULL, .max = 9),
	FIELD("sum", sum),
	FIELD("at_ms", at_ms, .flags = SCHEMA_CLAMP),
	FIELD("number", number),
	FIELD("colour", colour, .words = colour_words),
	FIELD("extra", extra),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

static void
thing_release(struct thing *thing)
{
	schema_release(&schema, thing);
}
#define cleanup_thing __attribute__((cleanup(thing_release)))

static int
take(const char *text, const char *at, struct thing *thing, struct err *err)
{
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), strlen(text), &json, NULL), 0);
	return schema_read(&schema, json, at, thing, err);
}

static void
assert_text(const struct thing *thing, const char *wanted)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	schema_add(&schema, thing, json);
	json_print(json, false, &text);
	ck_assert_str_eq(text.data, wanted);
}

static const char full[] =
    "{\"name\":\"a\",\"note\":\"\\n\",\"on\":true,\"count\":2147483647,"
    "\"grade\":4,\"tries\":9,\"sum\":9223372036854775807,\"at_ms\":7,"
    "\"number\":9223372036854775807,\"colour\":\"blue\","
    "\"extra\":{\"x\":[1]}}";

TEST(every_type_comes_back_as_it_was)
{
	cleanup_thing struct thing thing = { 0 };

	ck_assert_int_eq(take(full, "", &thing, NULL), 0);
	ck_assert_str_eq(thing.name, "a");
	ck_assert_str_eq(thing.note, "\n");
	ck_assert(thing.on);
	ck_assert_int_eq(thing.count, INT_MAX);
	ck_assert_int_eq(thing.grade, 4);
	ck_assert_int_eq(thing.tries, 9);
	ck_assert_int_eq(thing.sum, INT64_MAX);
	ck_assert_int_eq(thing.at_ms, 7);
	ck_assert_uint_eq(thing.number, INT64_MAX);
	ck_assert_int_eq(thing.colour, BLUE);
	ck_assert_ptr_nonnull(thing.extra);
	assert_text(&thing, full);
}

TEST(empty_record_is_written_as_its_flags_say)
{
	static const struct thing thing = { 0 };

	assert_text(&thing,
	    "{\"name\":null,\"on\":false,\"count\":0,\"grade\":0,"
	    "\"tries\":null,\"sum\":0,\"at_ms\":0,\"number\":0,"
	    "\"colour\":\"red\",\"extra\":null}");
}

TEST(what_is_missing_or_null_stays_as_it_was)
{
	cleanup_thing struct thing thing = { .count = 3, .colour = GREEN };

	xstrset(&thing.note, "kept");
	ck_assert_int_eq(take("{\"name\":\"b\",\"count\":null,\"other\":1}", "",
			     &thing, NULL),
	    0);
	ck_assert_str_eq(thing.name, "b");
	ck_assert_str_eq(thing.note, "kept");
	ck_assert_int_eq(thing.count, 3);
	ck_assert_int_eq(thing.colour, GREEN);
}

TEST(what_was_there_is_replaced_and_freed)
{
	cleanup_thing struct thing thing = { 0 };

	ck_assert_int_eq(take(full, "", &thing, NULL), 0);
	ck_assert_int_eq(take("{\"name\":\"c\",\"note\":\"n\",\"extra\":{}}",
			     "", &thing, NULL),
	    0);
	ck_assert_str_eq(thing.name, "c");
	ck_assert_str_eq(thing.note, "n");
	ck_assert_uint_eq(json_object_object_length(thing.extra), 0);
}

TEST(numbers_out_of_bounds_are_brought_in_where_that_is_wanted)
{
	cleanup_thing struct thing thing = { 0 };

	ck_assert_int_eq(
	    take("{\"name\":\"d\",\"grade\":7,\"at_ms\":-5}", "", &thing, NULL),
	    0);
	ck_assert_int_eq(thing.grade, 4);
	ck_assert_int_eq(thing.at_ms, 0);
	ck_assert_int_eq(take("{\"name\":\"d\",\"grade\":-1,"
			      "\"at_ms\":9223372036854775807}",
			     "", &thing, NULL),
	    0);
	ck_assert_int_eq(thing.grade, 0);
	ck_assert_int_eq(thing.at_ms, INT64_MAX);
}

TEST(errors_name_the_path)
{
	static const struct {
		const char *text, *at;
		int code;
		const char *words;
	} rows[] = {
		{ "{}", "", -ENOENT, "name: missing" },
		{ "{\"name\":null}", "t[3]", -ENOENT, "t[3].name: missing" },
		{ "[]", "t", -EINVAL, "t: expected an object, found an array" },
		{ "{\"name\":1}", "", -EINVAL,
		    "name: expected a string, found a number" },
		{ "{\"name\":\"a\",\"on\":0}", "t", -EINVAL,
		    "t.on: expected a boolean, found a number" },
		{ "{\"name\":\"a\",\"count\":2147483648}", "t", -EINVAL,
		    "t.count: expected an integer from 0 to 2147483647, found "
		    "2147483648" },
		{ "{\"name\":\"a\",\"tries\":10}", "", -EINVAL,
		    "tries: expected an integer from 0 to 9, found 10" },
		{ "{\"name\":\"a\",\"sum\":-1}", "", -EINVAL,
		    "sum: expected an integer from 0 to 9223372036854775807, "
		    "found -1" },
		{ "{\"name\":\"a\",\"number\":-1}", "", -EINVAL,
		    "number: expected an integer from 0 to "
		    "9223372036854775807, found -1" },
		{ "{\"name\":\"a\",\"grade\":1.5}", "", -EINVAL,
		    "grade: expected an integer, found 1.5" },
		{ "{\"name\":\"a\",\"colour\":\"gren\"}", "t", -EINVAL,
		    "t.colour: \"gren\" is not a valid value; did you mean "
		    "\"green\"?" },
		{ "{\"name\":\"a\",\"extra\":[]}", "t", -EINVAL,
		    "t.extra: expected an object, found an array" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_thing struct thing thing = { 0 };
		struct err err = { 0 };

		ck_assert_int_eq(
		    take(rows[i].text, rows[i].at, &thing, &err), rows[i].code);
		ck_assert_int_eq(err.code, rows[i].code);
		ck_assert_str_eq(err.msg, rows[i].words);
		ck_assert_int_eq(
		    take(rows[i].text, rows[i].at, &thing, NULL), rows[i].code);
	}
}

TEST(released_record_is_empty)
{
	struct thing thing = { 0 };

	ck_assert_int_eq(take(full, "", &thing, NULL), 0);
	schema_release(&schema, &thing);
	ck_assert_ptr_null(thing.name);
	ck_assert_ptr_null(thing.note);
	ck_assert_ptr_null(thing.extra);
	schema_release(&schema, &thing);
}

struct list {
	char **names;
	char *text;
	int count;
	enum colour colour;
};

static const struct schema_field list_fields[] = {
	SCHEMA_FIELD(struct list, "names", names, .flags = SCHEMA_OMIT_UNSET,
	    .max = 2, .size = 3),
	SCHEMA_FIELD(
	    struct list, "text", text, .flags = SCHEMA_OMIT_UNSET, .size = 3),
	SCHEMA_FIELD(struct list, "count", count, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_FIELD(struct list, "colour", colour, .flags = SCHEMA_OMIT_UNSET,
	    .words = colour_words),
};
static const struct schema list_schema = { .fields = list_fields,
	.count = nitems(list_fields) };

/* Known keys only, as the records of plans are read. */
static int
take_list(const char *text, struct list *list, struct err *err)
{
	static const char *const others[] = { "more", NULL };
	cleanup_json struct json_object *json = NULL;
	int r;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), strlen(text), &json, NULL), 0);
	r = schema_known(&list_schema, others, json, "x", err);
	if (r == 0)
		r = schema_read(&list_schema, json, "x", list, err);
	return r;
}

TEST(lists_and_texts_are_bounded)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "{\"names\":[\"a\",\"b\",\"c\"]}",
		    "x.names: has 3 entries, at most 2 are allowed" },
		{ "{\"names\":[\"a\",\"abcd\"]}",
		    "x.names[1]: longer than 3 bytes" },
		{ "{\"names\":[null]}",
		    "x.names[0]: expected a string, found null" },
		{ "{\"text\":\"abcd\"}", "x.text: longer than 3 bytes" },
		{ "{\"txt\":1}", "x.txt: unknown key; did you mean \"text\"?" },
		{ "{\"zzzz\":1}", "x.zzzz: unknown key" },
		{ "[]", "x: expected an object, found an array" },
	};
	struct list list = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < nitems(rows); i++) {
		ck_assert_int_eq(take_list(rows[i].text, &list, &err), -EINVAL);
		ck_assert_str_eq(err.msg, rows[i].words);
	}
	schema_release(&list_schema, &list);
}

TEST(what_is_not_set_is_omitted_and_a_copy_is_whole)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct list list = { .colour = BLUE + 1 }, copy = { .count = 1 };

	schema_add(&list_schema, &list, json);
	ck_assert_int_eq(json_object_object_length(json), 0);
	ck_assert_int_eq(take_list("{\"names\":[\"a\",\"\"],\"text\":\"t\","
				   "\"more\":1,\"colour\":\"green\"}",
			     &list, NULL),
	    0);
	schema_copy(&list_schema, &list, &copy);
	schema_release(&list_schema, &list);
	ck_assert_ptr_null(list.names);
	schema_add(&list_schema, &copy, json);
	json_print(json, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"names\":[\"a\",\"\"],\"text\":\"t\",\"colour\":\"green\"}");
	schema_copy(&list_schema, &list, &copy);
	ck_assert_ptr_null(copy.names);
	ck_assert_ptr_null(copy.text);
}
