/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "auto.h"
#include "book-history.h"
#include "landing-record.h"
#include "loop.h"
#include "notice.h"
#include "outcome.h"
#include "persist.h"
#include "person.h"
#include "plan-floor.h"
#include "plan-progress.h"
#include "plan.h"
#include "settings.h"
#include "task.h"
#include "team-private.h"
#include "work-record.h"
#include "worker.h"

/* --- those that were spawned ------------------------------------------ */

static bool
is_whole(const struct task_launch *launch)
{
	/* The parent of one that was handed over to the overseer is none. */
	return launch->parent_actor != NULL && launch->actor != NULL;
}

static char *
key_of(const struct plan_node *node)
{
	return xasprintf("%s/%s", node->goal_id, node->id);
}

static struct task *
task_of(const struct team_floor *floor, const struct plan_node *node)
{
	cleanup_free char *key = key_of(node);

	return state_task_by_key(&floor->core->state, AUTO_PLAN_SOURCE, key);
}

static void
add_member(struct team_floor *floor, struct plan *plan, struct plan_node *node,
    struct team_members *members)
{
	struct task *task = task_of(floor, node);
	const struct task_launch *launch =
	    task != NULL ? &task->launch : node->spawn;

	if (!is_whole(launch))
		return;
	if (members->count == members->room) {
		members->room = members->room * 2 + 16;
		members->list = xreallocarray(
		    members->list, members->room, sizeof *members->list);
	}
	members->list[members->count++] = (struct team_member){ .plan = plan,
		.node = node,
		.launch = schema_clone(&task_launch_schema, launch),
		.task = task };
}

void
team_members_load(struct team_floor *floor, struct team_members *ret)
{
	const struct plan_set *set = plan_floor_set(floor->plan);

	*ret = (struct team_members){ 0 };
	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan_node *node = NULL;

		while ((node = plan_next(set->plans[i], node)) != NULL)
			if (node->spawn != NULL)
				add_member(floor, set->plans[i], node, ret);
	}
}

void
team_members_add_filed(struct team_floor *floor, struct team_members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		struct team_member *member = &members->list[i];
		cleanup_free char *key = NULL;
		struct task *filed;

		if (member->task != NULL || team_member_is_open(member))
			continue;
		key = key_of(member->node);
		filed = book_find_task_key(
		    floor->core->book, AUTO_PLAN_SOURCE, key);
		if (filed != NULL && is_whole(&filed->launch)) {
			schema_copy(&task_launch_schema, &filed->launch,
			    member->launch);
			member->filed = take_ptr(&filed);
		}
		task_free(filed);
	}
}

void
team_members_release(struct team_members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		schema_free(&task_launch_schema, members->list[i].launch);
		task_free(members->list[i].filed);
	}
	free(members->list);
	*members = (struct team_members){ 0 };
}

bool
team_member_is_open(const struct team_member *member)
{
	if (member->task != NULL)
		return member->task->step != TASK_SETTLING;
	if (!goal_status_open(member->plan->goal->status))
		return false;
	return node_status_open(member->node->status) &&
	    member->node->status != NODE_BLOCKED;
}

const struct team_member *
team_members_find(const struct team_members *members, const char *actor)
{
	for (size_t i = 0; i < members->count; i++)
		if (strcmp(members->list[i].launch->actor, actor) == 0)
			return &members->list[i];
	return NULL;
}

bool
team_member_is_below(const struct team_members *members,
    const struct team_member *member, const char *actor)
{
	/* A chain is not longer than the list, whatever a file says. */
	for (size_t i = 0; member != NULL && i <= members->count; i++) {
		if (strcmp(member->launch->parent_actor, actor) == 0)
			return true;
		member =
		    team_members_find(members, member->launch->parent_actor);
	}
	return false;
}

/* --- those that have not begun ---------------------------------------- */

enum fate {
	FATE_BEGUN, /* it has a task, or had one that has ended */
	FATE_BEGINS,
	FATE_HELD, /* it begins, but something has to happen first */
	FATE_HELP, /* likewise, and only a person can do that */
	FATE_LOST, /* it does not begin */
};

/* asker: the key of the task that asked for it; why: appended, unless it begins
 * or has begun. */
