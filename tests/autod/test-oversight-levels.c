/* SPDX-License-Identifier: ISC */

/* What goes on in spite of an intervention is met with the next one, up to a
 * pause; what gets well is left alone. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "json.h"
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

/* The turn at whose end it is told these words; each before has none. */
static int
drifts_until(struct oversight_world *w, int n, const char *words)
{
	for (int i = n; i < n + 9; i++) {
		const char *prompt = drifts(w, i);

		if (strstr(prompt, "OVERSIGHT") != NULL) {
			has(prompt, words);
			return i;
		}
	}
	ck_abort_msg("it is never told: %s", words);
}

static const char *
outcomes(struct oversight_world *w)
{
	return floor_world_sh(&w->world.floor,
	    "grep -o '\"outcome\":{[^}]*}' .llmc/iterations/t1.jsonl || true");
}

START_TEST(a_medium_pattern_goes_up_to_a_pause_and_down_again)
{
	struct oversight_world w;
	struct agent *agent;
	int warned, redirected;

	oversight_world_begin(&w, OVERSIGHT_ON);
	agent = auto_world_turn(&w.world, 1);
	oversight_world_sh(&w, "echo 1 >one.txt");
	warned = drifts_until(&w, 1, "OVERSIGHT WARNING");
	has(oversight_world_recorded(&w, "check", NULL),
	    "\"status\":\"warning\"");
	ck_assert_str_eq(outcomes(&w), "");
	redirected = drifts_until(&w, warned + 1, "CHANGE THE APPROACH");
	ck_assert_int_eq(redirected, warned + 3);
	has(outcomes(&w), "\"level\":\"warn\"");
	has(outcomes(&w), "\"outcome\":\"unchanged\"");
	drifts(&w, redirected + 1);
	drifts(&w, redirected + 2);
	fake_session_turn_ends(agent->session, drift[0]);
	floor_world_wait_status(&w.world.floor, agent, WORKER_PAUSED);
	floor_world_settle(&w.world.floor);
	has(agent->worker->reason, "paused by oversight: Deviation");
	has(oversight_world_recorded(&w, "check", NULL),
	    "\"status\":\"paused\"");
	/* It gets well. */
	oversight_world_resume(&w, "auto-1", "");
	for (int n = redirected + 4; n < redirected + 14; n++)
		if (strstr(say(&w, n,
			       "The numbers add up now: make numbers "
			       "add up."),
			"OVERSIGHT") != NULL)
			ck_abort_msg("it is well, and told again");
	has(oversight_world_recorded(&w, "check", NULL),
	    "\"status\":\"healthy\"");
	ck_assert_str_eq(auto_world_agent(&w.world)->worker->health, "healthy");
	has(outcomes(&w), "\"level\":\"pause\"");
	has(outcomes(&w), "\"outcome\":\"improved\"");
	oversight_world_end(&w);
}
END_TEST

/* All five of them, known or not. */
START_TEST(each_check_has_the_five_metrics)
{
	static const char *const metrics[] = { "progressRate", "errorPatterns",
		"resourceUsage", "timeElapsedMs", "qualityTrajectory" };
	struct oversight_world w;

	oversight_world_begin(&w, OVERSIGHT_ON);
	oversight_world_get_paused(&w);
	for (size_t i = 0; i < nitems(metrics); i++)
		has(oversight_world_recorded(&w, "check", NULL), metrics[i]);
	oversight_world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("oversight-levels");

	unit_case(suite, "levels",
	    (const TTest *const[]){
		a_medium_pattern_goes_up_to_a_pause_and_down_again,
		each_check_has_the_five_metrics, NULL });
	return suite;
}
