/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "record.h"
#include "strv.h"

#define FIELD(key, member, ...)                     \
	RECORD_FIELD(struct plan_goal, key, member, \
	    .flags = RECORD_OMIT_UNSET, ##__VA_ARGS__)
#define LIST(key, member) \
	FIELD(key, member, .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX)

/* Members that are objects or lists of objects have tables of their own. */
static const struct schema_field fields[] = {
	RECORD_FIELD(struct plan_goal, "goalId", id, .flags = RECORD_REQUIRED,
	    .size = PLAN_ID_MAX),
	RECORD_FIELD(struct plan_goal, "title", title, .flags = RECORD_REQUIRED,
	    .size = PLAN_NAME_MAX),
	FIELD("createdAt", created_ms),
	FIELD("updatedAt", updated_ms),
	FIELD("endedAt", ended_ms),
	RECORD_FIELD(struct plan_goal, "status", status,
	    .flags = RECORD_REQUIRED, .words = goal_status_words),
	FIELD("priority", priority, .words = priority_words),
	FIELD(
	    "recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	LIST("tags", tags),
	FIELD("implicit", implicit),
	FIELD("problemStatement", problem_statement, .size = PLAN_TEXT_MAX),
	LIST("successCriteria", success_criteria),
	LIST("nonGoals", non_goals),
	FIELD("owner", owner, .size = PLAN_NAME_MAX),
	LIST("stakeholders", stakeholders),
	FIELD("repoContextSnapshot", repo_context, .size = PLAN_TEXT_MAX),
	LIST("constraints", constraints),
	LIST("assumptions", assumptions),
	FIELD("plannerInputs", planner_inputs),
	FIELD("rawPlannerOutputJson", planner_output),
	LIST("validationErrors", validation_errors),
	FIELD("draft", draft),
	FIELD("version", version),
};

static const char *const others[] = { "origin", "planner", "risks", "override",
	"planRevisionHistory", NULL };

static const struct schema_field origin_fields[] = {
	FIELD("sourceSessionKey", source_session_key, .size = PLAN_NAME_MAX),
	FIELD("originDeliveryContext", delivery_context),
};

static const struct schema_field planner_fields[] = {
	FIELD("modelRef", model_ref, .size = PLAN_NAME_MAX),
	FIELD("promptTemplateId", template_id, .size = PLAN_NAME_MAX),
	FIELD("promptTemplateHash", template_hash, .size = PLAN_NAME_MAX),
	FIELD("wanted", plan_wanted),
	FIELD("drafts", plan_drafts),
	FIELD("attempts", plan_attempts),
	FIELD("failed", plan_fault, .size = PLAN_LINE_MAX),
};

#undef FIELD
#define FIELD(key, member, ...)                     \
	RECORD_FIELD(struct plan_risk, key, member, \
	    .flags = RECORD_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field risk_fields[] = {
	RECORD_FIELD(struct plan_risk, "risk", risk, .flags = RECORD_REQUIRED,
	    .size = PLAN_LINE_MAX),
	FIELD("impact", impact, .size = PLAN_LINE_MAX),
	FIELD("mitigation", mitigation, .size = PLAN_LINE_MAX),
};

#undef FIELD
#define FIELD(key, member, ...)                         \
	RECORD_FIELD(struct plan_revision, key, member, \
	    .flags = RECORD_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field revision_fields[] = {
	FIELD("version", version),
	FIELD("at", at_ms),
	FIELD("actor", actor, .size = PLAN_NAME_MAX),
	RECORD_FIELD(struct plan_revision, "what", what,
	    .flags = RECORD_REQUIRED, .size = PLAN_LINE_MAX),
	FIELD("why", why, .size = PLAN_TEXT_MAX),
	LIST("nodes", nodes),
};

struct plan_goal *
plan_goal_new(const char *id, const char *title, int64_t now_ms)
{
	struct plan_goal *goal = xcalloc(1, sizeof *goal);

	goal->id = xstrdup(id);
	goal->title = xstrdup(title);
	goal->priority = PRIORITY_NORMAL;
	goal->recovery_policy = RECOVERY_UNSET;
	goal->created_ms = goal->updated_ms = now_ms;
	return goal;
}

void
plan_goal_free(struct plan_goal *goal)
{
	if (goal == NULL)
		return;
	record_release(fields, nitems(fields), goal);
	record_release(origin_fields, nitems(origin_fields), goal);
	record_release(planner_fields, nitems(planner_fields), goal);
	plan_override_release(&goal->override);
	for (size_t i = 0; i < goal->risk_count; i++)
		record_release(
		    risk_fields, nitems(risk_fields), &goal->risks[i]);
	free(goal->risks);
	for (size_t i = 0; i < goal->revision_count; i++)
		record_release(revision_fields, nitems(revision_fields),
		    &goal->revisions[i]);
	free(goal->revisions);
	free(goal);
}

struct plan_goal *
plan_goal_copy(const struct plan_goal *goal)
{
	struct plan_goal *copy = xcalloc(1, sizeof *copy);

	record_copy(fields, nitems(fields), goal, copy);
	record_copy(origin_fields, nitems(origin_fields), goal, copy);
	record_copy(planner_fields, nitems(planner_fields), goal, copy);
	plan_override_copy(&goal->override, &copy->override);
	copy->risks = xcalloc(goal->risk_count + 1, sizeof *copy->risks);
	for (size_t i = 0; i < goal->risk_count; i++)
		record_copy(risk_fields, nitems(risk_fields), &goal->risks[i],
		    &copy->risks[i]);
	copy->risk_count = goal->risk_count;
	copy->revisions =
	    xcalloc(goal->revision_count + 1, sizeof *copy->revisions);
	for (size_t i = 0; i < goal->revision_count; i++)
		record_copy(revision_fields, nitems(revision_fields),
		    &goal->revisions[i], &copy->revisions[i]);
	copy->revision_count = goal->revision_count;
	return copy;
}

static struct plan_risk *
add_risk(struct plan_goal *goal)
{
	struct plan_risk *risk;

	goal->risks = xreallocarray(
	    goal->risks, goal->risk_count + 1, sizeof *goal->risks);
	risk = &goal->risks[goal->risk_count++];
	*risk = (struct plan_risk){ 0 };
	return risk;
}

#define DELEGATED_BY "delegatedBy" /* in plannerInputs */

const char *
plan_goal_delegated(const struct plan_goal *goal)
{
	return json_string_or(goal->planner_inputs, DELEGATED_BY, NULL);
}

void
plan_goal_set_delegated(struct plan_goal *goal, const char *task)
{
	if (goal->planner_inputs == NULL)
		goal->planner_inputs = json_object_new_object();
	json_set_string(goal->planner_inputs, DELEGATED_BY, task);
}

void
plan_goal_add_risk(struct plan_goal *goal, const char *risk, const char *impact,
    const char *mitigation)
{
	struct plan_risk *added = add_risk(goal);

	xstrset(&added->risk, risk);
	xstrset(&added->impact, impact);
	xstrset(&added->mitigation, mitigation);
}

/* The oldest entry makes room. */
static struct plan_revision *
add_revision(struct plan_goal *goal)
{
	struct plan_revision *revision;

	if (goal->revision_count == PLAN_REVISIONS_MAX) {
		record_release(revision_fields, nitems(revision_fields),
		    &goal->revisions[0]);
		goal->revision_count--;
		memmove(&goal->revisions[0], &goal->revisions[1],
		    goal->revision_count * sizeof goal->revisions[0]);
	} else {
		goal->revisions = xreallocarray(goal->revisions,
		    goal->revision_count + 1, sizeof *goal->revisions);
	}
	revision = &goal->revisions[goal->revision_count++];
	*revision = (struct plan_revision){ 0 };
	return revision;
}

struct plan_revision *
plan_goal_revise(struct plan_goal *goal, const char *actor, const char *what,
    const char *why, int64_t now_ms)
{
	struct plan_revision *revision = add_revision(goal);

	revision->version = ++goal->version;
	revision->at_ms = now_ms;
	plan_cut(&revision->actor, actor, PLAN_NAME_MAX);
	plan_cut(&revision->what, what, PLAN_LINE_MAX);
	plan_cut(&revision->why, why, PLAN_TEXT_MAX);
	goal->updated_ms = now_ms;
	return revision;
}

int
plan_goal_move(struct plan_goal *goal, enum goal_status to, const char *actor,
    const char *reason, int64_t now_ms, struct err *err)
{
	struct plan_override override = { 0 };
	int r;

	r = goal_status_check(goal->id, goal->status, to, err);
	if (r == 0 && actor != NULL)
		r = plan_override_set(&override, actor, reason, now_ms, err);
	if (r < 0)
		return r;
	plan_override_release(&goal->override);
	goal->override = override;
	goal->status = to;
	goal->updated_ms = now_ms;
	if (goal_status_open(to))
		goal->ended_ms = 0;
	else if (goal->ended_ms == 0)
		goal->ended_ms = now_ms;
	return 0;
}

/* --- JSON ------------------------------------------------------------ */

struct json_object *
plan_revision_to_json(const struct plan_revision *revision)
{
	struct json_object *json = json_object_new_object();

	record_to_json(
	    revision_fields, nitems(revision_fields), revision, json);
	return json;
}

static void
set_unless_empty(
    struct json_object *json, const char *key, struct json_object *member)
{
	if (json_object_object_length(member) > 0)
		json_set(json, key, member);
	else
		json_object_put(member);
}

struct json_object *
plan_goal_to_json(const struct plan_goal *goal)
{
	struct json_object *json = json_object_new_object(), *member;

	record_to_json(fields, nitems(fields), goal, json);
	member = json_object_new_object();
	record_to_json(origin_fields, nitems(origin_fields), goal, member);
	set_unless_empty(json, "origin", member);
	member = json_object_new_object();
	record_to_json(planner_fields, nitems(planner_fields), goal, member);
	set_unless_empty(json, "planner", member);
	if (goal->override.actor != NULL)
		json_set(
		    json, "override", plan_override_to_json(&goal->override));
	if (goal->risk_count > 0) {
		struct json_object *list = json_object_new_array();

		for (size_t i = 0; i < goal->risk_count; i++) {
			member = json_object_new_object();
			record_to_json(risk_fields, nitems(risk_fields),
			    &goal->risks[i], member);
			json_object_array_add(list, member);
		}
		json_set(json, "risks", list);
	}
	if (goal->revision_count > 0) {
		struct json_object *list = json_object_new_array();

		for (size_t i = 0; i < goal->revision_count; i++)
			json_object_array_add(
			    list, plan_revision_to_json(&goal->revisions[i]));
		json_set(json, "planRevisionHistory", list);
	}
	return json;
}

/* An object of the goal whose fields are members of the goal itself. */
static int
get_part(struct json_object *json, const char *at, const char *key,
    const struct schema_field *part, size_t count, struct plan_goal *goal,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *member;
	int r;

	r = plan_member(json, at, key, &member, &path, err);
	if (r < 0 || member == NULL)
		return r;
	r = record_known(part, count, NULL, member, path.data, err);
	if (r == 0)
		r = record_from_json(part, count, member, path.data, goal, err);
	return r;
}

static int
get_entry(struct json_object *entry, const char *at,
    const struct schema_field *part, size_t count, void *record,
    struct err *err)
{
	int r = record_known(part, count, NULL, entry, at, err);

	if (r == 0)
		r = record_from_json(part, count, entry, at, record, err);
	return r;
}

/* The risks, or the revisions. */
static int
get_list(struct json_object *json, const char *at, bool risks,
    struct plan_goal *goal, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	const char *key = risks ? "risks" : "planRevisionHistory";
	size_t most = risks ? PLAN_RISKS_MAX : PLAN_REVISIONS_MAX;
	struct json_object *list = NULL, *entry;
	struct err words = { 0 };
	int r;

	r = json_get_array(json, at, key, &list, &words);
	if (r < 0)
		return r == -ENOENT ? 0 : err_set(err, r, "%s", words.msg);
	json_path_key(&path, at, key);
	if (json_object_array_length(list) > most)
		return err_set(
		    err, -EINVAL, "%s: more than %zu entries", path.data, most);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		entry = json_object_array_get_idx(list, i);
		r = risks ?
		    get_entry(entry, item.data, risk_fields,
			nitems(risk_fields), add_risk(goal), err) :
		    get_entry(entry, item.data, revision_fields,
			nitems(revision_fields), add_revision(goal), err);
	}
	return r;
}

int
plan_goal_read_risks(struct json_object *json, const char *at,
    struct plan_goal *goal, struct err *err)
{
	return get_list(json, at, true, goal, err) < 0 ? -EINVAL : 0;
}

static int
get_all(struct json_object *json, const char *at, struct plan_goal *goal,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *member;
	int r;

	r = record_known(fields, nitems(fields), others, json, at, err);
	if (r == 0)
		r = record_from_json(
		    fields, nitems(fields), json, at, goal, err);
	if (r == 0 && !plan_id_valid(goal->id))
		r = err_set(err, -EINVAL, "%s%sgoalId: not an id", at,
		    *at == '\0' ? "" : ".");
	if (r == 0)
		r = get_part(json, at, "origin", origin_fields,
		    nitems(origin_fields), goal, err);
	if (r == 0)
		r = get_part(json, at, "planner", planner_fields,
		    nitems(planner_fields), goal, err);
	if (r == 0)
		r = plan_member(json, at, "override", &member, &path, err);
	if (r == 0 && member != NULL)
		r = plan_override_from_json(
		    member, path.data, &goal->override, err);
	if (r == 0)
		r = get_list(json, at, true, goal, err);
	if (r == 0)
		r = get_list(json, at, false, goal, err);
	return r;
}

int
plan_goal_from_json(struct json_object *json, const char *at,
    struct plan_goal **ret_goal, struct err *err)
{
	struct plan_goal *goal = xcalloc(1, sizeof *goal);

	goal->priority = PRIORITY_NORMAL;
	goal->recovery_policy = RECOVERY_UNSET;
	if (get_all(json, at, goal, err) < 0) {
		plan_goal_free(goal);
		return -EINVAL;
	}
	*ret_goal = goal;
	return 0;
}
