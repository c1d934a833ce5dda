/* SPDX-License-Identifier: ISC */

#include "operation.h"
#include "unit.h"

#define ANSWER_MS 10 /* how long each step waits */

enum {
	ASK, /* cannot be ended early */
	WORK, /* two answers; ends early when cancelled */
	LAND, /* firm */
	TIDY, /* firm */
	STEPS
};

/* What happens to the operation in the middle of the step `at`. */
enum happening {
	OK,
	FAIL,
	CANCEL,
	DEADLINE,
	DROP,
	HAPPENINGS
};

/* An operation whose steps each wait for a timer, and its trace. */
struct trip {
	struct operation op;
	struct loop *loop;
	struct loop_timer *answers[2], *poke;
	enum happening what;
	size_t at;
	struct buf trace; /* steps, cancels and the end, in order */
	int ends;
	int code;
};

static void
note(struct trip *t, const char *what)
{
	buf_addf(&t->trace, "%s%s", t->trace.len > 0 ? " " : "", what);
}

static void
on_answer(void *arg)
{
	struct trip *t = arg;
	struct err err = { -EBADMSG, "it went wrong" };
	bool fails = t->what == FAIL && t->op.at == t->at;

	if (!operation_arrived(&t->op, fails ? &err : NULL))
		return;
	if (t->op.awaited == 0)
		operation_next(&t->op);
}

static void
begin_answer(struct trip *t, size_t i)
{
	operation_await(&t->op);
	loop_timer_free(t->answers[i]);
	t->answers[i] =
	    loop_after(t->loop, ANSWER_MS + (int64_t)i, on_answer, t);
}

static void
step_begin(struct operation *op)
{
	struct trip *t = (struct trip *)op;

	note(t, operation_step_name(op));
	begin_answer(t, 0);
	if (op->at == WORK)
		begin_answer(t, 1);
}

static void
step_hurry(struct operation *op)
{
	struct trip *t = (struct trip *)op;

	note(t, "hurry");
	for (size_t i = 0; i < 2; i++)
		loop_timer_restart(t->answers[i], 1);
}

static void
trip_end(struct operation *op, const struct err *err)
{
	struct trip *t = (struct trip *)op;

	note(t, err != NULL ? "failed" : "done");
	t->ends++;
	t->code = err != NULL ? err->code : 0;
}

static const struct operation_step steps[STEPS] = {
	[ASK] = { .name = "ask", .run = step_begin },
	[WORK] = { .name = "work", .run = step_begin, .cancel = step_hurry },
	[LAND] = { .name = "land", .run = step_begin, .firm = true },
	[TIDY] = { .name = "tidy", .run = step_begin, .firm = true },
};

static const struct operation_kind kind = {
	.name = "trip",
	.steps = steps,
	.count = STEPS,
	.end = trip_end,
};

static void
trip_init(struct trip *t, enum happening what, size_t at)
{
	memset(t, 0, sizeof *t);
	clock_virtual_begin(1000, 0);
	buf_init(&t->trace);
	t->loop = loop_new();
	t->what = what;
	t->at = at;
}

static void
trip_release(struct trip *t)
{
	for (size_t i = 0; i < 2; i++)
		loop_timer_free(t->answers[i]);
	loop_timer_free(t->poke);
	loop_free(t->loop);
	buf_release(&t->trace);
	clock_virtual_end();
}

/* The time in the middle of a step. */
static int64_t
middle_of(size_t step)
{
	/* WORK's second answer comes a millisecond after the first. */
	return (int64_t)step * ANSWER_MS + (step > WORK ? 1 : 0) +
	    ANSWER_MS / 2;
}

static void
on_poke(void *arg)
{
	struct trip *t = arg;

	ck_assert_uint_eq(t->op.at, t->at);
	if (t->what == CANCEL) {
		operation_cancel(&t->op, "not needed any more");
		operation_cancel(&t->op, "again"); /* changes nothing */
	} else {
		for (size_t i = 0; i < 2; i++)
			loop_timer_free(take_ptr(&t->answers[i]));
		operation_drop(&t->op);
	}
}

static void
trip_run(struct trip *t, enum happening what, size_t at)
{
	trip_init(t, what, at);
	if (what == CANCEL || what == DROP)
		t->poke = loop_after(t->loop, middle_of(at), on_poke, t);
	operation_begin(
	    &t->op, &kind, t->loop, what == DEADLINE ? middle_of(at) : 0);
	loop_run(t->loop);
}

