/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "api.h"
#include "attempt.h"
#include "auto.h"
#include "event.h"
#include "intake.h"
#include "mail.h"
#include "plan-floor.h"
#include "plan.h"
#include "serve.h"
#include "state.h"
#include "task.h"
#include "team-private.h"

#define TASK_ACTOR   "actor:task:"
#define WORKER_ACTOR "actor:worker:"

char *
team_actor_of(const struct agent *agent)
{
	const struct task *task = auto_task(agent);

	return task != NULL ? task_actor(task) :
			      xasprintf(WORKER_ACTOR "%s", agent->worker->name);
}

struct task *
team_actor_task(struct team_floor *floor, const char *actor)
{
	const struct state *state = &floor->core->state;

	if (text_begins(actor, TASK_ACTOR)) {
		struct task *task =
		    state_task(state, actor + strlen(TASK_ACTOR));

		if (task != NULL && task->launch.actor == NULL)
			return task;
	}
	for (size_t i = 0; i < state->task_count; i++) {
		const char *name = state->tasks[i]->launch.actor;

		if (text_is(name, actor))
			return state->tasks[i];
	}
	return NULL;
}

struct agent *
team_actor_agent(struct team_floor *floor, const char *actor)
{
	const struct task *task;
	struct agent *agent;

	if (text_begins(actor, WORKER_ACTOR)) {
		agent = fleet_find(floor->fleet, actor + strlen(WORKER_ACTOR));
		return agent != NULL && auto_task(agent) == NULL ? agent : NULL;
	}
	task = team_actor_task(floor, actor);
	if (task == NULL || task->worker == NULL)
		return NULL;
	agent = fleet_find(floor->fleet, task->worker);
	return agent != NULL && auto_task(agent) == task ? agent : NULL;
}

int64_t
team_actor_since(const struct team_floor *floor, const struct agent *agent)
{
	const struct task *task = auto_task(agent);
	struct plan *plan = NULL;
	struct plan_node *node = NULL;

	if (task == NULL)
		return agent->worker->created_ms;
	if (task->launch.actor == NULL)
		return 0; /* ids of tasks are counted */
	/* It could get mail before there was a task. */
	if (floor->plan->state == PLAN_OPEN && intake_is_planned(task) &&
	    plan_bind_find(plan_floor_set(floor->plan), task->key, &plan, &node,
		NULL) == 0 &&
	    node != NULL)
		return node->created_ms;
	return task->created_ms;
}

/* Is it still to be worked on? */
static bool
is_open(const struct plan *plan, const struct plan_node *node)
{
	return goal_status_open(plan->goal->status) &&
	    node_status_open(node->status) && node->status != NODE_BLOCKED;
}

/* A node keeps whom it was spawned for. parent: NULL = any; open: only what is
 * to be worked on. */
static bool
find_spawn(const struct team_floor *floor, const char *actor,
    const char *parent, bool open)
{
	const struct plan_set *set = floor->plan->state == PLAN_OPEN ?
	    plan_floor_set(floor->plan) :
	    NULL;

	for (size_t i = 0; set != NULL && i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		for (size_t k = 0; k < plan->count; k++) {
			const struct task_launch *spawn = plan->nodes[k]->spawn;

			if (spawn != NULL && text_is(spawn->actor, actor) &&
			    (!open || is_open(plan, plan->nodes[k])) &&
			    (parent == NULL || text_is(spawn->parent, parent)))
				return true;
		}
	}
	return false;
}

bool
team_actor_spawned(
    const struct team_floor *floor, const char *actor, const char *parent)
{
	return find_spawn(floor, actor, parent, false);
}

