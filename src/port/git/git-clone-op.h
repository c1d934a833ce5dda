/* SPDX-License-Identifier: ISC */

/*
 * What operations (git-op.h) do differently where the working tree is a clone
 * (git-clone.h): its refs are the worker's, so those of the repository are read
 * from its files and passed on by id; its objects are imported before a ref of
 * the repository names them. Private to the git-*.c files.
 */
#ifndef GIT_CLONE_OP_H
#define GIT_CLONE_OP_H

#include <stdbool.h>

#include "git-op.h"

bool git_clone_op_is(const struct git_op *op);

/* A name for a ref of the repository, by its full name, that a git in op->dir
 * understands: itself, or in a clone its id, or what names nothing. After
 * GIT_OP_GITDIR. The caller frees. */
char *git_clone_op_ref(const struct git_op *op, const char *ref);

/* A step: have the commit in the repository, if it comes from a clone. */
enum git_op_next git_clone_op_ask_import(struct git_op *op, const char *id);

/* The commits of op->onto, from the repository, and of HEAD: GIT_OP_ONTO for a
 * clone. */
enum git_op_next git_clone_op_ask_onto(struct git_op *op);

/* A step: delete a folder with all in it. */
enum git_op_next git_clone_op_ask_delete(struct git_op *op, const char *folder);

/* A step, after GIT_OP_ONTO, before the clone's git directory goes away: have
 * what only its index, its other branches and its stashes name. Those are saved
 * as `ref`, if there are any. saved: the index is saved already. Else -EBUSY in
 * a rebase and with unmerged files. */
enum git_op_next
git_clone_op_ask_keep(struct git_op *op, const char *ref, bool saved);

/* Of operations that end. */
void git_clone_op_release(struct git_op *op);

#endif
