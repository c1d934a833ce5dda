/* SPDX-License-Identifier: ISC */

/* The names that schemas of JSON alone use. */
#ifndef SHAPE_H
#define SHAPE_H

#include "schema.h"

#define SHAPE_ANY    SCHEMA_ANY
#define SHAPE_STRING SCHEMA_STRING
#define SHAPE_INT    SCHEMA_INT
#define SHAPE_NUMBER SCHEMA_NUMBER
#define SHAPE_BOOL   SCHEMA_BOOL
#define SHAPE_OBJECT SCHEMA_OBJECT
#define SHAPE_ARRAY  SCHEMA_ARRAY
#define SHAPE_MAP    SCHEMA_MAP
#define SHAPE_ONE    SCHEMA_ONE

#define SHAPE_OPTIONAL  SCHEMA_OPTIONAL
#define SHAPE_NULLABLE  SCHEMA_NULLABLE
#define SHAPE_OR_STRING SCHEMA_OR_STRING
#define SHAPE_ADVICE    SCHEMA_ADVICE
#define SHAPE_WANTED    SCHEMA_WANTED

#define shape_check  schema_check
#define shape_schema schema_print

#endif
