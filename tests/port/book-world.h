/* SPDX-License-Identifier: ISC */

/* A book, and calls that write and commit, or collect what is read. */
#ifndef BOOK_WORLD_H
#define BOOK_WORLD_H

#include "unit.h"
#include "book.h"

struct book_world {
	struct book *book; /* NULL = it could not be opened */
	struct err err; /* of the last call; code 0 = none */
	/* What the last read gave. */
	size_t records, events;
	struct buf text; /* "kind goal/id body\n", "type data\n" */
	int64_t first_seq, last_seq; /* in the order of the answer */
};

/* Open the book at path; world->err says how it went. */
void book_world_open(struct book_world *world, const char *path);
void book_world_close(struct book_world *world);

/* Each returns its code. Those that write commit too. */
int book_world_put(struct book_world *world, enum book_kind kind,
    const char *goal, const char *id, const char *body);
int book_world_event(struct book_world *world, struct book_event event);
int
book_world_commit(struct book_world *world, const struct book_record *records,
    size_t record_count, const struct book_event *events, size_t event_count);
int book_world_load(struct book_world *world);
int book_world_read(struct book_world *world, enum book_kind kind,
    const char *goal, const char *id);
int book_world_find(struct book_world *world, const char *commit);
int book_world_events(struct book_world *world, struct book_filter filter);

/* A goal G with the nodes P1 and T1.1, an assignment A_1 of T1.1, a dispatch
 * D_1, a crystallization C_1 and three events. */
void book_world_fill(struct book_world *world);

/* One commit: a goal G that counts, a node of its own, and an event with a key.
 * And what such commits left, after whatever happened to the writer: all three
 * agree, or the test fails and says when that was; the number of the last one,
 * -1 = none. */
int book_world_step(struct book_world *world, int n);
int book_world_whole(const char *path, const char *when);

/* A number of the header, as a book has it that was written like this. */
void book_world_header(struct buf *bytes, size_t at, uint32_t number);

/* The whole file, instead of what is in out. */
void book_world_file(const char *path, struct buf *out);

#endif
