/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "id.h"
#include "plan-file.h"
#include "plan-private.h"
#include "plan-prompt.h"
#include "plan-revise.h"
#include "plan.h"
#include "rpc.h"
#include "serve.h"
#include "worker.h"

/* --- answers ---------------------------------------------------------- */

/* r: what the edit returned. */
static void
finish(struct plan_change *change, struct server_call *call, int r,
    const struct err *err)
{
	struct plan *plan = change->plan;

	if (r < 0) {
		plan_change_drop(change);
		plan_call_refuse(call, err);
		return;
	}
	plan_change_end(change);
	plan_floor_changed(change->floor);
	plan_call_answer(
	    change->floor, call, plan->goal->id, plan_view_changed(plan));
}

/* --- plans ----------------------------------------------------------- */

static int
read_plan(struct json_object *params, const char *goal_id, const char *title,
    int64_t now_ms, struct plan **ret_plan, struct err *err)
{
	const char *text = json_string_or(params, "plan", NULL);
	const struct plan_source source = {
		.goal_id = goal_id,
		.title = title,
		.now_ms = now_ms,
		.limits = { .shared_acceptance = true },
	};
	int r;

	if (text == NULL) {
		*ret_plan = NULL;
		return 0;
	}
	r = plan_load_text(text, strlen(text), &source, ret_plan, err);
	if (r < 0)
		err_prefix(err, "the plan");
	return r;
}

static void
replace_plan(struct plan_floor *floor, struct server_call *call,
    struct plan *plan, const struct plan *next, const char *actor,
    const char *why)
{
	struct plan_change change;
	struct err err = { 0 };
	int r;

	plan_change_begin(&change, floor, plan, why);
	change.edit.actor = actor;
	r = plan_replan(&change.edit, next, NULL, &err);
	/* Whatever was drafted, this is the plan now. */
	if (r == 0)
		plan_kept_clear(plan->goal);
	finish(&change, call, r, &err);
}

/* A text that is no plan has its own code here. */
static int
read_text(struct json_object *params, const struct plan *plan,
    struct plan **ret_next, struct err *err)
{
	int r = read_plan(params, plan->goal->id, plan->goal->title,
	    clock_wall_ms(), ret_next, err);

	if (r == -EINVAL)
		r = err->code = API_E_INVALID_PLAN;
	return r;
}

/* --- what a goal says ------------------------------------------------ */

struct text_member {
	const char *key;
	size_t offset;
};

static const struct text_member texts[] = {
	{ "title", offsetof(struct plan_goal, title) },
	{ "problem", offsetof(struct plan_goal, problem_statement) },
	{ "owner", offsetof(struct plan_goal, owner) },
};

static const struct text_member lists[] = {
	{ "success_criteria", offsetof(struct plan_goal, success_criteria) },
	{ "constraints", offsetof(struct plan_goal, constraints) },
	{ "non_goals", offsetof(struct plan_goal, non_goals) },
	{ "tags", offsetof(struct plan_goal, tags) },
};

/* Set what params have; the words of what was changed are appended. */
static void
define(
    struct plan_goal *goal, struct json_object *params, struct buf *ret_changed)
{
	struct json_object *member;
	const char *text;

	for (size_t i = 0; i < nitems(texts); i++) {
		text = json_string_or(params, texts[i].key, NULL);
		if (text == NULL || (i == 0 && plan_blank(text)))
			continue; /* a goal keeps its title */
		xstrset((char **)(void *)((char *)goal + texts[i].offset),
		    plan_blank(text) ? NULL : text);
		buf_addf(ret_changed, "%s%s", ret_changed->len > 0 ? ", " : "",
		    texts[i].key);
	}
	for (size_t i = 0; i < nitems(lists); i++) {
		char ***list =
		    (char ***)(void *)((char *)goal + lists[i].offset);

		if (!json_object_object_get_ex(params, lists[i].key, &member))
			continue;
		strv_clear(list);
		if (json_object_array_length(member) > 0)
			*list = strv_from_json(member);
		buf_addf(ret_changed, "%s%s", ret_changed->len > 0 ? ", " : "",
		    lists[i].key);
	}
	text = json_string_or(params, "priority", NULL);
	if (text != NULL && priority_parse(text, &goal->priority))
		buf_addf(ret_changed, "%spriority",
		    ret_changed->len > 0 ? ", " : "");
}

