/* SPDX-License-Identifier: ISC */

/* After a landing: the worker's worktree goes back to the landing branch, and
 * the worker is free. */
#ifndef OP_CLEAN_H
#define OP_CLEAN_H

#include <stdbool.h>

struct agent;

/* The landing is final, even if the worktree cannot be reset. Not called if the
 * daemon stops before: the next one does it again. */
typedef void op_clean_fn(struct agent *agent, void *arg);

struct op_clean_what {
	const char *head; /* commit that was frozen; what was done there since
			   * then is saved first */
	const char *same; /* a commit that has its tree, NULL = not known */
	bool queued; /* it has not landed: only the queue will have it, so that
		      * must be on disk first */
};

/* No operation may be running on the worker, which is accepting. what is
 * copied. */
void op_clean(struct agent *agent, const struct op_clean_what *what,
    op_clean_fn *fn, void *arg);

#endif
