/* SPDX-License-Identifier: ISC */

/*
 * The heartbeat, written from the loop: if the loop is stuck, it gets stale. It
 * also has what the overseer has to know of the work: when a task was last
 * assigned or completed, which workers are expected to get on with theirs, and
 * a line for each. While the loop is quiet it rests.
 */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

struct core;
struct heartbeat;

/* Begin to beat, in auto mode; the others take NULL as none. */
struct heartbeat *heartbeat_new(struct core *core);
/* Stop, and remove the file, which a daemon that has failed leaves. */
void heartbeat_free(struct heartbeat *heartbeat);

/* The state was saved: if a task was assigned or completed since the last beat,
 * beat. */
void heartbeat_saved(struct heartbeat *heartbeat);

/* The phase has changed to or from one that a person is told about. */
void heartbeat_now(struct heartbeat *heartbeat);

/* The daemon fails: beat, and keep to the workers as they are now. Who repairs
 * it is told what they were doing, not how the end of the daemon left them. */
void heartbeat_failed(struct heartbeat *heartbeat);

/* We are awake: beat now instead of waking again soon for it, if beats have
 * become rare because little happens. */
void heartbeat_awake(struct heartbeat *heartbeat);

/* When the last one was written, as it says; 0 = none was. */
int64_t heartbeat_last_unix(const struct heartbeat *heartbeat);

/* What the work until now needed goes back to the kernel: now, or in a moment,
 * after a call, which may have needed much. */
void rest_now(struct core *core);
void rest_soon(struct core *core);

#endif
