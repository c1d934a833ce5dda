/* SPDX-License-Identifier: ISC */

#include "api-plan-record.h"
#include "api-shape.h"
#include "api-team.h"
#include "plan-assignment.h"
#include "plan-node.h"
#include "plan-status.h"
#include "plan-text.h"
#include "priority.h"

#define TEXT(member)   MAY(member, SHAPE_STRING, NULL)
#define NUMBER(member) MAY(member, SHAPE_INT, NULL)
#define MOMENT(member) \
	MAY(member, SHAPE_INT, "milliseconds since 1970; absent: never")
#define LIST(member)                                             \
	{                                                        \
		.name = (member), .type = SHAPE_ARRAY,           \
		.of = &api_plan_strings, .flags = SHAPE_OPTIONAL \
	}
#define WORD(member, words)                                 \
	{                                                   \
		.name = (member), .type = SHAPE_STRING,     \
		.flags = SHAPE_OPTIONAL, .choices = (words) \
	}
#define PART(member, shape)                                             \
	{                                                               \
		.name = (member), .type = SHAPE_OBJECT, .of = &(shape), \
		.flags = SHAPE_OPTIONAL                                 \
	}
#define PARTS(member, shape)                                           \
	{                                                              \
		.name = (member), .type = SHAPE_ARRAY, .of = &(shape), \
		.flags = SHAPE_OPTIONAL                                \
	}
/* Somebody else's object. */
#define FOREIGN(member, words) MAY(member, SHAPE_OBJECT, words)

const struct schema api_plan_strings = {
	.fields = &(const struct schema_field){ .type = SHAPE_STRING,
	    .max = PLAN_LINE_MAX },
};

const struct schema api_plan_evidence = {
	.fields =
	    FIELDS{
		LIST("filesTouched"),
		LIST("commandsRun"),
		LIST("testsRun"),
		LIST("commits"),
		LIST("prs"),
		LIST("issues"),
		LIST("externalRefs"),
		END,
	    },
};

static const struct schema override = {
	.fields = FIELDS{ TEXT("actor"), TEXT("reason"), MOMENT("at"), END },
	.help = "who set the status against the rules, and why",
};

/* --- nodes ----------------------------------------------------------- */

const struct schema api_plan_node = {
	.fields =
	    FIELDS{
		MAY("phaseId", SHAPE_STRING, "its id, if it is a phase"),
		MAY("taskId", SHAPE_STRING, "its id, if it is a task"),
		MAY("subtaskId", SHAPE_STRING, "its id, if it is a subtask"),
		FIELD("goalId", SHAPE_STRING, NULL),
		TEXT("parentId"),
		NUMBER("order"),
		TEXT("spawnedFrom"),
		LIST("replacedBy"),
		FIELD("name", SHAPE_STRING, NULL),
		TEXT("objective"),
		TEXT("expectedOutcome"),
		LIST("acceptanceCriteria"),
		TEXT("definitionOfDone"),
		LIST("dependsOn"),
		LIST("blocks"),
		TEXT("suggestedAgentId"),
		TEXT("suggestedAgentType"),
		LIST("requiredTools"),
		TEXT("estimatedEffort"),
		WORD("riskLevel", risk_level_words),
		WORD("priority", priority_words),
		WORD("recoveryPolicy", recovery_policy_words),
		LIST("scopePaths"),
		PART("verification", api_contract),
		FOREIGN("spawn", "how an agent asked for it"),
		WORD("status", node_status_words),
		TEXT("blockedReason"),
		NUMBER("attempts"),
		MOMENT("createdAt"),
		MOMENT("updatedAt"),
		MOMENT("startedAt"),
		MOMENT("endedAt"),
		PART("override", override),
		PART("evidence", api_plan_evidence),
		END,
	    },
};

static const struct schema nodes = {
	.fields = &(const struct schema_field){ .type = SHAPE_OBJECT,
	    .of = &api_plan_node },
};

/* --- goals ----------------------------------------------------------- */

static const struct schema origin = {
	.fields = FIELDS{ TEXT("sourceSessionKey"),
	    FOREIGN("originDeliveryContext", NULL), END },
};

static const struct schema planner = {
	.fields =
	    FIELDS{
		TEXT("modelRef"),
		TEXT("promptTemplateId"),
		TEXT("promptTemplateHash"),
		MAY("wanted", SHAPE_BOOL, "a person asked for a plan"),
		MAY("drafts", SHAPE_BOOL, "as a draft"),
		MAY("attempts", SHAPE_INT, "since then, or since it began"),
		MAY("failed", SHAPE_STRING, "why the planner gave up"),
		END,
	    },
};

static const struct schema risk = {
	.fields =
	    FIELDS{ TEXT("risk"), TEXT("impact"), TEXT("mitigation"), END },
};

static const struct schema risks = {
	.fields =
	    &(const struct schema_field){ .type = SHAPE_OBJECT, .of = &risk },
};

