/* SPDX-License-Identifier: ISC */

/* From a detection to what is done about it, and whether it helped. */

#include <math.h>
#include <string.h>

#include "behaviour-metrics.h"
#include "behaviour.h"
#include "buf.h"
#include "cost-estimate.h"
#include "coverage-pattern.h"
#include "error-signature.h"
#include "fleet-pattern.h"
#include "intervene-text.h"
#include "intervene.h"
#include "iteration.h"
#include "json.h"
#include "mem.h"
#include "oversight-config.h"
#include "oversight-report.h"
#include "oversight-shape.h"
#include "settings-world.h"
#include "shape.h"
#include "settings.h"
#include "strv.h"
#include "telling.h"
#include "thresholds.h"
#include "unit.h"

/* --- the table ------------------------------------------------------- */

START_TEST(the_table_is_that_of_the_design)
{
	static const enum detection_type all[] = { DETECTION_STUCK,
		DETECTION_OSCILLATION, DETECTION_DEVIATION,
		DETECTION_RESOURCE_BURN, DETECTION_REGRESSION };

	for (size_t i = 0; i < nitems(all); i++) {
		enum detection_type type = all[i];
		bool unrecoverable = type == DETECTION_RESOURCE_BURN ||
		    type == DETECTION_REGRESSION;
		bool forces =
		    type == DETECTION_STUCK || type == DETECTION_OSCILLATION;

		ck_assert_int_eq(
		    intervene_level(type, SEVERITY_NONE), INTERVENTION_NONE);
		ck_assert_int_eq(
		    intervene_level(type, SEVERITY_LOW), INTERVENTION_LOG);
		ck_assert_int_eq(
		    intervene_level(type, SEVERITY_MEDIUM), INTERVENTION_WARN);
		ck_assert_int_eq(intervene_level(type, SEVERITY_HIGH),
		    forces ? INTERVENTION_REDIRECT : INTERVENTION_WARN);
		ck_assert_int_eq(intervene_level(type, SEVERITY_CRITICAL),
		    unrecoverable ? INTERVENTION_ABORT : INTERVENTION_PAUSE);
	}
}
END_TEST

/* --- repetition ------------------------------------------------------ */

static struct intervene state;
static struct intervene_policy policy;

/* One iteration in which this type has this severity, and no other is there;
 * what is due is delivered at once. */
static enum intervention
turn(enum detection_type type, enum severity severity)
{
	enum severity all[DETECTION_TYPES] = { SEVERITY_NONE };
	enum intervention due[DETECTION_TYPES];

	all[type] = severity;
	intervene_step(&state, all, &policy, due);
	for (int i = 0; i < DETECTION_TYPES; i++)
		ck_assert(i == (int)type || due[i] == INTERVENTION_NONE);
	if (due[type] != INTERVENTION_NONE)
		intervene_delivered(&state, type);
	return due[type];
}

static void
begin(void)
{
	memset(&state, 0, sizeof state);
	memset(&policy, 0, sizeof policy);
}

#define due(type, severity, level) \
	ck_assert_int_eq(          \
	    turn(DETECTION_##type, SEVERITY_##severity), INTERVENTION_##level)

START_TEST(a_pattern_is_told_once_and_goes_up_after_three_iterations)
{
	begin();
	due(DEVIATION, MEDIUM, WARN);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, REDIRECT);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, PAUSE);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, NONE);
	due(DEVIATION, MEDIUM, PAUSE); /* and never higher */
}
END_TEST

START_TEST(repetition_does_not_abort)
{
	begin();
	for (int i = 0; i < 50; i++)
		ck_assert_int_ne(turn(DETECTION_RESOURCE_BURN, SEVERITY_HIGH),
		    INTERVENTION_ABORT);
	due(RESOURCE_BURN, CRITICAL, ABORT);
}
END_TEST

START_TEST(a_worse_severity_does_not_wait)
{
	begin();
	due(STUCK, HIGH, REDIRECT);
	due(STUCK, CRITICAL, PAUSE);
	due(STUCK, HIGH, NONE);
}
END_TEST

