/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "emit.h"
#include "id.h"
#include "intake.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "mail.h"
#include "outcome.h"
#include "persist.h"
#include "plan-edit.h"
#include "plan-floor.h"
#include "plan.h"
#include "review.h"
#include "serve.h"
#include "settings-table.h"
#include "settings.h"
#include "spawn-rules.h"
#include "task.h"
#include "team-private.h"
#include "work-record.h"

#define CHILDREN_MAX 5 /* of one agent at work */
#define SPAWN        "mcp__llmc__agent_spawn"
#define WORDS_MAX    500 /* bytes of each reason of an answer that is too long */

/* --- who may ------------------------------------------------------------ */

/* Takes more words where agents are named. */
static const char spawn_text[] =
    "\n\nParts of this task that change files and do not build on each other%s "
    "can be done by other agents at the same time, with the tool agent_spawn. "
    "Each costs as much as a task of its own; for reading, searching and small "
    "things your own subagents are cheaper. With nothing else to do, end your "
    "turn: each agent comes back as one message with its outcome, and your "
    "branch is rebased onto what has landed. You are at depth %d of at most "
    "%d.";

bool
team_fleet_is_on(const struct settings *settings)
{
	return settings_bool(settings, "plan.enabled") &&
	    settings_bool(settings, "team.enabled");
}

struct hierarchy_place
team_fleet_place(const struct task_launch *launch)
{
	/* One that was handed over keeps its place. */
	if (launch == NULL || launch->depth == 0)
		return hierarchy_root_worker((int)tuning.team_depth);
	return (struct hierarchy_place){ .depth = launch->depth,
		.max_depth = launch->max_depth,
		.local_max_depth = launch->local_max_depth };
}

bool
team_fleet_has_tool(const struct settings *settings,
    const struct task_launch *launch, const char *tool)
{
	cleanup_agent_card struct agent_card *card = launch != NULL ?
	    agent_card_for(settings, launch->agent, launch->role) :
	    NULL;
	cleanup_tool_scope struct tool_scope scope = { 0 };

	return tool_scope_of_run(card, launch, &scope, NULL) == 0 &&
	    tool_scope_permits(&scope, tool);
}

void
team_fleet_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out)
{
	const struct settings *settings = floor->core->settings;
	struct hierarchy_place place = team_fleet_place(&task->launch);
	cleanup_buf struct buf table = BUF_INIT;

	if (!team_fleet_is_on(settings) ||
	    settings_int(settings, "team.max_concurrent") == 0 ||
	    hierarchy_may_spawn(&place) != HIERARCHY_ALLOW ||
	    !team_fleet_has_tool(settings, &task->launch, SPAWN))
		return;
	fleet_table_add(settings, &table);
	buf_addf(out, spawn_text,
	    table.len > 0 ?
		", or that one of the agents named below does better" :
		"",
	    place.depth, hierarchy_deepest(&place));
	if (table.len > 0)
		buf_addf(out, "\n\n%s", table.data);
}

/* --- the answer as mail ------------------------------------------------ */

/* Every text of the object, and of those in its lists. */
static void
cut_words(struct json_object *json)
{
	json_object_object_foreach(json, key, value)
	{
		char *words = NULL;

		if (json_object_is_type(value, json_type_array)) {
			size_t count = json_object_array_length(value);

			for (size_t i = 0; i < count; i++)
				cut_words(json_object_array_get_idx(value, i));
		} else if (json_object_is_type(value, json_type_string)) {
			plan_cut(
			    &words, json_object_get_string(value), WORDS_MAX);
			json_object_set_string(value, words);
			free(words);
		}
		(void)key;
	}
}

