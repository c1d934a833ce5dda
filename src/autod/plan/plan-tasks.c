/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent-card.h"
#include "attempt.h"
#include "auto.h"
#include "emit.h"
#include "git.h"
#include "intake.h"
#include "loop.h"
#include "outcome.h"
#include "persist.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan-prompt.h"
#include "plan.h"
#include "source.h"
#include "workspace.h"

#define OFFERS_MAX 64 /* looked for at once, of each kind */

/* A landed commit whose files git is asked for. It lives until git has
 * answered, even if nobody asks any more. */
struct look {
	TAILQ_ENTRY(look) entry;
	struct plan_tasks *tasks; /* NULL = nobody asks any more */
	bool known;
	char *commit;
	char **names;
};

TAILQ_HEAD(looks, look);

struct offers {
	char *keys[OFFERS_MAX];
	size_t count, at;
};

struct plan_tasks {
	struct plan_floor *floor;
	bool begun;
	struct looks looks;
	/* The next offers, for one pass of the loop: [1] those that agents have
	 * asked for, [0] the others; NULL = not looked for yet. */
	struct offers *ready;
	struct loop_call *forget_ready;
	char *key, *title; /* of the last offer */
	struct task_launch launch; /* likewise */
	struct buf text;
};

/* --- the files of a landed commit: evidence for its node ------------- */

static void
look_free(struct look *look)
{
	free(look->commit);
	strv_free(look->names);
	free(look);
}

static void
on_names(const struct git_answer *answer, void *arg)
{
	struct look *look = arg;
	const char *end = answer->out + answer->out_len;

	if (answer->status == 0)
		for (const char *name = answer->out;
		     name < end && strv_count(look->names) < PLAN_LIST_MAX;
		     name += strlen(name) + 1)
			strv_add(&look->names, name);
	if (look->tasks == NULL) {
		look_free(look);
		return;
	}
	look->known = true;
	auto_plan_changed(look->tasks->floor->mode);
}

/* git is gone, and this floor before it. */
static void
drop_look(void *arg)
{
	look_free(arg);
}

static struct look *
find_look(const struct plan_tasks *tasks, const char *commit)
{
	struct look *look;

	TAILQ_FOREACH (look, &tasks->looks, entry)
		if (strcmp(look->commit, commit) == 0)
			return look;
	return NULL;
}

/* NULL terminated, at most PLAN_LIST_MAX; NULL while git is asked: then auto
 * mode asks again. Valid until it is forgotten. */
static char *const *
files_of(struct plan_tasks *tasks, const char *commit)
{
	static char *none[] = { NULL };
	const struct core *core = tasks->floor->core;
	struct look *look = find_look(tasks, commit);
	const char *const args[] = { "diff-tree", "-r", "-z", "--root",
		"--no-commit-id", "--name-only", commit, "--", NULL };
	struct git_command ask = { .args = args, .drop = drop_look };

	if (look != NULL && look->known)
		return look->names != NULL ? look->names : none;
	if (look != NULL)
		return NULL;
	look = xcalloc(1, sizeof *look);
	look->tasks = tasks;
	look->commit = xstrdup(commit);
	TAILQ_INSERT_TAIL(&tasks->looks, look, entry);
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_names, look);
	return NULL;
}

static void
let_go(struct plan_tasks *tasks, struct look *look)
{
	TAILQ_REMOVE(&tasks->looks, look, entry);
	look->tasks = NULL;
	if (look->known)
		look_free(look);
}

/* --- the state -------------------------------------------------------- */