/* --- create ---------------------------------------------------------- */

static void
refuse_plan(struct server_call *call, const struct err *err)
{
	serve_refuse(call, RPC_INVALID_PARAMS, "%s", err->msg);
}

/* A goal with the plan's own words, and those of params instead of them. */
static struct plan *
make_goal(struct plan_floor *floor, struct json_object *params, const char *id,
    const struct plan *next, int64_t now_ms)
{
	const char *worker = json_string_or(params, "from_session", NULL);
	struct plan_goal *goal = next != NULL ?
	    schema_clone(&plan_goal_schema, next->goal) :
	    plan_goal_new(id, json_string_or(params, "title", ""), now_ms);
	cleanup_buf struct buf changed = BUF_INIT;

	define(goal, params, &changed);
	xstrset(&goal->source_session_key, worker);
	plan_book_number(floor, goal);
	return plan_new(goal);
}

static void
set_plan(struct plan_change *change, const struct plan *next)
{
	struct err err = { 0 };

	/* The nodes of a plan that was just checked fit into an empty one. */
	if (plan_replan(&change->edit, next, NULL, &err) < 0) {
		plan_change_drop(change);
		return;
	}
	emit(change->floor->core,
	    &(struct event){ .kind = EVENT_PLAN_GENERATED,
		.goal = change->plan->goal->id,
		.text = "from a file",
		.count = (int64_t)next->count });
	plan_change_end(change);
}

static void
add_goal(struct plan_floor *floor, struct server_call *call, struct plan *plan,
    const struct plan *next)
{
	struct plan_change change;
	struct err err = { 0 };

	if (plan_set_add(plan_floor_set(floor), plan, &err) < 0) {
		plan_free(plan);
		plan_call_refuse(call, &err);
		return;
	}
	emit(floor->core,
	    &(struct event){ .kind = EVENT_GOAL_CREATED,
		.goal = plan->goal->id,
		.title = plan->goal->title,
		.actor = PLAN_CHANGE_PERSON });
	plan_change_begin(&change, floor, plan, NULL);
	if (next != NULL)
		set_plan(&change, next);
	else
		plan_change_end(&change);
	plan_floor_changed(floor);
	plan_call_answer(floor, call, plan->goal->id, plan_view_changed(plan));
}

static void
on_create(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;
	const char *title = json_string_or(params, "title", NULL);
	const char *worker = json_string_or(params, "from_session", NULL);
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct plan *plan, *next = NULL;
	struct err err = { 0 };

	if (!plan_call_begin_change(floor, call))
		return;
	id = plan_book_next_goal(floor);
	if (plan_blank(title) && json_string_or(params, "plan", NULL) == NULL) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "a goal needs a title, or a plan that has "
		    "one");
		return;
	}
	if (worker != NULL && state_find(&floor->core->state, worker) == NULL) {
		serve_refuse(call, API_E_UNKNOWN,
		    "there is no worker %s; see: llmc status", worker);
		return;
	}
	if (read_plan(params, id, plan_blank(title) ? NULL : title, now, &next,
		&err) < 0) {
		refuse_plan(call, &err);
		return;
	}
	plan = make_goal(floor, params, id, next, now);
	/* Its plan is drafted, and not worked on until that is applied. */
	plan->goal->plan_wanted = plan->goal->plan_drafts =
	    next == NULL && json_bool_or(params, "draft", false);
	add_goal(floor, call, plan, next);
	plan_free(next);
}

/* --- plan and update ------------------------------------------------- */

