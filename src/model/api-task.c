/* SPDX-License-Identifier: ISC */

#include "api-shape.h"
#include "api-task.h"
#include "priority.h"

#define TASK                        \
	FIELD("task", SHAPE_STRING, \
	    "its number such as t17, or its name at its source")

/* --- parameters ------------------------------------------------------ */

const struct schema api_task_add_params = {
	.fields =
	    FIELDS{
		FIELD("text", SHAPE_STRING, "the task"),
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = priority_words,
		    .help = "if absent, as the text says, else normal" },
		SENDER,
		END,
	    },
};

const struct schema api_task_params = {
	.fields =
	    FIELDS{
		TASK,
		SENDER,
		END,
	    },
};

const struct schema api_task_abort_params = {
	.fields =
	    FIELDS{
		FIELD("task", SHAPE_STRING,
		    "its number such as t17, or the worker that has it"),
		MAY("reason", SHAPE_STRING, "for the record"),
		MAY("user", SHAPE_STRING, "who asks, for the record"),
		END,
	    },
};

const struct schema api_task_priority_params = {
	.fields =
	    FIELDS{
		TASK,
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .choices = priority_words,
		    .help = "how soon it is wanted" },
		SENDER,
		END,
	    },
};

const struct schema api_task_edit_params = {
	.fields =
	    FIELDS{
		TASK,
		FIELD("before", SHAPE_STRING,
		    "the text that was edited; refused if it is another one "
		    "now"),
		FIELD("text", SHAPE_STRING, "the new text"),
		SENDER,
		END,
	    },
};

/* --- results --------------------------------------------------------- */

static const struct schema added = {
	.fields =
	    FIELDS{
		FIELD("task", SHAPE_STRING, "its name at its source"),
		FIELD("path", SHAPE_STRING, "path of its file"),
		END,
	    },
};

const struct schema_field api_task_add_result = RESULT(added);

#define RESULT_TASK FIELD("task", SHAPE_STRING, "its number or its name")

static const struct schema retried = {
	.fields =
	    FIELDS{
		RESULT_TASK,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices =
			(const char *const[]){ "waiting", "todo", NULL } },
		END,
	    },
};

const struct schema_field api_task_retry_result = RESULT(retried);

static const struct schema dropped = {
	.fields =
	    FIELDS{
		RESULT_TASK,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices =
			(const char *const[]){ "aborted", "dropped", NULL },
		    .help =
			"aborted: it was in progress or waited for a worker" },
		END,
	    },
};

const struct schema_field api_task_drop_result = RESULT(dropped);

static const struct schema aborted = {
	.fields =
	    FIELDS{
		RESULT_TASK,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices = (const char *const[]){ "aborted", NULL } },
		END,
	    },
};

const struct schema_field api_task_abort_result = RESULT(aborted);

static const struct schema prioritized = {
	.fields =
	    FIELDS{
		RESULT_TASK,
		{ .name = "priority",
		    .type = SHAPE_STRING,
		    .choices = priority_words },
		END,
	    },
};

const struct schema_field api_task_priority_result = RESULT(prioritized);

static const struct schema edited = {
	.fields = FIELDS{ RESULT_TASK, END },
};

const struct schema_field api_task_edit_result = RESULT(edited);
