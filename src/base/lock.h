/* SPDX-License-Identifier: ISC */

/*
 * Locks between processes: open-file-description locks on a file that is never
 * removed. A lock lasts as long as the descriptor, so a dead process leaves no
 * stale lock, and no pid is needed. The file may contain text for people (who
 * holds it), which is not part of the lock.
 */
#ifndef LOCK_H
#define LOCK_H

#include <stdbool.h>

struct err;

/* Take the lock without waiting. Returns a descriptor (close-on-exec), -EAGAIN
 * if another process holds the lock, or another negative errno. close(2)
 * releases it. The file is created with mode 0600 and never removed. */
int lock_try(const char *path, struct err *err);

/* Does the descriptor, which another program in this process has opened, hold
 * the lock at path, or take it now? Negative errno. */
int lock_inherit(int fd, const char *path);

/* Is the file at path still the one that the descriptor has locked? Also true
 * if that cannot be found out. */
bool lock_is_at(int fd, const char *path);

/* Does any process hold it? Does not take it. Returns 1, 0 or negative
 * errno. */
int lock_is_held(const char *path);

#endif
