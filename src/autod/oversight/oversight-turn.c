/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "agent.h"
#include "auto.h"
#include "fleet.h"
#include "git-facts.h"
#include "iteration.h"
#include "loop.h"
#include "outcome.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "persist.h"
#include "plan-node.h"
#include "serve.h"
#include "session-hook.h"
#include "settings-table.h"
#include "task.h"
#include "watched.h"
#include "workspace.h"

/* --- watched tasks ------------------------------------------------ */

struct watched *
oversight_turn_known(const struct oversight_floor *floor, const char *task)
{
	struct watched *w;

	LIST_FOREACH (w, &floor->watched, entry)
		if (strcmp(w->task, task) == 0)
			return w;
	return NULL;
}

struct watched *
oversight_turn_find(struct oversight_floor *floor, const char *task)
{
	struct watched *w = oversight_turn_known(floor, task);
	const struct task *t = state_task(&floor->core->state, task);
	struct thresholds thresholds = floor->config.thresholds;

	if (w != NULL)
		return w;
	/* Words say what a task asks for only where it says how it is judged.
	 */
	if (t == NULL ||
	    (t->launch.scope_paths == NULL &&
		(t->text == NULL || strcasestr(t->text, "acceptance") == NULL)))
		thresholds.objective_similarity = 0;
	w = watched_new(floor->core->book, task, &thresholds);
	LIST_INSERT_HEAD(&floor->watched, w, entry);
	floor->unpruned = floor->unpruned || w->count == 0;
	return w;
}

/* Is this what the last iteration was for? */
static bool
is_for(const struct watched *w, const char *prompt)
{
	size_t len = text_cut(prompt, strlen(prompt), ITERATION_TEXT_MAX);

	return w->objective == NULL ||
	    (strlen(w->objective) == len &&
		memcmp(w->objective, prompt, len) == 0);
}

/* What a person has it do; NULL: nothing. */
static struct watched *
watched_by_hand(struct oversight_floor *floor, const struct agent *agent)
{
	const struct worker *worker = agent->worker;
	cleanup_free char *task = NULL;
	struct watched *w;

	if (worker->task != NULL || worker->prompt == NULL)
		return NULL;
	task = hand_task_name(worker->name);
	w = oversight_turn_find(floor, task);
	if (!is_for(w, worker->prompt))
		watched_restart(w, &floor->config.thresholds);
	return w;
}

struct watched *
oversight_turn_watched(struct oversight_floor *floor, const struct agent *agent)
{
	const struct task *t = auto_task(agent);

	if (floor->config.mode == OVERSIGHT_OFF)
		return NULL;
	return t != NULL ? oversight_turn_find(floor, t->id) :
			   watched_by_hand(floor, agent);
}

/* --- durations ------------------------------------------------------- */

struct turn_clock *
oversight_turn_clock(struct oversight_floor *floor, const char *worker)
{
	struct turn_clock *clock;

	for (size_t i = 0; i < floor->clock_count; i++)
		if (strcmp(floor->clocks[i].worker, worker) == 0)
			return &floor->clocks[i];
	floor->clocks = xreallocarray(
	    floor->clocks, floor->clock_count + 1, sizeof *floor->clocks);
	clock = &floor->clocks[floor->clock_count++];
	*clock = (struct turn_clock){ .worker = xstrdup(worker) };
	return clock;
}

/* Of the turn that ends now; the next part begins. */
static int64_t
take_duration(struct oversight_floor *floor, const struct agent *agent)
{
	struct turn_clock *clock =
	    oversight_turn_clock(floor, agent->worker->name);
	int64_t now = clock_mono_ms(), since = clock->since_ms;
	bool known = since != 0 && !clock->partial;

	clock->since_ms = now;
	clock->partial = false;
	clock->tools = 0;
	return known ? now - since : -1;
}

/* --- iterations ------------------------------------------------------ */

static void
judge(
    struct oversight_floor *floor, struct watched *w, const struct agent *agent)
{
	const struct progress_policy policy = {
		.by_hand = !auto_drives(floor->mode, agent),
	};
	cleanup_buf struct buf finding = BUF_INIT;
	struct detection worst;

	if (w->open == NULL)
		return;
	oversight_tell_fleet(floor, agent->worker->name, w->open);
	oversight_act_given(floor, w, agent->worker->name, false);
	w->observed = floor->config.mode == OVERSIGHT_OBSERVE;
	watched_judge(w, agent->worker->name, &policy);
	xstrset(&agent->worker->health, oversight_status_words[w->status]);
	if (w->status != OVERSIGHT_HEALTHY && watched_worst(w, &worst)) {
		progress_reason(&worst, &finding);
		detection_release(&worst);
	}
	xstrset(&agent->worker->finding, finding.len > 0 ? finding.data : NULL);
	persist_changed(floor->core);
	oversight_act_log(floor, w, agent);
	loop_call_request(floor->settle);
}

void
oversight_turn_begin(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, struct iteration_facts *facts)
{
	const struct task *t = auto_task(agent);
	struct auto_known known = auto_known(floor->mode, t);

	judge(floor, w, agent);
	facts->duration_ms = take_duration(floor, agent);
	facts->estimated_calls = -1;
	facts->estimated_cost = t != NULL ?
	    oversight_costs_estimate(
		&floor->costs, t, &facts->estimated_calls) :
	    NAN;
	facts->completion = known.percent;
	facts->expected = tuning.expected_iterations > 0 ?
	    tuning.expected_iterations :
	    plan_effort_iterations(known.effort);
	watched_begin(w, agent->worker->name, iteration_make(w, agent, facts));
}

void
oversight_turn_judge(
    struct oversight_floor *floor, struct watched *w, const struct agent *agent)
{
	if (w->open != NULL)
		iteration_catch_up(w, agent);
	judge(floor, w, agent);
}

/* --- inside of a long turn ---------------------------------------- */

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
	    oversight_turn_clock(floor, agent->worker->name);
	enum detection_type type = DETECTION_STUCK;
	enum progress_step due;
	enum progress_telling telling;

	if (oversight_act_stop(floor, w, agent, NULL))
		return;
	due = watched_due(w, &type);
	if (due <= STEP_LOG || due == STEP_CHECK)
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
	struct watched *w = oversight_turn_watched(floor, agent);
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
	    agent != NULL ? oversight_turn_watched(floor, agent) : NULL;

	cleanup_buf struct buf again = BUF_INIT;

	(void)facts;
	(void)err;
	if (agent != NULL)
		oversight_turn_clock(floor, slice->worker)->looking = false;
	if (w != NULL && strcmp(w->task, slice->task) == 0 &&
	    is_in_turn(agent) && !floor->core->stopping) {
		oversight_turn_begin(floor, w, agent,
		    &(struct iteration_facts){
			.snapshot = snapshot, .part = true });
		oversight_turn_judge(floor, w, agent);
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
	const struct watched *w = oversight_turn_watched(floor, agent);
	struct turn_clock *clock =
	    oversight_turn_clock(floor, agent->worker->name);
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
	oversight_turn_clock(floor, agent->worker->name)->tools++;
	look(floor, agent);
}

void
oversight_slice_patrol(struct oversight_floor *floor)
{
	struct buf none = BUF_INIT;

	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		struct watched *w = oversight_turn_watched(floor, agent);
		struct turn_clock *clock =
		    oversight_turn_clock(floor, agent->worker->name);

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