static enum fate
fate_of(const struct team_floor *floor, const struct plan *plan,
    const struct plan_node *node, const char *asker, struct buf *why)
{
	bool waits = node->status == NODE_TODO || node->status == NODE_QUEUED;

	if (task_of(floor, node) != NULL ||
	    (plan_node_is_assigned(node) &&
		!plan_bind_wants_worker(plan_floor_set(floor->plan), node)) ||
	    (!plan_node_is_assigned(node) && !waits && node->started_ms != 0))
		return FATE_BEGUN;
	if (!plan_tasks_allowed(floor->plan))
		buf_adds(why,
		    "goals are off, or not for agents (plan.enabled, "
		    "plan.allow_agents)");
	else if (plan_node_is_assigned(node))
		return FATE_BEGINS;
	else if (!goal_status_open(plan->goal->status))
		buf_addf(why, "goal %s is %s", plan->goal->id,
		    goal_status_name(plan->goal->status));
	else if (!waits)
		buf_addf(why, "it is %s", node_status_name(node->status));
	else if (!plan_node_leaf(node))
		buf_adds(why, "it was split into other tasks");
	else {
		const struct plan_node *above = node, *on;
		cleanup_free char *on_key = NULL;

		/* What keeps it from beginning, now or for ever. */
		while ((above = above->parent) != NULL)
			if (above->override.actor != NULL &&
			    (above->status == NODE_BLOCKED ||
				!node_status_open(above->status))) {
				buf_addf(why,
				    "%s, which it is a part of, is %s",
				    above->id, node_status_name(above->status));
				return FATE_LOST;
			}
		if (plan->goal->status != GOAL_ACTIVE) {
			buf_addf(why, "goal %s is %s", plan->goal->id,
			    goal_status_name(plan->goal->status));
			return FATE_HELP;
		}
		on = plan_deps_waits(plan, node);
		if (on == NULL)
			return FATE_BEGINS;
		on_key = key_of(on);
		buf_addf(why, "it depends on %s, which is %s", on->id,
		    node_status_name(on->status));
		return on->status == NODE_BLOCKED ||
			strcmp(on_key, asker) == 0 ?
		    FATE_HELP :
		    FATE_HELD;
	}
	if (node->override.reason != NULL || node->blocked_reason != NULL)
		buf_addf(why, ": %s",
		    node->override.reason != NULL ? node->override.reason :
						    node->blocked_reason);
	return FATE_LOST;
}

/* The nodes of those that a task has spawned, one after the other: plan and at
 * begin with 0. NULL = there are no more. */
static struct plan_node *
next_child(const struct team_floor *floor, const char *parent, size_t *plan,
    size_t *at)
{
	const struct plan_set *set = floor->plan->state == PLAN_OPEN ?
	    plan_floor_set(floor->plan) :
	    NULL;

	for (; set != NULL && *plan < set->plan_count; ++*plan, *at = 0)
		while (*at < set->plans[*plan]->count) {
			struct plan_node *node =
			    set->plans[*plan]->nodes[(*at)++];
			const char *of = plan_node_asker(node);

			if (text_is(of, parent))
				return node;
		}
	return NULL;
}

/* Most have never spawned anyone. */
static bool
has_spawned(const struct task *t)
{
	return t->attempt.has_spawned;
}

/* The name of an agent for people, after a comma: "label (id)". */
static void
add_name(struct buf *names, const struct task_launch *launch, const char *id)
{
	const char *label = launch->label;
	const char *colon =
	    launch->actor != NULL ? strrchr(launch->actor, ':') : NULL;

	if (label == NULL && colon != NULL)
		label = colon + 1;
	if (names->len > 0)
		buf_adds(names, ", ");
	if (label != NULL)
		buf_addf(names, "%s (%s)", label, id);
	else
		buf_adds(names, id);
}

/* How many of the agents that this task has spawned are to begin? Their names
 * are added to names (may be NULL), with what holds them. */
static size_t
count_unbegun(const struct team_floor *floor, const struct task *t,
    struct buf *names, size_t *ret_held)
{
	size_t plan = 0, at = 0, count = 0;
	const struct plan_node *node;

