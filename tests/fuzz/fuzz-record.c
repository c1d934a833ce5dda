/* SPDX-License-Identifier: ISC */

/* Any JSON as a record of every type: accepted values are within their bounds,
 * and a written record is read back unchanged. */

#include "fuzz.h"
#include "schema.h"

enum letter {
	A,
	B,
	C
};

static const char *const letter_words[] = { "a", "b", "c", NULL };

struct part {
	char *name;
	int64_t number;
};

struct thing {
	struct part part, *rows, slots[2];
	size_t row_count, slot_count;
	char *text, *omitted;
	bool flag;
	int count, few;
	int64_t sum, time;
	uint64_t number;
	enum letter letter;
	struct json_object *object;
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct thing, key, member, ##__VA_ARGS__)

static const struct schema_field part_fields[] = {
	SCHEMA_FIELD(struct part, "n", name, .flags = SCHEMA_REQUIRED),
	SCHEMA_FIELD(struct part, "i", number, .flags = SCHEMA_OMIT_UNSET),
};
static const struct schema part = SCHEMA_OF(struct part, part_fields);

static const struct schema_field fields[] = {
	SCHEMA_PART(
	    struct thing, "p", STRUCT, part, part, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PARTS(struct thing, "r", ROWS, rows, row_count, part, .max = 3),
	SCHEMA_PARTS(
	    struct thing, "z", SLOTS, slots, slot_count, part, .max = 2),
	FIELD("t", text),
	FIELD("o", omitted, .flags = SCHEMA_OMIT_UNSET),
	FIELD("f", flag),
	FIELD("c", count, .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("few", few, .flags = SCHEMA_CLAMP, .max = 4),
	FIELD("s", sum, .max = 1000),
	FIELD("time", time, .flags = SCHEMA_CLAMP),
	FIELD("n", number),
	FIELD("l", letter, .words = letter_words),
	FIELD("x", object),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

static void
check_again(const struct thing *thing)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_json struct json_object *second = json_object_new_object();
	struct thing again = { 0 };

	schema_add(&schema, thing, json);
	check(schema_read(&schema, json, "", &again, NULL) == 0);
	schema_add(&schema, &again, second);
	check(json_object_equal(json, second));
	schema_release(&schema, &again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct thing thing = { 0 };

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0)
		return 0;
	if (schema_read(&schema, json, "", &thing, NULL) == 0) {
		check(thing.count >= 0 && thing.few >= 0 && thing.few <= 4);
		check(thing.sum >= 0 && thing.sum <= 1000 && thing.time >= 0);
		check(thing.row_count <= 3 && thing.slot_count <= 2);
		check(thing.number <= INT64_MAX && thing.letter <= C);
		check_again(&thing);
	}
	schema_release(&schema, &thing);
	return 0;
}
