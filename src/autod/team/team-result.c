/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mail-subject.h"
#include "mem.h"
#include "persist.h"
#include "strv.h"
#include "task-run.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-result.h"
#include "team-unbegun.h"
#include "team-wait.h"
#include "worker.h"

static bool
is_good(const struct task *t)
{
	return t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;
}

/* What its parent gets to know. */
static struct json_object *
result_of(const struct task *t)
{
	const struct task_run *run = t->run;
	cleanup_free char *id = task_run_id(t), *actor = task_run_actor(t);
	struct json_object *json = json_object_new_object();

	json_set_string(json, "task_id", t->id);
	json_set_string(json, "run_id", id);
	json_set_string(json, "actor_id", actor);
	json_set_string(json, "role", run->role);
	json_set_string(json, "label", run->label);
	json_set_string(json, "title", t->title);
	json_set_string(json, "worker", t->worker);
	json_set_string(json, "outcome", task_outcome_name(t->outcome));
	json_set_string(
	    json, "commit", t->commit != NULL ? t->commit : t->held_by);
	json_set_string(json, "reason", is_good(t) ? NULL : t->reason);
	if (run->verification != VERIFICATION_NONE)
		json_set_string(json, "verification",
		    verification_state_words[run->verification]);
	if (run->verified != NULL)
		json_set(json, "verified", json_object_get(run->verified));
	if (run->report != NULL)
		json_set(json, "report", json_object_get(run->report));
	return json;
}

static char *
goal_of(const struct task *t)
{
	return xstrndup(t->key, strcspn(t->key, "/")); /* GOAL/NODE */
}

/* By a key: however often it is posted, it is there once. */
static void
post(struct team_floor *floor, const struct task *t, const struct task *parent,
    enum mail_subject kind, const char *goal)
{
	const struct worker *w = state_find(&floor->core->state, t->worker);
	bool completed = kind == SUBJECT_AGENT_COMPLETED;
	cleanup_free char *run = task_run_id(t), *from = task_run_actor(t);
	cleanup_free char *to = task_run_actor(parent);
	const char *session = w != NULL && w->work_of != NULL &&
		strcmp(w->work_of, t->id) == 0 && w->session.id != NULL ?
	    w->session.id :
	    run;
	cleanup_free char *subject =
	    mail_subject_make(kind, completed ? session : t->id, NULL);
	cleanup_free char *key =
	    xasprintf("%s/%s", completed ? "completed" : "result", run);
	cleanup_json struct json_object *data = result_of(t);
	struct mail_draft draft = { .key = key,
		.from = completed ? NULL : from,
		.from_worker = completed ? NULL : t->worker,
		.to = to,
		.subject = subject,
		.data = data,
		.kind = is_good(t) ? MAIL_INFO : MAIL_ALERT,
		.goal = goal };

	if (completed) { /* the other one has the whole result */
		json_object_object_del(data, "report");
		json_object_object_del(data, "verified");
	}
	if (team_mail_post(floor, &draft, NULL, NULL) == -E2BIG) {
		json_object_object_del(data, "report");
		json_object_object_del(data, "verified");
		team_mail_post(floor, &draft, NULL, NULL);
	}
}

/* Its parent, if that is to be told; NULL = nobody is. */
static struct task *
whom_to_tell(const struct team_floor *floor, const struct task *t)
{
	struct task *parent = state_task(&floor->core->state, t->run->parent);

	return !t->run->announced && parent != NULL &&
		parent->step != TASK_SETTLING ?
	    parent :
	    NULL;
}

static void
note_landed(struct task *parent)
{
	task_run_of(parent)->rebase_due = true;
	parent->run->children_landed = true;
}

void
team_result_tell(struct team_floor *floor, struct task *t)
{
	struct task *parent = whom_to_tell(floor, t);
	cleanup_free char *goal = goal_of(t);

	if (parent == NULL)
		return;
	if (task_run_has_landed(t))
		note_landed(parent);
	/* One that gets no more mail learns from agent_status. */
	post(floor, t, parent, SUBJECT_AGENT_COMPLETED, goal);
	post(floor, t, parent, SUBJECT_RESULT_READY, goal);
	t->run->announced = true;
	persist_changed(floor->core);
	team_wait_look(floor);
}

void
team_result_tell_without_mail(struct team_floor *floor, struct task *t)
{
	struct task *parent = whom_to_tell(floor, t);
	cleanup_json struct json_object *run = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (parent == NULL)
		return;
	run = task_run_to_json(t->run);
	team_unbegun_name(&text, run, t->id);
	buf_addf(&text, " has ended: %s", task_outcome_name(t->outcome));
	if (!is_good(t) && t->reason != NULL)
		buf_addf(&text, ": %s", t->reason);
	if (task_run_has_landed(t))
		note_landed(parent);
	strv_add(&task_run_of(parent)->untold, text.data);
	t->run->announced = true;
	persist_changed(floor->core);
	team_wait_look(floor);
}

void
team_result_rests(
    struct team_floor *floor, const struct task *t, const char *why)
{
	const struct task *parent = whom_to_tell(floor, t);
	cleanup_free char *run = task_run_id(t);
	cleanup_free char *key = xasprintf("rests/%s", run);
	cleanup_free char *goal = goal_of(t);
	cleanup_free char *subject = xasprintf("agent.paused:%s", t->id);
	cleanup_free char *to = parent != NULL ? task_run_actor(parent) : NULL;
	cleanup_free char *body =
	    xasprintf("%s does not go on before a person has looked at it: %s",
		t->id, why);

	if (parent != NULL)
		team_mail_post(floor,
		    &(struct mail_draft){ .key = key,
			.to = to,
			.subject = subject,
			.body = body,
			.kind = MAIL_INFO,
			.goal = goal },
		    NULL, NULL);
}
