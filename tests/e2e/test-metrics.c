/* SPDX-License-Identifier: ISC */

/* What llmc report metrics and GET /metrics say of a run, and that counters
 * never go back, whatever ends the daemon. */
#include "autorun.h"
#include "metrics-lint.h"

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

/* As they are printed now; linted. */
static const char *
metrics(void)
{
	const char *text = fleet_do("report", "metrics", NULL)->out;

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

const int unit_timeout = 120; /* seconds, each */

TEST(a_run_is_measured)
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
	ck_assert_ptr_nonnull(strstr(text, "llmc_tokens_total{model="));
	/* More tasks are no more series. */
	auto_task("b.md", "fake: commit b.txt b\n");
	auto_task("c.md", "fake: commit c.txt c\n");
	auto_wait_finished("landed", 3);
	text = metrics();
	ck_assert_uint_eq(series_of(text), series);
	EXPECT(text, "llmc_tasks_finished_total{outcome=\"landed\"}", 3);
	auto_drain();
}

TEST(what_goes_wrong_is_counted_by_its_reason)
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

TEST(counters_survive_a_kill_and_a_restart)
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
	kill(fleet_daemon_pid(), SIGSTOP); /* it hangs */
	EXPECT(metrics(), "llmc_workers{mode=\"auto\",status=\"working\"}", 1);
	e2e_has(fleet_do("top", NULL)->out, "autod does not answer");
	auto_kill9_daemon();
	between = metrics(); /* from the files */
	EXPECT(between, "llmc_workers{mode=\"auto\",status=\"working\"}", 0);
	EXPECT(between, "llmc_workers{mode=\"auto\",status=\"offline\"}", 1);
	ck_assert_ptr_nonnull(strstr(between, "\nllmc_heartbeat"));
	ck_assert_ptr_null(strstr(between, "\nprocess_"));
	expect_no_less(before, between);
	auto_up(NULL);
	after = metrics();
	expect_no_less(between, after);
	auto_open_gate("work");
	auto_wait_finished("landed", 2);
	auto_drain();
	between = metrics();
	expect_no_less(after, between);
	/* It was stopped: no alert. */
	ck_assert_ptr_null(strstr(between, "\nllmc_heartbeat"));
	EXPECT(between, "llmc_tasks_finished_total{outcome=\"landed\"}", 2);
	auto_up(NULL);
	after = metrics();
	expect_no_less(between, after);
	EXPECT(after, "llmc_tasks_finished_total{outcome=\"landed\"}", 2);
	auto_drain();
}

TEST(prometheus_reads_them_from_the_page)
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
	ck_assert_ptr_nonnull(strstr(run->out, "text/plain; version=0.0.4"));
	metrics_lint(strstr(run->out, "\r\n\r\n") + 4);
	ck_assert_ptr_nonnull(strstr(run->out, "\nllmc_loop_lag_seconds "));
	json_object_put(page);
}

TEST(a_file_is_replaced_as_a_whole)
{
	const char *file = e2e_path("%s/a folder/llmc.prom", fleet_root());
	struct json_object *json;
	struct stat st;

	e2e_expect(e2e_llmc(fleet_root(), "report", "metrics", "more", NULL), 2,
	    "more");
	e2e_expect(
	    e2e_llmc(fleet_root(), "report", "metrics", "--output", NULL), 2,
	    "--output");
	e2e_expect(
	    e2e_llmc(fleet_root(), "report", "metrics", "--output", "", NULL),
	    2, "--output");
	e2e_expect(
	    e2e_llmc(fleet_root(), "report", "metrics", "--output", file, NULL),
	    1, "a folder");
	e2e_expect(e2e_sh(fleet_root(), "mkdir 'a folder'"), 0, NULL);
	ck_assert_str_eq(
	    fleet_do("report", "metrics", "--output", file, NULL)->out, "");
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0644);
	metrics_lint(e2e_read(file));
	json = e2e_json(
	    e2e_llmc(fleet_root(), "report", "metrics", "--json", NULL), 0);
	metrics_lint(json_string_or(json, "text", "x"));
	json_object_put(json);
}

