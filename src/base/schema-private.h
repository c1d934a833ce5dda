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

/* A pointer to one member, by the type of its field. */
union schema_member {
	void *at;
	char **string;
	const char **text;
	bool *boolean;
	int *number;
	int64_t *number64;
	double *real;
	struct json_object **object;
	char ***list;
	void **pointer;
	void ***pointers;
};

static inline union schema_member
schema_member_of(const struct schema_field *field, const void *record)
{
	return (union schema_member){ .at = (char *)(uintptr_t)record +
		    field->offset };
}

static inline size_t *
schema_count_of(const struct schema_field *field, const void *record)
{
	return (void *)((char *)(uintptr_t)record + field->count);
}

/* The i-th struct of a list. */
static inline void *
schema_entry_of(
    const struct schema_field *field, union schema_member m, size_t i)
{
	if (field->type == SCHEMA_POINTERS)
		return (*m.pointers)[i];
	return (char *)(field->type == SCHEMA_ROWS ? *m.pointer : m.at) +
	    i * field->of->size;
}

/* Add one that is blank to a list. */
void *schema_add_entry(const struct schema_field *field, void *record);
void schema_release_field(const struct schema_field *field, void *record);

#endif
