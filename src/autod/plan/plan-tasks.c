/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "id.h"
#include "intake.h"
#include "loop.h"
#include "mem.h"
#include "node-run.h"
#include "outcome.h"
#include "persist.h"
#include "plan-apply.h"
#include "plan-bind.h"
#include "plan-catch-up.h"
#include "plan-dispatch.h"
#include "plan-files.h"
#include "plan-floor.h"
#include "plan-known.h"
#include "plan-persist.h"
#include "plan-pool.h"
#include "plan-prompt.h"
#include "plan-ready.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "planbook.h"
#include "planner.h"
#include "reconcile-config.h"
#include "source.h"
#include "task-run.h"

#define OFFERS_MAX 64 /* looked for at once, of each kind */

/* Something about a task that is being stored, or a goal that is being read
 * for it. */
struct pending {
	TAILQ_ENTRY(pending) entry;
	struct plan_tasks *tasks;
	char *id;
};

TAILQ_HEAD(pendings, pending);

struct offers {
	char *keys[OFFERS_MAX];
	size_t count, at;
};

struct plan_tasks {
	struct plan_floor *floor;
	bool begun;
	bool looks_again; /* once everything is stored */
	struct plan_files *files;
	struct pendings storing; /* by task */
	struct pendings refused; /* the store does not take them; by task */
	struct pendings reading; /* by goal */
	struct pendings missing; /* goals that were read, and are not there */
	/* The next offers, for one pass of the loop: [1] those that agents have
	 * asked for, [0] the others; NULL = not looked for yet. */
	struct offers *ready;
	struct loop_call *forget_ready;
	char *key, *title; /* of the last offer */
	struct task_run *run; /* likewise */
	struct buf text;
};

/* --- what is pending -------------------------------------------------- */

static struct pending *
pending_find(const struct pendings *list, const char *id)
{
	struct pending *p;

	TAILQ_FOREACH (p, list, entry)
		if (strcmp(p->id, id) == 0)
			return p;
	return NULL;
}

static struct pending *
pending_add(struct plan_tasks *tasks, struct pendings *list, const char *id)
{
	struct pending *p = xcalloc(1, sizeof *p);

	p->tasks = tasks;
	p->id = xstrdup(id);
	TAILQ_INSERT_TAIL(list, p, entry);
	return p;
}

static void
pending_free(struct pendings *list, struct pending *p)
{
	TAILQ_REMOVE(list, p, entry);
	free(p->id);
	free(p);
}

static void
pending_clear(struct pendings *list)
{
	struct pending *p;

	while ((p = TAILQ_FIRST(list)) != NULL)
		pending_free(list, p);
}

static void
on_stored(const struct err *err, void *arg)
{
	struct pending *p = arg;
	struct plan_tasks *tasks = p->tasks;

	if (err != NULL)
		pending_add(tasks, &tasks->refused, p->id);
	pending_free(&tasks->storing, p);
	auto_plan_changed(tasks->floor->mode);
}

/* Ask again when it is stored. */
static int
wait_stored(struct plan_tasks *tasks, const struct task *t,
    const struct plan *plan, struct err *err)
{
	plan_persist_then(plan_floor_persist(tasks->floor), tasks,
	    plan->goal->id, on_stored,
	    pending_add(tasks, &tasks->storing, t->id));
	return err_set(err, -EINPROGRESS, "it is being stored");
}

static void
on_read(void *arg)
{
	struct pending *p = arg;
	struct plan_tasks *tasks = p->tasks;

	if (plan_set_plan(plan_floor_set(tasks->floor), p->id) == NULL)
		pending_add(tasks, &tasks->missing, p->id);
	pending_free(&tasks->reading, p);
	auto_plan_changed(tasks->floor->mode);
}

/* The plan of a goal, also of one that has ended: -EINPROGRESS while it is
 * read, -ENOENT if there is none. */