/* A draft that is applied at once. */
static void
replan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	struct plan *next = NULL;
	struct err err = { 0 };

	if (json_string_or(params, "plan", NULL) == NULL) {
		if (planner_ask(floor->planner, plan->goal->id, false, &err) <
		    0)
			plan_call_refuse(call, &err);
		else
			plan_call_answer(floor, call, plan->goal->id,
			    plan_view_changed(plan));
		return;
	}
	if (read_plan(params, plan->goal->id, plan->goal->title,
		clock_wall_ms(), &next, &err) < 0) {
		refuse_plan(call, &err);
		return;
	}
	if (plan_replan_check(plan, next, &err) < 0)
		plan_call_refuse(call, &err);
	else
		replace_plan(floor, call, plan, next, PLAN_CHANGE_PERSON,
		    json_string_or(params, "reason", NULL));
	plan_free(next);
}

/* The goal and its plan, as a person edited them. */
static void
revise(struct plan_change *change, struct server_call *call,
    struct json_object *params)
{
	struct err err = { 0 };
	int r = plan_revise(&change->edit, json_string_or(params, "text", ""),
	    json_string_or(params, "before", NULL), &err);

	if (r == -EINVAL || err.code == -EINVAL)
		err.code = RPC_INVALID_PARAMS;
	if (r < 0 || change->plan->goal->version != change->version) {
		finish(change, call, r, &err);
		return;
	}
	plan_change_drop(change); /* nothing is different */
	plan_call_answer(change->floor, call, change->plan->goal->id,
	    plan_view_changed(change->plan));
}

static int
redefine(
    struct plan_change *change, struct json_object *params, struct err *err)
{
	const char *title = json_string_or(params, "title", NULL);
	cleanup_buf struct buf changed = BUF_INIT;
	cleanup_free char *what = NULL;
	int r;

	if (title != NULL && plan_blank(title))
		return err_set(err, RPC_INVALID_PARAMS, "a goal needs a title");
	r = plan_edit_begin(&change->edit, err);
	if (r < 0)
		return r;
	define(change->plan->goal, params, &changed);
	if (changed.len == 0)
		return err_set(err, RPC_INVALID_PARAMS,
		    "params: nothing to change is given");
	what = xasprintf("changed the goal's %s", changed.data);
	plan_edit_end(&change->edit, what);
	return 0;
}

static void
update(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	struct plan_change change;
	struct err err = { 0 };

	plan_change_begin(
	    &change, floor, plan, json_string_or(params, "reason", NULL));
	if (json_string_or(params, "text", NULL) != NULL)
		revise(&change, call, params);
	else
		finish(&change, call, redefine(&change, params, &err), &err);
}

/* --- pause, resume, cancel, archive ---------------------------------- */

static void
move(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan, enum goal_status to)
{
	struct plan_goal *goal = plan->goal;
	struct plan_change change;
	struct err err = { 0 };
	int r;

	plan_change_begin(
	    &change, floor, plan, json_string_or(params, "reason", NULL));
	/* A completed goal becomes active by a revert, not by a command. */
	if (to == GOAL_ACTIVE && goal->status != GOAL_PAUSED)
		r = err_set(&err, API_E_TRANSITION, "goal %s is %s, not paused",
		    goal->id, goal_status_name(goal->status));
	else
		r = plan_goal_move(
		    goal, to, NULL, NULL, change.edit.now_ms, &err);
	finish(&change, call, r, &err);
}

/* --- looking --------------------------------------------------------- */

static void
on_list(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	(void)params;
	if (plan_call_begin(floor, call))
		serve_show(call, plan_view_list(plan_floor_set(floor)));
}

static void
show(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	(void)floor;
	(void)params;
	serve_show(call, plan_view_show(plan));
}

static void
on_status(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	(void)params;
	serve_show(call, plan_view_status(floor));
}

/* --- registering ----------------------------------------------------- */

