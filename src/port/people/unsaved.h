/* SPDX-License-Identifier: ISC */

/* New records while the outbox cannot be written, because the disk is full,
 * say: they are kept until it can, a bounded number. */
#ifndef UNSAVED_H
#define UNSAVED_H

#include <stdbool.h>
#include <stddef.h>

struct outbox_record;

#define UNSAVED_MAX 32

/* Zeroes are an empty one. */
struct unsaved {
	struct outbox_record *list[UNSAVED_MAX]; /* the oldest first */
	size_t count;
};

/* Add it to the outbox; what prevents that is only logged. */
bool unsaved_try(const char *dir, const struct outbox_record *record);
/* The same, and it is kept if that fails; takes the record. */
void unsaved_put(
    struct unsaved *unsaved, const char *dir, struct outbox_record *record);
/* Try again with all that are kept. */
void unsaved_flush(struct unsaved *unsaved, const char *dir);
/* By its id or its event, either may be NULL; NULL = it is not kept. */
struct outbox_record *
unsaved_find(const struct unsaved *unsaved, const char *id, const char *event);
void unsaved_release(struct unsaved *unsaved);

#endif
