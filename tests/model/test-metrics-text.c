/* SPDX-License-Identifier: ISC */

#include "metrics-lint.h"
#include "account.h"
#include "metrics.h"

static char *
text_of(const struct metrics *metrics)
{
	cleanup_buf struct buf out = BUF_INIT;

	metrics_text(metrics, &out);
	return buf_take(&out);
}

static struct metrics
some(void)
{
	struct metrics m = { .version = "1.2.3", .live = true };

	m.beat_s = 1000;
	m.lag_ms = 4;
	m.process.cpu_s = 1.5;
	return m;
}

#define EXPECT(series, value) \
	ck_assert_double_eq_tol(metrics_value(text, series), value, 1e-9)

static const char *const names[] = { "llmc_build_info", "llmc_workers",
	"llmc_tasks", "llmc_tasks_finished_total",
	"llmc_task_attempts_failed_total", "llmc_task_duration_seconds",
	"llmc_tokens_total", "llmc_cost_usd_total",
	"llmc_worker_status_seconds_total", "llmc_events_total",
	"llmc_budget_used_ratio", "llmc_limit_reset_timestamp_seconds",
	"llmc_heartbeat_timestamp_seconds", "llmc_loop_lag_seconds",
	"process_cpu_seconds_total", "process_start_time_seconds",
	"process_resident_memory_bytes", "process_virtual_memory_bytes",
	"process_open_fds", "process_max_fds" };

TEST(all_names_are_there_from_the_start)
{
	struct metrics m = some();
	cleanup_free char *text = text_of(&m);

	metrics_lint(text);
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *type = xasprintf("# TYPE %s ", names[i]);

		ck_assert_msg(strstr(text, type) != NULL, "%s", names[i]);
	}
	EXPECT("llmc_build_info{version=\"1.2.3\"}", 1);
	EXPECT("llmc_workers{mode=\"auto\",status=\"error\"}", 0);
	EXPECT("llmc_task_attempts_failed_total{reason=\"conflict\"}", 0);
	EXPECT("llmc_tasks_finished_total{outcome=\"dead-letter\"}", 0);
	EXPECT("llmc_events_total{type=\"branch_red\"}", 0);
	EXPECT("llmc_worker_status_seconds_total{status=\"idle\"}", 0);
	EXPECT("llmc_loop_lag_seconds", 0.004);
	EXPECT("llmc_heartbeat_timestamp_seconds", 1000);
}

TEST(what_is_not_known_has_no_sample)
{
	struct metrics m = { .version = "1" };
	cleanup_free char *text = text_of(&m);

	metrics_lint(text);
	ck_assert_ptr_null(strstr(text, "\nllmc_heartbeat"));
	ck_assert_ptr_null(strstr(text, "\nllmc_loop_lag"));
	ck_assert_ptr_null(strstr(text, "\nllmc_budget"));
	ck_assert_ptr_null(strstr(text, "\nllmc_limit"));
	ck_assert_ptr_null(strstr(text, "\nllmc_cost_usd"));
	ck_assert_ptr_null(strstr(text, "process_"));
}

