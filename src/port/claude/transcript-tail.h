/* SPDX-License-Identifier: ISC */

/* The last messages of a conversation, to see why nothing happens. */
#ifndef TRANSCRIPT_TAIL_H
#define TRANSCRIPT_TAIL_H

#include "stall-sample.h"

struct buf;

/* Class the last STALL_SAMPLE_MESSAGES messages of this file; appends why.
 * STALL_UNKNOWN if there are none, or it cannot be read. Reads at most 128 KiB,
 * at once. */
enum stall_class transcript_tail_class(const char *path, struct buf *why);

#endif
