/* SPDX-License-Identifier: ISC */

#include "api-shape.h"
#include "api-work.h"
#include "plan-assignment.h"
#include "plan-node.h"
#include "plan-status.h"
#include "plan-summary.h"
#include "priority.h"

#define GOAL                                                      \
	MAY("goal", SHAPE_STRING,                                 \
	    "id of its goal, or a part of it; needed if several " \
	    "goals have a node of that id")
#define NODE FIELD("node", SHAPE_STRING, "its id, such as T1.2")
#define REASON(words)                                                         \
	{                                                                     \
		.name = "reason", .type = SHAPE_STRING, .max = PLAN_TEXT_MAX, \
		.flags = SHAPE_OPTIONAL, .help = (words)                      \
	}
#define PLACE                                                                \
	{                                                                    \
		.name = "place", .type = SHAPE_INT, .min = 1, .max = 100000, \
		.flags = SHAPE_OPTIONAL,                                     \
		.help = "among its siblings, from 1; if absent, the last"    \
	}

/* --- parameters ------------------------------------------------------ */

const struct schema api_work_params = {
	.fields = FIELDS{ GOAL, NODE, END },
};

const struct schema api_work_list_params = {
	.fields =
	    FIELDS{
		MAY("goal", SHAPE_STRING, "only of this goal"),
		MAY("all", SHAPE_BOOL,
		    "nodes that are done or cancelled, and those with "
		    "children, too"),
		END,
	    },
};

const struct schema api_work_update_params = {
	.fields =
	    FIELDS{
		GOAL,
		NODE,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = (const char *const[]){ "done", "blocked",
			"queued", "cancelled", NULL },
		    .help = "queued: it is not blocked any more" },
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = (const char *const[]){ "urgent", "high",
			"normal", "low", "inherited", NULL },
		    .help = "inherited: that of the node above it" },
		{ .name = "evidence",
		    .type = SHAPE_OBJECT,
		    .of = &plan_evidence_schema,
		    .flags = SHAPE_OPTIONAL,
		    .help = "what shows that it is done" },
		REASON("why; done without evidence, and blocked, need it"),
		END,
	    },
};

const struct schema api_work_add_params = {
	.fields =
	    FIELDS{
		GOAL,
		MAY("parent", SHAPE_STRING,
		    "node that it goes below; if absent, it is a phase of "
		    "the goal"),
		{ .name = "name",
		    .type = SHAPE_STRING,
		    .min = 1,
		    .max = PLAN_NAME_MAX,
		    .help = "in a few words" },
		MAY("id", SHAPE_STRING, "if absent, the next free one"),
		MAY("objective", SHAPE_STRING, "what it is for"),
		API_PLAN_LIST(
		    "acceptance", "what can be verified when it is done"),
		API_PLAN_LIST(
		    "depends_on", "ids of nodes that must be done before"),
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = priority_words,
		    .help = "if absent, that of its parent" },
		PLACE,
		REASON("why it is added"),
		END,
	    },
};

const struct schema api_work_split_params = {
	.fields =
	    FIELDS{
		GOAL,
		NODE,
		{ .name = "names",
		    .type = SCHEMA_LIST,
		    .size = PLAN_LINE_MAX,
		    .min = 1,
		    .max = PLAN_LIST_MAX,
		    .help = "one for each part" },
		REASON("why it is split"),
		END,
	    },
};

const struct schema api_work_merge_params = {
	.fields =
	    FIELDS{
		GOAL,
		{ .name = "nodes",
		    .type = SCHEMA_LIST,
		    .size = PLAN_LINE_MAX,
		    .min = 2,
		    .max = PLAN_LIST_MAX,
		    .help = "ids; all become part of the first" },
		MAY("name", SHAPE_STRING, "if absent, that of the first"),
		REASON("why they are merged"),
		END,
	    },
};

const struct schema api_work_move_params = {
	.fields =
	    FIELDS{
		GOAL,
		NODE,
		MAY("parent", SHAPE_STRING,
		    "node that it goes below; if absent, the one it has"),
		PLACE,
		REASON("why it is moved"),
		END,
	    },
};

const struct schema api_work_assign_params = {
	.fields =
	    FIELDS{
		GOAL,
		NODE,
		FIELD("worker", SHAPE_STRING,
		    "the one that gets it; one that a person drives"),
		{ .name = "recovery",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = recovery_policy_words,
		    .help = "what is done when it has stalled; if absent, as "
			    "the plan says" },
		REASON("why"),
		END,
	    },
};

/* --- results --------------------------------------------------------- */

#define RESULT_GOAL FIELD("goal", SHAPE_STRING, "id of its goal")
#define RESULT_NODE FIELD("node", SHAPE_STRING, "its id")
#define RESULT_STATUS                                   \
	{                                               \
		.name = "status", .type = SHAPE_STRING, \
		.choices = node_status_words            \
	}
const struct schema api_work_changed = {
	.fields =
	    FIELDS{
		RESULT_GOAL,
		RESULT_NODE,
		RESULT_STATUS,
		FIELD("version", SHAPE_INT, "of the plan"),
		FIELD("text", SHAPE_STRING, "what was changed"),
		{ .name = "changed",
		    .type = SCHEMA_LIST,
		    .size = PLAN_LINE_MAX,
		    .help = "ids of all nodes that were changed or added; the "
			    "first 128" },
		{ .name = "goal_status",
		    .type = SHAPE_STRING,
		    .choices = goal_status_words },
		END,
	    },
};

const struct schema_field api_work_result = RESULT(api_work_changed);

static const struct schema entry = {
	.fields =
	    FIELDS{
		RESULT_GOAL,
		RESULT_NODE,
		{ .name = "kind",
		    .type = SHAPE_STRING,
		    .choices = node_kind_words },
		FIELD("name", SHAPE_STRING, NULL),
		RESULT_STATUS,
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .choices = priority_words,
		    .help = "its own, or that of what is above it" },
		FIELD("ready", SHAPE_BOOL, "it can be worked on now"),
		API_PLAN_NULL_OR("worker", "who works on it"),
		API_PLAN_NULL_OR("task", "the task of auto mode"),
		FIELD("note", SHAPE_STRING,
		    "what blocks it, who works on it, what it waits for"),
		END,
	    },
};

const struct schema api_work_listed = {
	.fields =
	    FIELDS{
		{ .name = "nodes", .type = SCHEMA_ROWS, .of = &entry },
		END,
	    },
};

const struct schema_field api_work_list_result = RESULT(api_work_listed);

const struct schema api_work_shown = {
	.fields =
	    FIELDS{
		{ .name = "record",
		    .type = SHAPE_OBJECT,
		    .of = &plan_node_schema },
		FIELD("note", SHAPE_STRING,
		    "what blocks it, who works on it, what it waits for"),
		FIELD("ready", SHAPE_BOOL, "it can be worked on now"),
		{ .name = "summary",
		    .type = SHAPE_OBJECT,
		    .of = &plan_summary_schema,
		    .help = "of everything below it" },
		{ .name = "assignment",
		    .type = SHAPE_OBJECT,
		    .of = &plan_assignment_schema,
		    .flags = SHAPE_NULLABLE,
		    .help = "the open one" },
		END,
	    },
};

const struct schema_field api_work_show_result = RESULT(api_work_shown);
