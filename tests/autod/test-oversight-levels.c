/* SPDX-License-Identifier: ISC */

/* What is found in words is only logged; every look has all metrics. */
#include <check.h>

#include "agent.h"
#include "mem.h"
#include "oversight-world.h"
#include "unit.h"

#define has oversight_world_has

static const char *const drift[] = {
	"Painted the banner of the landing page in a warmer orange.",
	"Chose another typeface for the headlines of the blog.",
	"Moved the photograph gallery below the fold.",
	"Translated the imprint into Portuguese.",
	"Rounded the corners of every button in the shop.",
};

/* A turn that says something else than its task: what it is told next. */
static const char *
say(struct oversight_world *w, int n, const char *words)
{
	struct agent *agent = auto_world_turn(&w->world, n);

	fake_session_turn_ends(agent->session, words);
	agent = auto_world_turn(&w->world, n + 1);
	return fake_session_prompt(agent->session);
}

static const char *
drifts(struct oversight_world *w, int n)
{
	return say(w, n, drift[(size_t)n % nitems(drift)]);
}

/* Whatever it says, for as long as it likes. */
TEST(words_alone_are_only_logged)
{
	struct oversight_world w;
	int count = 0;

	oversight_world_begin(&w, OVERSIGHT_ON);
	auto_world_turn(&w.world, 1);
	oversight_world_sh(&w, "echo 1 >one.txt");
	for (int n = 1; n <= 15; n++) {
		cleanup_free char *work = xasprintf("echo %d >one.txt", n);

		oversight_world_sh(&w, work);
		oversight_world_lacks(drifts(&w, n), "OVERSIGHT");
	}
	has(oversight_world_recorded(&w, "intervention", NULL),
	    "\"level\":\"log\"");
	has(oversight_world_recorded(&w, "intervention", NULL), "deviation");
	oversight_world_recorded(&w, "intervention", &count);
	ck_assert_int_eq(count, 1);
	has(oversight_world_recorded(&w, "check", NULL),
	    "\"status\":\"healthy\"");
	ck_assert_str_eq(auto_world_agent(&w.world)->worker->health, "healthy");
	oversight_world_end(&w);
}

/* All five of them, known or not. */
TEST(each_check_has_the_five_metrics)
{
	static const char *const metrics[] = { "progressRate", "errorPatterns",
		"resourceUsage", "timeElapsedMs", "qualityTrajectory" };
	struct oversight_world w;

	oversight_world_begin(&w, OVERSIGHT_PAUSES);
	oversight_world_get_parked(&w);
	for (size_t i = 0; i < nitems(metrics); i++)
		has(oversight_world_recorded(&w, "check", NULL), metrics[i]);
	oversight_world_end(&w);
}
