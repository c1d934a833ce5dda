/* SPDX-License-Identifier: ISC */

/* What the files of schema.h share. */
#ifndef SCHEMA_PRIVATE_H
#define SCHEMA_PRIVATE_H

#include "schema.h"

static inline bool
schema_has(const struct schema *schema, const struct schema_field *field)
{
	return schema->count > 0 ? field < schema->fields + schema->count :
				   field != NULL && field->name != NULL;
}

#define SCHEMA_FOREACH(f, schema)                               \
	for (const struct schema_field *(f) = (schema)->fields; \
	     schema_has((schema), (f)); (f)++)

static inline bool
schema_is_flat(const struct schema_field *field)
{
	return (field->flags & SCHEMA_FLAT) != 0;
}

/* The field of this name, NULL = none. */
const struct schema_field *
schema_find(const struct schema *schema, const char *name, bool private);

/* Add the names of all fields. */
void schema_names(const struct schema *schema, bool private, char ***names);

#endif