START_TEST(a_resolved_pattern_goes_down)
{
	begin();
	due(STUCK, MEDIUM, WARN);
	for (int i = 0; i < 2; i++)
		due(STUCK, MEDIUM, NONE);
	due(STUCK, MEDIUM, REDIRECT);
	due(STUCK, NONE, NONE);
	due(STUCK, MEDIUM, WARN);
	/* Raised twice: down one by one. */
	begin();
	due(STUCK, MEDIUM, WARN);
	for (int i = 0; i < 6; i++)
		turn(DETECTION_STUCK, SEVERITY_MEDIUM);
	due(STUCK, NONE, NONE);
	due(STUCK, MEDIUM, REDIRECT);
	for (int i = 0; i < 4; i++)
		due(STUCK, NONE, NONE);
	due(STUCK, MEDIUM, WARN);
}
END_TEST

START_TEST(iterations_count_from_the_delivery)
{
	enum severity all[DETECTION_TYPES] = { [DETECTION_STUCK] =
						   SEVERITY_HIGH };
	enum intervention next[DETECTION_TYPES];

	begin();
	for (int i = 0; i < 5; i++) {
		intervene_step(&state, all, &policy, next);
		ck_assert_int_eq(next[DETECTION_STUCK], INTERVENTION_REDIRECT);
	}
	intervene_delivered(&state, DETECTION_STUCK);
	due(STUCK, HIGH, NONE);
	due(STUCK, HIGH, NONE);
	due(STUCK, HIGH, PAUSE);
}
END_TEST

START_TEST(a_worker_driven_by_hand_is_only_logged)
{
	begin();
	policy.by_hand = true;
	for (int i = 0; i < 10; i++)
		due(REGRESSION, CRITICAL, LOG);
}
END_TEST

START_TEST(any_regression_aborts_where_the_settings_say_so)
{
	begin();
	policy.abort_on_regression = true;
	due(REGRESSION, HIGH, ABORT);
	begin();
	policy.abort_on_regression = true;
	due(STUCK, HIGH, REDIRECT);
}
END_TEST

START_TEST(a_restart_changes_nothing)
{
	begin();
	for (int i = 0; i < 12; i++) {
		cleanup_json struct json_object *json =
		    intervene_to_json(&state);
		struct intervene kept = state;
		enum intervention one = turn(DETECTION_STUCK, SEVERITY_MEDIUM);
		struct intervene after = state;

		memset(&state, 0xff, sizeof state);
		ck_assert_int_eq(
		    intervene_from_json(&state, json, "x", NULL), 0);
		ck_assert_mem_eq(&state, &kept, sizeof kept);
		ck_assert_int_eq(turn(DETECTION_STUCK, SEVERITY_MEDIUM), one);
		ck_assert_mem_eq(&state, &after, sizeof after);
	}
}
END_TEST

/* --- status, outcome, fleet ------------------------------------------ */

START_TEST(the_status_follows_from_the_worst)
{
	ck_assert_int_eq(
	    oversight_status(SEVERITY_NONE, false, false), OVERSIGHT_HEALTHY);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_LOW, false, false), OVERSIGHT_WARNING);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_HIGH, false, false), OVERSIGHT_WARNING);
	ck_assert_int_eq(oversight_status(SEVERITY_CRITICAL, false, false),
	    OVERSIGHT_CRITICAL);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_CRITICAL, true, false), OVERSIGHT_PAUSED);
	ck_assert_int_eq(
	    oversight_status(SEVERITY_NONE, true, true), OVERSIGHT_ABORTED);
}
END_TEST

START_TEST(an_outcome_is_judged_after_three_iterations)
{
	static const enum severity gone[] = { SEVERITY_HIGH, SEVERITY_HIGH,
		SEVERITY_NONE };
	static const enum severity same[] = { SEVERITY_NONE, SEVERITY_NONE,
		SEVERITY_HIGH };
	static const enum severity worse[] = { SEVERITY_HIGH, SEVERITY_HIGH,
		SEVERITY_CRITICAL };

	ck_assert_int_eq(
	    intervene_judge(SEVERITY_HIGH, gone, 2), OUTCOME_PENDING);
	ck_assert_int_eq(
	    intervene_judge(SEVERITY_HIGH, gone, 3), OUTCOME_IMPROVED);
	ck_assert_int_eq(
	    intervene_judge(SEVERITY_CRITICAL, same, 3), OUTCOME_IMPROVED);
	ck_assert_int_eq(
	    intervene_judge(SEVERITY_HIGH, same, 3), OUTCOME_UNCHANGED);
	ck_assert_int_eq(
	    intervene_judge(SEVERITY_HIGH, worse, 3), OUTCOME_WORSE);
}
END_TEST

