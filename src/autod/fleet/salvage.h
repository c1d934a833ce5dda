/* SPDX-License-Identifier: ISC */

/*
 * Save work in a worker's worktree that would be lost, in refs/llmc/salvage/. A
 * missing worktree is first created again from its branch; a folder that is no
 * longer a valid worktree is moved aside and kept for people.
 */
#ifndef SALVAGE_H
#define SALVAGE_H

struct agent;
struct err;
struct git_salvaged;
struct salvage;

/* saved: NULL with an error (git-salvage.h). */
typedef void
salvage_fn(const struct git_salvaged *saved, const struct err *err, void *arg);

/* Part of an operation on the worker, so only one at a time
 * (agent->salvage). */
void salvage_begin(struct agent *agent, salvage_fn *fn, void *arg);
/* Git is freed before it has answered: fn is not called. NULL is fine. */
void salvage_drop(struct salvage *salvage);

#endif
