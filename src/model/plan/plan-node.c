/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "api-error.h"
#include "attempt.h"
#include "contract.h"
#include "excerpt.h"
#include "plan-node.h"

/* --- nodes ----------------------------------------------------------- */

const char *const node_kind_words[] = {
	[NODE_PHASE] = "phase",
	[NODE_TASK] = "task",
	[NODE_SUBTASK] = "subtask",
	[NODE_KIND_COUNT] = NULL,
};

const char *const node_result_words[] = {
	[NODE_RESULT_REPORT] = "report",
	[NODE_RESULT_UNSET] = NULL,
};

/* The key of its id tells what a node is. */
static const char *const id_keys[NODE_KIND_COUNT + 1] = {
	[NODE_PHASE] = "phaseId",
	[NODE_TASK] = "taskId",
	[NODE_SUBTASK] = "subtaskId",
	[NODE_KIND_COUNT] = NULL,
};

#define FIELD(key, member, ...) \
	PLAN_MAY(struct plan_node, key, member, ##__VA_ARGS__)
#define LIST(key, member)   PLAN_LIST(struct plan_node, key, member)
#define MOMENT(key, member) PLAN_MOMENT(struct plan_node, key, member)
#define IDS(key, member)    FIELD(key, member, .size = PLAN_ID_MAX)
#define ID(key, words)                                    \
	{                                                 \
		.name = (key), .type = SCHEMA_STRING,     \
		.flags = SCHEMA_OPTIONAL, .help = (words) \
	}

static const struct schema_field fields[] = {
	/* One of these is its id; it is read and written by hand. */
	ID("phaseId", "its id, if it is a phase"),
	ID("taskId", "its id, if it is a task"),
	ID("subtaskId", "its id, if it is a subtask"),
	PLAN_MUST(struct plan_node, "goalId", goal_id, .size = PLAN_ID_MAX),
	FIELD("parentId", parent_id, .size = PLAN_ID_MAX),
	FIELD("order", order),
	IDS("replacedBy", replaced_by),
	PLAN_MUST(struct plan_node, "name", name, .size = PLAN_NAME_MAX),
	FIELD("objective", objective, .size = PLAN_TEXT_MAX),
	FIELD("expectedOutcome", expected_outcome, .size = PLAN_TEXT_MAX),
	LIST("acceptanceCriteria", acceptance),
	FIELD("definitionOfDone", definition_of_done, .size = PLAN_TEXT_MAX),
	IDS("dependsOn", depends_on),
	IDS("blocks", blocks),
	FIELD("suggestedAgentId", suggested_agent_id, .size = PLAN_NAME_MAX),
	LIST("requiredTools", required_tools),
	FIELD("estimatedEffort", estimated_effort, .size = PLAN_NAME_MAX),
	FIELD("priority", priority, .words = priority_words),
	FIELD(
	    "recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	FIELD("result", result, .words = node_result_words),
	LIST("scopePaths", scope_paths),
	FIELD("verification", verification, .of = &contract_schema),
	SCHEMA_PART(struct plan_node, "spawn", POINTER, spawn,
	    task_launch_schema, .flags = SCHEMA_OMIT_UNSET,
	    .help = "how an agent asked for it"),
	PLAN_MUST(
	    struct plan_node, "status", status, .words = node_status_words),
	FIELD("blockedReason", blocked_reason, .size = PLAN_TEXT_MAX),
	FIELD("attempts", attempts),
	FIELD("replans", replans),
	FIELD("replanReason", replan_why, .size = PLAN_TEXT_MAX,
	    .help = "the planner is asked to plan it anew: why"),
	MOMENT("createdAt", created_ms),
	MOMENT("updatedAt", updated_ms),
	MOMENT("startedAt", started_ms),
	MOMENT("endedAt", ended_ms),
	SCHEMA_PART(struct plan_node, "override", STRUCT, override,
	    plan_override_schema, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PART(struct plan_node, "evidence", STRUCT, evidence,
	    plan_evidence_schema, .flags = SCHEMA_OMIT_UNSET),
};

const struct schema plan_node_schema =
    SCHEMA_OF(struct plan_node, fields, .strict = true,
	.blank = &(const struct plan_node){ .priority = PRIORITY_COUNT,
	    .recovery_policy = RECOVERY_UNSET,
	    .result = NODE_RESULT_UNSET,
	    .work = { .recovery_policy = RECOVERY_UNSET } });

const char *
node_kind_name(enum node_kind kind)
{
	return node_kind_words[kind];
}

static bool
has_shape(const char *id)
{
	size_t len = strlen(id);

	if (len == 0 || len > PLAN_ID_MAX || !isalnum((unsigned char)*id))
		return false;
	for (; *id != '\0'; id++)
		if (!isalnum((unsigned char)*id) && strchr("._-", *id) == NULL)
			return false;
	return true;
}

const char *
plan_id_fault(const char *id)
{
	cleanup_buf struct buf masked = BUF_INIT;

	if (!has_shape(id))
		return "not an id: letters, digits, '.', '_' and '-', at most "
		       "64";
	remedy_mask(id, strlen(id), &masked);
	if (strcmp(masked.data, id) != 0)
		return "looks like a key or a password, which is not stored; "
		       "choose another id";
	return NULL;
}

bool
plan_id_valid(const char *id)
{
	return plan_id_fault(id) == NULL;
}

struct plan_node *
plan_node_new(const char *goal_id, enum node_kind kind, const char *id,
    const char *name, int64_t now_ms)
{
	struct plan_node *node = schema_new(&plan_node_schema);

	node->id = xstrdup(id);
	node->goal_id = xstrdup(goal_id);
	node->kind = kind;
	node->name = xstrdup(name);
	node->created_ms = node->updated_ms = now_ms;
	return node;
}

void
plan_node_free(struct plan_node *node)
{
	if (node == NULL)
		return;
	free(node->id);
	free(node->children);
	schema_release(&plan_work_schema, &node->work);
	schema_free(&plan_node_schema, node);
}

struct plan_node *
plan_node_copy(const struct plan_node *node)
{
	struct plan_node *copy = schema_new(&plan_node_schema);

	schema_copy(&plan_node_schema, node, copy);
	copy->id = xstrdup(node->id);
	copy->kind = node->kind;
	return copy;
}

bool
plan_node_started(const struct plan_node *node)
{
	return node->started_ms != 0 || node->status == NODE_IN_PROGRESS ||
	    node->status == NODE_DONE;
}

/* --- moves ----------------------------------------------------------- */

/* The first rule that the move breaks. */
static int
check_move(const struct plan_node *node, const struct plan_node_move *move,
    struct err *err)
{
	bool overrides = move->actor != NULL;

	if (move->rolled_up)
		return 0;
	if (!node_status_may(node->status, move->to) &&
	    !(overrides && move->to == NODE_DONE &&
		node_status_open(node->status)))
		return node_status_check(node->id, node->status, move->to, err);
	if (move->to == NODE_BLOCKED && plan_blank(move->reason))
		return err_set(err, API_E_REASON,
		    "%s: a blocked node needs a reason", node->id);
	if (move->to == NODE_DONE && !overrides &&
	    !plan_evidence_any(move->evidence) &&
	    !plan_evidence_any(&node->evidence))
		return err_set(err, API_E_EVIDENCE,
		    "%s: done needs evidence (a commit, files, tests), or an "
		    "override with a reason",
		    node->id);
	if (overrides && plan_blank(move->override_reason))
		return err_set(err, API_E_REASON,
		    "%s: an override needs a reason", node->id);
	return 0;
}

int
plan_node_move(struct plan_node *node, const struct plan_node_move *move,
    int64_t now_ms, struct err *err)
{
	int r = check_move(node, move, err);

	if (r < 0)
		return r;
	if (node->status == NODE_DONE && move->to != NODE_DONE)
		plan_evidence_release(&node->evidence);
	plan_override_release(&node->override);
	if (move->actor != NULL)
		plan_override_set(&node->override, move->actor,
		    move->override_reason, now_ms, NULL);
	node->status = move->to;
	node->updated_ms = now_ms;
	plan_cut(&node->blocked_reason,
	    move->to == NODE_BLOCKED ? move->reason : NULL, PLAN_TEXT_MAX);
	if (move->to == NODE_IN_PROGRESS && !move->rolled_up)
		node->attempts++;
	if (move->to == NODE_IN_PROGRESS && node->started_ms == 0)
		node->started_ms = now_ms;
	node->ended_ms = node_status_open(move->to) ? 0 : now_ms;
	if (move->evidence != NULL)
		plan_evidence_merge(&node->evidence, move->evidence);
	return 0;
}

/* --- JSON ------------------------------------------------------------ */

struct json_object *
plan_node_to_json(const struct plan_node *node)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, id_keys[node->kind], node->id);
	schema_add(&plan_node_schema, node, json);
	return json;
}

static int
get_id(struct json_object *json, const char *at, struct plan_node *node,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *id = NULL;
	int r;

	for (unsigned i = 0; i < NODE_KIND_COUNT; i++) {
		if (json_member(json, id_keys[i]) == NULL)
			continue;
		json_path_key(&path, at, id_keys[i]);
		if (node->id != NULL)
			return err_set(err, -EINVAL,
			    "%s: a node has one of phaseId, taskId and "
			    "subtaskId",
			    path.data);
		r = json_get_string(json, at, id_keys[i], &id, err);
		if (r < 0)
			return r;
		if (!plan_id_valid(id))
			return err_set(
			    err, -EINVAL, "%s: not an id", path.data);
		node->kind = (enum node_kind)i;
		node->id = xstrdup(id);
		buf_clear(&path);
	}
	if (node->id != NULL)
		return 0;
	json_path_key(&path, at, "phaseId");
	return err_set(err, -EINVAL,
	    "%s: missing; a node has one of phaseId, taskId and subtaskId",
	    path.data);
}

int
plan_node_from_json(struct json_object *json, const char *at,
    struct plan_node **ret_node, struct err *err)
{
	struct plan_node *node = schema_new(&plan_node_schema);
	int r = schema_known(&plan_node_schema, NULL, json, at, err);

	if (r == 0)
		r = get_id(json, at, node, err);
	if (r == 0)
		r = schema_read(&plan_node_schema, json, at, node, err);
	if (r == 0 && (node->parent_id == NULL) != (node->kind == NODE_PHASE))
		r = err_set(err, -EINVAL, "%s%sparentId: %s", at,
		    *at == '\0' ? "" : ".",
		    node->kind == NODE_PHASE ? "a phase has no parent" :
					       "missing");
	if (r < 0) {
		plan_node_free(node);
		return -EINVAL;
	}
	*ret_node = node;
	return 0;
}

/* --- the work -------------------------------------------------------- */

const char *const dispatch_mode_words[] = {
	[DISPATCH_SEND] = "sessions_send",
	[DISPATCH_SPAWN] = "sessions_spawn",
	[DISPATCH_ESCALATE] = "escalate",
	[DISPATCH_MODE_COUNT] = NULL,
};

const char *const dispatch_result_words[] = {
	[DISPATCH_ACCEPTED] = "accepted",
	[DISPATCH_OK] = "ok",
	[DISPATCH_TIMEOUT] = "timeout",
	[DISPATCH_ERROR] = "error",
	[DISPATCH_PENDING] = NULL,
};

#define MUST(key, member, ...) \
	PLAN_MUST(struct plan_dispatch, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	PLAN_MAY(struct plan_dispatch, key, member, ##__VA_ARGS__)

static const struct schema_field dispatch_fields[] = {
	MUST("dispatchId", id, .size = PLAN_ID_MAX),
	PLAN_MOMENT(struct plan_dispatch, "ts", ts_ms),
	MUST("mode", mode, .words = dispatch_mode_words),
	MAY("action", action, .size = PLAN_NAME_MAX),
	MAY("result", result, .words = dispatch_result_words),
	MAY("notes", notes, .size = PLAN_LINE_MAX),
};

static const struct schema plan_dispatch_schema =
    SCHEMA_OF(struct plan_dispatch, dispatch_fields, .strict = true,
	.blank = &(const struct plan_dispatch){ .result = DISPATCH_PENDING });

#undef MUST
#undef MAY
#define MUST(key, member, ...) \
	PLAN_MUST(struct plan_work, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	PLAN_MAY(struct plan_work, key, member, ##__VA_ARGS__)
#define WORK_MOMENT(key, member) PLAN_MOMENT(struct plan_work, key, member)
#define MADE(key)                                              \
	{                                                      \
		.name = (key), .type = SCHEMA_STRING,          \
		.flags = SCHEMA_OPTIONAL, .max = PLAN_NAME_MAX \
	}

static const struct schema_field work_fields[] = {
	MUST("assignmentId", id, .size = PLAN_ID_MAX),
	SCHEMA_IS("goalId", STRING, NULL, .max = PLAN_ID_MAX),
	SCHEMA_IS("workNodeId", STRING, NULL, .max = PLAN_ID_MAX),
	MADE("agentId"),
	MAY("worker", worker, .size = PLAN_NAME_MAX),
	MAY("task", task, .size = PLAN_NAME_MAX),
	MADE("sessionKey"),
	MUST("status", status, .words = assignment_status_words),
	MAY("blockedReason", blocked_reason, .size = PLAN_TEXT_MAX),
	MAY("lastInstructionText", instruction, .size = PLAN_INSTRUCTION_MAX),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
	WORK_MOMENT("createdAt", created_ms),
	WORK_MOMENT("updatedAt", updated_ms),
	WORK_MOMENT("lastDispatchAt", last_dispatch_ms),
	WORK_MOMENT("lastObservedActivityAt", last_activity_ms),
	WORK_MOMENT("expectedNextUpdateAt", expected_update_ms),
	MAY("idleAfterMs", idle_after_ms),
	MAY("retryCount", retry_count),
	WORK_MOMENT("backoffUntil", backoff_until_ms),
	MAY("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	MAY("followUp", follow_up),
	MAY("escalated", escalated),
	SCHEMA_PART(struct plan_work, "override", STRUCT, override,
	    plan_override_schema, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PARTS(struct plan_work, "dispatchHistory", ROWS, dispatches,
	    dispatch_count, plan_dispatch_schema, .flags = SCHEMA_OMIT_UNSET,
	    .max = PLAN_DISPATCHES_MAX),
};

static int
check_work(void *record, const char *at, struct err *err)
{
	const struct plan_work *work = record;

	if (plan_id_valid(work->id))
		return 0;
	return err_set(err, -EINVAL, "%s%sassignmentId: not an id", at,
	    *at == '\0' ? "" : ".");
}

const struct schema plan_work_schema = SCHEMA_OF(
    struct plan_work, work_fields, .strict = true, .check = check_work);

static void
work_clear(struct plan_work *work)
{
	schema_release(&plan_work_schema, work);
	*work = (struct plan_work){ .recovery_policy = RECOVERY_UNSET };
}

void
plan_node_assign(struct plan_node *node, const char *id, int64_t now_ms)
{
	char *new = xstrdup(id);

	work_clear(&node->work);
	node->work.id = new;
	node->work.created_ms = node->work.updated_ms = now_ms;
}

bool
plan_node_is_assigned(const struct plan_node *node)
{
	return node->work.id != NULL &&
	    assignment_status_open(node->work.status);
}

const char *
plan_node_driven(const struct plan_node *node)
{
	return node->work.task == NULL ? node->work.worker : NULL;
}

char *
plan_node_session(const struct plan_node *node)
{
	if (node->work.worker == NULL)
		return NULL;
	return xasprintf("%s%s", node->work.task != NULL ? "worker:" : "",
	    node->work.worker);
}

void
plan_node_instruct(struct plan_node *node, const char *text)
{
	char *new =
	    xstrndup(text, text_cut(text, strlen(text), PLAN_INSTRUCTION_MAX));

	free(node->work.instruction);
	node->work.instruction = new;
}

struct plan_dispatch *
plan_node_dispatch(struct plan_node *node, const char *id,
    enum dispatch_mode mode, const char *action, int64_t now_ms)
{
	struct plan_work *work = &node->work;
	struct plan_dispatch *all = work->dispatches, *dispatch;

	if (work->dispatch_count == PLAN_DISPATCHES_MAX) {
		/* The oldest one makes room. */
		schema_release(&plan_dispatch_schema, &all[0]);
		work->dispatch_count--;
		memmove(&all[0], &all[1], work->dispatch_count * sizeof all[0]);
	} else {
		work->dispatches =
		    xreallocarray(all, work->dispatch_count + 1, sizeof *all);
	}
	dispatch = &work->dispatches[work->dispatch_count++];
	*dispatch = (struct plan_dispatch){
		.mode = mode, .ts_ms = now_ms, .result = DISPATCH_PENDING
	};
	xstrset(&dispatch->id, id);
	xstrset(&dispatch->action, action);
	work->last_dispatch_ms = now_ms;
	work->updated_ms = now_ms;
	return dispatch;
}

struct plan_dispatch *
plan_node_last_dispatch(const struct plan_node *node)
{
	const struct plan_work *work = &node->work;

	return work->dispatch_count == 0 ?
	    NULL :
	    &work->dispatches[work->dispatch_count - 1];
}

struct plan_dispatch *
plan_node_find_dispatch(const struct plan_node *node, const char *dispatch_id)
{
	const struct plan_work *work = &node->work;

	for (size_t i = work->dispatch_count; i > 0; i--)
		if (strcmp(work->dispatches[i - 1].id, dispatch_id) == 0)
			return &work->dispatches[i - 1];
	return NULL;
}

int
plan_node_move_work(
    struct plan_node *node, const struct plan_work_move *move, int64_t now_ms)
{
	struct plan_work *work = &node->work;
	int r = assignment_status_check(work->id, work->status, move->to, NULL);

	if (r < 0)
		return r;
	if (move->to == ASSIGNMENT_BLOCKED && plan_blank(move->reason))
		return API_E_REASON;
	if (move->actor != NULL && plan_blank(move->override_reason))
		return API_E_REASON;
	if (move->to == ASSIGNMENT_DONE && move->actor == NULL &&
	    plan_blank(move->crystal_id))
		return API_E_EVIDENCE;
	if (move->actor != NULL)
		plan_override_set(&work->override, move->actor,
		    move->override_reason, now_ms, NULL);
	plan_cut(&work->blocked_reason,
	    move->to == ASSIGNMENT_BLOCKED ? move->reason : NULL,
	    PLAN_TEXT_MAX);
	work->status = move->to;
	work->updated_ms = now_ms;
	return 0;
}

struct json_object *
plan_work_json(const struct plan_node *node)
{
	struct json_object *json = schema_json(&plan_work_schema, &node->work);
	const char *driven = plan_node_driven(node);
	cleanup_free char *session = plan_node_session(node);

	json_set_string(json, "goalId", node->goal_id);
	json_set_string(json, "workNodeId", node->id);
	json_set_string(json, "agentId", driven != NULL ? driven : AGENT_MAIN);
	if (session != NULL)
		json_set_string(json, "sessionKey", session);
	schema_order(&plan_work_schema, json);
	return json;
}

int
plan_work_read(struct json_object *json, const char *at, struct plan_node *node,
    struct err *err)
{
	struct plan_work *work = &node->work;
	const char *agent = json_string_or(json, "agentId", AGENT_MAIN);
	int r;

	work_clear(work);
	r = schema_read(&plan_work_schema, json, at, work, err);
	if (r < 0) {
		work_clear(work);
		return -EINVAL;
	}
	if (work->worker == NULL && work->task == NULL &&
	    strcmp(agent, AGENT_MAIN) != 0)
		work->worker = xstrdup(agent);
	return 0;
}

/* --- the launch ------------------------------------------------------ */

void
plan_node_launch(const struct plan_node *node, struct task_launch *ret_launch)
{
	*ret_launch = (struct task_launch){ 0 };
	if (node->spawn != NULL)
		schema_copy(&task_launch_schema, node->spawn, ret_launch);
	if (ret_launch->contract == NULL)
		ret_launch->contract = json_object_get(node->verification);
	if (ret_launch->scope_paths == NULL && node->scope_paths != NULL)
		ret_launch->scope_paths =
		    strv_copy(strv_const(node->scope_paths));
	strv_clear(&ret_launch->required_tools);
	if (node->required_tools != NULL)
		ret_launch->required_tools =
		    strv_copy(strv_const(node->required_tools));
	ret_launch->report_only |= node->result == NODE_RESULT_REPORT;
}

const char *
plan_node_asker(const struct plan_node *node)
{
	return node->spawn != NULL ? node->spawn->parent : NULL;
}

bool
plan_node_is_spawned(const struct plan_node *node)
{
	return plan_node_asker(node) != NULL ||
	    (node->spawn != NULL && node->spawn->depth > 0);
}

/* --- effort ---------------------------------------------------------- */

static const struct {
	const char *word;
	int64_t iterations;
} table[] = {
	{ "xs", 3 },
	{ "trivial", 3 },
	{ "tiny", 3 },
	{ "s", 6 },
	{ "small", 6 },
	{ "low", 6 },
	{ "m", 12 },
	{ "medium", 12 },
	{ "moderate", 12 },
	{ "l", 24 },
	{ "large", 24 },
	{ "high", 24 },
	{ "xl", 48 },
	{ "huge", 48 },
};

int64_t
plan_effort_iterations(const char *effort)
{
	const char *fault = NULL;
	int64_t number;

	if (effort == NULL)
		return -1;
	for (size_t i = 0; i < nitems(table); i++)
		if (strcasecmp(effort, table[i].word) == 0)
			return table[i].iterations;
	number = strtonum(effort, 1, PLAN_EFFORT_MAX, &fault);
	return fault == NULL ? number : -1;
}