static int
find_plan(struct plan_tasks *tasks, const char *goal_id, struct plan **ret_plan,
    struct err *err)
{
	*ret_plan = plan_set_plan(plan_floor_set(tasks->floor), goal_id);
	if (*ret_plan != NULL)
		return 0;
	if (pending_find(&tasks->missing, goal_id) != NULL)
		return err_set(err, -ENOENT, "there is no goal %s", goal_id);
	if (pending_find(&tasks->reading, goal_id) == NULL)
		planbook_fetch(tasks->floor->book, goal_id, on_read,
		    pending_add(tasks, &tasks->reading, goal_id));
	return err_set(err, -EINPROGRESS, "its goal is being read");
}

/* --- the state -------------------------------------------------------- */

struct task *
plan_tasks_of(
    const struct plan_floor *floor, const struct plan_assignment *assignment)
{
	struct task *t = assignment->task == NULL ?
	    NULL :
	    state_task(&floor->core->state, assignment->task);

	return t != NULL && plan_bind_is_for(t, assignment) ? t : NULL;
}

/* Nobody has begun it: nothing is lost with it. */
static bool
is_unstarted(const struct task *t)
{
	return t->step == TASK_OFFERED ||
	    (t->step == TASK_WAITING && t->attempts == 0 && t->from == NULL);
}

/* --- offer ------------------------------------------------------------ */

static void
forget_ready(struct plan_tasks *tasks)
{
	struct offers *ready = take_ptr(&tasks->ready);

	for (int team = 0; ready != NULL && team < 2; team++)
		for (size_t i = 0; i < ready[team].count; i++)
			free(ready[team].keys[i]);
	free(ready);
}

static void
on_pass_end(void *arg)
{
	forget_ready(arg);
}

static void
add_ready(struct plan_tasks *tasks, const char *goal_id, const char *node_id,
    const struct plan_node *node)
{
	const struct state *state = &tasks->floor->core->state;
	struct offers *ready =
	    &tasks->ready[node != NULL && node_run_is_spawned(node)];
	char *key = xasprintf("%s/%s", goal_id, node_id);

	if (ready->count == OFFERS_MAX ||
	    state_task_by_key(state, AUTO_PLAN_SOURCE, key) != NULL)
		free(key);
	else
		ready->keys[ready->count++] = key;
}

/* What is to be started anew comes first, then what is ready. */
static void
find_ready(struct plan_tasks *tasks)
{
	const struct plan_set *set = plan_floor_set(tasks->floor);
	cleanup_free struct plan_ready *list = NULL;
	size_t count;

	forget_ready(tasks);
	tasks->ready = xcalloc(2, sizeof *tasks->ready);
	for (size_t i = 0; i < set->assignment_count; i++)
		if (plan_bind_wants_worker(set, set->assignments[i]))
			add_ready(tasks, set->assignments[i]->goal_id,
			    set->assignments[i]->node_id,
			    plan_set_node_of(set, set->assignments[i]));
	count = plan_ready_list(set, &list);
	for (size_t i = 0; i < count; i++)
		add_ready(tasks, list[i].plan->goal->id, list[i].node->id,
		    list[i].node);
	loop_call_request(tasks->forget_ready);
}

bool
plan_tasks_allowed(const struct plan_floor *floor)
{
	struct reconcile_config config;

	reconcile_config_read(floor->core->settings, &config);
	return config.enabled &&
	    reconcile_allows(&config, RECONCILE_AGENT_MAIN, NULL);
}

static bool
is_enabled(const struct plan_tasks *tasks)
{
	return tasks->begun && tasks->floor->state == PLAN_OPEN &&
	    plan_tasks_allowed(tasks->floor);
}

