/* SPDX-License-Identifier: ISC */

/* The tables of book-history.h, for the code that makes them. */
#ifndef HISTORY_PRIVATE_H
#define HISTORY_PRIVATE_H

#include "schema.h"

struct book_table;

/* A column for a member that is a borrowed text. */
#define BORROWED(owner, member)                         \
	{                                               \
		.name = #member, .type = SCHEMA_STRING, \
		.offset = offsetof(owner, member)       \
	}

extern const struct book_table book_ended_task, book_attempt;

#endif
