/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "budget.h"
#include "buf.h"
#include "json.h"
#include "report-make.h"
#include "report-money.h"
#include "report-shape.h"
#include "text.h"
#include "view-needs.h"

enum level {
	GOOD,
	MIXED,
	BAD,
	NOTHING
};

/* "good": all that ended has landed; "mixed"; "bad": nothing landed, or llmc
 * itself has failed; "nothing": nothing ended, and nothing is wrong. */
static const char *const report_levels[] = { "good", "mixed", "bad", "nothing",
	NULL };

struct judging {
	struct json_object *report, *counts, *money, *rows;
	int64_t landed, done, not_landed, open, worker_ms;
	enum level level;
	struct buf words;
};

static struct json_object *
part(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

static const char *
plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* What ended, and how. */
static void
judge_tasks(struct judging *j)
{
	int64_t all = j->done + j->not_landed;
	bool goes_on =
	    json_bool_or(part(j->report, "period"), "goes_on", false);

	if (all == 0 && j->open > 0) {
		j->level = NOTHING;
		buf_addf(&j->words,
		    goes_on ? "No task has ended yet; %" PRId64 " in progress" :
			      "No task ended; %" PRId64 " begun and not ended",
		    j->open);
	} else if (all == 0) {
		j->level = NOTHING;
		buf_adds(&j->words, "Nothing was worked on");
	} else if (j->done == 0) {
		j->level = BAD;
		buf_addf(&j->words,
		    all == 1 ?
			"Nothing landed: the one task that ended did not "
			"succeed" :
			"Nothing landed: none of the %" PRId64
			" tasks that ended succeeded",
		    all);
	} else if (j->not_landed > 0) {
		j->level = MIXED;
		buf_addf(&j->words,
		    "%" PRId64 " of %" PRId64 " tasks that ended succeeded",
		    j->done, all);
	} else {
		j->level = GOOD;
		buf_addf(&j->words,
		    all == 1 ? "The one task that ended succeeded" :
			       "All %" PRId64 " tasks that ended succeeded",
		    all);
	}
	if (j->done > j->landed)
		buf_addf(&j->words, " (%" PRId64 " without a change)",
		    j->done - j->landed);
}

static void
add_money(struct judging *j)
{
	int64_t total = json_int_or(j->money, "total_micros", 0);
	int64_t ended = json_int_or(j->money, "landed_micros", 0) +
	    json_int_or(j->money, "not_landed_micros", 0);
	int64_t unknown = json_int_or(j->money, "unknown", 0);

	if (ended > 0) {
		buf_adds(&j->words, ", for ");
		budget_add_cost(&j->words, ended);
	}
	if (total > ended) {
		buf_adds(&j->words, "; all that was spent is ");
		budget_add_cost(&j->words, total);
	}
	if (json_int_or(j->money, "estimated_micros", 0) > 0)
		buf_adds(&j->words, " (estimated)");
	if (unknown > 0)
		buf_addf(&j->words,
		    "; the cost of %" PRId64 " task%s is not known", unknown,
		    plural(unknown));
}

/* Time of workers that was lost, if it was a large part of it. */
static void
add_lost(struct judging *j, const char *row, int64_t percent, const char *words)
{
	int64_t ms = json_int_or(j->rows, row, 0);

	if (ms <= 0 || j->worker_ms <= 0 || ms / percent < j->worker_ms / 100)
		return;
	buf_addf(&j->words, "; %s %" PRId64 " %% of the workers' time", words,
	    ms / ((j->worker_ms + 99) / 100));
	if (j->level == GOOD)
		j->level = MIXED;
}

void
report_verdict(struct json_object *report, const char *failure)
{
	struct json_object *json = json_object_new_object();
	struct json_object *time = part(report, "time");
	struct judging j = {
		.report = report,
		.counts = part(report, "counts"),
		.money = part(report, "money"),
		.rows = part(time, "rows"),
		.worker_ms = json_int_or(time, "worker_ms", 0),
		.words = BUF_INIT,
	};
	size_t needs = json_object_array_length(part(report, "needs"));

	j.landed = json_int_or(j.counts, "landed", 0);
	j.done = j.landed + json_int_or(j.counts, "no_changes", 0);
	j.not_landed = json_int_or(j.counts, "failed", 0) +
	    json_int_or(j.counts, "aborted", 0) +
	    json_int_or(j.counts, "dead_letter", 0);
	j.open = json_int_or(j.counts, "open", 0);
	judge_tasks(&j);
	add_money(&j);
	add_lost(&j, "daemon_down", 10, "the daemon was down for");
	add_lost(&j, "limited", 25, "usage limits took");
	add_lost(&j, "outage", 10, "the service was away for");
	add_lost(&j, "working_failed", 50, "failed attempts took");
	add_lost(&j, "paused", 25, "workers were paused for");
	add_lost(&j, "error", 25, "workers were in error for");
	add_lost(
	    &j, "idle_queue", 25, "tasks waited while workers were idle for");
	if (failure != NULL) {
		j.level = BAD;
		buf_adds(&j.words, "; llmc itself failed: ");
		text_add_visible(&j.words, failure,
		    text_cut(failure, strlen(failure), 200), false);
	}
	if (needs > 0)
		buf_addf(&j.words, "; %zu thing%s need%s you", needs,
		    plural((int64_t)needs), needs == 1 ? "s" : "");
	buf_addc(&j.words, '.');
	json_set_string(json, "level", report_levels[j.level]);
	json_set_string(json, "words", j.words.data);
	buf_release(&j.words);
	json_set(report, "verdict", json);
}

#define INT(member, words)                                            \
	{                                                             \
		.name = (member), .type = SCHEMA_INT, .help = (words) \
	}

#define NULLABLE(member, kind, words)                                       \
	{                                                                   \
		.name = (member), .type = (kind), .flags = SCHEMA_NULLABLE, \
		.help = (words)                                             \
	}

#define BOOL(member, words)                                            \
	{                                                              \
		.name = (member), .type = SCHEMA_BOOL, .help = (words) \
	}

#define OBJECT(member, shape)                                           \
	{                                                               \
		.name = (member), .type = SCHEMA_OBJECT, .of = &(shape) \
	}

#define LIST(member, shape, words)                                     \
	{                                                              \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape), \
		.help = (words)                                        \
	}

