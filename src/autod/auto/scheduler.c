/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent.h"
#include "asks.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "box-plan.h"
#include "emit.h"
#include "heartbeat.h"
#include "intake.h"
#include "landing-record.h"
#include "landing.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "review.h"
#include "settings.h"
#include "source.h"
#include "view-state.h"
#include "view.h"
#include "worker-op.h"

#define IDLE_MS (60 * 1000) /* until one is removed */

/* How many workers of a team may be at work: those for agents that others have
 * asked for, and one for each review. */
static size_t
limit(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	size_t reviews = 0;

	for (size_t i = 0; i < state->task_count; i++)
		reviews += review_is(state->tasks[i]) &&
		    state->tasks[i]->step != TASK_SETTLING;
	return reviews +
	    (size_t)settings_int(mode->core->settings, "team.max_concurrent");
}

/* Has it nothing to do, now or as soon as its session is ready? */
static bool
is_unused(const struct worker *w)
{
	return w->task == NULL && !w->on_hold &&
	    (w->status == WORKER_IDLE || w->status == WORKER_OFFLINE);
}

struct numbers {
	size_t all, unused, waiting;
};

static struct numbers
workers_count(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	struct numbers n = { 0 };

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		if (!worker_is_team(w->name))
			continue;
		n.all++;
		n.unused += is_unused(w);
		n.waiting += w->status == WORKER_WAITING;
	}
	return n;
}

static void
add_one(struct auto_mode *mode)
{
	for (int i = 1;; i++) {
		cleanup_free char *name = xasprintf("team-%d", i);

		if (state_find(&mode->core->state, name) != NULL)
			continue;
		op_add(mode->fleet, name, NULL);
		return;
	}
}

/* How many such tasks may be offered to workers at once? */
static size_t
team_workers_room(const struct auto_mode *mode)
{
	struct numbers n = workers_count(mode);
	size_t busy = n.all - n.waiting - n.unused, max = limit(mode);

	return busy < max ? max - busy : 0;
}

/* Can no more of them be made, and has none of them nothing to do? */
static bool
team_workers_full(const struct auto_mode *mode)
{
	struct numbers n = workers_count(mode);

	return n.unused == 0 && n.all - n.waiting >= limit(mode);
}

static bool
is_dismissed(const struct agent *agent, bool now)
{
	const struct worker *w = agent->worker;

	return worker_is_team(w->name) && is_unused(w) && worker_is_quiet(w) &&
	    !agent_is_taken(agent) && !agent->adopting &&
	    (now || clock_wall_ms() - w->since_ms >= IDLE_MS);
}

size_t
team_workers_dismiss(struct auto_mode *mode, bool now)
{
	for (size_t i = mode->fleet->count; i-- > 0;)
		if (is_dismissed(mode->fleet->agents[i], now))
			op_nuke(mode->fleet->agents[i], NULL);
	return workers_count(mode).unused;
}

static void
assign(struct auto_mode *mode, struct agent *agent, struct task *t)
{
	struct core *core = mode->core;
	struct worker *w = agent->worker;
	cleanup_buf struct buf text = BUF_INIT;

	task_assign(t, w->name, clock_wall_ms());
	/* It does not go on with what an earlier reviewer has said. */
	if (review_is(t)) {
		task_attempt_begin(t, clock_wall_ms());
		t->turns = t->nudges = 0;
	}
	xstrset(&t->run_id, core->state.run_id);
	task_text(t, &text);
	POLICY_TELL(mode, team, task_text, t, &text);
	xstrset(&w->prompt, text.data);
	xstrset(&w->prompt_command, t->source);
	xstrset(&w->task, t->id);
	w->self_review = agent_flag(agent, "self_review");
	w->self_reviewed = false;
	w->stalls = 0;
	agent->stall_ms = 0;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return;
	core->state.last_task_assignment_unix = clock_wall_ms() / 1000;
	mode->exhausted_reported = false;
	EMIT(core, EVENT_TASK_ASSIGNED, .worker = w->name, .task = t->id,
	    .title = t->title, .attempt = t->attempts);
	op_start(agent, NULL);
}