#define ON_PLAN(name, begin, find, fn, ...)                                  \
	static void name(                                                    \
	    void *arg, struct server_call *call, struct json_object *params) \
	{                                                                    \
		struct plan *plan;                                           \
                                                                             \
		if (begin(arg, call) &&                                      \
		    (plan = find(arg, call, params)) != NULL)                \
			fn(arg, call, params, plan, ##__VA_ARGS__);          \
	}
#define ON_GOAL(name, begin, ...) \
	ON_PLAN(name, begin, plan_call_goal, __VA_ARGS__)

ON_GOAL(on_show, plan_call_begin, show)
ON_GOAL(on_plan, plan_call_begin_change, replan)
ON_GOAL(on_update, plan_call_begin_change, update)
ON_GOAL(on_pause, plan_call_begin_change, move, GOAL_PAUSED)
ON_GOAL(on_resume, plan_call_begin_change, move, GOAL_ACTIVE)
ON_GOAL(on_cancel, plan_call_begin_change, move, GOAL_CANCELLED)
ON_GOAL(on_archive, plan_call_begin_change, move, GOAL_ARCHIVED)

/* --- draft ------------------------------------------------------------ */

static int
keep(struct plan_floor *floor, struct json_object *params, struct plan *plan,
    struct err *err)
{
	struct plan *next = NULL;
	int r = read_text(params, plan, &next, err);

	if (r < 0)
		return r;
	r = plan_kept_set(plan->goal,
	    &(struct plan_kept){ .next = next,
		.base = plan->goal->version,
		.at_ms = clock_wall_ms(),
		.actor = PLAN_CHANGE_PERSON,
		.how = "from a file",
		.why = json_string_or(params, "reason", NULL) },
	    err);
	if (r == 0 && next != NULL) {
		plan->goal->plan_wanted = plan->goal->plan_drafts = false;
		plan_book_record(
		    floor, BOOK_GOAL, plan->goal->id, plan->goal->id);
		emit(floor->core,
		    &(struct event){ .kind = EVENT_PLAN_DRAFTED,
			.goal = plan->goal->id,
			.count = (int64_t)next->count,
			.text = "from a file",
			.actor = PLAN_CHANGE_PERSON });
	}
	plan_free(next);
	return r;
}

/* Is there one that was made for the plan as it is? It is shown then, unless
 * the caller says why there should be another. */
static bool
has_draft(const struct plan *plan, struct json_object *params)
{
	const struct plan_goal *goal = plan->goal;

	if (json_string_or(params, "reason", NULL) != NULL)
		return false;
	return (goal->plan_wanted && goal->plan_drafts) ||
	    (goal->draft != NULL && plan_kept_base(goal) == goal->version);
}

static void
draft(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	struct plan_edit none = { .plan = plan };
	struct err err = { 0 };
	int r = plan_edit_begin(&none, &err);

	if (r == 0 && json_string_or(params, "plan", NULL) != NULL)
		r = keep(floor, params, plan, &err);
	else if (r == 0 && !has_draft(plan, params))
		r = planner_ask(floor->planner, plan->goal->id, true, &err);
	if (r < 0)
		plan_call_refuse(call, &err);
	else
		plan_call_answer(
		    floor, call, plan->goal->id, plan_kept_view(plan->goal));
}

/* --- apply ------------------------------------------------------------ */

/* The given one, or the draft; 0 with *ret_next for the caller to free. */
static int
next_plan(const struct plan *plan, struct json_object *params,
    struct plan **ret_next, struct err *err)
{
	int64_t version = json_int_or(params, "version", -1);
	bool given = json_string_or(params, "plan", NULL) != NULL;
	int r;

	r = given ? read_text(params, plan, ret_next, err) :
		    plan_kept_read(plan->goal, ret_next, err);
	if (r < 0)
		return r;
	if (version < 0 && !given)
		version = plan_kept_base(plan->goal);
	r = version >= 0 ? plan_kept_check(plan->goal, version, err) : 0;
	if (r < 0)
		plan_free(*ret_next);
	return r;
}

/* --- registering ------------------------------------------------------ */

static void
apply(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	struct plan *next = NULL;
	struct err err = { 0 };

	if (next_plan(plan, params, &next, &err) < 0) {
		plan_call_refuse(call, &err);
		return;
	}
	replace_plan(floor, call, plan, next,
	    json_string_or(params, "worker", PLAN_CHANGE_PERSON),
	    json_string_or(params, "reason", NULL));
	plan_free(next);
}

ON_PLAN(on_draft, plan_call_begin_change, plan_call_plan, draft)
ON_PLAN(on_apply, plan_call_begin_change, plan_call_plan, apply)

/* --- nodes --------------------------------------------------------------- */

/* --- finding --------------------------------------------------------- */

/* The node that tells which goal is meant, if params do not name it. */
static const char *
any_node(struct json_object *params)
{
	struct json_object *nodes = NULL;
	const char *node = json_string_or(
	    params, "node", json_string_or(params, "parent", NULL));

	if (node == NULL && json_object_object_get_ex(params, "nodes", &nodes))
		node =
		    json_object_get_string(json_object_array_get_idx(nodes, 0));
	return node;
}

/* Say where the ids are, if it has none of that name. */
static void
refuse_node(struct server_call *call, const struct err *err)
{
	if (err->code == API_E_UNKNOWN && strstr(err->msg, "llmc") == NULL)
		serve_refuse(call, err->code,
		    "%s; see: llmc goal node list --all", err->msg);
	else
		plan_call_refuse(call, err);
}

/* The plan of the node; NULL: the call was refused. */
static struct plan *
plan_of(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, bool changes)
{
	const char *id = any_node(params);
	struct plan_node *node;
	struct plan *plan = NULL;
	struct err err = { 0 };

	if (changes ? !plan_call_begin_change(floor, call) :
		      !plan_call_begin(floor, call))
		return NULL;
	if (json_string_or(params, "goal", NULL) != NULL)
		return plan_call_goal(floor, call, params);
	if (id == NULL)
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "params.goal: missing; say which goal, or which node");
	else if (plan_set_find(
		     plan_floor_set(floor), NULL, id, &plan, &node, &err) < 0)
		refuse_node(call, &err);
	return plan;
}