TEST(figures_are_those_that_were_counted)
{
	struct metrics m = some();
	struct json_object *counters = NULL;
	cleanup_free char *text = NULL;
	struct usage usage = { 0 };

	usage_add(&usage, "model-a", USAGE_OUTPUT, 700);
	usage_add(&usage, "model-a", USAGE_CACHE_WRITE_5M, 20);
	usage_add(&usage, "model-a", USAGE_CACHE_WRITE_1H, 3);
	counters_tokens(&counters, &usage);
	counters_cost(&counters, &usage, NULL, COST_ESTIMATE, 1250000);
	counters_cost(&counters, &usage, NULL, COST_REPORTED, 5);
	m.cost_open = 70001;
	counters_task(&counters, "landed", 60000);
	counters_task(&counters, "landed", 60001);
	counters_task(&counters, "landed", 90000000);
	counters_attempt_failed(&counters, "a conflict with main");
	counters_event(&counters, "accept_success");
	counters_work(&counters, "working", 1500);
	m.counters = counters;
	m.uses[WORK_WORKING] = 250;
	m.workers[METRICS_HAND][WORKER_LIMITED] = 2;
	m.tasks[TASK_WAITING] = 14;
	m.limit_until_ms = 1700000000000;
	m.day_cost = 5000000;
	m.day_cost_limit = 20000000;
	text = text_of(&m);
	metrics_lint(text);
	EXPECT("llmc_cost_open_usd", 0.070001);
	EXPECT("llmc_tokens_total{model=\"model-a\",type=\"output\"}", 700);
	EXPECT(
	    "llmc_tokens_total{model=\"model-a\",type=\"cacheCreation\"}", 23);
	EXPECT("llmc_tokens_total{model=\"model-a\",type=\"input\"}", 0);
	EXPECT(
	    "llmc_cost_usd_total{model=\"model-a\",source=\"estimate\"}", 1.25);
	EXPECT("llmc_cost_usd_total{model=\"model-a\",source=\"reported\"}",
	    0.000005);
	EXPECT(
	    "llmc_task_duration_seconds_bucket{outcome=\"landed\",le=\"60\"}",
	    1);
	EXPECT("llmc_task_duration_seconds_bucket{outcome=\"landed\","
	       "le=\"300\"}",
	    2);
	EXPECT("llmc_task_duration_seconds_bucket{outcome=\"landed\","
	       "le=\"86400\"}",
	    2);
	EXPECT("llmc_task_duration_seconds_bucket{outcome=\"landed\","
	       "le=\"+Inf\"}",
	    3);
	EXPECT("llmc_task_duration_seconds_count{outcome=\"landed\"}", 3);
	EXPECT("llmc_task_duration_seconds_sum{outcome=\"landed\"}", 90120.001);
	EXPECT("llmc_tasks_finished_total{outcome=\"landed\"}", 3);
	EXPECT("llmc_task_attempts_failed_total{reason=\"conflict\"}", 1);
	EXPECT("llmc_events_total{type=\"accept_success\"}", 1);
	EXPECT("llmc_worker_status_seconds_total{status=\"working\"}", 1.75);
	EXPECT("llmc_workers{mode=\"hand\",status=\"limited\"}", 2);
	EXPECT("llmc_tasks{step=\"waiting\"}", 14);
	EXPECT("llmc_limit_reset_timestamp_seconds", 1700000000);
	EXPECT("llmc_budget_used_ratio{kind=\"day_cost\"}", 0.25);
	ck_assert_ptr_null(strstr(text, "day_tokens"));
	json_object_put(counters);
}