	*ret_held = 0;
	while (has_spawned(t) &&
	    (node = next_child(floor, t->id, &plan, &at)) != NULL) {
		cleanup_buf struct buf why = BUF_INIT;
		enum fate fate =
		    fate_of(floor, plan_floor_set(floor->plan)->plans[plan],
			node, t->key, &why);

		if (fate == FATE_BEGUN || fate == FATE_LOST)
			continue;
		count++;
		*ret_held += fate != FATE_BEGINS;
		if (names == NULL)
			continue;
		add_name(names, node->spawn, node->id);
		if (fate != FATE_BEGINS)
			buf_addf(names, " (held: %s)", why.data);
	}
	return count;
}

size_t
team_family_unbegun(void *arg, const struct task *task, size_t *ret_held)
{
	return count_unbegun(arg, task, NULL, ret_held);
}

/* A person is notified once. */
static void
tell_person(const struct team_floor *floor, const struct task *t,
    const struct plan_node *node, const char *key, const char *why)
{
	cleanup_free char *event = xasprintf("held/%s/%s", t->id, key);
	cleanup_free char *text =
	    xasprintf("%s waits for %s, which cannot begin: %s; look at it "
		      "with: llmc goal node show %s",
		t->worker != NULL ? t->worker : t->id, node->name, why, key);

	person_escalate(floor->core,
	    &(struct escalation){ .level = ESCALATION_WARNING,
		.event = event,
		.title = "an agent cannot begin",
		.text = text,
		.signature = event,
		.worker = t->worker,
		.task = t->id,
		.task_title = t->title,
		.goal = node->goal_id,
		.node = node->id,
		.class = notice_name(NOTICE_WORKER) });
}

void
team_family_look(struct team_floor *floor, struct task *t)
{
	size_t plan = 0, at = 0;
	const struct plan_node *node;

	while (t->step != TASK_SETTLING && has_spawned(t) &&
	    (node = next_child(floor, t->id, &plan, &at)) != NULL) {
		cleanup_free char *key = key_of(node);
		cleanup_buf struct buf why = BUF_INIT, name = BUF_INIT;
		enum fate fate =
		    fate_of(floor, plan_floor_set(floor->plan)->plans[plan],
			node, t->key, &why);
		bool lost = fate == FATE_LOST;

		if (fate == FATE_HELP)
			tell_person(floor, t, node, key, why.data);
		if (plan_has(t->attempt.lost, key) == lost)
			continue;
		if (lost) {
			add_name(&name, node->spawn, node->id);
			strv_add(&t->attempt.lost, key);
			strv_take(&t->attempt.untold,
			    xasprintf("%s has not begun, and will not: %s",
				name.data, why.data));
		} else {
			strv_remove(t->attempt.lost, key);
		}
		persist_changed(floor->core);
	}
}

/* --- telling the parent ------------------------------------------------ */

#define WORDS_MAX 8192 /* bytes of last words that are too long for mail */

static bool
is_good(const struct task *t)
{
	return t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;
}

/* Do those that it has spawned go on without it? It ended well; or another host
 * has it by now, and tries again. */
static bool
leaves_children(const struct task *t)
{
	return is_good(t) ||
	    (strcmp(t->source, HOSTS_SOURCE) == 0 && t->host != NULL);
}

/* What its parent gets to know. */
static struct json_object *
result_of(const struct task *t, const char *session)
{
	cleanup_free char *id = task_attempt_id(t), *actor = task_actor(t);
	struct json_object *json = json_object_new_object();

	json_set_string(json, "task_id", t->id);
	json_set_string(json, "run_id", id);
	json_set_string(json, "actor_id", actor);
	json_set_string(json, "session_id", session);
	json_set_string(json, "role", t->launch.role);
	json_set_string(json, "label", t->launch.label);
	json_set_string(json, "title", t->title);
	json_set_string(json, "worker", t->worker);
	json_set_string(json, "outcome", task_outcome_name(t->outcome));
	json_set_string(
	    json, "commit", t->commit != NULL ? t->commit : t->held_by);
	json_set_string(json, "reason", is_good(t) ? NULL : t->reason);
	if (t->attempt.verification != VERIFICATION_NONE)
		json_set_string(json, "verification",
		    verification_state_words[t->attempt.verification]);
	if (t->attempt.verified != NULL)
		json_set(
		    json, "verified", json_object_get(t->attempt.verified));
	if (t->attempt.report != NULL)
		json_set(json, "report", json_object_get(t->attempt.report));
	json_set_string(json, "last_words", t->last_words);
	return json;
}

