/* SPDX-License-Identifier: ISC */

/* A night with default settings and everything on, with the stand-in agent. */
#include "nightrun.h"
#include "overrun.h"

#define TIMES     4
#define TIMEOUT_S 380

void
unit_before(void)
{
	over_begin();
	e2e_hurry(TIMES);
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	night_begin();
}

const int unit_timeout = TIMEOUT_S; /* seconds, each */

TEST(healthy_work_lands_and_the_rest_is_in_one_list)
{
	night_story(&(struct night){
	    .small = 6, .calls = 150, .children = 4, .kills_agent = true });
}
