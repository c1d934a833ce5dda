/* SPDX-License-Identifier: ISC */

/* Gives a worker its work back, as it was when its check failed in the queue:
 * the worktree is put at that very commit, and the worker gets the output. */
#ifndef OP_RETURN_H
#define OP_RETURN_H

struct agent;
struct err;

/* err NULL: the worker is working on it again. */
typedef void
op_return_fn(struct agent *agent, const struct err *err, void *arg);

/* No operation may be running on the worker, which is accepting. */
void op_return(struct agent *agent, const char *commit, const char *words,
    op_return_fn *fn, void *arg);

#endif
