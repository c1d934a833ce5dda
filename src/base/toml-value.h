/* SPDX-License-Identifier: ISC */

/* TOML numbers, booleans and dates, for toml*.c only. */
#ifndef TOML_VALUE_H
#define TOML_VALUE_H

#include "toml.h"

struct json_object;
struct toml_reader;

/* Read a number, boolean, date or time. The caller owns *ret_value. */
int toml_value_read(struct toml_reader *reader, struct json_object **ret_value,
    enum toml_type *ret_type);

/* Check a value from json-c: NULL can only mean out of memory, which is
 * fatal. */
struct json_object *toml_value_must(struct json_object *value);

#endif
