/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auto.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mail-subject.h"
#include "mem.h"
#include "node-run.h"
#include "outcome.h"
#include "persist.h"
#include "plan-bind.h"
#include "plan-change.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "settings.h"
#include "strv.h"
#include "task-run.h"
#include "team-book.h"
#include "team-family.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-wait.h"
#include "worker.h"

/* The mail about a task that is being stored. */
struct telling {
	LIST_ENTRY(telling) entry;
	struct team_family *family;
	char *task;
};
LIST_HEAD(telling_list, telling);

struct team_family {
	struct team_floor *floor;
	struct loop_call *tend;
	struct telling_list tellings;
};

/* --- who belongs to whom ---------------------------------------------- */

static bool
is_child_of(const struct task *t, const char *parent)
{
	return task_run_is_child(t) && strcmp(t->run->parent, parent) == 0;
}

static bool
is_child_node_of(const struct plan_node *node, const char *parent)
{
	const char *of = node_run_parent(node);

	return of != NULL && strcmp(of, parent) == 0;
}

/* Will it be a task, and is none yet? */
static bool
is_to_begin(const struct team_floor *floor, const struct plan_node *node)
{
	cleanup_free char *key = xasprintf("%s/%s", node->goal_id, node->id);

	if (state_task_by_key(&floor->core->state, AUTO_PLAN_SOURCE, key) !=
	    NULL)
		return false;
	if (node->assignment != NULL)
		return plan_bind_wants_worker(
		    plan_floor_set(floor->plan), node->assignment);
	return node->status == NODE_TODO || node->status == NODE_QUEUED;
}

static void
add_name(struct buf *names, struct json_object *spawn, const char *id)
{
	const char *label = json_string_or(spawn, "label", NULL);
	const char *actor = json_string_or(spawn, "actor", NULL);
	const char *colon = actor != NULL ? strrchr(actor, ':') : NULL;

	if (names == NULL)
		return;
	if (label == NULL && colon != NULL)
		label = colon + 1;
	if (names->len > 0)
		buf_adds(names, ", ");
	if (label != NULL)
		buf_addf(names, "%s (%s)", label, id);
	else
		buf_adds(names, id);
}

static size_t
open_nodes(
    const struct team_floor *floor, const char *parent, struct buf *names)
{
	const struct plan_set *set = plan_floor_set(floor->plan);
	size_t count = 0;

	for (size_t i = 0; i < set->plan_count; i++)
		for (size_t n = 0; n < set->plans[i]->count; n++) {
			const struct plan_node *node = set->plans[i]->nodes[n];

			if (!is_child_node_of(node, parent) ||
			    !is_to_begin(floor, node))
				continue;
			add_name(names, node->spawn, node->id);
			count++;
		}
	return count;
}

size_t
team_family_open(
    const struct team_floor *floor, const char *task, struct buf *names)
{
	const struct state *state = &floor->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];
		cleanup_json struct json_object *run = NULL;

		if (!is_child_of(t, task) ||
		    (t->step == TASK_SETTLING && t->run->announced))
			continue;
		run = task_run_to_json(t->run);
		add_name(names, run, t->id);
		count++;
	}
	if (floor->plan->state == PLAN_OPEN)
		count += open_nodes(floor, task, names);
	return count;
}

/* --- the end of a parent ---------------------------------------------- */

static bool
is_good(const struct task *t)
{
	return t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;
}

static bool
hands_over(const struct team_floor *floor, const struct task *t)
{
	return is_good(t) ||
	    strcmp(settings_string(floor->core->settings, "team.on_parent_end"),
		"hand_over") == 0;
}

/* Its own parent, if that is still there; NULL = none. */
static const struct task *
heir(const struct team_floor *floor, const struct task *t)
{
	const struct task *above = task_run_is_child(t) ?
	    state_task(&floor->core->state, t->run->parent) :
	    NULL;

	return above != NULL && above->step != TASK_SETTLING ? above : NULL;
}

static void
give_to(struct task_run *run, const struct task *heir)
{
	cleanup_free char *actor =
	    heir != NULL ? task_run_actor(heir) : xstrdup(ACTOR_OVERSEER);

	xstrset(&run->parent, heir != NULL ? heir->id : NULL);
	xstrset(&run->parent_actor, actor);
}

