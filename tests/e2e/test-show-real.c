/* SPDX-License-Identifier: ISC */

/*
 * What shows the real Claude Code at work: llmc top in a terminal and the
 * stream of the page while four tasks land, then the report, the metrics, the
 * status and the records, which must all agree with what the stub of the API
 * was asked. In a HOME that is new.
 */
#include <math.h>

#include "asked.h"
#include "autorun.h"
#include "filed.h"
#include "metrics-lint.h"
#include "scenarios.h"
#include "toprun.h"

#define OPUS  "claude-opus-5-5"
#define TASKS 4

#define TIMEOUT_S 300

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	asked_begin();
	auto_set("defaults.model", OPUS);
	auto_set("auto.concurrency", "2");
	auto_set("daemon.patrol_interval", "200ms");
	auto_set("web.enabled", "true");
	/* The second task is sent back once. */
	auto_set("auto.check_command",
	    "test ! -e b.txt || test -e good.txt || "
	    "{ echo 'fake: commit good.txt x'; exit 1; }");
}

static void
finish(void)
{
	top_end();
	fleet_end();
}

static struct json_object *
part(struct json_object *json, const char *key)
{
	return json_object_object_get(json, key);
}

/* --- the stream ------------------------------------------------------ */

/* Read it into a file until the daemon ends it; returns the file. */
static const char *
follow(void)
{
	cleanup_json struct json_object *page =
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	const char *out = e2e_path("%s/stream", unit_scratch());

	e2e_leave_behind(
	    e2e_path("curl -s -N --noproxy '*' --max-time 300 -H "
		     "\"Authorization: Bearer $(cat '%s/.llmc/web.token')\" "
		     "http://127.0.0.1:%d/view >'%s'",
		fleet_root(), (int)json_int_or(page, "port", 0), out));
	auto_wait_shell(e2e_path("grep -q '^data: ' '%s'", out));
	return out;
}

/* What the rows of one task and of its worker have shown, one after another. */
struct seen {
	int64_t cost, tokens;
	int grown; /* how often the cost was more than before */
	bool tool, model, landed;
};

static void
see_worker(struct seen *seen, struct json_object *row)
{
	struct json_object *tokens = part(row, "tokens");
	int64_t cost = json_int_or(row, "cost_micros", 0), sum = 0;
	struct json_object_iter it;

	if (strcmp(json_string_or(row, "task", ""), "t1") != 0)
		return;
	seen->tool |= strcmp(json_string_or(row, "tool", ""), "Bash") == 0;
	seen->model |= strcmp(json_string_or(row, "model", ""), OPUS) == 0;
	if (tokens == NULL)
		return;
	json_object_object_foreachC(tokens, it) sum +=
	    json_object_get_int64(it.val);
	ck_assert_int_ge(sum, seen->tokens);
	ck_assert_int_ge(cost, seen->cost);
	seen->grown += cost > seen->cost;
	seen->tokens = sum;
	seen->cost = cost;
}

static void
see_rows(struct seen *seen, struct json_object *sections)
{
	struct json_object *workers = part(sections, "workers");
	struct json_object_iter it;

	if (workers == NULL)
		return;
	json_object_object_foreachC(workers, it) see_worker(seen, it.val);
}

/* Each message has a line of data. */
static struct seen
read_stream(const char *file)
{
	const char *text = e2e_read(file);
	struct seen seen = { 0 };

	for (const char *at = text; (at = strstr(at, "data: ")) != NULL;) {
		size_t len = strcspn(at += strlen("data: "), "\n");
		cleanup_json struct json_object *json = NULL;

		if (json_parse(at, len, SIZE_MAX, &json, NULL) < 0)
			continue; /* the last one may be cut off */
		see_rows(&seen, part(json, "view"));
		see_rows(&seen, part(part(json, "change"), "set"));
	}
	seen.landed = strstr(text, "on t1 has landed on main as") != NULL;
	return seen;
}

/* --- the figures ----------------------------------------------------- */

/* The sum of a member of the records of all tasks. */
static int64_t
filed(const char *member)
{
	cleanup_json struct json_object *list = filed_tasks(fleet_root());
	int64_t sum = 0;

	ck_assert_int_eq(json_object_array_length(list), TASKS);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		sum +=
		    json_int_or(json_object_array_get_idx(list, i), member, 0);
	return sum;
}

