/* SPDX-License-Identifier: ISC */

/*
 * Copies a folder that a setup makes (node_modules) from one tree into
 * another, so that the setup has less to do. Files are cloned (FICLONE) where
 * the file system can do that, and copied elsewhere: a hard link would let a
 * tool that writes in place change the other tree's file. Links are copied as
 * links, and none is followed. Waits: for helpers.
 */
#ifndef SEED_H
#define SEED_H

struct err;

struct seed_result {
	size_t files;
	size_t cloned; /* of those */
};

/* Copy from/path to to/path, which must not be there: -EEXIST. -ENOENT: there
 * is nothing to copy. What was begun is removed after an error. until_ms: of
 * the monotonic clock; -ETIME when that has come. */
int seed_folder(const char *from, const char *to, const char *path,
    int64_t until_ms, struct seed_result *ret_result, struct err *err);

#endif
