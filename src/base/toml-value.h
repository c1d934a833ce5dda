/* SPDX-License-Identifier: ISC */

/* Numbers, booleans and dates of TOML, for toml*.c only. */
#ifndef TOML_VALUE_H
#define TOML_VALUE_H

#include "toml-mark.h"

struct json_object;
struct toml_reader;

/* Read a number, boolean, date or time. The caller owns *ret_value. */
int toml_value_read(struct toml_reader *reader, struct json_object **ret_value,
    enum toml_type *ret_type);

/* json-c's answer, or the end: NULL can only mean exhausted memory. */
struct json_object *toml_value_must(struct json_object *value);

#endif