/* With its texts cut, if it is too long for mail. */
static int
post_cut(struct team_floor *floor, struct mail_draft *draft, char **ret_id)
{
	cleanup_json struct json_object *cut = NULL;
	struct err err = { 0 };
	int r = team_mail_post(floor, draft, ret_id, &err);

	if (r == -E2BIG) {
		json_object_deep_copy(draft->data, &cut, NULL);
		cut_words(cut);
		draft->data = cut;
		r = team_mail_post(floor, draft, ret_id, &err);
	}
	if (r < 0)
		log_debug("%s: %s", draft->key, err.msg);
	return r;
}

void
spawn_mail_answer(
    const struct spawn_letter *l, struct json_object *body, bool accepted)
{
	cleanup_free char *id = NULL;
	cleanup_free char *subject = xasprintf("spawn.%s:%s:%s",
	    accepted ? "accepted" : "denied", l->goal, l->request);
	struct mail_draft draft = { .key = l->request,
		.to = l->actor,
		.to_worker = l->worker,
		.subject = subject,
		.data = body,
		.goal = l->stored ? l->goal : NULL };

	if (post_cut(l->floor, &draft, &id) == 0 && l->answered)
		team_mail_settle(l->floor, id);
}

/* The id of a request: the same call has always the same one. */
static char *
request_id(struct json_object *params)
{
	const char *call = json_string_or(params, "call", "");
	char ulid[ID_ULID_SIZE], hash[17];
	cleanup_free char *key = NULL;

	if (*call == '\0') {
		id_ulid(clock_wall_ms(), ulid);
		return xasprintf("req_%s", ulid);
	}
	key = xasprintf("%s %s", json_string_or(params, "worker", ""), call);
	id_hash(key, hash, 16);
	return xasprintf("req_%s", hash);
}

/* --- a request ----------------------------------------------------------- */

/* One request, while it is answered. */
struct asked {
	struct team_floor *floor;
	struct agent *agent;
	struct task *task; /* of the caller */
	struct json_object *params;
	struct json_object *list; /* requested_subagents */
	char *id; /* of the request */
	char *actor; /* the caller */
	struct plan *plan; /* where the nodes are added; NULL = a new goal */
	char *goal_id; /* of that goal */
	const struct plan_node *node; /* of the caller; NULL = not in it */
	struct team_members members;
	struct spawn_facts facts;
	/* Of the facts. */
	char **actors, **roles;
	struct agent_cards cards;
	struct tool_scope tools;
	struct spawn_decision decision;
};

/* --- what is known ---------------------------------------------------- */

/* Does its agent wait for others itself? */
static bool
is_waiting(const struct asked *a, const struct team_member *member)
{
	const struct worker *w =
	    member->task != NULL && member->task->worker != NULL ?
	    state_find(&a->floor->core->state, member->task->worker) :
	    NULL;

	return w != NULL && w->status == WORKER_WAITING &&
	    text_is(w->task, member->task->id);
}

static void
know(struct asked *a)
{
	const struct settings *settings = a->floor->core->settings;
	const struct team_floor *floor;
	const char *const *list = NULL;
	const struct task_launch *launch = &a->task->launch;
	cleanup_agent_card struct agent_card *card = NULL;

	agent_cards_load(settings, &a->cards);
	a->facts.cards = &a->cards;
	team_members_load(a->floor, &a->members);
	for (size_t i = 0; i < a->members.count; i++) {
		const struct team_member *member = &a->members.list[i];

		strv_add(&a->actors, member->launch->actor);
		if (!team_member_is_open(member))
			continue;
		if (text_is(member->launch->parent, a->task->id))
			a->facts.children++;
		/* The caller will wait for those that it asks for. */
		a->facts.at_work +=
		    member->task != a->task && !is_waiting(a, member);
	}
	a->facts.at_work += fleet_given_count(a->floor->fleet);
	floor = a->floor;
	settings_list(floor->core->settings, "team.allowed_roles", &list);
	a->roles = strv_copy(list);
	a->facts.place = team_fleet_place(&a->task->launch);
	a->facts.max_concurrent =
	    (size_t)settings_int(settings, "team.max_concurrent");
	a->facts.max_children = CHILDREN_MAX;
	a->facts.roles = a->roles;
	a->facts.actors = a->actors;
	card = agent_card_for(settings, launch->agent, launch->role);
	/* A card that was changed since: it has no tools that are sure. */
	if (tool_scope_of_run(card, launch, &a->tools, NULL) < 0)
		a->tools = (struct tool_scope){ 0 };
	a->facts.tools = &a->tools;
	a->facts.scope_paths = launch->scope_paths;
}