#define MINUTE INT64_C(60000)

START_TEST(the_same_error_on_three_workers_is_one_event)
{
	struct fleet_pattern fleet = { 0 };
	uint64_t error = error_signature_hash("a/b.c:1: x", 10);
	uint64_t other = error_signature_hash("y", 1);

	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "adam", 0), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "adam", 1), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, error, "bert", 2), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, other, "carl", 3), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "carl", 15 * MINUTE), 3);
	/* The same event goes on. */
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "dora", 20 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "adam", 30 * MINUTE), 0);
	/* Later it is a new one. */
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "adam", 60 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "bert", 61 * MINUTE), 0);
	ck_assert_uint_eq(
	    fleet_pattern_see(&fleet, error, "carl", 62 * MINUTE), 3);
}
END_TEST

START_TEST(workers_further_apart_are_no_event)
{
	for (int later = -1; later <= 1; later++) {
		struct fleet_pattern fleet = { 0 };

		ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 0), 0);
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 1, "bert", MINUTE), 0);
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 1, "carl", 15 * MINUTE + later),
		    later <= 0 ? 3 : 0);
	}
}
END_TEST

/* An event goes on for as long as somebody has the error. */
START_TEST(an_event_is_repeated_after_it_was_quiet)
{
	static const char *const workers[] = { "adam", "bert", "carl" };

	for (int quiet = 0; quiet <= 1; quiet++) {
		struct fleet_pattern fleet = { 0 };
		int64_t last = 0;
		size_t told = 0;

		for (int i = 0; i < 30; i++) {
			last = i * 10 * MINUTE;
			for (int k = 0; k < 3; k++)
				told += fleet_pattern_see(
				    &fleet, 1, workers[k], last + k);
		}
		ck_assert_uint_eq(told, 3);
		last += 2 + 15 * MINUTE + quiet;
		for (int k = 0; k < 3; k++)
			told +=
			    fleet_pattern_see(&fleet, 1, workers[k], last + k);
		ck_assert_uint_eq(told, quiet ? 6 : 3);
	}
}
END_TEST

/* Whatever is seen, it takes no more memory, and forgets the oldest. */
START_TEST(other_errors_hide_nothing_that_is_new)
{
	struct fleet_pattern fleet = { 0 };

	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 1), 0);
	for (uint64_t i = 0; i < FLEET_PATTERN_KEPT; i++)
		ck_assert_uint_eq(
		    fleet_pattern_see(&fleet, 100 + i, "adam", 2), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "bert", 3), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "carl", 4), 0);
	ck_assert_uint_eq(fleet_pattern_see(&fleet, 1, "adam", 5), 3);
}
END_TEST

/* --- in a turn ------------------------------------------------------- */

