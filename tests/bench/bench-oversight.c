/* SPDX-License-Identifier: ISC */

/*
 * What the rules cost, compared with their targets: bench-oversight. 10,000
 * turns of one worker, of which errors, words and calls are taken apart. The
 * first and the last thousand show whether the cost grows with the history.
 * Time of the processor.
 *
 * And what is added to a Stop hook beyond git's own calls: the iteration made,
 * recorded, judged, decided about and recorded again, in files that are rotated
 * meanwhile; and how long the next daemon takes to read them. At last, the
 * ladder for 10,000 open tasks, and what the detectors find in the histories of
 * the tests: precision and recall.
 */
#include "base.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "histories.h"
#include "book.h"
#include "book-history.h"
#include "bench.h"
#include "behaviour.h"
#include "iteration.h"
#include "table.h"
#include "thresholds.h"
#include "watched.h"

#define TURNS  10000
#define PART   1000
#define ROUNDS 15

#define TARGET_RATE      104000
#define TARGET_STOP_US   1000
#define TASKS            10000
#define TARGET_LADDER_US 10000

static struct iteration *turns[TURNS];

static struct iteration *
make_turn(int n)
{
	struct iteration *it = iteration_new(n + 1);

	it->objective = xstrdup("Repair the login of the web service: sessions "
				"expire too early, and passwords with spaces "
				"are refused");
	it->learnings = xasprintf(
	    "Looked at the session store and found that the expiry is read "
	    "in seconds; part %d of the login code now converts it, and the "
	    "password form no longer trims spaces. Tests of the web service "
	    "were extended.",
	    n);
	for (int f = 0; f < 3; f++) {
		cleanup_free char *path =
		    xasprintf("src/login/part-%d.c", (n + f) % 40);
		cleanup_free char *blob = xasprintf("%040d", n * 3 + f);

		strv_add(&it->files, path);
		iteration_add_blob(it, path, blob);
	}
	it->files_known = true;
	strv_add(&it->scope, "src/login");
	it->completion = 100.0 * n / TURNS;
	it->tests = n % 3 != 0 ? 1 : -1;
	it->coverage = 80;
	it->max_iterations = TURNS;
	it->cost = 0.01;
	it->estimated_cost = 0.02 * TURNS;
	it->tree = xasprintf("%040d", n);
	it->errors_known = true;
	for (int c = 0; c < 8; c++)
		iteration_add_call(it,
		    &(struct iteration_call){ .action = (uint64_t)(n * 8 + c),
			.answer = (uint64_t)(n * 5 + c) });
	if (n % 3 == 0) {
		cleanup_free char *error = xasprintf(
		    "src/login/part-%d.c:%d:5: error: expected ';' before "
		    "'return' at 0x%x, case %c",
		    n % 40, n, (unsigned)n * 77, 'a' + n % 20);

		iteration_add_error(it, error);
	}
	return it;
}

static double
cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Seconds for a part of the turns. */
static double
judge(struct behaviour *b, int from, int to)
{
	double start = cpu_seconds();

	for (int i = from; i < to; i++) {
		behaviour_add(b, turns[i]);
		for (int type = 0; type < DETECTION_TYPES; type++)
			if (behaviour_severity(b, (enum detection_type)type) !=
			    SEVERITY_NONE) {
				json_object_put(behaviour_to_json(b));
				break;
			}
	}
	return cpu_seconds() - start;
}

struct result {
	double rate, first, last; /* per second */
};

static double
median(double *seconds, int count)
{
	bench_sort(seconds, ROUNDS);
	return count / (seconds[ROUNDS / 2] > 0 ? seconds[ROUNDS / 2] : 1e-6);
}

static struct result
run(const struct thresholds *thresholds)
{
	double all[ROUNDS], first[ROUNDS], last[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		cleanup_behaviour struct behaviour *b =
		    behaviour_new(thresholds);

		first[i] = judge(b, 0, PART);
		all[i] = first[i] + judge(b, PART, TURNS - PART);
		last[i] = judge(b, TURNS - PART, TURNS);
		all[i] += last[i];
	}
	return (struct result){ median(all, TURNS), median(first, PART),
		median(last, PART) };
}

static void
add_row(struct table *table, const char *what, double target,
    const struct result *result)
{
	cleanup_free char *wanted = xasprintf(">= %.0f/s", target);
	cleanup_free char *rate = xasprintf("%.0f/s", result->rate);
	cleanup_free char *first = xasprintf("%.0f/s", result->first);
	cleanup_free char *last = xasprintf("%.0f/s", result->last);

	table_row(table,
	    (const char *[]){ what, wanted, rate, first, last,
		result->rate >= target ? "reached" : "missed" });
}

/* --- the end of a turn ----------------------------------------------- */