/* Does it wait for a goal that is paused: for a worker, or with one that has
 * asked a person? */
static bool
is_held(const struct auto_mode *mode, const struct task *t)
{
	const struct agent *agent = fleet_find(mode->fleet, t->worker);
	bool rests = t->step == TASK_WAITING ||
	    (t->step == TASK_ASSIGNED && agent != NULL &&
		(agent->worker->status == WORKER_PAUSED ||
		    agent->worker->status == WORKER_WAITING) &&
		!agent_is_taken(agent));

	return rests && intake_is_planned(t) &&
	    POLICY_ASK(mode, policy, holds, t);
}

/* May it begin here? Where hosts share tasks, one that was claimed. */
static bool
may_begin(const struct auto_mode *mode, const struct task *t)
{
	return mode->hosts == NULL ||
	    mode->hosts->may_begin(mode->hosts_arg, t);
}

static size_t
count_tasks(const struct auto_mode *mode,
    bool (*is)(const struct auto_mode *mode, const struct task *t))
{
	const struct state *state = &mode->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++)
		count += is(mode, state->tasks[i]);
	return count;
}

/* Is its pull request for a person to merge? */
static bool
waits_for_merge(const struct auto_mode *mode, const struct task *t)
{
	(void)mode;
	return t->step == TASK_QUEUED && t->pull_asks;
}

/* Has its worker finished it, and may only a person accept it? */
static bool
is_finished_by(const struct auto_mode *mode, const struct agent *agent)
{
	const struct worker *w = agent->worker;
	const struct task *t = auto_task(agent);

	return w->for_person && w->status == WORKER_NEEDS_REVIEW && t != NULL &&
	    t->step == TASK_ASSIGNED && !agent_is_taken(agent) &&
	    auto_drives(mode, agent);
}

/* The same, or the landing queue has it. */
static bool
waits_for_accept(const struct auto_mode *mode, const struct task *t)
{
	const struct agent *agent = fleet_find(mode->fleet, t->worker);

	if (t->step == TASK_QUEUED)
		return landing_record_held(
			   &mode->core->state.landings, t->id) != NULL;
	return agent != NULL && auto_task(agent) == t &&
	    is_finished_by(mode, agent);
}

/* Does it wait for agents that do not go on, or begin, by themselves? */
static bool
waits_in_vain(const struct auto_mode *mode, const struct task *t)
{
	const struct state *state = &mode->core->state;
	const struct agent *agent = fleet_find(mode->fleet, t->worker);
	size_t resting = 0, held = 0;

	if (t->step != TASK_ASSIGNED || agent == NULL ||
	    auto_task(agent) != t || agent->worker->status != WORKER_WAITING ||
	    agent_is_taken(agent) || is_held(mode, t))
		return false;
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *child = state->tasks[i];

		if (!task_is_child(child) ||
		    strcmp(child->launch.parent, t->id) != 0)
			continue;
		if (child->step != TASK_PARKED && !is_held(mode, child) &&
		    !waits_for_merge(mode, child) &&
		    !waits_for_accept(mode, child) &&
		    !waits_in_vain(mode, child))
			return false;
		resting++;
	}
	if (POLICY_ASK(mode, team, unbegun, t, &held) > held)
		return false;
	return resting + held > 0;
}

static bool
fits(const struct auto_mode *mode, const struct task *t, const char *worker)
{
	return t->sandbox == NULL ||
	    task_fits(t, box_mode_of(mode->core->settings, worker));
}

/* Is the task for another worker than this one, which has failed at it, and is
 * there another one? */
static bool
is_for_another(
    const struct auto_mode *mode, const struct task *t, const char *worker)
{
	const struct state *state = &mode->core->state;

	/* Workers of a team are not chosen from the pool. */
	if (t->avoid == NULL || task_is_for_team(t) ||
	    strcmp(t->avoid, worker) != 0)
		return false;
	for (size_t i = 0; state->auto_workers[i] != NULL; i++) {
		const struct worker *w =
		    state_find(state, state->auto_workers[i]);

		if (w != NULL && strcmp(w->name, worker) != 0 &&
		    w->status != WORKER_ERROR && worker_holds(w) == 0 &&
		    !w->on_hold && fits(mode, t, w->name))
			return true;
	}
	return false;
}

