/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "metrics.h"
#include "report.h"

struct line {
	const char *id;
	enum report_run_what what;
	int64_t at;
};

static void
read_lines(struct report_run *run, const struct line *line)
{
	for (; line->id != NULL; line++)
		report_run_event(run, line->id, line->what, line->at);
}

static const struct line lines[] = { { "r1", REPORT_RUN_BEGINS, 100 },
	{ "r1", REPORT_RUN_ENDS, 150 }, { "r1", REPORT_RUN_BEGINS, 160 },
	{ "r1", REPORT_RUN_COMPLETE, 200 }, { "r2", REPORT_RUN_BEGINS, 300 },
	{ "r3", REPORT_RUN_BEGINS, 90000400 },
	{ "r3", REPORT_RUN_ENDS, 90000500 }, { NULL, REPORT_RUN_BEGINS, 0 } };

static struct work_span spans[] = {
	{ .worker = (char[]){ "a" }, .from_ms = 300, .to_ms = 333 },
	{ .worker = (char[]){ "a" }, .from_ms = 90000400, .to_ms = 90000450 },
};

TEST(a_run_is_from_its_first_begin_to_its_last_end)
{
	struct report_run run = { .wanted = xstrdup("r1") };

	read_lines(&run, lines);
	ck_assert_str_eq(run.id, "r1");
	ck_assert_int_eq(run.from_ms, 100);
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), true, 900), 200);
	report_run_release(&run);
}

TEST(a_run_that_was_killed_ends_with_its_last_span)
{
	struct report_run run = { .wanted = xstrdup("r2") };

	read_lines(&run, lines);
	ck_assert_int_eq(run.from_ms, 300);
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), false, 900), 333);
	report_run_release(&run);
}

TEST(without_a_name_it_is_the_last_run)
{
	struct report_run run = { 0 };

	read_lines(&run, lines);
	ck_assert_str_eq(run.id, "r3");
	ck_assert_int_eq(run.from_ms, 90000400);
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), false, 90000900),
	    90000500);
	/* The overseer starts its next daemon. */
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), true, 90000900),
	    90000900);
	report_run_release(&run);
}

TEST(an_unknown_run_is_not_found_and_the_last_is_named)
{
	struct report_run run = { .wanted = xstrdup("r9") };

	read_lines(&run, lines);
	ck_assert(!report_run_is_found(&run));
	ck_assert_str_eq(run.last, "r3");
	report_run_release(&run);
}

/* However often the daemon is started again, a night is one report. */
TEST(a_run_goes_on_after_a_restart)
{
	static const struct {
		struct line lines[6];
		const char *first, *what;
	} rows[] = {
		{ { { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r2", REPORT_RUN_BEGINS, 9000000 }, { 0 } },
		    "r1", "it was killed" },
		{ { { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r1", REPORT_RUN_ENDS, 2000 },
		      { "r2", REPORT_RUN_BEGINS, 3602000 }, { 0 } },
		    "r1", "it was stopped, and started within an hour" },
		{ { { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r1", REPORT_RUN_ENDS, 2000 },
		      { "r2", REPORT_RUN_BEGINS, 3602001 }, { 0 } },
		    "r2", "it was stopped more than an hour ago" },
		{ { { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r1", REPORT_RUN_COMPLETE, 2000 },
		      { "r2", REPORT_RUN_BEGINS, 3000 }, { 0 } },
		    "r2", "nothing was left" },
		{ { { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r2", REPORT_RUN_BEGINS, 90000000 }, { 0 } },
		    "r2", "killed on another day" },
		{ { { "r0", REPORT_RUN_BEGINS, 1 },
		      { "r1", REPORT_RUN_BEGINS, 1000 },
		      { "r1", REPORT_RUN_ENDS, 2000 },
		      { "r2", REPORT_RUN_BEGINS, 3000 },
		      { "r3", REPORT_RUN_BEGINS, 4000 }, { 0 } },
		    "r0", "--run r2 has what r2 went on from" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct report_run run = { .wanted = xstrdup("r2") };

		read_lines(&run, rows[i].lines);
		ck_assert_str_eq(run.id, "r2");
		ck_assert_msg(strcmp(run.first, rows[i].first) == 0, "%s: %s",
		    rows[i].what, run.first);
		report_run_release(&run);
	}
}
