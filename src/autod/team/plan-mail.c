/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "auto.h"
#include "errtext.h"
#include "event.h"
#include "json.h"
#include "log.h"
#include "mail-subject.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-mail.h"
#include "plan-meta.h"
#include "plan-set.h"
#include "state.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-post.h"
#include "team-reach.h"
#include "workspace.h"

static bool
is_same(const char *one, const char *other)
{
	return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* Does it work for the goal, or do others do so for it? */
static bool
is_of_goal(const struct task *task, const char *goal_id)
{
	cleanup_free char *goal = team_reach_goal(task);

	return is_same(goal, goal_id) ||
	    (task->run != NULL && is_same(task->run->goal, goal_id));
}

/* What it was not given yet. */
static void
settle_earlier(struct team_floor *floor, const char *actor, const char *subject)
{
	const struct team_box *box = team_post_box(floor, actor);
	cleanup_strv char **ids = NULL;

	for (size_t i = 0; box != NULL && i < box->count; i++)
		if (mail_is_of_plan(box->mails[i]) &&
		    strcmp(box->mails[i]->subject, subject) == 0)
			strv_add(&ids, box->mails[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++)
		team_mail_settle(floor, *id);
}

static void
post(struct team_floor *floor, const struct event *event,
    struct json_object *meta, const char *actor)
{
	cleanup_free char *subject =
	    mail_subject_make(SUBJECT_PLAN_UPDATED, event->goal, NULL);
	cleanup_free char *key = xasprintf(
	    "plan/%s/%lld/%s", event->goal, (long long)event->count, actor);
	cleanup_free char *body = xasprintf(
	    "The plan of goal %s was changed by %s (version %lld): %.500s%s"
	    "%.500s. Your own task stays as it is, unless this says otherwise.",
	    event->goal, event->actor != NULL ? event->actor : ACTOR_OVERSEER,
	    (long long)event->count, event->text != NULL ? event->text : "",
	    event->reason != NULL ? ": " : "",
	    event->reason != NULL ? event->reason : "");
	struct err err = { 0 };

	settle_earlier(floor, actor, subject);
	if (team_mail_post(floor,
		&(struct mail_draft){ .key = key,
		    .to = actor,
		    .subject = subject,
		    .body = body,
		    .kind = MAIL_INFO,
		    .goal = event->goal,
		    .meta = meta },
		NULL, &err) < 0)
		log_debug("%s: %s", subject, err.msg);
}

void
plan_mail_event(struct team_floor *floor, const struct event *event)
{
	const struct state *state = &floor->core->state;
	const struct plan *plan;
	cleanup_json struct json_object *meta = NULL;

	if (event->kind != EVENT_PLAN_UPDATED || event->goal == NULL ||
	    !floor->open)
		return;
	plan = plan_set_plan(plan_floor_set(floor->plan), event->goal);
	if (plan == NULL)
		return;
	meta = plan_meta_json(plan->goal,
	    &(struct plan_meta){ .version = event->count,
		.actor = event->actor,
		.root = floor->core->workspace->root });
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *task = state->tasks[i];
		cleanup_free char *actor = NULL;

		if (task->step != TASK_ASSIGNED ||
		    !is_of_goal(task, event->goal))
			continue;
		actor = task_run_actor(task);
		if (!is_same(actor, floor->asking) &&
		    !is_same(actor, event->actor) &&
		    !is_same(task->worker, event->actor))
			post(floor, event, meta, actor);
	}
}