/* An answered task goes on in its own conversation, with the worker that has
 * it. Others get it only if they have nothing else to do. */
enum claim {
	CLAIM_OWN,
	CLAIM_NONE,
	CLAIM_OTHERS,
	CLAIM_COUNT
};

static enum claim
claim_of(const struct task *t, const char *worker)
{
	if (t->conversation == NULL)
		return CLAIM_NONE;
	return strcmp(t->worker, worker) == 0 ? CLAIM_OWN : CLAIM_OTHERS;
}

/* The next task that this worker, of a team or not, may have; NULL = none. */
static struct task *
next_task(const struct auto_mode *mode, bool team, const char *worker,
    enum claim claim)
{
	const struct state *state = &mode->core->state;
	cleanup_free struct task **list =
	    xcalloc(state->task_count + 1, sizeof(struct task *));
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++)
		if (claim_of(state->tasks[i], worker) == claim &&
		    !is_held(mode, state->tasks[i]) &&
		    may_begin(mode, state->tasks[i]) &&
		    task_is_for_team(state->tasks[i]) == team &&
		    fits(mode, state->tasks[i], worker) &&
		    !is_for_another(mode, state->tasks[i], worker))
			list[count++] = state->tasks[i];
	return task_next_waiting(list, count);
}

/* How many tasks wait, for workers of a team or others? */
static size_t
count_waiting(const struct auto_mode *mode, bool team)
{
	const struct state *state = &mode->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++)
		count += state->tasks[i]->step == TASK_WAITING &&
		    task_is_for_team(state->tasks[i]) == team &&
		    may_begin(mode, state->tasks[i]) &&
		    !is_held(mode, state->tasks[i]);
	return count;
}

/* How many wait that are not for every worker? Those that are left beside a
 * free one are not for it. */
static size_t
count_choosy(const struct auto_mode *mode, enum intake_kind kind)
{
	const struct state *state = &mode->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		count += t->step == TASK_WAITING && intake_kind_of(t) == kind &&
		    (t->sandbox != NULL || t->avoid != NULL);
	}
	return count;
}

/* The first tool that the task needs and its agent would not have; NULL =
 * none. Borrowed. */
static const char *
lacks_tool(const struct auto_mode *mode, const struct task *t)
{
	const struct settings *settings = mode->core->settings;
	cleanup_agent_card struct agent_card *card = NULL;
	cleanup_tool_scope struct tool_scope scope = { 0 };
	const char *const *denied;
	char *const *tool = t->launch.required_tools;

	if (tool == NULL)
		return NULL;
	card = agent_card_for(settings, t->launch.agent, t->launch.role);
	settings_list(settings, "defaults.disallowed_tools", &denied);
	if (tool_scope_of_run(card, &t->launch, &scope, NULL) < 0)
		return *tool;
	for (; *denied != NULL; denied++)
		strv_add(&scope.deny, *denied);
	while (*tool != NULL && !tool_scope_lacks(&scope, *tool))
		tool++;
	return *tool;
}

/* Why no worker may have the task, and what to do about it; NULL = one may.
 * The caller frees it. */
static char *
unfit_why(const struct auto_mode *mode, const struct task *t)
{
	char *const *workers = mode->core->state.auto_workers;
	const char *tool = lacks_tool(mode, t);

	if (tool != NULL && t->launch.agent != NULL)
		return xasprintf("it needs the tool %s, which the agent %s "
				 "does not have: change agents.%s.tools, "
				 "then: llmc task retry %s",
		    tool, t->launch.agent, t->launch.agent, t->id);
	if (tool != NULL)
		return xasprintf("it needs the tool %s, which its agent would "
				 "not have: look at "
				 "defaults.disallowed_tools, then: llmc task "
				 "retry %s",
		    tool, t->id);
	if (task_is_for_team(t) || workers[0] == NULL)
		return NULL;
	for (; *workers != NULL; workers++)
		if (fits(mode, t, *workers))
			return NULL;
	return xasprintf("%s added it in sandbox %s, and no worker of auto "
			 "mode has one so strict: llmc config set "
			 "defaults.sandbox %s, then: llmc task retry %s",
	    t->maker != NULL ? t->maker : "an agent", t->sandbox, t->sandbox,
	    t->id);
}