/* Ids of tasks are counted; in a fleet the host follows. */
static bool
was_task(const struct team_floor *floor, const char *actor)
{
	const struct state *state = &floor->core->state;
	const char *id = actor + strlen(TASK_ACTOR);
	cleanup_free char *digits = NULL;
	int64_t number;

	if (!text_begins(actor, TASK_ACTOR "t"))
		return false;
	digits = xstrndup(id + 1, strcspn(id + 1, "-"));
	id += 1 + strlen(digits);
	return (*id == '\0' || text_is(state->host, id + 1)) &&
	    text_parse_int(digits, 1, (int64_t)state->task_ids, &number);
}

bool
team_actor_is_addressed(const char *actor)
{
	return strcmp(actor, ACTOR_PERSON) == 0 ||
	    !text_begins(actor, "actor:");
}

bool
team_actor_is_here(struct team_floor *floor, const char *actor)
{
	const struct task *task = team_actor_task(floor, actor);

	return task != NULL ? task->step != TASK_ELSEWHERE :
			      team_actor_agent(floor, actor) != NULL;
}

char *
team_actor_host(struct team_floor *floor, const char *actor)
{
	const struct auto_mode *mode = floor->mode;
	const struct state *state = &floor->core->state;
	const struct task *task;
	const char *owner;

	if (mode->hosts == NULL || team_actor_is_here(floor, actor))
		return NULL;
	if (team_actor_is_addressed(actor))
		return strchr(actor, ':') != NULL &&
			strcmp(actor, ACTOR_PERSON) != 0 ?
		    xstrndup(actor, strcspn(actor, ":")) :
		    NULL;
	task = team_actor_task(floor, actor);
	if (task != NULL)
		return task->host != NULL ? xstrdup(task->host) : NULL;
	for (size_t i = 0; i < state->task_count; i++) {
		const char *parent = state->tasks[i]->launch.parent_actor;

		if (!text_is(parent, actor))
			continue;
		owner = mode->hosts->owner(mode->hosts_arg, state->tasks[i]);
		if (owner != NULL)
			return xstrdup(owner);
	}
	/* The owner of a task is a part of its id. */
	owner = text_begins(actor, TASK_ACTOR) ? strchr(actor, '-') : NULL;
	return owner != NULL && owner[1] != '\0' &&
		strcmp(owner + 1, state->host) != 0 ?
	    xstrdup(owner + 1) :
	    NULL;
}

enum team_actor
team_actor_find(struct team_floor *floor, const char *actor)
{
	cleanup_free char *host = team_actor_host(floor, actor);

	if (host != NULL)
		return TEAM_ACTOR_OPEN; /* the other host knows */
	if (strcmp(actor, ACTOR_PERSON) == 0)
		return TEAM_ACTOR_PERSON;
	if (team_actor_task(floor, actor) != NULL ||
	    team_actor_agent(floor, actor) != NULL)
		return TEAM_ACTOR_OPEN;
	if (text_begins(actor, WORKER_ACTOR) &&
	    fleet_find(floor->fleet, actor + strlen(WORKER_ACTOR)) != NULL)
		return TEAM_ACTOR_OPEN; /* after the task that it has now */
	if (find_spawn(floor, actor, NULL, true))
		return TEAM_ACTOR_OPEN; /* its task is still to be made */
	return was_task(floor, actor) || find_spawn(floor, actor, NULL, false) ?
	    TEAM_ACTOR_ENDED :
	    TEAM_ACTOR_UNKNOWN;
}

struct agent *
team_floor_speaker(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct task **ret_task)
{
	const char *worker = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(floor->fleet, worker);

	if (agent == NULL)
		serve_refuse(call, API_UNKNOWN,
		    "this session belongs to no worker any more");
	else if (ret_task != NULL)
		*ret_task = auto_task(agent);
	return agent;
}

bool
team_floor_ends(const struct event *event, const char *task, const char *worker)
{
	if (event == NULL)
		return false;
	switch (event->kind) {
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
	case EVENT_TASK_PARKED:
		return text_is(task, event->task);
	case EVENT_WORKER_LOST:
	case EVENT_WORKER_GONE:
		return text_is(worker, event->worker);
	default:
		return false;
	}
}
