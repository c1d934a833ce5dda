/* SPDX-License-Identifier: ISC */

/*
 * Old events replaced by milestones, when a person asks for it. A milestone
 * says of which goal, from when to when, how many events of each type there
 * were; its number is that of the last of them. Events of goals that are active
 * or paused stay as they are. Mail, requests and reservations of that time that
 * have ended are removed, with the same exception. In steps of short
 * transactions, so the daemon can go on writing. Blocks; for child processes.
 */
#ifndef STORE_COMPACT_H
#define STORE_COMPACT_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define STORE_MILESTONE "milestone"

struct store_compacted {
	size_t removed, milestones;
	size_t records;
};

/* Events older than before_ms. */
int store_compact(const char *path, int64_t before_ms,
    struct store_compacted *ret, struct err *err);

#endif
