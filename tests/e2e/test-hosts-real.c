/* SPDX-License-Identifier: ISC */

/* Two hosts with the real Claude Code, on a stub of its API. */
#include "fleet.h"
#include "hostrun.h"

const int unit_timeout = 600; /* seconds */

TEST(two_hosts_with_the_real_agent_share_a_queue)
{
	if (fleet_real_agent() == NULL)
		unit_skip("LLMC_REAL_CLAUDE is not set");
	hosts_begin(2, fleet_real_env());
	hosts_set(-1, "auto.concurrency", "1");
	for (int i = 0; i < 2; i++)
		hosts_do(i, "\"$LLMC\" doctor trust --onboarding");
	hosts_tasks(0, 0, 6, "fake: sleep 1500");
	hosts_up(0);
	hosts_up(1);
	hosts_wait_landed(6);
	e2e_has(hosts_do(0,
		    "git fetch -q && git log --format='%(trailers:key="
		    "Llmc-Attempt,valueonly)' origin/main"),
	    "/borg/");
	hosts_oracle(6);
	hosts_idle();
}
