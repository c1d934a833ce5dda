/* SPDX-License-Identifier: ISC */

/*
 * Rebases a worker's work onto the landing branch in its own worktree. A
 * conflict goes back to the worker as a prompt: it knows its changes best.
 */
#ifndef OP_REBASE_H
#define OP_REBASE_H

struct agent;
struct err;
struct landings;
struct server_call;

enum op_rebase_end {
	OP_REBASE_DONE,
	OP_REBASE_CONFLICT, /* the worker resolves it */
	OP_REBASE_STUCK, /* too many conflicts; err says so */
	OP_REBASE_FAILED, /* git reported an error */
	OP_REBASE_CANCELLED,
};

/* Called when the worker is free again: needs_review, or waiting if it was
 * that; rebasing after a conflict. head: its HEAD, "" unless it is done. Answer
 * the call here. */
typedef void
op_rebase_fn(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg);

/* No operation may be running on the worker, which is accepting or waiting.
 * again: a rebase of an earlier daemon may be in progress; it starts over. */
void op_rebase(struct agent *agent, bool again, struct server_call *call,
    op_rebase_fn *fn, void *arg);

#endif
