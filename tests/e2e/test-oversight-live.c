/* SPDX-License-Identifier: ISC */

/* Thirty healthy histories and twenty sick ones, with the stand-in agent. */
#include "autorun.h"
#include "livework.h"

const int unit_timeout = 400; /* seconds, each */

void
unit_before(void)
{
	fleet_begin();
	livework_begin();
	auto_set("auto.concurrency", "4");
}

TEST(healthy_work_is_left_alone_and_sick_work_is_met)
{
	livework_story(1, 30, 20);
}