/* The same in the plan, for a task that begins later. */
static void
give_node_to(struct plan_node *node, const struct task *heir)
{
	struct task_run *run = NULL;

	if (task_run_from_json(node->spawn, "spawn", &run, NULL) < 0)
		return;
	give_to(run, heir);
	json_object_put(node->spawn);
	node->spawn = task_run_to_json(run);
	task_run_free(run);
}

static void
end_nodes_of(struct team_floor *floor, struct plan *plan, const struct task *t,
    const char *why)
{
	const struct task *to = heir(floor, t);
	bool over = hands_over(floor, t), any = false;
	struct plan_change change;

	plan_change_begin(&change, floor->plan, plan, why);
	change.edit.actor = ACTOR_OVERSEER;
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *node = plan->nodes[i];

		if (!is_child_node_of(node, t->id) ||
		    !node_status_open(node->status))
			continue;
		if (!over) {
			any |=
			    plan_edit_cancel(&change.edit, node->id, NULL) == 0;
		} else if (plan_edit_begin(&change.edit, NULL) == 0) {
			give_node_to(node, to);
			plan_changed(&change.changes, node);
			plan_edit_end(&change.edit, "handed over");
			any = true;
		}
	}
	if (any)
		plan_change_end(&change);
	else
		plan_change_drop(&change);
}

static bool
has_node_of(const struct plan *plan, const char *parent)
{
	for (size_t i = 0;
	     goal_status_open(plan->goal->status) && i < plan->count; i++)
		if (is_child_node_of(plan->nodes[i], parent) &&
		    node_status_open(plan->nodes[i]->status))
			return true;
	return false;
}

/* One whose work is just landing is not stopped: it goes on by itself. */
static void
end_task(struct team_floor *floor, struct task *child, const struct task *t,
    const char *why)
{
	if (hands_over(floor, t) ||
	    outcome_drop(floor->mode, child, why, NULL) == -EINPROGRESS)
		give_to(child->run, heir(floor, t));
	persist_changed(floor->core);
}

static void
end_children(struct team_floor *floor, const struct task *t)
{
	struct state *state = &floor->core->state;
	const struct plan_set *set = plan_floor_set(floor->plan);
	cleanup_free char *why =
	    xasprintf("%s, which spawned it, has ended: %s", t->id,
		task_outcome_name(t->outcome));

	/* Without their nodes nobody begins them again. */
	for (size_t i = set->plan_count; i-- > 0;)
		if (has_node_of(set->plans[i], t->id))
			end_nodes_of(floor, set->plans[i], t, why);
	for (size_t i = state->task_count; i-- > 0;)
		if (i < state->task_count &&
		    state->tasks[i]->step != TASK_SETTLING &&
		    is_child_of(state->tasks[i], t->id))
			end_task(floor, state->tasks[i], t, why);
}

static bool
has_child_task(const struct team_floor *floor, const char *parent)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (is_child_of(state->tasks[i], parent) &&
		    state->tasks[i]->step != TASK_SETTLING)
			return true;
	return false;
}

static bool
has_children(const struct team_floor *floor, const struct task *t)
{
	const struct plan_set *set = plan_floor_set(floor->plan);

	if (has_child_task(floor, t->id))
		return true;
	for (size_t i = 0; i < set->plan_count; i++)
		if (has_node_of(set->plans[i], t->id))
			return true;
	return false;
}

/* Tasks may leave the state here: nobody goes through them now. */
static void
tend(void *arg)
{
	const struct team_family *family = arg;
	struct team_floor *floor = family->floor;
	const struct state *state = &floor->core->state;
	cleanup_strv char **ids = NULL;
	bool left = false;

	if (floor->plan->state != PLAN_OPEN || floor->core->stopping)
		return;
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->step == TASK_SETTLING &&
		    has_children(floor, state->tasks[i]))
			strv_add(&ids, state->tasks[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		const struct task *t = state_task(state, *id);

		if (t != NULL)
			end_children(floor, t);
		left |= t != NULL && has_children(floor, t);
	}
	/* Otherwise a worker is busy, and the next patrol asks again. */
	if (!left)
		auto_plan_changed(floor->mode);
}

