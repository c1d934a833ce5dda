/* SPDX-License-Identifier: ISC */

#include "api-shape.h"
#include "api-work.h"
#include "plan-assignment.h"
#include "plan-node.h"
#include "plan-status.h"
#include "plan-summary.h"
#include "priority.h"

#define GOAL                                                      \
	SCHEMA_MAY("goal", STRING,                                \
	    "id of its goal, or a part of it; needed if several " \
	    "goals have a node of that id")
#define NODE SCHEMA_IS("node", STRING, "its id, such as T1.2")
#define REASON(words)                                                          \
	{                                                                      \
		.name = "reason", .type = SCHEMA_STRING, .max = PLAN_TEXT_MAX, \
		.flags = SCHEMA_OPTIONAL, .help = (words)                      \
	}
#define PLACE                                                                 \
	{                                                                     \
		.name = "place", .type = SCHEMA_INT, .min = 1, .max = 100000, \
		.flags = SCHEMA_OPTIONAL,                                     \
		.help = "among its siblings, from 1; if absent, the last"     \
	}

/* --- parameters ------------------------------------------------------ */

const struct schema api_work_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    NODE,
	    SCHEMA_END,
	},
};

const struct schema api_work_list_params = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("goal", STRING, "only of this goal"),
	    SCHEMA_MAY("all", BOOL,
		"nodes that are done or cancelled, and those with "
		"children, too"),
	    SCHEMA_END,
	},
};

const struct schema api_work_update_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    NODE,
	    { .name = "status",
		.type = SCHEMA_STRING,
		.flags = SCHEMA_OPTIONAL,
		.choices = (const char *const[]){ "done", "blocked", "queued",
		    "cancelled", NULL },
		.help = "queued: it is not blocked any more" },
	    { .name = "priority",
		.type = SCHEMA_STRING,
		.flags = SCHEMA_OPTIONAL,
		.choices = (const char *const[]){ "urgent", "high", "normal",
		    "low", "inherited", NULL },
		.help = "inherited: that of the node above it" },
	    SCHEMA_MAY("evidence", OBJECT, "what shows that it is done",
		.of = &plan_evidence_schema),
	    REASON("why; done without evidence, and blocked, need it"),
	    SCHEMA_END,
	},
};

const struct schema api_work_add_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    SCHEMA_MAY("parent", STRING,
		"node that it goes below; if absent, it is a phase of "
		"the goal"),
	    SCHEMA_IS("name", STRING, "in a few words", .min = 1,
		.max = PLAN_NAME_MAX),
	    SCHEMA_MAY("id", STRING, "if absent, the next free one"),
	    SCHEMA_MAY("objective", STRING, "what it is for"),
	    API_PLAN_LIST("acceptance", "what can be verified when it is done"),
	    API_PLAN_LIST(
		"depends_on", "ids of nodes that must be done before"),
	    SCHEMA_MAY("priority", STRING, "if absent, that of its parent",
		.choices = priority_words),
	    PLACE,
	    REASON("why it is added"),
	    SCHEMA_END,
	},
};

const struct schema api_work_split_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    NODE,
	    SCHEMA_IS("names", LIST, "one for each part", .min = 1,
		.max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX),
	    REASON("why it is split"),
	    SCHEMA_END,
	},
};

const struct schema api_work_merge_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    SCHEMA_IS("nodes", LIST, "ids; all become part of the first",
		.min = 2, .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX),
	    SCHEMA_MAY("name", STRING, "if absent, that of the first"),
	    REASON("why they are merged"),
	    SCHEMA_END,
	},
};

const struct schema api_work_move_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    NODE,
	    SCHEMA_MAY("parent", STRING,
		"node that it goes below; if absent, the one it has"),
	    PLACE,
	    REASON("why it is moved"),
	    SCHEMA_END,
	},
};

const struct schema api_work_assign_params = {
	SCHEMA_FIELDS{
	    GOAL,
	    NODE,
	    SCHEMA_IS("worker", STRING,
		"the one that gets it; one that a person drives"),
	    SCHEMA_MAY("recovery", STRING,
		"what is done when it has stalled; if absent, as "
		"the plan says",
		.choices = recovery_policy_words),
	    REASON("why"),
	    SCHEMA_END,
	},
};

/* --- results --------------------------------------------------------- */

#define RESULT_GOAL SCHEMA_IS("goal", STRING, "id of its goal")
#define RESULT_NODE SCHEMA_IS("node", STRING, "its id")
#define RESULT_STATUS                                    \
	{                                                \
		.name = "status", .type = SCHEMA_STRING, \
		.choices = node_status_words             \
	}
const struct schema api_work_changed = {
	SCHEMA_FIELDS{
	    RESULT_GOAL,
	    RESULT_NODE,
	    RESULT_STATUS,
	    SCHEMA_IS("version", INT, "of the plan"),
	    SCHEMA_IS("text", STRING, "what was changed"),
	    SCHEMA_IS("changed", LIST,
		"ids of all nodes that were changed or added; the "
		"first 128",
		.size = PLAN_LINE_MAX),
	    SCHEMA_IS(
		"goal_status", STRING, NULL, .choices = goal_status_words),
	    SCHEMA_END,
	},
};

const struct schema_field api_work_result = RESULT(api_work_changed);

static const struct schema entry = {
	SCHEMA_FIELDS{
	    RESULT_GOAL,
	    RESULT_NODE,
	    SCHEMA_IS("kind", STRING, NULL, .choices = node_kind_words),
	    SCHEMA_IS("name", STRING, NULL),
	    RESULT_STATUS,
	    SCHEMA_IS("priority", STRING,
		"its own, or that of what is above it",
		.choices = priority_words),
	    SCHEMA_IS("ready", BOOL, "it can be worked on now"),
	    SCHEMA_OR_NULL("worker", STRING, "who works on it"),
	    SCHEMA_OR_NULL("task", STRING, "the task of auto mode"),
	    SCHEMA_IS("note", STRING,
		"what blocks it, who works on it, what it waits for"),
	    SCHEMA_END,
	},
};

const struct schema api_work_listed = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("nodes", ROWS, NULL, .of = &entry),
	    SCHEMA_END,
	},
};

const struct schema_field api_work_list_result = RESULT(api_work_listed);

const struct schema api_work_shown = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("record", OBJECT, NULL, .of = &plan_node_schema),
	    SCHEMA_IS("note", STRING,
		"what blocks it, who works on it, what it waits for"),
	    SCHEMA_IS("ready", BOOL, "it can be worked on now"),
	    SCHEMA_IS("summary", OBJECT, "of everything below it",
		.of = &plan_summary_schema),
	    SCHEMA_OR_NULL("assignment", OBJECT, "the open one",
		.of = &plan_assignment_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_work_show_result = RESULT(api_work_shown);