/* The expected trace for each, step by step. */
static const struct {
	const char *trace;
	int code;
} expected[HAPPENINGS][STEPS] = {
	[OK] = {
		{ "ask work land tidy done", 0 },
		{ "ask work land tidy done", 0 },
		{ "ask work land tidy done", 0 },
		{ "ask work land tidy done", 0 },
	},
	[FAIL] = {
		{ "ask failed", -EBADMSG },
		{ "ask work failed", -EBADMSG },
		{ "ask work land failed", -EBADMSG },
		{ "ask work land tidy failed", -EBADMSG },
	},
	[CANCEL] = {
		{ "ask failed", -ECANCELED },
		{ "ask work hurry failed", -ECANCELED },
		{ "ask work land tidy done", 0 },
		{ "ask work land tidy done", 0 },
	},
	[DEADLINE] = {
		{ "ask failed", -ETIMEDOUT },
		{ "ask work hurry failed", -ETIMEDOUT },
		{ "ask work land tidy done", 0 },
		{ "ask work land tidy done", 0 },
	},
	[DROP] = {
		{ "ask failed", -ECANCELED },
		{ "ask work failed", -ECANCELED },
		{ "ask work land failed", -ECANCELED },
		{ "ask work land tidy failed", -ECANCELED },
	},
};

TEST(every_step_has_one_end_whatever_happens)
{
	for (int what = 0; what < HAPPENINGS; what++) {
		for (size_t at = 0; at < STEPS; at++) {
			struct trip t;

			trip_run(&t, (enum happening)what, at);
			ck_assert_msg(t.ends == 1, "%d at %zu: %d ends", what,
			    at, t.ends);
			ck_assert_str_eq(
			    t.trace.data, expected[what][at].trace);
			ck_assert_int_eq(t.code, expected[what][at].code);
			trip_release(&t);
		}
	}
}

TEST(the_end_waits_for_what_is_awaited)
{
	struct trip t;

	/* It is cancelled at 5; the answer cannot be hurried and comes at
	 * 10. */
	trip_run(&t, CANCEL, ASK);
	ck_assert_int_eq(clock_mono_ms(), 1000 + ANSWER_MS);
	ck_assert_str_eq(t.op.err.msg, "not needed any more");
	trip_release(&t);
	/* Two answers, both hurried: the second ends it. */
	trip_run(&t, CANCEL, WORK);
	ck_assert_int_eq(clock_mono_ms(), 1000 + middle_of(WORK) + 1);
	ck_assert_uint_eq(t.op.awaited, 0);
	trip_release(&t);
	/* The first of two fails: the other one is still awaited. */
	trip_run(&t, FAIL, WORK);
	ck_assert_int_eq(clock_mono_ms(), 1000 + 2 * ANSWER_MS + 1);
	trip_release(&t);
}

TEST(the_deadline_tells_where_it_was)
{
	ended_by(trip_release) struct trip t;

	trip_run(&t, DEADLINE, ASK);
	ck_assert_str_eq(t.op.err.msg, "trip took too long (at step \"ask\")");
}

/* --- steps that do not wait ------------------------------------------ */

static void
step_at_once(struct operation *op)
{
	note((struct trip *)op, operation_step_name(op));
	operation_next(op);
}

static void
step_back(struct operation *op)
{
	struct trip *t = (struct trip *)op;

	note(t, operation_step_name(op));
	if (t->at++ < 2)
		operation_go(op, 0);
	else
		operation_done(op);
}

static void
step_fails(struct operation *op)
{
	struct err nameless = { 0, "no code" };

	operation_fail(op, &nameless);
}

TEST(steps_may_lead_back_and_skip_the_rest)
{
	static const struct operation_step some[] = {
		{ .name = "a", .run = step_at_once },
		{ .name = "b", .run = step_back },
		{ .name = "never", .run = step_at_once },
	};
	static const struct operation_kind round = { .name = "round",
		.steps = some,
		.count = nitems(some),
		.end = trip_end };
	ended_by(trip_release) struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &round, t.loop, 1000);
	ck_assert_str_eq(t.trace.data, "a b a b a b done");
	loop_run(t.loop); /* the deadline was removed with it */
	ck_assert_int_eq(clock_mono_ms(), 1000);
	ck_assert_int_eq(t.ends, 1);
}

TEST(a_failure_without_a_code_is_one)
{
	static const struct operation_step some[] = {
		{ .name = "a", .run = step_fails },
	};
	static const struct operation_kind one = {
		.name = "one", .steps = some, .count = 1, .end = trip_end
	};
	ended_by(trip_release) struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &one, t.loop, 0);
	ck_assert_int_eq(t.code, -EIO);
	ck_assert_str_eq(t.op.err.msg, "no code");
	operation_drop(&t.op); /* it has ended already */
	operation_cancel(&t.op, "late");
	ck_assert_int_eq(t.ends, 1);
}

/* It is done while one more answer is on its way. */
static void
step_done_early(struct operation *op)
{
	begin_answer((struct trip *)op, 0);
	operation_done(op);
}

