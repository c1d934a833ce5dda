/* SPDX-License-Identifier: ISC */

/* Records with parts and lists in them, and what is shown of them. The types of
 * plain members are in test-record.c, JSON alone in test-shape.c. */

#include <math.h>

#include "schema.h"
#include "unit.h"

enum colour {
	RED,
	GREEN,
	NO_COLOUR
};

static const char *const colour_words[] = { "red", "green", NULL };

struct part {
	char *name;
	int number;
	enum colour colour;
};

struct cost {
	int64_t sum;
};

struct thing {
	char *id, *secret, *line;
	struct part part, *more, *rows, **pointers, slots[2];
	size_t row_count, pointer_count, slot_count;
	char *here, *there;
	struct cost cost;
	int64_t at_ms, known;
	double share;
	int twice;
};

static const struct schema_field part_fields[] = {
	SCHEMA_FIELD(struct part, "name", name, .flags = SCHEMA_REQUIRED),
	SCHEMA_FIELD(struct part, "number", number, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_FIELD(struct part, "colour", colour, .flags = SCHEMA_OMIT_UNSET,
	    .words = colour_words),
};
static const struct schema part = SCHEMA_OF(struct part, part_fields,
    .blank = &(const struct part){ .colour = NO_COLOUR });

static const struct schema_field place_fields[] = {
	SCHEMA_FIELD(struct thing, "here", here, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_FIELD(struct thing, "there", there, .flags = SCHEMA_OMIT_UNSET),
};
static const struct schema place = SCHEMA_OF(struct thing, place_fields);

static const struct schema_field cost_fields[] = {
	SCHEMA_FIELD(struct cost, "sum", sum),
};
static const struct schema cost = SCHEMA_OF(struct cost, cost_fields);

static struct json_object *
twice_to_json(const void *member)
{
	int value = *(const int *)member;

	return value == 0 ? NULL : json_object_new_int64(2 * (int64_t)value);
}

static int
twice_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	if (json_object_get_int(json) % 2 != 0)
		return err_set(err, -EINVAL, "%s: odd", at);
	*(int *)member = json_object_get_int(json) / 2;
	return 0;
}

static const struct schema_own twice = {
	.size = sizeof(int),
	.to_json = twice_to_json,
	.from_json = twice_from_json,
};

#define MAY(key, member, ...)                                               \
	SCHEMA_FIELD(struct thing, key, member, .flags = SCHEMA_OMIT_UNSET, \
	    ##__VA_ARGS__)

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct thing, "id", id, .flags = SCHEMA_REQUIRED, .max = 4,
	    .help = "its id"),
	SCHEMA_FIELD(struct thing, "secret", secret,
	    .flags = SCHEMA_OMIT_UNSET | SCHEMA_PRIVATE),
	SCHEMA_FIELD(struct thing, "line", line,
	    .flags = SCHEMA_OMIT_UNSET | SCHEMA_LINE, .max = 5),
	SCHEMA_PART(struct thing, "part", STRUCT, part, part,
	    .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PART(struct thing, "more", POINTER, more, part),
	SCHEMA_PARTS(struct thing, "rows", ROWS, rows, row_count, part,
	    .flags = SCHEMA_OMIT_UNSET, .max = 2),
	SCHEMA_PARTS(struct thing, "pointers", POINTERS, pointers,
	    pointer_count, part, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PARTS(struct thing, "slots", SLOTS, slots, slot_count, part,
	    .flags = SCHEMA_OMIT_UNSET, .max = 2),
	SCHEMA_GROUP("place", place, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PART(struct thing, "", STRUCT, cost, cost, .flags = SCHEMA_FLAT),
	SCHEMA_FIELD(struct thing, "at_unix", at_ms, .flags = SCHEMA_UNIX),
	SCHEMA_FIELD(struct thing, "known", known, .flags = SCHEMA_UNKNOWN),
	MAY("share", share),
	SCHEMA_OWN(struct thing, "twice", twice, SCHEMA_INT, twice,
	    .flags = SCHEMA_OMIT_UNSET),
	{ .name = "made", .type = SCHEMA_BOOL, .flags = SCHEMA_OPTIONAL },
};

static const struct schema schema =
    SCHEMA_OF(struct thing, fields, .strict = true,
	.blank = &(const struct thing){
	    .part = { .colour = NO_COLOUR }, .known = -1, .share = NAN });

static const struct schema_field whole = { .type = SCHEMA_OBJECT,
	.of = &schema };

static void
thing_cleanup(struct thing **thing)
{
	schema_free(&schema, *thing);
}
#define cleanup_thing __attribute__((cleanup(thing_cleanup)))

static struct thing *
make(const char *text, struct err *err)
{
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), strlen(text), &json, NULL), 0);
	return schema_make(&schema, json, "x", err);
}

