/* SPDX-License-Identifier: ISC */

/* One value of the configuration: checked against its row, stored, shown. For
 * settings.c only. */
#ifndef SETTINGS_VALUE_H
#define SETTINGS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct setting;

/* One effective value; the type of its row says which members are used. */
struct value {
	char *path;
	const struct setting *row;
	unsigned line; /* 0 = a default */
	char *name; /* that it has in the file, NULL = a default */
	char *string;
	bool boolean;
	int64_t number; /* INT, ms of a DURATION, millionths of an AMOUNT */
	char **items;
};

/* Set it from the TOML value if that has the right type and is in range; else
 * leave it unchanged. home (may be NULL) replaces "~" in a path. */
bool value_set(struct value *value, struct json_object *json, const char *home);

/* Free its contents, but not its path. */
void value_clear(struct value *value);

/* As JSON, owned by the caller; a duration becomes text. */
struct json_object *value_json(const struct value *value);

#endif
