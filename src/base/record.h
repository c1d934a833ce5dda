/* SPDX-License-Identifier: ISC */

/* The names that tables of fields without a struct schema use. */
#ifndef RECORD_H
#define RECORD_H

#include "schema.h"

#define record_field schema_field
#define record_table schema
#define RECORD_FIELD SCHEMA_FIELD

#define RECORD_STRING SCHEMA_STRING
#define RECORD_BOOL   SCHEMA_BOOL
#define RECORD_INT    SCHEMA_INT32
#define RECORD_INT64  SCHEMA_INT
#define RECORD_UINT64 SCHEMA_UINT64
#define RECORD_WORD   SCHEMA_WORD
#define RECORD_OBJECT SCHEMA_OBJECT
#define RECORD_LIST   SCHEMA_LIST

#define RECORD_REQUIRED     SCHEMA_REQUIRED
#define RECORD_CLAMP        SCHEMA_CLAMP
#define RECORD_ZERO_IS_NULL SCHEMA_ZERO_IS_NULL
#define RECORD_OMIT_UNSET   SCHEMA_OMIT_UNSET

#define RECORD_TABLE(table, number) \
	(&(const struct schema){ .fields = (table), .count = (number) })
#define record_to_json(table, count, record, json) \
	schema_add(RECORD_TABLE(table, count), record, json)
#define record_from_json(table, count, json, at, record, err) \
	schema_read(RECORD_TABLE(table, count), json, at, record, err)
#define record_known(table, count, others, json, at, err) \
	schema_known(RECORD_TABLE(table, count), others, json, at, err)
#define record_image(table, count, record, out) \
	schema_image(RECORD_TABLE(table, count), record, out)
#define record_copy(table, count, record, copy) \
	schema_copy(RECORD_TABLE(table, count), record, copy)
#define record_release(table, count, record) \
	schema_release(RECORD_TABLE(table, count), record)

#endif
