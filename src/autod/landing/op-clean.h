/* SPDX-License-Identifier: ISC */

/* After a landing: the worker's worktree goes back to the landing branch, and
 * the worker is free. */
#ifndef OP_CLEAN_H
#define OP_CLEAN_H

struct agent;

/* The landing is final, even if the worktree cannot be reset. Not called if the
 * daemon stops before: the next one does it again. */
typedef void op_clean_fn(struct agent *agent, void *arg);

/* No operation may be running on the worker, which is accepting. head: the
 * commit that was frozen; what was done there since then is saved first. same:
 * a commit that has its tree, NULL = not known. */
void op_clean(struct agent *agent, const char *head, const char *same,
    op_clean_fn *fn, void *arg);

#endif
