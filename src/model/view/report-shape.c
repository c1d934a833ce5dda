/* SPDX-License-Identifier: ISC */

#include "report-shape.h"
#include "report-verdict.h"
#include "view-needs.h"

#define INT(member, words)                                           \
	{                                                            \
		.name = (member), .type = SHAPE_INT, .help = (words) \
	}
#define NULLABLE(member, kind, words)                                      \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SHAPE_NULLABLE, \
		.help = (words)                                            \
	}
#define BOOL(member, words)                                           \
	{                                                             \
		.name = (member), .type = SHAPE_BOOL, .help = (words) \
	}
#define OBJECT(member, shape)                                          \
	{                                                              \
		.name = (member), .type = SHAPE_OBJECT, .of = &(shape) \
	}
#define LIST(member, shape, words)                                     \
	{                                                              \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape), \
		.help = (words)                                        \
	}
#define END                  \
	{                    \
		.name = NULL \
	}
#define FIELDS (const struct schema_field[])

static const struct schema period = {
	.fields =
	    FIELDS{
		NULLABLE("run", SHAPE_STRING, "null: of no run (--since)"),
		NULLABLE("first_run", SHAPE_STRING,
		    "the first of the runs that it went on from"),
		INT("from_ms", NULL),
		INT("to_ms", NULL),
		BOOL("goes_on", "the period ends now, and is not over"),
		END,
	    },
};

static const struct schema verdict = {
	.fields =
	    FIELDS{
		{ .name = "level",
		    .type = SHAPE_STRING,
		    .choices = report_levels },
		{ .name = "words",
		    .type = SHAPE_STRING,
		    .help = "how it went, in one sentence" },
		END,
	    },
};

static const struct schema counts = {
	.fields =
	    FIELDS{
		INT("landed", NULL),
		INT("no_changes", NULL),
		INT("failed", NULL),
		INT("aborted", NULL),
		INT("dead_letter", NULL),
		INT("open", "begun and not ended"),
		END,
	    },
};

static const struct schema task = {
	.fields =
	    FIELDS{
		{ .name = "id", .type = SHAPE_STRING },
		NULLABLE("title", SHAPE_STRING, NULL),
		NULLABLE("outcome", SHAPE_STRING, "null: it has not ended"),
		NULLABLE("step", SHAPE_STRING, NULL),
		NULLABLE("commit", SHAPE_STRING, "that it landed as"),
		NULLABLE("worker", SHAPE_STRING, "that had it last"),
		NULLABLE("run_id", SHAPE_STRING, NULL),
		INT("attempts", NULL),
		INT("turns", NULL),
		NULLABLE("finished_unix", SHAPE_INT, NULL),
		NULLABLE("wall_ms", SHAPE_INT, "from its creation to its end"),
		NULLABLE("cost_micros", SHAPE_INT,
		    "millionths of a dollar; null: not known"),
		NULLABLE("cost_source", SHAPE_STRING,
		    "unknown, estimate or reported"),
		NULLABLE("lines_added", SHAPE_INT, "null: not known"),
		NULLABLE("lines_removed", SHAPE_INT, NULL),
		NULLABLE("reason", SHAPE_STRING, "why it failed"),
		NULLABLE("last_words", SHAPE_STRING, "of its agent"),
		INT("worked_ms", "what was worked on it in this period"),
		{ .name = "finished_ms",
		    .type = SHAPE_INT,
		    .flags = SHAPE_OPTIONAL },
		END,
	    },
};
static const struct schema day = {
	.fields =
	    FIELDS{
		INT("day", "since 1970, UTC"),
		NULLABLE("cost_micros", SHAPE_INT, NULL),
		{ .name = "cost_source", .type = SHAPE_STRING },
		INT("tasks_micros", "what of it tasks cost"),
		INT("hand_micros", "and workers of a person"),
		INT("planner_micros", NULL),
		INT("repairs_micros", NULL),
		END,
	    },
};
static const struct schema money = {
	.fields =
	    FIELDS{
		INT("total_micros",
		    "of all rows that follow; millionths of a dollar"),
		INT("landed_micros", "of those in landed"),
		INT("not_landed_micros", "of those in not_landed"),
		INT("open_micros", "of those in open, so far"),
		INT("hand_micros",
		    "of workers of a person, on the days of the report"),
		INT("planner_micros", "of the planner, on those days"),
		INT("repairs_micros", "of repairs of llmc, on those days"),
		INT("elsewhere_micros",
		    "what was spent on those days beside the total: on tasks "
		    "that are not in the report; less than zero: tasks of the "
		    "report cost something on other days"),
		INT("estimated_micros", "what of the total is an estimate"),
		NULLABLE("per_landed_micros", SHAPE_INT,
		    "the total for each task that landed"),
		INT("unknown", "tasks whose cost is not known"),
		LIST("days", day, "what all workers spent, by day"),
		END,
	    },
};

