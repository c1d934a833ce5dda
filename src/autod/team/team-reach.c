/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "auto.h"
#include "errtext.h"
#include "mem.h"
#include "state.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-post.h"
#include "team-reach.h"

void
team_reach_release(struct team_reach *reach)
{
	free(take_ptr(&reach->actor));
	free(take_ptr(&reach->worker));
}

char *
team_reach_goal(const struct task *task)
{
	if (strcmp(task->source, AUTO_PLAN_SOURCE) == 0 && task->key != NULL)
		return xstrndup(task->key, strcspn(task->key, "/"));
	return NULL;
}

/* What the speaker may name. */
static const char agent_names[] =
    "an actor id, a worker, \"parent\", \"overseer\" or \"person\"";
static const char person_names[] =
    "a worker, an actor id (see: llmc tree), overseer or person";

static void
set(struct team_floor *floor, struct team_reach *reach, const char *actor)
{
	const struct agent *agent = team_mail_agent(floor, actor);

	xstrset(&reach->actor, actor);
	xstrset(&reach->worker, agent != NULL ? agent->worker->name : NULL);
}

/* Resolve a name, for any caller. */
static int
find(struct team_floor *floor, const char *to, const char *names,
    struct team_reach *reach, struct err *err)
{
	const struct agent *agent;
	cleanup_free char *actor = NULL;

	if (strcmp(to, "overseer") == 0 || strcmp(to, "person") == 0) {
		set(floor, reach, to[0] == 'o' ? ACTOR_OVERSEER : ACTOR_PERSON);
		return 0;
	}
	agent = fleet_find(floor->fleet, to);
	if (agent != NULL && auto_task(agent) == NULL &&
	    auto_drives(floor->mode, agent)) {
		err_set(err, API_E_NOT_FOUND,
		    "%s has no task now, so nobody would read it", to);
		return API_E_NOT_FOUND;
	}
	actor = agent != NULL ? team_mail_actor(agent) : xstrdup(to);
	if (team_post_find(floor, actor) == TEAM_ACTOR_UNKNOWN) {
		err_set(
		    err, API_E_NOT_FOUND, "there is no %s: name %s", to, names);
		return API_E_NOT_FOUND;
	}
	set(floor, reach, actor);
	return 0;
}

/* --- who may write to whom ---------------------------------------------- */

static bool
is_parent(const struct task *task, const char *actor)
{
	return task->run != NULL && task->run->parent_actor != NULL &&
	    strcmp(task->run->parent_actor, actor) == 0;
}

static bool
is_child(struct team_floor *floor, const struct task *task, const char *actor)
{
	const struct task *other = team_post_task(floor, actor);

	return other != NULL && other->run != NULL &&
	    other->run->parent != NULL &&
	    strcmp(other->run->parent, task->id) == 0;
}

static bool
has_same_goal(
    struct team_floor *floor, const struct task *task, const char *actor)
{
	const struct task *other = team_post_task(floor, actor);
	cleanup_free char *goal = team_reach_goal(task), *its = NULL;

	if (other == NULL)
		return team_post_spawned(floor, actor, task->id, goal);
	its = team_reach_goal(other);
	return goal != NULL && its != NULL && strcmp(goal, its) == 0;
}

static bool
may_reach(
    struct team_floor *floor, const struct agent *agent, const char *actor)
{
	const struct task *task = auto_task(agent);

	if (team_post_find(floor, actor) == TEAM_ACTOR_SYSTEM)
		return true;
	return task != NULL &&
	    (is_parent(task, actor) || is_child(floor, task, actor) ||
		has_same_goal(floor, task, actor));
}

int
team_reach_of_agent(struct team_floor *floor, const struct agent *agent,
    const char *to, struct team_reach *ret, struct err *err)
{
	const struct task *task = auto_task(agent);
	struct team_reach reach = { 0 };
	int code = 0;

	if (strcmp(to, "parent") == 0)
		set(floor, &reach,
		    task != NULL && task->run != NULL &&
			    task->run->parent_actor != NULL ?
			task->run->parent_actor :
			ACTOR_OVERSEER);
	else
		code = find(floor, to, agent_names, &reach, err);
	if (code == 0 && !may_reach(floor, agent, reach.actor)) {
		code = API_E_UNAUTHORIZED;
		err_set(err, code,
		    "you may write to your parent, to agents that work for "
		    "you, to agents of the same goal, to \"overseer\" and to "
		    "\"person\"; %s is none of these",
		    to);
	}
	if (code == 0)
		*ret = reach;
	else
		team_reach_release(&reach);
	return code;
}

int
team_reach_of_person(struct team_floor *floor, const char *to,
    struct team_reach *ret, struct err *err)
{
	struct team_reach reach = { 0 };
	int code = find(floor, to, person_names, &reach, err);

	if (code == 0)
		*ret = reach;
	return code;
}
