/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "buf.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-node.h"
#include "record.h"
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

#define MUST_BE(owner, key, member, ...) \
	RECORD_FIELD(                    \
	    owner, key, member, .flags = RECORD_REQUIRED, ##__VA_ARGS__)
#define MAY_BE(owner, key, member, ...) \
	RECORD_FIELD(                   \
	    owner, key, member, .flags = RECORD_OMIT_UNSET, ##__VA_ARGS__)

#define MUST(key, member, ...) \
	MUST_BE(struct plan_dispatch, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	MAY_BE(struct plan_dispatch, key, member, ##__VA_ARGS__)

static const struct schema_field dispatch_fields[] = {
	MUST("dispatchId", id, .size = PLAN_ID_MAX),
	MAY("assignmentId", assignment_id, .size = PLAN_ID_MAX),
	MAY("goalId", goal_id, .size = PLAN_ID_MAX),
	MAY("workNodeId", node_id, .size = PLAN_ID_MAX),
	MAY("ts", ts_ms),
	MUST("mode", mode, .words = dispatch_mode_words),
	MAY("action", action, .size = PLAN_NAME_MAX),
	MAY("instructionHash", instruction_hash, .size = PLAN_NAME_MAX),
	MAY("result", result, .words = dispatch_result_words),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
	MAY("notes", notes, .size = PLAN_LINE_MAX),
};

static const struct schema_field target_fields[] = {
	MAY("sessionKey", session_key, .size = PLAN_NAME_MAX),
	MAY("deliveryContext", delivery_context),
};

static const char *const dispatch_others[] = { "target", NULL };

#undef MUST
#undef MAY
#define MUST(key, member, ...) \
	MUST_BE(struct plan_assignment, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	MAY_BE(struct plan_assignment, key, member, ##__VA_ARGS__)

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
	MAY("createdAt", created_ms),
	MAY("updatedAt", updated_ms),
	MAY("lastDispatchAt", last_dispatch_ms),
	MAY("lastObservedActivityAt", last_activity_ms),
	MAY("expectedNextUpdateAt", expected_update_ms),
	MAY("idleAfterMs", idle_after_ms),
	MAY("retryCount", retry_count),
	MAY("lastRetryAt", last_retry_ms),
	MAY("backoffUntil", backoff_until_ms),
	MAY("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	MAY("followUp", follow_up),
	MAY("escalated", escalated),
	MAY("endedAt", ended_ms),
};

static const char *const others[] = { "override", "dispatchHistory", NULL };

/* --- dispatches ------------------------------------------------------ */

void
plan_dispatch_release(struct plan_dispatch *dispatch)
{
	record_release(dispatch_fields, nitems(dispatch_fields), dispatch);
	record_release(target_fields, nitems(target_fields), dispatch);
}

void
plan_dispatch_copy(
    const struct plan_dispatch *dispatch, struct plan_dispatch *copy)
{
	record_copy(dispatch_fields, nitems(dispatch_fields), dispatch, copy);
	record_copy(target_fields, nitems(target_fields), dispatch, copy);
}

struct json_object *
plan_dispatch_to_json(const struct plan_dispatch *dispatch)
{
	struct json_object *json = json_object_new_object();
	struct json_object *target = json_object_new_object();

	record_to_json(
	    dispatch_fields, nitems(dispatch_fields), dispatch, json);
	record_to_json(target_fields, nitems(target_fields), dispatch, target);
	json_set(json, "target", target);
	return json;
}

static int
get_dispatch(struct json_object *json, const char *at,
    struct plan_dispatch *dispatch, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *target = NULL;
	int r;

	r = record_known(dispatch_fields, nitems(dispatch_fields),
	    dispatch_others, json, at, err);
	if (r == 0)
		r = record_from_json(dispatch_fields, nitems(dispatch_fields),
		    json, at, dispatch, err);
	if (r == 0)
		r = plan_member(json, at, "target", &target, &path, err);
	if (r < 0 || target == NULL)
		return r;
	r = record_known(
	    target_fields, nitems(target_fields), NULL, target, path.data, err);
	if (r == 0)
		r = record_from_json(target_fields, nitems(target_fields),
		    target, path.data, dispatch, err);
	return r;
}

int
plan_dispatch_from_json(struct json_object *json, const char *at,
    struct plan_dispatch *ret, struct err *err)
{
	struct plan_dispatch dispatch = { .result = DISPATCH_PENDING };

	if (get_dispatch(json, at, &dispatch, err) < 0) {
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
		plan_dispatch_release(&all[0]);
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

/* --- assignments ----------------------------------------------------- */

static struct plan_assignment *
assignment_alloc(void)
{
	struct plan_assignment *assignment = xcalloc(1, sizeof *assignment);

	assignment->recovery_policy = RECOVERY_UNSET;
	return assignment;
}

struct plan_assignment *
plan_assignment_new(
    const char *id, const char *goal_id, const char *node_id, int64_t now_ms)
{
	struct plan_assignment *assignment = assignment_alloc();

	assignment->id = xstrdup(id);
	assignment->goal_id = xstrdup(goal_id);
	assignment->node_id = xstrdup(node_id);
	assignment->created_ms = assignment->updated_ms = now_ms;
	return assignment;
}

void
plan_assignment_free(struct plan_assignment *assignment)
{
	if (assignment == NULL)
		return;
	record_release(fields, nitems(fields), assignment);
	plan_override_release(&assignment->override);
	for (size_t i = 0; i < assignment->dispatch_count; i++)
		plan_dispatch_release(&assignment->dispatches[i]);
	free(assignment->dispatches);
	free(assignment);
}

struct plan_assignment *
plan_assignment_copy(const struct plan_assignment *assignment)
{
	struct plan_assignment *copy = assignment_alloc();

	record_copy(fields, nitems(fields), assignment, copy);
	plan_override_copy(&assignment->override, &copy->override);
	copy->dispatches =
	    xcalloc(assignment->dispatch_count + 1, sizeof *copy->dispatches);
	for (size_t i = 0; i < assignment->dispatch_count; i++)
		plan_dispatch_copy(
		    &assignment->dispatches[i], &copy->dispatches[i]);
	copy->dispatch_count = assignment->dispatch_count;
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

/* --- JSON ------------------------------------------------------------ */

struct json_object *
plan_assignment_to_json(const struct plan_assignment *assignment)
{
	struct json_object *json = json_object_new_object(), *list;

	record_to_json(fields, nitems(fields), assignment, json);
	if (assignment->override.actor != NULL)
		json_set(json, "override",
		    plan_override_to_json(&assignment->override));
	if (assignment->dispatch_count == 0)
		return json;
	list = json_object_new_array();
	for (size_t i = 0; i < assignment->dispatch_count; i++)
		json_object_array_add(
		    list, plan_dispatch_to_json(&assignment->dispatches[i]));
	json_set(json, "dispatchHistory", list);
	return json;
}

static int
get_history(struct json_object *json, const char *at,
    struct plan_assignment *assignment, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *list = NULL;
	struct err words = { 0 };
	int r;

	r = json_get_array(json, at, "dispatchHistory", &list, &words);
	if (r < 0)
		return r == -ENOENT ? 0 : err_set(err, r, "%s", words.msg);
	json_path_key(&path, at, "dispatchHistory");
	if (json_object_array_length(list) > PLAN_DISPATCHES_MAX)
		return err_set(err, -EINVAL, "%s: more than %d entries",
		    path.data, PLAN_DISPATCHES_MAX);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		r = get_dispatch(json_object_array_get_idx(list, i), item.data,
		    add_dispatch(assignment), err);
	}
	return r;
}

static int
get_all(struct json_object *json, const char *at,
    struct plan_assignment *assignment, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *member;
	int r;

	r = record_known(fields, nitems(fields), others, json, at, err);
	if (r == 0)
		r = record_from_json(
		    fields, nitems(fields), json, at, assignment, err);
	if (r == 0 && !plan_id_valid(assignment->id))
		r = err_set(err, -EINVAL, "%s%sassignmentId: not an id", at,
		    *at == '\0' ? "" : ".");
	if (r == 0)
		r = plan_member(json, at, "override", &member, &path, err);
	if (r == 0 && member != NULL)
		r = plan_override_from_json(
		    member, path.data, &assignment->override, err);
	if (r == 0)
		r = get_history(json, at, assignment, err);
	return r;
}

int
plan_assignment_from_json(struct json_object *json, const char *at,
    struct plan_assignment **ret_assignment, struct err *err)
{
	struct plan_assignment *assignment = assignment_alloc();

	if (get_all(json, at, assignment, err) < 0) {
		plan_assignment_free(assignment);
		return -EINVAL;
	}
	*ret_assignment = assignment;
	return 0;
}
