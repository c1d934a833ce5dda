/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-goal.h"
#include "api-shape.h"
#include "plan-node.h"
#include "plan-file.h"
#include "plan-goal.h"
#include "plan-progress.h"
#include "plan-text.h"
#include "priority.h"
#include "reconcile.h"

#define GOAL                      \
	SCHEMA_IS("goal", STRING, \
	    "its id, or four letters or more of it that no other has")
#define PRIORITY                                                         \
	{                                                                \
		.name = "priority", .type = SCHEMA_STRING,               \
		.choices = priority_words, .flags = SCHEMA_OPTIONAL,     \
		.help = "how soon its work is wanted; if absent, normal" \
	}

/* --- parameters ------------------------------------------------------ */

#define DEFINITION                                                           \
	MAY_TEXT("problem", PLAN_TEXT_MAX, "what is to be solved"),          \
	    API_PLAN_LIST(                                                   \
		"success_criteria", "what can be verified when it is done"), \
	    API_PLAN_LIST("constraints", "what must hold"),                  \
	    API_PLAN_LIST("non_goals", "what it is not about"),              \
	    API_PLAN_LIST("tags", "words for people"),                       \
	    MAY_TEXT("owner", PLAN_NAME_MAX, "who answers for it"), PRIORITY

#define PLAN                                                             \
	MAY_TEXT("plan", PLAN_FILE_MAX,                                  \
	    "phases, tasks and subtasks, as JSON or Markdown (the text " \
	    "of a plan file)")

const struct schema api_goal_create_params = {
	SCHEMA_FIELDS{
	    MAY_TEXT("title", PLAN_NAME_MAX, "if absent, as the plan says"),
	    DEFINITION,
	    PLAN,
	    SCHEMA_MAY("from_session", STRING,
		"name of the worker whose session it came up in"),
	    SCHEMA_MAY(
		"draft", BOOL, "without a plan: the planner only drafts one"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_update_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    MAY_TEXT("title", PLAN_NAME_MAX, "its new title"),
	    DEFINITION,
	    MAY_TEXT("text", PLAN_FILE_MAX,
		"instead of the members above: the goal and its plan as "
		"Markdown, as llmc goal edit shows them; what is different "
		"is changed"),
	    SCHEMA_MAY("before", STRING,
		"the hash of the text that was edited, without comments; "
		"refused if it is another one by now"),
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why it is changed"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_plan_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    PLAN,
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
	    SCHEMA_END,
	},
};

#define CALLER                       \
	SCHEMA_MAY("worker", STRING, \
	    "whose session it is; the daemon says so, not the caller")

const struct schema api_plan_draft_params = {
	SCHEMA_FIELDS{
	    CALLER,
	    GOAL,
	    PLAN,
	    MAY_TEXT("reason", PLAN_TEXT_MAX,
		"why there is another one; without it and without a plan, "
		"the draft that there is for this version is shown"),
	    SCHEMA_END,
	},
};

const struct schema api_plan_apply_params = {
	SCHEMA_FIELDS{
	    CALLER,
	    GOAL,
	    PLAN,
	    SCHEMA_MAY("version", INT,
		"of the plan that it replaces; if absent, the one "
		"that the draft was made for",
		.min = 0, .max = INT64_MAX),
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    SCHEMA_END,
	},
};

const struct schema api_goal_move_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_tick_params = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY(
		"dry_run", BOOL, "only say what would be done; change nothing"),
	    SCHEMA_END,
	},
};

/* --- results --------------------------------------------------------- */

#define RESULT_GOAL SCHEMA_IS("goal", STRING, "its id")
#define RESULT_STATUS                                    \
	{                                                \
		.name = "status", .type = SCHEMA_STRING, \
		.choices = goal_status_words             \
	}
#define RESULT_SUMMARY                                                \
	{                                                             \
		.name = "summary", .type = SCHEMA_OBJECT,             \
		.of = &plan_summary_schema, .flags = SCHEMA_NULLABLE, \
		.help = "null: its plan cannot be read"               \
	}