static bool
offer_node(struct plan_tasks *tasks, const char *key, struct source_offer *ret)
{
	struct plan *plan;
	struct plan_node *node;

	if (state_task_by_key(
		&tasks->floor->core->state, AUTO_PLAN_SOURCE, key) != NULL ||
	    plan_bind_find(
		plan_floor_set(tasks->floor), key, &plan, &node, NULL) < 0)
		return false;
	xstrset(&tasks->key, key);
	xstrset(&tasks->title, node->name);
	task_run_free(tasks->run);
	tasks->run = node_run(node);
	buf_clear(&tasks->text);
	if (node->assignment != NULL && node->assignment->instruction != NULL)
		buf_adds(&tasks->text, node->assignment->instruction);
	else
		plan_prompt(plan, node, &tasks->text);
	*ret = (struct source_offer){ .key = tasks->key,
		.title = tasks->title,
		.text = tasks->text.data,
		.priority = plan_priority(plan, node),
		.run = tasks->run,
		.contract = node->verification };
	return true;
}

static bool
on_offer(void *arg, bool team, struct source_offer *offer)
{
	struct plan_tasks *tasks = arg;
	struct offers *ready;

	if (!is_enabled(tasks))
		return false;
	if (tasks->ready == NULL)
		find_ready(tasks);
	ready = &tasks->ready[team];
	while (ready->at < ready->count)
		if (offer_node(tasks, ready->keys[ready->at++], offer))
			return true;
	return false;
}

static void
on_all_stored(const struct err *err, void *arg)
{
	struct plan_tasks *tasks = arg;

	(void)err;
	tasks->looks_again = false;
	auto_plan_changed(tasks->floor->mode);
}

/* Nobody else says when the store has nothing to do any more. */
static bool
is_storing(struct plan_tasks *tasks)
{
	struct plan_persist *persist = plan_floor_persist(tasks->floor);

	if (plan_persist_is_idle(persist))
		return false;
	if (!tasks->looks_again)
		plan_persist_then(persist, tasks, NULL, on_all_stored, tasks);
	tasks->looks_again = true;
	return true;
}

static bool
on_expects(void *arg)
{
	struct plan_tasks *tasks = arg;
	const struct plan_floor *floor = tasks->floor;

	if (floor->state == PLAN_OPENING || floor->state == PLAN_JOB)
		return true;
	if (!is_enabled(tasks))
		return false;
	if (planner_expects(floor->planner) || is_storing(tasks))
		return true;
	if (tasks->ready == NULL)
		find_ready(tasks);
	return tasks->ready[0].at < tasks->ready[0].count ||
	    tasks->ready[1].at < tasks->ready[1].count;
}

static bool
on_is_lost(void *arg)
{
	const struct plan_tasks *tasks = arg;

	return tasks->floor->state == PLAN_SAFE &&
	    plan_tasks_allowed(tasks->floor);
}

/* --- take and settle -------------------------------------------------- */

/* Shared by both: is anything known about the task yet? 1 = ask the plan. */
static int
begin_question(struct plan_tasks *tasks, const struct task *t,
    struct plan **ret_plan, struct err *err)
{
	cleanup_free char *goal = NULL, *node = NULL;

	/* The next daemon finds the outcome of such a task in tasks.jsonl. */
	if (tasks->floor->core->options->oneshot && !intake_is_planned(t))
		return err_set(err, -ESTALE, "no daemon is running");
	if (tasks->floor->state == PLAN_OPENING ||
	    tasks->floor->state == PLAN_JOB ||
	    (tasks->floor->state == PLAN_OPEN && !tasks->begun))
		return err_set(err, -EINPROGRESS, "the store is being opened");
	if (tasks->floor->state != PLAN_OPEN)
		return err_set(err, -ESTALE, "goals are off");
	if (pending_find(&tasks->storing, t->id) != NULL)
		return err_set(err, -EINPROGRESS, "it is being stored");
	if (pending_find(&tasks->refused, t->id) != NULL)
		return err_set(err, -ESTALE, "it cannot be stored");
	if (!intake_is_planned(t))
		return plan_pool_bind(tasks->floor->pool, t, ret_plan, err);
	if (plan_bind_key(t->key, &goal, &node, err) < 0)
		return err->code;
	return find_plan(tasks, goal, ret_plan, err);
}