static bool
give(struct auto_mode *mode, struct agent *agent, bool team, enum claim claim)
{
	struct task *t = next_task(mode, team, agent->worker->name, claim);

	if (t == NULL)
		return false;
	assign(mode, agent, t);
	return true;
}

/* A task for one whose login is refused would only wait with it. */
static bool
may_get(const struct agent *agent)
{
	return agent_is_free(agent) && !turn_failure_login_is_lost(agent);
}

/* Assign waiting tasks to free workers; returns how many workers are left. */
static size_t
give_out(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	size_t left = 0;

	for (int claim = 0; claim < CLAIM_COUNT; claim++) {
		left = 0;
		for (size_t i = 0; state->auto_workers[i] != NULL; i++) {
			struct agent *agent =
			    fleet_find(mode->fleet, state->auto_workers[i]);

			left += agent != NULL && may_get(agent) &&
			    !give(mode, agent, false, (enum claim)claim);
		}
	}
	return left;
}

/* The same for the workers of a team; those that are missing are made. */
static void
give_to_team(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	size_t waiting = count_waiting(mode, true);
	struct numbers n;
	size_t max;

	for (int claim = 0; claim < CLAIM_COUNT; claim++)
		for (size_t i = 0; waiting > 0 && i < state->count; i++) {
			struct agent *agent =
			    fleet_find(mode->fleet, state->workers[i]->name);

			if (worker_is_team(state->workers[i]->name) &&
			    agent != NULL && may_get(agent))
				waiting -=
				    give(mode, agent, true, (enum claim)claim);
		}
	/* This many of these tasks wait: make workers for those that will
	 * have none. */
	n = workers_count(mode);
	max = limit(mode);
	for (; n.unused < waiting && n.all - n.waiting < max; n.unused++) {
		add_one(mode);
		n.all++;
	}
}

/* Does a task wait for which no worker is free, or will be in a moment? team:
 * for one of those workers, or for another one? */
static bool
wants_worker(const struct auto_mode *mode, bool team)
{
	const struct state *state = &mode->core->state;
	size_t without = 0;

	if (team)
		return count_waiting(mode, true) > 0 && team_workers_full(mode);
	for (size_t i = 0; state->auto_workers[i] != NULL; i++) {
		const struct worker *w =
		    state_find(state, state->auto_workers[i]);

		if (w != NULL && w->task == NULL && w->status != WORKER_ERROR &&
		    w->status != WORKER_PAUSED && !w->on_hold)
			without++;
	}
	return count_waiting(mode, false) > without;
}

bool
scheduler_frees(void *arg, struct agent *agent, const char *task)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	struct task *t = state_task(&core->state, task);
	bool held = landing_record_held(&core->state.landings, task) != NULL;

	if (core->stopping || t == NULL || t->step != TASK_ASSIGNED)
		return false;
	if (!held &&
	    (!mode->begun || core->state.paused != NULL ||
		!auto_drives(mode, agent)))
		return false;
	if (!held && !wants_worker(mode, worker_is_team(agent->worker->name))) {
		loop_call_request(
		    mode->look); /* the source may have a task for it */
		return false;
	}
	task_queue(t, clock_wall_ms());
	/* In which it goes on if a person sends it back. */
	if (held)
		task_keep_conversation(t, &agent->worker->session);
	xstrset(&agent->worker->task, NULL);
	persist_changed(core);
	return true;
}

/* Work that waits for a person needs no worker: those that are wanted put it
 * into the queue. How many could? */
