/* SPDX-License-Identifier: ISC */

/* Open mail, questions and reservations, as the book has them. */
#ifndef RECORDS_H
#define RECORDS_H

#include "unit.h"
#include "book.h"

struct core;
struct json_object;

/* actor: NULL = of all. */
size_t
records_open(const struct core *core, enum book_kind kind, const char *actor);
/* The oldest, the newest of them; the caller owns it. NULL = there is none. */
struct json_object *
records_first(const struct core *core, enum book_kind kind, const char *actor);
struct json_object *
records_last(const struct core *core, enum book_kind kind, const char *actor);

#endif