static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SHAPE_INT,
	    .help = "milliseconds" },
};
static const struct schema titles = {
	.fields = &(const struct schema_field){ .type = SHAPE_STRING },
};
static const struct schema worker = {
	.fields =
	    FIELDS{
		{ .name = "worker", .type = SHAPE_STRING },
		INT("worker_ms", "the sum of its rows"),
		{ .name = "rows", .type = SHAPE_MAP, .of = &uses },
		END,
	    },
};
static const struct schema time_shape = {
	.fields =
	    FIELDS{
		INT("workers", "that existed"),
		INT("worker_ms", "their time: the sum of the rows"),
		INT("wall_ms", "of the period"),
		{ .name = "rows",
		    .type = SHAPE_MAP,
		    .of = &uses,
		    .help = "what that time was used for" },
		{ .name = "titles",
		    .type = SHAPE_MAP,
		    .of = &titles,
		    .help = "what these are called" },
		LIST("by_worker", worker, NULL),
		END,
	    },
};

static const struct schema bars = {
	.fields = &(const struct schema_field){ .type = SHAPE_INT },
};
static const struct schema series = {
	.fields =
	    FIELDS{
		INT("step_ms", "length of one element"),
		LIST("landed", bars, "tasks, from the beginning of the period"),
		LIST("not_landed", bars, NULL),
		END,
	    },
};

static const struct schema check = {
	.fields =
	    FIELDS{
		{ .name = "command", .type = SHAPE_STRING },
		INT("trees", "that it has judged"),
		INT("flaky_trees",
		    "of them, those that both failed and passed"),
		BOOL("flaky_alarm", "that is too many"),
		END,
	    },
};

static const struct schema landing = {
	.fields =
	    FIELDS{
		INT("queue", "what waits to land now"),
		BOOL("red", "the branch itself fails its check"),
		{ .name = "checks",
		    .type = SHAPE_MAP,
		    .of = &bars,
		    .help = "checks of the period by their result" },
		{ .name = "check",
		    .type = SHAPE_OBJECT,
		    .flags = SHAPE_NULLABLE,
		    .of = &check,
		    .help = "null: no check command is set" },
		END,
	    },
};

static const struct schema repair = {
	.fields =
	    FIELDS{
		INT("at_ms", NULL),
		{ .name = "kind", .type = SHAPE_STRING },
		NULLABLE("class", SHAPE_STRING, NULL),
		NULLABLE("words", SHAPE_STRING, NULL),
		NULLABLE("outcome", SHAPE_STRING, "of a repair"),
		INT("took_ms", NULL),
		NULLABLE("cost_micros", SHAPE_INT, "of a repair"),
		END,
	    },
};
static const struct schema intervention = {
	.fields =
	    FIELDS{
		INT("at_ms", NULL),
		{ .name = "type", .type = SHAPE_STRING },
		NULLABLE("worker", SHAPE_STRING, NULL),
		NULLABLE("task", SHAPE_STRING, NULL),
		NULLABLE("result", SHAPE_STRING, NULL),
		NULLABLE("class", SHAPE_STRING, "what was found"),
		NULLABLE("action", SHAPE_STRING, "what was done; log: nothing"),
		NULLABLE("words", SHAPE_STRING, NULL),
		END,
	    },
};
static const struct schema oversight_counts = {
	.fields =
	    FIELDS{
		INT("detections", NULL),
		INT("interventions", "those with an action"),
		END,
	    },
};
static const struct schema left_off = {
	.fields =
	    FIELDS{
		INT("landed", NULL),
		INT("not_landed", NULL),
		INT("open", NULL),
		INT("repairs", NULL),
		INT("oversight", NULL),
		END,
	    },
};

static const struct schema report = {
	.fields =
	    FIELDS{
		NULLABLE("project", SHAPE_STRING, NULL),
		NULLABLE("root", SHAPE_STRING, NULL),
		NULLABLE("branch", SHAPE_STRING, NULL),
		NULLABLE("made_unix", SHAPE_INT, NULL),
		OBJECT("period", period),
		OBJECT("verdict", verdict),
		LIST("needs", view_need_schema, "what needs a person now"),
		OBJECT("counts", counts),
		LIST("landed", task, "with those that needed no change"),
		LIST("not_landed", task, NULL),
		LIST("open", task, NULL),
		OBJECT("money", money),
		OBJECT("time", time_shape),
		OBJECT("series", series),
		OBJECT("landing", landing),
		LIST("repairs", repair, "failures of llmc, and repairs"),
		LIST("oversight", intervention, NULL),
		OBJECT("oversight_counts", oversight_counts),
		{ .name = "notes",
		    .type = SCHEMA_LIST,
		    .help = "what is estimated or not known" },
		OBJECT("left_off", left_off),
		END,
	    },
};

const struct schema_field report_shape = { .type = SHAPE_OBJECT,
	.of = &report };