static int
on_take(void *arg, const struct task *t, struct err *err)
{
	struct plan_tasks *tasks = arg;
	struct plan_floor *floor = tasks->floor;
	struct plan_assignment *a;
	struct plan *plan = NULL;
	int r = begin_question(tasks, t, &plan, err);

	if (r == -ENOENT || r == -EINVAL)
		return err_set(err, -ESTALE, "its goal is gone");
	if (r < 0)
		return r;
	if (plan == NULL)
		return -EINPROGRESS;
	a = plan_bind_of(floor, t);
	if (a != NULL && assignment_status_open(a->status) &&
	    plan->goal->status == GOAL_ACTIVE)
		return 0;
	if (a != NULL && assignment_status_open(a->status))
		plan_bind_release(floor, a, "its goal is not active");
	if (a != NULL)
		return err_set(err, -ESTALE, "it is not wanted any more");
	r = plan_bind(floor, t, false, err);
	return r < 0 ? r : wait_stored(tasks, t, plan, err);
}

/* A task that somebody has begun, and that waits for another attempt, of a goal
 * that was paused. The others are withdrawn. */
static bool
on_holds(void *arg, const struct task *t)
{
	const struct plan_tasks *tasks = arg;
	struct plan_node *node = NULL;
	struct plan *plan = NULL;

	if (!tasks->begun || tasks->floor->state != PLAN_OPEN)
		return tasks->floor->state == PLAN_OPENING;
	return plan_bind_find(plan_floor_set(tasks->floor), t->key, &plan,
		   &node, NULL) == 0 &&
	    plan->goal->status == GOAL_PAUSED;
}

static int
on_settle(void *arg, const struct task *t, struct err *err)
{
	struct plan_tasks *tasks = arg;
	struct plan_floor *floor = tasks->floor;
	struct plan_assignment *a;
	char *const *files = NULL;
	struct plan *plan = NULL;
	int r = begin_question(tasks, t, &plan, err);

	if (r == -EINPROGRESS)
		return r;
	/* The next daemon with a store finds the outcome in tasks.jsonl. */
	if (r < 0 || plan == NULL)
		return 0;
	a = plan_bind_of(floor, t);
	if (a == NULL) {
		r = plan_bind(floor, t, true, err);
		if (r < 0)
			return r == -EINPROGRESS ? r : 0;
		a = plan_bind_of(floor, t);
	}
	if (a == NULL || !assignment_status_open(a->status)) {
		plan_pool_forget(floor->pool, t);
		return 0;
	}
	if (t->commit != NULL) {
		files = plan_files_of(tasks->files, t->commit);
		if (files == NULL)
			return err_set(
			    err, -EINPROGRESS, "its commit is being read");
	}
	plan_bind_end(floor, a, t, files);
	if (t->commit != NULL)
		plan_files_forget(tasks->files, t->commit);
	return wait_stored(tasks, t, plan, err);
}

static bool
on_asks(void *arg, const struct task *t)
{
	const struct plan_tasks *tasks = arg;
	const struct plan_assignment *a =
	    is_enabled(tasks) ? plan_bind_of(tasks->floor, t) : NULL;

	return a != NULL && assignment_status_open(a->status);
}

static void
on_known(void *arg, const struct task *t, struct auto_known *known)
{
	const struct plan_tasks *tasks = arg;

	if (tasks->begun && tasks->floor->state == PLAN_OPEN)
		plan_known(plan_floor_set(tasks->floor), t, known);
}

static const struct auto_policy policy = {
	.offer = on_offer,
	.take = on_take,
	.holds = on_holds,
	.settle = on_settle,
	.asks = on_asks,
	.known = on_known,
	.expects = on_expects,
	.is_lost = on_is_lost,
};

/* --- what is not wanted any more -------------------------------------- */

static void
withdraw(struct plan_tasks *tasks, struct task *t, struct plan_assignment *a,
    const char *why)
{
	struct plan_floor *floor = tasks->floor;

	if (!is_unstarted(t)) {
		outcome_drop(
		    floor->mode, t, true, why, NULL); /* or next time */
		return;
	}
	if (a != NULL && assignment_status_open(a->status))
		plan_bind_release(floor, a, why);
	state_remove_task(&floor->core->state, t->id);
	persist_changed(floor->core);
}

