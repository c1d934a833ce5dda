/* SPDX-License-Identifier: ISC */

/*
 * The policy of a worker (model/team/guard.h) as a file that its hooks and
 * tools read themselves, so that it holds while no daemon is running:
 * .llmc/run/<worker>/policy.json. The daemon writes it before each launch, and
 * when it changes; a sandbox shows that folder, but does not let it be changed.
 *
 * It is replaced whole, but not waited for until it is on the disk: a power cut
 * ends the sessions, too, and the next launch writes it again. What may be left
 * of it then, an empty file say, cannot be loaded.
 */
#ifndef POLICY_FILE_H
#define POLICY_FILE_H

struct err;
struct guard_policy;
struct workspace;

/* Owned by the caller. */
char *policy_file_path(const struct workspace *workspace, const char *worker);

/* Replace the file, unless it says the same already. The folder exists:
 * run-dir.h. */
int policy_file_save(const struct workspace *workspace, const char *worker,
    const struct guard_policy *policy, struct err *err);

/* -ENOENT, -EINVAL, ...: the policy is empty, and must not be taken for one
 * that allows everything. Release it with guard_policy_release(). */
int policy_file_load(
    const char *path, struct guard_policy *ret_policy, struct err *err);

/*
 * Where a path that an agent names leads, with every symbolic link followed.
 * The file need not exist, nor the folders above it. Only looks, with a few
 * lstat(2).
 */

/* The path relative to tree, which is absolute and has no links; "" is the tree
 * itself. A relative path is taken from cwd (NULL = tree). NULL: it leads
 * elsewhere. Owned by the caller. plain: "a/.." is removed before links are
 * followed, as programs do that shorten a path before they use it; otherwise
 * as the kernel does it. They differ behind a link to a folder. */
char *
tree_path(const char *tree, const char *cwd, const char *path, bool plain);

#endif