static char *
goal_of(const struct task *t)
{
	return xstrndup(t->key, strcspn(t->key, "/")); /* GOAL/NODE */
}

/* By a key: however often it is posted, it is there once. */
static void
post_result(
    struct team_floor *floor, const struct task *t, const struct task *parent)
{
	const struct worker *w = t->worker != NULL ?
	    state_find(&floor->core->state, t->worker) :
	    NULL;
	cleanup_free char *run = task_attempt_id(t), *goal = goal_of(t);
	cleanup_free char *to = task_actor(parent);
	const char *session =
	    w != NULL && text_is(w->work_of, t->id) && w->session.id != NULL ?
	    w->session.id :
	    t->attempt.session != NULL ? t->attempt.session :
					 TEAM_NO_SESSION;
	cleanup_free char *subject = xasprintf("agent.completed:%s", session);
	cleanup_free char *key = xasprintf("completed/%s", run), *cut = NULL;
	cleanup_json struct json_object *data = result_of(t, session);
	struct mail_draft draft = { .key = key,
		.to = to,
		.subject = subject,
		.data = data,
		.kind = is_good(t) ? MAIL_INFO : MAIL_ALERT,
		.goal = goal };
	const char *words = t->last_words;

	if (team_mail_post(floor, &draft, NULL, NULL) != -E2BIG)
		return;
	json_object_object_del(data, "verified");
	if (words != NULL && strlen(words) > WORDS_MAX) {
		words += strlen(words) - WORDS_MAX;
		while (((unsigned char)*words & 0xc0) == 0x80)
			words++;
		cut = xasprintf("(the first %zu bytes are left out) %s",
		    strlen(t->last_words) - strlen(words), words);
		json_set_string(data, "last_words", cut);
	}
	team_mail_post(floor, &draft, NULL, NULL);
}

/* Its parent, if that has to know; NULL = no. */
static struct task *
whom_to_tell(const struct team_floor *floor, const struct task *t)
{
	struct task *parent = state_task(&floor->core->state, t->launch.parent);

	/* The host that has spawned it tells. */
	if (!task_is_for_team(t))
		return NULL;
	return !t->attempt.announced && parent != NULL &&
		parent->step != TASK_SETTLING ?
	    parent :
	    NULL;
}

/* The task, which was spawned, has its outcome. Without a book, the parent's
 * next prompt says so. */
static void
tell_parent(struct team_floor *floor, struct task *t, bool by_mail)
{
	struct task *parent = whom_to_tell(floor, t);
	cleanup_buf struct buf text = BUF_INIT;

	if (parent == NULL)
		return;
	if (by_mail) {
		/* One that gets no more mail learns from agent_status. */
		post_result(floor, t, parent);
	} else {
		add_name(&text, &t->launch, t->id);
		buf_addf(
		    &text, " has ended: %s", task_outcome_name(t->outcome));
		if (!is_good(t) && t->reason != NULL)
			buf_addf(&text, ": %s", t->reason);
		strv_add(&parent->attempt.untold, text.data);
	}
	if (task_has_landed(t)) {
		parent->attempt.rebase_due = true;
		parent->attempt.children_landed = true;
	}
	t->attempt.announced = true;
	persist_changed(floor->core);
	team_floor_changed(floor);
}

void
team_family_rests(
    struct team_floor *floor, const struct task *t, const char *why)
{
	const struct task *parent = whom_to_tell(floor, t);
	cleanup_free char *run = task_attempt_id(t);
	cleanup_free char *key = xasprintf("rests/%s", run);
	cleanup_free char *goal = goal_of(t);
	cleanup_free char *subject = xasprintf("agent.paused:%s", t->id);
	cleanup_free char *to = parent != NULL ? task_actor(parent) :
	    task_is_for_team(t)                ? NULL :
						 xstrdup(t->launch.parent_actor);
	cleanup_free char *body =
	    xasprintf("%s does not go on before a person has looked at it: %s",
		t->id, why);

	if (to != NULL)
		team_mail_post(floor,
		    &(struct mail_draft){ .key = key,
			.to = to,
			.subject = subject,
			.body = body,
			.kind = MAIL_INFO,
			.goal = goal },
		    NULL, NULL);
}