/* Where its nodes are to be. */
static int
find_place(struct asked *a, struct err *err)
{
	const struct plan_set *set = plan_floor_set(a->floor->plan);
	struct plan_node *node = NULL;

	if (intake_is_planned(a->task)) {
		if (plan_bind_find(set, a->task->key, &a->plan, &node, NULL) <
		    0)
			return err_set(err, API_E_NOT_FOUND,
			    "your task %s is in no plan any more", a->task->id);
		a->node = node;
	} else {
		struct plan *plan = a->task->launch.goal != NULL ?
		    plan_set_plan(
			plan_floor_set(a->floor->plan), a->task->launch.goal) :
		    NULL;

		/* The open goal for the children of a task that is no node of a
		 * goal. */
		a->plan = plan != NULL && goal_status_open(plan->goal->status) ?
		    plan :
		    NULL;
	}
	if (a->plan != NULL && a->plan->goal->status != GOAL_ACTIVE)
		return err_set(err, API_FAILED,
		    "goal %s is %s: no agents are started for it now",
		    a->plan->goal->id, goal_status_name(a->plan->goal->status));
	return 0;
}

/* Does it wait for the decision, or shall that come by mail? */
static bool
waits(struct json_object *params)
{
	return json_bool_or(params, "wait", true);
}

/* --- may it ask? ------------------------------------------------------- */

static bool
may_ask(struct asked *a, struct server_call *call)
{
	const struct team_floor *floor = a->floor;
	const char *worker = a->agent->worker->name;
	struct err err = { 0 };

	if (!settings_bool(floor->core->settings, "plan.enabled"))
		serve_refuse(call, API_FAILED,
		    "goals are off; a person can turn them on with: llmc "
		    "config set plan.enabled true");
	else if (!team_fleet_is_on(floor->core->settings))
		serve_refuse(call, API_FAILED,
		    "agents may not spawn others; a person can allow it with: "
		    "llmc config set team.enabled true");
	else if (!plan_tasks_allowed(floor->plan))
		serve_refuse(call, API_FAILED,
		    "auto workers may not work on goals, so no agents can be "
		    "started; a person can allow it with: llmc config set "
		    "plan.allow_agents '[\"main\"]'");
	else if (a->task == NULL)
		serve_refuse(call, API_E_UNAUTHORIZED,
		    "%s has no task of auto mode, so no agents can work for "
		    "it",
		    worker);
	else if (a->task->abort_why != NULL)
		serve_refuse(call, API_FAILED,
		    "task %s is being aborted: stop working on it",
		    a->task->id);
	else if (a->task->step != TASK_ASSIGNED ||
	    a->agent->worker->status == WORKER_ACCEPTING)
		serve_refuse(call, API_FAILED,
		    "task %s is %s: its work is finished, and no agents are "
		    "started for it",
		    a->task->id,
		    a->task->step == TASK_ASSIGNED ?
			"being landed" :
			task_step_name(a->task->step));
	else if (plan_call_begin_change(floor->plan, call)) {
		if (find_place(a, &err) == 0)
			return true;
		serve_refuse(call, err.code, "%s", err.msg);
	}
	return false;
}

/* --- the nodes --------------------------------------------------------- */