START_TEST(a_turn_is_told_after_a_tool_and_interrupted_without_one)
{
	static const struct {
		enum intervention due;
		int64_t waited; /* in a slice of 10 */
		enum telling telling;
	} rows[] = {
		{ INTERVENTION_NONE, 99, TELLING_NOTHING },
		{ INTERVENTION_LOG, 99, TELLING_NOTHING },
		{ INTERVENTION_WARN, 0, TELLING_CONTEXT },
		{ INTERVENTION_WARN, 29, TELLING_CONTEXT },
		{ INTERVENTION_WARN, 30, TELLING_INTERRUPT },
		{ INTERVENTION_REDIRECT, 0, TELLING_CONTEXT },
		{ INTERVENTION_REDIRECT, 9, TELLING_CONTEXT },
		{ INTERVENTION_REDIRECT, 10, TELLING_INTERRUPT },
		{ INTERVENTION_PAUSE, 0, TELLING_INTERRUPT },
		{ INTERVENTION_ABORT, 0, TELLING_INTERRUPT },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(telling_now(rows[i].due, rows[i].waited, 10) ==
			rows[i].telling,
		    "row %zu", i);
}
END_TEST

START_TEST(what_was_said_in_vain_is_said_again)
{
	ck_assert(
	    telling_again(INTERVENTION_REDIRECT, SEVERITY_HIGH, SEVERITY_HIGH));
	ck_assert(telling_again(
	    INTERVENTION_REDIRECT, SEVERITY_MEDIUM, SEVERITY_HIGH));
	ck_assert(!telling_again(
	    INTERVENTION_REDIRECT, SEVERITY_HIGH, SEVERITY_MEDIUM));
	ck_assert(!telling_again(
	    INTERVENTION_REDIRECT, SEVERITY_HIGH, SEVERITY_NONE));
	ck_assert(
	    !telling_again(INTERVENTION_WARN, SEVERITY_HIGH, SEVERITY_HIGH));
}
END_TEST

/* --- texts ----------------------------------------------------------- */

static const char *const two_recommendations[] = { "Do this", "Do that", NULL };

START_TEST(every_type_has_its_own_texts)
{
	cleanup_strv char **seen = NULL;

	for (int type = 0; type < DETECTION_TYPES; type++) {
		cleanup_buf struct buf warning = BUF_INIT, redirect = BUF_INIT;
		struct detection d;

		detection_init(&d, (enum detection_type)type, SEVERITY_HIGH);
		d.message = xstrdup("It is \033[31m so");
		d.recommendations = two_recommendations;
		json_set_string(d.evidence, "repeatedError", "x\033y");
		intervene_warning(&d, &warning);
		intervene_redirection(&d, "Fix\nit", &redirect);
		detection_release(&d);
		ck_assert_ptr_nonnull(
		    strstr(warning.data, "OVERSIGHT WARNING: It is "));
		ck_assert_ptr_nonnull(
		    strstr(warning.data, "1. Do this\n2. Do that\n"));
		ck_assert_ptr_null(strchr(warning.data, '\033'));
		ck_assert_ptr_nonnull(strstr(redirect.data, "The task: Fix"));
		ck_assert_ptr_null(strchr(redirect.data, '\033'));
		for (char **s = seen; s != NULL && *s != NULL; s++)
			ck_assert(strcmp(*s, warning.data) != 0 &&
			    strcmp(*s, redirect.data) != 0);
		strv_add(&seen, warning.data);
		strv_add(&seen, redirect.data);
	}
}
END_TEST

START_TEST(long_texts_of_others_are_cut)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *objective = xmalloc(100001);
	struct detection d;

	memset(objective, 'x', 100000);
	objective[100000] = '\0';
	detection_init(&d, DETECTION_DEVIATION, SEVERITY_MEDIUM);
	intervene_redirection(&d, objective, &text);
	detection_release(&d);
	ck_assert_uint_lt(text.len, 2000);
}
END_TEST

/* --- metrics, report, settings --------------------------------------- */

START_TEST(all_five_metrics_are_measured)
{
	struct thresholds t;
	struct behaviour_metrics m;
	cleanup_behaviour struct behaviour *b = NULL;
	cleanup_json struct json_object *json = NULL;

	thresholds_init(&t, PROFILE_DEFAULT);
	b = behaviour_new(&t);
	behaviour_measure(b, &m);
	ck_assert(isnan(m.progress_rate) && isnan(m.iteration_ratio) &&
	    isnan(m.cost_ratio) && isnan(m.coverage));
	ck_assert_int_eq(m.elapsed_ms, -1);
	ck_assert_int_eq(m.tests, -1);
	for (int i = 1; i <= 3; i++) {
		cleanup_iteration struct iteration *it = iteration_new(i);

		it->completion = 10 * i;
		it->duration_ms = 1000;
		it->tests = i < 3;
		it->coverage = 90 - i;
		it->max_iterations = 6;
		it->cost = 1;
		it->estimated_cost = 12;
		iteration_add_error(it, "x");
		behaviour_add(b, it);
	}
	behaviour_measure(b, &m);
	ck_assert(m.progress_rate == 10 && m.repeated_errors == 3 &&
	    m.iteration_ratio == 0.5 && m.cost_ratio == 0.25 &&
	    m.elapsed_ms == 3000 && m.tests == 0 && m.coverage == 87 &&
	    m.coverage_change == -2);
	json = behaviour_metrics_to_json(&m);
	ck_assert_int_eq(json_object_object_length(json), 5);
}
END_TEST

