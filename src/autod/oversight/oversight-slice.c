/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "git-facts.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "run-dir.h"
#include "serve.h"
#include "session-hook.h"
#include "settings-table.h"

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

/* Is a turn running that can be interrupted? */
static bool
is_in_turn(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_in_turn(w->status) && w->session.busy &&
	    w->session.step == PROMPT_NONE && !agent_is_taken(agent);
}

/* --- telling --------------------------------------------------------- */

static void
let_wait(struct agent *agent, bool on)
{
	agent_tools_wait(agent, AGENT_WAIT_OVERSIGHT, on);
}

/* again: what was said in this turn, and in vain. The watched task may be
 * gone. */
static void
tell(struct oversight_floor *floor, struct watched *w, struct agent *agent,
    struct buf *again)
{
	struct turn_clock *clock =
	    oversight_floor_clock(floor, agent->worker->name);
	enum detection_type type = DETECTION_STUCK;
	enum progress_step due;
	enum progress_telling telling;

	if (oversight_act_stop(floor, w, agent, NULL))
		return;
	due = watched_due(w, &type);
	if (due <= STEP_LOG)
		clock->due_ms = 0;
	else if (clock->due_ms == 0)
		clock->due_ms = clock_mono_ms();
	telling = progress_telling(
	    due, clock_mono_ms() - clock->due_ms, tuning.slice);
	let_wait(agent, telling == TELLING_CONTEXT && again->len == 0);
	if (due <= STEP_REDIRECT &&
	    (telling == TELLING_INTERRUPT || again->len > 0)) {
		/* What is due goes in front of it. */
		buf_addf(again, "%s%s", again->len > 0 ? "\n\n" : "", go_on);
		agent_interrupt(agent);
		agent_prompt(agent, again->data, false, agent->worker->status);
	}
}

bool
oversight_slice_tool_ended(
    void *arg, struct agent *agent, struct server_call *call, const char *event)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_floor_watched(floor, agent);
	cleanup_buf struct buf text = BUF_INIT;

	let_wait(agent, false);
	if (w == NULL || !is_in_turn(agent))
		return false;
	oversight_act_add(floor, w, agent, true, &text);
	if (text.len == 0)
		return false;
	serve_reply(
	    floor->core, call, session_hook_tool_answer(event, text.data));
	return true;
}

/* --- looking --------------------------------------------------------- */

static void
on_snapshot(const struct git_facts *facts, const struct git_snapshot *snapshot,
    const struct err *err, void *arg)
{
	struct slice *slice = arg;
	struct oversight_floor *floor = slice->floor;
	struct agent *agent = fleet_find(floor->fleet, slice->worker);
	struct watched *w =
	    agent != NULL ? oversight_floor_watched(floor, agent) : NULL;

	cleanup_buf struct buf again = BUF_INIT;

	(void)facts;
	(void)err;
	if (agent != NULL)
		oversight_floor_clock(floor, slice->worker)->looking = false;
	if (w != NULL && strcmp(w->task, slice->task) == 0 &&
	    is_in_turn(agent) && !floor->core->stopping) {
		oversight_floor_begin(floor, w, agent,
		    &(struct iteration_facts){
			.snapshot = snapshot, .part = true });
		oversight_floor_judge(floor, w, agent);
		oversight_act_again(floor, w, agent, &again);
		tell(floor, w, agent, &again);
	}
	slice_free(slice);
}

static bool
is_due(struct turn_clock *clock)
{
	if (clock->since_ms == 0) {
		clock->since_ms = clock_mono_ms();
		clock->partial = true;
	}
	return clock->tools >= tuning.slice_tools ||
	    clock_mono_ms() - clock->since_ms >= tuning.slice;
}

static void
look(struct oversight_floor *floor, struct agent *agent)
{
	const struct watched *w = oversight_floor_watched(floor, agent);
	struct turn_clock *clock =
	    oversight_floor_clock(floor, agent->worker->name);
	struct core *core = floor->core;
	struct slice *slice;

	if (w == NULL || clock->looking || !is_in_turn(agent) ||
	    !is_due(clock) || core->stopping)
		return;
	slice = xcalloc(1, sizeof *slice);
	slice->floor = floor;
	slice->worker = xstrdup(agent->worker->name);
	slice->task = xstrdup(w->task);
	LIST_INSERT_HEAD(&floor->slices, slice, entry);
	clock->looking = true;
	git_snapshot(core->git, agent->worker->worktree, core_branch(core),
	    w->tree, on_snapshot, slice);
}

void
oversight_slice_progressed(void *arg, struct agent *agent)
{
	struct oversight_floor *floor = arg;

	if (floor->config.mode == OVERSIGHT_OFF || !agent->worker->session.busy)
		return;
	oversight_floor_clock(floor, agent->worker->name)->tools++;
	look(floor, agent);
}

void
oversight_slice_patrol(struct oversight_floor *floor)
{
	struct buf none = BUF_INIT;

	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		struct watched *w = oversight_floor_watched(floor, agent);
		struct turn_clock *clock =
		    oversight_floor_clock(floor, agent->worker->name);

		if (w != NULL && is_in_turn(agent)) {
			look(floor, agent);
			tell(floor, w, agent, &none);
		} else {
			clock->due_ms = 0;
			let_wait(agent, false);
		}
		buf_release(&none);
	}
}

void
oversight_slice_begin(const struct oversight_floor *floor)
{
	for (size_t i = 0; i < floor->fleet->count; i++) {
		const struct agent *agent = floor->fleet->agents[i];

		if (agent->tools_wait == 0)
			run_dir_wait(
			    floor->core->workspace, agent->worker->name, false);
	}
}

void
oversight_slice_drop(struct oversight_floor *floor)
{
	struct slice *slice;

	while ((slice = LIST_FIRST(&floor->slices)) != NULL)
		slice_free(slice);
}
