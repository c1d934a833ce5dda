/* SPDX-License-Identifier: ISC */

/*
 * Save work in a worker's worktree that would be lost, in refs/llmc/salvage/,
 * and then set the worktree back or remove it. A missing worktree is first
 * created again from its branch; a folder that is no longer a valid worktree is
 * moved aside and kept for people.
 */
#ifndef SALVAGE_H
#define SALVAGE_H

#include "git-worktree.h"

#define SALVAGE_STAMP_SIZE (CLOCK_STAMP_SIZE + 32)

struct agent;
struct err;
struct salvage;

enum salvage_then {
	SALVAGE_ONLY, /* change nothing */
	SALVAGE_RESET, /* as git_reset() */
	SALVAGE_REMOVE /* as git_remove() */
};

struct salvage_what {
	enum salvage_then then;
	const char *onto, *head, *same; /* of a reset, as in git_reset; onto
					 * NULL = the landing branch */
	bool find_base; /* of a reset to a commit: it is built on the landing
			 * branch; else the base of the worker stays */
	bool check; /* a check has run there: all its checks have one ref, and
		     * the worker has one place for their big files */
};

/* saved: NULL with an error. */
typedef void
salvage_fn(const struct git_salvaged *saved, const struct err *err, void *arg);

/* Part of an operation on the worker, so only one at a time
 * (agent->salvage). what is copied. */
void salvage_begin(struct agent *agent, const struct salvage_what *what,
    salvage_fn *fn, void *arg);
/* Git is freed before it has answered: fn is not called. NULL is fine. */
void salvage_drop(struct salvage *salvage);

/* Where the worker's work is saved now: adam/<time>, with the task whose work
 * it is behind it, "-t17". `what` points into the agent and into stamp. */
void salvage_place(const struct agent *agent, bool check,
    char stamp[SALVAGE_STAMP_SIZE], struct git_salvage *ret_what);
/* Tell of a ref; "" = there is none. */
void salvage_tell(const struct agent *agent, const char *ref);

#endif
