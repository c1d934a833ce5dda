/* SPDX-License-Identifier: ISC */

/*
 * Commits out of a worker's own clone (git-clone.h) into the repository.
 *
 * The worker owns the clone with its configuration and hooks, so the side of
 * git that reads it (git upload-pack) runs in the worker's box. The side that
 * writes the repository reads no file of the clone; it checks every object as
 * it comes (fsckObjects). What is imported is named by its id, never by a ref
 * that the worker could move in between.
 */
#ifndef GIT_IMPORT_H
#define GIT_IMPORT_H

#include <stdint.h>

#include "git-work.h"

struct git_import;
struct loop;

#define GIT_IMPORT_MAX (INT64_C(2) * 1024 * 1024 * 1024)
#define GIT_IMPORT_MS  (10 * 60 * 1000)

struct git_import_spec {
	const char *root; /* the repository's working tree */
	const char *dir; /* the clone's */
	const char *const *box; /* words that run a program in the worker's
				 * box; NULL = none: only for tests */
	const char *id; /* the commit */
	const char *ref; /* the full name of the ref to set to it, whatever it
			  * was; NULL = none, the objects only */
	int64_t max; /* bytes of new objects, 0 = GIT_IMPORT_MAX */
};

/* fn is called once, from the loop, unless it is freed before. -EFBIG, -EINVAL
 * (an object is broken), -ENOENT (the clone has no such commit), -ETIMEDOUT,
 * -EIO. The spec is copied. NULL with err set if nothing was started. */
struct git_import *
git_import_new(struct loop *loop, const struct git_import_spec *spec,
    git_work_fn *fn, void *arg, struct err *err);
/* Only before fn was called. What was imported until then is in no ref. */
void git_import_free(struct git_import *import);

#endif
