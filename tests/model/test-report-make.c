/* SPDX-License-Identifier: ISC */

/* Reports, and the text and the page that are made of them. */
#include "unit.h"

#include <time.h>

#include "metrics.h"
#include "report.h"
#include "schema.h"
#include "view.h"

#define FROM INT64_C(1769846400000) /* 2026-01-31 08:00 UTC */
#define HOUR INT64_C(3600000)

static struct scene {
	struct json_object *view, *ended, *repairs, *events;
	struct work_span *spans;
	size_t span_count;
	bool goes_on;
} scene;

static void
scene_end(void)
{
	json_object_put(scene.view);
	json_object_put(scene.ended);
	json_object_put(scene.repairs);
	json_object_put(scene.events);
}

static void
scene_begin(void)
{
	scene_end();
	scene = (struct scene){
		.view = view_new(),
		.ended = json_object_new_object(),
		.repairs = json_object_new_array(),
		.events = json_object_new_array(),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	unit_at_end(scene_end);
}

static struct json_object *
scene_report(void)
{
	const struct report_inputs in = {
		.view = scene.view,
		.ended = scene.ended,
		.repairs = scene.repairs,
		.events = scene.events,
		.spans = scene.spans,
		.span_count = scene.span_count,
		.run = "r1",
		.charts = true,
		.goes_on = scene.goes_on,
		.from_ms = FROM,
		.to_ms = FROM + 8 * HOUR,
		.now_ms = FROM + 9 * HOUR,
		.until_ms = FROM + 9 * HOUR,
	};
	struct json_object *report = report_make(&in);
	struct err err = { 0 };

	ck_assert_msg(
	    schema_check(&report_shape, report, "", &err) == 0, "%s", err.msg);
	return report;
}

static struct json_object *
add_repair(int64_t at_ms)
{
	struct json_object *row = json_object_new_object();

	json_set_int(row, "at_ms", at_ms);
	json_set_string(row, "kind", "failure");
	json_set_string(row, "class", NULL);
	json_set_string(row, "outcome", NULL);
	json_set_string(row, "words", "the daemon died");
	json_set_int(row, "took_ms", 0);
	json_set(row, "cost_micros", NULL);
	json_object_array_add(scene.repairs, row);
	return row;
}

/* cost < 0: not known. */
static struct json_object *
add_task(const char *id, const char *outcome, int64_t at_ms, int64_t cost,
    const char *source)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", id);
	json_set_string(row, "title", "Fix the parser");
	json_set_string(row, "outcome", outcome);
	json_set_string(row, "step", "settling");
	json_set_int(row, "attempts", 1);
	json_set_int(row, "turns", 2);
	json_set_int(row, "finished_ms", at_ms);
	json_set_int(row, "finished_unix", at_ms / 1000);
	json_set_int(row, "wall_ms", 90000);
	json_set(
	    row, "cost_micros", cost >= 0 ? json_object_new_int64(cost) : NULL);
	json_set_string(row, "cost_source", source);
	json_set(scene.ended, id, row);
	return row;
}

static int64_t
number(struct json_object *report, const char *part, const char *key)
{
	return json_int_or(json_object_object_get(report, part), key, -1);
}

static const char *
verdict(struct json_object *report, const char *key)
{
	return json_string_or(
	    json_object_object_get(report, "verdict"), key, "");
}

/* --- sums ------------------------------------------------------------ */

