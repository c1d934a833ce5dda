/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "id.h"
#include "plan-private.h"
#include "plan-prompt.h"
#include "plan-set.h"
#include "rpc.h"
#include "serve.h"
#include "word.h"
#include "worker.h"

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
refuse(struct server_call *call, const struct err *err)
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
		refuse(call, &err);
	return plan;
}

/* --- looking --------------------------------------------------------- */

static void
on_list(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;
	const struct plan *plan;

	if (plan_call_begin_maybe(floor, call, params, &plan))
		serve_show(call,
		    plan_view_nodes(plan_floor_set(floor), plan,
			json_bool_or(params, "all", false)));
}

static void
on_show(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan *plan = plan_of(arg, call, params, false);
	struct plan_node *node;
	struct err err = { 0 };

	if (plan == NULL)
		return;
	if (plan_get(plan, json_string_or(params, "node", ""), &node, &err) < 0)
		refuse(call, &err);
	else
		serve_show(call, plan_view_node(plan, node));
}

/* --- changes --------------------------------------------------------- */

/* One change: makes it, and sets the node that the answer is about if that is
 * not params.node. */
typedef int edit_fn(const struct plan_change *change,
    struct json_object *params, const char **id, struct err *err);

static void
make(struct plan_floor *floor, struct server_call *call,
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
		refuse(call, &err);
		return;
	}
	plan_change_end(&change);
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
update(const struct plan_change *change, struct json_object *params,
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
add(const struct plan_change *change, struct json_object *params,
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
split(const struct plan_change *change, struct json_object *params,
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
merge(const struct plan_change *change, struct json_object *params,
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
move(const struct plan_change *change, struct json_object *params,
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
		    "%s is driven by a person; to give it work, add it to "
		    "plan.allow_agents with: llmc config set",
		    worker);
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
assign(const struct plan_change *change, struct json_object *params,
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
		make(arg, call, params, edit);                               \
	}

ON_EDIT(on_update, update)
ON_EDIT(on_add, add)
ON_EDIT(on_split, split)
ON_EDIT(on_merge, merge)
ON_EDIT(on_move, move)
ON_EDIT(on_assign, assign)

void
work_commands_register(struct plan_floor *floor)
{
	struct core *core = floor->core;

	serve_handle(core, "overseer.work.list", on_list, floor);
	serve_handle(core, "overseer.work.show", on_show, floor);
	serve_handle(core, "overseer.work.update", on_update, floor);
	serve_handle(core, "overseer.work.add", on_add, floor);
	serve_handle(core, "overseer.work.split", on_split, floor);
	serve_handle(core, "overseer.work.merge", on_merge, floor);
	serve_handle(core, "overseer.work.move", on_move, floor);
	serve_handle(core, "overseer.work.assign", on_assign, floor);
}
