/* SPDX-License-Identifier: ISC */

/* The pictures say what the report of the same rows says. */
#include "plan-world.h"

#include <time.h>

#include "charts.h"
#include "metrics.h"
#include "report.h"
#include "schema.h"
#include "view.h"
#include "json-short.h"

#define FROM INT64_C(1769846400000) /* 2026-01-31 08:00 UTC */
#define HOUR INT64_C(3600000)

static struct night {
	struct report_inputs in;
	struct work_span *spans;
	struct json_object *report, *charts;
} night;

static void
night_end(void)
{
	json_object_put(night.in.view);
	json_object_put(night.in.ended);
	json_object_put(night.in.repairs);
	json_object_put(night.in.events);
	json_object_put(night.in.asks);
	json_object_put(night.in.goals);
	json_object_put(night.report);
	for (size_t i = 0; i < night.in.span_count; i++)
		work_span_release(&night.spans[i]);
	free(night.spans);
	night = (struct night){ 0 };
}

static void
night_begin(int64_t hours)
{
	night_end();
	night.in = (struct report_inputs){
		.view = view_new(),
		.ended = json_object_new_object(),
		.repairs = json_object_new_array(),
		.events = json_object_new_array(),
		.asks = json_object_new_array(),
		.goals = json_object_new_array(),
		.charts = true,
		.from_ms = FROM,
		.to_ms = FROM + hours * HOUR,
		.now_ms = FROM + hours * HOUR,
	};
	setenv("TZ", "UTC", 1);
	tzset();
	unit_at_end(night_end);
}

static void
add_span(int worker, enum work_use use, int task, int64_t from, int64_t to)
{
	size_t count = night.in.span_count;

	if ((count & (count - 1)) == 0) /* 0, 1, 2, 4, ...: it is full */
		night.spans = xreallocarray(night.spans,
		    count > 0 ? 2 * count : 1, sizeof *night.spans);
	night.spans[night.in.span_count++] = (struct work_span){
		.worker = xasprintf("auto-%d", worker),
		.use = use,
		.task = task > 0 ? xasprintf("t%d", task) : NULL,
		.attempt = 1,
		.from_ms = from,
		.to_ms = to,
	};
}

static void
add_task(int task, const char *outcome, int64_t at, int64_t cost)
{
	cleanup_free char *id = xasprintf("t%d", task);
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", id);
	json_set_string(row, "title", "Fix the pars\303\251r");
	json_set_string(row, "outcome", outcome);
	json_set_string(row, "worker", "auto-1");
	json_set_string(row, "reason", "the check failed");
	json_set_int(row, "attempts", 1);
	json_set_int(row, "turns", 2);
	json_set_int(row, "finished_ms", at);
	json_set(
	    row, "cost_micros", cost >= 0 ? json_object_new_int64(cost) : NULL);
	json_set_string(row, "cost_source", cost >= 0 ? "reported" : "unknown");
	json_set(night.in.ended, id, row);
}

static struct json_object *
part(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

static void
make(void)
{
	struct err err = { 0 };

	night.in.spans = night.spans;
	json_object_put(night.report);
	night.report = report_make(&night.in);
	night.charts = part(night.report, "charts");
	ck_assert_msg(schema_check(&report_shape, night.report, "", &err) == 0,
	    "%s", err.msg);
	ck_assert_msg(schema_check(&charts_shape, night.charts, "", &err) == 0,
	    "%s", err.msg);
}

static int64_t
number(struct json_object *list, size_t i)
{
	return json_object_get_int64(json_object_array_get_idx(list, i));
}

static int64_t
sum_of(struct json_object *list)
{
	int64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++)
		sum += number(list, i);
	return sum;
}

/* All spans of all workers, by class; ordered, without overlaps. */
static void
sum_spans(int64_t *sums, size_t *ret_count)
{
	struct json_object *workers = part(night.charts, "workers");

	*ret_count = 0;
	JSON_EACH (item, workers) {
		struct json_object *list = part(item, "spans");
		int64_t end = 0;

		JSON_EACH (span, list) {
			ck_assert_int_ge(number(span, 0), end);
			ck_assert_int_gt(number(span, 1), number(span, 0));
			end = number(span, 1);
			ck_assert_int_le(
			    end, night.in.to_ms - night.in.from_ms);
			sums[number(span, 2)] += end - number(span, 0);
			++*ret_count;
		}
	}
}