TEST(sums_equal_the_records_of_the_period)
{
	static const char *const outcomes[] = { "landed", "no_changes",
		"failed", "aborted", "dead-letter" };
	unsigned seed = 3;

	for (int trial = 0; trial < unit_times(500); trial++) {
		int64_t counts[nitems(outcomes)] = { 0 };
		int64_t total = 0, lost = 0, estimated = 0, unknown = 0;
		cleanup_json struct json_object *report = NULL;

		scene_begin();
		for (int i = 0; i < 30; i++) {
			cleanup_free char *id = xasprintf("t%d", i);
			size_t kind = (size_t)rand_r(&seed) % nitems(outcomes);
			int64_t at = FROM - HOUR + rand_r(&seed) % (10 * HOUR);
			int64_t cost = rand_r(&seed) % 5000000 - 500000;
			bool guess = rand_r(&seed) % 2 == 0;

			add_task(id, outcomes[kind], at, cost,
			    cost < 0  ? "unknown" :
				guess ? "estimate" :
					"reported");
			if (at < FROM || at > FROM + 8 * HOUR)
				continue;
			counts[kind]++;
			unknown += cost < 0;
			total += cost > 0 ? cost : 0;
			lost += cost > 0 && kind > 1 ? cost : 0;
			estimated += cost > 0 && guess ? cost : 0;
		}
		report = scene_report();
		ck_assert_int_eq(number(report, "counts", "landed"), counts[0]);
		ck_assert_int_eq(
		    number(report, "counts", "no_changes"), counts[1]);
		ck_assert_int_eq(number(report, "counts", "failed"), counts[2]);
		ck_assert_int_eq(
		    number(report, "counts", "aborted"), counts[3]);
		ck_assert_int_eq(
		    number(report, "counts", "dead_letter"), counts[4]);
		ck_assert_int_eq(
		    number(report, "money", "total_micros"), total);
		ck_assert_int_eq(
		    number(report, "money", "not_landed_micros"), lost);
		ck_assert_int_eq(
		    number(report, "money", "estimated_micros"), estimated);
		ck_assert_int_eq(number(report, "money", "unknown"), unknown);
	}
}

TEST_IN(scene_begin, a_long_list_is_cut_and_sums_are_of_all)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf text = BUF_INIT, html = BUF_INIT;
	struct json_object *landed;

	for (int i = 0; i < 10000; i++) {
		cleanup_free char *id = xasprintf("t%d", i);

		add_task(id, "landed", FROM + i, 1000000, "reported");
	}
	report = scene_report();
	ck_assert_int_eq(number(report, "counts", "landed"), 10000);
	ck_assert_int_eq(
	    number(report, "money", "landed_micros"), INT64_C(10000000000));
	landed = json_object_object_get(report, "landed");
	ck_assert_uint_eq(json_object_array_length(landed), REPORT_ROWS_MAX);
	ck_assert_int_eq(
	    number(report, "left_off", "landed"), 10000 - REPORT_ROWS_MAX);
	/* The last ones stay. */
	ck_assert_str_eq(json_string_or(json_object_array_get_idx(
					    landed, REPORT_ROWS_MAX - 1),
			     "id", ""),
	    "t9999");
	report_print(report, 0, false, &text);
	ck_assert_ptr_nonnull(strstr(text.data,
	    "\nLanded (10000)\n  100 of them; more: llmc report --json\n"));
	ck_assert_ptr_nonnull(strstr(text.data, "\n  t9999 "));
	ck_assert_ptr_null(strstr(text.data, "\n  t9899 "));
	report_html(report, &html);
	ck_assert_ptr_nonnull(strstr(html.data, "Landed (10000)"));
	ck_assert_ptr_nonnull(strstr(html.data, "The last 500:"));
}

TEST_IN(scene_begin, a_task_in_progress_again_has_not_ended)
{
	cleanup_json struct json_object *report = NULL;
	struct json_object *row;

	scene.goes_on = true;
	add_task("t1", "failed", FROM + HOUR, 5, "reported");
	row = json_tokener_parse("{\"id\": \"t1\", \"step\": \"assigned\", "
				 "\"attempts\": 1, \"turns\": 0, "
				 "\"cost_micros\": 70, "
				 "\"cost_source\": \"reported\"}");
	json_set_int(row, "assigned_unix", FROM / 1000);
	json_set(view_of(scene.view, "tasks"), "t1", row);
	report = scene_report();
	ck_assert_int_eq(number(report, "counts", "failed"), 0);
	ck_assert_int_eq(number(report, "counts", "open"), 1);
	ck_assert_int_eq(number(report, "money", "open_micros"), 70);
	ck_assert_int_eq(number(report, "money", "total_micros"), 70);
}

/* A parked task has no attempt any more, and the most expensive one is often
 * such a task. */