static void
align(struct plan_tasks *tasks, struct task *t)
{
	struct plan_floor *floor = tasks->floor;
	struct plan *plan = NULL;
	struct plan_node *node = NULL;
	struct plan_assignment *a;
	const char *why;

	if (t->step == TASK_OFFERED || t->step == TASK_LANDED ||
	    t->step == TASK_SETTLING)
		return;
	plan_bind_find(plan_floor_set(floor), t->key, &plan, &node, NULL);
	a = plan_bind_of(floor, t);
	why = plan_why_unwanted(plan, node, a);
	if (why != NULL)
		withdraw(tasks, t, a, why);
	else if (is_unstarted(t) && plan_node_held_back(plan, node))
		withdraw(tasks, t, a, "its goal is paused, or it is blocked");
	else if (a == NULL)
		plan_bind(floor, t, true, NULL);
	else
		plan_bind_worker(floor, a, t);
}

void
plan_tasks_changed(struct plan_tasks *tasks)
{
	const struct plan_floor *floor = tasks->floor;
	const struct state *state = &floor->core->state;

	if (!tasks->begun || floor->state != PLAN_OPEN)
		return;
	forget_ready(tasks);
	pending_clear(&tasks->missing);
	for (size_t i = state->task_count; i-- > 0;)
		if (intake_is_planned(state->tasks[i]))
			align(tasks, state->tasks[i]);
	plan_pool_changed(floor->pool);
	auto_plan_changed(floor->mode);
}

/* --- events ----------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct plan_tasks *tasks = arg;
	const struct plan_floor *floor = tasks->floor;
	struct plan_assignment *a;
	const struct task *t;

	if (event->kind != EVENT_TASK_ASSIGNED || !tasks->begun ||
	    floor->state != PLAN_OPEN)
		return;
	t = state_task(&floor->core->state, event->task);
	if (t == NULL)
		return;
	if (!intake_is_planned(t)) {
		plan_pool_assigned(floor->pool, event->task);
		return;
	}
	a = plan_bind_of(floor, t);
	if (a != NULL)
		plan_bind_worker(tasks->floor, a, t);
}

/* --- life ------------------------------------------------------------- */

void
plan_tasks_begin(struct plan_tasks *tasks)
{
	tasks->begun = true;
	plan_catch_up(tasks->floor);
	plan_tasks_changed(tasks);
}

void
plan_tasks_closed(struct plan_tasks *tasks)
{
	tasks->begun = tasks->looks_again = false;
	forget_ready(tasks);
	pending_clear(&tasks->storing);
	pending_clear(&tasks->refused);
	pending_clear(&tasks->reading);
	pending_clear(&tasks->missing);
}

struct plan_tasks *
plan_tasks_new(struct plan_floor *floor)
{
	struct plan_tasks *tasks = xcalloc(1, sizeof *tasks);

	tasks->floor = floor;
	TAILQ_INIT(&tasks->storing);
	TAILQ_INIT(&tasks->refused);
	TAILQ_INIT(&tasks->reading);
	TAILQ_INIT(&tasks->missing);
	buf_init(&tasks->text);
	tasks->forget_ready =
	    loop_call_new(floor->core->loop, on_pass_end, tasks);
	tasks->files = plan_files_new(floor);
	auto_set_policy(floor->mode, &policy, tasks);
	emit_subscribe(floor->core, on_event, tasks);
	return tasks;
}

void
plan_tasks_free(struct plan_tasks *tasks)
{
	if (tasks == NULL)
		return;
	emit_unsubscribe(tasks->floor->core, on_event, tasks);
	auto_set_policy(tasks->floor->mode, NULL, NULL);
	plan_tasks_closed(tasks);
	plan_files_free(tasks->files);
	loop_call_free(tasks->forget_ready);
	buf_release(&tasks->text);
	free(tasks->key);
	free(tasks->title);
	task_run_free(tasks->run);
	free(tasks);
}
