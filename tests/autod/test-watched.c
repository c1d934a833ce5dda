/* SPDX-License-Identifier: ISC */

/* What is recorded of a task that is watched, whenever its daemon died. */
#include "unit.h"

#include <math.h>
#include <sys/resource.h>

#include "behaviour.h"
#include "book-history.h"
#include "book.h"
#include "thresholds.h"
#include "watched.h"

static struct book *book;
static struct thresholds thresholds;

void
unit_before(void)
{
	struct err err = { 0 };

	ck_assert_msg(book_open(unit_path("llmc.db"), &book, &err) == 0 &&
		book_history_open(book, &err) == 0,
	    "%s", err.msg);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
}

void
unit_after(void)
{
	book_close(book);
}

static struct watched *
open_task(void)
{
	return watched_new(book, "t1", &thresholds);
}

/* The same error, in a tree that stays the same. */
static struct iteration *
stuck(const struct watched *w)
{
	struct iteration *it = iteration_new(w->count + 1);

	iteration_add_error(it, "undefined reference to add");
	it->errors_known = true;
	it->tree = xstrdup("1111111111111111111111111111111111111111");
	it->cost = 1;
	it->duration_ms = 1000;
	it->estimated_cost = 1e6;
	return it;
}

static void
judge(struct watched *w, struct iteration *it)
{
	struct progress_policy policy = { 0 };

	watched_begin(w, "auto-1", it);
	watched_judge(w, "auto-1", &policy);
}

static void
deliver_all(struct watched *w)
{
	enum detection_type type;

	while (watched_due(w, &type) != STEP_NONE) {
		struct detection d;

		behaviour_describe(w->behaviour, type, &d);
		watched_delivered(w, "auto-1", &d, false);
		detection_release(&d);
	}
}

/* Redirected after three, then a step every three. */
static void
get_stuck(struct watched *w, int count)
{
	for (int i = 0; i < count; i++) {
		judge(w, stuck(w));
		deliver_all(w);
	}
}

/* --- replay ---------------------------------------------------------- */

static bool
count_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	int *count = arg;

	(void)task;
	(void)seq;
	(void)record;
	(*count)++;
	return true;
}

static int
turns(const char *task)
{
	int count = 0;

	ck_assert_int_eq(
	    book_read_turns(book, task, 0, count_turn, &count, NULL), 0);
	return count;
}

static bool
keep_seq(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)record;
	*(int64_t *)arg = seq;
	return true;
}

static int64_t
last_seq(void)
{
	int64_t seq = 0;

	ck_assert_int_eq(
	    book_read_turns(book, "t1", 1, keep_seq, &seq, NULL), 0);
	return seq;
}

const int unit_timeout = 120; /* seconds, each */

/* What is only noted, or observed, is no intervention that could help. */
TEST(only_what_was_done_is_judged)
{
	for (int observed = 0; observed < 2; observed++) {
		struct watched *w = open_task();
		enum detection_type type = DETECTION_STUCK;
		struct detection d;

		book_delete_turns(book, "t1", INT64_MAX);
		watched_free(w);
		w = open_task();
		w->observed = observed == 1;
		for (int i = 0; i < 3; i++)
			judge(w, stuck(w));
		ck_assert_int_gt(watched_due(w, &type), STEP_LOG);
		behaviour_describe(w->behaviour, type, &d);
		watched_delivered(w, "auto-1", &d, observed == 1);
		detection_release(&d);
		ck_assert_uint_eq(w->trial_count, observed == 1 ? 0 : 1);
		watched_free(w);
		w = open_task();
		ck_assert_uint_eq(w->trial_count, observed == 1 ? 0 : 1);
		/* Nothing is paused where nothing is done. */
		w->observed = observed == 1;
		for (int i = 0; i < 30; i++) {
			judge(w, stuck(w));
			ck_assert(
			    observed == 0 || w->status != OVERSIGHT_PAUSED);
			ck_assert_int_ne(w->status, OVERSIGHT_HEALTHY);
		}
		watched_free(w);
	}
}

/* What is due is never more than what the whole history has led to. */
TEST(killed_after_any_record_it_goes_on)
{
	struct watched *w = open_task();
	int count;

	get_stuck(w, 5);
	watched_free(w);
	for (count = turns("t1"); count > 0; count--) {
		enum detection_type type = DETECTION_STUCK;
		enum progress_step due;

		book_delete_turn(book, "t1", last_seq());
		w = open_task();
		due = watched_due(w, &type);
		ck_assert_int_le(due, STEP_PAUSE);
		ck_assert(due == STEP_NONE || type == DETECTION_STUCK);
		watched_free(w);
	}
	ck_assert_int_eq(turns("t1"), 0);
}

