/* SPDX-License-Identifier: ISC */

/* What oversight measures and reports, and what its settings say. */
#include "base.h"

#include <math.h>

#include "behaviour.h"
#include "iteration.h"
#include "ladder.h"
#include "schema.h"
#include "settings-world.h"
#include "thresholds.h"

TEST(all_five_metrics_are_measured)
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
	ck_assert(m.progress_rate == 10 && m.repeated_errors == 1 &&
	    m.iteration_ratio == 0.5 && m.cost_ratio == 0.25 &&
	    m.elapsed_ms == 3000 && m.tests == 0 && m.coverage == 87 &&
	    m.coverage_change == -2);
	json = behaviour_metrics_to_json(&m);
	ck_assert_int_eq(json_object_object_length(json), 5);
}

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

TEST(the_report_says_what_to_tune)
{
	struct oversight_tally none = { 0 }, t = { 0 };
	cleanup_buf struct buf text = BUF_INIT;

	oversight_report_text(&none, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "Nothing to adjust."));
	t.interventions[STEP_LOG] = 10;
	ck_assert(indicated(&t, "only_logs"));
	t.interventions[STEP_WARN] = 1;
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

TEST(positives_are_counted_by_detector)
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

TEST(rates_are_those_of_all_detectors)
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
	    schema_check(&(const struct schema_field){ .type = SCHEMA_OBJECT,
			     .of = &oversight_report_shape },
		json, "report", NULL),
	    0);
	oversight_report_text(&t, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "Helped: 3 of 4 (75%)"));
}

TEST(coverage_is_read_from_the_last_line_that_has_it)
{
	ck_assert(coverage_find("total: 10%\nx\ntotal 81.25%\ny\n") == 81.25);
	ck_assert(coverage_find("Total:\t(statements)\t0% \n") == 0);
	ck_assert(coverage_find("TOTAL   200   14   93%") == 93);
	ck_assert(coverage_find("| Coverage | 7% |\r\n") == 7);
	ck_assert(isnan(coverage_find("")));
	ck_assert(isnan(coverage_find("nothing\n 3%")));
	ck_assert(isnan(coverage_find("total: 101%")));
	ck_assert(isnan(coverage_find("total: ..%")));
	ck_assert(isnan(coverage_find("total\n12%")));
	/* Of one package among many. */
	ck_assert(isnan(coverage_find("coverage: 81.2% of statements\n")));
	ck_assert(isnan(coverage_find("ok  pkg  coverage: 12%\n")));
}

TEST(a_cost_is_estimated_from_twenty_landed_tasks)
{
	static const double landed[21] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8,
		9, 7, 9, 3, 2, 3, 8, 4, 11 };

	ck_assert(cost_estimate(2.5, landed, 21) == 2.5);
	ck_assert(isnan(cost_estimate(NAN, landed, 19)));
	ck_assert(cost_estimate(NAN, landed, 20) == 9);
	ck_assert(cost_estimate(NAN, landed, 21) == 11);
	ck_assert(isnan(cost_estimate(NAN, NULL, 0)));
}

TEST(settings_begin_with_their_profile)
{
	cleanup_settings_world struct settings_world plain =
	    settings_world_parse("");
	cleanup_settings_world struct settings_world ci = settings_world_parse(
	    "[oversight]\nmode = \"observe\"\nprofile = \"ci\"\n"
	    "thresholds = [\"stuck.sameErrorCount=4\"]\n");
	cleanup_settings_world struct settings_world free =
	    settings_world_parse("oversight.mode = \"off\"\n"
				 "oversight.profile = \"exploratory\"\n");
	struct oversight_config c;

	settings_oversight(plain.settings, &c);
	ck_assert_int_eq(c.mode, OVERSIGHT_ACT);
	ck_assert_int_eq(c.thresholds.same_error_count, 3);
	settings_oversight(ci.settings, &c);
	ck_assert_int_eq(c.mode, OVERSIGHT_OBSERVE);
	ck_assert_int_eq(c.thresholds.same_error_count, 4);
	ck_assert_int_eq(c.thresholds.no_progress_iterations, 3);
	settings_oversight(free.settings, &c);
	ck_assert_int_eq(c.mode, OVERSIGHT_OFF);
}

TEST(a_wrong_threshold_is_refused)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse(
		"[oversight]\nthresholds = [\"stuck.sameErorCount=4\"]\n");

	ck_assert_uint_eq(world.problems.count, 1);
}
