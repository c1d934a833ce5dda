/* SPDX-License-Identifier: ISC */

#include <limits.h>

#include "mem.h"
#include "settings-world.h"
#include "settings.h"
#include "stall.h"
#include "unit.h"

#define TIMEOUT 600000
#define LATE    (TIMEOUT + 1)
#define NONE    INT64_MAX
#define MINUTE  ((int64_t)60 * 1000)

START_TEST(actions)
{
	static const struct {
		const char *rule;
		struct stall_facts facts;
		enum stall_action action;
	} cases[] = {
		{ "signs of life are waited for", { 0, NONE, false, 0 },
		    STALL_WAIT },
		{ "the whole timeout is not yet a stall",
		    { TIMEOUT, NONE, false, 0 }, STALL_WAIT },
		{ "silence is interrupted", { LATE, NONE, false, 0 },
		    STALL_INTERRUPT },
		{ "what never spoke too", { NONE, NONE, false, 0 },
		    STALL_INTERRUPT },
		{ "what was tried gets its time",
		    { LATE * 2, TIMEOUT, false, 1 }, STALL_WAIT },
		{ "then the session is begun anew",
		    { LATE * 2, LATE, false, 1 }, STALL_RESTART },
		{ "which gets its time", { NONE, 0, false, 2 }, STALL_WAIT },
		{ "then it failed", { NONE, LATE, false, 2 }, STALL_FAIL },
		{ "and stays so", { NONE, NONE, false, INT_MAX }, STALL_FAIL },
		{ "life between the stages is waited for",
		    { 5, LATE, false, 2 }, STALL_WAIT },
		{ "a tool may take four times that",
		    { TIMEOUT * 4, NONE, true, 0 }, STALL_WAIT },
		{ "but not more", { TIMEOUT * 4 + 1, NONE, true, 0 },
		    STALL_INTERRUPT },
		{ "at every stage", { NONE, TIMEOUT * 4, true, 1 },
		    STALL_WAIT },
		{ "a clock that went back proves nothing",
		    { -1, NONE, false, 0 }, STALL_WAIT },
		{ "neither way", { NONE, INT64_MIN, false, 1 }, STALL_WAIT },
		{ "a stage below the first is the first",
		    { LATE, NONE, false, -1 }, STALL_INTERRUPT },
	};
	struct stall_limits limits = stall_limits(TIMEOUT, 0);

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(
		    stall_judge(&cases[i].facts, &limits) == cases[i].action,
		    "%s: %s", cases[i].rule,
		    stall_action_name(stall_judge(&cases[i].facts, &limits)));
}
END_TEST

START_TEST(no_timeout_never_stalls)
{
	static const int64_t timeouts[] = { 0, -1, INT64_MIN, INT64_MAX };
	struct stall_facts facts = { NONE - 1, NONE, true, 2 };
	struct stall_limits limits;

	for (size_t i = 0; i < nitems(timeouts); i++) {
		limits = stall_limits(timeouts[i], 0);
		ck_assert_int_eq(stall_judge(&facts, &limits), STALL_WAIT);
	}
	limits = stall_limits(INT64_MAX / 2, 0);
	ck_assert_int_eq(stall_judge(&facts, &limits), STALL_WAIT);
	limits = stall_limits(1, 0);
	ck_assert_int_eq(stall_judge(&facts, &limits), STALL_FAIL);
}
END_TEST

START_TEST(the_defaults_fit_together)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse("");
	const struct settings *s = world.settings;
	int64_t overseer = settings_duration(s, "overseer.stall_timeout");
	struct stall_limits limits = stall_limits(
	    settings_duration(s, "auto.worker_stall_timeout"), overseer);

	ck_assert_int_eq(limits.turn_ms, 30 * MINUTE);
	ck_assert_int_eq(limits.tool_ms, 45 * MINUTE);
	ck_assert_int_gt(stall_look_ms(overseer),
	    settings_duration(s, "daemon.patrol_interval"));
}
END_TEST

/* Whatever the settings: the time of a stage, a patrol late, told a heartbeat
 * late, is before the overseer's verdict. */
START_TEST(every_stage_comes_before_the_overseer)
{
	static const int64_t times[] = { 1000, 1001, 4000, 10000, 59999, MINUTE,
		30 * MINUTE, 60 * MINUTE, 7 * 24 * 60 * MINUTE };
	static const int64_t timeouts[] = { 100, 1000, 10 * MINUTE, 30 * MINUTE,
		24 * 60 * MINUTE, INT64_MAX };

	for (size_t i = 0; i < nitems(times); i++)
		for (size_t k = 0; k < nitems(timeouts); k++) {
			struct stall_limits limits =
			    stall_limits(timeouts[k], times[i]);
			int64_t late = 2 * stall_look_ms(times[i]);

			ck_assert_int_gt(limits.turn_ms, 0);
			ck_assert_int_le(limits.turn_ms, limits.tool_ms);
			ck_assert_int_lt(limits.tool_ms + late, times[i]);
		}
}
END_TEST

START_TEST(actions_have_names)
{
	ck_assert_str_eq(stall_action_name(STALL_WAIT), "wait");
	ck_assert_str_eq(stall_action_name(STALL_INTERRUPT), "interrupt");
	ck_assert_str_eq(stall_action_name(STALL_RESTART), "restart");
	ck_assert_str_eq(stall_action_name(STALL_FAIL), "fail");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("stall");

	unit_case(suite, "judge",
	    (const TTest *[]){
		actions, no_timeout_never_stalls, actions_have_names, NULL });
	unit_case(suite, "limits",
	    (const TTest *[]){ the_defaults_fit_together,
		every_stage_comes_before_the_overseer, NULL });
	return suite;
}