static double
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void
deliver(struct watched *w)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] == STEP_NONE)
			continue;
		behaviour_describe(w->behaviour, (enum detection_type)i, &d);
		watched_delivered(w, "adam", &d, false);
		detection_release(&d);
	}
}

static void
end_turns(struct watched *w, double *times)
{
	const struct progress_policy policy = { 0 };

	for (int i = 0; i < TURNS; i++) {
		double start = now_us();

		watched_begin(w, "adam", make_turn(i));
		watched_judge(w, "adam", &policy);
		deliver(w);
		times[i] = now_us() - start;
	}
}

static double
p99(double *times, size_t count)
{
	bench_sort(times, count);
	return times[count * 99 / 100];
}

static void
print_stop(double all, double first, double last, double replay)
{
	cleanup_free char *total = bench_time(all, false);
	cleanup_free char *begin = bench_time(first, false);
	cleanup_free char *end = bench_time(last, false);
	cleanup_free char *read = bench_time(replay, false);

	printf(
	    "\nAdded to a Stop hook beyond git's own calls, p99: %s (target "
	    "<= 1 ms: %s);\nof the first 1000 turns %s, of the last 1000 %s; "
	    "all read again in %s.\n",
	    total, all <= TARGET_STOP_US ? "reached" : "missed", begin, end,
	    read);
}

static void
measure_stop(const struct thresholds *thresholds)
{
	static double times[TURNS], part[PART];
	char dir[] = "/tmp/bench-oversight-XXXXXX";
	cleanup_free char *file = NULL;
	struct book *book = NULL;
	struct watched *w;
	double first, last, start;

	bench_must(mkdtemp(dir) == NULL ? -1 : 0, "mkdtemp", NULL);
	file = file_join(dir, "llmc.db");
	bench_must(book_open(file, &book, NULL), "book", NULL);
	bench_must(book_history_open(book, NULL), "book", NULL);
	w = watched_new(book, "t1", thresholds);
	end_turns(w, times);
	watched_free(w);
	start = now_us();
	w = watched_new(book, "t1", thresholds);
	start = now_us() - start;
	if (w->count != TURNS)
		printf(
		    "only %lld turns were read again\n", (long long)w->count);
	watched_free(w);
	memcpy(part, times, sizeof part);
	first = p99(part, PART);
	memcpy(part, times + TURNS - PART, sizeof part);
	last = p99(part, PART);
	print_stop(p99(times, TURNS), first, last, start);
	book_close(book);
	remove_tree(dir);
}

/* The ladder for all open tasks at once: each has findings of every type. */
static void
measure_ladder(void)
{
	static struct progress open[TASKS];
	const struct progress_policy policy = { 0 };
	enum progress_step steps[DETECTION_TYPES];
	enum progress_step due[DETECTION_TYPES];
	double times[ROUNDS];
	cleanup_free char *took = NULL;

	for (int type = 0; type < DETECTION_TYPES; type++)
		steps[type] = STEP_WARN;
	for (int round = 0; round < ROUNDS; round++) {
		double start = now_us();

		for (int i = 0; i < TASKS; i++) {
			progress_next(&open[i], steps, &policy, due);
			for (int type = 0; type < DETECTION_TYPES; type++)
				if (due[type] != STEP_NONE)
					progress_delivered(&open[i],
					    (enum detection_type)type,
					    due[type]);
		}
		times[round] = now_us() - start;
	}
	bench_sort(times, ROUNDS);
	took = bench_time(times[ROUNDS / 2], false);
	printf("\nThe ladder for %d open tasks: %s (target <= 10 ms: %s).\n\n",
	    TASKS, took,
	    times[ROUNDS / 2] <= TARGET_LADDER_US ? "reached" : "missed");
}

int
main(void)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "TARGET", .right = true },
		{ .title = "MEDIAN", .right = true },
		{ .title = "FIRST 1000", .right = true },
		{ .title = "LAST 1000", .right = true }, { .title = "" } };
	struct table *table = table_new(columns, nitems(columns));
	cleanup_buf struct buf text = BUF_INIT;
	struct thresholds thresholds;
	struct result result;

	thresholds_init(&thresholds, PROFILE_DEFAULT);
	for (int i = 0; i < TURNS; i++)
		turns[i] = make_turn(i);
	result = run(&thresholds);
	add_row(table, "iterations through all rules", TARGET_RATE, &result);
	table_print(table, 0, false, &text);
	table_free(table);
	fputs(text.data, stdout);
	measure_stop(&thresholds);
	measure_ladder();
	buf_clear(&text);
	histories_table(HEALTHY_HISTORIES, SICK_HISTORIES, &text);
	fputs(text.data, stdout);
	for (int i = 0; i < TURNS; i++)
		iteration_unref(turns[i]);
	return 0;
}
