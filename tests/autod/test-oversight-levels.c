/* SPDX-License-Identifier: ISC */

/* What is found in words is only logged; every look has all metrics. */
#include "oversight-world.h"

#define has floor_has

static const char *const drift[] = {
	"Painted the banner of the landing page in a warmer orange.",
	"Chose another typeface for the headlines of the blog.",
	"Moved the photograph gallery below the fold.",
	"Translated the imprint into Portuguese.",
	"Rounded the corners of every button in the shop.",
};

/* A turn that says something else than its task: what it is told next. */
static const char *
say(int n, const char *words)
{
	struct agent *agent = auto_world_turn(n);

	fake_session_turn_ends(agent->session, words);
	agent = auto_world_turn(n + 1);
	return fake_session_prompt(agent->session);
}

static const char *
drifts(int n)
{
	return say(n, drift[(size_t)n % nitems(drift)]);
}

/* Whatever it says, for as long as it likes. */
TEST(words_alone_are_only_logged)
{
	int count = 0;

	oversight_world_begin_turn(OVERSIGHT_ON);
	for (int n = 1; n <= 15; n++) {
		cleanup_free char *work = xasprintf("echo %d >one.txt", n);

		oversight_world_sh(work);
		oversight_world_lacks(drifts(n), "OVERSIGHT");
	}
	has(oversight_world_recorded("intervention", NULL),
	    "\"level\":\"log\"");
	has(oversight_world_recorded("intervention", NULL), "deviation");
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 1);
	has(oversight_world_recorded("check", NULL), "\"status\":\"healthy\"");
	ck_assert_str_eq(auto_world_agent()->worker->health, "healthy");
}

/* All five of them, known or not. */
TEST(each_check_has_the_five_metrics)
{
	static const char *const metrics[] = { "progressRate", "errorPatterns",
		"resourceUsage", "timeElapsedMs", "qualityTrajectory" };

	tune(TWO_EXPECTED);
	oversight_world_begin(OVERSIGHT_ON);
	oversight_world_get_parked();
	for (size_t i = 0; i < nitems(metrics); i++)
		has(oversight_world_recorded("check", NULL), metrics[i]);
}
