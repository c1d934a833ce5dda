/* SPDX-License-Identifier: ISC */

/* What was written so far, put on disk by a program (sync(1)), since it may
 * take long. Private to the git-*.c files. */
#ifndef GIT_SYNC_H
#define GIT_SYNC_H

#include <stdbool.h>

#include "git-op.h"

struct err;
struct git_sync;
struct loop;

/* err is NULL when all of it is there. */
typedef void git_sync_fn(const struct err *err, void *arg);

/* Start at once: the whole file systems of these paths, or only the files and
 * folders themselves, where they still exist. */
int git_sync_new(struct loop *loop, bool whole, const char *const *paths,
    struct git_sync **ret_sync, struct err *err);

/* Have fn called from the loop when it is done, also if it is already. */
void git_sync_wait(struct git_sync *sync, git_sync_fn *fn, void *arg);

/* fn is not called any more; the program may still run. NULL is fine. */
void git_sync_free(struct git_sync *sync);

/* A step, after GIT_OP_GITDIR: all that was written to the repository until now
 * is on disk. */
enum git_op_next git_sync_ask(struct git_op *op);

#endif
