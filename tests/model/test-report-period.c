/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "report-period.h"
#include "unit.h"
#include "work-span.h"

/* Lines such as "r1 begins 100". */
static void
read_lines(struct report_run *run, const char *const *lines)
{
	for (; *lines != NULL; lines++) {
		cleanup_json struct json_object *line =
		    json_tokener_parse(*lines);

		ck_assert_ptr_nonnull(line);
		report_run_line(run, line);
	}
}

#define LINE(id, what, at) \
	("{\"run_id\": \"" id "\", \"what\": \"" what "\", \"at_ms\": " at "}")

#define COMPLETE(id, at)                                               \
	("{\"run_id\": \"" id "\", \"what\": \"ends\", \"at_ms\": " at \
	 ", \"complete\": true}")

static const char *const lines[] = { LINE("r1", "begins", "100"),
	LINE("r1", "ends", "150"), LINE("r1", "begins", "160"),
	COMPLETE("r1", "200"), LINE("r2", "begins", "300"),
	LINE("r3", "begins", "90000400"), LINE("r3", "ends", "90000500"),
	NULL };

static struct work_span spans[] = {
	{ .worker = (char[]){ "a" }, .from_ms = 300, .to_ms = 333 },
	{ .worker = (char[]){ "a" }, .from_ms = 90000400, .to_ms = 90000450 },
};

START_TEST(a_run_is_from_its_first_begin_to_its_last_end)
{
	struct report_run run = { .wanted = xstrdup("r1") };

	read_lines(&run, lines);
	ck_assert_str_eq(run.id, "r1");
	ck_assert_int_eq(run.from_ms, 100);
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), true, 900), 200);
	report_run_release(&run);
}
END_TEST

START_TEST(a_run_that_was_killed_ends_with_its_last_span)
{
	struct report_run run = { .wanted = xstrdup("r2") };

	read_lines(&run, lines);
	ck_assert_int_eq(run.from_ms, 300);
	ck_assert_int_eq(
	    report_run_end(&run, spans, nitems(spans), false, 900), 333);
	report_run_release(&run);
}
END_TEST

START_TEST(without_a_name_it_is_the_last_run)
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
END_TEST

START_TEST(an_unknown_run_is_not_found_and_the_last_is_named)
{
	struct report_run run = { .wanted = xstrdup("r9") };

	read_lines(&run, lines);
	ck_assert(!report_run_is_found(&run));
	ck_assert_str_eq(run.last, "r3");
	report_run_release(&run);
}
END_TEST

/* However often the daemon is started again, a night is one report. */
START_TEST(a_run_goes_on_after_a_restart)
{
	static const struct {
		const char *lines[6];
		const char *first, *what;
	} rows[] = {
		{ { LINE("r1", "begins", "1000"),
		      LINE("r2", "begins", "9000000"), NULL },
		    "r1", "it was killed" },
		{ { LINE("r1", "begins", "1000"), LINE("r1", "ends", "2000"),
		      LINE("r2", "begins", "3600000"), NULL },
		    "r1", "it was stopped, and started within an hour" },
		{ { LINE("r1", "begins", "1000"), LINE("r1", "ends", "2000"),
		      LINE("r2", "begins", "3700000"), NULL },
		    "r2", "it was stopped long ago" },
		{ { LINE("r1", "begins", "1000"), COMPLETE("r1", "2000"),
		      LINE("r2", "begins", "3000"), NULL },
		    "r2", "nothing was left" },
		{ { LINE("r1", "begins", "1000"),
		      LINE("r2", "begins", "90000000"), NULL },
		    "r2", "killed on another day" },
		{ { LINE("r0", "begins", "1"), LINE("r1", "begins", "1000"),
		      LINE("r1", "ends", "2000"), LINE("r2", "begins", "3000"),
		      LINE("r3", "begins", "4000"), NULL },
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
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("report-period");

	unit_case(s, "report-period",
	    (const TTest *const[]){
		a_run_is_from_its_first_begin_to_its_last_end,
		a_run_that_was_killed_ends_with_its_last_span,
		without_a_name_it_is_the_last_run,
		a_run_goes_on_after_a_restart,
		an_unknown_run_is_not_found_and_the_last_is_named, NULL });
	return s;
}
