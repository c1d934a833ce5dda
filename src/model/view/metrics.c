/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "event-table.h"
#include "metrics.h"
#include "schema.h"
#include "task.h"
#include "view-private.h"
#include "worker.h"

const char *const work_use_words[WORK_USE_COUNT + 1] = { "working", "landing",
	"conflict", "waiting", "limited", "outage", "paused", "person", "error",
	"offline", "idle_queue", "idle", NULL };

/* One row for each status. */
static const enum work_use uses[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = WORK_IDLE,
	[WORKER_STARTING] = WORK_WORKING,
	[WORKER_WORKING] = WORK_WORKING,
	[WORKER_NEEDS_REVIEW] = WORK_PERSON,
	[WORKER_REVIEWING] = WORK_WORKING,
	[WORKER_REJECTED] = WORK_WORKING,
	[WORKER_REBASING] = WORK_CONFLICT,
	[WORKER_NO_CHANGES] = WORK_PERSON,
	[WORKER_ACCEPTING] = WORK_LANDING,
	[WORKER_PAUSED] = WORK_PAUSED,
	[WORKER_LIMITED] = WORK_LIMITED,
	[WORKER_ERROR] = WORK_ERROR,
	[WORKER_OFFLINE] = WORK_OFFLINE,
	[WORKER_WAITING] = WORK_WAITING,
};

void
work_span_release(struct work_span *span)
{
	free(span->worker);
	free(span->task);
	memset(span, 0, sizeof *span);
}

enum work_use
work_use_of(const char *status, bool hand, bool queue, bool outage)
{
	enum worker_status known = WORKER_OFFLINE;

	if (strcmp(status, WORKER_WAITS_FOR_YOU) == 0)
		return WORK_PERSON;
	worker_status_parse(status, &known);
	if (known == WORKER_IDLE && queue && !hand)
		return WORK_IDLE_QUEUE;
	if (known == WORKER_LIMITED && outage)
		return WORK_OUTAGE;
	/* Without a person, finished work lands by itself. */
	if (uses[known] == WORK_PERSON && !hand)
		return WORK_LANDING;
	return uses[known];
}

const int64_t counters_bounds[COUNTERS_BUCKETS] = { 60, 300, 600, 1800, 3600,
	7200, 14400, 28800, 86400 };

const char *const counters_reasons[] = { "check", "conflict", "contract",
	"stall", "timeout", "uncommitted", "question", "refused", "no_commit",
	"session", "other", NULL };

/* Words of a reason, and what it is counted as. Those that come first in it
 * count: what an agent or a program said follows ours. */
static const struct {
	const char *words;
	const char *as;
} reasons[] = {
	{ "check of your work", "check" },
	{ "check_command", "check" },
	{ "failed its check", "check" },
	{ "conflict", "conflict" },
	{ "rebase", "conflict" },
	{ "contract", "contract" },
	{ "verif", "contract" },
	{ "sign of life", "stall" },
	{ "stall", "stall" },
	{ "took too long", "timeout" },
	{ "timed out", "timeout" },
	{ "timeout", "timeout" },
	{ "not committed", "uncommitted" },
	{ "uncommitted", "uncommitted" },
	{ "question", "question" },
	{ "refused", "refused" },
	{ "no commit", "no_commit" },
	{ "session", "session" },
};

const char *
counters_reason(const char *reason)
{
	const char *as = "other", *first = NULL;

	for (size_t i = 0; reason != NULL && i < nitems(reasons); i++) {
		const char *at = strstr(reason, reasons[i].words);

		if (at != NULL && (first == NULL || at < first)) {
			first = at;
			as = reasons[i].as;
		}
	}
	return as;
}

/* --- numbers --------------------------------------------------------- */

/* The object of that name, made if there is none. */
static struct json_object *
made_part(struct json_object *json, const char *name)
{
	struct json_object *object = json_member(json, name);

	if (!json_object_is_type(object, json_type_object)) {
		object = json_object_new_object();
		json_set(json, name, object);
	}
	return object;
}

