/* SPDX-License-Identifier: ISC */

/*
 * An operation: steps taken one after the other, each of which may wait for
 * the world outside, and one end. Whoever runs one embeds a struct operation
 * as the first member of a struct of their own and gives a table of steps.
 *
 * A step begins something and returns; its callback goes on:
 *
 *	static void
 *	step_rebase(struct operation *op)
 *	{
 *		struct landing *l = (struct landing *)op;
 *
 *		git_rebase(l->git, l->dir, on_rebased, operation_await(op));
 *	}
 *
 *	static void
 *	on_rebased(const struct err *err, void *arg)
 *	{
 *		if (operation_arrived(arg, err))
 *			operation_next(arg);
 *	}
 *
 * The end comes exactly once: when the last step is done, when one fails, when
 * the deadline passes, or when somebody cancels. It never comes while an answer
 * is awaited (git still works in that folder), except in operation_drop().
 */
#ifndef OPERATION_H
#define OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "errtext.h"

struct loop;
struct loop_timer;
struct operation;

typedef void operation_fn(struct operation *op);

struct operation_step {
	const char *name; /* for the log and for tests */
	operation_fn *run;
	/* Make what runs end early, on cancel and at the deadline; its answer
	 * still comes. NULL: it is waited for. */
	operation_fn *cancel;
	/* What was begun here is finished, whoever cancels; the deadline ends
	 * nothing here either. */
	bool firm;
};

struct operation_kind {
	const char *name; /* "reset" */
	const struct operation_step *steps;
	size_t count;
	/* The one end. err is NULL when it went well. Frees the operation, or
	 * begins another one in its place. */
	void (*end)(struct operation *op, const struct err *err);
};

/* Read only for others. */
struct operation {
	const struct operation_kind *kind;
	struct loop *loop;
	struct loop_timer *deadline;
	size_t at; /* step */
	unsigned awaited; /* answers that have not come */
	bool cancelled; /* to stop at the next step that is not firm */
	bool stopping; /* to end as soon as nothing is awaited, with err */
	bool ending; /* the end has been called */
	struct err err;
};

/* Take the first step. deadline_ms 0 = none. May end before it returns. */
void operation_begin(struct operation *op, const struct operation_kind *kind,
    struct loop *loop, int64_t deadline_ms);

/* The step that was taken last; for a step that leads to itself. */
const char *operation_step_name(const struct operation *op);

/* Count an answer that will come to a callback; returns op, as its argument. */
void *operation_await(struct operation *op);
/* It has come. False: do not go on, op may be gone (it failed with err, which
 * may be NULL, or it was cancelled meanwhile). A step that awaits several goes
 * on with the last: when op->awaited is 0. */
bool operation_arrived(struct operation *op, const struct err *err);

/* Exactly one of these follows each step, from inside of it or of its callback;
 * op may be gone when they return. */
void operation_next(struct operation *op);
void operation_go(struct operation *op, size_t step);
void operation_done(struct operation *op);
void operation_fail(struct operation *op, const struct err *err);

/* Ask it to end with -ECANCELED and these words; firm steps are finished
 * first. op may be gone when this returns. Not from inside of a step of the
 * same operation: that one fails instead. */
void operation_cancel(struct operation *op, const char *reason);

/* End it now with -ECANCELED, whatever it waits for: only where those answers
 * cannot come any more, because their port is freed next. */
void operation_drop(struct operation *op);

#endif