static bool
indicated(const struct oversight_tally *tally, const char *name)
{
	cleanup_json struct json_object *json = oversight_report_json(tally);
	struct json_object *list = json_object_object_get(json, "indicators");

	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strcmp(json_string_or(
			       json_object_array_get_idx(list, i), "name", ""),
			name) == 0)
			return true;
	return false;
}

START_TEST(the_report_says_what_to_tune)
{
	struct oversight_tally none = { 0 }, t = { 0 };
	cleanup_buf struct buf text = BUF_INIT;

	oversight_report_text(&none, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "Nothing to adjust."));
	t.interventions[INTERVENTION_LOG] = 10;
	ck_assert(indicated(&t, "only_logs"));
	t.interventions[INTERVENTION_WARN] = 1;
	ck_assert(!indicated(&t, "only_logs"));
	t.tasks_stopped = 4;
	t.tasks_stopped_landed = 1;
	ck_assert(!indicated(&t, "stops_good_work"));
	t.tasks_stopped_landed = 2;
	ck_assert(indicated(&t, "stops_good_work"));
	t.detections[DETECTION_STUCK][SEVERITY_HIGH] = 9;
	ck_assert(!indicated(&t, "misses_oscillation"));
	t.detections[DETECTION_STUCK][SEVERITY_HIGH] = 10;
	ck_assert(indicated(&t, "misses_oscillation"));
	t.detections[DETECTION_OSCILLATION][SEVERITY_HIGH] = 1;
	ck_assert(!indicated(&t, "misses_oscillation"));
	t.burns_late = 1;
	ck_assert(indicated(&t, "burns_late"));
	t.detections[DETECTION_REGRESSION][SEVERITY_HIGH] = 6;
	t.regressions_brief = 3;
	ck_assert(indicated(&t, "regressions_brief"));
	buf_clear(&text);
	oversight_report_text(&t, &text);
	ck_assert_ptr_nonnull(
	    strstr(text.data, "Lower resource.iterationMultiplier"));
}
END_TEST

START_TEST(positives_are_counted_by_detector)
{
	struct oversight_tally t = { 0 };

	oversight_tally_outcome(&t, DETECTION_STUCK, OUTCOME_IMPROVED);
	oversight_tally_outcome(&t, DETECTION_STUCK, OUTCOME_PENDING);
	oversight_tally_outcome(&t, DETECTION_STUCK, OUTCOME_WORSE);
	oversight_tally_outcome(&t, DETECTION_DEVIATION, OUTCOME_UNCHANGED);
	ck_assert_int_eq(t.helped[DETECTION_STUCK], 1);
	ck_assert_int_eq(t.useless[DETECTION_STUCK], 1);
	ck_assert_int_eq(t.useless[DETECTION_DEVIATION], 1);
}
END_TEST

START_TEST(rates_are_those_of_all_detectors)
{
	struct oversight_tally t = { .helped = { 1, 2 }, .useless = { 0, 1 } };
	cleanup_json struct json_object *json = oversight_report_json(&t);
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_double_eq_tol(json_object_get_double(json_object_object_get(
				    json, "truePositiveRate")),
	    0.75, 1e-9);
	ck_assert_double_eq_tol(json_object_get_double(json_object_object_get(
				    json, "falsePositiveRate")),
	    0.25, 1e-9);
	ck_assert_int_eq(
	    shape_check(&(const struct shape_field){ .type = SHAPE_OBJECT,
			    .of = &oversight_report_shape },
		json, "report", NULL),
	    0);
	oversight_report_text(&t, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "Helped: 3 of 4 (75%)"));
}
END_TEST

START_TEST(coverage_is_read_from_the_last_match)
{
	static const char pattern[] = "total:? +([0-9.]+)%";

	ck_assert(coverage_pattern_find(
		      pattern, "total: 10%\nx\ntotal 81.25%\n") == 81.25);
	ck_assert(coverage_pattern_find(pattern, "total: 0%") == 0);
	ck_assert(
	    coverage_pattern_find("^cov ([0-9]+)", "a cov 3\ncov 7\n") == 7);
	ck_assert(isnan(coverage_pattern_find("", "total: 1%")));
	ck_assert(isnan(coverage_pattern_find(pattern, "nothing")));
	ck_assert(isnan(coverage_pattern_find(pattern, "total: 101%")));
	ck_assert(isnan(coverage_pattern_find(pattern, "total: ..%")));
	ck_assert(isnan(coverage_pattern_find("(x*)", "abc\n")));
	ck_assert(isnan(coverage_pattern_find("(", "abc")));
}
END_TEST