static void
assert_json(struct json_object *json, const char *wanted)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	ck_assert_str_eq(text.data, wanted);
	json_object_put(json);
}

#define LEAST "\"id\":\"a\",\"more\":null,"
#define COSTS "\"sum\":0,\"at_unix\":null,\"known\":null"

static const char full[] =
    "{\"id\":\"a\",\"secret\":\"s\",\"part\":{\"name\":\"p\"},"
    "\"more\":{\"name\":\"m\",\"colour\":\"red\"},"
    "\"rows\":[{\"name\":\"r1\",\"number\":1},{\"name\":\"r2\"}],"
    "\"pointers\":[{\"name\":\"q\"}],\"slots\":[{\"name\":\"s\"}],"
    "\"place\":{\"there\":\"t\"},\"sum\":7,\"at_unix\":3,\"known\":0,"
    "\"share\":0.5,\"twice\":8}";

TEST(parts_and_lists_come_back_as_they_were)
{
	struct err err = { 0 };
	cleanup_thing struct thing *thing = make(full, &err);

	ck_assert_msg(thing != NULL, "%s", err.msg);
	ck_assert_str_eq(thing->more->name, "m");
	ck_assert_uint_eq(thing->row_count, 2);
	ck_assert_int_eq(thing->rows[0].number, 1);
	ck_assert_int_eq(thing->rows[1].colour, NO_COLOUR);
	ck_assert_str_eq(thing->pointers[0]->name, "q");
	ck_assert_str_eq(thing->slots[0].name, "s");
	ck_assert_str_eq(thing->there, "t");
	ck_assert_int_eq(thing->cost.sum, 7);
	ck_assert_int_eq(thing->at_ms, 3000);
	ck_assert_int_eq(thing->twice, 4);
	assert_json(schema_json(&schema, thing), full);
}

TEST(a_blank_one_has_what_is_never_omitted)
{
	cleanup_thing struct thing *thing = make("{\"id\":\"a\"}", NULL);

	assert_json(schema_json(&schema, thing), "{" LEAST COSTS "}");
}

TEST(a_copy_is_whole_and_its_own)
{
	cleanup_thing struct thing *thing = make(full, NULL);
	cleanup_thing struct thing *copy = schema_new(&schema);
	cleanup_buf struct buf one = BUF_INIT, other = BUF_INIT;

	schema_copy(&schema, thing, copy);
	schema_copy(&schema, thing, copy);
	assert_json(schema_json(&schema, copy), full);
	schema_image(&schema, thing, &one);
	schema_image(&schema, copy, &other);
	ck_assert_uint_eq(one.len, other.len);
	ck_assert_int_eq(memcmp(one.data, other.data, one.len), 0);
	copy->rows[1].number = 5;
	buf_clear(&other);
	schema_image(&schema, copy, &other);
	ck_assert(
	    one.len != other.len || memcmp(one.data, other.data, one.len) != 0);
	schema_release(&schema, copy);
	ck_assert_ptr_null(copy->rows);
	ck_assert_uint_eq(copy->row_count, 0);
	assert_json(schema_json(&schema, thing), full);
}

TEST(what_is_private_is_kept_but_not_shown)
{
	cleanup_thing struct thing *thing =
	    make("{\"id\":\"a\",\"secret\":\"s\"}", NULL);
	cleanup_json struct json_object *all = schema_json(&schema, thing);
	cleanup_json struct json_object *print = schema_print(&whole);
	struct json_object *properties = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(schema_check(&whole, all, "x", &err), -EINVAL);
	ck_assert_str_eq(err.msg, "x.secret: unknown member");
	json_get_object(print, "", "properties", &properties, NULL);
	ck_assert(!json_object_object_get_ex(properties, "secret", NULL));
	ck_assert(json_object_object_get_ex(properties, "sum", NULL));
	ck_assert(json_object_object_get_ex(properties, "made", NULL));
}

TEST(what_is_shown_is_cut)
{
	cleanup_thing struct thing *thing = make("{\"id\":\"a\"}", NULL);

	xstrset(&thing->line, "ab\ncdefg");
	assert_json(schema_json(&schema, thing),
	    "{\"id\":\"a\",\"line\":\"ab cd\",\"more\":null," COSTS "}");
}

