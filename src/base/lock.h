/* SPDX-License-Identifier: ISC */

/*
 * Locks between processes: open-file-description locks on a file that stays.
 * Held for the life of the descriptor, so a dead holder never leaves a stale
 * lock, and no pid is written that could lie. The file may carry text for
 * people (who holds it); that text is no part of the lock.
 */
#ifndef LOCK_H
#define LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;
struct lock_wait;

/* Take the lock without waiting: a descriptor (close-on-exec), or -EAGAIN when
 * another holds it, or another negative errno. close(2) lets go. The file is
 * created with mode 0600 and never removed. */
int lock_try(const char *path, struct err *err);

/* The same for readers: many may hold it while nobody has it exclusively. */
int lock_try_shared(const char *path, struct err *err);

/* Does anybody hold it exclusively? Takes nothing. 1, 0 or negative errno. */
int lock_is_held(const char *path);

/* Wait in the loop until the lock is ours (fn gets the descriptor, which it
 * then owns) or the deadline has passed (fn gets -ETIMEDOUT). Tries again with
 * growing pauses of 5 to 100 ms: the kernel has no event for a free lock. */
typedef void lock_fn(int fd_or_error, void *arg);
struct lock_wait *lock_wait_new(struct loop *loop, const char *path,
    int64_t deadline_ms, lock_fn *fn, void *arg);
void lock_wait_free(struct lock_wait *wait); /* gives up waiting */

#endif