/* A name for people: the label, or the role with the first line of the task. */
static char *
name_of(struct json_object *entry)
{
	const char *label = json_string_or(entry, "label", "");
	const char *task = json_string_or(entry, "task", "");
	char *name = NULL;

	task += strspn(task, " \t\r\n");
	if (*label != '\0')
		return xstrdup(label);
	name = xasprintf("%s: %.*s", json_string_or(entry, "role", ""),
	    (int)strcspn(task, "\r\n"), task);
	plan_cut(&name, name, TASK_TITLE_MAX);
	return name;
}

static void
fill_node(const struct asked *a, size_t i, struct plan_node *node)
{
	struct json_object *entry = json_object_array_get_idx(a->list, i);
	struct task_launch *launch =
	    spawn_launch(&a->facts, &a->decision.agents[i], entry);
	const char *worker = a->agent->worker->name;

	xstrset(&launch->parent, a->task->id);
	xstrset(&launch->parent_actor, a->actor);
	xstrset(&launch->root_actor, ACTOR_OVERSEER);
	launch->own_budget = json_bool_or(entry, "ownBudget", false);
	/* What its worker may not do, those below it may not either. */
	strv_add_all(
	    &launch->confined_by, strv_const(a->task->launch.confined_by));
	if (!plan_has(launch->confined_by, worker))
		strv_add(&launch->confined_by, worker);
	xstrset(&launch->permission_mode, a->task->launch.permission_mode);
	launch->budget_tokens = a->task->launch.budget_tokens;
	launch->budget_cost = a->task->launch.budget_cost;
	launch->budget_ms = a->task->launch.budget_ms;
	launch->budget_turns = a->task->launch.budget_turns;
	node->verification = json_object_get(launch->contract);
	if (launch->scope_paths != NULL)
		plan_set_list(&node->scope_paths, launch->scope_paths);
	xstrset(&node->suggested_agent_id, launch->agent);
	schema_free(&task_launch_schema, node->spawn);
	node->spawn = launch;
}

/* Add them to the plan. nodes: as many as were accepted. */
static int
add_nodes(const struct asked *a, const struct plan_edit *edit,
    const char *parent, struct plan_node **nodes, struct err *err)
{
	size_t count = a->decision.accepted, n = 0;
	cleanup_free struct plan_spec *specs =
	    xcalloc(count + 1, sizeof *specs);
	cleanup_strv char **names = NULL;
	int r;

	for (size_t i = 0; i < a->decision.count; i++) {
		struct json_object *entry =
		    json_object_array_get_idx(a->list, i);

		if (a->decision.agents[i].reason != NULL)
			continue;
		strv_take(&names, name_of(entry));
		specs[n++].objective = json_string_or(entry, "task", "");
	}
	n = 0;
	for (char **name = names; name != NULL && *name != NULL; name++)
		specs[n++].name = *name;
	r = plan_edit_spawn(edit, parent, a->node != NULL ? a->node->id : NULL,
	    specs, count, nodes, err);
	n = 0;
	for (size_t i = 0; r == 0 && i < a->decision.count; i++)
		if (a->decision.agents[i].reason == NULL)
			fill_node(a, i, nodes[n++]);
	return r;
}

/* --- a goal of its own ------------------------------------------------- */

static struct plan *
new_goal(const struct asked *a, int64_t now)
{
	cleanup_free char *title = NULL;
	const char *id = a->goal_id;
	struct plan_goal *goal;
	struct plan *plan;

	title = xasprintf("Delegated by %s: %s", a->task->id, a->task->title);
	plan_cut(&title, title, PLAN_NAME_MAX);
	goal = plan_goal_new(id, title, now);
	goal->priority = a->task->priority;
	xstrset(&goal->problem_statement,
	    json_string_or(a->params, "spawn_reason", ""));
	xstrset(&goal->source_session_key, a->agent->worker->name);
	plan_goal_set_delegated(goal, a->task->id);
	plan_book_number(a->floor->plan, goal);
	plan = plan_new(goal);
	plan_attach(
	    plan, plan_node_new(id, NODE_PHASE, "P1", title, now), NULL);
	return plan;
}

