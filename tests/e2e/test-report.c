/* SPDX-License-Identifier: ISC */

/* llmc report, of runs that landed, failed and were killed: against the records
 * that it is made of. */
#include "autorun.h"
#include "filed.h"
#include "json-short.h"

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

static struct json_object *
part(struct json_object *json, const char *key)
{
	return json_object_object_get(json, key);
}

/* The report with these arguments; every sum in it holds. */
static struct json_object *
report_of(const char *option, const char *value)
{
	struct json_object *report =
	    e2e_json(e2e_llmc(fleet_root(), "report", "--charts", "--json",
			 option, value, NULL),
		0);
	struct json_object *time = part(report, "time");
	struct json_object *classes = part(part(report, "charts"), "classes");
	int64_t sum = 0, workers = 0, drawn = 0;

	json_object_object_foreach(part(time, "rows"), use, ms)
	{
		(void)use;
		sum += json_object_get_int64(ms);
	}
	ck_assert_int_eq(sum, json_int_or(time, "worker_ms", -1));
	JSON_EACH (row, part(time, "by_worker")) {
		int64_t own = json_int_or(row, "worker_ms", -1);

		ck_assert_int_le(own, json_int_or(time, "wall_ms", -1));
		workers += own;
	}
	ck_assert_int_eq(sum, workers);
	JSON_EACH (item, classes)
		drawn += json_int_or(item, "ms", 0);
	ck_assert_int_eq(sum, drawn);
	return report;
}

static void
expect_number(struct json_object *report, const char *path, const char *number)
{
	ck_assert_str_eq(auto_member(report, path), number);
}

/* What the ended tasks with this outcome cost. */
static const char *
filed_cost(const char *outcome)
{
	cleanup_json struct json_object *list = filed_tasks(fleet_root());
	int64_t cost = 0;

	JSON_EACH (record, list)
		if (strcmp(json_string_or(record, "outcome", ""), outcome) == 0)
			cost += json_int_or(record, "cost", 0);
	return e2e_path("%" PRId64, cost);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_report_adds_up_to_the_records)
{
	struct json_object *report;

	auto_set("auto.max_attempts", "2");
	auto_set("auto.max_turns", "2");
	auto_set("auto.check_command", "test ! -e bad.txt");
	auto_task("a.md", "Land this\nfake: commit a.txt a\n");
	auto_task("b.md",
	    "<script>alert(1)</script>\nfake: commit b.txt b\nfake: run %s\n",
	    auto_gate("work"));
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_wait_gate("work");
	auto_kill9_daemon();
	report = report_of(NULL, NULL); /* without a daemon */
	expect_number(report, "period.run", "r1");
	expect_number(report, "period.goes_on", "false");
	expect_number(report, "counts.landed", "1");
	expect_number(report, "counts.open", "1");
	auto_up(NULL);
	auto_open_gate("work");
	auto_wait_finished("landed", 2);
	auto_task("c.md", "Never works\nfake: commit bad.txt x\n");
	auto_wait_finished("dead-letter", 1);
	report = report_of(NULL, NULL); /* with one */
	expect_number(report, "period.run", "r2");
	expect_number(report, "period.goes_on", "true");
	/* A night is one report, however often the daemon is started. */
	expect_number(report, "period.first_run", "r1");
	expect_number(report, "counts.landed", "2");
	expect_number(report, "counts.dead_letter", "1");
	auto_drain();

	report = report_of("--since", "1d");
	expect_number(report, "period.run", "");
	expect_number(report, "counts.landed", "2");
	expect_number(report, "counts.dead_letter", "1");
	expect_number(report, "verdict.level", "mixed");
	expect_number(report, "money.landed_micros", filed_cost("landed"));
	expect_number(
	    report, "money.not_landed_micros", filed_cost("dead-letter"));
	expect_number(report, "not_landed.0.title", "Never works");
	ck_assert_str_ne(auto_member(report, "landed.0.commit"), "");
	ck_assert_str_ne(auto_member(report, "time.rows.daemon_down"), "0");
	expect_number(report_of("--run", "r1"), "counts.landed", "1");
	expect_number(report_of("--run", "r2"), "counts.dead_letter", "1");
	expect_number(report_of("--run", "r2"), "period.goes_on", "false");
	e2e_json_error(
	    e2e_llmc(fleet_root(), "report", "--json", "--run", "r9", NULL), 1,
	    "unknown_run", "llmc report --run r2");
}

static int64_t
amount(struct json_object *report, const char *path)
{
	return strtoll(auto_member(report, path), NULL, 10);
}

