/* SPDX-License-Identifier: ISC */

#include "api-goal.h"
#include "api-shape.h"
#include "plan-assignment.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "plan-summary.h"
#include "plan-load.h"
#include "plan-status.h"
#include "priority.h"
#include "reconcile.h"

#define GOAL                        \
	FIELD("goal", SHAPE_STRING, \
	    "its id, or four letters or more of it that no other has")
#define TEXT(member, most, words)                                      \
	{                                                              \
		.name = (member), .type = SHAPE_STRING, .max = (most), \
		.flags = SHAPE_OPTIONAL, .help = (words)               \
	}
#define PRIORITY                                                         \
	{                                                                \
		.name = "priority", .type = SHAPE_STRING,                \
		.choices = priority_words, .flags = SHAPE_OPTIONAL,      \
		.help = "how soon its work is wanted; if absent, normal" \
	}

/* --- parameters ------------------------------------------------------ */

#define DEFINITION                                                           \
	TEXT("problem", PLAN_TEXT_MAX, "what is to be solved"),              \
	    API_PLAN_LIST(                                                   \
		"success_criteria", "what can be verified when it is done"), \
	    API_PLAN_LIST("constraints", "what must hold"),                  \
	    API_PLAN_LIST("non_goals", "what it is not about"),              \
	    API_PLAN_LIST("tags", "words for people"),                       \
	    TEXT("owner", PLAN_NAME_MAX, "who answers for it"), PRIORITY

#define PLAN                                                             \
	TEXT("plan", PLAN_FILE_MAX,                                      \
	    "phases, tasks and subtasks, as JSON or Markdown (the text " \
	    "of a plan file)")

const struct schema api_goal_create_params = {
	.fields =
	    FIELDS{
		TEXT("title", PLAN_NAME_MAX, "if absent, as the plan says"),
		DEFINITION,
		PLAN,
		MAY("from_session", SHAPE_STRING,
		    "name of the worker whose session it came up in"),
		END,
	    },
};

const struct schema api_goal_update_params = {
	.fields =
	    FIELDS{
		GOAL,
		TEXT("title", PLAN_NAME_MAX, "its new title"),
		DEFINITION,
		TEXT("text", PLAN_FILE_MAX,
		    "instead of the members above: the goal and its plan as "
		    "Markdown, as llmc goal edit shows them; what is different "
		    "is changed"),
		MAY("before", SHAPE_STRING,
		    "the hash of the text that was edited, without comments; "
		    "refused if it is another one by now"),
		TEXT("reason", PLAN_TEXT_MAX, "why it is changed"),
		END,
	    },
};

const struct schema api_goal_plan_params = {
	.fields =
	    FIELDS{
		GOAL,
		PLAN,
		TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
		END,
	    },
};

#define CALLER                      \
	MAY("worker", SHAPE_STRING, \
	    "whose session it is; the daemon says so, not the caller")

const struct schema api_plan_draft_params = {
	.fields =
	    FIELDS{
		CALLER,
		GOAL,
		PLAN,
		TEXT("reason", PLAN_TEXT_MAX,
		    "why there is another one; without it and without a plan, "
		    "the draft that there is for this version is shown"),
		END,
	    },
};

const struct schema api_plan_apply_params = {
	.fields =
	    FIELDS{
		CALLER,
		GOAL,
		PLAN,
		{ .name = "version",
		    .type = SHAPE_INT,
		    .min = 0,
		    .max = INT64_MAX,
		    .flags = SHAPE_OPTIONAL,
		    .help = "of the plan that it replaces; if absent, the one "
			    "that the draft was made for" },
		TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
		END,
	    },
};

const struct schema api_goal_params = {
	.fields = FIELDS{ GOAL, END },
};

const struct schema api_goal_move_params = {
	.fields =
	    FIELDS{
		GOAL,
		TEXT("reason", PLAN_TEXT_MAX, "why"),
		END,
	    },
};

const struct schema api_goal_list_params = {
	.fields =
	    FIELDS{
		MAY("all", SHAPE_BOOL,
		    "goals that have ended and archived ones, too"),
		END,
	    },
};

const struct schema api_goal_tick_params = {
	.fields =
	    FIELDS{
		MAY("dry_run", SHAPE_BOOL,
		    "only say what would be done; change nothing"),
		END,
	    },
};

/* --- results --------------------------------------------------------- */

#define RESULT_GOAL FIELD("goal", SHAPE_STRING, "its id")
#define RESULT_STATUS                                   \
	{                                               \
		.name = "status", .type = SHAPE_STRING, \
		.choices = goal_status_words            \
	}
#define RESULT_SUMMARY                                               \
	{                                                            \
		.name = "summary", .type = SHAPE_OBJECT,             \
		.of = &plan_summary_schema, .flags = SHAPE_NULLABLE, \
		.help = "null: its plan cannot be read"              \
	}

const struct schema api_goal_changed = {
	.fields =
	    FIELDS{
		RESULT_GOAL,
		FIELD("title", SHAPE_STRING, NULL),
		RESULT_STATUS,
		FIELD("version", SHAPE_INT, "of its plan"),
		FIELD("nodes", SHAPE_INT, "of its plan; 0: it has none yet"),
		END,
	    },
};

const struct schema_field api_goal_result = RESULT(api_goal_changed);

