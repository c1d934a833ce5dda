/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "charts.h"
#include "report.h"
#include "view-private.h"
#include "view.h"

/* --- money ----------------------------------------------------------- */

#define DAY_MS (24 * 3600 * (int64_t)1000)

struct sums {
	int64_t cost, estimated, unknown, landed;
};

/* A task that was not begun has cost nothing. */
static struct sums
sum(struct json_object *list)
{
	struct sums sums = { 0 };

	JSON_EACH (row, list) {
		int64_t cost = json_int_or(row, "cost_micros", -1);

		sums.landed += view_is(row, "outcome", "landed");
		if (cost < 0) {
			sums.unknown += json_int_or(row, "attempts", 0) > 0;
			continue;
		}
		sums.cost += cost;
		if (view_is(
			row, "cost_source", cost_source_words[COST_ESTIMATE]))
			sums.estimated += cost;
	}
	return sums;
}

/* What was spent on the days of the period; parts: all of it, and what was not
 * spent on tasks. */
struct parts {
	int64_t all, hand, planner, repairs;
};

static struct json_object *
days_of(struct json_object *budget, int64_t from_ms, int64_t to_ms,
    struct parts *parts)
{
	static const char *const members[] = { "day", "cost_micros",
		"cost_source", "tasks_micros", "hand_micros", "planner_micros",
		"repairs_micros", NULL };
	struct json_object *days = NULL, *list = json_object_new_array();

	json_get_array(budget, "", "days", &days, NULL);
	JSON_EACH (row, days) {
		struct json_object *picked;
		int64_t day = json_int_or(row, "day", -1);

		if (day < from_ms / DAY_MS || day > to_ms / DAY_MS)
			continue;
		parts->hand += json_int_or(row, "hand_micros", 0);
		parts->planner += json_int_or(row, "planner_micros", 0);
		parts->repairs += json_int_or(row, "repairs_micros", 0);
		parts->all += json_int_or(row, "hand_micros", 0) +
		    json_int_or(row, "planner_micros", 0) +
		    json_int_or(row, "repairs_micros", 0) +
		    json_int_or(row, "tasks_micros", 0);
		picked = json_object_new_object();
		view_pick(picked, row, members);
		json_object_array_add(list, picked);
	}
	return list;
}

struct money {
	int64_t total, landed, not_landed, open, hand, planner, repairs;
	int64_t elsewhere, estimated, per_landed, unknown;
	struct json_object *days;
};