/* Nobody has begun it, or answered what it asked: nothing is lost with it. */
static bool
is_unstarted(const struct task *t)
{
	return t->step == TASK_OFFERED ||
	    (t->step == TASK_WAITING && t->attempts == 0 && t->from == NULL &&
		t->advice == NULL);
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
add_ready(struct plan_tasks *tasks, const struct plan_node *node)
{
	const struct state *state = &tasks->floor->core->state;
	struct offers *ready = &tasks->ready[plan_node_is_spawned(node)];
	char *key = xasprintf("%s/%s", node->goal_id, node->id);

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
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	size_t count;

	forget_ready(tasks);
	tasks->ready = xcalloc(2, sizeof *tasks->ready);
	while ((node = plan_set_next(set, &cursor)) != NULL)
		if (plan_bind_wants_worker(set, node))
			add_ready(tasks, node);
	count = plan_ready_list(set, &list);
	for (size_t i = 0; i < count; i++)
		add_ready(tasks, list[i].node);
	loop_call_request(tasks->forget_ready);
}

bool
plan_tasks_allowed(const struct plan_floor *floor)
{
	struct reconcile_config config;

	reconcile_config_read(floor->core->settings, &config);
	return config.enabled && reconcile_allows(&config, NULL, NULL);
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
	cleanup_agent_card struct agent_card *card = NULL;

	if (state_task_by_key(
		&tasks->floor->core->state, AUTO_PLAN_SOURCE, key) != NULL ||
	    plan_bind_find(
		plan_floor_set(tasks->floor), key, &plan, &node, NULL) < 0)
		return false;
	xstrset(&tasks->key, key);
	xstrset(&tasks->title, node->name);
	schema_release(&task_launch_schema, &tasks->launch);
	plan_node_launch(node, &tasks->launch);
	/* The card that the plan names for the node, if there is one. */
	card = node->spawn == NULL && node->suggested_agent_id != NULL ?
	    agent_card_new(
		tasks->floor->core->settings, node->suggested_agent_id) :
	    NULL;
	if (card != NULL)
		xstrset(&tasks->launch.agent, node->suggested_agent_id);
	buf_clear(&tasks->text);
	if (plan_node_is_assigned(node) && node->work.instruction != NULL)
		buf_adds(&tasks->text, node->work.instruction);
	else
		plan_prompt(plan, node, &tasks->text);
	*ret = (struct source_offer){ .key = tasks->key,
		.title = tasks->title,
		.text = tasks->text.data,
		.priority = plan_priority(plan, node),
		.launch = &tasks->launch,
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

static bool
on_expects(void *arg)
{
	struct plan_tasks *tasks = arg;
	const struct plan_floor *floor = tasks->floor;

	if (!is_enabled(tasks))
		return false;
	if (planner_expects(floor->planner))
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

/* The plan of a task, also one that has ended. -EINPROGRESS: ask again;
 * -ESTALE: goals are off; others: there is none. */
static int
find_plan(struct plan_tasks *tasks, const struct task *t,
    struct plan **ret_plan, struct err *err)
{
	struct plan_floor *floor = tasks->floor;
	cleanup_free char *goal = NULL, *node = NULL;

	if (floor->state == PLAN_OPEN && !tasks->begun)
		return err_set(err, -EINPROGRESS, "the plans are being read");
	if (floor->state != PLAN_OPEN)
		return err_set(err, -ESTALE, "goals are off");
	if (plan_bind_key(t->key, &goal, &node, err) < 0)
		return err->code;
	*ret_plan = plan_book_plan(floor, goal, err);
	return *ret_plan != NULL ? 0 : err->code;
}

static int
on_take(void *arg, const struct task *t, struct err *err)
{
	struct plan_tasks *tasks = arg;
	struct plan_floor *floor = tasks->floor;
	struct plan_node *node;
	struct plan *plan = NULL;
	int r = find_plan(tasks, t, &plan, err);

	if (r == -ENOENT || r == -EINVAL)
		return err_set(err, -ESTALE, "its goal is gone");
	if (plan == NULL)
		return r;
	node = plan_bind_of(floor, t);
	if (node == NULL)
		return plan_bind(floor, t, false, err);
	if (plan_node_is_assigned(node) && plan->goal->status == GOAL_ACTIVE)
		return 0;
	plan_bind_release(floor, node, "its goal is not active");
	return err_set(err, -ESTALE, "it is not wanted any more");
}

static int
on_again(void *arg, const struct task *t, struct err *err)
{
	struct plan_tasks *tasks = arg;
	struct plan *plan = NULL;
	int r = find_plan(tasks, t, &plan, err);

	if (r == -ENOENT || r == -EINVAL)
		return err_set(err, -ESTALE, "its goal is gone");
	return r < 0 ? r : plan_bind_again(tasks->floor, t, err);
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
		return false;
	return plan_bind_find(plan_floor_set(tasks->floor), t->key, &plan,
		   &node, NULL) == 0 &&
	    plan->goal->status == GOAL_PAUSED;
}

static int
on_settle(void *arg, const struct task *t, struct err *err)
{
	struct plan_tasks *tasks = arg;
	struct plan_floor *floor = tasks->floor;
	struct plan_node *node;
	char *const *files = NULL;
	struct plan *plan = NULL;
	int r =
	    intake_is_planned(t) ? find_plan(tasks, t, &plan, err) : -ESTALE;

	if (r == -EINPROGRESS)
		return r;
	/* Without its plan there is nobody to be told. */
	if (r < 0)
		return 0;
	node = plan_bind_of(floor, t);
	if (node == NULL) {
		r = plan_bind(floor, t, true, err);
		if (r < 0)
			return r == -EINPROGRESS ? r : 0;
		node = plan_bind_of(floor, t);
	}
	if (node == NULL || !plan_node_is_assigned(node))
		return 0;
	if (t->commit != NULL) {
		files = files_of(tasks, t->commit);
		if (files == NULL)
			return err_set(
			    err, -EINPROGRESS, "its commit is being read");
	}
	plan_bind_end(floor, node, t, files);
	if (t->commit != NULL) {
		const char *commit = t->commit;
		struct look *look = find_look(tasks, commit);

		if (look != NULL)
			let_go(tasks, look);
	}
	return 0;
}

static enum auto_next
on_used_up(void *arg, const struct task *t)
{
	const struct plan_tasks *tasks = arg;
	struct plan_node *node = NULL;
	struct plan *plan = NULL;

	/* Whoever asked for a child decides about it. */
	if (!is_enabled(tasks) || !intake_is_planned(t) || task_is_child(t) ||
	    plan_bind_find(
		plan_floor_set(tasks->floor), t->key, &plan, &node, NULL) < 0 ||
	    !goal_status_open(plan->goal->status))
		return AUTO_END;
	switch (plan_recovery_next(plan, node, t->avoid != NULL)) {
	case RECOVERY_REPLAN:
		return AUTO_REPLACED;
	case RECOVERY_REASSIGN:
		return AUTO_REASSIGN;
	default:
		return AUTO_ASK;
	}
}

/* With goals, a question of any task goes to a person. */
static bool
on_asks(void *arg, const struct task *t)
{
	const struct plan_tasks *tasks = arg;
	const struct plan_node *node;

	if (!is_enabled(tasks))
		return false;
	if (!intake_is_planned(t))
		return t->attempts > 0;
	node = plan_bind_of(tasks->floor, t);
	return node != NULL && plan_node_is_assigned(node);
}

/* A node is done when its work is on the branch: before that only its parts
 * tell how far it is. */
static void
on_known(void *arg, const struct task *t, struct auto_known *known)
{
	const struct plan_tasks *tasks = arg;
	struct plan_node *node = NULL;
	struct plan *plan = NULL;

	if (!tasks->begun || tasks->floor->state != PLAN_OPEN ||
	    !intake_is_planned(t) ||
	    plan_bind_find(
		plan_floor_set(tasks->floor), t->key, &plan, &node, NULL) < 0)
		return;
	known->effort = node->estimated_effort;
	if (!plan_node_leaf(node))
		known->percent = plan_summary(plan, node).percent;
}

static const struct auto_policy policy = {
	.offer = on_offer,
	.take = on_take,
	.again = on_again,
	.holds = on_holds,
	.settle = on_settle,
	.used_up = on_used_up,
	.asks = on_asks,
	.known = on_known,
	.expects = on_expects,
	.is_lost = on_is_lost,
};

/* --- what is not wanted any more -------------------------------------- */

static void
withdraw(struct plan_tasks *tasks, struct task *t, struct plan_node *node,
    const char *why)
{
	struct plan_floor *floor = tasks->floor;

	if (!is_unstarted(t)) {
		outcome_drop(floor->mode, t, why, NULL); /* or next time */
		return;
	}
	if (node != NULL)
		plan_bind_release(floor, node, why);
	state_remove_task(&floor->core->state, t->id);
	persist_changed(floor->core);
}

static void
align(struct plan_tasks *tasks, struct task *t)
{
	struct plan_floor *floor = tasks->floor;
	struct plan *plan = NULL;
	struct plan_node *node = NULL, *bound;
	const char *why;

	if (t->step == TASK_OFFERED || t->step == TASK_LANDED ||
	    t->step == TASK_SETTLING)
		return;
	plan_bind_find(plan_floor_set(floor), t->key, &plan, &node, NULL);
	bound = plan_bind_of(floor, t);
	why = plan_why_unwanted(plan, node, bound != NULL);
	if (why == NULL && bound == NULL &&
	    (plan_bind_was_taken(t, node) ||
		(plan_node_is_assigned(node) &&
		    !(is_unstarted(t) &&
			plan_bind_wants_worker(plan_floor_set(floor), node)))))
		why = "its node was given to another";
	if (why == NULL && bound != NULL)
		plan_bind_parked(floor, bound, t);
	if (why != NULL)
		withdraw(tasks, t, bound, why);
	else if (is_unstarted(t) && plan_node_held_back(plan, node))
		withdraw(
		    tasks, t, bound, "its goal is paused, or it is blocked");
	else if (bound == NULL)
		plan_bind(floor, t, true, NULL);
	else
		plan_bind_worker(floor, bound, t);
}

void
plan_tasks_changed(struct plan_tasks *tasks)
{
	const struct plan_floor *floor = tasks->floor;
	const struct state *state = &floor->core->state;

	if (!tasks->begun || floor->state != PLAN_OPEN)
		return;
	forget_ready(tasks);
	for (size_t i = state->task_count; i-- > 0;)
		if (intake_is_planned(state->tasks[i]))
			align(tasks, state->tasks[i]);
	auto_plan_changed(floor->mode);
}

/* --- events ----------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct plan_tasks *tasks = arg;
	const struct plan_floor *floor = tasks->floor;
	struct plan_node *node;
	struct task *t;

	if ((event->kind != EVENT_TASK_ASSIGNED &&
		event->kind != EVENT_TASK_PARKED &&
		event->kind != EVENT_TASK_NOT_TAKEN &&
		event->kind != EVENT_TASK_RESUMED) ||
	    !tasks->begun || floor->state != PLAN_OPEN)
		return;
	t = state_task(&floor->core->state, event->task);
	if (t == NULL)
		return;
	node = plan_bind_of(floor, t);
	if (node != NULL) {
		plan_bind_parked(tasks->floor, node, t);
		plan_bind_worker(tasks->floor, node, t);
	}
}

/* --- life ------------------------------------------------------------- */

void
plan_tasks_begin(struct plan_tasks *tasks)
{
	struct plan_cursor cursor = { 0 };
	struct plan_floor *floor;
	const struct plan_set *set;
	struct plan_node *worked;

	tasks->begun = true;
	/* Tasks and plans are committed together; only damage can part them,
	 * or an upgrade. What has no task was not begun. */
	floor = tasks->floor;
	set = plan_floor_set(floor);
	while ((worked = plan_set_next(set, &cursor)) != NULL)
		if (worked->work.task != NULL &&
		    plan_bind_task(floor, worked) == NULL)
			plan_bind_release(
			    floor, worked, "no task is known for it");
	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan *plan = set->plans[i];

		for (size_t k = 0; k < plan->count; k++) {
			struct plan_node *node = plan->nodes[k];
			cleanup_free char *key = NULL;

			if (!goal_status_open(plan->goal->status) ||
			    !plan_node_leaf(node) ||
			    plan_node_is_assigned(node) ||
			    node->status != NODE_IN_PROGRESS ||
			    node->replan_why != NULL)
				continue;
			key = xasprintf("%s/%s", node->goal_id, node->id);
			if (state_task_by_key(&floor->core->state,
				AUTO_PLAN_SOURCE, key) == NULL)
				plan_bind_queue_again(
				    floor, plan, node, "nobody works on it");
		}
	}
	plan_tasks_changed(tasks);
}

void
plan_tasks_closed(struct plan_tasks *tasks)
{
	tasks->begun = false;
	forget_ready(tasks);
}

struct plan_tasks *
plan_tasks_new(struct plan_floor *floor)
{
	struct plan_tasks *tasks = xcalloc(1, sizeof *tasks);

	tasks->floor = floor;
	TAILQ_INIT(&tasks->looks);
	buf_init(&tasks->text);
	tasks->forget_ready =
	    loop_call_new(floor->core->loop, on_pass_end, tasks);
	auto_set_policy(floor->mode, &policy, tasks);
	emit_subscribe(floor->core, on_event, tasks);
	return tasks;
}

void
plan_tasks_free(struct plan_tasks *tasks)
{
	struct look *look;

	if (tasks == NULL)
		return;
	emit_unsubscribe(tasks->floor->core, on_event, tasks);
	auto_set_policy(tasks->floor->mode, NULL, NULL);
	plan_tasks_closed(tasks);
	while ((look = TAILQ_FIRST(&tasks->looks)) != NULL)
		let_go(tasks, look);
	loop_call_free(tasks->forget_ready);
	buf_release(&tasks->text);
	free(tasks->key);
	free(tasks->title);
	schema_release(&task_launch_schema, &tasks->launch);
	free(tasks);
}
