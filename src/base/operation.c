/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "loop.h"
#include "operation.h"

static void
end(struct operation *op)
{
	struct err err = op->err;

	if (op->ending)
		fatalx("operation %s ends twice", op->kind->name);
	op->ending = true;
	loop_timer_free(take_ptr(&op->deadline));
	op->kind->end(op, err.code != 0 ? &err : NULL);
}

static const struct operation_step *
step_of(const struct operation *op)
{
	return &op->kind->steps[op->at];
}

/* End with op->err, now or when the last awaited answer arrives. */
static void
end_when_answered(struct operation *op)
{
	op->stopping = true;
	if (op->awaited == 0)
		end(op);
}

/* The same, in the middle of a step, which is asked to finish early. */
static void
stop(struct operation *op)
{
	bool early = op->awaited > 0 && step_of(op)->cancel != NULL;

	end_when_answered(op);
	if (early)
		step_of(op)->cancel(op);
}

static void
on_deadline(void *arg)
{
	struct operation *op = arg;

	loop_timer_free(take_ptr(&op->deadline));
	if (op->stopping || op->cancelled)
		return;
	err_set(&op->err, -ETIMEDOUT, "%s took too long (at step \"%s\")",
	    op->kind->name, step_of(op)->name);
	op->cancelled = true;
	if (!step_of(op)->firm)
		stop(op);
}

void
operation_begin(struct operation *op, const struct operation_kind *kind,
    struct loop *loop, int64_t deadline_ms)
{
	*op = (struct operation){ .kind = kind, .loop = loop };
	if (deadline_ms > 0)
		op->deadline = loop_after(loop, deadline_ms, on_deadline, op);
	operation_go(op, 0);
}

void
operation_extend(struct operation *op, int64_t ms)
{
	if (op->deadline != NULL)
		loop_timer_restart(op->deadline,
		    loop_timer_remaining(op->deadline, clock_mono_ms()) + ms);
}

const char *
operation_step_name(const struct operation *op)
{
	return step_of(op)->name;
}

void *
operation_await(struct operation *op)
{
	op->awaited++;
	return op;
}

bool
operation_arrived(struct operation *op, const struct err *err)
{
	if (op->awaited == 0)
		fatalx("operation %s: unexpected answer", op->kind->name);
	op->awaited--;
	if (op->stopping) {
		if (op->awaited == 0)
			end(op);
		return false;
	}
	if (err != NULL) {
		operation_fail(op, err);
		return false;
	}
	return true;
}

void
operation_on_done(const struct err *err, void *op)
{
	if (operation_arrived(op, err))
		operation_next(op);
}

void
operation_on_over(void *op)
{
	operation_on_done(NULL, op);
}

void
operation_go(struct operation *op, size_t step)
{
	if (step >= op->kind->count) {
		operation_done(op);
		return;
	}
	op->at = step;
	if (op->cancelled && !op->kind->steps[step].firm)
		end_when_answered(op);
	else
		op->kind->steps[step].run(op);
}

void
operation_next(struct operation *op)
{
	operation_go(op, op->at + 1);
}

void
operation_done(struct operation *op)
{
	op->err = (struct err){ 0 };
	end_when_answered(op);
}

void
operation_fail(struct operation *op, const struct err *err)
{
	op->err = *err;
	if (op->err.code == 0)
		op->err.code = -EIO;
	end_when_answered(op);
}

void
operation_cancel(struct operation *op, const char *reason)
{
	if (op->stopping || op->ending || op->cancelled)
		return;
	err_set(&op->err, -ECANCELED, "%s", reason);
	op->cancelled = true;
	if (!step_of(op)->firm)
		stop(op);
}

void
operation_drop(struct operation *op)
{
	if (op->ending)
		return;
	if (!op->stopping)
		err_set(&op->err, -ECANCELED, "%s was dropped", op->kind->name);
	op->stopping = true;
	op->awaited = 0;
	end(op);
}
