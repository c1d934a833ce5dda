/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-node.h"
#include "text.h"

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

static const struct schema_field target_fields[] = {
	MAY("sessionKey", session_key, .size = PLAN_NAME_MAX),
	MAY("deliveryContext", delivery_context),
};
static const struct schema target =
    SCHEMA_OF(struct plan_dispatch, target_fields);

static const struct schema_field dispatch_fields[] = {
	MUST("dispatchId", id, .size = PLAN_ID_MAX),
	MAY("assignmentId", assignment_id, .size = PLAN_ID_MAX),
	MAY("goalId", goal_id, .size = PLAN_ID_MAX),
	MAY("workNodeId", node_id, .size = PLAN_ID_MAX),
	PLAN_MOMENT(struct plan_dispatch, "ts", ts_ms),
	MUST("mode", mode, .words = dispatch_mode_words),
	MAY("action", action, .size = PLAN_NAME_MAX),
	MAY("instructionHash", instruction_hash, .size = PLAN_NAME_MAX),
	MAY("result", result, .words = dispatch_result_words),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
	MAY("notes", notes, .size = PLAN_LINE_MAX),
	SCHEMA_GROUP("target", target),
};

const struct schema plan_dispatch_schema =
    SCHEMA_OF(struct plan_dispatch, dispatch_fields, .strict = true,
	.blank = &(const struct plan_dispatch){ .result = DISPATCH_PENDING });