static const struct schema verdict = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("level", STRING, NULL, .choices = report_levels),
	    SCHEMA_IS("words", STRING, "how it went, in one sentence"),
	    SCHEMA_END,
	},
};

static const struct schema task = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, NULL),
	    NULLABLE("title", SCHEMA_STRING, NULL),
	    NULLABLE("outcome", SCHEMA_STRING, "null: it has not ended"),
	    NULLABLE("step", SCHEMA_STRING, NULL),
	    NULLABLE("commit", SCHEMA_STRING, "that it landed as"),
	    NULLABLE("worker", SCHEMA_STRING, "that had it last"),
	    NULLABLE("run_id", SCHEMA_STRING, NULL),
	    INT("attempts", NULL),
	    INT("turns", NULL),
	    NULLABLE("finished_unix", SCHEMA_INT, NULL),
	    NULLABLE("wall_ms", SCHEMA_INT, "from its creation to its end"),
	    NULLABLE("cost_micros", SCHEMA_INT,
		"millionths of a dollar; null: not known"),
	    NULLABLE(
		"cost_source", SCHEMA_STRING, "unknown, estimate or reported"),
	    NULLABLE("lines_added", SCHEMA_INT, "null: not known"),
	    NULLABLE("lines_removed", SCHEMA_INT, NULL),
	    NULLABLE("reason", SCHEMA_STRING, "why it failed"),
	    NULLABLE("last_words", SCHEMA_STRING, "of its agent"),
	    INT("worked_ms", "what was worked on it in this period"),
	    SCHEMA_MAY("finished_ms", INT, NULL),
	    SCHEMA_END,
	},
};

static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT,
	    .help = "milliseconds" },
};

static const struct schema titles = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};

static const struct schema worker = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("worker", STRING, NULL),
	    INT("worker_ms", "the sum of its rows"),
	    SCHEMA_IS("rows", MAP, NULL, .of = &uses),
	    SCHEMA_END,
	},
};