struct time_sum {
	int64_t ms, first_ms;
	const char *worker; /* NULL = all of them */
};

/* Of the spans that have ended, of all days. */
static struct time_sum
recorded(const char *worker)
{
	struct time_sum sum = { .worker = worker };
	struct json_object *answer = e2e_json(
	    fleet_do("--json", "doctor", "store", "sql",
		"SELECT s.worker, s.from_ms, s.to_ms FROM span s", NULL),
	    0);
	struct json_object *rows = json_object_object_get(answer, "rows");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		int64_t from =
		    json_object_get_int64(json_object_array_get_idx(row, 1));

		if (worker != NULL &&
		    strcmp(json_object_get_string(
			       json_object_array_get_idx(row, 0)),
			worker) != 0)
			continue;
		sum.ms +=
		    json_object_get_int64(json_object_array_get_idx(row, 2)) -
		    from;
		if (sum.first_ms == 0 || from < sum.first_ms)
			sum.first_ms = from;
	}
	return sum;
}

/* The sum of all series of a text that begin with this. */
static double
counted(const char *text, const char *begin)
{
	double sum = 0;

	for (const char *at = text; *at != '\0';) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xstrndup(at, len);
		char *blank = strrchr(line, ' ');

		at += len + (at[len] != '\0');
		if (blank == NULL || strncmp(line, begin, strlen(begin)) != 0)
			continue;
		*blank = '\0';
		sum += metrics_value(text, line);
	}
	return sum;
}

static int64_t
micros(double dollars)
{
	return llround(dollars * 1000000);
}

/* Each of these says what the API was asked for. */
static void
expect_money(struct json_object *report)
{
	const char *text = fleet_do("report", "metrics", NULL)->out;
	int64_t cost = asked_for(NULL).cost;

	ck_assert_int_eq(filed("cost"), cost);
	ck_assert_int_eq(asked_days(), cost);
	ck_assert_int_eq(
	    json_int_or(part(report, "money"), "total_micros", -1), cost);
	ck_assert_int_eq(
	    json_int_or(part(report, "money"), "landed_micros", -1), cost);
	ck_assert_str_eq(auto_member(auto_state(), "today.cost"),
	    e2e_path("%" PRId64, cost));
	ck_assert_int_eq(micros(counted(text, "llmc_cost_usd_total{")) +
		micros(metrics_value(text, "llmc_cost_open_usd")),
	    cost);
}

/* When all conversations have ended, all of it was reported. */
static void
expect_reported(void)
{
	const char *text = fleet_do("report", "metrics", NULL)->out;

	ck_assert_int_eq(filed("cost_estimated"), 0);
	ck_assert_int_eq(micros(metrics_value(text, "llmc_cost_open_usd")), 0);
	ck_assert_int_eq(
	    micros(metrics_value(text,
		"llmc_cost_usd_total{model=\"" OPUS "\",source=\"reported\"}")),
	    asked_of(OPUS).cost);
	ck_assert_int_eq(
	    micros(metrics_value(text,
		"llmc_cost_usd_total{model=\"" OPUS "\",source=\"estimate\"}")),
	    0);
}

/* By model and type, as every answer claims them (asked.c). */
static void
expect_tokens(void)
{
	static const struct {
		const char *type;
		int of_an_answer;
	} types[] = {
		{ "input", 1000 },
		{ "output", 200 },
		{ "cacheRead", 5000 },
		{ "cacheCreation", 3000 },
	};
	const char *text = fleet_do("report", "metrics", NULL)->out;

	for (size_t i = 0; i < nitems(types); i++)
		ck_assert_double_eq(
		    metrics_value(text,
			e2e_path("llmc_tokens_total{model=\"%s\",type=\"%s\"}",
			    OPUS, types[i].type)),
		    asked_of(OPUS).answers * types[i].of_an_answer);
	ck_assert_double_eq(counted(text, "llmc_tokens_total{"),
	    asked_for(NULL).answers * 9200.0);
	ck_assert_double_eq(counted(text, "llmc_tasks_finished_total{"), TASKS);
	ck_assert_double_eq(
	    counted(text, "llmc_task_attempts_failed_total{"), 0);
}