/* One that is open has one record, whose place its judgement takes. */
TEST(an_open_iteration_is_one_record)
{
	struct watched *w = open_task();
	struct progress_policy policy = { 0 };

	watched_begin(w, "auto-1", stuck(w));
	for (int i = 0; i < 5; i++)
		watched_changed(w, "auto-1");
	ck_assert_int_eq(turns("t1"), 1);
	watched_free(w);
	w = open_task();
	ck_assert_ptr_nonnull(w->open);
	watched_changed(w, "auto-1");
	ck_assert_int_eq(turns("t1"), 1);
	watched_judge(w, "auto-1", &policy);
	ck_assert_int_eq(turns("t1"), 1);
	watched_free(w);
	w = open_task();
	ck_assert_ptr_null(w->open);
	ck_assert_int_eq(w->count, 1);
	watched_free(w);
}

TEST(the_worst_is_told_in_words)
{
	struct watched *w = open_task();
	struct detection d;

	ck_assert(!watched_worst(w, &d));
	get_stuck(w, 5);
	ck_assert(watched_worst(w, &d));
	ck_assert_int_eq(d.type, DETECTION_STUCK);
	ck_assert_str_ne(d.message, "");
	detection_release(&d);
	watched_free(w);
}

/* It is paused for it once; whoever lets it go on has seen it. */
TEST(a_pause_silences_its_kind_for_good)
{
	struct watched *w = open_task();

	for (int i = 0; i < 12; i++) {
		deliver_all(w);
		judge(w, stuck(w));
	}
	ck_assert(watched_waits(w));
	watched_free(w);
	w = open_task();
	ck_assert(watched_waits(w)); /* that was not recorded */
	deliver_all(w);
	ck_assert(!watched_waits(w));
	for (int i = 0; i < 5; i++) {
		watched_free(w);
		w = open_task();
		judge(w, stuck(w));
		ck_assert_int_le(w->due[DETECTION_STUCK], STEP_LOG);
		ck_assert_int_eq(w->status, OVERSIGHT_WARNING);
	}
	watched_free(w);
}

/* --- bounds ---------------------------------------------------------- */

TEST(a_long_history_is_read_fast_and_its_sums_are_known)
{
	struct watched *w = open_task();
	struct behaviour_metrics before, after;
	struct rusage began, ended;
	int64_t count, us;
	enum severity severity = SEVERITY_NONE;

	do {
		struct iteration *it = stuck(w);

		it->tests = w->count == 0;
		it->coverage = w->count == 0 ? 80 : 60;
		for (int i = 0; i < 20; i++) {
			cleanup_free char *name =
			    xasprintf("src/some/folder/file-%d.c", i);

			strv_add(&it->files, name);
			iteration_add_blob(it, name,
			    "2222222222222222222222222222222222222222");
		}
		judge(w, it);
	} while (w->count < 500);
	count = w->count;
	severity = behaviour_severity(w->behaviour, DETECTION_REGRESSION);
	behaviour_measure(w->behaviour, &before);
	watched_free(w);
	getrusage(RUSAGE_SELF, &began);
	w = open_task();
	getrusage(RUSAGE_SELF, &ended);
	us = (ended.ru_utime.tv_sec - began.ru_utime.tv_sec) * 1000000 +
	    ended.ru_utime.tv_usec - began.ru_utime.tv_usec;
	printf("# %lld iterations, read in %lld us\n", (long long)count,
	    (long long)us);
	ck_assert_int_eq(w->count, count);
	behaviour_measure(w->behaviour, &after);
	ck_assert_double_eq_tol(before.cost_ratio, after.cost_ratio, 1e-9);
	ck_assert_int_eq(before.elapsed_ms, after.elapsed_ms);
	ck_assert_double_eq_tol(
	    before.coverage_change, after.coverage_change, 1e-9);
	ck_assert_int_eq(
	    behaviour_severity(w->behaviour, DETECTION_REGRESSION), severity);
	watched_free(w);
}

TEST(the_files_of_a_task_are_remembered_up_to_a_bound)
{
	struct watched *w = open_task();

	for (int n = 0; n < 8; n++) {
		struct iteration *it = stuck(w);

		for (int i = 0; i < 4000; i++) {
			cleanup_free char *name = xasprintf("f-%d-%d", n, i);

			strv_add(&it->files, name);
		}
		judge(w, it);
	}
	ck_assert(watched_touched(w, "f-0-0"));
	ck_assert_uint_le(w->touched.count, 20000);
	watched_free(w);
}

static bool
is_t1(const void *arg, const char *task)
{
	(void)arg;
	return strcmp(task, "t1") == 0;
}

TEST(old_turns_go_but_not_those_of_a_task_in_progress)
{
	struct watched *w = open_task();

	get_stuck(w, 1);
	watched_free(w);
	for (int i = 2; i <= 250; i++) {
		cleanup_free char *task = xasprintf("t%d", i);
		cleanup_json struct json_object *record =
		    json_object_new_object();

		json_set_int(record, "at_ms", INT64_C(4102444800000) + i);
		book_put_turn(book, task, 1, record);
	}
	watched_prune(book, is_t1, NULL);
	ck_assert_int_gt(turns("t1"), 0);
	ck_assert_int_eq(turns("t2"), 0);
	ck_assert_int_eq(turns("t50"), 0);
	ck_assert_int_eq(turns("t51"), 1);
}