/* --- looking --------------------------------------------------------- */

static void
on_nodes(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;
	const struct plan *plan;

	if (plan_call_begin_maybe(floor, call, params, &plan))
		serve_show(call,
		    plan_view_nodes(plan_floor_set(floor), plan,
			json_bool_or(params, "all", false)));
}

static void
on_node(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan *plan = plan_of(arg, call, params, false);
	struct plan_node *node;
	struct err err = { 0 };

	if (plan == NULL)
		return;
	if (plan_get(plan, json_string_or(params, "node", ""), &node, &err) < 0)
		refuse_node(call, &err);
	else
		serve_show(call, plan_view_node(plan, node));
}

/* --- changes --------------------------------------------------------- */

/* One change: makes it, and sets the node that the answer is about if that is
 * not params.node. */
typedef int edit_fn(const struct plan_change *change,
    struct json_object *params, const char **id, struct err *err);

static void
change_node(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, edit_fn *edit)
{
	struct plan *plan = plan_of(floor, call, params, true);
	const char *id = json_string_or(params, "node", "");
	struct plan_change change;
	struct err err = { 0 };

	if (plan == NULL)
		return;
	plan_change_begin(
	    &change, floor, plan, json_string_or(params, "reason", NULL));
	if (edit(&change, params, &id, &err) < 0) {
		plan_change_drop(&change);
		refuse_node(call, &err);
		return;
	}
	plan_change_end(&change);
	plan_floor_changed(floor);
	plan_call_answer(floor, call, plan->goal->id,
	    plan_view_node_changed(plan, plan_named(plan, id)));
}

static int
set_status(const struct plan_edit *edit, const char *id, const char *status,
    struct json_object *params, struct err *err)
{
	struct json_object *json = NULL;
	struct plan_evidence evidence = { 0 };
	int r = 0;

	if (strcmp(status, "blocked") == 0)
		return plan_edit_block(edit, id, err);
	if (strcmp(status, "queued") == 0)
		return plan_edit_unblock(edit, id, err);
	if (strcmp(status, "cancelled") == 0)
		return plan_edit_cancel(edit, id, err);
	if (json_object_object_get_ex(params, "evidence", &json))
		r = plan_evidence_from_json(
		    json, "params.evidence", &evidence, err);
	if (r < 0)
		return r;
	r = plan_edit_done(
	    edit, id, plan_evidence_any(&evidence) ? &evidence : NULL, err);
	plan_evidence_release(&evidence);
	return r;
}

