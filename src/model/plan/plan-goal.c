/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "plan-goal.h"
#include "plan-node.h"

/* --- goals ----------------------------------------------------------- */

#define FIELD(key, member, ...) \
	PLAN_MAY(struct plan_goal, key, member, ##__VA_ARGS__)
#define LIST(key, member)   PLAN_LIST(struct plan_goal, key, member)
#define MOMENT(key, member) PLAN_MOMENT(struct plan_goal, key, member)

static const struct schema_field origin_fields[] = {
	FIELD("sourceSessionKey", source_session_key, .size = PLAN_NAME_MAX),
};
static const struct schema origin = SCHEMA_OF(struct plan_goal, origin_fields);

static const struct schema_field planner_fields[] = {
	FIELD("modelRef", model_ref, .size = PLAN_NAME_MAX),
	FIELD("promptTemplateId", template_id, .size = PLAN_NAME_MAX),
	FIELD("promptTemplateHash", template_hash, .size = PLAN_NAME_MAX),
	FIELD("wanted", plan_wanted, .help = "a person asked for a plan"),
	FIELD("drafts", plan_drafts, .help = "as a draft"),
	FIELD(
	    "attempts", plan_attempts, .help = "since then, or since it began"),
	FIELD("failed", plan_fault, .size = PLAN_LINE_MAX,
	    .help = "why the planner gave up"),
};
static const struct schema planner =
    SCHEMA_OF(struct plan_goal, planner_fields);

static const struct schema_field risk_fields[] = {
	PLAN_MUST(struct plan_risk, "risk", risk, .size = PLAN_LINE_MAX),
	PLAN_MAY(struct plan_risk, "impact", impact, .size = PLAN_LINE_MAX),
	PLAN_MAY(
	    struct plan_risk, "mitigation", mitigation, .size = PLAN_LINE_MAX),
};
static const struct schema risk = SCHEMA_OF(struct plan_risk, risk_fields);

static const struct schema_field revision_fields[] = {
	PLAN_MAY(struct plan_revision, "version", version),
	PLAN_MOMENT(struct plan_revision, "at", at_ms),
	PLAN_MAY(struct plan_revision, "actor", actor, .size = PLAN_NAME_MAX),
	PLAN_MUST(struct plan_revision, "what", what, .size = PLAN_LINE_MAX),
	PLAN_MAY(struct plan_revision, "why", why, .size = PLAN_TEXT_MAX),
	PLAN_LIST(struct plan_revision, "nodes", nodes),
};
static const struct schema revision =
    SCHEMA_OF(struct plan_revision, revision_fields);

#define RISKS                                                                  \
	SCHEMA_PARTS(struct plan_goal, "risks", ROWS, risks, risk_count, risk, \
	    .flags = SCHEMA_OMIT_UNSET, .max = PLAN_RISKS_MAX)

static const struct schema_field fields[] = {
	PLAN_MUST(struct plan_goal, "goalId", id, .size = PLAN_ID_MAX),
	FIELD("number", number, .help = "17 of g17, which names it"),
	PLAN_MUST(struct plan_goal, "title", title, .size = PLAN_NAME_MAX),
	MOMENT("createdAt", created_ms),
	MOMENT("updatedAt", updated_ms),
	MOMENT("endedAt", ended_ms),
	PLAN_MUST(
	    struct plan_goal, "status", status, .words = goal_status_words),
	FIELD("priority", priority, .words = priority_words),
	FIELD(
	    "recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	LIST("tags", tags),
	FIELD("problemStatement", problem_statement, .size = PLAN_TEXT_MAX),
	LIST("successCriteria", success_criteria),
	LIST("nonGoals", non_goals),
	FIELD("owner", owner, .size = PLAN_NAME_MAX),
	LIST("constraints", constraints),
	LIST("assumptions", assumptions),
	FIELD("plannerInputs", planner_inputs),
	FIELD("rawPlannerOutputJson", planner_output,
	    .help = "the plan as it was accepted"),
	LIST("validationErrors", validation_errors),
	/* overseer.plan.draft shows it. */
	SCHEMA_FIELD(struct plan_goal, "draft", draft,
	    .flags = SCHEMA_OMIT_UNSET | SCHEMA_PRIVATE),
	FIELD("version", version, .help = "of its plan"),
	SCHEMA_GROUP("origin", origin, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("planner", planner, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_PART(struct plan_goal, "override", STRUCT, override,
	    plan_override_schema, .flags = SCHEMA_OMIT_UNSET),
	RISKS,
	SCHEMA_PARTS(struct plan_goal, "planRevisionHistory", ROWS, revisions,
	    revision_count, revision, .flags = SCHEMA_OMIT_UNSET,
	    .max = PLAN_REVISIONS_MAX),
	/* Of a plan: plan_to_json(). */
	SCHEMA_MAY("nodes", ROWS, NULL, .of = &plan_node_schema),
};

static int
check_id(void *record, const char *at, struct err *err)
{
	const struct plan_goal *goal = record;

	if (plan_id_valid(goal->id))
		return 0;
	return err_set(
	    err, -EINVAL, "%s%sgoalId: not an id", at, *at == '\0' ? "" : ".");
}

const struct schema plan_goal_schema =
    SCHEMA_OF(struct plan_goal, fields, .strict = true, .check = check_id,
	.blank = &(const struct plan_goal){
	    .priority = PRIORITY_NORMAL, .recovery_policy = RECOVERY_UNSET });

struct plan_goal *
plan_goal_new(const char *id, const char *title, int64_t now_ms)
{
	struct plan_goal *goal = schema_new(&plan_goal_schema);

	goal->id = xstrdup(id);
	goal->title = xstrdup(title);
	goal->created_ms = goal->updated_ms = now_ms;
	return goal;
}

void
plan_goal_free(struct plan_goal *goal)
{
	schema_free(&plan_goal_schema, goal);
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

struct plan_revision *
plan_goal_revise(struct plan_goal *goal, const char *actor, const char *what,
    const char *why, int64_t now_ms)
{
	struct plan_revision *added;

	/* The oldest entry makes room. */
	if (goal->revision_count == PLAN_REVISIONS_MAX) {
		schema_release(&revision, &goal->revisions[0]);
		goal->revision_count--;
		memmove(&goal->revisions[0], &goal->revisions[1],
		    goal->revision_count * sizeof goal->revisions[0]);
	} else {
		goal->revisions = xreallocarray(goal->revisions,
		    goal->revision_count + 1, sizeof *goal->revisions);
	}
	added = &goal->revisions[goal->revision_count++];
	*added = (struct plan_revision){ .version = ++goal->version,
		.at_ms = now_ms };
	plan_cut(&added->actor, actor, PLAN_NAME_MAX);
	plan_cut(&added->what, what, PLAN_LINE_MAX);
	plan_cut(&added->why, why, PLAN_TEXT_MAX);
	goal->updated_ms = now_ms;
	return added;
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
plan_revision_to_json(const struct plan_revision *made)
{
	return schema_json(&revision, made);
}

int
plan_goal_read_risks(struct json_object *json, const char *at,
    struct plan_goal *goal, struct err *err)
{
	static const struct schema_field risks[] = { RISKS };
	static const struct schema schema =
	    SCHEMA_OF(struct plan_goal, risks, .strict = true, .open = true);

	return schema_read(&schema, json, at, goal, err);
}

/* --- metadata -------------------------------------------------------- */

#define PREFIX "goal_"

void
plan_meta_plan_id(const struct plan_goal *goal, char out[ID_ULID_SIZE])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	int64_t ms = goal->created_ms > 0 ? goal->created_ms : 0;
	char hash[17];

	if (text_begins(goal->id, PREFIX) &&
	    id_ulid_valid(goal->id + strlen(PREFIX))) {
		memcpy(out, goal->id + strlen(PREFIX), ID_ULID_SIZE);
		return;
	}
	id_hash(goal->id, hash, 16);
	for (int i = 9; i >= 0; i--, ms >>= 5)
		out[i] = digits[ms & 31];
	for (int i = 0; i < 16; i++)
		out[10 + i] =
		    hash[i] >= 'a' ? (char)(hash[i] - 'a' + 'A') : hash[i];
	out[26] = '\0';
}

const char *
plan_meta_source(const char *actor)
{
	static const char *const own[] = { "overseer", "planner", "landing",
		"oversight", "store", "task", "tick", "autod", ACTOR_OVERSEER,
		NULL };
	unsigned ignored;

	if (actor == NULL || word_find(own, actor, &ignored))
		return "overseer";
	return strcmp(actor, "person") == 0 ||
		strcmp(actor, ACTOR_PERSON) == 0 ?
	    "human" :
	    "agent";
}

struct json_object *
plan_meta_json(const struct plan_goal *goal, const struct plan_meta *meta)
{
	struct json_object *json = json_object_new_object();
	char plan_id[ID_ULID_SIZE], workspace[17];

	plan_meta_plan_id(goal, plan_id);
	json_set_string(json, "epic_id", goal->id);
	json_set_string(json, "plan_id", plan_id);
	json_set_int(json, "version", meta->version);
	json_set_string(json, "source", plan_meta_source(meta->actor));
	json_set_string(json, "reason",
	    meta->reason != NULL   ? meta->reason :
		meta->version == 1 ? "initial_create" :
				     "replan");
	if (meta->trace_id != NULL)
		json_set_string(json, "trace_id", meta->trace_id);
	if (meta->root != NULL) {
		id_hash(meta->root, workspace, 16);
		json_set_string(json, "workspace_id", workspace);
	}
	json_set_string(json, "priority",
	    goal->priority <= PRIORITY_HIGH    ? "high" :
		goal->priority == PRIORITY_LOW ? "low" :
						 "normal");
	return json;
}

/* --- crystallizations ---------------------------------------------------- */

const char *const crystal_source_words[] = {
	[CRYSTAL_UPDATE] = "update",
	[CRYSTAL_LANDING] = "landing",
	[CRYSTAL_ROLLUP] = "rollup",
	[CRYSTAL_PERSON] = "person",
	[CRYSTAL_SOURCE_COUNT] = NULL,
};

#define MUST(key, member, ...) \
	PLAN_MUST(struct plan_crystal, key, member, ##__VA_ARGS__)
#define MAY(key, member, ...) \
	PLAN_MAY(struct plan_crystal, key, member, ##__VA_ARGS__)
#define CRYSTAL_LIST(key, member) PLAN_LIST(struct plan_crystal, key, member)

static const struct schema_field transcript_fields[] = {
	MAY("sessionKey", session_key, .size = PLAN_NAME_MAX),
	MAY("sessionId", session_id, .size = PLAN_NAME_MAX),
	MAY("messageId", message_id, .size = PLAN_NAME_MAX),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
};
static const struct schema transcript =
    SCHEMA_OF(struct plan_crystal, transcript_fields);

static const struct schema_field choice_fields[] = {
	PLAN_MUST(
	    struct plan_choice, "decision", decision, .size = PLAN_LINE_MAX),
	PLAN_MAY(
	    struct plan_choice, "rationale", rationale, .size = PLAN_LINE_MAX),
};
static const struct schema choice =
    SCHEMA_OF(struct plan_choice, choice_fields);

static const struct schema_field crystal_fields[] = {
	MUST("crystallizationId", id, .size = PLAN_ID_MAX),
	MUST("goalId", goal_id, .size = PLAN_ID_MAX),
	MAY("workNodeId", node_id, .size = PLAN_ID_MAX),
	MAY("assignmentId", assignment_id, .size = PLAN_ID_MAX),
	MAY("createdAt", created_ms),
	MAY("source", source, .words = crystal_source_words),
	MAY("summary", summary, .size = PLAN_SUMMARY_MAX),
	MAY("currentState", current_state, .size = PLAN_TEXT_MAX),
	CRYSTAL_LIST("nextActions", next_actions),
	CRYSTAL_LIST("openQuestions", open_questions),
	CRYSTAL_LIST("knownBlockers", known_blockers),
	SCHEMA_PARTS(struct plan_crystal, "decisions", ROWS, decisions,
	    decision_count, choice, .flags = SCHEMA_OMIT_UNSET,
	    .max = PLAN_DECISIONS_MAX),
	SCHEMA_PART(struct plan_crystal, "evidence", STRUCT, evidence,
	    plan_evidence_schema, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("transcript", transcript, .flags = SCHEMA_OMIT_UNSET),
};

static int
check_crystal_id(void *record, const char *at, struct err *err)
{
	const struct plan_crystal *crystal = record;

	if (plan_id_valid(crystal->id))
		return 0;
	return err_set(err, -EINVAL, "%s%scrystallizationId: not an id", at,
	    *at == '\0' ? "" : ".");
}

const struct schema plan_crystal_schema = SCHEMA_OF(struct plan_crystal,
    crystal_fields, .strict = true, .check = check_crystal_id);

struct plan_crystal *
plan_crystal_new(const char *id, const char *goal_id, const char *node_id,
    enum crystal_source source, int64_t now_ms)
{
	struct plan_crystal *crystal = xcalloc(1, sizeof *crystal);

	crystal->id = xstrdup(id);
	crystal->goal_id = xstrdup(goal_id);
	xstrset(&crystal->node_id, node_id);
	crystal->source = source;
	crystal->created_ms = now_ms;
	return crystal;
}

void
plan_crystal_free(struct plan_crystal *crystal)
{
	schema_free(&plan_crystal_schema, crystal);
}

void
plan_crystal_summarize(struct plan_crystal *crystal, const char *summary)
{
	plan_cut(&crystal->summary, summary, PLAN_SUMMARY_MAX);
}

void
plan_crystal_decide(
    struct plan_crystal *crystal, const char *decision, const char *rationale)
{
	struct plan_choice *made;

	if (crystal->decision_count == PLAN_DECISIONS_MAX)
		return;
	crystal->decisions = xreallocarray(crystal->decisions,
	    crystal->decision_count + 1, sizeof *crystal->decisions);
	made = &crystal->decisions[crystal->decision_count++];
	*made = (struct plan_choice){ 0 };
	plan_cut(&made->decision, decision, PLAN_LINE_MAX);
	plan_cut(&made->rationale, rationale, PLAN_LINE_MAX);
}
