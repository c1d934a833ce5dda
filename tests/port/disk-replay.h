/* SPDX-License-Identifier: ISC */

/*
 * Builds a folder as it is after a power cut, from what diskrecord.c recorded:
 * everything up to a moment was done, and of that only what was synced is
 * certain.
 */
#ifndef DISK_REPLAY_H
#define DISK_REPLAY_H

#include "unit.h"

struct disk;

/* What is not synced. */
enum disk_loss {
	DISK_LOSES_ALL, /* neither the names nor the contents are there */
	DISK_LOSES_DATA, /* the names are, the files have their old contents or
			  * none */
	DISK_LOSS_COUNT
};

/* What is in the folder now is on disk. The caller frees it. */
struct disk *disk_new(const char *root);
void disk_free(struct disk *disk);

/* Read the records; their number. */
size_t disk_load(struct disk *disk, const char *log);

/* Was this path made among the first `count` records? */
bool disk_has_made(const struct disk *disk, size_t count, const char *path);

/* What the record before that count did, for messages. */
const char *disk_describe(const struct disk *disk, size_t count);

/* Make the folder what it is when the power fails after so many records. False
 * if that is the same as the last one built with that loss: nothing is
 * done. */
bool disk_build(struct disk *disk, size_t count, enum disk_loss loss);

#endif
