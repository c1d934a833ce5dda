/* SPDX-License-Identifier: ISC */

/* The heartbeat, written from the loop: if the loop is stuck, it gets stale. It
 * also has what the overseer has to know of the work: when a task was last
 * assigned or completed, which workers are expected to get on with theirs, and
 * a line for each. */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

struct core;
struct heartbeat;

struct heartbeat *heartbeat_new(struct core *core); /* beats immediately */
/* Stop, and remove the file. */
void heartbeat_free(struct heartbeat *heartbeat);

/* We are awake: beat now instead of waking again soon for it, if beats have
 * become rare because little happens. NULL = nothing. */
void heartbeat_beat(struct heartbeat *heartbeat);

/* The state was saved: if a task was assigned or completed since the last beat,
 * beat. NULL = nothing. */
void heartbeat_saved(struct heartbeat *heartbeat);

/* When the last one was written, as it says; 0 = none was, or NULL. */
int64_t heartbeat_last_unix(const struct heartbeat *heartbeat);

#endif
