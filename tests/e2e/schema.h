/* SPDX-License-Identifier: ISC */

/* JSON Schema, as much of it as `llmc schema` speaks. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stdbool.h>

struct buf;
struct json_object;

/* Does the value match? If not, why is appended, with the path. A keyword that
 * is not known here never matches: a schema must not promise what nobody
 * checks. */
bool schema_matches(struct json_object *schema, struct json_object *value,
    const char *at, struct buf *why);

#endif
