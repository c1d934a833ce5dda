/* SPDX-License-Identifier: ISC */

/* Any JSON against a shape with every type: the result is the same with and
 * without a struct err. */

#include "fuzz.h"
#include "schema.h"

static const struct schema deep = {
	.fields = (const struct schema_field[]){ { .name = "i",
						     .type = SCHEMA_INT,
						     .min = -5,
						     .max = 5 },
	    { .name = "f", .type = SCHEMA_NUMBER, .flags = SCHEMA_OPTIONAL },
	    { .name = "b",
		.type = SCHEMA_BOOL,
		.flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE },
	    { .name = NULL } },
	.open = true,
};
static const struct schema element = {
	.fields =
	    (const struct schema_field[]){
		{ .type = SCHEMA_OBJECT, .of = &deep, .help = "deep" } },
};
static const struct schema top = {
	.fields = (const struct schema_field[]){ { .name = "s",
						     .type = SCHEMA_STRING,
						     .flags = SCHEMA_OPTIONAL,
						     .min = 1,
						     .max = 9 },
	    { .name = "c",
		.type = SCHEMA_STRING,
		.flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE,
		.choices = (const char *const[]){ "x", "yy", NULL } },
	    { .name = "a",
		.type = SCHEMA_ARRAY,
		.flags = SCHEMA_OPTIONAL,
		.of = &element,
		.max = 4 },
	    { .name = "m",
		.type = SCHEMA_MAP,
		.flags = SCHEMA_OPTIONAL,
		.of = &element,
		.max = 4 },
	    { .name = "y", .type = SCHEMA_ANY, .flags = SCHEMA_OPTIONAL },
	    { .name = NULL } },
};

static void
check_field(const struct schema_field *field, struct json_object *value)
{
	struct err err = { 0, "" };
	int r;

	r = schema_check(field, value, "", &err);
	if (r != 0 && r != -EINVAL)
		abort();
	if (err.code != r || (r == 0) != (err.msg[0] == '\0'))
		abort();
	for (const char *s = err.msg; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20)
			abort();
	if (schema_check(field, value, "", NULL) != r)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct schema_field field = { .type = SCHEMA_OBJECT,
		.of = &top };
	cleanup_json struct json_object *value = NULL, *schema = NULL;

	if (json_parse((const char *)data, size, 65536, &value, NULL) < 0)
		return 0;
	check_field(&field, value);
	check_field(&element.fields[0], value);
	schema = schema_print(&field);
	if (!json_object_is_type(schema, json_type_object))
		abort();
	check_field(&field, schema);
	return 0;
}
