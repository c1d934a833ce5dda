/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "report.h"

#define T 1000 /* where most periods begin */

static struct json_object *
sums_of(const struct work_span *spans, size_t count, int64_t from, int64_t to,
    const char *workers, const char *ended)
{
	cleanup_json struct json_object *all = json_tokener_parse(ended);
	cleanup_json struct json_object *now = json_tokener_parse(workers);
	cleanup_json struct json_object *worked = NULL;
	struct report_time_in in = {
		.spans = spans,
		.count = count,
		.from_ms = from,
		.to_ms = to,
		.ended = all,
		.workers = now,
	};

	return report_time(&in, &worked);
}

static int64_t
row(struct json_object *sums, const char *use)
{
	return json_int_or(json_object_object_get(sums, "rows"), use, -1);
}

static int64_t
total(struct json_object *sums)
{
	int64_t sum = 0;

	json_object_object_foreach(
	    json_object_object_get(sums, "rows"), use, ms)
	{
		(void)use;
		sum += json_object_get_int64(ms);
	}
	ck_assert_int_eq(sum, json_int_or(sums, "worker_ms", -1));
	return sum;
}

#define SPAN(name, what, from, to)                                            \
	{                                                                     \
		.worker = (char[]){ name }, .use = (what), .from_ms = (from), \
		.to_ms = (to)                                                 \
	}
#define WORK(name, id, try, from, to)                                        \
	{                                                                    \
		.worker = (char[]){ name }, .use = WORK_WORKING,             \
		.task = (char[]){ id }, .attempt = (try), .from_ms = (from), \
		.to_ms = (to)                                                \
	}

TEST(rows_add_up_to_workers_times_wall)
{
	const struct work_span spans[] = {
		SPAN("a", WORK_IDLE, T - 50, T + 40),
		SPAN("a", WORK_LIMITED, T + 40, T + 200),
		SPAN("b", WORK_PAUSED, T - 50, T + 200),
	};
	cleanup_json struct json_object *sums =
	    sums_of(spans, nitems(spans), T, T + 100, "{}", "{}");

	ck_assert_int_eq(total(sums), 2 * 100);
	ck_assert_int_eq(row(sums, "idle"), 40);
	ck_assert_int_eq(row(sums, "limited"), 60);
	ck_assert_int_eq(row(sums, "paused"), 100);
}

TEST(a_gap_in_which_nobody_did_anything_is_daemon_down)
{
	const struct work_span spans[] = {
		SPAN("a", WORK_IDLE, T, T + 40),
		SPAN("a", WORK_IDLE, T + 70, T + 80),
		SPAN("b", WORK_IDLE, T, T + 40),
		SPAN("b", WORK_IDLE, T + 70, T + 80),
	};
	cleanup_json struct json_object *sums = sums_of(
	    spans, nitems(spans), T, T + 100, "{\"a\": {}, \"b\": {}}", "{}");

	ck_assert_int_eq(total(sums), 200);
	ck_assert_int_eq(row(sums, "daemon_down"), 2 * (30 + 20));
}

TEST(a_worker_that_did_not_exist_has_no_time)
{
	const struct work_span spans[] = {
		SPAN("a", WORK_IDLE, T, T + 100),
		SPAN("late", WORK_IDLE, T + 60, T + 100),
		SPAN("gone", WORK_IDLE, T, T + 30),
		SPAN("twice", WORK_IDLE, T, T + 10),
		SPAN("twice", WORK_IDLE, T + 90, T + 100),
	};
	cleanup_json struct json_object *sums =
	    sums_of(spans, nitems(spans), T, T + 100, "{\"a\": {}}", "{}");

	ck_assert_int_eq(total(sums), 100 + 40 + 30 + 20);
	ck_assert_int_eq(row(sums, "daemon_down"), 0);
}

TEST(a_worker_from_before_the_period_exists_when_it_begins)
{
	const struct work_span spans[] = {
		SPAN("a", WORK_IDLE, T - 90, T - 50),
		SPAN("a", WORK_IDLE, T + 60, T + 100),
	};
	cleanup_json struct json_object *sums =
	    sums_of(spans, nitems(spans), T, T + 100, "{\"a\": {}}", "{}");

	ck_assert_int_eq(total(sums), 100);
	ck_assert_int_eq(row(sums, "daemon_down"), 60);
}

TEST(of_spans_that_overlap_the_one_that_ends_first_counts)
{
	const struct work_span spans[] = {
		SPAN("a", WORK_IDLE, T, T + 100), /* the one that goes on */
		SPAN("a", WORK_IDLE_QUEUE, T + 20, T + 50),
		SPAN("a", WORK_LIMITED, T + 40, T + 60),
	};
	cleanup_json struct json_object *sums =
	    sums_of(spans, nitems(spans), T, T + 100, "{\"a\": {}}", "{}");

	ck_assert_int_eq(total(sums), 100);
	ck_assert_int_eq(row(sums, "idle_queue"), 30);
	ck_assert_int_eq(row(sums, "limited"), 10);
	ck_assert_int_eq(row(sums, "idle"), 60);
}