TEST_IN(scene_begin, the_money_of_the_day_is_the_sum_of_the_rows)
{
	static const char *const rows[] = { "landed_micros",
		"not_landed_micros", "open_micros", "hand_micros",
		"planner_micros", "repairs_micros", "elsewhere_micros" };
	cleanup_json struct json_object *report = NULL;
	struct json_object *row, *list = json_object_new_array();
	int64_t sum = 0;

	add_task("t1", "landed", FROM + HOUR, 30001, "reported");
	add_task("t2", "failed", FROM + HOUR, 7, "reported");
	row = json_tokener_parse("{\"id\": \"t3\", \"step\": \"parked\", "
				 "\"attempts\": 0, \"turns\": 2, "
				 "\"cost_micros\": 7610000, "
				 "\"cost_source\": \"reported\"}");
	json_set_int(row, "assigned_unix", FROM / 1000 + 60);
	json_set(view_of(scene.view, "tasks"), "t3", row);
	row = json_tokener_parse(
	    "{\"cost_source\": \"reported\", \"cost_micros\": 7640129, "
	    "\"tasks_micros\": 7640009, \"hand_micros\": 20, "
	    "\"planner_micros\": 40, \"repairs_micros\": 60}");
	json_set_int(row, "day", FROM / (24 * HOUR));
	json_object_array_add(list, row);
	json_set(view_of(scene.view, "budget"), "days", list);
	report = scene_report();
	ck_assert_int_eq(number(report, "money", "open_micros"), 7610000);
	ck_assert_int_eq(number(report, "money", "total_micros"), 7640128);
	ck_assert_int_eq(number(report, "money", "elsewhere_micros"), 1);
	for (size_t i = 0; i < nitems(rows); i++)
		sum += number(report, "money", rows[i]);
	ck_assert_int_eq(sum, 7640129);
}

/* --- the verdict ----------------------------------------------------- */

static const struct {
	const char *outcomes[3];
	const char *level, *words;
} verdicts[] = {
	{ { "landed", "landed" }, "good",
	    "All 2 tasks that ended succeeded, for $0.002." },
	{ { "landed", "no_changes", "failed" }, "mixed",
	    "2 of 3 tasks that ended succeeded (1 without a change), for "
	    "$0.003." },
	{ { "failed", "dead-letter" }, "bad",
	    "Nothing landed: none of the 2 tasks that ended succeeded, for "
	    "$0.002." },
	{ { "failed" }, "bad",
	    "Nothing landed: the one task that ended did not succeed, for "
	    "$0.001." },
	{ { NULL }, "nothing", "Nothing was worked on." },
};

TEST_ROWS(a_verdict_says_how_it_went, nitems(verdicts))
{
	cleanup_json struct json_object *report = NULL;

	scene_begin();
	for (int i = 0; i < 3 && verdicts[_i].outcomes[i] != NULL; i++) {
		cleanup_free char *id = xasprintf("t%d", i);

		add_task(id, verdicts[_i].outcomes[i], FROM + HOUR, 1000,
		    "reported");
	}
	report = scene_report();
	ck_assert_str_eq(verdict(report, "level"), verdicts[_i].level);
	ck_assert_str_eq(verdict(report, "words"), verdicts[_i].words);
}

/* Nights in which little was done: why. */
static const struct {
	enum work_use use;
	const char *level, *words;
} nights[] = {
	{ WORK_IDLE, "good", "The one task that ended succeeded, for $0.001." },
	{ WORK_OUTAGE, "mixed",
	    "The one task that ended succeeded, for $0.001; the service was "
	    "away for 100 % of the workers' time." },
	{ WORK_LIMITED, "mixed",
	    "The one task that ended succeeded, for $0.001; usage limits took "
	    "100 % of the workers' time." },
	{ WORK_PAUSED, "mixed",
	    "The one task that ended succeeded, for $0.001; workers were "
	    "paused for 100 % of the workers' time." },
	{ WORK_ERROR, "mixed",
	    "The one task that ended succeeded, for $0.001; workers were in "
	    "error for 100 % of the workers' time." },
	{ WORK_IDLE_QUEUE, "mixed",
	    "The one task that ended succeeded, for $0.001; tasks waited while "
	    "workers were idle for 100 % of the workers' time." },
};