TEST(errors_name_the_path_inside)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "{\"id\":\"abcde\"}", "x.id: longer than 4 bytes" },
		{ "{\"id\":\"a\",\"part\":{}}", "x.part.name: missing" },
		{ "{\"id\":\"a\",\"part\":[]}",
		    "x.part: expected an object, found an array" },
		{ "{\"id\":\"a\",\"more\":{\"name\":\"n\",\"nam\":1}}",
		    "x.more.nam: unknown key; did you mean \"name\"?" },
		{ "{\"id\":\"a\",\"rows\":[{\"name\":\"n\"},{\"name\":1}]}",
		    "x.rows[1].name: expected a string, found a number" },
		{ "{\"id\":\"a\",\"rows\":[1,2,3]}",
		    "x.rows: has 3 entries, at most 2 are allowed" },
		{ "{\"id\":\"a\",\"slots\":[1,2,3]}",
		    "x.slots: has 3 entries, at most 2 are allowed" },
		{ "{\"id\":\"a\",\"pointers\":[7]}",
		    "x.pointers[0]: expected an object, found a number" },
		{ "{\"id\":\"a\",\"place\":{\"her\":\"\"}}",
		    "x.place.her: unknown key; did you mean \"here\"?" },
		{ "{\"id\":\"a\",\"sum\":\"\"}",
		    "x.sum: expected an integer, found a string" },
		{ "{\"id\":\"a\",\"twice\":3}", "x.twice: odd" },
		{ "{\"id\":\"a\",\"zebra\":3}", "x.zebra: unknown key" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0 };

		ck_assert_ptr_null(make(rows[i].text, &err));
		ck_assert_str_eq(err.msg, rows[i].words);
		ck_assert_ptr_null(make(rows[i].text, NULL));
	}
}

TEST(what_is_written_passes_its_own_check)
{
	static const struct {
		const char *text, *words; /* NULL = it is good */
	} rows[] = {
		{ "{" LEAST COSTS "}", NULL },
		{ "{" LEAST COSTS ",\"made\":true}", NULL },
		{ "{\"id\":null,\"more\":null," COSTS "}",
		    "x.id: expected a string, found null" },
		{ "{\"id\":\"a\"," COSTS "}", "x.more: missing" },
		{ "{" LEAST "\"at_unix\":1,\"known\":1}", "x.sum: missing" },
		{ "{" LEAST COSTS ",\"rows\":[{\"name\":\"n\"},{}]}",
		    "x.rows[1].name: missing" },
		{ "{" LEAST COSTS ",\"slots\":[{\"name\":\"n\",\"number\":-1}]"
		  "}",
		    "x.slots[0].number: expected an integer from 0 to "
		    "9223372036854775807, found -1" },
		{ "{" LEAST COSTS
		  ",\"part\":{\"name\":\"n\",\"colour\":\"blue\"}}",
		    "x.part.colour: expected one of red, green; found "
		    "\"blue\"" },
	};
	cleanup_thing struct thing *thing = make(full, NULL);
	cleanup_json struct json_object *shown = schema_json(&schema, thing);

	json_object_object_del(shown, "secret");
	ck_assert_int_eq(schema_check(&whole, shown, "x", NULL), 0);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *json = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(json_parse(rows[i].text, strlen(rows[i].text),
				     1000, &json, NULL),
		    0);
		ck_assert_int_eq(schema_check(&whole, json, "x", &err),
		    rows[i].words == NULL ? 0 : -EINVAL);
		if (rows[i].words != NULL)
			ck_assert_str_eq(err.msg, rows[i].words);
	}
}

TEST(a_record_is_printed_as_json_schema)
{
	static const struct schema_field list[] = {
		SCHEMA_PARTS(struct thing, "rows", ROWS, rows, row_count, part,
		    .max = 2, .help = "some"),
		SCHEMA_FIELD(
		    struct thing, "known", known, .flags = SCHEMA_UNKNOWN),
		{ .name = "words", .type = SCHEMA_LIST, .size = 3, .max = 9 },
	};
	static const struct schema lists = SCHEMA_OF(struct thing, list);
	const struct schema_field field = { .type = SCHEMA_OBJECT,
		.of = &lists };

	assert_json(schema_print(&field),
	    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	    "\"type\":\"object\",\"properties\":{\"rows\":{\"description\":"
	    "\"some\",\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":"
	    "\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
	    "\"number\":{\"type\":\"integer\",\"minimum\":0},\"colour\":{"
	    "\"type\":\"string\",\"enum\":[\"red\",\"green\"]}},\"required\":"
	    "[\"name\"],\"additionalProperties\":false}},\"known\":{\"type\":["
	    "\"integer\",\"null\"],\"minimum\":0},\"words\":{\"type\":"
	    "\"array\",\"maxItems\":9,\"items\":{\"type\":\"string\","
	    "\"maxLength\":3}}},\"required\":[\"rows\",\"known\",\"words\"],"
	    "\"additionalProperties\":false}");
}