/* --- the end of a child ----------------------------------------------- */

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
static int
post(struct team_floor *floor, const struct task *t, const struct task *parent,
    enum mail_subject kind, struct err *err)
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
	cleanup_free char *goal = goal_of(t);
	cleanup_json struct json_object *data = result_of(t);
	struct mail_draft draft = { .key = key,
		.from = completed ? NULL : from,
		.from_worker = completed ? NULL : t->worker,
		.to = to,
		.subject = subject,
		.data = data,
		.kind = is_good(t) ? MAIL_INFO : MAIL_ALERT,
		.goal = goal };
	int r;

	if (completed) { /* the other one has the whole result */
		json_object_object_del(data, "report");
		json_object_object_del(data, "verified");
	}
	r = team_mail_post(floor, &draft, NULL, err);
	if (r == -E2BIG) {
		json_object_object_del(data, "report");
		json_object_object_del(data, "verified");
		r = team_mail_post(floor, &draft, NULL, err);
	}
	return r;
}

static bool
is_told(const struct team_family *family, const char *task)
{
	const struct telling *telling;

	LIST_FOREACH (telling, &family->tellings, entry)
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

/* The store has the mail, or refuses it for ever. */
static void
on_stored(const struct err *err, void *arg)
{
	struct telling *telling = arg;
	struct team_floor *floor = telling->family->floor;
	struct task *t = state_task(&floor->core->state, telling->task);

	(void)err;
	if (t != NULL && t->run != NULL)
		t->run->announced = true;
	telling_free(telling);
	persist_changed(floor->core);
	team_wait_look(floor);
	auto_plan_changed(floor->mode);
}

static void
tell_later(struct team_family *family, const struct task *t)
{
	struct telling *telling = xcalloc(1, sizeof *telling);
	cleanup_free char *goal = goal_of(t);

	telling->family = family;
	telling->task = xstrdup(t->id);
	LIST_INSERT_HEAD(&family->tellings, telling, entry);
	team_book_then(family->floor->book, family, goal, on_stored, telling);
}

static int
announce(struct team_floor *floor, struct task *t, struct err *err)
{
	struct team_family *family = floor->family;
	struct task *parent = state_task(&floor->core->state, t->run->parent);

	if (t->run->announced || parent == NULL ||
	    parent->step == TASK_SETTLING)
		return 0;
	if (is_told(family, t->id))
		return err_set(err, -EINPROGRESS, "its parent is being told");
	if (team_book_ready(floor->book, err) < 0)
		return err_set(err, -EINPROGRESS,
		    "its parent cannot be told: the store is not ready");
	if (task_run_has_landed(t)) {
		task_run_of(parent)->rebase_due = true;
		parent->run->children_landed = true;
	}
	/* One that gets no more mail learns from agent_status. */
	post(floor, t, parent, SUBJECT_AGENT_COMPLETED, NULL);
	post(floor, t, parent, SUBJECT_RESULT_READY, NULL);
	persist_changed(floor->core);
	tell_later(family, t);
	return err_set(err, -EINPROGRESS, "its parent is being told");
}

void
team_family_closed(struct team_family *family)
{
	struct telling *telling;

	team_book_forget(family->floor->book, family);
	while ((telling = LIST_FIRST(&family->tellings)) != NULL)
		telling_free(telling);
}

int
team_family_settle(void *arg, const struct task *task, struct err *err)
{
	struct team_floor *floor = arg;
	struct task *t = state_task(&floor->core->state, task->id);

	if (t == NULL || floor->plan->state == PLAN_OFF ||
	    floor->plan->state == PLAN_SAFE)
		return 0;
	if (floor->plan->state != PLAN_OPEN)
		return task_run_is_child(t) || has_child_task(floor, t->id) ?
		    err_set(err, -EINPROGRESS, "the store is being opened") :
		    0;
	if (has_children(floor, t)) {
		loop_call_request(floor->family->tend);
		return err_set(err, -EINPROGRESS,
		    "the agents that it spawned are being ended");
	}
	return task_run_is_child(t) ? announce(floor, t, err) : 0;
}

struct team_family *
team_family_new(struct team_floor *floor)
{
	struct team_family *family = xcalloc(1, sizeof *family);

	family->floor = floor;
	LIST_INIT(&family->tellings);
	family->tend = loop_call_new(floor->core->loop, tend, family);
	return family;
}

void
team_family_free(struct team_family *family)
{
	loop_call_free(family->tend);
	free(family);
}
