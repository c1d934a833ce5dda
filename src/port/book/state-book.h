/* SPDX-License-Identifier: ISC */

/*
 * The state (state.h) in the book: a row for each worker, open task, landing,
 * account and day, and the table host with everything of which there is one.
 * What is in memory leads; rows are written when they differ from what was
 * written last.
 *
 *   table    one row is                     key
 *   worker   a worker                       name
 *   task     a task without an outcome yet  id
 *   landing  an item of the landing queue   id
 *   account  what a conversation has used   transcript, from_ms
 *   day      what was used on a day         day
 *   host     a member of the state, as JSON key
 *
 * Columns are named as in the JSON of the record, and what is nested is JSON
 * text. `nr` is the order in which rows were made.
 */
#ifndef STATE_BOOK_H
#define STATE_BOOK_H

struct book;
struct err;
struct state;
struct state_book;

/* Make the tables and the columns that are missing. Free it before the book. */
int state_book_new(struct book *book, struct state_book **ret, struct err *err);
void state_book_free(struct state_book *rows);

/* Is there a state in it? -ENOENT: not yet. */
int state_book_find(struct book *book, struct err *err);

/* The state in it; -ENOENT: there is none. -EINVAL: a row does not make sense,
 * and err says which. A book that was opened for reading will do. */
int state_book_load(struct book *book, int64_t now_ms, struct state *ret_state,
    struct err *err);
/* It was loaded: only what differs from it needs to be written. */
void state_book_know(struct state_book *rows, const struct state *state);

/* Delete all rows, of which nothing is known. */
void state_book_clear(struct state_book *rows);

/* Write what has changed, and delete the rows of what is gone. */
void state_book_put(struct state_book *rows, const struct state *state);

#endif