static int
update_node(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	const char *status = json_string_or(params, "status", NULL);
	const char *priority = json_string_or(params, "priority", NULL);
	enum priority level;

	/* With both, the first would stand if the second is refused. */
	if ((status == NULL) == (priority == NULL))
		return err_set(err, RPC_INVALID_PARAMS,
		    "params.status: give either a status or a priority");
	if (status != NULL)
		return set_status(&change->edit, *id, status, params, err);
	return plan_edit_priority(&change->edit, *id,
	    priority_parse(priority, &level) ? level : PRIORITY_COUNT, err);
}

static size_t
place_of(struct json_object *params)
{
	int64_t place = json_int_or(params, "place", 0);

	return place > 0 ? (size_t)place - 1 : PLAN_LAST;
}

static int
add_node(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	cleanup_strv char **acceptance =
	    strv_from_json(json_member(params, "acceptance"));
	cleanup_strv char **depends =
	    strv_from_json(json_member(params, "depends_on"));
	const char *word = json_string_or(params, "priority", NULL);
	enum priority priority = PRIORITY_NORMAL;
	const struct plan_spec spec = {
		.id = json_string_or(params, "id", NULL),
		.name = json_string_or(params, "name", ""),
		.objective = json_string_or(params, "objective", NULL),
		.acceptance = strv_const(acceptance),
		.depends_on = strv_const(depends),
		.priority = word != NULL && priority_parse(word, &priority) ?
		    &priority :
		    NULL,
	};
	struct plan_node *node = NULL;
	int r =
	    plan_edit_add(&change->edit, json_string_or(params, "parent", NULL),
		place_of(params), &spec, &node, err);

	if (r == 0)
		*id = node->id;
	return r;
}

static int
split_node(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	cleanup_strv char **names =
	    strv_from_json(json_member(params, "names"));
	size_t count = strv_count(names);
	cleanup_free struct plan_spec *parts =
	    xcalloc(count + 1, sizeof *parts);

	for (size_t i = 0; i < count; i++)
		parts[i].name = names[i];
	return plan_edit_split(&change->edit, *id, parts, count, err);
}

static int
merge_nodes(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	cleanup_strv char **ids = strv_from_json(json_member(params, "nodes"));
	int r = plan_edit_merge(&change->edit, strv_const(ids),
	    json_string_or(params, "name", NULL), err);

	if (r == 0)
		*id = plan_named(change->plan, ids[0])->id;
	return r;
}

static int
move_node(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	const struct plan_node *node = plan_named(change->plan, *id);

	return plan_edit_move(&change->edit, *id,
	    json_string_or(
		params, "parent", node != NULL ? node->parent_id : NULL),
	    place_of(params), err);
}

/* --- assign ---------------------------------------------------------- */

/* May the node go to that worker? */
static int
check_assign(struct plan_floor *floor, const struct plan_node *node,
    const char *worker, struct err *err)
{
	struct reconcile_config config;

	if (state_find(&floor->core->state, worker) == NULL)
		return err_set(err, API_E_UNKNOWN,
		    "there is no worker %s; see: llmc status", worker);
	if (worker_is_auto(worker))
		return err_set(err, API_FAILED,
		    "auto workers take ready nodes by themselves; to have it "
		    "sooner, type: llmc goal node priority %s urgent",
		    node->id);
	reconcile_config_read(floor->core->settings, &config);
	if (!reconcile_allows(&config, worker, worker))
		return err_set(err, API_FAILED,
		    "%s is driven by a person; to let it work on goals, add it "
		    "to plan.allow_agents, such as: llmc config set "
		    "plan.allow_agents '[\"main\", \"%s\"]'",
		    worker, worker);
	if (!plan_node_leaf(node))
		return err_set(err, API_E_CHILDREN,
		    "%s has nodes below it; assign one of them", node->id);
	if (!node_status_open(node->status))
		return err_set(err, API_E_CLOSED, "%s is %s", node->id,
		    node_status_name(node->status));
	if (plan_node_is_assigned(node))
		return err_set(err, API_E_ASSIGNED, "%s has %s already (%s)",
		    node->work.worker != NULL ? node->work.worker : "somebody",
		    node->id, node->work.id);
	return 0;
}