static struct json_object *
family(struct json_object **counters, const char *name)
{
	if (*counters == NULL)
		*counters = json_object_new_object();
	return made_part(*counters, name);
}

static void
add(struct json_object *object, const char *key, int64_t more)
{
	int64_t old = json_int_or(object, key, 0);

	if (more > 0)
		json_set_int(object, key,
		    old > INT64_MAX - more ? INT64_MAX : old + more);
}

/* --- what is counted ------------------------------------------------- */

void
counters_event(struct json_object **counters, const char *type)
{
	add(family(counters, "events"), type, 1);
}

void
counters_attempt_failed(struct json_object **counters, const char *reason)
{
	add(family(counters, "attempts_failed"), counters_reason(reason), 1);
}

void
counters_task(
    struct json_object **counters, const char *outcome, int64_t duration_ms)
{
	struct json_object *of = made_part(family(counters, "tasks"), outcome);
	struct json_object *run = NULL;
	cleanup_free char *bucket = NULL;
	size_t i = 0;

	while (i < COUNTERS_BUCKETS && duration_ms > counters_bounds[i] * 1000)
		i++;
	bucket = xasprintf("le%zu", i);
	add(of, bucket, 1);
	add(of, "count", 1);
	add(of, "sum_ms", duration_ms);
	if (json_object_object_get_ex(*counters, "run", &run))
		add(run, outcome, 1);
}

void
counters_run_begins(struct json_object **counters)
{
	family(counters, "run");
	json_set(*counters, "run", json_object_new_object());
}

void
counters_work(struct json_object **counters, const char *use, int64_t ms)
{
	add(family(counters, "work_ms"), use, ms);
}

/* As the API calls them. */
static const char *const token_types[USAGE_KINDS] = {
	[USAGE_INPUT] = "input",
	[USAGE_OUTPUT] = "output",
	[USAGE_CACHE_READ] = "cacheRead",
	[USAGE_CACHE_WRITE_5M] = "cacheCreation",
	[USAGE_CACHE_WRITE_1H] = "cacheCreation",
};

/* A model of a family: past the first ones, all others are one. */
static struct json_object *
model_part(struct json_object *models, const char *name)
{
	if (json_object_object_length(models) >= COUNTERS_MODELS - 1 &&
	    !json_object_object_get_ex(models, name, NULL))
		name = USAGE_OTHERS;
	return made_part(models, name);
}

void
counters_tokens(struct json_object **counters, const struct usage *usage)
{
	for (size_t m = 0; m < usage->count; m++) {
		const struct usage_model *used = &usage->models[m];
		struct json_object *tokens =
		    model_part(family(counters, "tokens"), used->name);

		for (int k = 0; k < USAGE_KINDS; k++)
			add(tokens, token_types[k], used->tokens[k]);
	}
}

/* What a model has cost by the prices, or nearly nothing if it has none. */
static double
weight_of(const struct usage_model *used, const struct price_list *prices)
{
	const struct usage alone = { .models = { *used }, .count = 1 };
	struct price_sum sum = price_of(prices, &alone);

	return (double)sum.cost + (double)sum.unpriced * 1e-9;
}

void
counters_cost(struct json_object **counters, const struct usage *usage,
    const struct price_list *prices, enum cost_source source, int64_t cost)
{
	const char *word = cost_source_words[source];
	struct json_object *models;
	double all = 0;
	int64_t left = cost;

	if (cost <= 0)
		return;
	models = family(counters, "cost");
	for (size_t m = 0; m < usage->count; m++)
		all += weight_of(&usage->models[m], prices);
	for (size_t m = 0; m < usage->count && all > 0; m++) {
		const struct usage_model *used = &usage->models[m];
		double part = (double)cost * weight_of(used, prices) / all;
		/* The last one has what rounding leaves. */
		int64_t take = m + 1 < usage->count && part < (double)left ?
		    (int64_t)(part + 0.5) :
		    left;

		if (take > left)
			take = left;
		if (take > 0)
			add(model_part(models, used->name), word, take);
		left -= take;
	}
	if (left > 0)
		add(model_part(models, USAGE_OTHERS), word, left);
}