/* --- one change of a plan ---------------------------------------------- */

static int
change_plan(struct asked *a, struct plan_node **nodes, struct err *err)
{
	struct plan_floor *floor = a->floor->plan;
	bool is_new = a->plan == NULL;
	struct plan *plan = is_new ? new_goal(a, clock_wall_ms()) : a->plan;
	const char *parent =
	    is_new || a->node == NULL ? "P1" : a->node->parent_id;
	struct plan_change change;
	int r;

	plan_change_begin(&change, floor, plan,
	    json_string_or(a->params, "spawn_reason", NULL));
	change.edit.actor = ACTOR_OVERSEER;
	r = add_nodes(a, &change.edit, parent, nodes, err);
	if (r == 0 && is_new)
		r = plan_set_add(plan_floor_set(floor), plan, err);
	if (r < 0) {
		plan_change_drop(&change);
		if (is_new)
			plan_free(plan);
		return r;
	}
	if (is_new) {
		emit(floor->core,
		    &(struct event){ .kind = EVENT_GOAL_CREATED,
			.goal = plan->goal->id,
			.title = plan->goal->title,
			.task = a->task->id,
			.actor = ACTOR_OVERSEER });
		a->plan = plan;
	}
	a->task->attempt.has_spawned = true;
	if (a->node == NULL)
		xstrset(&a->task->launch.goal, plan->goal->id);
	persist_changed(floor->core);
	a->floor->asking = a->actor;
	plan_change_end(&change);
	plan_floor_changed(a->floor->plan);
	a->floor->asking = NULL;
	return 0;
}

/* --- the answer -------------------------------------------------------- */

static struct json_object *
spawned_agents(const struct asked *a, struct plan_node *const *nodes)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < a->decision.count; i++) {
		const struct spawn_verdict *v = &a->decision.agents[i];
		struct json_object *one;

		if (v->reason != NULL)
			continue;
		one = json_object_new_object();
		json_set_string(one, "actor_id", v->actor);
		json_set_string(one, "session_id", TEAM_NO_SESSION);
		json_set_int(one, "depth", v->place.depth);
		json_set_int(one, "local_max_depth", v->place.local_max_depth);
		if (v->clamped)
			json_set_bool(one, "clamped", true);
		json_set_string(one, "plan_node_id", (*nodes++)->id);
		json_object_array_add(list, one);
	}
	return list;
}

static void
add_words(const struct asked *a, struct json_object *body)
{
	if (spawn_decision_reason(&a->decision) == NULL)
		return;
	json_set_string(body, "reason", spawn_decision_reason(&a->decision));
	json_set_string(body, "message", spawn_decision_message(&a->decision));
	json_set_string(
	    body, "suggestion", spawn_decision_suggestion(&a->decision));
}

void
team_spawn_sessions(struct team_floor *floor, struct json_object *body)
{
	struct json_object *list = json_member(body, "spawned_agents");

	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const struct agent *agent = team_actor_agent(
		    floor, json_string_or(one, "actor_id", ""));

		if (agent != NULL && agent->worker->session.id != NULL)
			json_set_string(
			    one, "session_id", agent->worker->session.id);
	}
}

/* What the tool says: the body of the answering mail, or that it comes. Owned
 * by the caller. */
static struct json_object *
result_of(struct json_object *params, const char *id, struct json_object *body)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "request_id", id);
	if (!waits(params)) {
		json_set_string(result, "message",
		    "The request is recorded. The answer comes by mail.");
		return result;
	}
	json_object_put(result);
	result = NULL;
	json_object_deep_copy(body, &result, NULL);
	json_set_string(result, "request_id", id);
	json_set_bool(result, "accepted",
	    json_object_object_get_ex(body, "spawned_agents", NULL));
	return result;
}