TEST(a_success_too_waits_for_what_is_awaited)
{
	static const struct operation_step some[] = {
		{ .name = "a", .run = step_done_early },
	};
	static const struct operation_kind one = {
		.name = "one", .steps = some, .count = 1, .end = trip_end
	};
	ended_by(trip_release) struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &one, t.loop, 0);
	ck_assert_int_eq(t.ends, 0);
	operation_cancel(&t.op, "too late to change that");
	loop_run(t.loop);
	ck_assert_int_eq(t.ends, 1);
	ck_assert_int_eq(t.code, 0);
}

/* It awaits no answer, and waits for any event. */
static void
step_waits(struct operation *op)
{
	note((struct trip *)op, operation_step_name(op));
}

TEST(one_that_awaits_nothing_is_cancelled_at_once)
{
	static const struct operation_step some[] = {
		{ .name = "a", .run = step_waits, .cancel = step_hurry },
		{ .name = "b", .run = step_waits, .firm = true },
		{ .name = "c", .run = step_waits, .cancel = step_hurry },
	};
	static const struct operation_kind three = { .name = "three",
		.steps = some,
		.count = nitems(some),
		.end = trip_end };
	struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &three, t.loop, 0);
	operation_cancel(&t.op, "no");
	ck_assert_str_eq(t.trace.data, "a failed");
	trip_release(&t);
	/* The firm step is finished; the next one is not begun. */
	trip_init(&t, OK, 0);
	operation_begin(&t.op, &three, t.loop, 0);
	operation_next(&t.op);
	operation_cancel(&t.op, "no");
	ck_assert_int_eq(t.ends, 0);
	operation_next(&t.op);
	ck_assert_str_eq(t.trace.data, "a b failed");
	ck_assert_int_eq(t.code, -ECANCELED);
	trip_release(&t);
}

static void
step_await(struct operation *op)
{
	note((struct trip *)op, operation_step_name(op));
	operation_await(op);
}

TEST(plain_answers_lead_to_the_next_step)
{
	static const struct operation_step plain[] = {
		{ .name = "a", .run = step_await },
		{ .name = "b", .run = step_await },
	};
	static const struct operation_kind two = { .name = "two",
		.steps = plain,
		.count = nitems(plain),
		.end = trip_end };
	const struct err full = { -ENOSPC, "the disk is full" };
	struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &two, t.loop, 0);
	operation_on_over(&t.op);
	operation_on_done(NULL, &t.op);
	ck_assert_str_eq(t.trace.data, "a b done");
	trip_release(&t);
	trip_init(&t, OK, 0);
	operation_begin(&t.op, &two, t.loop, 0);
	operation_on_done(&full, &t.op);
	ck_assert_str_eq(t.trace.data, "a failed");
	ck_assert_int_eq(t.code, -ENOSPC);
	trip_release(&t);
	/* A cancelled one ends with its answer. */
	trip_init(&t, OK, 0);
	operation_begin(&t.op, &two, t.loop, 0);
	operation_cancel(&t.op, "no");
	operation_on_over(&t.op);
	ck_assert_str_eq(t.trace.data, "a failed");
	ck_assert_int_eq(t.code, -ECANCELED);
	trip_release(&t);
}

/* An operation that follows the first, however that ended. */
static const struct operation_step last_step = {
	.name = "close", .run = step_begin, .firm = true
};
static const struct operation_kind last = {
	.name = "last", .steps = &last_step, .count = 1, .end = trip_end
};

static void
go_on_with_last(struct operation *op, const struct err *err)
{
	struct trip *t = (struct trip *)op;

	note(t, err != NULL ? "failed," : "done,");
	operation_begin(op, &last, t->loop, 0);
}

TEST(another_one_may_begin_in_its_place)
{
	static const struct operation_kind first = { .name = "first",
		.steps = steps,
		.count = STEPS,
		.end = go_on_with_last };
	struct trip t;

	trip_init(&t, FAIL, WORK);
	operation_begin(&t.op, &first, t.loop, 0);
	loop_run(t.loop);
	ck_assert_str_eq(t.trace.data, "ask work failed, close done");
	ck_assert_int_eq(t.code, 0);
	trip_release(&t);
	trip_init(&t, OK, 0);
	operation_begin(&t.op, &first, t.loop, middle_of(WORK));
	loop_run(t.loop);
	ck_assert_str_eq(t.trace.data, "ask work hurry failed, close done");
	ck_assert_int_eq(t.ends, 1);
	trip_release(&t);
}

/* --- broken invariants ------------------------------------------------ */

TEST_EXIT(70, an_answer_that_nobody_awaits_is_fatal)
{
	struct trip t;

	trip_init(&t, OK, 0);
	operation_begin(&t.op, &kind, t.loop, 0);
	operation_arrived(&t.op, NULL);
	operation_arrived(&t.op, NULL);
}

TEST_EXIT(70, a_second_end_is_fatal)
{
	struct trip t;

	trip_run(&t, OK, 0);
	operation_done(&t.op);
}
