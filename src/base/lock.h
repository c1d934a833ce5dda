/* SPDX-License-Identifier: ISC */

/*
 * Locks between processes: open-file-description locks on a file that stays.
 * Held for the life of the descriptor, so a dead holder never leaves a stale
 * lock, and no pid is written that could lie. The file may carry text for
 * people (who holds it); that text is no part of the lock.
 */
#ifndef LOCK_H
#define LOCK_H

struct err;

/* Take the lock without waiting: a descriptor (close-on-exec), or -EAGAIN when
 * another holds it, or another negative errno. close(2) lets go. The file is
 * created with mode 0600 and never removed. */
int lock_try(const char *path, struct err *err);

/* Does anybody hold it? Takes nothing. 1, 0 or negative errno. */
int lock_is_held(const char *path);

#endif