const struct schema api_plan_drafted = {
	.fields =
	    FIELDS{
		RESULT_GOAL,
		FIELD("version", SHAPE_INT, "of its plan now"),
		{ .name = "state",
		    .type = SHAPE_STRING,
		    .choices =
			(const char *const[]){ "none", "asked", "ready", NULL },
		    .help = "asked: the planner makes it" },
		{ .name = "base",
		    .type = SHAPE_INT,
		    .flags = SHAPE_NULLABLE,
		    .help = "the version that it was made for" },
		{ .name = "made_ms",
		    .type = SHAPE_INT,
		    .flags = SHAPE_NULLABLE },
		API_PLAN_NULL_OR("actor", "who made it"),
		API_PLAN_NULL_OR("how", NULL),
		API_PLAN_NULL_OR("why", NULL),
		{ .name = "record",
		    .type = SHAPE_OBJECT,
		    .of = &plan_goal_schema,
		    .flags = SHAPE_NULLABLE,
		    .help = "the goal with the nodes that it would have" },
		END,
	    },
};

const struct schema_field api_plan_draft_result = RESULT(api_plan_drafted);

static const struct schema entry = {
	.fields =
	    FIELDS{
		RESULT_GOAL,
		FIELD("title", SHAPE_STRING, NULL),
		RESULT_STATUS,
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .choices = priority_words },
		{ .name = "tags", .type = SCHEMA_LIST, .size = PLAN_LINE_MAX },
		FIELD("version", SHAPE_INT, "of its plan"),
		FIELD("created_ms", SHAPE_INT, NULL),
		{ .name = "ended_ms",
		    .type = SHAPE_INT,
		    .flags = SHAPE_NULLABLE },
		RESULT_SUMMARY,
		END,
	    },
};

const struct schema api_goal_listed = {
	.fields =
	    FIELDS{
		{ .name = "goals", .type = SCHEMA_ROWS, .of = &entry },
		END,
	    },
};

const struct schema_field api_goal_list_result = RESULT(api_goal_listed);

const struct schema api_goal_shown = {
	.fields =
	    FIELDS{
		{ .name = "record",
		    .type = SHAPE_OBJECT,
		    .of = &plan_goal_schema },
		{ .name = "summary",
		    .type = SHAPE_OBJECT,
		    .of = &plan_summary_schema },
		{ .name = "assignments",
		    .type = SCHEMA_ROWS,
		    .of = &plan_assignment_schema,
		    .help = "open ones" },
		END,
	    },
};

const struct schema_field api_goal_show_result = RESULT(api_goal_shown);

static const struct schema goal_counts = {
	.fields =
	    FIELDS{
		FIELD("active", SHAPE_INT, NULL),
		FIELD("paused", SHAPE_INT, NULL),
		END,
	    },
};

static const struct schema assignment_counts = {
	.fields =
	    FIELDS{
		FIELD("queued", SHAPE_INT, NULL),
		FIELD("dispatched", SHAPE_INT, NULL),
		FIELD("active", SHAPE_INT, NULL),
		FIELD("stalled", SHAPE_INT, NULL),
		FIELD("blocked", SHAPE_INT, NULL),
		END,
	    },
};

static const struct schema status = {
	.fields =
	    FIELDS{
		{ .name = "state",
		    .type = SHAPE_STRING,
		    .choices =
			(const char *const[]){ "off", "open", "safe", NULL },
		    .help = "safe: the store cannot be used, and nothing is "
			    "planned" },
		{ .name = "reason",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE,
		    .help = "why it is not open, and what to type" },
		FIELD("enabled", SHAPE_BOOL, "the setting plan.enabled"),
		{ .name = "goals", .type = SHAPE_OBJECT, .of = &goal_counts },
		{ .name = "summary",
		    .type = SHAPE_OBJECT,
		    .of = &plan_summary_schema,
		    .help = "of all open goals together" },
		{ .name = "assignments",
		    .type = SHAPE_OBJECT,
		    .of = &assignment_counts },
		{ .name = "stalled",
		    .type = SCHEMA_ROWS,
		    .of = &plan_assignment_schema,
		    .help = "assignments that are stalled or blocked; the "
			    "first 100" },
		END,
	    },
};

const struct schema_field api_goal_status_result = RESULT(status);

static const struct schema decision = {
	.fields =
	    FIELDS{
		{ .name = "kind",
		    .type = SHAPE_STRING,
		    .choices = reconcile_kind_words },
		FIELD("code", SHAPE_STRING, "why, in one word"),
		FIELD("reason", SHAPE_STRING, "why, in a sentence"),
		FIELD("goal", SHAPE_STRING, NULL),
		FIELD("node", SHAPE_STRING, NULL),
		FIELD("assignment", SHAPE_STRING, NULL),
		API_PLAN_NULL_OR("worker", NULL),
		API_PLAN_NULL_OR("dispatch", "id of what is sent"),
		API_PLAN_NULL_OR("text", "what is sent"),
		END,
	    },
};

static const struct schema ticked = {
	.fields =
	    FIELDS{
		API_PLAN_NULL_OR("gate", "why nothing was decided"),
		{ .name = "decisions", .type = SCHEMA_ROWS, .of = &decision },
		END,
	    },
};

const struct schema_field api_goal_tick_result = RESULT(ticked);
