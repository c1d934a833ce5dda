/* SPDX-License-Identifier: ISC */

/*
 * An operation: a sequence of steps, each of which may wait for an
 * asynchronous answer, and one end. The caller embeds a struct operation as
 * the first member of its own struct and provides a table of steps.
 *
 * A step starts something and returns; its callback continues:
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
 * The operation ends exactly once: when the last step is done, when one fails,
 * when the deadline passes, or when it is cancelled. It never ends while an
 * answer is awaited (git may still be working in that folder), except in
 * operation_drop().
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
	/* Make the running work finish early, on cancel and at the deadline;
	 * its answer still arrives. NULL: wait for it. */
	operation_fn *cancel;
	/* Once begun, this step is finished even if the operation is cancelled
	 * or reaches its deadline. */
	bool firm;
};

struct operation_kind {
	const char *name; /* "reset" */
	const struct operation_step *steps;
	size_t count;
	bool yields; /* it may take long; cancelled when its subject ends */
	/* Called once, with err NULL on success. Frees the operation, or begins
	 * another one in its place. */
	void (*end)(struct operation *op, const struct err *err);
};

#define OPERATION_KIND(kind, word, list, on_end, ...)               \
	static const struct operation_kind kind = { .name = (word), \
		.steps = (list),                                    \
		.count = nitems(list),                              \
		.end = (on_end),                                    \
		##__VA_ARGS__ }

/* Read-only for callers. */
struct operation {
	const struct operation_kind *kind;
	struct loop *loop;
	struct loop_timer *deadline;
	size_t at; /* index of the current step */
	unsigned awaited; /* answers that have not arrived yet */
	bool cancelled; /* stop at the next step that is not firm */
	bool stopping; /* end with err as soon as nothing is awaited */
	bool ending; /* the end has been called */
	struct err err;
};

/* Run the first step. deadline_ms 0 = none. May end before it returns. */
void operation_begin(struct operation *op, const struct operation_kind *kind,
    struct loop *loop, int64_t deadline_ms);

/* Move the deadline, if there is one: this time does not count. */
void operation_extend(struct operation *op, int64_t ms);

/* The current step; for tests. */
const char *operation_step_name(const struct operation *op);

/* Expect one more answer; returns op, to be passed to the callback. */
void *operation_await(struct operation *op);
/* An answer has arrived. False: return at once, op may be gone (it failed with
 * err, or it was cancelled in the meantime). A step with several answers
 * continues after the last one: when op->awaited is 0. */
bool operation_arrived(struct operation *op, const struct err *err);

/* Callbacks for an answer after which the next step follows; op is what
 * operation_await() returned. */
void operation_on_done(const struct err *err, void *op);
void operation_on_over(void *op); /* of something that cannot fail */

/* Every step calls exactly one of these, itself or from its callback; op may be
 * gone when they return. */
void operation_next(struct operation *op);
void operation_go(struct operation *op, size_t step);
void operation_done(struct operation *op);
void operation_fail(struct operation *op, const struct err *err);

/* Ask it to end with -ECANCELED and this message; firm steps are finished
 * first. op may be gone when this returns. Must not be called from a step of
 * the same operation: use operation_fail() there. */
void operation_cancel(struct operation *op, const char *reason);

/* End it now with -ECANCELED, whatever it waits for. Only when those answers
 * can no longer arrive, because the port is freed next. */
void operation_drop(struct operation *op);

#endif
