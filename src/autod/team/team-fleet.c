/* SPDX-License-Identifier: ISC */

#include "agent-card.h"
#include "buf.h"
#include "fleet-table.h"
#include "settings.h"
#include "task-run.h"
#include "task.h"
#include "team-fleet.h"
#include "team-floor.h"
#include "tool-scope.h"

#define SPAWN "mcp__llmc__agent_spawn"

struct hierarchy_place
team_fleet_place(const struct settings *settings, const struct task_run *run)
{
	/* One that was handed over keeps its place. */
	if (run == NULL || run->depth == 0)
		return hierarchy_root_worker(
		    (int)settings_int(settings, "team.max_depth"));
	return (struct hierarchy_place){ .depth = run->depth,
		.max_depth = run->max_depth,
		.local_max_depth = run->local_max_depth };
}

bool
team_fleet_has_tool(const struct settings *settings, const struct task_run *run,
    const char *tool)
{
	cleanup_agent_card struct agent_card *card = run != NULL ?
	    agent_card_for(settings, run->agent, run->role) :
	    NULL;
	cleanup_tool_scope struct tool_scope scope = { 0 };

	return tool_scope_of_run(card, run, &scope, NULL) == 0 &&
	    tool_scope_permits(&scope, tool);
}

void
team_fleet_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out)
{
	const struct settings *settings = floor->core->settings;
	struct hierarchy_place place = team_fleet_place(settings, task->run);
	bool may = hierarchy_may_spawn(&place) == HIERARCHY_ALLOW;
	cleanup_buf struct buf table = BUF_INIT;

	if (!settings_bool(settings, "plan.enabled") ||
	    settings_int(settings, "team.max_concurrent") == 0 ||
	    !team_fleet_has_tool(settings, task->run, SPAWN))
		return;
	buf_addf(out, "\n\nYou are at depth %d of at most %d%s.", place.depth,
	    hierarchy_deepest(&place),
	    may ? "" : ", so you cannot ask for other agents");
	if (!may)
		return;
	fleet_table_add(settings, &table);
	if (table.len > 0)
		buf_addf(out, "\n\n%s", table.data);
}