const char *const metrics_modes[METRICS_MODES] = { "auto", "team", "hand" };

enum metrics_mode
metrics_mode_of(const char *worker)
{
	return worker_is_team(worker) ? METRICS_TEAM :
	    worker_is_auto(worker)    ? METRICS_AUTO :
					METRICS_HAND;
}

/* --- lines ----------------------------------------------------------- */

static void
begin(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
add_label(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "%s=\"", name);
	/* The value of a label. Control characters have no meaning in one. */
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '\\' || *c == '"')
			buf_addf(out, "\\%c", *c);
		else
			buf_addc(out,
			    (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c);
	}
	buf_addc(out, '"');
}

/* A series with one label. */
static void
open_one(
    struct buf *out, const char *name, const char *label, const char *value)
{
	buf_addf(out, "%s{", name);
	add_label(out, label, value);
	buf_adds(out, "} ");
}

/* ... and with two. */
static void
open_two(struct buf *out, const char *name, const char *label,
    const char *value, const char *label2, const char *value2)
{
	buf_addf(out, "%s{", name);
	add_label(out, label, value);
	buf_addc(out, ',');
	add_label(out, label2, value2);
	buf_adds(out, "} ");
}

static void
add_int(struct buf *out, int64_t number)
{
	buf_addf(out, "%" PRId64 "\n", number);
}

/* A number of thousandths or millionths, exactly. */
static void
add_parts(struct buf *out, int64_t number, int64_t unit, int digits)
{
	buf_addf(out, "%" PRId64 ".%0*" PRId64 "\n", number / unit, digits,
	    number % unit);
}

static void
add_ms(struct buf *out, int64_t ms)
{
	add_parts(out, ms, 1000, 3);
}

/* --- what was counted ------------------------------------------------ */

/* A part of the counters; NULL = nothing was counted there. */
static struct json_object *
part(struct json_object *json, const char *name)
{
	struct json_object *object = NULL;

	return json_object_is_type(json, json_type_object) &&
		json_object_object_get_ex(json, name, &object) &&
		json_object_is_type(object, json_type_object) ?
	    object :
	    NULL;
}

#define COUNT_MAX (INT64_C(1) << 52) /* a double holds it exactly */

/* Within bounds: the file may say anything. */
static int64_t
count_of(struct json_object *object, const char *key)
{
	int64_t count = object != NULL ? json_int_or(object, key, 0) : 0;

	if (count < 0)
		return 0;
	return count > COUNT_MAX ? COUNT_MAX : count;
}

/* The buckets of one outcome. The last one and the count are their sum, also
 * where the record says something else. */
static void
add_durations_of(struct json_object *of, const char *outcome, struct buf *out)
{
	const char *name = "llmc_task_duration_seconds";
	int64_t sum = 0;

	for (size_t i = 0; i <= COUNTERS_BUCKETS; i++) {
		cleanup_free char *key = xasprintf("le%zu", i);
		cleanup_free char *bound = i < COUNTERS_BUCKETS ?
		    xasprintf("%" PRId64, counters_bounds[i]) :
		    xstrdup("+Inf");

		sum += count_of(of, key);
		open_two(out, "llmc_task_duration_seconds_bucket", "outcome",
		    outcome, "le", bound);
		add_int(out, sum);
	}
	buf_addf(out, "%s_sum{outcome=\"%s\"} ", name, outcome);
	add_ms(out, count_of(of, "sum_ms"));
	buf_addf(out, "%s_count{outcome=\"%s\"} ", name, outcome);
	add_int(out, sum);
}

/* What is counted for each model: two labels. */
struct kinds {
	const char *name, *label;
	const char *const *values; /* NULL terminated */
	bool money; /* in millionths */
};

