/* SPDX-License-Identifier: ISC */

/* The layers together, with the stand-in agent. */
#include "autorun.h"
#include "together.h"

void
unit_before(void)
{
	fleet_begin();
	together_begin();
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_goal_from_a_title_is_reached_and_told_of_truly)
{
	together_story();
}
