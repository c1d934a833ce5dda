/* SPDX-License-Identifier: ISC */

/*
 * The events for people that are to be sent, a file each in .llmc/outbox, and
 * the last ones that were, in .llmc/outbox/done. Several processes may use it
 * at once: whoever changes an entry holds its lock, which dies with its holder.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct outbox_record;

#define OUTBOX_WAITING_MAX 500 /* entries; then the oldest is given up */
#define OUTBOX_DONE_MAX    200 /* kept */

/* A new entry, written completely or not at all; replaces one of the same id,
 * whose lock the caller holds. */
int outbox_add(
    const char *dir, const struct outbox_record *record, struct err *err);

/* Ids of those that wait, or were done; the oldest first. The caller frees the
 * list (strv_free). A missing directory is empty. */
char **outbox_list(const char *dir, bool done);

/* Is there a record of the event, waiting or done? */
bool outbox_knows(const char *dir, const char *event);

/* Read one, wherever it is. -ENOENT; -EINVAL: not a record. */
int outbox_load(const char *dir, const char *id,
    struct outbox_record **ret_record, struct err *err);

/* An entry that is ours to change. */
struct outbox_entry {
	char *dir, *id;
	int lock;
	bool done; /* it is among those */
	struct outbox_record *record;
};

/* Take its lock and read it. -EAGAIN: another process has it. A file that is no
 * record is moved to dir/broken: -EINVAL. */
int outbox_claim(const char *dir, const char *id,
    struct outbox_entry **ret_entry, struct err *err);
/* Write what has changed; what is done goes to the others. */
int outbox_save(struct outbox_entry *entry, struct err *err);
void outbox_release(struct outbox_entry *entry);

/* The lock of a channel, so that it sends one message at a time, and not too
 * many, whichever processes do: a descriptor, or negative errno as lock_try().
 * -EBUSY: it must rest for *ret_rest_ms. */
int outbox_channel_lock(
    const char *dir, const char *channel, int64_t now_ms, int64_t *ret_rest_ms);
/* A message is sent under this lock now. */
void outbox_channel_count(int lock, int64_t now_ms);

#endif
