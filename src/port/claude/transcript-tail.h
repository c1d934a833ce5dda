/* SPDX-License-Identifier: ISC */

/* The last messages of a conversation, to see why nothing happens. */
#ifndef TRANSCRIPT_TAIL_H
#define TRANSCRIPT_TAIL_H

#include "stall-sample.h"

struct buf;

/* Call fn, before this returns, with the last STALL_SAMPLE_MESSAGES messages of
 * this file, oldest first; with none if it cannot be read. Reads at most 128
 * KiB, at once. */
typedef void transcript_tail_fn(
    const struct stall_message *messages, size_t count, void *arg);
void transcript_tail_read(const char *path, transcript_tail_fn *fn, void *arg);

/* Class the last STALL_SAMPLE_MESSAGES messages of this file; appends why.
 * STALL_UNKNOWN if there are none. */
enum stall_class transcript_tail_class(const char *path, struct buf *why);

#endif