#define MONEY(key, member, words, ...) \
	SCHEMA_FIELD(struct money, key, member, .help = (words), ##__VA_ARGS__)

static const struct schema day =
    SCHEMA_SHAPE(SCHEMA_IS("day", INT, "since 1970, UTC"),
	SCHEMA_OR_NULL("cost_micros", INT, NULL),
	SCHEMA_IS("cost_source", STRING, NULL),
	SCHEMA_IS("tasks_micros", INT, "what of it tasks cost"),
	SCHEMA_IS("hand_micros", INT, "and workers of a person"),
	SCHEMA_IS("planner_micros", INT, NULL),
	SCHEMA_IS("repairs_micros", INT, NULL));
static const struct schema days_schema = {
	.fields =
	    &(const struct schema_field){ .type = SCHEMA_OBJECT, .of = &day },
};

static const struct schema_field money_fields[] = {
	MONEY("total_micros", total,
	    "of all rows that follow; millionths of a dollar"),
	MONEY("landed_micros", landed, "of those in landed"),
	MONEY("not_landed_micros", not_landed, "of those in not_landed"),
	MONEY("open_micros", open, "of those in open, so far"),
	MONEY("hand_micros", hand,
	    "of workers of a person, on the days of the report"),
	MONEY("planner_micros", planner, "of the planner, on those days"),
	MONEY("repairs_micros", repairs, "of repairs of llmc, on those days"),
	MONEY("elsewhere_micros", elsewhere,
	    "what was spent on those days beside the total: on tasks that are "
	    "not in the report; less than zero: tasks of the report cost "
	    "something on other days",
	    .min = INT64_MIN),
	MONEY(
	    "estimated_micros", estimated, "what of the total is an estimate"),
	MONEY("per_landed_micros", per_landed,
	    "the total for each task that landed", .flags = SCHEMA_UNKNOWN),
	MONEY("unknown", unknown, "tasks whose cost is not known"),
	SCHEMA_AS(struct money, "days", ARRAY, days, .of = &days_schema,
	    .flags = SCHEMA_REQUIRED, .help = "what all workers spent, by day"),
};

static const struct schema report_money_schema =
    SCHEMA_OF(struct money, money_fields);

struct json_object *
report_money(struct json_object *landed, struct json_object *not_landed,
    struct json_object *open, struct json_object *budget, int64_t from_ms,
    int64_t to_ms)
{
	struct sums a = sum(landed), b = sum(not_landed), c = sum(open);
	struct parts parts = { 0 };
	cleanup_json struct json_object *days =
	    days_of(budget, from_ms, to_ms, &parts);
	struct money money = {
		.total = a.cost + b.cost + c.cost + parts.hand + parts.planner +
		    parts.repairs,
		.landed = a.cost,
		.not_landed = b.cost,
		.open = c.cost,
		.hand = parts.hand,
		.planner = parts.planner,
		.repairs = parts.repairs,
		.estimated = a.estimated + b.estimated + c.estimated,
		.per_landed = -1,
		.unknown = a.unknown + b.unknown + c.unknown,
		.days = days,
	};

	if (json_object_array_length(days) > 0)
		money.elsewhere = parts.all - money.total;
	if (a.landed > 0)
		money.per_landed = money.total / a.landed;
	return schema_json(&report_money_schema, &money);
}

/* --- the verdict ------------------------------------------------------ */

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
	    json_bool_or(view_of(j->report, "period"), "goes_on", false);

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
	struct json_object *time = view_of(report, "time");
	struct judging j = {
		.report = report,
		.counts = view_of(report, "counts"),
		.money = view_of(report, "money"),
		.rows = view_of(time, "rows"),
		.worker_ms = json_int_or(time, "worker_ms", 0),
		.words = BUF_INIT,
	};
	size_t needs = json_object_array_length(view_of(report, "needs"));
	int64_t total;
	int64_t ended;
	int64_t unknown;

	j.landed = json_int_or(j.counts, "landed", 0);
	j.done = j.landed + json_int_or(j.counts, "no_changes", 0);
	j.not_landed = json_int_or(j.counts, "failed", 0) +
	    json_int_or(j.counts, "aborted", 0) +
	    json_int_or(j.counts, "dead_letter", 0);
	j.open = json_int_or(j.counts, "open", 0);
	judge_tasks(&j);
	total = json_int_or(j.money, "total_micros", 0);
	ended = json_int_or(j.money, "landed_micros", 0) +
	    json_int_or(j.money, "not_landed_micros", 0);
	unknown = json_int_or(j.money, "unknown", 0);
	if (ended > 0) {
		buf_adds(&j.words, ", for ");
		budget_add_cost(&j.words, ended);
	}
	if (total > ended) {
		buf_adds(&j.words, "; all that was spent is ");
		budget_add_cost(&j.words, total);
	}
	if (json_int_or(j.money, "estimated_micros", 0) > 0)
		buf_adds(&j.words, " (estimated)");
	if (unknown > 0)
		buf_addf(&j.words,
		    "; the cost of %" PRId64 " task%s is not known", unknown,
		    plural(unknown));
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

static const struct schema verdict =
    SCHEMA_SHAPE(SCHEMA_IS("level", STRING, NULL, .choices = report_levels),
	SCHEMA_IS("words", STRING, "how it went, in one sentence"));

static const struct schema task = SCHEMA_SHAPE(SCHEMA_IS("id", STRING, NULL),
    SCHEMA_OR_NULL("title", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "null: it has not ended"),
    SCHEMA_OR_NULL("step", STRING, NULL),
    SCHEMA_OR_NULL("commit", STRING, "that it landed as"),
    SCHEMA_OR_NULL("worker", STRING, "that had it last"),
    SCHEMA_OR_NULL("run_id", STRING, NULL), SCHEMA_IS("attempts", INT, NULL),
    SCHEMA_IS("turns", INT, NULL), SCHEMA_OR_NULL("finished_unix", INT, NULL),
    SCHEMA_OR_NULL("wall_ms", INT, "from its creation to its end"),
    SCHEMA_OR_NULL(
	"cost_micros", INT, "millionths of a dollar; null: not known"),
    SCHEMA_OR_NULL("cost_source", STRING, "unknown, estimate or reported"),
    SCHEMA_OR_NULL("lines_added", INT, "null: not known"),
    SCHEMA_OR_NULL("lines_removed", INT, NULL),
    SCHEMA_OR_NULL("weakens", STRING, "what it does to tests"),
    SCHEMA_OR_NULL("reason", STRING, "why it failed"),
    SCHEMA_OR_NULL("last_words", STRING, "of its agent"),
    SCHEMA_IS("worked_ms", INT, "what was worked on it in this period"),
    SCHEMA_MAY("finished_ms", INT, NULL));

static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT,
	    .help = "milliseconds" },
};

static const struct schema worker =
    SCHEMA_SHAPE(SCHEMA_IS("worker", STRING, NULL),
	SCHEMA_IS("worker_ms", INT, "the sum of its rows"),
	SCHEMA_IS("rows", MAP, NULL, .of = &uses));

