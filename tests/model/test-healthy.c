/* SPDX-License-Identifier: ISC */

/* Good work is left alone: over histories of healthy work, with the default
 * settings, nothing more than a note is ever due. */

#include <string.h>

#include "behaviour.h"
#include "errtext.h"
#include "intervene.h"
#include "iteration.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"
#include "unit.h"

#define LEAST 20 /* histories */

static struct json_object *corpus;

static void
load(void)
{
	struct err err = { 0 };

	ck_assert_msg(json_load(HEALTHY_HISTORIES, 1 << 20, &corpus, &err) == 0,
	    "%s", err.msg);
}

static void
unload(void)
{
	json_object_put(corpus);
}

/* One that nothing is known of is null. */
static struct iteration *
iteration_at(struct json_object *history, size_t i)
{
	struct json_object *json = json_object_array_get_idx(history, i);
	struct iteration *it = NULL;
	struct err err = { 0 };

	if (json == NULL)
		return iteration_new((int64_t)i + 1);
	ck_assert_msg(iteration_from_json(
			  json, "history", (int64_t)i + 1, &it, &err) == 0,
	    "%s", err.msg);
	return it;
}

/* What is due is done at once, as the daemon does. */
static void
live_through(const char *name, struct json_object *history)
{
	const struct intervene_policy policy = { 0 };
	cleanup_behaviour struct behaviour *b = NULL;
	struct intervene state = { 0 };
	struct thresholds t;

	thresholds_init(&t, PROFILE_DEFAULT);
	b = behaviour_new(&t);
	for (size_t i = 0; i < json_object_array_length(history); i++) {
		cleanup_iteration struct iteration *it =
		    iteration_at(history, i);
		enum severity severity[DETECTION_TYPES];
		enum intervention due[DETECTION_TYPES];

		behaviour_add(b, it);
		for (int k = 0; k < DETECTION_TYPES; k++)
			severity[k] =
			    behaviour_severity(b, (enum detection_type)k);
		intervene_step(&state, severity, &policy, due);
		for (int k = 0; k < DETECTION_TYPES; k++) {
			ck_assert_msg(due[k] <= INTERVENTION_LOG,
			    "%s, iteration %zu: %s for %s", name, i + 1,
			    intervention_words[due[k]],
			    detection_type_words[k]);
			if (due[k] != INTERVENTION_NONE)
				intervene_delivered(
				    &state, (enum detection_type)k);
		}
	}
}

START_TEST(healthy_work_is_never_more_than_noted)
{
	size_t count = json_object_array_length(corpus);

	ck_assert_uint_ge(count, LEAST);
	for (size_t i = 0; i < count; i++) {
		struct json_object *entry =
		    json_object_array_get_idx(corpus, i);
		struct json_object *history = NULL;

		ck_assert_int_eq(
		    json_get_array(entry, "", "history", &history, NULL), 0);
		ck_assert_uint_gt(json_object_array_length(history), 0);
		live_through(json_string_or(entry, "name", "?"), history);
	}
}
END_TEST

/* The corpus would show it: the same histories, but stuck. */
START_TEST(the_same_work_that_gets_stuck_is_seen)
{
	size_t count = json_object_array_length(corpus);
	struct thresholds t;

	thresholds_init(&t, PROFILE_DEFAULT);
	for (size_t i = 0; i < count; i++) {
		struct json_object *history = json_object_object_get(
		    json_object_array_get_idx(corpus, i), "history");
		cleanup_behaviour struct behaviour *b = behaviour_new(&t);

		for (size_t k = 0; k < json_object_array_length(history); k++) {
			cleanup_iteration struct iteration *it =
			    iteration_at(history, k);

			behaviour_add(b, it);
		}
		for (int k = 0; k < 3; k++) {
			cleanup_iteration struct iteration *it =
			    iteration_new(1000 + k);

			it->tests = 0;
			iteration_set_failure(it, "FAIL: it stays red");
			behaviour_add(b, it);
		}
		ck_assert_int_eq(
		    behaviour_severity(b, DETECTION_STUCK), SEVERITY_HIGH);
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("healthy");
	TCase *tests = tcase_create("healthy");

	tcase_add_unchecked_fixture(tests, load, unload);
	tcase_add_test(tests, healthy_work_is_never_more_than_noted);
	tcase_add_test(tests, the_same_work_that_gets_stuck_is_seen);
	suite_add_tcase(suite, tests);
	return suite;
}