/* All time of each worker from its beginning is some use of it. */
static void
expect_time(struct json_object *report)
{
	struct json_object *time = part(report, "time");
	struct json_object *list = part(time, "by_worker");
	int64_t from = json_int_or(part(report, "period"), "from_ms", 0);
	int64_t to = json_int_or(part(report, "period"), "to_ms", 0), sum = 0;
	struct json_object_iter it;

	ck_assert_uint_eq(json_object_array_length(list), 2);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		int64_t own = json_int_or(row, "worker_ms", -1);
		const char *name = json_string_or(row, "worker", "");
		int64_t first = recorded(name).first_ms;

		ck_assert_int_eq(own, to - (first > from ? first : from));
		sum += own;
	}
	ck_assert_int_eq(json_int_or(time, "worker_ms", -1), sum);
	json_object_object_foreachC(part(time, "rows"), it) sum -=
	    json_object_get_int64(it.val);
	ck_assert_int_eq(sum, 0);
	/* Nobody had to be asked, and nothing was away. */
	ck_assert_str_eq(auto_member(time, "rows.person"), "0");
	ck_assert_str_eq(auto_member(time, "rows.error"), "0");
}

static struct json_object *
report_of(const char *run)
{
	return e2e_json(fleet_do("report", "--json", "--run", run, NULL), 0);
}

/* --- the run --------------------------------------------------------- */

START_TEST(what_is_shown_is_what_was_done)
{
	struct json_object *report;
	const char *stream;
	struct seen seen;

	auto_task("a.md",
	    "Task-A\nfake: run true\nfake: run %s\nfake: commit a.txt x",
	    auto_gate("work"));
	auto_task("b.md", "Task-B\nfake: commit b.txt x");
	auto_task("c.md", "Task-C\nfake: run true\nfake: commit c.txt x");
	auto_task("d.md",
	    "Task-D\nfake: agent Greet-D the user\nfake: commit d.txt x");
	auto_up(NULL);
	stream = follow();
	top_shell(120, 30);
	top_type("");
	top_wait("[live]");
	auto_wait_gate("work");
	top_wait("[Bash]");
	e2e_has(top_screen(), "Task-A");
	top_wait("$0."); /* so far */
	auto_wait_finished("landed", TASKS - 1);
	auto_open_gate("work");
	auto_wait_finished("landed", TASKS);
	top_wait("on t1 has landed on main as");
	expect_money(report_of("r1"));
	expect_tokens();
	top_keys("q");
	top_wait_end(0);
	auto_drain();

	ck_assert_int_eq(auto_landed(), TASKS);
	ck_assert_int_eq(fleet_prompts("The check of your work failed"), 1);
	ck_assert_int_eq(filed("lines_added"), TASKS + 1);
	ck_assert_int_eq(filed("lines_removed"), 0);
	seen = read_stream(stream);
	ck_assert(seen.tool);
	ck_assert(seen.model);
	ck_assert(seen.landed);
	ck_assert_int_ge(seen.grown, 2);

	report = report_of("r1");
	expect_money(report);
	expect_time(report);
	ck_assert_int_eq(
	    llround(counted(fleet_do("report", "metrics", NULL)->out,
			"llmc_worker_status_seconds_total{") *
		1000),
	    recorded(NULL).ms);
	/* A new daemon reads what the sessions said when they ended. */
	auto_up(NULL);
	auto_wait_shell(
	    "! \"$LLMC\" report metrics | grep '^llmc_cost_open_usd' | "
	    "grep -vq ' 0.000000$'");
	expect_money(report_of("r1"));
	expect_reported();
	expect_tokens();
	auto_drain();
	expect_money(report_of("r1"));
	expect_time(report_of("r1"));
}
END_TEST

Suite *
unit_suite(void)
{
	TCase *tc = tcase_create("show");
	Suite *s;

	scenarios_real();
	s = suite_create("show-real");
	unit_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, begin, finish);
	tcase_add_test(tc, what_is_shown_is_what_was_done);
	suite_add_tcase(s, tc);
	return s;
}