static void
add_models(
    struct json_object *models, const struct kinds *kinds, struct buf *out)
{
	json_object_object_foreach(models, model, of)
	{
		(void)of;
		for (size_t i = 0; kinds->values[i] != NULL; i++) {
			int64_t count =
			    count_of(part(models, model), kinds->values[i]);

			open_two(out, kinds->name, "model", model, kinds->label,
			    kinds->values[i]);
			if (kinds->money)
				add_parts(out, count, 1000000, 6);
			else
				add_int(out, count);
		}
	}
}

/* Several kinds may have one name. */
static bool
is_first(int kind)
{
	for (int i = 0; i < kind; i++)
		if (text_is(event_table[i].name, event_table[kind].name))
			return false;
	return true;
}

static void
add_counted(const struct metrics *m, struct buf *out)
{
	const char *finished = "llmc_tasks_finished_total";
	const char *failed = "llmc_task_attempts_failed_total";
	const char *used = "llmc_worker_status_seconds_total";
	struct json_object *tasks = part(m->counters, "tasks");
	struct json_object *of = part(m->counters, "attempts_failed");
	static const char *const types[] = { "input", "output", "cacheRead",
		"cacheCreation", NULL };
	static const char *const sources[] = { "estimate", "reported", NULL };
	static const struct kinds tokens = { "llmc_tokens_total", "type", types,
		false };
	static const struct kinds cost = { "llmc_cost_usd_total", "source",
		sources, true };
	struct json_object *models;
	struct json_object *counters;

	begin(out, finished, "counter", "Tasks that ended.");
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
		const char *word = task_outcome_words[i];

		open_one(out, finished, "outcome", word);
		add_int(out, count_of(part(tasks, word), "count"));
	}
	begin(out, failed, "counter", "Attempts at tasks that failed.");
	for (size_t i = 0; counters_reasons[i] != NULL; i++) {
		open_one(out, failed, "reason", counters_reasons[i]);
		add_int(out, count_of(of, counters_reasons[i]));
	}
	begin(out, "llmc_task_duration_seconds", "histogram",
	    "Time from the creation of a task to its end.");
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		add_durations_of(part(tasks, task_outcome_words[i]),
		    task_outcome_words[i], out);
	counters = m->counters;
	models = part(counters, "tokens");
	begin(out, tokens.name, "counter", "Tokens that were used.");
	if (models != NULL)
		add_models(models, &tokens, out);
	models = part(counters, "cost");
	begin(out, cost.name, "counter",
	    "Cost in US dollars, once it is final: reported by the agent at "
	    "the end of a conversation, or estimated from prices.");
	if (models != NULL)
		add_models(models, &cost, out);
	/* With this, the total is what all days have cost. */
	begin(out, "llmc_cost_open_usd", "gauge",
	    "Estimated cost in US dollars of conversations whose cost is not "
	    "final.");
	buf_adds(out, "llmc_cost_open_usd ");
	add_parts(out, m->cost_open > 0 ? m->cost_open : 0, 1000000, 6);
	begin(out, used, "counter",
	    "Time of all workers, by what it was used for.");
	of = part(m->counters, "work_ms");
	for (int i = 0; i < WORK_USE_COUNT; i++) {
		open_one(out, used, "status", work_use_words[i]);
		add_ms(out, count_of(of, work_use_words[i]) + m->uses[i]);
	}
	begin(out, "llmc_events_total", "counter",
	    "Events, as llmc log shows them.");
	of = part(m->counters, "events");
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *type = event_table[i].name;

		if (type == NULL || !is_first(i))
			continue;
		open_one(out, "llmc_events_total", "type", type);
		add_int(out, count_of(of, type));
	}
}

/* --- what is now ----------------------------------------------------- */

static void
add_ratio(struct buf *out, const char *kind, int64_t used, int64_t limit)
{
	if (limit <= 0)
		return;
	open_one(out, "llmc_budget_used_ratio", "kind", kind);
	buf_addf(out, "%.6f\n", (double)used / (double)limit);
}

