/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "counters.h"
#include "event-table.h"
#include "metrics-text.h"
#include "task.h"
#include "view-private.h"

static const char *const modes[METRICS_MODES] = { "auto", "team", "hand" };

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

static void
add_failed(struct json_object *counters, struct buf *out)
{
	const char *name = "llmc_task_attempts_failed_total";
	struct json_object *failed = part(counters, "attempts_failed");

	begin(out, name, "counter", "Attempts at tasks that failed.");
	for (size_t i = 0; counters_reasons[i] != NULL; i++) {
		open_one(out, name, "reason", counters_reasons[i]);
		add_int(out, count_of(failed, counters_reasons[i]));
	}
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

static void
add_durations(struct json_object *counters, struct buf *out)
{
	struct json_object *tasks = part(counters, "tasks");

	begin(out, "llmc_task_duration_seconds", "histogram",
	    "Time from the creation of a task to its end.");
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		add_durations_of(part(tasks, task_outcome_words[i]),
		    task_outcome_words[i], out);
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

static void
add_spent(struct json_object *counters, struct buf *out)
{
	static const char *const types[] = { "input", "output", "cacheRead",
		"cacheCreation", NULL };
	static const char *const sources[] = { "estimate", "reported", NULL };
	static const struct kinds tokens = { "llmc_tokens_total", "type", types,
		false };
	static const struct kinds cost = { "llmc_cost_usd_total", "source",
		sources, true };
	struct json_object *models = part(counters, "tokens");

	begin(out, tokens.name, "counter", "Tokens that were used.");
	if (models != NULL)
		add_models(models, &tokens, out);
	models = part(counters, "cost");
	begin(out, cost.name, "counter",
	    "Cost in US dollars, once it is final: reported by the agent at "
	    "the end of a conversation, or estimated from prices.");
	if (models != NULL)
		add_models(models, &cost, out);
}

/* With this, the total is what all days have cost. */
static void
add_open(const struct metrics *m, struct buf *out)
{
	const char *name = "llmc_cost_open_usd";

	begin(out, name, "gauge",
	    "Estimated cost in US dollars of conversations whose cost is not "
	    "final.");
	buf_addf(out, "%s ", name);
	add_parts(out, m->cost_open > 0 ? m->cost_open : 0, 1000000, 6);
}

static void
add_uses(const struct metrics *m, struct buf *out)
{
	const char *name = "llmc_worker_status_seconds_total";
	struct json_object *work = part(m->counters, "work_ms");

	begin(out, name, "counter",
	    "Time of all workers, by what it was used for.");
	for (int i = 0; i < WORK_USE_COUNT; i++) {
		open_one(out, name, "status", work_use_words[i]);
		add_ms(out, count_of(work, work_use_words[i]) + m->uses[i]);
	}
}

/* Several kinds may have one name. */
static bool
is_first(int kind)
{
	for (int i = 0; i < kind; i++)
		if (event_table[i].name != NULL &&
		    strcmp(event_table[i].name, event_table[kind].name) == 0)
			return false;
	return true;
}

static void
add_events(struct json_object *counters, struct buf *out)
{
	const char *name = "llmc_events_total";
	struct json_object *events = part(counters, "events");

	begin(out, name, "counter", "Events, as llmc events shows them.");
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *type = event_table[i].name;

		if (type == NULL || !is_first(i))
			continue;
		open_one(out, name, "type", type);
		add_int(out, count_of(events, type));
	}
}

/* --- what is now ----------------------------------------------------- */

static void
add_tasks(const struct metrics *m, struct buf *out)
{
	begin(out, "llmc_tasks", "gauge", "Tasks that have not ended.");
	for (int i = 0; i < TASK_STEP_COUNT; i++) {
		open_one(out, "llmc_tasks", "step", task_step_words[i]);
		add_int(out, m->tasks[i]);
	}
}

static void
add_ratio(struct buf *out, const char *kind, int64_t used, int64_t limit)
{
	if (limit <= 0)
		return;
	open_one(out, "llmc_budget_used_ratio", "kind", kind);
	buf_addf(out, "%.6f\n", (double)used / (double)limit);
}

/* --- the daemon ------------------------------------------------------ */

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

void
metrics_text(const struct metrics *m, struct buf *out)
{
	struct json_object *counters;
	const char *name;
	struct json_object *tasks;
	const char *reset;

	begin(out, "llmc_build_info", "gauge", "The version of llmc.");
	open_one(out, "llmc_build_info", "version", m->version);
	buf_adds(out, "1\n");
	begin(out, "llmc_workers", "gauge",
	    "Workers by how they are driven and by their status.");
	for (int mode = 0; mode < METRICS_MODES; mode++)
		for (int s = 0; s < WORKER_STATUS_COUNT; s++) {
			open_two(out, "llmc_workers", "mode", modes[mode],
			    "status", worker_status_words[s]);
			add_int(out, m->workers[mode][s]);
		}
	add_tasks(m, out);
	counters = m->counters;
	name = "llmc_tasks_finished_total";
	tasks = part(counters, "tasks");
	begin(out, name, "counter", "Tasks that ended.");
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
		const char *word = task_outcome_words[i];

		open_one(out, name, "outcome", word);
		add_int(out, count_of(part(tasks, word), "count"));
	}
	add_failed(m->counters, out);
	add_durations(m->counters, out);
	add_spent(m->counters, out);
	add_open(m, out);
	add_uses(m, out);
	add_events(m->counters, out);
	reset = "llmc_limit_reset_timestamp_seconds";
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