/* The request is a message to the overseer, which answers it at once. */
static void
record_request(struct asked *a, bool stored)
{
	cleanup_json struct json_object *body = json_object_new_object();
	cleanup_free char *key = xasprintf("%s/request", a->id);
	cleanup_free char *subject = xasprintf("spawn.request:%s:%s",
	    a->goal_id, a->node != NULL ? a->node->id : a->task->id);
	cleanup_free char *id = NULL;
	struct mail_draft draft = { .key = key,
		.from = a->actor,
		.from_worker = a->agent->worker->name,
		.to = ACTOR_OVERSEER,
		.subject = subject,
		.data = body,
		.kind = MAIL_INSTRUCTION,
		.ack_required = true,
		.goal = stored ? a->goal_id : NULL };

	json_set_string(body, "spawn_reason",
	    json_string_or(a->params, "spawn_reason", ""));
	json_set_int(body, "caller_depth", a->facts.place.depth);
	json_set_int(body, "caller_max_depth", a->facts.place.max_depth);
	json_set_int(
	    body, "caller_local_max_depth", a->facts.place.local_max_depth);
	json_set(body, "requested_subagents", json_object_get(a->list));
	if (post_cut(a->floor, &draft, &id) == 0)
		team_mail_settle(a->floor, id);
}

static void
answer(struct asked *a, struct server_call *call)
{
	cleanup_free struct plan_node **nodes =
	    xcalloc(a->decision.count + 1, sizeof(struct plan_node *));
	cleanup_json struct json_object *body = json_object_new_object();
	struct spawn_letter letter = { .floor = a->floor,
		.request = a->id,
		.actor = a->actor,
		.worker = a->agent->worker->name,
		.goal = a->goal_id,
		.stored = a->plan != NULL || a->decision.accepted > 0,
		.answered = waits(a->params) };
	struct err err = { 0 };

	/* Those that the plan does not take are denied after all. */
	if (a->decision.accepted > 0 && change_plan(a, nodes, &err) < 0)
		spawn_decision_fail(&a->decision, err.msg);
	if (a->decision.accepted > 0)
		json_set(body, "spawned_agents", spawned_agents(a, nodes));
	json_set(
	    body, "denied_agents", spawn_denied_agents(&a->decision, a->list));
	add_words(a, body);
	record_request(a, letter.stored && a->plan != NULL);
	spawn_mail_answer(&letter, body, a->decision.accepted > 0);
	plan_call_answer(a->floor->plan, call,
	    letter.stored ? a->goal_id : NULL,
	    result_of(a->params, a->id, body));
}

/* --- calls ------------------------------------------------------------- */

/* The call was made before, and answered by this mail. */
static void
answer_again(
    const struct asked *a, struct server_call *call, const struct mail *mail)
{
	struct plan_floor *plan = a->floor->plan;

	if (!plan_call_begin(plan, call))
		return;
	if (mail->data == NULL)
		serve_refuse(call, API_FAILED,
		    "the answer to this call cannot be read; see: "
		    "agent_status");
	else {
		team_spawn_sessions(a->floor, mail->data);
		serve_reply(
		    plan->core, call, result_of(a->params, a->id, mail->data));
	}
}

static void
on_spawn(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct asked a = { .floor = floor, .params = params };
	cleanup_free char *id = NULL;
	struct mail *answered;

	a.agent = team_floor_speaker(floor, call, params, &a.task);
	if (a.agent == NULL)
		return;
	a.id = request_id(params);
	id = mail_id(ACTOR_OVERSEER, a.id);
	answered = team_post_read(floor, id);
	if (answered != NULL) {
		answer_again(&a, call, answered);
	} else if (may_ask(&a, call)) {
		a.actor = task_actor(a.task);
		a.goal_id = a.plan != NULL ? xstrdup(a.plan->goal->id) :
					     plan_book_next_goal(floor->plan);
		a.list = json_member(params, "requested_subagents");
		know(&a);
		spawn_decide(&a.facts, a.list, &a.decision);
		answer(&a, call);
	}
	mail_free(answered);
	team_members_release(&a.members);
	spawn_decision_release(&a.decision);
	strv_free(a.actors);
	strv_free(a.roles);
	agent_cards_release(&a.cards);
	tool_scope_release(&a.tools);
	free(a.id);
	free(a.actor);
	free(a.goal_id);
}

