/* SPDX-License-Identifier: ISC */

/* The file of a task that is watched, whatever happened to it. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behaviour-metrics.h"
#include "behaviour.h"
#include "buf.h"
#include "dice.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "strv.h"
#include "thresholds.h"
#include "unit.h"
#include "watched.h"
#include "workspace.h"

#define SIZE_MAX_READ ((size_t)64 * 1024 * 1024)

static struct workspace workspace;
static struct thresholds thresholds;

static void
setup(void)
{
	workspace.root = xstrdup(unit_scratch());
	workspace.dir = xasprintf("%s/.llmc", workspace.root);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
}

static void
teardown(void)
{
	free(workspace.root);
	free(workspace.dir);
}

static struct watched *
open_task(void)
{
	return watched_new(&workspace, "t1", &thresholds);
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
	struct intervene_policy policy = { 0 };

	watched_begin(w, "auto-1", it);
	watched_judge(w, "auto-1", &policy);
}

static void
deliver_all(struct watched *w)
{
	enum detection_type type;

	while (watched_due(w, &type) != INTERVENTION_NONE) {
		struct detection d;

		behaviour_describe(w->behaviour, type, &d);
		watched_delivered(w, "auto-1", &d);
		detection_release(&d);
	}
}

/* Redirected after three, paused after five. */
static void
get_stuck(struct watched *w, int count)
{
	for (int i = 0; i < count; i++) {
		judge(w, stuck(w));
		deliver_all(w);
	}
}

static void
read_file(const char *path, struct buf *out)
{
	ck_assert_int_ge(file_read(path, SIZE_MAX_READ, out, NULL), 0);
}

static void
write_file(const char *path, const char *text, size_t len)
{
	ck_assert_int_eq(file_replace(path, text, len, 0600, NULL), 0);
}

/* --- replay ---------------------------------------------------------- */

/* What is due is never more than what the whole history has led to, and what
 * the file says was delivered is not due. */
static void
check_replayed(const char *text, size_t len)
{
	struct watched *w = open_task();
	enum detection_type type = DETECTION_STUCK;
	enum intervention due = watched_due(w, &type);
	cleanup_free char *start = xstrndup(text, len);
	char *last = strrchr(start, '\n');

	ck_assert_int_le(due, INTERVENTION_PAUSE);
	ck_assert(due == INTERVENTION_NONE || type == DETECTION_STUCK);
	if (last != NULL)
		*last = '\0';
	last = last != NULL ? strrchr(start, '\n') : NULL;
	if (last != NULL && strstr(last, "\"intervention\"") != NULL)
		ck_assert_int_eq(due, INTERVENTION_NONE);
	/* It goes on, and its file with it. */
	judge(w, stuck(w));
	ck_assert_int_le(watched_due(w, &type), INTERVENTION_PAUSE);
	watched_free(w);
}

START_TEST(a_file_that_is_cut_anywhere_is_read)
{
	struct watched *w = open_task();
	cleanup_free char *path = xstrdup(w->file);
	cleanup_buf struct buf text = BUF_INIT;
	size_t step;

	get_stuck(w, 5);
	watched_free(w);
	read_file(path, &text);
	/* Each byte of the end, some of those before. */
	for (size_t len = 0; len <= text.len; len += step) {
		step = text.len - len > 700 ? 61 : 1;
		write_file(path, text.data, len);
		check_replayed(text.data, len);
	}
}
END_TEST

START_TEST(the_worst_is_told_in_words)
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
END_TEST

START_TEST(garbage_in_the_file_is_read_over)
{
	struct watched *w = open_task();
	cleanup_free char *path = xstrdup(w->file);
	cleanup_buf struct buf text = BUF_INIT;
	struct dice dice = { .state = 7 };

	get_stuck(w, 5);
	watched_free(w);
	read_file(path, &text);
	for (int i = 0; i < 300; i++) {
		cleanup_free char *bad = xstrndup(text.data, text.len);

		for (int k = 0; k < 5; k++)
			bad[dice_below(&dice, text.len)] =
			    (char)dice_below(&dice, 256);
		write_file(path, bad, text.len);
		w = open_task();
		judge(w, stuck(w));
		watched_free(w);
	}
}
END_TEST

