/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auto.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mail-subject.h"
#include "mem.h"
#include "persist.h"
#include "strv.h"
#include "task-run.h"
#include "team-book.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-result.h"
#include "team-unbegun.h"
#include "team-wait.h"
#include "worker.h"

/* The mail about a task that is being stored. */
struct telling {
	LIST_ENTRY(telling) entry;
	struct team_results *results;
	char *task;
	bool no_goal; /* its goal cannot be stored */
};
LIST_HEAD(telling_list, telling);

struct team_results {
	struct team_floor *floor;
	struct telling_list tellings;
};

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

static bool
is_told(const struct team_results *results, const char *task)
{
	const struct telling *telling;

	LIST_FOREACH (telling, &results->tellings, entry)
		if (strcmp(telling->task, task) == 0)
			return true;
	return false;
}

static void
telling_free(struct telling *telling)
{
	LIST_REMOVE(telling, entry);
	free(telling->task);
	free(telling);
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

static void on_stored(const struct err *err, void *arg);

/* goal: that the mail is stored with; NULL = none. */
static void
tell(struct team_results *results, const struct task *t,
    const struct task *parent, const char *goal)
{
	struct team_floor *floor = results->floor;
	struct telling *telling = xcalloc(1, sizeof *telling);

	/* One that gets no more mail learns from agent_status. */
	post(floor, t, parent, SUBJECT_AGENT_COMPLETED, goal);
	post(floor, t, parent, SUBJECT_RESULT_READY, goal);
	telling->results = results;
	telling->task = xstrdup(t->id);
	telling->no_goal = goal == NULL;
	LIST_INSERT_HEAD(&results->tellings, telling, entry);
	team_book_then(floor->book, results, goal, on_stored, telling);
}

/* The store has the mail. What it refuses with the goal is asked again, once
 * the goal was read again, or stored without it. */
static void
on_stored(const struct err *err, void *arg)
{
	struct telling *telling = arg;
	struct team_results *results = telling->results;
	struct team_floor *floor = results->floor;
	struct task *t = state_task(&floor->core->state, telling->task);
	bool again = err != NULL && !telling->no_goal;
	const struct task *parent =
	    t != NULL && task_run_is_child(t) ? whom_to_tell(floor, t) : NULL;

	telling_free(telling);
	if (again && err->code != -EAGAIN && parent != NULL &&
	    team_book_ready(floor->book, NULL) == 0)
		tell(results, t, parent, NULL);
	else if (!again && t != NULL && t->run != NULL)
		t->run->announced = true;
	persist_changed(floor->core);
	team_wait_look(floor);
	auto_plan_changed(floor->mode);
}

int
team_results_tell(
    struct team_results *results, const struct task *t, struct err *err)
{
	struct team_floor *floor = results->floor;
	struct task *parent = whom_to_tell(floor, t);
	cleanup_free char *goal = goal_of(t);

	if (parent == NULL)
		return 0;
	if (is_told(results, t->id))
		return err_set(err, -EINPROGRESS, "its parent is being told");
	if (team_book_ready(floor->book, err) < 0)
		return err_set(err, -EINPROGRESS,
		    "its parent cannot be told: the store is not ready");
	if (task_run_has_landed(t))
		note_landed(parent);
	persist_changed(floor->core);
	tell(results, t, parent, goal);
	return err_set(err, -EINPROGRESS, "its parent is being told");
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

/* --- life ------------------------------------------------------------- */

void
team_results_closed(struct team_results *results)
{
	struct telling *telling;

	team_book_forget(results->floor->book, results);
	while ((telling = LIST_FIRST(&results->tellings)) != NULL)
		telling_free(telling);
}

struct team_results *
team_results_new(struct team_floor *floor)
{
	struct team_results *results = xcalloc(1, sizeof *results);

	results->floor = floor;
	LIST_INIT(&results->tellings);
	return results;
}

void
team_results_free(struct team_results *results)
{
	free(results);
}