/* --- the dashboard and the alerts ------------------------------------ */

/* The whole text is too long for a message. */
static void
expect_in(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no %s in metrics", part);
}

/* The metrics that an expression names exist, and so do the values of their
 * labels, as far as these are a list that is known. */
static void
check_names(const char *expr, const char *text)
{
	const char *at = expr;

	while ((at = strpbrk(at, "lp")) != NULL) {
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		cleanup_free char *name = xstrndup(at, len);

		at += len;
		if (strncmp(name, "llmc_", 5) != 0 &&
		    strncmp(name, "process_", 8) != 0)
			continue;
		if (len > 7 && strcmp(name + len - 7, "_bucket") == 0)
			name[len - 7] = '\0';
		expect_in(text, e2e_path("# TYPE %s ", name));
	}
}

static void
check_values(const char *expr, const char *text)
{
	static const char *const labels[] = { "status", "mode", "step",
		"outcome", "type", "kind", "reason" };

	for (size_t i = 0; i < nitems(labels); i++)
		for (const char *at = expr;
		     (at = strstr(at, e2e_path("%s=", labels[i]))) != NULL;) {
			cleanup_free char *values = NULL;

			at = strchr(at, '"') + 1;
			values = xstrndup(at, strcspn(at, "\""));
			for (char *v = values, *next; v != NULL; v = next) {
				next = strchr(v, '|');
				if (next != NULL)
					*next++ = '\0';
				expect_in(
				    text, e2e_path("%s=\"%s\"", labels[i], v));
			}
		}
}

static int
check_expr(const char *expr, const char *text)
{
	check_names(expr, text);
	check_values(expr, text);
	return 1;
}

/* Every "expr" and "query" in it. */
static int
check_json(struct json_object *json, const char *text)
{
	int count = 0;

	if (json_object_is_type(json, json_type_array))
		for (size_t i = 0; i < json_object_array_length(json); i++)
			count += check_json(
			    json_object_array_get_idx(json, i), text);
	if (json_object_is_type(json, json_type_object)) {
		json_object_object_foreach(json, key, value)
		{
			if (strcmp(key, "expr") == 0)
				count += check_expr(
				    json_object_get_string(value), text);
			else
				count += check_json(value, text);
		}
	}
	return count;
}

TEST(the_dashboard_shows_what_there_is)
{
	cleanup_json struct json_object *json = NULL;
	const char *text;

	fleet_up();
	text = metrics();
	ck_assert_int_eq(json_load(e2e_source("contrib/grafana/llmc.json"),
			     1 << 20, &json, NULL),
	    0);
	ck_assert_int_ge(check_json(json, text), 12);
}

TEST(the_alerts_ask_for_what_there_is)
{
	const char *file = e2e_source("contrib/prometheus/llmc-alerts.yml");
	const char *rules = e2e_read(file), *text;

	fleet_up();
	text = metrics();
	check_expr(strstr(rules, "groups:"), text);
	e2e_lacks(rules, "\t");
	/* Each alert has all that it needs. */
	for (const char *at = rules; (at = strstr(at, "- alert: ")) != NULL;) {
		static const char *const parts[] = { "expr: ", "labels:",
			"severity: ", "annotations:", "summary: ",
			"description: " };
		const char *end = strstr(++at, "- alert: ");
		cleanup_free char *rule = end != NULL ?
		    xstrndup(at, (size_t)(end - at)) :
		    xstrdup(at);

		for (size_t i = 0; i < nitems(parts); i++)
			e2e_has(rule, parts[i]);
	}
}

TEST(promtool_agrees)
{
	if (!metrics_promtool(metrics()))
		unit_skip("promtool is not installed");
	e2e_expect(e2e_sh(NULL,
		       e2e_path("promtool check rules '%s'",
			   e2e_source("contrib/prometheus/llmc-alerts.yml"))),
	    0, NULL);
}