static const struct schema revision = {
	.fields =
	    FIELDS{
		NUMBER("version"),
		MOMENT("at"),
		TEXT("actor"),
		TEXT("what"),
		TEXT("why"),
		LIST("nodes"),
		END,
	    },
};

static const struct schema revisions = {
	.fields = &(
	    const struct schema_field){ .type = SHAPE_OBJECT, .of = &revision },
};

const struct schema api_plan_goal = {
	.fields =
	    FIELDS{
		FIELD("goalId", SHAPE_STRING, NULL),
		FIELD("title", SHAPE_STRING, NULL),
		MOMENT("createdAt"),
		MOMENT("updatedAt"),
		MOMENT("endedAt"),
		WORD("status", goal_status_words),
		WORD("priority", priority_words),
		WORD("recoveryPolicy", recovery_policy_words),
		LIST("tags"),
		MAY("implicit", SHAPE_BOOL, "of a task from a pool"),
		TEXT("problemStatement"),
		LIST("successCriteria"),
		LIST("nonGoals"),
		TEXT("owner"),
		LIST("stakeholders"),
		TEXT("repoContextSnapshot"),
		LIST("constraints"),
		LIST("assumptions"),
		FOREIGN("plannerInputs", NULL),
		FOREIGN("rawPlannerOutputJson", "the plan as it was accepted"),
		LIST("validationErrors"),
		MAY("version", SHAPE_INT, "of its plan"),
		PART("origin", origin),
		PART("planner", planner),
		PARTS("risks", risks),
		PART("override", override),
		PARTS("planRevisionHistory", revisions),
		PARTS("nodes", nodes),
		END,
	    },
};

/* --- assignments ----------------------------------------------------- */

static const struct schema target = {
	.fields =
	    FIELDS{ TEXT("sessionKey"), FOREIGN("deliveryContext", NULL), END },
};

static const struct schema dispatch = {
	.fields =
	    FIELDS{
		FIELD("dispatchId", SHAPE_STRING, NULL),
		TEXT("assignmentId"),
		TEXT("goalId"),
		TEXT("workNodeId"),
		MOMENT("ts"),
		WORD("mode", dispatch_mode_words),
		TEXT("action"),
		TEXT("instructionHash"),
		WORD("result", dispatch_result_words),
		TEXT("runId"),
		TEXT("notes"),
		PART("target", target),
		END,
	    },
};

static const struct schema dispatches = {
	.fields = &(
	    const struct schema_field){ .type = SHAPE_OBJECT, .of = &dispatch },
};

const struct schema api_plan_assignment = {
	.fields =
	    FIELDS{
		FIELD("assignmentId", SHAPE_STRING, NULL),
		FIELD("goalId", SHAPE_STRING, NULL),
		FIELD("workNodeId", SHAPE_STRING, NULL),
		TEXT("agentId"),
		TEXT("worker"),
		TEXT("task"),
		TEXT("sessionKey"),
		FOREIGN("deliveryContext", NULL),
		WORD("status", assignment_status_words),
		TEXT("blockedReason"),
		TEXT("crystallizationId"),
		TEXT("lastInstructionText"),
		TEXT("instructionHash"),
		TEXT("runId"),
		TEXT("spawnedByKey"),
		MOMENT("createdAt"),
		MOMENT("updatedAt"),
		MOMENT("lastDispatchAt"),
		MOMENT("lastObservedActivityAt"),
		MOMENT("expectedNextUpdateAt"),
		NUMBER("idleAfterMs"),
		NUMBER("retryCount"),
		MOMENT("lastRetryAt"),
		MOMENT("backoffUntil"),
		WORD("recoveryPolicy", recovery_policy_words),
		MAY("followUp", SHAPE_BOOL, NULL),
		MAY("escalated", SHAPE_BOOL, NULL),
		MOMENT("endedAt"),
		PART("override", override),
		PARTS("dispatchHistory", dispatches),
		END,
	    },
};

const struct schema api_plan_assignments = {
	.fields = &(const struct schema_field){ .type = SHAPE_OBJECT,
	    .of = &api_plan_assignment },
};

/* --- progress -------------------------------------------------------- */

const struct schema api_plan_summary = {
	.fields =
	    FIELDS{
		FIELD("total", SHAPE_INT,
		    "nodes without children, without those that "
		    "others have replaced"),
		FIELD("percent", SHAPE_INT, "done of the total"),
		FIELD("ready", SHAPE_INT, "can be worked on now"),
		FIELD("assigned", SHAPE_INT, "somebody works on them"),
		FIELD("todo", SHAPE_INT, NULL),
		FIELD("queued", SHAPE_INT, NULL),
		FIELD("in_progress", SHAPE_INT, NULL),
		FIELD("blocked", SHAPE_INT, NULL),
		FIELD("done", SHAPE_INT, NULL),
		FIELD("cancelled", SHAPE_INT, NULL),
		FIELD("dropped", SHAPE_INT,
		    "of those, the ones that nothing has replaced"),
		END,
	    },
};