/* --- who belongs to whom ---------------------------------------------- */

static bool
is_child_of(const struct task *t, const char *parent)
{
	return task_is_child(t) && task_is_for_team(t) &&
	    strcmp(t->launch.parent, parent) == 0;
}

size_t
team_family_open(
    const struct team_floor *floor, const char *task, struct buf *names)
{
	const struct state *state = &floor->core->state;
	const struct task *parent = state_task(state, task);
	size_t count = 0, held;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		if (!is_child_of(t, task) ||
		    (t->step == TASK_SETTLING && t->attempt.announced))
			continue;
		count++;
		if (names == NULL)
			continue;
		add_name(names, &t->launch, t->id);
	}
	return parent == NULL ?
	    count :
	    count + count_unbegun(floor, parent, names, &held);
}

/* --- the end of a parent ---------------------------------------------- */

/* Its own parent, if that is still there; NULL = none. */
static struct task *
heir(const struct team_floor *floor, const struct task *t)
{
	struct task *above = task_is_child(t) ?
	    state_task(&floor->core->state, t->launch.parent) :
	    NULL;

	return above != NULL && above->step != TASK_SETTLING ? above : NULL;
}

static void
give_to(struct task_launch *launch, struct task *heir)
{
	cleanup_free char *actor =
	    heir != NULL ? task_actor(heir) : xstrdup(ACTOR_OVERSEER);

	xstrset(&launch->parent, heir != NULL ? heir->id : NULL);
	xstrset(&launch->parent_actor, actor);
	if (heir != NULL)
		heir->attempt.has_spawned = true;
}

/* Is this node of a child to be ended with the parent? One that is on the
 * branch, or whose task has its outcome, has an end of its own. */
static bool
is_to_end(const struct team_floor *floor, const struct plan_node *node)
{
	const struct task *t = task_of(floor, node);

	return node_status_open(node->status) &&
	    (t == NULL || (t->step != TASK_LANDED && t->step != TASK_SETTLING));
}

/* A branch that moves is not stopped: outcome_drop(). */
static bool
is_landing(const struct team_floor *floor, const struct plan_node *node)
{
	const struct task *t = task_of(floor, node);
	const struct landing_item *item = t == NULL ?
	    NULL :
	    landing_record_of_task(&floor->core->state.landings, t->id);

	return item != NULL && item->step == ITEM_QUEUED &&
	    item->commit != NULL;
}

/* In the plan, for a task that begins later: cancelled, or given to the heir.
 */
static bool
end_node(const struct team_floor *floor, struct plan_change *change,
    struct plan_node *node, const struct task *t)
{
	if (!leaves_children(t) && !is_landing(floor, node))
		return plan_edit_cancel(&change->edit, node->id, NULL) == 0;
	if (plan_edit_begin(&change->edit, NULL) < 0)
		return false;
	give_to(node->spawn, heir(floor, t));
	plan_changed(&change->changes, node);
	plan_edit_end(&change->edit, "handed over");
	return true;
}

/* The next node that is to end with its parent, in an open goal. */
static struct plan_node *
next_to_end(const struct team_floor *floor, const char *parent, size_t *plan,
    size_t *at)
{
	const struct plan_set *set = plan_floor_set(floor->plan);
	struct plan_node *node;

	while ((node = next_child(floor, parent, plan, at)) != NULL)
		if (goal_status_open(set->plans[*plan]->goal->status) &&
		    is_to_end(floor, node))
			return node;
	return NULL;
}

/* Those of one goal, in one change of its plan. */
static void
end_nodes(struct team_floor *floor, const char *goal, const struct task *t,
    const char *why)
{
	struct plan *plan = plan_set_plan(plan_floor_set(floor->plan), goal);
	struct plan_change change;
	bool any = false;

	plan_change_begin(&change, floor->plan, plan, why);
	change.edit.actor = ACTOR_OVERSEER;
	for (size_t i = 0; i < plan->count; i++) {
		const char *of = plan_node_asker(plan->nodes[i]);

		if (text_is(of, t->id) && is_to_end(floor, plan->nodes[i]))
			any |= end_node(floor, &change, plan->nodes[i], t);
	}
	if (!any) {
		plan_change_drop(&change);
		return;
	}
	plan_change_end(&change);
	plan_floor_changed(floor->plan);
}

