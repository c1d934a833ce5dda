/* SPDX-License-Identifier: ISC */

/* Delegation from a goal to landed commits with nobody at the keyboard, with
 * the stand-in agent. */
#include "teamrun.h"

void
unit_before(void)
{
	fleet_begin();
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_parent_and_its_children_reach_a_goal)
{
	team_story();
}

#define SEND                                                         \
	"fake: tool mail_send {\"to\":\"person\",\"subject\":\"x\"," \
	"\"body\":\"x\"}\nfake: keep %s\n"

/* mail_send was denied by the hook. */
static void
was_denied(const char *kept)
{
	e2e_has(team_read(kept), "do not have the tool mcp__llmc__mail_send");
}

/* By the hook of the first session, of the one that resumes it, and of that one
 * while no daemon runs. */
TEST(a_tool_that_was_denied_at_the_spawn_stays_denied)
{
	struct json_object *child =
	    team_child(e2e_path("Make a.\n" SEND "fake: run %s\n",
			   team_kept("first"), auto_gate("first")),
		"{\"toolsDeny\":[\"mcp__llmc__mail_send\"]}");
	int agent;

	goal_enable();
	auto_ails("");
	goal_of_one_task(
	    e2e_path("fake: commit p.txt x\n%s", team_spawn(child, NULL)));
	auto_up("--until-empty", NULL);
	auto_wait_gate("first");
	was_denied("first");
	auto_ails(e2e_path(SEND "fake: run %s\n" SEND "fake: commit a.txt x\n",
	    team_kept("resumed"), auto_gate("resumed"), team_kept("alone")));
	agent = fleet_agent_pid("team-1");
	fleet_kill(agent);
	auto_wait_gate("resumed");
	auto_ails("");
	e2e_has(e2e_sh(fleet_root(),
		    e2e_path("tr '\\0' ' ' </proc/%d/cmdline",
			fleet_next_agent_pid("team-1", agent)))
		    ->out,
	    "--resume ");
	was_denied("resumed");
	auto_kill9_daemon();
	auto_open_gate("resumed");
	auto_wait_shell(e2e_path("test -s '%s'", team_kept("alone")));
	was_denied("alone");
	auto_up(NULL);
	auto_wait_finished("landed", 2);
	/* It stands below nobody else when its parent has ended. */
	e2e_has(
	    fleet_do("goal", "tree", NULL)->out, "\nactor:team:coder:coder-1 ");
	auto_drain();
	auto_history("a.txt: x", "p.txt: x", NULL);
	auto_no_sessions();
}