TEST(a_failed_attempt_is_counted_by_what_we_say_of_it)
{
	static const struct {
		const char *reason, *as;
	} rows[] = {
		{ "The check of your work failed: make exited with status 1.\n"
		  "a conflict, a timeout, a question",
		    "check" },
		{ "it ended with a question: which session?", "question" },
		{ "it refused: the rebase is a conflict", "refused" },
		{ "it left a rebase unfinished", "conflict" },
		{ "It conflicts with what has landed on main since",
		    "conflict" },
		{ "it left changes that are not committed", "uncommitted" },
		{ "it made no commit: the check_command is odd", "no_commit" },
		{ "it does not meet its contract: no session", "contract" },
		{ "timeout: the run took longer than its 5 seconds",
		    "timeout" },
		{ "no sign of life", "stall" },
		{ "too odd", "other" },
		{ NULL, "other" },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_str_eq(counters_reason(rows[i].reason), rows[i].as);
}

TEST(any_name_of_a_model_is_one_label)
{
	struct metrics m = some();
	struct json_object *counters = NULL;
	struct usage usage = { 0 };
	cleanup_free char *text = NULL;

	usage_add(&usage, "a\"} 1\nllmc_tasks 7\\", USAGE_INPUT, 1);
	counters_tokens(&counters, &usage);
	m.counters = counters;
	text = text_of(&m);
	metrics_lint(text);
	EXPECT("llmc_tokens_total{model=\"a\\\"} 1?llmc_tasks 7\\\\\","
	       "type=\"input\"}",
	    1);
	json_object_put(counters);
}

TEST(the_number_of_series_has_a_limit)
{
	struct metrics m = some();
	struct json_object *counters = NULL;
	size_t before, after;
	cleanup_free char *first = NULL, *second = NULL;

	for (int i = 0; i < 2000; i++) {
		struct usage usage = { 0 };
		cleanup_free char *model = xasprintf("model-%d", i);

		usage_add(&usage, model, USAGE_INPUT, 1);
		counters_tokens(&counters, &usage);
		counters_cost(&counters, &usage, NULL, COST_ESTIMATE, 1);
		counters_cost(&counters, &usage, NULL, COST_REPORTED, 1);
		counters_task(&counters, i % 2 ? "landed" : "failed", i * 1000);
		counters_attempt_failed(&counters, model);
		if (i == 1000) {
			m.counters = counters;
			first = text_of(&m);
		}
	}
	second = text_of(&m);
	before = metrics_lint(first);
	after = metrics_lint(second);
	ck_assert_uint_eq(before, after);
	ck_assert_double_eq(
	    metrics_value(
		second, "llmc_tokens_total{model=\"other\",type=\"input\"}"),
	    2000 - (COUNTERS_MODELS - 1));
	json_object_put(counters);
}

/* state.json may have been changed by hand. */
TEST_ROWS(wrong_counters_are_no_fault_of_the_text, 4)
{
	static const char *const wrong[] = { "[]", "{\"tasks\": 3}",
		"{\"tasks\": {\"landed\": []}, \"tokens\": {\"m\": 4}, "
		"\"cost\": {\"m\": null}, \"work_ms\": {\"idle\": \"x\"}}",
		"{\"tasks\": {\"landed\": {\"le0\": 9223372036854775807, "
		"\"le1\": 9223372036854775807, \"count\": 1, \"sum_ms\": "
		"-5}}, \"work_ms\": {\"idle\": 9223372036854775807}, "
		"\"events\": {\"task_retry\": -1}}" };
	struct metrics m = some();
	cleanup_json struct json_object *counters =
	    json_tokener_parse(wrong[_i]);
	cleanup_free char *text = NULL;

	m.counters = counters;
	m.uses[WORK_IDLE] = 1;
	text = text_of(&m);
	metrics_lint(text);
}

TEST(promtool_agrees)
{
	struct metrics m = some();
	cleanup_free char *text = text_of(&m);

	if (!metrics_promtool(text))
		unit_skip("promtool is not installed");
}

/* --- the linter ------------------------------------------------------ */

#define HEAD "# HELP a_total A.\n# TYPE a_total counter\n"
#define HIST "# HELP h H.\n# TYPE h histogram\n"

TEST(the_linter_finds_faults)
{
	static const char *const wrong[] = {
		"a_total 1\n",
		"# TYPE a_total counter\na_total 1\n",
		"# HELP a_total A.\na_total 1\n",
		HEAD "a_total 1\na_total 2\n",
		HEAD "a_total{x=\"1\"} 1\na_total{x=\"1\"} 2\n",
		HEAD "a_total{x=1} 1\n",
		HEAD "a_total{x=\"\\q\"} 1\n",
		HEAD "a_total{1x=\"1\"} 1\n",
		HEAD "a_total x\n",
		HEAD "a_total 1",
		HEAD "a_total -1\n",
		HEAD "# HELP b B.\n# TYPE b gauge\na_total 1\n",
		HEAD HEAD,
		"# HELP a A.\n# TYPE a counter\n",
		"# HELP a_total A.\n# TYPE a_total gauge\n",
		"# HELP a-b A.\n# TYPE a-b gauge\n",
		HIST "h_bucket{le=\"1\"} 1\n",
		HIST "h_bucket{o=\"x\",le=\"1\"} 2\n"
		     "h_bucket{o=\"x\",le=\"+Inf\"} 1\n",
		HIST "h_bucket{o=\"x\",le=\"1\"} 1\nh_count{o=\"x\"} 1\n",
		HIST "h_bucket{o=\"x\",le=\"+Inf\"} 1\nh_count{o=\"x\"} 2\n",
	};
	static const char *const right[] = { HEAD, HEAD "a_total 1\n",
		HEAD "a_total{x=\"\\\\ \\\" \\n\",y=\"\"} 1e3\n",
		HIST "h_bucket{o=\"x\",le=\"1\"} 1\n"
		     "h_bucket{o=\"x\",le=\"+Inf\"} 2\nh_sum{o=\"x\"} 3\n"
		     "h_count{o=\"x\"} 2\n" };

	for (size_t i = 0; i < nitems(wrong); i++) {
		cleanup_free char *fault = metrics_fault(wrong[i], NULL);

		ck_assert_msg(fault != NULL, "%s", wrong[i]);
	}
	for (size_t i = 0; i < nitems(right); i++)
		metrics_lint(right[i]);
}