/* Landed, failed, parked and by hand: what the day cost, to the millionth. */
TEST(the_money_of_the_day_is_that_of_the_rows)
{
	struct json_object *report;

	auto_set("budget.task_turns", "1");
	auto_task("a.md",
	    "Park it\nfake: commit a.txt x\nfake: ask Which colour should I "
	    "take?");
	auto_task("b.md", "Land it\nfake: commit b.txt x");
	auto_task("c.md", "Look\nfake: say It is fine as it is.");
	auto_up(NULL);
	fleet_add("adam");
	fleet_start("adam", "fake: run true\nfake: commit e.txt x");
	fleet_wait("adam", "needs_review");
	auto_wait_finished("landed", 1);
	auto_wait_finished("no_changes", 1);
	fleet_wait("auto-1", "idle");
	auto_wait_event("budget", "1 turn used of 1 turn");
	auto_drain();
	report = report_of(NULL, NULL);
	expect_number(report, "open.0.step", "parked");
	expect_number(report, "needs.0.who", "t1");
	ck_assert_int_gt(amount(report, "money.open_micros"), 0);
	ck_assert_int_gt(amount(report, "money.landed_micros"), 0);
	ck_assert_int_gt(amount(report, "money.hand_micros"), 0);
	expect_number(report, "money.elsewhere_micros", "0");
	ck_assert_int_eq(amount(report, "money.total_micros"),
	    amount(report, "money.landed_micros") +
		amount(report, "money.not_landed_micros") +
		amount(report, "money.open_micros") +
		amount(report, "money.hand_micros"));
	if (auto_member(report, "money.days.1")[0] == '\0') /* midnight */
		ck_assert_int_eq(amount(report, "money.total_micros"),
		    amount(report, "money.days.0.cost_micros"));
	e2e_has(fleet_do("report", NULL)->out, "Landed, or needed no change");
}

/* The last thing of a night: no daemon has booked it. */
TEST(a_repair_is_in_the_money_of_the_day)
{
	struct json_object *report;

	auto_task("a.md", "Land it\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	e2e_write(e2e_path("%s/.llmc/failures.jsonl", fleet_root()),
	    e2e_path("{\"kind\":\"remedy\",\"at_ms\":%" PRId64
		     ",\"run_ms\":0,\"took_ms\":5,\"outcome\":\"gave "
		     "up\",\"cost_micros\":120001}\n",
		clock_wall_ms()));
	report = report_of("--since", "1d");
	expect_number(report, "money.repairs_micros", "120001");
	expect_number(report, "money.elsewhere_micros", "0");
	ck_assert_int_eq(amount(report, "money.total_micros"),
	    amount(report, "money.landed_micros") + 120001);
	e2e_has(fleet_do("report", "--since", "1d", NULL)->out,
	    "on repairs of llmc           $0.12");
}

TEST(a_report_is_a_page_too)
{
	const char *page = e2e_path("%s/the report.html", fleet_root());
	const struct e2e_run *run;

	auto_task("a.md", "<script>alert(1)</script>\nfake: commit a.txt a\n");
	auto_run("--until-empty", NULL);
	run = e2e_llmc(fleet_root(), "report", "--html", page, NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "the report.html");
	e2e_has(e2e_read(page), "&lt;script&gt;alert(1)");
	e2e_lacks(e2e_read(page), "<script");
	run = e2e_llmc(fleet_root(), "report", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Report of run r1");
	e2e_has(run->out, "The one task that ended succeeded");
	e2e_has(run->out, "Time of 1 worker");
}

TEST(a_report_of_what_never_was_says_so)
{
	e2e_json_error(
	    e2e_llmc(fleet_root(), "report", "--json", "--run", "r9", NULL), 1,
	    "unknown_run", "there is no run r9");
	e2e_expect(e2e_llmc(fleet_root(), "report", "--since", "noon", NULL), 2,
	    "expected an age such as 12h");
	e2e_expect(
	    e2e_llmc(fleet_root(), "report", "--since", "2999-01-01", NULL), 2,
	    "not in the future");
	e2e_expect(e2e_llmc(fleet_root(), "report", "--since", "1d", "--run",
		       "r1", NULL),
	    2, "give one of them");
	e2e_expect(
	    e2e_llmc(fleet_root(), "report", "--html", "/no/folder/x", NULL), 1,
	    "such as: llmc report --html report.html");
	e2e_expect(e2e_llmc(fleet_root(), "report", NULL), 0, NULL);
	expect_number(report_of(NULL, NULL), "verdict.level", "nothing");
}

/* --- people.report_command ------------------------------------------- */

/* Each report becomes a line of told.txt: its run, and a word about the page.
 */
static void
tell(void)
{
	auto_set("people.report_command",
	    "run=$(grep -o '\"run\":[^,]*'); grep -q '</html>' "
	    "\"$LLMC_REPORT_HTML\" && echo \"$run page\" >>told.txt");
}

static void
expect_told(const char *lines)
{
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/told.txt", fleet_root())), lines);
}

/* One that was killed, and a day: test-report-sent.c. */
TEST(each_run_is_reported_once_when_it_ends)
{
	e2e_expect(e2e_llmc(fleet_root(), "config", "set", "people.report_at",
		       "25:00", NULL),
	    1, "a time of day such as");
	tell();
	auto_task("a.md", "A\nfake: commit a.txt a\n");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_wait_shell("grep -q r1 told.txt");
	expect_told("\"run\": \"r1\" page\n");
	e2e_has(e2e_read(e2e_path("%s/.llmc/reports/r1.json", fleet_root())),
	    "\"goes_on\": false");
	auto_up(NULL);
	auto_drain();
	auto_wait_shell("grep -q r2 told.txt");
	expect_told("\"run\": \"r1\" page\n\"run\": \"r2\" page\n");
}

TEST(a_run_is_reported_to_a_command_that_was_set_meanwhile)
{
	auto_up(NULL);
	tell();
	auto_wait_shell("grep -q r1 .llmc/report.json");
	auto_drain();
	auto_wait_shell("grep -q r1 told.txt");
	expect_told("\"run\": \"r1\" page\n");
}