static size_t
hold_finished(struct auto_mode *mode)
{
	size_t left = 0;

	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		bool team = worker_is_team(agent->worker->name);

		if (!is_finished_by(mode, agent) || agent->worker->on_hold)
			continue;
		if (wants_worker(mode, team))
			after_landing_hold(mode, agent);
		else
			left += !team;
	}
	return left;
}

/* A worker without a task may still be being reset. */
static bool
is_at_rest(const struct auto_mode *mode)
{
	for (size_t i = 0; i < mode->fleet->count; i++)
		if (agent_is_taken(mode->fleet->agents[i]))
			return false;
	return true;
}

/* Was something of this run not done? What an earlier run left, and only a
 * person can end, is not this run's. */
static bool
needs_person(const struct auto_mode *mode)
{
	struct core *core = mode->core;
	const struct state *state = &core->state;
	cleanup_json struct json_object *view = view_new();
	struct view_files *files = view_files_new(core->workspace);

	asks_look(core);
	view_state_fill(state, core->settings, NULL, NULL, view);
	view_files_fill(files, view);
	view_files_free(files);
	for (size_t i = 0; i < state->ask_count; i++)
		if (state->asks[i]->stays &&
		    state->asks[i]->created_ms < state->run_ms)
			json_object_object_del(
			    view_of(view, "asks"), state->asks[i]->id);
	view_needs(view);
	return view_needs_work(view);
}

static void
end_of_tasks(struct auto_mode *mode)
{
	struct core *core = mode->core;
	size_t parked = intake_count(mode, TASK_PARKED);
	size_t held = count_tasks(mode, is_held);
	size_t in_vain = count_tasks(mode, waits_in_vain);
	size_t merges = count_tasks(mode, waits_for_merge);
	size_t accepts = count_tasks(mode, waits_for_accept);
	cleanup_buf struct buf more = BUF_INIT;

	if (!mode->exhausted_reported) {
		mode->exhausted_reported = true;
		if (parked > 0)
			buf_addf(&more, ", %zu parked: llmc task list", parked);
		if (held > 0)
			buf_addf(&more, ", %zu of paused goals: llmc goal list",
			    held);
		if (in_vain > 0)
			buf_addf(&more,
			    ", %zu waiting for agents that do not go on: llmc "
			    "status",
			    in_vain);
		if (merges > 0)
			buf_addf(&more,
			    ", %zu whose pull request waits for you: llmc asks",
			    merges);
		if (accepts > 0)
			buf_addf(&more,
			    ", %zu whose work waits for you: llmc asks",
			    accepts);
		if (!mode->until_empty)
			buf_adds(&more, "; waiting for more");
		EMIT(core, EVENT_TASKS_EXHAUSTED, .done = (int64_t)mode->done,
		    .failed = (int64_t)mode->failed, .text = more.data);
	}
	if (!mode->until_empty || team_workers_dismiss(mode, true) > 0 ||
	    !is_at_rest(mode))
		return;
	if (mode->failed > 0 || mode->quarantined != NULL || held > 0 ||
	    parked > 0 || in_vain > 0 || merges > 0 || accepts > 0 ||
	    POLICY_ASK(mode, policy, is_lost) || needs_person(mode))
		core->exit_status = 1;
	life_complete(core,
	    held > 0 ? "no task is left, except those of paused goals" :
		in_vain > 0 ?
		       "no task is left, except those that wait for agents "
		       "that cannot go on; look at them with: llmc status" :
		       "no task is left",
	    false);
}

/* Tasks are left, but no worker can do them before a person has looked. */
static void
end_of_workers(struct auto_mode *mode)
{
	struct core *core = mode->core;

	if (!is_at_rest(mode))
		return;
	core->exit_status = 1;
	life_complete(core,
	    "every worker waits for agents that cannot go on; look at them "
	    "with: llmc status",
	    false);
}

static bool
do_all_wait_in_vain(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; state->auto_workers[i] != NULL; i++) {
		const struct worker *w =
		    state_find(state, state->auto_workers[i]);
		const struct task *t =
		    w != NULL ? state_task(state, w->task) : NULL;

		if (w != NULL && (t == NULL || !waits_in_vain(mode, t)))
			return false;
	}
	return state->auto_workers[0] != NULL;
}

