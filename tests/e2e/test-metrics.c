/* SPDX-License-Identifier: ISC */

/* What llmc metrics and GET /metrics say of a run, and that counters never go
 * back, whatever ends the daemon. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autorun.h"
#include "json.h"
#include "mem.h"
#include "metrics-lint.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
}

/* As they are printed now; linted. */
static const char *
metrics(void)
{
	const char *text = fleet_do("metrics", NULL)->out;

	metrics_lint(text);
	return text;
}

/* How many series there are that no model is named in. */
static size_t
series_of(const char *text)
{
	size_t count = metrics_lint(text);

	while ((text = strstr(text, "{model=")) != NULL) {
		text++;
		count--;
	}
	return count;
}

#define EXPECT(text, series, value) \
	ck_assert_double_eq(metrics_value(text, series), value)

/* No counter of a text is less in a later one. */
static void
expect_no_less(const char *before, const char *after)
{
	for (const char *at = before; *at != '\0';) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xstrndup(at, len);
		char *blank = strrchr(line, ' ');

		at += len + 1;
		if (strncmp(line, "llmc_", 5) != 0 ||
		    (strstr(line, "_total") == NULL &&
			strstr(line, "_duration_") == NULL))
			continue;
		*blank = '\0';
		ck_assert_msg(
		    metrics_value(after, line) >= strtod(blank + 1, NULL),
		    "%s was %s and is %f", line, blank + 1,
		    metrics_value(after, line));
	}
}

START_TEST(a_run_is_measured)
{
	const char *text;
	size_t series;

	auto_set("auto.concurrency", "1");
	auto_task("a.md", "fake: commit a.txt a\n");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	text = metrics();
	series = series_of(text);
	EXPECT(text, "llmc_tasks_finished_total{outcome=\"landed\"}", 1);
	EXPECT(text, "llmc_tasks_finished_total{outcome=\"failed\"}", 0);
	EXPECT(text, "llmc_task_duration_seconds_count{outcome=\"landed\"}", 1);
	EXPECT(text, "llmc_events_total{type=\"accept_success\"}", 1);
	EXPECT(text, "llmc_workers{mode=\"auto\",status=\"error\"}", 0);
	ck_assert_double_gt(
	    metrics_value(text, "llmc_heartbeat_timestamp_seconds"), 0);
	ck_assert_double_gt(
	    metrics_value(text, "process_resident_memory_bytes"), 0);
	ck_assert_double_gt(metrics_value(text, "process_open_fds"), 2);
	e2e_has(text, "llmc_tokens_total{model=");
	/* More tasks are no more series. */
	auto_task("b.md", "fake: commit b.txt b\n");
	auto_task("c.md", "fake: commit c.txt c\n");
	auto_wait_finished("landed", 3);
	text = metrics();
	ck_assert_uint_eq(series_of(text), series);
	EXPECT(text, "llmc_tasks_finished_total{outcome=\"landed\"}", 3);
	auto_drain();
}
END_TEST

START_TEST(what_goes_wrong_is_counted_by_its_reason)
{
	auto_set("auto.concurrency", "1");
	auto_set("auto.check_command", "[ ! -e a.txt ]");
	auto_set("auto.max_turns", "2");
	auto_set("auto.max_attempts", "2");
	auto_task("a.md", "fake: commit a.txt a\n");
	auto_up(NULL);
	auto_wait_finished("dead-letter", 1);
	EXPECT(
	    metrics(), "llmc_tasks_finished_total{outcome=\"dead-letter\"}", 1);
	EXPECT(
	    metrics(), "llmc_task_attempts_failed_total{reason=\"check\"}", 2);
	auto_drain();
}
END_TEST

START_TEST(counters_survive_a_kill_and_a_restart)
{
	const char *before, *between, *after;

	auto_set("auto.concurrency", "1");
	auto_task("a.md", "fake: commit a.txt a\n");
	auto_task(
	    "b.md", "fake: commit b.txt b\nfake: run %s\n", auto_gate("work"));
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_wait_gate("work");
	before = metrics();
	EXPECT(before, "llmc_tasks_finished_total{outcome=\"landed\"}", 1);
	auto_kill9_daemon();
	between = metrics(); /* from the files */
	e2e_lacks(between, "\nllmc_heartbeat");
	e2e_lacks(between, "\nprocess_");
	expect_no_less(before, between);
	auto_up(NULL);
	after = metrics();
	expect_no_less(between, after);
	auto_open_gate("work");
	auto_wait_finished("landed", 2);
	auto_drain();
	between = metrics();
	expect_no_less(after, between);
	EXPECT(between, "llmc_tasks_finished_total{outcome=\"landed\"}", 2);
	auto_up(NULL);
	after = metrics();
	expect_no_less(between, after);
	EXPECT(after, "llmc_tasks_finished_total{outcome=\"landed\"}", 2);
	auto_drain();
}
END_TEST

START_TEST(prometheus_reads_them_from_the_page)
{
	struct json_object *page;
	const char *url;
	struct e2e_run *run;

	fleet_do("config", "set", "web.enabled", "true", NULL);
	fleet_up();
	page = e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	url = json_string_or(page, "url", "");
	run = e2e_sh(fleet_root(),
	    e2e_path("curl -s -i --noproxy '*' --max-time 30 -H "
		     "\"Authorization: Bearer $(cat .llmc/web.token)\" "
		     "'%.*smetrics'",
		(int)strcspn(url, "#"), url));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "text/plain; version=0.0.4");
	metrics_lint(strstr(run->out, "\r\n\r\n") + 4);
	e2e_has(run->out, "\nllmc_loop_lag_seconds ");
	json_object_put(page);
}
END_TEST

START_TEST(a_file_is_replaced_as_a_whole)
{
	const char *file = e2e_path("%s/a folder/llmc.prom", fleet_root());
	struct json_object *json;
	struct stat st;

	e2e_expect(e2e_llmc(fleet_root(), "metrics", "more", NULL), 2, "more");
	e2e_expect(
	    e2e_llmc(fleet_root(), "metrics", "--output", NULL), 2, "--output");
	e2e_expect(e2e_llmc(fleet_root(), "metrics", "--output", "", NULL), 2,
	    "--output");
	e2e_expect(e2e_llmc(fleet_root(), "metrics", "--output", file, NULL), 1,
	    "a folder");
	e2e_expect(e2e_sh(fleet_root(), "mkdir 'a folder'"), 0, NULL);
	ck_assert_str_eq(fleet_do("metrics", "--output", file, NULL)->out, "");
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0644);
	metrics_lint(e2e_read(file));
	json = e2e_json(e2e_llmc(fleet_root(), "metrics", "--json", NULL), 0);
	metrics_lint(json_string_or(json, "text", "x"));
	json_object_put(json);
}
END_TEST

START_TEST(promtool_agrees)
{
	if (!metrics_promtool(metrics()))
		unit_skip("promtool is not installed");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("metrics");
	const TTest *const all[] = { a_run_is_measured,
		what_goes_wrong_is_counted_by_its_reason,
		counters_survive_a_kill_and_a_restart,
		prometheus_reads_them_from_the_page,
		a_file_is_replaced_as_a_whole, promtool_agrees };

	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
