/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-crystal.h"
#include "plan-node.h"

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
#define LIST(key, member) PLAN_LIST(struct plan_crystal, key, member)

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

static const struct schema_field fields[] = {
	MUST("crystallizationId", id, .size = PLAN_ID_MAX),
	MUST("goalId", goal_id, .size = PLAN_ID_MAX),
	MAY("workNodeId", node_id, .size = PLAN_ID_MAX),
	MAY("assignmentId", assignment_id, .size = PLAN_ID_MAX),
	MAY("createdAt", created_ms),
	MAY("source", source, .words = crystal_source_words),
	MAY("summary", summary, .size = PLAN_SUMMARY_MAX),
	MAY("currentState", current_state, .size = PLAN_TEXT_MAX),
	LIST("nextActions", next_actions),
	LIST("openQuestions", open_questions),
	LIST("knownBlockers", known_blockers),
	SCHEMA_PARTS(struct plan_crystal, "decisions", ROWS, decisions,
	    decision_count, choice, .flags = SCHEMA_OMIT_UNSET,
	    .max = PLAN_DECISIONS_MAX),
	SCHEMA_PART(struct plan_crystal, "evidence", STRUCT, evidence,
	    plan_evidence_schema, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("transcript", transcript, .flags = SCHEMA_OMIT_UNSET),
};

static int
check_id(void *record, const char *at, struct err *err)
{
	const struct plan_crystal *crystal = record;

	if (plan_id_valid(crystal->id))
		return 0;
	return err_set(err, -EINVAL, "%s%scrystallizationId: not an id", at,
	    *at == '\0' ? "" : ".");
}

const struct schema plan_crystal_schema =
    SCHEMA_OF(struct plan_crystal, fields, .strict = true, .check = check_id);

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