#undef MUST
#undef MAY
#define MUST(key, member, ...) \
	PLAN_MUST(struct plan_assignment, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	PLAN_MAY(struct plan_assignment, key, member, ##__VA_ARGS__)
#define MOMENT(key, member) PLAN_MOMENT(struct plan_assignment, key, member)

static const struct schema_field fields[] = {
	MUST("assignmentId", id, .size = PLAN_ID_MAX),
	MUST("goalId", goal_id, .size = PLAN_ID_MAX),
	MUST("workNodeId", node_id, .size = PLAN_ID_MAX),
	MAY("agentId", agent_id, .size = PLAN_NAME_MAX),
	MAY("worker", worker, .size = PLAN_NAME_MAX),
	MAY("task", task, .size = PLAN_NAME_MAX),
	MAY("sessionKey", session_key, .size = PLAN_NAME_MAX),
	MAY("deliveryContext", delivery_context),
	MUST("status", status, .words = assignment_status_words),
	MAY("blockedReason", blocked_reason, .size = PLAN_TEXT_MAX),
	MAY("crystallizationId", crystal_id, .size = PLAN_ID_MAX),
	MAY("lastInstructionText", instruction, .size = PLAN_INSTRUCTION_MAX),
	MAY("instructionHash", instruction_hash, .size = PLAN_NAME_MAX),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
	MAY("spawnedByKey", spawned_by, .size = PLAN_NAME_MAX),
	MOMENT("createdAt", created_ms),
	MOMENT("updatedAt", updated_ms),
	MOMENT("lastDispatchAt", last_dispatch_ms),
	MOMENT("lastObservedActivityAt", last_activity_ms),
	MOMENT("expectedNextUpdateAt", expected_update_ms),
	MAY("idleAfterMs", idle_after_ms),
	MAY("retryCount", retry_count),
	MOMENT("lastRetryAt", last_retry_ms),
	MOMENT("backoffUntil", backoff_until_ms),
	MAY("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	MAY("followUp", follow_up),
	MAY("escalated", escalated),
	MOMENT("endedAt", ended_ms),
	SCHEMA_PART(struct plan_assignment, "override", STRUCT, override,
	    plan_override_schema, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PARTS(struct plan_assignment, "dispatchHistory", ROWS,
	    dispatches, dispatch_count, plan_dispatch_schema,
	    .flags = SCHEMA_OMIT_UNSET, .max = PLAN_DISPATCHES_MAX),
};

static int
check_id(void *record, const char *at, struct err *err)
{
	const struct plan_assignment *assignment = record;

	if (plan_id_valid(assignment->id))
		return 0;
	return err_set(err, -EINVAL, "%s%sassignmentId: not an id", at,
	    *at == '\0' ? "" : ".");
}

const struct schema plan_assignment_schema = SCHEMA_OF(struct plan_assignment,
    fields, .strict = true, .check = check_id,
    .blank =
	&(const struct plan_assignment){ .recovery_policy = RECOVERY_UNSET });

void
plan_dispatch_release(struct plan_dispatch *dispatch)
{
	schema_release(&plan_dispatch_schema, dispatch);
}

struct json_object *
plan_dispatch_to_json(const struct plan_dispatch *dispatch)
{
	return schema_json(&plan_dispatch_schema, dispatch);
}

int
plan_dispatch_from_json(struct json_object *json, const char *at,
    struct plan_dispatch *ret, struct err *err)
{
	struct plan_dispatch dispatch = { .result = DISPATCH_PENDING };

	if (schema_read(&plan_dispatch_schema, json, at, &dispatch, err) < 0) {
		plan_dispatch_release(&dispatch);
		return -EINVAL;
	}
	*ret = dispatch;
	return 0;
}

/* The oldest one makes room. */
static struct plan_dispatch *
add_dispatch(struct plan_assignment *assignment)
{
	struct plan_dispatch *all = assignment->dispatches;
	struct plan_dispatch *added;

	if (assignment->dispatch_count == PLAN_DISPATCHES_MAX) {
		schema_release(&plan_dispatch_schema, &all[0]);
		assignment->dispatch_count--;
		memmove(&all[0], &all[1],
		    assignment->dispatch_count * sizeof all[0]);
	} else {
		assignment->dispatches = xreallocarray(
		    all, assignment->dispatch_count + 1, sizeof *all);
	}
	added = &assignment->dispatches[assignment->dispatch_count++];
	*added = (struct plan_dispatch){ .result = DISPATCH_PENDING };
	return added;
}

struct plan_assignment *
plan_assignment_new(
    const char *id, const char *goal_id, const char *node_id, int64_t now_ms)
{
	struct plan_assignment *assignment =
	    schema_new(&plan_assignment_schema);

	assignment->id = xstrdup(id);
	assignment->goal_id = xstrdup(goal_id);
	assignment->node_id = xstrdup(node_id);
	assignment->created_ms = assignment->updated_ms = now_ms;
	return assignment;
}

void
plan_assignment_free(struct plan_assignment *assignment)
{
	schema_free(&plan_assignment_schema, assignment);
}

struct plan_assignment *
plan_assignment_copy(const struct plan_assignment *assignment)
{
	struct plan_assignment *copy = schema_new(&plan_assignment_schema);

	schema_copy(&plan_assignment_schema, assignment, copy);
	return copy;
}

void
plan_instruction_hash(const char *text, char out[PLAN_HASH_SIZE])
{
	id_hash(text, out, PLAN_HASH_SIZE - 1);
}

void
plan_assignment_instruct(struct plan_assignment *assignment, const char *text)
{
	char hash[PLAN_HASH_SIZE];

	plan_instruction_hash(text, hash);
	xstrset(&assignment->instruction_hash, hash);
	free(assignment->instruction);
	assignment->instruction =
	    xstrndup(text, text_cut(text, strlen(text), PLAN_INSTRUCTION_MAX));
}

struct plan_dispatch *
plan_assignment_dispatch(struct plan_assignment *assignment, const char *id,
    enum dispatch_mode mode, const char *action, int64_t now_ms)
{
	struct plan_dispatch *dispatch = add_dispatch(assignment);

	xstrset(&dispatch->id, id);
	xstrset(&dispatch->assignment_id, assignment->id);
	xstrset(&dispatch->goal_id, assignment->goal_id);
	xstrset(&dispatch->node_id, assignment->node_id);
	xstrset(&dispatch->action, action);
	xstrset(&dispatch->session_key, assignment->session_key);
	xstrset(&dispatch->instruction_hash, assignment->instruction_hash);
	xstrset(&dispatch->run_id, assignment->run_id);
	dispatch->delivery_context =
	    json_object_get(assignment->delivery_context);
	dispatch->mode = mode;
	dispatch->ts_ms = now_ms;
	assignment->last_dispatch_ms = now_ms;
	assignment->updated_ms = now_ms;
	return dispatch;
}

struct plan_dispatch *
plan_assignment_last(const struct plan_assignment *assignment)
{
	if (assignment->dispatch_count == 0)
		return NULL;
	return &assignment->dispatches[assignment->dispatch_count - 1];
}

struct plan_dispatch *
plan_assignment_find(
    const struct plan_assignment *assignment, const char *dispatch_id)
{
	for (size_t i = assignment->dispatch_count; i > 0; i--)
		if (strcmp(assignment->dispatches[i - 1].id, dispatch_id) == 0)
			return &assignment->dispatches[i - 1];
	return NULL;
}

static int
check_move(const struct plan_assignment *assignment,
    const struct plan_assignment_move *move, struct err *err)
{
	int r = assignment_status_check(
	    assignment->id, assignment->status, move->to, err);

	if (r < 0)
		return r;
	if (move->to == ASSIGNMENT_BLOCKED && plan_blank(move->reason))
		return err_set(err, API_E_REASON,
		    "%s: a blocked assignment needs a reason", assignment->id);
	if (move->actor != NULL && plan_blank(move->override_reason))
		return err_set(err, API_E_REASON,
		    "%s: an override needs a reason", assignment->id);
	if (move->to == ASSIGNMENT_DONE && move->actor == NULL &&
	    plan_blank(move->crystal_id))
		return err_set(err, API_E_EVIDENCE,
		    "%s: done needs a crystallization with evidence, or an "
		    "override with a reason",
		    assignment->id);
	return 0;
}

int
plan_assignment_move(struct plan_assignment *assignment,
    const struct plan_assignment_move *move, int64_t now_ms, struct err *err)
{
	int r = check_move(assignment, move, err);

	if (r < 0)
		return r;
	if (move->actor != NULL)
		plan_override_set(&assignment->override, move->actor,
		    move->override_reason, now_ms, NULL);
	if (move->to == ASSIGNMENT_DONE)
		xstrset(&assignment->crystal_id, move->crystal_id);
	plan_cut(&assignment->blocked_reason,
	    move->to == ASSIGNMENT_BLOCKED ? move->reason : NULL,
	    PLAN_TEXT_MAX);
	assignment->status = move->to;
	assignment->updated_ms = now_ms;
	if (!assignment_status_open(move->to))
		assignment->ended_ms = now_ms;
	return 0;
}

struct json_object *
plan_assignment_to_json(const struct plan_assignment *assignment)
{
	return schema_json(&plan_assignment_schema, assignment);
}

int
plan_assignment_from_json(struct json_object *json, const char *at,
    struct plan_assignment **ret_assignment, struct err *err)
{
	struct plan_assignment *assignment =
	    schema_make(&plan_assignment_schema, json, at, err);

	if (assignment == NULL)
		return -EINVAL;
	*ret_assignment = assignment;
	return 0;
}