TEST_ROWS(a_verdict_says_what_took_the_time, nitems(nights))
{
	const struct work_span span = { .worker = (char[]){ "a" },
		.use = nights[_i].use,
		.from_ms = FROM,
		.to_ms = FROM + 8 * HOUR };
	cleanup_json struct json_object *report = NULL;
	struct work_span spans[] = { span };

	scene_begin();
	scene.spans = spans;
	scene.span_count = 1;
	add_task("t1", "landed", FROM + HOUR, 1000, "reported");
	report = scene_report();
	ck_assert_str_eq(verdict(report, "level"), nights[_i].level);
	ck_assert_str_eq(verdict(report, "words"), nights[_i].words);
}

TEST(a_failure_of_another_time_is_not_told)
{
	static const struct {
		int64_t at_ms;
		bool told;
	} rows[] = { { FROM - HOUR, false }, { FROM + HOUR, true },
		{ FROM + 8 * HOUR + 5000, true }, { FROM + 20 * HOUR, false } };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *report = NULL;
		struct json_object *failure = json_object_new_object();

		scene_begin();
		json_set_string(failure, "words", "disk full");
		json_set_int(failure, "at_unix", rows[i].at_ms / 1000);
		json_set(view_of(scene.view, "head"), "failure", failure);
		report = scene_report();
		ck_assert(rows[i].told ==
		    (strstr(verdict(report, "words"), "disk full") != NULL));
	}
}

TEST_IN(scene_begin, an_empty_night_is_told_in_a_few_lines)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	report = scene_report();
	report_print(report, 0, false, &out);
	ck_assert_str_eq(out.data,
	    "Report of run r1, 2026-01-31 08:00:00 to 2026-01-31 16:00:00 "
	    "(8h)\nNothing was worked on.\n\nNothing needs you.\n\n"
	    "Landing: nothing waits to land.\n");
}

TEST_IN(scene_begin, the_landing_queue_and_its_flaky_check_are_told)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf text = BUF_INIT, html = BUF_INIT;
	static const char words[] =
	    "1 waits to land; its check has contradicted itself on 3 of 50 "
	    "trees, which is too often: make it reliable; the branch itself "
	    "fails its check.";
	struct json_object *head;

	head = view_of(scene.view, "head");
	json_set(head, "check",
	    json_tokener_parse("{\"command\": \"make check\", \"trees\": 50, "
			       "\"flaky_trees\": 3, \"flaky_alarm\": true}"));
	json_set_bool(head, "red", true);
	json_set(view_of(scene.view, "landing"), "1", json_object_new_object());
	report = scene_report();
	report_print(report, 0, false, &text);
	report_html(report, &html);
	ck_assert_ptr_nonnull(strstr(text.data, words));
	ck_assert_ptr_nonnull(strstr(html.data, words));
}

TEST(a_night_without_its_daemon_is_not_called_good)
{
	struct work_span spans[] = {
		{ .worker = (char[]){ "a" },
		    .use = WORK_IDLE,
		    .from_ms = FROM,
		    .to_ms = FROM + 2 * HOUR },
	};
	cleanup_json struct json_object *report = NULL;

	scene_begin();
	scene.spans = spans;
	scene.span_count = nitems(spans);
	json_set(view_of(scene.view, "workers"), "a", json_object_new_object());
	json_set(view_of(scene.view, "head"), "failure",
	    json_tokener_parse("{\"words\": \"disk full\"}"));
	add_task("t1", "landed", FROM + HOUR, -1, "unknown");
	report = scene_report();
	ck_assert_int_eq(number(report, "time", "worker_ms"), 8 * HOUR);
	ck_assert_str_eq(verdict(report, "level"), "bad");
	ck_assert_str_eq(verdict(report, "words"),
	    "The one task that ended succeeded; the cost of 1 task is not "
	    "known; the daemon was down for 75 % of the workers' time; llmc "
	    "itself failed: disk full.");
}