/* A record that was written halfway is lost, the next one is not. */
START_TEST(records_after_a_torn_one_count)
{
	struct watched *w = open_task();
	cleanup_free char *path = xstrdup(w->file);
	cleanup_buf struct buf text = BUF_INIT;

	get_stuck(w, 2);
	watched_free(w);
	read_file(path, &text);
	write_file(path, text.data, text.len - 5);
	w = open_task();
	ck_assert_int_eq(w->count, 1);
	get_stuck(w, 1);
	watched_free(w);
	w = open_task();
	ck_assert_int_eq(w->count, 2);
	watched_free(w);
}
END_TEST

START_TEST(an_abort_that_was_not_done_is_due_again)
{
	struct watched *w;

	w = open_task();
	for (int i = 0; i < 3; i++) {
		struct iteration *it = iteration_new(w->count + 1);

		it->tests = i == 0;
		judge(w, it);
	}
	ck_assert_int_eq(w->due[DETECTION_REGRESSION], INTERVENTION_ABORT);
	deliver_all(w);
	ck_assert_int_eq(w->due[DETECTION_REGRESSION], INTERVENTION_NONE);
	watched_free(w);
	w = open_task();
	ck_assert_int_eq(w->due[DETECTION_REGRESSION], INTERVENTION_ABORT);
	watched_free(w);
}
END_TEST

/* It is paused for it once; whoever lets it go on has seen it. */
START_TEST(a_pause_silences_its_kind_for_good)
{
	struct watched *w = open_task();

	for (int i = 0; i < 5; i++)
		judge(w, stuck(w));
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
		ck_assert_int_le(w->due[DETECTION_STUCK], INTERVENTION_LOG);
		ck_assert_int_eq(w->status, OVERSIGHT_HEALTHY);
	}
	watched_free(w);
}
END_TEST

/* --- bounds ---------------------------------------------------------- */

/* As many as the file holds: 4 MB, and the one before. */
START_TEST(a_long_history_is_read_fast_and_its_sums_are_known)
{
	struct watched *w = open_task();
	cleanup_free char *old = xasprintf("%s.1", w->file);
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
	} while (!file_exists(old));
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
END_TEST

START_TEST(the_files_of_a_task_are_remembered_up_to_a_bound)
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
	ck_assert_uint_le(w->touched_count, 20000);
	watched_free(w);
}
END_TEST

/* What is seen counts, whether it can be written or not. */
START_TEST(a_full_disk_does_not_blind_it)
{
	struct watched *w = open_task();
	enum detection_type type = DETECTION_STUCK;

	ck_assert_int_eq(mkdir(w->file, 0700), 0);
	get_stuck(w, 2);
	judge(w, stuck(w));
	ck_assert(w->unwritten);
	ck_assert_int_eq(watched_due(w, &type), INTERVENTION_REDIRECT);
	deliver_all(w);
	get_stuck(w, 1);
	judge(w, stuck(w));
	ck_assert_int_eq(watched_due(w, &type), INTERVENTION_PAUSE);
	watched_free(w);
}
END_TEST

static bool
is_t1(const void *arg, const char *task)
{
	(void)arg;
	return strcmp(task, "t1") == 0;
}

START_TEST(old_files_go_but_not_that_of_a_task_in_progress)
{
	struct watched *w = open_task();

	get_stuck(w, 1);
	for (int i = 2; i <= 450; i++) {
		cleanup_free char *path =
		    xasprintf("%s/iterations/t%d.jsonl", workspace.dir, i);

		write_file(path, "", 0);
	}
	watched_prune(&workspace, is_t1, NULL);
	ck_assert(file_exists(w->file));
	ck_assert(!file_exists(unit_path(".llmc/iterations/t2.jsonl")));
	ck_assert(!file_exists(unit_path(".llmc/iterations/t50.jsonl")));
	ck_assert(file_exists(unit_path(".llmc/iterations/t51.jsonl")));
	watched_free(w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("watched");
	TCase *tc = tcase_create("watched");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_file_that_is_cut_anywhere_is_read);
	tcase_add_test(tc, the_worst_is_told_in_words);
	tcase_add_test(tc, garbage_in_the_file_is_read_over);
	tcase_add_test(tc, records_after_a_torn_one_count);
	tcase_add_test(tc, an_abort_that_was_not_done_is_due_again);
	tcase_add_test(tc, a_pause_silences_its_kind_for_good);
	tcase_add_test(tc, a_long_history_is_read_fast_and_its_sums_are_known);
	tcase_add_test(tc, the_files_of_a_task_are_remembered_up_to_a_bound);
	tcase_add_test(tc, a_full_disk_does_not_blind_it);
	tcase_add_test(tc, old_files_go_but_not_that_of_a_task_in_progress);
	suite_add_tcase(suite, tc);
	return suite;
}