static const struct schema time_shape = {
	SCHEMA_FIELDS{
	    INT("workers", "that existed"),
	    INT("worker_ms", "their time: the sum of the rows"),
	    INT("wall_ms", "of the period"),
	    SCHEMA_IS("rows", MAP, "what that time was used for", .of = &uses),
	    SCHEMA_IS("titles", MAP, "what these are called", .of = &titles),
	    LIST("by_worker", worker, NULL),
	    SCHEMA_END,
	},
};

static const struct schema bars = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT },
};

static const struct schema series = {
	SCHEMA_FIELDS{
	    INT("step_ms", "length of one element"),
	    SCHEMA_IS("landed", ARRAY,
		"tasks, from the beginning of the period", .of = &bars),
	    SCHEMA_IS("not_landed", ARRAY, NULL, .of = &bars),
	    SCHEMA_END,
	},
};

static const struct schema check = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("command", STRING, NULL),
	    INT("trees", "that it has judged"),
	    INT("flaky_trees", "of them, those that both failed and passed"),
	    BOOL("flaky_alarm", "that is too many"),
	    SCHEMA_END,
	},
};

static const struct schema landing = {
	SCHEMA_FIELDS{
	    INT("queue", "what waits to land now"),
	    BOOL("red", "the branch itself fails its check"),
	    SCHEMA_IS("checks", MAP, "checks of the period by their result",
		.of = &bars),
	    SCHEMA_OR_NULL(
		"check", OBJECT, "null: no check command is set", .of = &check),
	    SCHEMA_END,
	},
};

static const struct schema repair = {
	SCHEMA_FIELDS{
	    INT("at_ms", NULL),
	    SCHEMA_IS("kind", STRING, NULL),
	    NULLABLE("class", SCHEMA_STRING, NULL),
	    NULLABLE("words", SCHEMA_STRING, NULL),
	    NULLABLE("outcome", SCHEMA_STRING, "of a repair"),
	    INT("took_ms", NULL),
	    NULLABLE("cost_micros", SCHEMA_INT, "of a repair"),
	    SCHEMA_END,
	},
};

static const struct schema intervention = {
	SCHEMA_FIELDS{
	    INT("at_ms", NULL),
	    SCHEMA_IS("type", STRING, NULL),
	    NULLABLE("worker", SCHEMA_STRING, NULL),
	    NULLABLE("task", SCHEMA_STRING, NULL),
	    NULLABLE("result", SCHEMA_STRING, NULL),
	    NULLABLE("class", SCHEMA_STRING, "what was found"),
	    NULLABLE("action", SCHEMA_STRING, "what was done; log: nothing"),
	    NULLABLE("words", SCHEMA_STRING, NULL),
	    SCHEMA_END,
	},
};

static const struct schema oversight_counts = {
	SCHEMA_FIELDS{
	    INT("detections", NULL),
	    INT("interventions", "those with an action"),
	    SCHEMA_END,
	},
};

static const struct schema left_off = {
	SCHEMA_FIELDS{
	    INT("landed", NULL),
	    INT("not_landed", NULL),
	    INT("open", NULL),
	    INT("repairs", NULL),
	    INT("oversight", NULL),
	    SCHEMA_END,
	},
};

static const struct schema shape_report = {
	SCHEMA_FIELDS{
	    NULLABLE("project", SCHEMA_STRING, NULL),
	    NULLABLE("root", SCHEMA_STRING, NULL),
	    NULLABLE("branch", SCHEMA_STRING, NULL),
	    NULLABLE("made_unix", SCHEMA_INT, NULL),
	    OBJECT("period", report_period_schema),
	    OBJECT("verdict", verdict),
	    LIST("needs", view_need_schema, "what needs a person now"),
	    OBJECT("counts", report_counts_schema),
	    LIST("landed", task, "with those that needed no change"),
	    LIST("not_landed", task, NULL),
	    LIST("open", task, NULL),
	    OBJECT("money", report_money_schema),
	    OBJECT("time", time_shape),
	    OBJECT("series", series),
	    OBJECT("landing", landing),
	    LIST("repairs", repair, "failures of llmc, and repairs"),
	    LIST("oversight", intervention, NULL),
	    OBJECT("oversight_counts", oversight_counts),
	    SCHEMA_IS("notes", LIST, "what is estimated or not known"),
	    OBJECT("left_off", left_off),
	    SCHEMA_END,
	},
};

const struct schema_field report_shape = { .type = SCHEMA_OBJECT,
	.of = &shape_report };