static void
end_children(struct team_floor *floor, const struct task *t)
{
	struct state *state = &floor->core->state;
	const struct plan_node *node;
	size_t plan = 0, at = 0;
	cleanup_strv char **goals = NULL;
	cleanup_free char *why =
	    xasprintf("%s, which spawned it, has ended: %s", t->id,
		task_outcome_name(t->outcome));

	/* Without their nodes they are not begun again. */
	while ((node = next_to_end(floor, t->id, &plan, &at)) != NULL)
		if (!plan_has(goals, node->goal_id))
			strv_add(&goals, node->goal_id);
	for (char **goal = goals; goal != NULL && *goal != NULL; goal++)
		end_nodes(floor, *goal, t, why);
	/* One whose work is just landing is not stopped: it goes on by
	 * itself. */
	for (size_t i = state->task_count; i-- > 0;) {
		struct task *child =
		    i < state->task_count ? state->tasks[i] : NULL;

		if (child == NULL || child->step == TASK_SETTLING ||
		    !is_child_of(child, t->id))
			continue;
		if (leaves_children(t) ||
		    outcome_drop(floor->mode, child, why, NULL) == -EINPROGRESS)
			give_to(&child->launch, heir(floor, t));
		persist_changed(floor->core);
	}
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
	size_t plan = 0, at = 0;

	return has_child_task(floor, t->id) ||
	    (has_spawned(t) && next_to_end(floor, t->id, &plan, &at) != NULL);
}

/* Tasks may leave the state here: no loop over them is running. */
void
team_family_tend(void *arg)
{
	struct team_floor *floor = arg;
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

/* --- the outcome of a task ---------------------------------------------- */

int
team_family_settle(void *arg, const struct task *task, struct err *err)
{
	struct team_floor *floor = arg;
	struct task *t = state_task(&floor->core->state, task->id);

	if (t == NULL)
		return 0;
	if (floor->plan->state == PLAN_OFF || floor->plan->state == PLAN_SAFE) {
		if (task_is_child(t))
			tell_parent(floor, t, false);
		return 0;
	}
	if (floor->plan->state != PLAN_OPEN)
		return task_is_child(t) || has_spawned(t) ||
			has_child_task(floor, t->id) ?
		    err_set(err, -EINPROGRESS, "plans are being imported") :
		    0;
	if (has_children(floor, t)) {
		loop_call_request(floor->tend);
		return err_set(err, -EINPROGRESS,
		    "the agents that it spawned are being ended");
	}
	if (task_is_child(t))
		tell_parent(floor, t, true);
	return 0;
}

/* --- a new attempt ------------------------------------------------------ */

void
team_family_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out)
{
	cleanup_buf struct buf open = BUF_INIT, done = BUF_INIT;
	size_t plan = 0, at = 0;
	const struct plan_node *node;

	team_family_open(floor, task->id, &open);
	/* Their work is on the branch, or reported. */
	while ((node = next_child(floor, task->id, &plan, &at)) != NULL)
		if (node->status == NODE_DONE)
			buf_addf(&done, "%s%s (%s)", done.len > 0 ? ", " : "",
			    node->spawn->label != NULL ? node->spawn->label :
							 node->id,
			    node->id);
	if (strv_count(task->attempt.elsewhere) > 0) {
		buf_adds(out,
		    "\n\nAn earlier attempt at this task, on another host, has "
		    "asked for other agents. They have ended, or go on without "
		    "you, and what they change lands on the branch by itself. "
		    "Do not ask for the same again:\n");
		for (char **child = task->attempt.elsewhere; *child != NULL;
		     child++)
			buf_addf(out, "- %s\n", *child);
	}
	if (open.len + done.len == 0)
		return;
	buf_adds(out,
	    "\n\nAn earlier attempt at this task has asked for other agents. "
	    "Do not ask for the same again; agent_status shows them.");
	if (open.len > 0)
		buf_addf(out,
		    " These work for you, and you get their results: %s.",
		    open.data);
	if (done.len > 0)
		buf_addf(out,
		    " These are done, and what they changed has landed: %s.",
		    done.data);
}