static const char *const rows_of[CHART_CLASS_COUNT][4] = {
	[CHART_WORKING] = { "working_landed", "working_failed", "working_open",
	    "conflict" },
	[CHART_LANDING] = { "landing" },
	[CHART_WAITING] = { "waiting", "person", "paused" },
	[CHART_LIMITED] = { "limited", "outage" },
	[CHART_IDLE] = { "idle", "idle_queue", "offline" },
	[CHART_ERROR] = { "error" },
	[CHART_DOWN] = { "daemon_down" },
};

TEST(pictures_add_up_to_the_report_of_the_same_rows)
{
	static const char *const outcomes[] = { "landed", "no_changes",
		"failed", "aborted", "dead-letter" };
	unsigned seed = 7;

	for (int trial = 0; trial < unit_times(200); trial++) {
		int64_t sums[CHART_CLASS_COUNT] = { 0 }, area = 0, tasks = 0;
		int64_t by_worker = 0;
		struct json_object *time, *money, *queue, *counts, *list;
		size_t count;

		night_begin(1 + rand_r(&seed) % 30);
		for (int w = 1; w <= 4; w++) {
			int64_t at = FROM - HOUR + rand_r(&seed) % HOUR;

			while (at < night.in.to_ms + HOUR / 2) {
				int64_t to = at + 1 + rand_r(&seed) % HOUR;

				add_span(w,
				    (enum work_use)(
					rand_r(&seed) % WORK_USE_COUNT),
				    rand_r(&seed) % 12, at, to);
				/* Gaps, and what was recorded twice. */
				at = to +
				    (rand_r(&seed) % 4 == 0 ?
					    rand_r(&seed) % 900000 - 300000 :
					    0);
			}
		}
		for (int i = 1; i < 12; i++)
			add_task(i,
			    outcomes[(size_t)rand_r(&seed) % nitems(outcomes)],
			    FROM - HOUR / 2 +
				rand_r(&seed) % (night.in.to_ms - FROM + HOUR),
			    rand_r(&seed) % 5000000 - 500000);
		make();
		time = part(part(night.report, "time"), "rows");
		sum_spans(sums, &count);
		ck_assert_int_eq(json_int_or(night.charts, "binned_ms", -1), 0);
		for (int c = 0; c < CHART_CLASS_COUNT; c++) {
			int64_t want = 0;

			for (int i = 0; i < 4 && rows_of[c][i] != NULL; i++)
				want += json_int_or(time, rows_of[c][i], 0);
			ck_assert_int_eq(sums[c], want);
			ck_assert_int_eq(
			    json_int_or(
				json_object_array_get_idx(
				    part(night.charts, "classes"), (size_t)c),
				"ms", -1),
			    want);
		}
		list = part(night.charts, "workers");
		JSON_EACH (row, list)
			by_worker += sum_of(part(row, "class_ms"));
		ck_assert_int_eq(by_worker,
		    json_int_or(part(night.report, "time"), "worker_ms", -1));
		counts = part(night.report, "counts");
		ck_assert_int_eq(sum_of(part(night.charts, "landed")),
		    json_int_or(counts, "landed", -1) +
			json_int_or(counts, "no_changes", -1));
		ck_assert_int_eq(sum_of(part(night.charts, "not_landed")),
		    json_int_or(counts, "failed", -1) +
			json_int_or(counts, "aborted", -1) +
			json_int_or(counts, "dead_letter", -1));
		money = part(night.charts, "money");
		ck_assert_int_eq(sum_of(part(money, "steps")) +
			json_int_or(money, "earlier_micros", -1),
		    json_int_or(money, "tasks_micros", -1));
		ck_assert_int_ge(json_int_or(money, "earlier_micros", -1), 0);
		list = part(money, "tasks");
		JSON_EACH (item, list)
			tasks += json_int_or(item, "cost_micros", 0);
		ck_assert_int_eq(tasks + json_int_or(money, "more_micros", -1),
		    json_int_or(money, "tasks_micros", -1));
		money = part(night.report, "money");
		ck_assert_int_eq(tasks,
		    json_int_or(money, "landed_micros", -1) +
			json_int_or(money, "not_landed_micros", -1) +
			json_int_or(money, "open_micros", -1));
		/* The area below the queue is the time of landing. */
		queue = part(night.charts, "queue");
		for (size_t i = 0; i < json_object_array_length(queue); i++) {
			struct json_object *at =
			    json_object_array_get_idx(queue, i);
			int64_t to = i + 1 < json_object_array_length(queue) ?
			    number(json_object_array_get_idx(queue, i + 1), 0) :
			    night.in.to_ms - FROM;

			area += number(at, 1) * (to - number(at, 0));
		}
		ck_assert_int_eq(area, json_int_or(time, "landing", -1));
	}
}

