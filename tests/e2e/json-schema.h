/* SPDX-License-Identifier: ISC */

/* JSON Schema, as far as `llmc doctor schema` uses it. */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include "base.h"

struct buf;
struct json_object;

/* Does the value match? If not, the reason is appended, with the path. An
 * unknown keyword never matches: a schema must not promise what is not
 * checked. */
bool schema_matches(struct json_object *schema, struct json_object *value,
    const char *at, struct buf *why);

#endif
