/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "errtext.h"
#include "intake.h"
#include "json.h"
#include "mem.h"
#include "plan-bind.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "state.h"
#include "task-run.h"
#include "task.h"
#include "team-deliver.h"
#include "team-floor.h"
#include "team-limit.h"
#include "team-people.h"
#include "team-post.h"
#include "text.h"

#define TASK_ACTOR   "actor:task:"
#define WORKER_ACTOR "actor:worker:"

/* --- who -------------------------------------------------------------- */

char *
team_mail_actor(const struct agent *agent)
{
	const struct task *task = auto_task(agent);

	return task != NULL ? task_run_actor(task) :
			      xasprintf(WORKER_ACTOR "%s", agent->worker->name);
}

struct task *
team_post_task(struct team_floor *floor, const char *actor)
{
	const struct state *state = &floor->core->state;

	if (strncmp(actor, TASK_ACTOR, strlen(TASK_ACTOR)) == 0) {
		struct task *task =
		    state_task(state, actor + strlen(TASK_ACTOR));

		if (task != NULL &&
		    (task->run == NULL || task->run->actor == NULL))
			return task;
	}
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task_run *run = state->tasks[i]->run;

		if (run != NULL && run->actor != NULL &&
		    strcmp(run->actor, actor) == 0)
			return state->tasks[i];
	}
	return NULL;
}

struct agent *
team_mail_agent(struct team_floor *floor, const char *actor)
{
	const struct task *task;
	struct agent *agent;

	if (strncmp(actor, WORKER_ACTOR, strlen(WORKER_ACTOR)) == 0) {
		agent = fleet_find(floor->fleet, actor + strlen(WORKER_ACTOR));
		return agent != NULL && auto_task(agent) == NULL ? agent : NULL;
	}
	task = team_post_task(floor, actor);
	if (task == NULL || task->worker == NULL)
		return NULL;
	agent = fleet_find(floor->fleet, task->worker);
	return agent != NULL && auto_task(agent) == task ? agent : NULL;
}

int64_t
team_post_since(const struct team_floor *floor, const struct agent *agent)
{
	const struct task *task = auto_task(agent);
	struct plan *plan = NULL;
	struct plan_node *node = NULL;

	if (task == NULL)
		return agent->worker->created_ms;
	if (task->run == NULL || task->run->actor == NULL)
		return 0; /* ids of tasks are counted */
	/* It could get mail before there was a task. */
	if (floor->plan->state == PLAN_OPEN && intake_is_planned(task) &&
	    plan_bind_find(plan_floor_set(floor->plan), task->key, &plan, &node,
		NULL) == 0 &&
	    node != NULL)
		return node->created_ms;
	return task->created_ms;
}

static bool
is_spawn(struct json_object *spawn, const char *actor)
{
	return spawn != NULL &&
	    strcmp(json_string_or(spawn, "actor", ""), actor) == 0;
}

/* Is it still to be worked on? */
static bool
is_open(const struct plan *plan, const struct plan_node *node)
{
	return goal_status_open(plan->goal->status) &&
	    node_status_open(node->status) && node->status != NODE_BLOCKED;
}

/* A node keeps whom it was spawned for. parent and goal: NULL = any; open: only
 * what is to be worked on. */
static bool
find_spawn(const struct team_floor *floor, const char *actor,
    const char *parent, const char *goal, bool open)
{
	const struct plan_set *set = floor->plan->state == PLAN_OPEN ?
	    plan_floor_set(floor->plan) :
	    NULL;

	for (size_t i = 0; set != NULL && i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		for (size_t k = 0; k < plan->count; k++) {
			struct json_object *spawn = plan->nodes[k]->spawn;

			if (!is_spawn(spawn, actor) ||
			    (open && !is_open(plan, plan->nodes[k])))
				continue;
			if ((parent == NULL && goal == NULL) ||
			    (goal != NULL &&
				strcmp(plan->goal->id, goal) == 0) ||
			    (parent != NULL &&
				strcmp(json_string_or(spawn, "parent", ""),
				    parent) == 0))
				return true;
		}
	}
	return false;
}

bool
team_post_spawned(const struct team_floor *floor, const char *actor,
    const char *parent, const char *goal)
{
	return find_spawn(floor, actor, parent, goal, false);
}

/* Ids of tasks are counted. */
static bool
was_task(const struct team_floor *floor, const char *actor)
{
	int64_t number;

	return strncmp(actor, TASK_ACTOR "t", strlen(TASK_ACTOR "t")) == 0 &&
	    text_parse_int(actor + strlen(TASK_ACTOR "t"), 1,
		(int64_t)floor->core->state.task_ids, &number);
}