START_TEST(a_pattern_needs_a_group)
{
	ck_assert(coverage_pattern_valid(""));
	ck_assert(coverage_pattern_valid("([0-9]+)%"));
	ck_assert(!coverage_pattern_valid("[0-9]+%"));
	ck_assert(!coverage_pattern_valid("([0-9]+%"));
}
END_TEST

START_TEST(a_cost_is_estimated_from_five_landed_tasks)
{
	static const double landed[] = { 9, 1, 3, 2, 8, 4 };

	ck_assert(cost_estimate(2.5, landed, 6) == 2.5);
	ck_assert(isnan(cost_estimate(NAN, landed, 4)));
	ck_assert(cost_estimate(NAN, landed, 5) == 3);
	ck_assert(cost_estimate(NAN, landed, 6) == 3.5);
	ck_assert(isnan(cost_estimate(NAN, NULL, 0)));
}
END_TEST

START_TEST(settings_begin_with_their_profile)
{
	cleanup_settings_world struct settings_world plain =
	    settings_world_parse("");
	cleanup_settings_world struct settings_world ci = settings_world_parse(
	    "[oversight]\nprofile = \"ci\"\nexpected_iterations = 7\n"
	    "thresholds = [\"stuck.sameErrorCount=4\"]\n");
	cleanup_settings_world struct settings_world free =
	    settings_world_parse("oversight.profile = \"exploratory\"\n");
	struct oversight_config c;

	oversight_config_read(plain.settings, &c);
	ck_assert(c.auto_escalate && !c.abort_on_regression);
	ck_assert_int_eq(c.thresholds.same_error_count, 3);
	ck_assert_int_eq(c.expected_iterations, -1);
	ck_assert_int_eq(c.slice_ms, 600000);
	ck_assert_int_eq(c.slice_tools, 30);
	oversight_config_read(ci.settings, &c);
	ck_assert(c.abort_on_regression);
	ck_assert_int_eq(c.thresholds.same_error_count, 4);
	ck_assert_int_eq(c.thresholds.no_progress_iterations, 3);
	ck_assert_int_eq(c.expected_iterations, 7);
	oversight_config_read(free.settings, &c);
	ck_assert(!c.auto_escalate);
}
END_TEST

START_TEST(a_wrong_threshold_is_refused)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse(
		"[oversight]\nthresholds = [\"stuck.sameErorCount=4\"]\n");

	ck_assert_uint_eq(world.problems.count, 1);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("intervene");

	unit_case(suite, "intervene",
	    (const TTest *const[]){ the_table_is_that_of_the_design,
		a_pattern_is_told_once_and_goes_up_after_three_iterations,
		repetition_does_not_abort, a_worse_severity_does_not_wait,
		a_resolved_pattern_goes_down,
		iterations_count_from_the_delivery,
		a_worker_driven_by_hand_is_only_logged,
		any_regression_aborts_where_the_settings_say_so,
		a_restart_changes_nothing, NULL });
	unit_case(suite, "judgement",
	    (const TTest *const[]){ the_status_follows_from_the_worst,
		an_outcome_is_judged_after_three_iterations,
		the_same_error_on_three_workers_is_one_event,
		workers_further_apart_are_no_event,
		an_event_is_repeated_after_it_was_quiet,
		other_errors_hide_nothing_that_is_new,
		a_turn_is_told_after_a_tool_and_interrupted_without_one,
		what_was_said_in_vain_is_said_again,
		every_type_has_its_own_texts, long_texts_of_others_are_cut,
		all_five_metrics_are_measured, the_report_says_what_to_tune,
		positives_are_counted_by_detector,
		rates_are_those_of_all_detectors,
		coverage_is_read_from_the_last_match, a_pattern_needs_a_group,
		a_cost_is_estimated_from_five_landed_tasks,
		settings_begin_with_their_profile, a_wrong_threshold_is_refused,
		NULL });
	return suite;
}