/* --- life -------------------------------------------------------------- */

void
team_spawn_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.agent_spawn", on_spawn, floor);
}

#define AGAIN_MS 1000 /* until a worker that is taken is looked at again */

static const char all_ended_text[] =
    "All agents that you spawned have ended, and your branch has been "
    "rebased onto what has landed. Look at the results (git log, the tools "
    "agent_status and mail_inbox), and finish your task.";

static const char go_on_text[] =
    "Go on without them, or end your turn to wait for the others.";

static bool
is_rebase_due(const struct task *t)
{
	return t->attempt.rebase_due;
}

static bool
has_news(const struct task *t)
{
	return strv_count(t->attempt.untold) > 0;
}

bool
team_wait_waits(void *arg, struct agent *agent)
{
	struct team_floor *floor = arg;
	struct task *t = auto_task(agent);

	if (t == NULL)
		return false;
	team_family_look(floor, t);
	return is_rebase_due(t) || has_news(t) ||
	    team_family_open(floor, t->id, NULL) > 0;
}

static bool
is_resting(const struct agent *agent)
{
	return agent->worker->status == WORKER_WAITING &&
	    agent->worker->session.step == PROMPT_NONE &&
	    !agent_is_taken(agent) && !agent->core->stopping;
}

/* --- rebasing --------------------------------------------------------- */

/* One that cannot be rebased goes on without: its landing meets the same
 * conflict. */
static void
on_rebased(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg)
{
	struct team_floor *floor = arg;
	struct task *t = auto_task(agent);

	(void)head;
	(void)err;
	(void)call;
	/* Also at the end of the daemon, when the floor is gone; otherwise the
	 * next patrol looks again. */
	if (end == OP_REBASE_CANCELLED)
		return;
	if (t != NULL) {
		t->attempt.rebase_due = false;
		persist_changed(floor->core);
	}
	team_floor_changed(floor);
}

/* --- looking ---------------------------------------------------------- */

/* It waits: is there anything for its next prompt? */
static void
consider(struct team_floor *floor, struct agent *agent)
{
	struct task *t = auto_task(agent);
	struct worker *w = agent->worker;
	cleanup_buf struct buf names = BUF_INIT, text = BUF_INIT;
	cleanup_free char *reason = NULL;
	size_t count;

	if (t == NULL) {
		auto_clear_worker(agent); /* it has lost its task */
		return;
	}
	team_family_look(floor, t);
	count = team_family_open(floor, t->id, &names);
	reason = xasprintf("waits for %s", names.data);
	if (count > 0 && !text_is(w->reason, reason)) {
		xstrset(&w->reason, reason);
		persist_changed(floor->core);
	}
	if (is_rebase_due(t)) {
		/* One that an earlier daemon began starts over. */
		op_rebase(agent, true, NULL, on_rebased, floor);
		return;
	}
	if (has_news(t)) {
		buf_adds(&text, "Of the agents that you spawned:\n");
		for (char **news = t->attempt.untold; *news != NULL; news++)
			buf_addf(&text, "- %s\n", *news);
		buf_adds(&text, "\n");
	}
	if (!team_deliver_stop_words(floor, agent, &text)) {
		if (count > 0 && !has_news(t))
			return;
		buf_adds(&text, count > 0 ? go_on_text : all_ended_text);
	}
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return;
	t->attempt.by_mail = true;
	agent_prompt(agent, text.data, false, WORKER_WORKING);
	strv_clear(&t->attempt.untold);
	persist_changed(floor->core);
}

/* --- time limits ------------------------------------------------------ */

