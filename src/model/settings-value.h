/* SPDX-License-Identifier: ISC */

/* One value of the configuration: checked against its row, kept, shown. For
 * settings.c only. */
#ifndef SETTINGS_VALUE_H
#define SETTINGS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct setting;

/* One effective value; which members count is the row's type's affair. */
struct value {
	char *path;
	const struct setting *row;
	unsigned line; /* 0 = a default */
	char *string;
	bool boolean;
	int64_t number; /* INT, ms of a DURATION, millionths of an AMOUNT */
	char **items;
};

/* Take the TOML value over if its type and range are right; unchanged if not.
 * home (may be NULL) is what "~" means in a path. */
bool value_set(struct value *value, struct json_object *json, const char *home);

/* Free what it holds, but not its path. */
void value_clear(struct value *value);

/* As JSON, owned by the caller; a duration as its text. */
struct json_object *value_json(const struct value *value);

#endif
