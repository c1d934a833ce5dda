/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "git-snapshot.h"
#include "iteration-make.h"
#include "mem.h"
#include "oversight-act.h"
#include "oversight-floor.h"
#include "oversight-slice.h"

static const char go_on[] =
    "You were interrupted because of how the work went. Continue the task in this "
    "way.";

/* Git is looking at the worktree. */
struct slice {
	LIST_ENTRY(slice) entry;
	struct oversight_floor *floor;
	char *worker, *task;
};

static void
slice_free(struct slice *slice)
{
	LIST_REMOVE(slice, entry);
	free(slice->worker);
	free(slice->task);
	free(slice);
}

/* Is a turn running that can be told something? */
static bool
is_in_turn(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_in_turn(w->status) && w->session.busy &&
	    w->session.step == PROMPT_NONE && !agent_is_taken(agent);
}

/* Another approach cannot wait for the end of the turn, a warning can. It goes
 * in front of the message. */
static void
tell(struct oversight_floor *floor, struct watched *w, struct agent *agent)
{
	enum detection_type type;

	if (oversight_act_stop(floor, w, agent, NULL) ||
	    watched_due(w, &type) != INTERVENTION_REDIRECT)
		return;
	agent->worker->session.busy = false;
	agent_interrupt(agent);
	agent_prompt(agent, go_on, false, agent->worker->status);
}

static void
on_snapshot(
    const struct git_snapshot *snapshot, const struct err *err, void *arg)
{
	struct slice *slice = arg;
	struct oversight_floor *floor = slice->floor;
	struct agent *agent = fleet_find(floor->fleet, slice->worker);
	struct watched *w =
	    agent != NULL ? oversight_floor_watched(floor, agent) : NULL;

	(void)err;
	oversight_floor_clock(floor, slice->worker)->looking = false;
	if (w != NULL && strcmp(w->task, slice->task) == 0 &&
	    is_in_turn(agent)) {
		oversight_floor_begin(floor, w, agent,
		    &(struct iteration_facts){ .snapshot = snapshot });
		oversight_floor_judge(floor, w, agent);
		tell(floor, w, agent);
	}
	slice_free(slice);
}

static bool
is_due(const struct oversight_floor *floor, const struct turn_clock *clock)
{
	return clock->tools >= floor->config.slice_tools ||
	    (clock->since_ms != 0 &&
		clock_mono_ms() - clock->since_ms >= floor->config.slice_ms);
}

static void
look(struct oversight_floor *floor, struct agent *agent)
{
	const struct watched *w = oversight_floor_watched(floor, agent);
	struct turn_clock *clock =
	    oversight_floor_clock(floor, agent->worker->name);
	struct core *core = floor->core;
	struct slice *slice;

	if (w == NULL || clock->looking || !is_due(floor, clock) ||
	    !is_in_turn(agent) || core->stopping)
		return;
	slice = xcalloc(1, sizeof *slice);
	slice->floor = floor;
	slice->worker = xstrdup(agent->worker->name);
	slice->task = xstrdup(w->task);
	LIST_INSERT_HEAD(&floor->slices, slice, entry);
	clock->looking = true;
	git_snapshot(core->git, agent->worker->worktree, core_branch(core),
	    w->tree, true, on_snapshot, slice);
}

void
oversight_slice_progressed(void *arg, struct agent *agent)
{
	struct oversight_floor *floor = arg;

	if (!floor->config.enabled || !agent->worker->session.busy)
		return;
	oversight_floor_clock(floor, agent->worker->name)->tools++;
	look(floor, agent);
}

void
oversight_slice_patrol(struct oversight_floor *floor)
{
	if (!floor->config.enabled)
		return;
	for (size_t i = 0; i < floor->fleet->count; i++)
		look(floor, floor->fleet->agents[i]);
}

void
oversight_slice_drop(struct oversight_floor *floor)
{
	struct slice *slice;

	while ((slice = LIST_FIRST(&floor->slices)) != NULL)
		slice_free(slice);
}