static bool
has_limit(const struct task *t)
{
	return t->launch.timeout_s > 0;
}

/* Is its worker paused, and not by a person? */
static bool
is_paused(const struct worker *w)
{
	return w->status == WORKER_PAUSED && !w->on_hold;
}

/* Has it a time limit, and has it not finished its work? Not a reviewer that
 * waits for a usage limit, a budget or an hour. */
static bool
is_limited(
    const struct core *core, const struct agent *agent, const struct task *t)
{
	const struct worker *w = agent->worker;
	enum worker_status status = w->status;

	if (t != NULL && review_is(t) &&
	    (status == WORKER_LIMITED || w->over_budget || w->off_hours))
		return false;
	return t != NULL && has_limit(t) && t->step == TASK_ASSIGNED &&
	    landing_record_of_task(&core->state.landings, t->id) == NULL &&
	    (worker_in_turn(status) || status == WORKER_STARTING ||
		status == WORKER_OFFLINE || status == WORKER_WAITING ||
		status == WORKER_LIMITED || is_paused(w));
}

/* The next look because of time, in ms; -1 = none. agent: NULL = no worker has
 * it, because it is over its budget. */
static int64_t
check_time(struct team_floor *floor, struct agent *agent, struct task *t)
{
	int64_t left, since;
	cleanup_free char *reason = NULL;

	if (agent != NULL ?
		!is_limited(floor->core, agent, t) :
		t->step != TASK_PARKED || !task_is_child(t) || !has_limit(t))
		return -1;
	/* What a reviewer waited for does not count. */
	since = agent != NULL && review_is(t) ? agent->worker->since_ms :
						t->assigned_ms;
	left = since + t->launch.timeout_s * INT64_C(1000) - clock_wall_ms();
	if (left > 0)
		return left;
	if (agent != NULL && (agent_is_taken(agent) || agent->adopting))
		return AGAIN_MS;
	/* It is not tried again for a parent, which decides about that. agent:
	 * NULL = no worker has it. */
	reason = xasprintf("timeout: the run took longer than its %d seconds",
	    t->launch.timeout_s);
	t->attempt.timed_out = true;
	if (task_is_child(t))
		outcome_settle(floor->mode, t, OUTCOME_FAILED, reason);
	if (agent != NULL)
		outcome_attempt_failed(floor->mode, agent, reason);
	return -1;
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void
on_time(void *floor)
{
	team_floor_changed(floor);
}

static void
check_times(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;
	int64_t next = -1;

	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];

		next = sooner(next, check_time(floor, agent, auto_task(agent)));
	}
	for (size_t i = state->task_count; i-- > 0;)
		next = sooner(next, check_time(floor, NULL, state->tasks[i]));
	if (next >= 0 && floor->late == NULL)
		floor->late =
		    loop_after(floor->core->loop, next, on_time, floor);
	else if (next >= 0)
		loop_timer_restart(floor->late, next);
}

/* --- all of them ------------------------------------------------------ */

void
team_wait_look(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;

	if (!floor->begun || !floor->mode->begun || floor->core->stopping)
		return;
	/* No worker goes on while all are paused. */
	for (size_t i = 0; state->paused == NULL && i < floor->fleet->count;
	     i++) {
		struct agent *agent = floor->fleet->agents[i];
		const struct worker *w = agent->worker;
		const struct task *t = auto_task(agent);

		if (is_resting(agent))
			consider(floor, agent);
		else if (t != NULL && task_is_child(t) && is_paused(w) &&
		    !agent_is_taken(agent))
			team_family_rests(floor, t,
			    w->reason != NULL ? w->reason : "it is paused");
	}
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		if (t->step == TASK_PARKED && task_is_child(t))
			team_family_rests(floor, t,
			    t->ask == ASK_QUESTION ? TASK_ASKS :
				t->reason != NULL  ? t->reason :
						     "over budget");
	}
	check_times(floor);
}