TEST(a_hundred_workers_in_a_day_stay_small_and_quick)
{
	int64_t sums[CHART_CLASS_COUNT] = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct timespec from, to;
	size_t count;
	double ms;

	night_begin(24);
	for (int w = 1; w <= 100; w++)
		for (int i = 0; i < 300; i++)
			add_span(w,
			    (enum work_use)((i * 7 + w) % WORK_USE_COUNT),
			    1 + i % 500, FROM + i * HOUR * 2 / 25,
			    FROM + (i + 1) * HOUR * 2 / 25);
	for (int i = 1; i <= 500; i++)
		add_task(i, i % 9 == 0 ? "failed" : "landed",
		    FROM + i * HOUR / 21, 400000 + i);
	clock_gettime(CLOCK_MONOTONIC, &from);
	make();
	clock_gettime(CLOCK_MONOTONIC, &to);
	sum_spans(sums, &count);
	ck_assert_uint_le(count, CHARTS_SPANS_MAX);
	ck_assert_int_gt(json_int_or(night.charts, "binned_ms", 0), 0);
	ck_assert_uint_le(json_object_array_length(part(night.charts, "queue")),
	    2 * CHARTS_POINTS_MAX + 2);
	json_print(night.charts, false, &text);
	ck_assert_uint_lt(text.len, 800 * 1024);
	ms = (double)(to.tv_sec - from.tv_sec) * 1e3 +
	    (double)(to.tv_nsec - from.tv_nsec) / 1e6;
	printf("# 30,000 spans: %.0f ms, %zu spans drawn, %zu bytes\n", ms,
	    count, text.len);
}

TEST(marks_are_asks_and_failures_of_the_period)
{
	static const struct {
		const char *kind, *worker, *text;
	} want[] = {
		{ "ask", "auto-1", "question: Which one?" },
		{ "retry", "auto-2", "t7 will be tried again" },
		{ "failed", "auto-1", "t3: failed: the check failed" },
		{ "failure", NULL, "crash: it was killed" },
	};
	struct json_object *marks;

	night_begin(8);
	for (int i = 0; i < 2; i++) { /* the second one is too early */
		cleanup_free char *ask = xasprintf(
		    "{\"created_ms\": %lld, \"kind\": \"question\", "
		    "\"title\": \"Which\\none?\", \"worker\": \"auto-1\"}",
		    (long long)(FROM + 1000 - i * HOUR));

		json_object_array_add(night.in.asks, json_tokener_parse(ask));
	}
	json_object_array_add(night.in.asks, /* nobody was asked */
	    json_tokener_parse("{\"created_ms\": 1769846401500, "
			       "\"kind\": \"told\", \"worker\": \"auto-1\", "
			       "\"title\": \"a fresh session\"}"));
	json_object_array_add(night.in.events,
	    json_tokener_parse(
		"{\"at_ms\": 1769846402000, \"type\": \"task_retry\", "
		"\"worker\": \"auto-2\", \"task\": \"t7\", "
		"\"words\": \"t7 will be tried again\"}"));
	add_task(3, "failed", FROM + 3000, 1);
	add_task(4, "landed", FROM + 3500, 1);
	json_object_array_add(night.in.repairs,
	    json_tokener_parse(
		"{\"at_ms\": 1769846404000, \"kind\": \"crash\", "
		"\"words\": \"it was killed\", \"took_ms\": 1, "
		"\"class\": null, \"outcome\": null, "
		"\"cost_micros\": null}"));
	make();
	marks = part(night.charts, "marks");
	ck_assert_uint_eq(json_object_array_length(marks), nitems(want));
	for (size_t i = 0; i < nitems(want); i++) {
		struct json_object *mark = json_object_array_get_idx(marks, i);

		ck_assert_str_eq(
		    json_string_or(mark, "kind", ""), want[i].kind);
		ck_assert_pstr_eq(
		    json_string_or(mark, "worker", NULL), want[i].worker);
		ck_assert_str_eq(
		    json_string_or(mark, "text", ""), want[i].text);
		ck_assert_int_eq(
		    json_int_or(mark, "at", -1), 1000 * ((int)i + 1));
	}
	/* Of one worker. */
	night.in.worker = "auto-2";
	make();
	ck_assert_uint_eq(
	    json_object_array_length(part(night.charts, "marks")), 1);
}

