/* SPDX-License-Identifier: ISC */

#include "api-shape.h"
#include "api-task.h"
#include "priority.h"

#define TASK                      \
	SCHEMA_IS("task", STRING, \
	    "its number such as t17, or its name at its source")

/* --- parameters ------------------------------------------------------ */

const struct schema api_task_add_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("text", STRING, "the task"),
	    SCHEMA_MAY("priority", STRING,
		"if absent, as the text says, else normal",
		.choices = priority_words),
	    SENDER,
	    SCHEMA_END,
	},
};

const struct schema api_task_params = {
	SCHEMA_FIELDS{
	    TASK,
	    SENDER,
	    SCHEMA_END,
	},
};

const struct schema api_task_abort_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("task", STRING,
		"its number such as t17, or the worker that has it"),
	    SCHEMA_MAY("reason", STRING, "for the record"),
	    SCHEMA_MAY("user", STRING, "who asks, for the record"),
	    SCHEMA_END,
	},
};

const struct schema api_task_priority_params = {
	SCHEMA_FIELDS{
	    TASK,
	    SCHEMA_IS("priority", STRING, "how soon it is wanted",
		.choices = priority_words),
	    SENDER,
	    SCHEMA_END,
	},
};

const struct schema api_task_edit_params = {
	SCHEMA_FIELDS{
	    TASK,
	    SCHEMA_IS("before", STRING,
		"the text that was edited; refused if it is another one "
		"now"),
	    SCHEMA_IS("text", STRING, "the new text"),
	    SENDER,
	    SCHEMA_END,
	},
};

/* --- results --------------------------------------------------------- */

static const struct schema added = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("task", STRING, "its name at its source"),
	    SCHEMA_IS("path", STRING, "path of its file"),
	    SCHEMA_END,
	},
};

const struct schema_field api_task_add_result = RESULT(added);

#define RESULT_TASK SCHEMA_IS("task", STRING, "its number or its name")

static const struct schema retried = {
	SCHEMA_FIELDS{
	    RESULT_TASK,
	    { .name = "status",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "waiting", "todo", NULL } },
	    SCHEMA_END,
	},
};

const struct schema_field api_task_retry_result = RESULT(retried);

static const struct schema dropped = {
	SCHEMA_FIELDS{
	    RESULT_TASK,
	    { .name = "status",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "aborted", "dropped", NULL },
		.help = "aborted: it was in progress or waited for a worker" },
	    SCHEMA_END,
	},
};

const struct schema_field api_task_drop_result = RESULT(dropped);

static const struct schema aborted = {
	SCHEMA_FIELDS{
	    RESULT_TASK,
	    { .name = "status",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "aborted", NULL } },
	    SCHEMA_END,
	},
};

const struct schema_field api_task_abort_result = RESULT(aborted);

static const struct schema prioritized = {
	SCHEMA_FIELDS{
	    RESULT_TASK,
	    SCHEMA_IS("priority", STRING, NULL, .choices = priority_words),
	    SCHEMA_END,
	},
};

const struct schema_field api_task_priority_result = RESULT(prioritized);

static const struct schema edited = {
	SCHEMA_FIELDS{
	    RESULT_TASK,
	    SCHEMA_END,
	},
};

const struct schema_field api_task_edit_result = RESULT(edited);