/* The tick sends it. */
static void
make_assignment(const struct plan_change *change, struct plan_node *node,
    const char *worker, const char *recovery)
{
	struct plan_floor *floor = change->floor;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *id = NULL;
	char ulid[ID_ULID_SIZE];
	unsigned policy;

	id_ulid(change->edit.now_ms, ulid);
	id = xasprintf("A_%s", ulid);
	plan_node_assign(node, id, change->edit.now_ms);
	xstrset(&node->work.worker, worker);
	if (recovery != NULL &&
	    word_find(recovery_policy_words, recovery, &policy))
		node->work.recovery_policy = (enum recovery_policy)policy;
	plan_prompt(change->plan, node, &text);
	plan_node_instruct(node, text.data);
	plan_apply_work(floor, node);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_QUEUED,
		.goal = node->goal_id,
		.node = node->id,
		.assignment = id,
		.worker = worker,
		.to = assignment_status_name(node->work.status),
		.reason = change->edit.why });
}

static int
assign_node(const struct plan_change *change, struct json_object *params,
    const char **id, struct err *err)
{
	const char *worker = json_string_or(params, "worker", "");
	cleanup_free char *what = NULL;
	struct plan_node *node;
	int r = plan_edit_begin(&change->edit, err);

	if (r == 0)
		r = plan_get(change->plan, *id, &node, err);
	if (r == 0)
		r = check_assign(change->floor, node, worker, err);
	if (r != 0)
		return r;
	make_assignment(
	    change, node, worker, json_string_or(params, "recovery", NULL));
	node->updated_ms = change->edit.now_ms;
	plan_changed(change->edit.changes, node);
	what = xasprintf("assigned %s to %s", node->id, worker);
	plan_edit_end(&change->edit, what);
	return 0;
}

/* --- registering ----------------------------------------------------- */

#define ON_EDIT(name, edit)                                                  \
	static void name(                                                    \
	    void *arg, struct server_call *call, struct json_object *params) \
	{                                                                    \
		change_node(arg, call, params, edit);                        \
	}

ON_EDIT(on_node_update, update_node)
ON_EDIT(on_add, add_node)
ON_EDIT(on_split, split_node)
ON_EDIT(on_merge, merge_nodes)
ON_EDIT(on_move, move_node)
ON_EDIT(on_assign, assign_node)

void
goal_commands_register(struct plan_floor *floor)
{
	struct core *core = floor->core;

	serve_handle(core, "overseer.status", on_status, floor);
	serve_handle(core, "overseer.goal.create", on_create, floor);
	serve_handle(core, "overseer.goal.list", on_list, floor);
	serve_handle(core, "overseer.goal.show", on_show, floor);
	serve_handle(core, "overseer.goal.plan", on_plan, floor);
	serve_handle(core, "overseer.goal.update", on_update, floor);
	serve_handle(core, "overseer.goal.pause", on_pause, floor);
	serve_handle(core, "overseer.goal.resume", on_resume, floor);
	serve_handle(core, "overseer.goal.cancel", on_cancel, floor);
	serve_handle(core, "overseer.goal.archive", on_archive, floor);
	serve_handle(core, "overseer.plan.draft", on_draft, floor);
	serve_handle(core, "overseer.plan.apply", on_apply, floor);
	serve_handle(core, "overseer.work.list", on_nodes, floor);
	serve_handle(core, "overseer.work.show", on_node, floor);
	serve_handle(core, "overseer.work.update", on_node_update, floor);
	serve_handle(core, "overseer.work.add", on_add, floor);
	serve_handle(core, "overseer.work.split", on_split, floor);
	serve_handle(core, "overseer.work.merge", on_merge, floor);
	serve_handle(core, "overseer.work.move", on_move, floor);
	serve_handle(core, "overseer.work.assign", on_assign, floor);
}