static const struct schema time_shape =
    SCHEMA_SHAPE(SCHEMA_IS("workers", INT, "that existed"),
	SCHEMA_IS("worker_ms", INT, "their time: the sum of the rows"),
	SCHEMA_IS("wall_ms", INT, "of the period"),
	SCHEMA_IS("rows", MAP, "what that time was used for", .of = &uses),
	SCHEMA_IS("titles", MAP, "what these are called",
	    .of = SCHEMA_VALUES(STRING)),
	SCHEMA_IS("by_worker", ROWS, NULL, .of = &worker));

static const struct schema check = SCHEMA_SHAPE(
    SCHEMA_IS("command", STRING, NULL),
    SCHEMA_IS("trees", INT, "that it has judged"),
    SCHEMA_IS("flaky_trees", INT, "of them, those that both failed and passed"),
    SCHEMA_IS("flaky_alarm", BOOL, "that is too many"));

static const struct schema landing =
    SCHEMA_SHAPE(SCHEMA_IS("queue", INT, "what waits to land now"),
	SCHEMA_IS("red", BOOL, "the branch itself fails its check"),
	SCHEMA_IS("checks", MAP, "checks of the period by their result",
	    .of = SCHEMA_VALUES(INT)),
	SCHEMA_OR_NULL(
	    "check", OBJECT, "null: no check command is set", .of = &check));

static const struct schema repair = SCHEMA_SHAPE(SCHEMA_IS("at_ms", INT, NULL),
    SCHEMA_IS("kind", STRING, NULL), SCHEMA_OR_NULL("class", STRING, NULL),
    SCHEMA_OR_NULL("words", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "of a repair"),
    SCHEMA_IS("took_ms", INT, NULL),
    SCHEMA_OR_NULL("cost_micros", INT, "of a repair"));

static const struct schema intervention =
    SCHEMA_SHAPE(SCHEMA_IS("at_ms", INT, NULL), SCHEMA_IS("type", STRING, NULL),
	SCHEMA_OR_NULL("worker", STRING, NULL),
	SCHEMA_OR_NULL("task", STRING, NULL),
	SCHEMA_OR_NULL("result", STRING, NULL),
	SCHEMA_OR_NULL("class", STRING, "what was found"),
	SCHEMA_OR_NULL("action", STRING, "what was done; log: nothing"),
	SCHEMA_OR_NULL("words", STRING, NULL));

static const struct schema oversight_counts =
    SCHEMA_SHAPE(SCHEMA_IS("detections", INT, NULL),
	SCHEMA_IS("interventions", INT, "those with an action"));

static const struct schema left_off =
    SCHEMA_SHAPE(SCHEMA_IS("landed", INT, NULL),
	SCHEMA_IS("not_landed", INT, NULL), SCHEMA_IS("open", INT, NULL),
	SCHEMA_IS("repairs", INT, NULL), SCHEMA_IS("oversight", INT, NULL));

static const struct schema shape_report = SCHEMA_SHAPE(
    SCHEMA_OR_NULL("project", STRING, NULL),
    SCHEMA_OR_NULL("root", STRING, NULL),
    SCHEMA_OR_NULL("branch", STRING, NULL),
    SCHEMA_OR_NULL("made_unix", INT, NULL),
    SCHEMA_IS("period", OBJECT, NULL, .of = &report_period_schema),
    SCHEMA_IS("verdict", OBJECT, NULL, .of = &verdict),
    SCHEMA_MAY(
	"hosts", ROWS, "of a fleet, lost ones first", .of = &view_host_schema),
    SCHEMA_IS(
	"needs", ROWS, "what needs a person now", .of = &view_need_schema),
    SCHEMA_IS("counts", OBJECT, NULL, .of = &report_counts_schema),
    SCHEMA_IS("landed", ROWS, "with those that needed no change", .of = &task),
    SCHEMA_IS("not_landed", ROWS, NULL, .of = &task),
    SCHEMA_IS("open", ROWS, NULL, .of = &task),
    SCHEMA_IS("money", OBJECT, NULL, .of = &report_money_schema),
    SCHEMA_IS("time", OBJECT, NULL, .of = &time_shape),
    SCHEMA_IS("landing", OBJECT, NULL, .of = &landing),
    SCHEMA_IS("repairs", ROWS, "failures of llmc, and repairs", .of = &repair),
    SCHEMA_IS("oversight", ROWS, NULL, .of = &intervention),
    SCHEMA_IS("oversight_counts", OBJECT, NULL, .of = &oversight_counts),
    SCHEMA_IS("notes", LIST, "what is estimated or not known"),
    SCHEMA_IS("left_off", OBJECT, NULL, .of = &left_off),
    SCHEMA_MAY(
	"charts", OBJECT, "with --charts or --html", .of = &charts_schema));

const struct schema_field report_shape = { .type = SCHEMA_OBJECT,
	.of = &shape_report };
