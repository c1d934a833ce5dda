/* SPDX-License-Identifier: ISC */

/* The tables of book-history.h, for whoever makes them. */
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

extern const struct book_table book_ended_task, book_turn, book_run_table,
    book_attempt, book_span, book_alive, book_message;
const struct book_table *book_ask_table(void);

#endif