enum team_actor
team_post_find(struct team_floor *floor, const char *actor)
{
	if (strcmp(actor, ACTOR_OVERSEER) == 0 ||
	    strcmp(actor, ACTOR_PERSON) == 0)
		return TEAM_ACTOR_SYSTEM;
	if (team_post_task(floor, actor) != NULL ||
	    team_mail_agent(floor, actor) != NULL)
		return TEAM_ACTOR_OPEN;
	if (strncmp(actor, WORKER_ACTOR, strlen(WORKER_ACTOR)) == 0 &&
	    fleet_find(floor->fleet, actor + strlen(WORKER_ACTOR)) != NULL)
		return TEAM_ACTOR_OPEN; /* after the task that it has now */
	if (find_spawn(floor, actor, NULL, NULL, true))
		return TEAM_ACTOR_OPEN; /* its task is still to be made */
	return was_task(floor, actor) ||
		find_spawn(floor, actor, NULL, NULL, false) ?
	    TEAM_ACTOR_ENDED :
	    TEAM_ACTOR_UNKNOWN;
}

/* --- records ---------------------------------------------------------- */

static void
free_mail(void *data)
{
	mail_free(data);
}

const struct mail *
team_post_mail(struct team_record *record)
{
	struct mail *mail = NULL;

	if (record->data == NULL &&
	    mail_from_json(record->body, "", &mail, NULL) == 0) {
		record->data = mail;
		record->free_data = free_mail;
	}
	return record->data;
}

void
team_post_put(struct team_floor *floor, const struct mail *mail)
{
	/* The mail may be the one of the record. */
	cleanup_free char *id = xstrdup(mail->id);
	cleanup_free char *goal =
	    mail->goal != NULL ? xstrdup(mail->goal) : NULL;

	team_book_put(floor->book, STORE_MAIL, goal, id, mail_to_json(mail));
}

static struct mail *
from_draft(struct team_floor *floor, const struct mail_draft *draft)
{
	struct mail *mail = mail_new();
	const char *worker = draft->to_worker;
	const struct agent *agent = team_mail_agent(floor, draft->to);

	if (worker == NULL && agent != NULL)
		worker = agent->worker->name;
	xstrset(
	    &mail->from, draft->from != NULL ? draft->from : ACTOR_OVERSEER);
	xstrset(&mail->from_worker, draft->from_worker);
	xstrset(&mail->to, draft->to);
	xstrset(&mail->to_worker, worker);
	xstrset(&mail->subject, draft->subject);
	if (draft->data != NULL)
		mail_set_data(mail, draft->data);
	else
		xstrset(&mail->body, draft->body);
	mail->kind = draft->kind;
	mail->ack_required = draft->ack_required;
	mail->alerted = draft->told;
	xstrset(&mail->reply_to, draft->reply_to);
	xstrset(&mail->goal, draft->goal);
	if (draft->meta != NULL)
		mail_set_meta(mail, draft->meta);
	mail->created_ms = clock_wall_ms();
	mail->id = mail_id(mail->from, draft->key);
	return mail;
}

static void
announce(struct team_floor *floor, const struct mail *mail, bool told)
{
	if (!told &&
	    (strcmp(mail->to, ACTOR_PERSON) == 0 ||
		strcmp(mail->to, ACTOR_OVERSEER) == 0))
		team_people_got(floor, mail);
	team_deliver_posted(floor->deliver);
}

int
team_mail_post(struct team_floor *floor, const struct mail_draft *draft,
    char **ret_id, struct err *err)
{
	struct mail *mail;
	int r = team_book_ready(floor->book, err);

	if (r < 0)
		return r;
	mail = from_draft(floor, draft);
	r = mail_check(mail, err);
	if (r == 0 && !team_book_knows(floor->book, STORE_MAIL, mail->id)) {
		team_post_put(floor, mail);
		team_limit_posted(floor->limit, mail);
		announce(floor, mail, draft->told);
	}
	if (r == 0 && ret_id != NULL)
		*ret_id = xstrdup(mail->id);
	mail_free(mail);
	return r;
}

bool
team_mail_waiting(struct team_floor *floor, const char *actor)
{
	struct team_record *record = NULL;

	while ((record = team_book_next(
		    floor->book, STORE_MAIL, actor, record)) != NULL) {
		const struct mail *mail = team_post_mail(record);

		if (mail != NULL && mail_is_new(mail))
			return true;
	}
	return false;
}