TEST(work_counts_by_what_became_of_it)
{
	static const char ended[] =
	    "{\"t1\": {\"outcome\": \"landed\", \"attempts\": 2},"
	    " \"t2\": {\"outcome\": \"dead-letter\", \"attempts\": 1},"
	    " \"t3\": {\"outcome\": \"no_changes\", \"attempts\": 1}}";
	const struct work_span spans[] = {
		WORK("a", "t1", 1, T, T + 1),
		WORK("a", "t1", 2, T + 1, T + 11),
		WORK("a", "t2", 1, T + 11, T + 31),
		WORK("a", "t3", 1, T + 31, T + 71),
		WORK("a", "t4", 1, T + 71, T + 80),
		SPAN("a", WORK_WORKING, T + 80, T + 100),
	};
	cleanup_json struct json_object *sums =
	    sums_of(spans, nitems(spans), T, T + 100, "{}", ended);

	ck_assert_int_eq(total(sums), 100);
	ck_assert_int_eq(row(sums, "working_failed"), 1 + 20);
	ck_assert_int_eq(row(sums, "working_landed"), 10 + 40);
	ck_assert_int_eq(row(sums, "working_open"), 9 + 20);
}

/* --- against a slow and simple way ----------------------------------- */

#define WORKERS 4
#define SPANS   24
#define FROM    20
#define TO      120
#define END     140

static char *const names[WORKERS] = { (char[]){ "a" }, (char[]){ "b" },
	(char[]){ "c" }, (char[]){ "d" } };

/* The span that has this moment: of those that cover it, the one that ends
 * first; of these, any with the same use. */
static const struct work_span *
at(const struct work_span *spans, size_t count, const char *worker, int64_t ms)
{
	const struct work_span *best = NULL;

	for (size_t i = 0; i < count; i++)
		if ((worker == NULL || strcmp(spans[i].worker, worker) == 0) &&
		    spans[i].from_ms <= ms && ms < spans[i].to_ms &&
		    (best == NULL || spans[i].to_ms < best->to_ms))
			best = &spans[i];
	return best;
}

static void
bounds(const struct work_span *spans, size_t count, const char *worker,
    int64_t *ret_first, int64_t *ret_last)
{
	*ret_first = END + 1;
	*ret_last = -1;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(spans[i].worker, worker) != 0)
			continue;
		if (spans[i].from_ms < *ret_first)
			*ret_first = spans[i].from_ms;
		if (spans[i].to_ms > *ret_last)
			*ret_last = spans[i].to_ms;
	}
}

static void
compare(const struct work_span *spans, size_t count, bool exists)
{
	cleanup_json struct json_object *sums = sums_of(spans, count, FROM, TO,
	    exists ? "{\"a\": {}, \"c\": {}}" : "{}", "{}");
	int64_t limited = 0, down = 0, all = 0;

	for (int w = 0; w < WORKERS; w++) {
		int64_t first, last;

		bounds(spans, count, names[w], &first, &last);
		if (last >= 0 && exists && w % 2 == 0)
			last = END;
		for (int64_t ms = FROM; ms < TO; ms++) {
			const struct work_span *span =
			    at(spans, count, names[w], ms);

			limited += span != NULL && span->use == WORK_LIMITED;
			if (span == NULL && (ms < first || ms >= last))
				continue;
			if (span == NULL && at(spans, count, NULL, ms) != NULL)
				continue;
			down += span == NULL;
			all++;
		}
	}
	ck_assert_int_eq(total(sums), all);
	ck_assert_int_eq(row(sums, "daemon_down"), down);
	ck_assert_int_eq(row(sums, "limited"), limited);
}

TEST(random_spans_with_overlaps_gaps_and_kills_add_up)
{
	unsigned seed = 7;

	for (int trial = 0; trial < unit_times(5000); trial++) {
		struct work_span spans[SPANS];
		size_t count = (size_t)rand_r(&seed) % (SPANS + 1);

		for (size_t i = 0; i < count; i++) {
			int64_t from = rand_r(&seed) % END;
			int64_t len = 1 + rand_r(&seed) % 40;
			int64_t to = from + len < END ? from + len : END;

			/* Ends differ, so that one of them ends first. */
			for (size_t k = 0; k < i; k++)
				if (spans[k].to_ms == to && to > from + 1) {
					to--;
					k = (size_t)-1;
				}
			spans[i] = (struct work_span){
				.worker = names[rand_r(&seed) % WORKERS],
				.use = rand_r(&seed) % 2 == 0 ? WORK_LIMITED :
								WORK_IDLE,
				.from_ms = from,
				.to_ms = to,
			};
			for (size_t k = 0; k < i; k++)
				if (spans[k].to_ms == to)
					spans[i].use = spans[k].use;
		}
		compare(spans, count, trial % 2 == 0);
	}
}