/* All that do not go on by themselves. */
static size_t
count_resting(const struct auto_mode *mode)
{
	return intake_count(mode, TASK_PARKED) + count_tasks(mode, is_held) +
	    count_tasks(mode, waits_in_vain) +
	    count_tasks(mode, waits_for_merge) +
	    count_tasks(mode, waits_for_accept);
}

/* Does nothing go on before a person has looked? */
static bool
is_stuck(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	return do_all_wait_in_vain(mode) &&
	    count_resting(mode) + count_waiting(mode, false) ==
	    state->task_count;
}

/* Returns how many workers are left without a task. */
static size_t
look_at_all(struct auto_mode *mode)
{
	const struct core *core = mode->core;
	size_t left, unused, ahead;
	const struct state *state;
	bool trying;

	if (mode->until_empty && mode->begun && !core->stopping &&
	    core->state.paused != NULL && is_at_rest(mode) &&
	    state_ask(&core->state, ASKS_TRIAL) != NULL) {
		mode->core->exit_status = 1;
		life_complete(mode->core,
		    "auto.check_command fails on the branch as it is; see: "
		    "llmc asks",
		    false);
		return 0;
	}
	if (!mode->begun || core->stopping || core->state.paused != NULL ||
	    pause_holds(mode))
		return 0;
	trying = landings_trying(mode->landings);
	if (!landings_tried(mode->landings)) {
		if (!trying)
			heartbeat_now(core->heartbeat);
		return 0;
	}
	/* Those that no worker may have are for a person to decide. */
	state = &mode->core->state;
	for (size_t i = 0; i < state->task_count; i++) {
		struct task *t = state->tasks[i];
		cleanup_free char *why =
		    t->step == TASK_WAITING && may_begin(mode, t) ?
		    unfit_why(mode, t) :
		    NULL;

		if (why == NULL ||
		    task_park(t, ASK_APPROVAL, NULL, why, clock_wall_ms()) < 0)
			continue;
		persist_changed(mode->core);
		EMIT(mode->core, EVENT_TASK_NOT_TAKEN, .task = t->id,
		    .key = t->key, .reason = why);
	}
	unused = give_out(mode);
	left =
	    unused + landings_long_waits(mode->landings) + hold_finished(mode);
	give_to_team(mode);
	ahead = mode->hosts != NULL ? mode->hosts->ahead(mode->hosts_arg) : 0;
	intake_ask_plan(
	    mode, INTAKE_PLAN, left + ahead + count_choosy(mode, INTAKE_PLAN));
	intake_ask_plan(mode, INTAKE_TEAM, team_workers_room(mode));
	if (wants_worker(mode, false) || wants_worker(mode, true))
		landings_kick(mode->landings); /* it may release one */
	if (source_asking(mode->source))
		return unused;
	if (mode->worth_asking &&
	    left + ahead + count_choosy(mode, INTAKE_POOL) >
		intake_unstarted(mode, INTAKE_POOL))
		intake_ask(mode);
	else if (!mode->worth_asking &&
	    core->state.task_count == count_resting(mode) &&
	    mode->post == NULL && !POLICY_ASK(mode, policy, expects) &&
	    (mode->feed == NULL || !mode->feed(mode->feed_arg)) &&
	    (mode->hosts == NULL || !mode->hosts->expects(mode->hosts_arg)))
		end_of_tasks(mode);
	else if (mode->until_empty && is_stuck(mode) && mode->post == NULL)
		end_of_workers(mode);
	return unused;
}

static void
look(void *arg)
{
	struct auto_mode *mode = arg;
	size_t unused;

	work_review_tend(mode);
	unused = look_at_all(mode);
	if (mode->hosts != NULL)
		mode->hosts->room(mode->hosts_arg, unused);
}

void
scheduler_init(struct auto_mode *mode)
{
	mode->look = loop_call_new(mode->core->loop, look, mode);
}
