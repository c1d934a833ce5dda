/* SPDX-License-Identifier: ISC */

#include "settings-world.h"

#include "ladder.h"

#define TIMEOUT 600000
#define LATE    (TIMEOUT + 1)
#define NONE    INT64_MAX
#define MINUTE  ((int64_t)60 * 1000)

TEST(actions)
{
	static const struct {
		const char *rule;
		struct silence_facts facts;
		enum progress_step action;
	} cases[] = {
		{ "signs of life are waited for", { 0, NONE, false, 0 },
		    STEP_NONE },
		{ "the whole timeout is not yet a stall",
		    { TIMEOUT, NONE, false, 0 }, STEP_NONE },
		{ "silence is interrupted", { LATE, NONE, false, 0 },
		    STEP_REDIRECT },
		{ "what never spoke too", { NONE, NONE, false, 0 },
		    STEP_REDIRECT },
		{ "what was tried gets its time",
		    { LATE * 2, TIMEOUT, false, 1 }, STEP_NONE },
		{ "then the session is begun anew",
		    { LATE * 2, LATE, false, 1 }, STEP_RESTART },
		{ "which gets its time", { NONE, 0, false, 2 }, STEP_NONE },
		{ "then it failed", { NONE, LATE, false, 2 }, STEP_RETRY },
		{ "and stays so", { NONE, NONE, false, INT_MAX }, STEP_RETRY },
		{ "life between the stages is waited for",
		    { 5, LATE, false, 2 }, STEP_NONE },
		{ "a tool may take four times that",
		    { TIMEOUT * 4, NONE, true, 0 }, STEP_NONE },
		{ "but not more", { TIMEOUT * 4 + 1, NONE, true, 0 },
		    STEP_REDIRECT },
		{ "at every stage", { NONE, TIMEOUT * 4, true, 1 }, STEP_NONE },
		{ "a clock that went back proves nothing",
		    { -1, NONE, false, 0 }, STEP_NONE },
		{ "neither way", { NONE, INT64_MIN, false, 1 }, STEP_NONE },
		{ "a stage below the first is the first",
		    { LATE, NONE, false, -1 }, STEP_REDIRECT },
	};
	struct silence_limits limits = silence_limits(TIMEOUT, 0);

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(
		    silence_next(&cases[i].facts, &limits) == cases[i].action,
		    "%s: %s", cases[i].rule,
		    progress_step_words[silence_next(
			&cases[i].facts, &limits)]);
}

TEST(no_timeout_never_stalls)
{
	static const int64_t timeouts[] = { 0, -1, INT64_MIN, INT64_MAX };
	struct silence_facts facts = { NONE - 1, NONE, true, 2 };
	struct silence_limits limits;

	for (size_t i = 0; i < nitems(timeouts); i++) {
		limits = silence_limits(timeouts[i], 0);
		ck_assert_int_eq(silence_next(&facts, &limits), STEP_NONE);
	}
	limits = silence_limits(INT64_MAX / 2, 0);
	ck_assert_int_eq(silence_next(&facts, &limits), STEP_NONE);
	limits = silence_limits(1, 0);
	ck_assert_int_eq(silence_next(&facts, &limits), STEP_RETRY);
}

TEST(the_defaults_fit_together)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse("");
	const struct settings *s = world.settings;
	int64_t overseer = settings_duration(s, "overseer.stall_timeout");
	struct silence_limits limits = silence_limits(
	    settings_duration(s, "auto.worker_stall_timeout"), overseer);

	ck_assert_int_eq(limits.turn_ms, 30 * MINUTE);
	ck_assert_int_eq(limits.tool_ms, 45 * MINUTE);
	ck_assert_int_gt(silence_look_ms(overseer),
	    settings_duration(s, "daemon.patrol_interval"));
}

/* Whatever the settings: the time of a stage, a patrol late, told a heartbeat
 * late, is before the overseer's verdict. */
TEST(every_stage_comes_before_the_overseer)
{
	static const int64_t times[] = { 1000, 1001, 4000, 10000, 59999, MINUTE,
		30 * MINUTE, 60 * MINUTE, 7 * 24 * 60 * MINUTE };
	static const int64_t timeouts[] = { 100, 1000, 10 * MINUTE, 30 * MINUTE,
		24 * 60 * MINUTE, INT64_MAX };

	for (size_t i = 0; i < nitems(times); i++)
		for (size_t k = 0; k < nitems(timeouts); k++) {
			struct silence_limits limits =
			    silence_limits(timeouts[k], times[i]);
			int64_t late = 2 * silence_look_ms(times[i]);

			ck_assert_int_gt(limits.turn_ms, 0);
			ck_assert_int_le(limits.turn_ms, limits.tool_ms);
			ck_assert_int_lt(limits.tool_ms + late, times[i]);
		}
}

/* Nothing interrupts a session that a person drives. */
TEST(delegated_work_by_hand_takes_the_steps_that_need_no_session)
{
	static const struct {
		enum stall_class sample;
		bool vain;
		enum recovery_policy policy;
		enum progress_step step;
	} rows[] = {
		{ STALL_UNKNOWN, false, RECOVERY_REPLAN, STEP_WARN },
		{ STALL_SLOW, false, RECOVERY_ESCALATE, STEP_WARN },
		{ STALL_SLOW, true, RECOVERY_NUDGE, STEP_PAUSE },
		{ STALL_SLOW, true, RECOVERY_REASSIGN, STEP_RETRY },
		{ STALL_FAILED, false, RECOVERY_REPLAN, STEP_RETRY },
		{ STALL_FAILED, false, RECOVERY_UNSET, STEP_PAUSE },
		{ STALL_WAITING, false, RECOVERY_REASSIGN, STEP_PAUSE },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_int_eq(silence_by_hand(rows[i].sample, rows[i].vain,
				     rows[i].policy),
		    rows[i].step);
}
