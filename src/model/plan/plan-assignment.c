/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "plan-assignment.h"
#include "plan-node.h"

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
	PLAN_GONE("assignmentId"),
	PLAN_GONE("goalId"),
	PLAN_GONE("workNodeId"),
	PLAN_MOMENT(struct plan_dispatch, "ts", ts_ms),
	MUST("mode", mode, .words = dispatch_mode_words),
	MAY("action", action, .size = PLAN_NAME_MAX),
	PLAN_GONE("instructionHash"),
	MAY("result", result, .words = dispatch_result_words),
	PLAN_GONE("runId"),
	MAY("notes", notes, .size = PLAN_LINE_MAX),
	PLAN_GONE("target"),
};

static const struct schema plan_dispatch_schema =
    SCHEMA_OF(struct plan_dispatch, dispatch_fields, .strict = true,
	.blank = &(const struct plan_dispatch){ .result = DISPATCH_PENDING });

#undef MUST
#undef MAY
#define MUST(key, member, ...) \
	PLAN_MUST(struct plan_assignment, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	PLAN_MAY(struct plan_assignment, key, member, ##__VA_ARGS__)
#define MOMENT(key, member) PLAN_MOMENT(struct plan_assignment, key, member)
#define MADE(key)                                              \
	{                                                      \
		.name = (key), .type = SCHEMA_STRING,          \
		.flags = SCHEMA_OPTIONAL, .max = PLAN_NAME_MAX \
	}

static const struct schema_field fields[] = {
	MUST("assignmentId", id, .size = PLAN_ID_MAX),
	MUST("goalId", goal_id, .size = PLAN_ID_MAX),
	MUST("workNodeId", node_id, .size = PLAN_ID_MAX),
	MADE("agentId"),
	MAY("worker", worker, .size = PLAN_NAME_MAX),
	MAY("task", task, .size = PLAN_NAME_MAX),
	MADE("sessionKey"),
	PLAN_GONE("deliveryContext"),
	MUST("status", status, .words = assignment_status_words),
	MAY("blockedReason", blocked_reason, .size = PLAN_TEXT_MAX),
	PLAN_GONE("crystallizationId"),
	MAY("lastInstructionText", instruction, .size = PLAN_INSTRUCTION_MAX),
	PLAN_GONE("instructionHash"),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
	PLAN_GONE("spawnedByKey"),
	MOMENT("createdAt", created_ms),
	MOMENT("updatedAt", updated_ms),
	MOMENT("lastDispatchAt", last_dispatch_ms),
	MOMENT("lastObservedActivityAt", last_activity_ms),
	MOMENT("expectedNextUpdateAt", expected_update_ms),
	MAY("idleAfterMs", idle_after_ms),
	MAY("retryCount", retry_count),
	PLAN_GONE("lastRetryAt"),
	MOMENT("backoffUntil", backoff_until_ms),
	MAY("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	MAY("followUp", follow_up),
	MAY("escalated", escalated),
	PLAN_GONE("endedAt"),
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

const char *
plan_assignment_driven(const struct plan_assignment *assignment)
{
	return assignment->task == NULL ? assignment->worker : NULL;
}

char *
plan_assignment_session(const struct plan_assignment *assignment)
{
	if (assignment->worker == NULL)
		return NULL;
	return xasprintf("%s%s", assignment->task != NULL ? "worker:" : "",
	    assignment->worker);
}

void
plan_assignment_instruct(struct plan_assignment *assignment, const char *text)
{
	free(assignment->instruction);
	assignment->instruction =
	    xstrndup(text, text_cut(text, strlen(text), PLAN_INSTRUCTION_MAX));
}

struct plan_dispatch *
plan_assignment_dispatch(struct plan_assignment *assignment, const char *id,
    enum dispatch_mode mode, const char *action, int64_t now_ms)
{
	struct plan_dispatch *all = assignment->dispatches, *dispatch;

	if (assignment->dispatch_count == PLAN_DISPATCHES_MAX) {
		/* The oldest one makes room. */
		schema_release(&plan_dispatch_schema, &all[0]);
		assignment->dispatch_count--;
		memmove(&all[0], &all[1],
		    assignment->dispatch_count * sizeof all[0]);
	} else {
		assignment->dispatches = xreallocarray(
		    all, assignment->dispatch_count + 1, sizeof *all);
	}
	dispatch = &assignment->dispatches[assignment->dispatch_count++];
	*dispatch = (struct plan_dispatch){
		.mode = mode, .ts_ms = now_ms, .result = DISPATCH_PENDING
	};
	xstrset(&dispatch->id, id);
	xstrset(&dispatch->action, action);
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
	plan_cut(&assignment->blocked_reason,
	    move->to == ASSIGNMENT_BLOCKED ? move->reason : NULL,
	    PLAN_TEXT_MAX);
	assignment->status = move->to;
	assignment->updated_ms = now_ms;
	return 0;
}

struct json_object *
plan_assignment_to_json(const struct plan_assignment *assignment)
{
	struct json_object *json =
	    schema_json(&plan_assignment_schema, assignment);
	const char *driven = plan_assignment_driven(assignment);
	cleanup_free char *session = plan_assignment_session(assignment);

	json_set_string(json, "agentId", driven != NULL ? driven : AGENT_MAIN);
	if (session != NULL)
		json_set_string(json, "sessionKey", session);
	schema_order(&plan_assignment_schema, json);
	return json;
}

int
plan_assignment_from_json(struct json_object *json, const char *at,
    struct plan_assignment **ret_assignment, struct err *err)
{
	struct plan_assignment *assignment =
	    schema_make(&plan_assignment_schema, json, at, err);
	const char *agent = json_string_or(json, "agentId", AGENT_MAIN);

	if (assignment == NULL)
		return -EINVAL;
	if (assignment->worker == NULL && assignment->task == NULL &&
	    strcmp(agent, AGENT_MAIN) != 0)
		assignment->worker = xstrdup(agent);
	*ret_assignment = assignment;
	return 0;
}