static void
add_goal(void)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "T1.2 T1.1", "T1.3 T1.1", "T1.4 T1.2 T1.3", "T1.5");

	xstrset(&plan_find(plan, "T1.2")->estimated_effort, "large");
	json_object_array_add(night.in.goals, charts_goal(plan));
	plan_free(plan);
}

TEST(a_goal_has_its_tree_and_its_critical_path)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *goal, *nodes;

	night_begin(8);
	add_goal();
	make();
	goal = json_object_array_get_idx(part(night.charts, "goals"), 0);
	nodes = part(goal, "nodes");
	JSON_EACH (node, nodes)
		if (json_bool_or(node, "critical", false))
			buf_addf(&path, "%s@%d ",
			    json_string_or(node, "id", ""),
			    (int)json_int_or(node, "start", -1));
	ck_assert_str_eq(path.data, "T1.1@0 T1.2@12 T1.4@36 ");
	ck_assert_int_eq(json_int_or(goal, "critical_effort", 0), 48);
	ck_assert_int_eq(json_int_or(goal, "effort", 0), 72);
	ck_assert_uint_eq(json_object_array_length(nodes), 6);
}

/* In every way that a terminal can be. */
TEST(text_fits_into_the_width_and_says_what_the_report_says)
{
	static const char *const words[] = { "Time of 2 workers",
		"working 5h (31.2 %)", "landing 1h (6.2 %)",
		"idle or offline 10h (62.5 %)",
		"Tasks that ended, per hour: 1 with a result, 1 without",
		"Cost of tasks, per hour: $3.00", "Today: $4.00 of $20.00",
		"Landing queue: at most 1 worker", "a person was asked: 1",
		"a task ended without a result: 1",
		"critical path (*): 48 of 72 estimated turns" };

	night_begin(8);
	add_goal();
	add_span(1, WORK_WORKING, 1, FROM, FROM + 4 * HOUR);
	add_span(1, WORK_LANDING, 1, FROM + 4 * HOUR, FROM + 5 * HOUR);
	add_span(1, WORK_IDLE, 0, FROM + 5 * HOUR, FROM + 8 * HOUR);
	add_span(2, WORK_WORKING, 2, FROM, FROM + HOUR);
	add_span(2, WORK_IDLE, 0, FROM + HOUR, FROM + 8 * HOUR);
	add_task(1, "landed", FROM + 5 * HOUR, 2000000);
	add_task(2, "failed", FROM + HOUR, 1000000);
	json_set_int(view_of(night.in.view, "budget"), "cost_micros", 4000000);
	json_set_int(
	    view_of(night.in.view, "budget"), "day_cost_micros", 20000000);
	json_object_array_add(night.in.asks,
	    json_tokener_parse("{\"created_ms\": 1769850000000, \"kind\": "
			       "\"question\", \"title\": \"Which?\", "
			       "\"worker\": \"auto-2\"}"));
	make();
	for (int way = 0; way < 8; way++) {
		const struct charts_look look = {
			.width = way & 4 ? 60 : 80,
			.colours = (way & 1) != 0,
			.utf8 = (way & 2) != 0,
		};
		cleanup_buf struct buf text = BUF_INIT, plain = BUF_INIT;

		charts_print(night.charts, &look, &text);
		for (size_t i = 0; i < text.len; i++) {
			if (text.data[i] == '\033') {
				ck_assert(look.colours);
				i += strcspn(text.data + i, "m");
				continue;
			}
			ck_assert(
			    look.utf8 || (unsigned char)text.data[i] < 0x80);
			buf_addc(&plain, text.data[i]);
		}
		for (const char *line = plain.data; *line != '\0';) {
			size_t len = strcspn(line, "\n");

			ck_assert_int_le(text_width(line, len), look.width);
			ck_assert(len == 0 || line[len - 1] != ' ');
			line += len + 1;
		}
		for (size_t i = 0; i < nitems(words) && look.width == 80; i++)
			ck_assert_msg(strstr(plain.data, words[i]) != NULL,
			    "%s is missing in\n%s", words[i], plain.data);
	}
}