/* --- text and page --------------------------------------------------- */

#define EVIL                                                             \
	"<script>alert(\"1\")</script> it's & \033[31mred\r\u202e \x01 " \
	"<img src=http://example.invalid onerror=x>"

static struct work_span filled[] = {
	{ .worker = (char[]){ "auto-1" },
	    .use = WORK_WORKING,
	    .task = (char[]){ "t1" },
	    .attempt = 1,
	    .from_ms = FROM,
	    .to_ms = FROM + 6 * HOUR },
	{ .worker = (char[]){ "auto-1" },
	    .use = WORK_LIMITED,
	    .from_ms = FROM + 6 * HOUR,
	    .to_ms = FROM + 8 * HOUR },
};

static void
fill(const char *text)
{
	struct json_object *row, *list;

	scene_begin();
	scene.spans = filled;
	scene.span_count = nitems(filled);
	row = add_task("t1", "landed", FROM + 6 * HOUR, 1020000, "estimate");
	json_set_string(row, "title", text);
	json_set_string(row, "commit", "9995c6d0123456789");
	json_set_int(row, "lines_added", 12);
	json_set_int(row, "lines_removed", 3);
	row = add_task("t2", "dead-letter", FROM + 7 * HOUR, -1, "unknown");
	json_set_string(row, "title", text);
	json_set_string(row, "reason", text);
	json_set_string(row, "last_words", text);
	row = json_object_new_object();
	json_set_string(row, "what", "dead-letter");
	json_set_string(row, "who", "t2");
	json_set_string(row, "words", text);
	json_set_string(row, "command", "llmc task show t2");
	json_set_bool(row, "unfinished", true);
	json_set_string(row, "level", "warning");
	json_set(view_of(scene.view, "needs"), "h-t2", row);
	json_set_string(view_of(scene.view, "head"), "project", text);
	json_set_string(add_repair(FROM + HOUR), "words", text);
	row = json_object_new_object();
	json_set_int(row, "at_ms", FROM + HOUR);
	json_set_string(row, "type", REPORT_EVENT_OVERSIGHT);
	json_set_string(row, "worker", NULL);
	json_set_string(row, "task", NULL);
	json_set_string(row, "result", NULL);
	json_set_string(row, "class", "stuck");
	json_set_string(row, "action", "pause");
	json_set_string(row, "words", text);
	json_object_array_add(scene.events, row);
	row = json_object_new_object();
	json_set_int(row, "at_ms", FROM + HOUR);
	json_set_string(row, "type", REPORT_EVENT_CHECK);
	json_set_string(row, "result", "passed");
	json_object_array_add(scene.events, row);
	list = json_object_new_array();
	json_object_array_add(list,
	    json_tokener_parse("{\"day\": 20484, \"cost_micros\": 1020000, "
			       "\"cost_source\": \"estimate\", "
			       "\"tasks_micros\": 1020000, \"hand_micros\": "
			       "0, \"planner_micros\": 0, "
			       "\"repairs_micros\": 0}"));
	json_set(view_of(scene.view, "budget"), "days", list);
}

/* It was killed, so that its last sign of life ends the run. */
TEST(the_failure_that_ended_a_run_is_of_it)
{
	struct json_object *report;

	scene_begin();
	add_repair(FROM - 1);
	add_repair(FROM + 8 * HOUR + 5000);
	add_repair(FROM + 9 * HOUR); /* of the next run */
	report = scene_report();
	ck_assert_uint_eq(json_length(json_member(report, "repairs")), 1);
	json_object_put(report);
}

