/* SPDX-License-Identifier: ISC */

/* Any JSON as a record of every type: accepted values are within their bounds,
 * and a written record is read back unchanged. */

#include <stdint.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum letter {
	A,
	B,
	C
};

static const char *const letter_words[] = { "a", "b", "c", NULL };

struct thing {
	char *text, *omitted;
	bool flag;
	int count, few;
	int64_t sum, time;
	uint64_t number;
	enum letter letter;
	struct json_object *object;
};

#define FIELD(key, member, ...) \
	RECORD_FIELD(struct thing, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("t", text),
	FIELD("o", omitted, .flags = RECORD_OMIT_UNSET),
	FIELD("f", flag),
	FIELD("c", count, .flags = RECORD_ZERO_IS_NULL),
	FIELD("few", few, .flags = RECORD_CLAMP, .max = 4),
	FIELD("s", sum, .max = 1000),
	FIELD("time", time, .flags = RECORD_CLAMP),
	FIELD("n", number),
	FIELD("l", letter, .words = letter_words),
	FIELD("x", object),
};

static void
check(bool holds)
{
	if (!holds)
		abort();
}

static void
check_again(const struct thing *thing)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_json struct json_object *second = json_object_new_object();
	struct thing again = { 0 };

	record_to_json(fields, nitems(fields), thing, json);
	check(record_from_json(
		  fields, nitems(fields), json, "", &again, NULL) == 0);
	record_to_json(fields, nitems(fields), &again, second);
	check(json_object_equal(json, second));
	record_release(fields, nitems(fields), &again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct thing thing = { 0 };

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0)
		return 0;
	if (record_from_json(fields, nitems(fields), json, "", &thing, NULL) ==
	    0) {
		check(thing.count >= 0 && thing.few >= 0 && thing.few <= 4);
		check(thing.sum >= 0 && thing.sum <= 1000 && thing.time >= 0);
		check(thing.number <= INT64_MAX && thing.letter <= C);
		check_again(&thing);
	}
	record_release(fields, nitems(fields), &thing);
	return 0;
}
