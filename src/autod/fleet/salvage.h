/* SPDX-License-Identifier: ISC */

/*
 * Save what a worker's worktree has that would be lost, under
 * refs/llmc/salvage/. A worktree that is gone is made again from its branch
 * first; one that git does not take for a worktree any more is moved aside and
 * kept for people.
 */
#ifndef SALVAGE_H
#define SALVAGE_H

struct agent;
struct err;
struct salvage;

/* ref: "" = there was nothing to save. */
typedef void salvage_fn(const char *ref, const struct err *err, void *arg);

/* Part of an operation on the worker, so one at a time (agent->salvage). */
void salvage_begin(struct agent *agent, salvage_fn *fn, void *arg);
/* Git goes before it has answered: nobody is told. NULL is fine. */
void salvage_drop(struct salvage *salvage);

#endif