static void
add_process(const struct metrics_process *p, struct buf *out)
{
	const struct {
		const char *name, *help;
		int64_t value;
	} rows[] = {
		{ "process_resident_memory_bytes", "Resident memory.",
		    p->resident },
		{ "process_virtual_memory_bytes", "Virtual memory.",
		    p->virtual },
		{ "process_open_fds", "Open file descriptors.", p->open_fds },
		{ "process_max_fds", "How many it may have open.", p->max_fds },
	};

	begin(out, "process_cpu_seconds_total", "counter",
	    "User and system CPU time.");
	buf_addf(out, "process_cpu_seconds_total %.3f\n", p->cpu_s);
	begin(out, "process_start_time_seconds", "gauge",
	    "When the process started, since 1970.");
	buf_addf(out, "process_start_time_seconds %.3f\n", p->start_s);
	for (size_t i = 0; i < nitems(rows); i++) {
		begin(out, rows[i].name, "gauge", rows[i].help);
		buf_addf(out, "%s ", rows[i].name);
		add_int(out, rows[i].value);
	}
}

/* Give each series one more label. */
static void
add_host(const char *host, const char *text, struct buf *out)
{
	while (*text != '\0') {
		size_t name = strcspn(text, "{ \n"), line = strcspn(text, "\n");
		bool comment = *text == '#';

		line += text[line] == '\n';
		if (!comment) {
			buf_add(out, text, name);
			buf_addc(out, '{');
			add_label(out, "host", host);
			buf_addc(out, text[name] == '{' ? ',' : '}');
			name += text[name] == '{';
		}
		buf_add(out, text + (comment ? 0 : name),
		    line - (comment ? 0 : name));
		text += line;
	}
}

static void
add_all(const struct metrics *m, struct buf *out)
{
	const char *reset = "llmc_limit_reset_timestamp_seconds";

	begin(out, "llmc_build_info", "gauge", "The version of llmc.");
	open_one(out, "llmc_build_info", "version", m->version);
	buf_adds(out, "1\n");
	begin(out, "llmc_workers", "gauge",
	    "Workers by how they are driven and by their status.");
	for (int mode = 0; mode < METRICS_MODES; mode++)
		for (int s = 0; s < WORKER_STATUS_COUNT; s++) {
			open_two(out, "llmc_workers", "mode",
			    metrics_modes[mode], "status",
			    worker_status_words[s]);
			add_int(out, m->workers[mode][s]);
		}
	begin(out, "llmc_tasks", "gauge", "Tasks that have not ended.");
	for (int i = 0; i < TASK_STEP_COUNT; i++) {
		open_one(out, "llmc_tasks", "step", task_step_words[i]);
		add_int(out, m->tasks[i]);
	}
	add_counted(m, out);
	begin(out, "llmc_budget_used_ratio", "gauge",
	    "What today has used of the budget that is set for a day.");
	add_ratio(out, "day_cost", m->day_cost, m->day_cost_limit);
	add_ratio(out, "day_tokens", m->day_tokens, m->day_tokens_limit);
	begin(out, reset, "gauge",
	    "When the last worker that waits for a limit tries again; absent "
	    "if none waits.");
	if (m->limit_until_ms > 0) {
		buf_addf(out, "%s ", reset);
		add_ms(out, m->limit_until_ms);
	}
	begin(out, "llmc_heartbeat_timestamp_seconds", "gauge",
	    "The last heartbeat of the daemon; absent if it was stopped.");
	if (m->beat_s > 0) {
		buf_adds(out, "llmc_heartbeat_timestamp_seconds ");
		add_int(out, m->beat_s);
	}
	begin(out, "llmc_loop_lag_seconds", "gauge",
	    "How late the loop of the daemon ran at most since its last "
	    "heartbeat.");
	if (m->live) {
		buf_adds(out, "llmc_loop_lag_seconds ");
		add_ms(out, m->lag_ms > 0 ? m->lag_ms : 0);
	}
	if (m->live)
		add_process(&m->process, out);
}

void
metrics_text(const struct metrics *m, struct buf *out)
{
	cleanup_buf struct buf plain = BUF_INIT;

	add_all(m, m->host != NULL ? &plain : out);
	if (m->host != NULL)
		add_host(m->host, plain.data, out);
}