const struct schema api_goal_changed = {
	SCHEMA_FIELDS{
	    RESULT_GOAL,
	    SCHEMA_IS("title", STRING, NULL),
	    RESULT_STATUS,
	    SCHEMA_IS("version", INT, "of its plan"),
	    SCHEMA_IS("nodes", INT, "of its plan; 0: it has none yet"),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_result = RESULT(api_goal_changed);

const struct schema api_plan_drafted = {
	SCHEMA_FIELDS{
	    RESULT_GOAL,
	    SCHEMA_IS("version", INT, "of its plan now"),
	    { .name = "state",
		.type = SCHEMA_STRING,
		.choices =
		    (const char *const[]){ "none", "asked", "ready", NULL },
		.help = "asked: the planner makes it" },
	    SCHEMA_OR_NULL("base", INT, "the version that it was made for"),
	    SCHEMA_OR_NULL("made_ms", INT, NULL),
	    SCHEMA_OR_NULL("actor", STRING, "who made it"),
	    SCHEMA_OR_NULL("how", STRING, NULL),
	    SCHEMA_OR_NULL("why", STRING, NULL),
	    SCHEMA_OR_NULL("record", OBJECT,
		"the goal with the nodes that it would have",
		.of = &plan_goal_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_plan_draft_result = RESULT(api_plan_drafted);

const struct schema api_goal_entry = {
	SCHEMA_FIELDS{
	    RESULT_GOAL,
	    SCHEMA_IS("number", INT, "17: g17 names it"),
	    SCHEMA_IS("title", STRING, NULL),
	    RESULT_STATUS,
	    SCHEMA_IS("priority", STRING, NULL, .choices = priority_words),
	    SCHEMA_IS("tags", LIST, NULL, .size = PLAN_LINE_MAX),
	    SCHEMA_IS("version", INT, "of its plan"),
	    SCHEMA_IS("created_ms", INT, NULL),
	    SCHEMA_OR_NULL("ended_ms", INT, NULL),
	    RESULT_SUMMARY,
	    SCHEMA_END,
	},
};

static const struct schema api_goal_listed = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("goals", ROWS, NULL, .of = &api_goal_entry),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_list_result = RESULT(api_goal_listed);

const struct schema api_goal_shown = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("record", OBJECT, NULL, .of = &plan_goal_schema),
	    SCHEMA_IS("summary", OBJECT, NULL, .of = &plan_summary_schema),
	    SCHEMA_IS(
		"assignments", ROWS, "open ones", .of = &plan_work_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_show_result = RESULT(api_goal_shown);

static const struct schema goal_counts = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("active", INT, NULL),
	    SCHEMA_IS("paused", INT, NULL),
	    SCHEMA_END,
	},
};

static const struct schema assignment_counts = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("queued", INT, NULL),
	    SCHEMA_IS("dispatched", INT, NULL),
	    SCHEMA_IS("active", INT, NULL),
	    SCHEMA_IS("stalled", INT, NULL),
	    SCHEMA_IS("blocked", INT, NULL),
	    SCHEMA_END,
	},
};

static const struct schema status = {
	SCHEMA_FIELDS{
	    { .name = "state",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "off", "open", "safe", NULL },
		.help =
		    "safe: the records of goals cannot be used, and nothing is "
		    "planned" },
	    SCHEMA_OR_NULL(
		"reason", STRING, "why it is not open, and what to type"),
	    SCHEMA_IS("enabled", BOOL, "the setting plan.enabled"),
	    SCHEMA_IS("goals", OBJECT, NULL, .of = &goal_counts),
	    SCHEMA_IS("summary", OBJECT, "of all open goals together",
		.of = &plan_summary_schema),
	    SCHEMA_IS("assignments", OBJECT, NULL, .of = &assignment_counts),
	    SCHEMA_IS("stalled", ROWS,
		"assignments that are stalled or blocked; the "
		"first 100",
		.of = &plan_work_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_status_result = RESULT(status);

static const struct schema decision = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("kind", STRING, NULL, .choices = reconcile_kind_words),
	    SCHEMA_IS("code", STRING, "why, in one word"),
	    SCHEMA_IS("reason", STRING, "why, in a sentence"),
	    SCHEMA_IS("goal", STRING, NULL),
	    SCHEMA_IS("node", STRING, NULL),
	    SCHEMA_IS("assignment", STRING, NULL),
	    SCHEMA_OR_NULL("worker", STRING, NULL),
	    SCHEMA_OR_NULL("dispatch", STRING, "id of what is sent"),
	    SCHEMA_OR_NULL("text", STRING, "what is sent"),
	    SCHEMA_END,
	},
};

static const struct schema ticked = {
	SCHEMA_FIELDS{
	    SCHEMA_OR_NULL("gate", STRING, "why nothing was decided"),
	    SCHEMA_IS("decisions", ROWS, NULL, .of = &decision),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_tick_result = RESULT(ticked);