static const char golden[] =
    "Report of run r1, 2026-01-31 08:00:00 to 2026-01-31 16:00:00 (8h)\n"
    "1 of 2 tasks that ended succeeded, for $1.02 (estimated); the cost of "
    "1 task is not known; usage limits took 25 % of the workers' time; 1 "
    "thing needs you.\n"
    "\n"
    "Needs you (1)\n"
    "  t2  Fix it  llmc task show t2\n"
    "\n"
    "Landed (1)\n"
    "  TASK  COMMIT           COST   WALL  WORKED  TRIES   LINES  TITLE\n"
    "  t1    9995c6d01  $1.02 est.  1m30s      6h      1  +12 -3  Fix it\n"
    "\n"
    "Not landed (1)\n"
    "  t2  dead-letter, ?, 1 attempt: Fix it\n"
    "      why: Fix it\n"
    "      it said: Fix it\n"
    "\n"
    "Money\n"
    "  all of this report           $1.02\n"
    "  for each that landed         $1.02\n"
    "  on what landed               $1.02\n"
    "  spent without landing        $0.00\n"
    "  on what has not ended        $0.00\n"
    "  of all that, estimated       $1.02\n"
    "  not known                    ? (1 task)\n"
    "\n"
    "Time of 1 worker\n"
    "  working: with a result  6h   75.0 %\n"
    "  usage limit             2h   25.0 %\n"
    "  all                     8h  100.0 %\n"
    "\n"
    "Landing: nothing waits to land; checks: 1 passed.\n"
    "\n"
    "Failures and repairs of llmc (1)\n"
    "  2026-01-31 09:00:00  failure, Fix it\n"
    "\n"
    "Oversight (1)\n"
    "  1 detection, 1 intervention\n"
    "  2026-01-31 09:00:00  Fix it\n"
    "\n"
    "Costs marked est. are tokens times the prices of the settings; Claude "
    "Code reports its own figure when a session ends.\n"
    "A cost of ? is not known and not in the sums: a model without a price, "
    "an agent that recorded no tokens, or another host of a fleet: its own "
    "report has it.\n"
    "A task counts with all that it cost, in the report of the period in "
    "which it ended.\n";

TEST(the_text_is_for_people)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	fill("Fix it");
	report = scene_report();
	report_print(report, 0, false, &out);
	ck_assert_str_eq(out.data, golden);
}

/* No control character, none that changes the direction. */
static void
expect_harmless(const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		ck_assert_msg((unsigned char)*c >= ' ' || *c == '\n',
		    "a control character: %.40s", c);
	ck_assert_ptr_null(strstr(text, "\u202e"));
}

TEST(the_text_keeps_escapes_of_others_from_the_terminal)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf out = BUF_INIT;

	fill(EVIL);
	report = scene_report();
	report_print(report, 0, false, &out);
	expect_harmless(out.data);
	ck_assert_ptr_nonnull(strstr(out.data, "\\x1b[31mred"));
}

static void
expect_none(const char *html, const char *part)
{
	const char *found = strstr(html, part);

	ck_assert_msg(found == NULL, "%s: %.60s", part, found);
}

TEST(the_page_escapes_every_text)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf html = BUF_INIT;

	fill(EVIL);
	report = scene_report();
	report_html(report, &html);
	expect_harmless(html.data);
	expect_none(html.data, "<script");
	expect_none(html.data, "<img");
	expect_none(html.data, "alert(\"1");
	expect_none(html.data, "it's");
	ck_assert_ptr_nonnull(strstr(html.data,
	    "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; it&#39;s "
	    "&amp; \\x1b[31mred"));
}

TEST(the_page_needs_nothing_from_elsewhere)
{
	static const char *const parts[] = { "http:", "https:", "//",
		"src=", "href", "url(h", "@import", "<script", "onload",
		"javascript:" };
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf html = BUF_INIT;

	fill("Fix it");
	report = scene_report();
	report_html(report, &html);
	for (size_t i = 0; i < nitems(parts); i++)
		expect_none(html.data, parts[i]);
	ck_assert_ptr_nonnull(strstr(html.data, "default-src 'none'"));
	ck_assert_ptr_nonnull(strstr(html.data, "prefers-color-scheme:dark"));
	ck_assert_ptr_nonnull(strstr(html.data, "@media print"));
	ck_assert_ptr_nonnull(strstr(html.data, "Tasks that ended, per "));
	ck_assert_ptr_nonnull(strstr(html.data, "Cost per day"));
	ck_assert_ptr_nonnull(strstr(html.data, "What the workers"));
	ck_assert_ptr_nonnull(strstr(html.data, "llmc task show t2"));
}
