/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask-record.h"
#include "detection.h"
#include "event.h"
#include "moment.h"
#include "priority.h"
#include "schema.h"
#include "task-run.h"
#include "task.h"
#include "view-goal.h"
#include "view-private.h"
#include "view-row.h"
#include "worker.h"

/* --- members --------------------------------------------------------- */

void
view_row_text(
    struct json_object *row, const char *key, const char *text, size_t max)
{
	size_t len = text != NULL ? text_cut(text, strlen(text), max) : 0;

	json_set(row, key,
	    text != NULL ? json_object_new_string_len(text, (int)len) : NULL);
}

void
view_row_line(
    struct json_object *row, const char *key, const char *text, size_t max)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (text != NULL)
		text_add_line(&line, text, strlen(text));
	view_row_text(row, key, text != NULL ? line.data : NULL, max);
}

void
view_row_moment(struct json_object *row, const char *key, int64_t at_ms)
{
	json_set(
	    row, key, at_ms > 0 ? json_object_new_int64(at_ms / 1000) : NULL);
}

void
view_row_cost(struct json_object *row, const struct spent *spent)
{
	enum cost_source source = spent_source(spent);

	json_set(row, "cost_micros",
	    source == COST_UNKNOWN ? NULL : json_object_new_int64(spent->cost));
	json_set_string(row, "cost_source", cost_source_words[source]);
}

static void
set_spent(struct json_object *row, const struct task *task)
{
	const struct usage *usage;
	struct json_object *tokens;
	int64_t sums[USAGE_KINDS] = { 0 };

	view_row_cost(row, &task->spent);
	usage = &task->spent.usage;
	tokens = json_object_new_object();
	for (size_t m = 0; m < usage->count; m++)
		for (int k = 0; k < USAGE_KINDS; k++)
			sums[k] += usage->models[m].tokens[k];
	json_set_int(tokens, "input", sums[USAGE_INPUT]);
	json_set_int(tokens, "output", sums[USAGE_OUTPUT]);
	json_set_int(tokens, "cacheRead", sums[USAGE_CACHE_READ]);
	json_set_int(tokens, "cacheCreation",
	    sums[USAGE_CACHE_WRITE_5M] + sums[USAGE_CACHE_WRITE_1H]);
	json_set(row, "tokens", tokens);
}

/* Null while nobody knows. */
static void
set_lines(struct json_object *row, const struct task *task)
{
	json_set(row, "lines_added",
	    task->lines_known ? json_object_new_int64(task->lines_added) :
				NULL);
	json_set(row, "lines_removed",
	    task->lines_known ? json_object_new_int64(task->lines_removed) :
				NULL);
}

/* --- a worker -------------------------------------------------------- */

void
view_row_remark(const struct worker *w, struct buf *out)
{
	unsigned holds = worker_holds(w);

	if (w->asks_id != NULL)
		buf_addf(out, "asks: %s%s%s%s", w->asks,
		    w->asks_person ? "; answer with: llmc answer " :
				     " (another agent)",
		    w->asks_person ? w->asks_id : "",
		    w->asks_person ? " TEXT" : "");
	else if (w->reason != NULL)
		buf_adds(out, w->reason);
	else if (w->on_hold)
		buf_addf(out, "%s; continue with: llmc resume %s",
		    worker_in_turn(w->status) || w->status == WORKER_STARTING ?
			"pauses at the end of its turn" :
			"on hold",
		    w->name);
	else if (!worker_is_auto(w->name))
		worker_add_advice(w, out);
	else if (w->health != NULL && strcmp(w->health, "healthy") != 0)
		buf_addf(out,
		    "oversight says %s; look at it with: llmc iterations %s",
		    w->health, w->name);
	if ((holds & (holds - 1)) != 0) { /* more than one */
		buf_adds(out, " (paused for: ");
		worker_add_holds(holds, out);
		buf_addc(out, ')');
	}
}

static const char *
mode_of(const char *name)
{
	if (worker_is_team(name))
		return "team";
	return worker_is_auto(name) ? "auto" : "hand";
}

const char *
view_row_status(struct json_object *row)
{
	const char *status = json_string_or(row, "status", "-");
	struct json_object *asks = json_object_object_get(row, "asks");

	return json_bool_or(asks, "person", false) &&
		strcmp(status, worker_status_name(WORKER_WAITING)) == 0 ?
	    WORKER_WAITS_FOR_YOU :
	    status;
}

#define WORKER(key, member, ...) \
	SCHEMA_FIELD(struct worker, key, member, ##__VA_ARGS__)

static const struct schema_field worker_fields[] = {
	WORKER("name", name),
	WORKER("since_unix", since_ms, .flags = SCHEMA_UNIX),
	WORKER("branch", branch),
	WORKER("task", task),
	WORKER("reason", reason, .flags = SCHEMA_LINE, .max = VIEW_REASON_MAX),
	WORKER("on_hold", on_hold),
	WORKER("until_unix", until_ms, .flags = SCHEMA_UNIX),
	WORKER("session", session.id),
	WORKER("commit", commit),
	WORKER("reviewed", reviewed),
	WORKER("health", health),
	WORKER("conflicts", conflicts),
};
static const struct schema worker_schema =
    SCHEMA_OF(struct worker, worker_fields);

#define RUN(key, member) SCHEMA_FIELD(struct task_run, key, member)

static const struct schema_field run_fields[] = {
	RUN("parent", parent),
	RUN("role", role),
	RUN("depth", depth),
};
static const struct schema run_schema = SCHEMA_OF(struct task_run, run_fields);

struct json_object *
view_row_worker(const struct worker *w, const struct task *task)
{
	struct json_object *row = schema_json(&worker_schema, w);
	cleanup_buf struct buf remark = BUF_INIT;
	const char *title;
	struct json_object *asks = NULL;

	json_set_string(row, "mode", mode_of(w->name));
	json_set_string(row, "status", worker_shown_status(w));
	/* Of its task, or what it was told. */
	title = task != NULL ? task->title : NULL;
	view_row_line(
	    row, "title", title != NULL ? title : w->prompt, VIEW_TITLE_MAX);
	view_row_remark(w, &remark);
	view_row_line(row, "remark", remark.len > 0 ? remark.data : NULL,
	    VIEW_REASON_MAX);
	json_set(row, "paused_for", worker_holds_to_json(worker_holds(w)));
	/* What it waits for an answer to; null = nothing. */
	if (w->asks_id != NULL) {
		asks = json_object_new_object();
		json_set_string(asks, "id", w->asks_id);
		view_row_line(asks, "text", w->asks, VIEW_REASON_MAX);
		json_set_bool(asks, "person", w->asks_person);
	}
	json_set(row, "asks", asks);
	if (task == NULL)
		return row;
	json_set_int(row, "attempt", task->attempts);
	json_set_int(row, "turns", task->turns);
	set_spent(row, task);
	set_lines(row, task);
	if (task->run != NULL)
		schema_add(&run_schema, task->run, row);
	return row;
}

struct json_object *
view_row_oversight(
    const struct detection *d, const char *intervention, int64_t iteration)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "detection", detection_type_words[d->type]);
	json_set_string(row, "severity", severity_words[d->severity]);
	view_row_text(row, "message", d->message, VIEW_REASON_MAX);
	json_set_string(row, "intervention", intervention);
	json_set_int(row, "iteration", iteration);
	return row;
}

/* --- a task ---------------------------------------------------------- */

static bool
is_plain(struct json_object *value)
{
	return !json_object_is_type(value, json_type_object) &&
	    !json_object_is_type(value, json_type_array);
}

/* A report may be long: its plain members, with their texts cut. */
static struct json_object *
report_row(struct json_object *report)
{
	struct json_object *row = json_object_new_object();

	json_object_object_foreach(report, key, value)
	{
		if (json_object_is_type(value, json_type_string))
			view_row_text(row, key, json_object_get_string(value),
			    VIEW_WORDS_MAX);
		else if (is_plain(value))
			json_set(row, key, json_object_get(value));
	}
	return row;
}

static void
set_report(struct json_object *row, const char *key, struct json_object *report)
{
	json_set(row, key,
	    json_object_is_type(report, json_type_object) ? report_row(report) :
							    NULL);
}

#define TASK(key, member, ...) \
	SCHEMA_FIELD(struct task, key, member, ##__VA_ARGS__)
#define LINE(key, member, most) \
	TASK(key, member, .flags = SCHEMA_LINE, .max = (most))

static const struct schema_field task_fields[] = {
	TASK("id", id),
	LINE("title", title, VIEW_TITLE_MAX),
	TASK("source", source),
	LINE("key", key, VIEW_TITLE_MAX),
	TASK("label", label),
	TASK("priority", priority, .words = priority_words),
	TASK("step", step, .words = task_step_words),
	TASK("worker", worker),
	TASK("attempts", attempts),
	TASK("created_unix", created_ms, .flags = SCHEMA_UNIX),
	TASK("assigned_unix", assigned_ms, .flags = SCHEMA_UNIX),
	LINE("reason", reason, VIEW_REASON_MAX),
	TASK("run_id", run_id),
};
static const struct schema task_brief_schema =
    SCHEMA_OF(struct task, task_fields);

struct json_object *
view_row_task_brief(const struct task *task)
{
	struct json_object *row = schema_json(&task_brief_schema, task);

	json_set_int(row, "turns", task->turns_before + task->turns);
	set_spent(row, task);
	set_lines(row, task);
	if (task->run != NULL) {
		const struct task_run *run = task->run;

		schema_add(&run_schema, run, row);
		json_set_string(row, "label", run->label);
		json_set_string(row, "verification",
		    run->verification == VERIFICATION_NONE ?
			NULL :
			verification_state_words[run->verification]);
	}
	if (task->outcome != OUTCOME_NONE) {
		int64_t wall = task->finished_ms - task->created_ms;

		json_set_string(
		    row, "outcome", task_outcome_name(task->outcome));
		json_set_string(row, "commit",
		    task->commit != NULL ? task->commit : task->held_by);
		json_set_bool(row, "dropped", task->dropped);
		view_row_moment(row, "finished_unix", task->finished_ms);
		json_set_int(row, "wall_ms", wall > 0 ? wall : 0);
	}
	return row;
}

struct json_object *
view_row_task(const struct task *task)
{
	struct json_object *row = view_row_task_brief(task);
	struct json_object *list;
	size_t count;

	view_row_text(row, "last_words", task->last_words, VIEW_WORDS_MAX);
	list = json_object_new_array();
	count =
	    task->history != NULL ? json_object_array_length(task->history) : 0;
	for (size_t i = count > VIEW_HISTORY ? count - VIEW_HISTORY : 0;
	     i < count; i++) {
		struct json_object *from =
		    json_object_array_get_idx(task->history, i);
		struct json_object *entry = json_object_new_object();

		json_set_int(entry, "at_unix", json_int_or(from, "at_unix", 0));
		json_set_string(
		    entry, "what", json_string_or(from, "what", NULL));
		view_row_line(entry, "detail",
		    json_string_or(from, "detail", NULL), VIEW_TITLE_MAX);
		json_object_array_add(list, entry);
	}
	json_set(row, "history", list);
	if (task->run != NULL) {
		set_report(row, "completion", task->run->report);
		set_report(row, "progress", task->run->progress);
	}
	return row;
}

/* --- an event -------------------------------------------------------- */

struct json_object *
view_row_ask(const struct ask *ask)
{
	struct json_object *row = json_object_new_object();
	struct json_object *options = json_object_new_array();
	cleanup_buf struct buf command = BUF_INIT;

	ask_command(ask, &command);
	json_set_string(row, "id", ask->id);
	json_set_string(row, "kind", ask_kind_words[ask->kind]);
	json_set_string(row, "level", escalation_level_words[ask->level]);
	json_set_string(row, "key", ask->key);
	json_set_string(row, "who", ask_subject(ask));
	view_row_line(row, "title", ask->title, VIEW_TITLE_MAX);
	view_row_text(row, "words", ask->words, VIEW_WORDS_MAX);
	json_set_string(row, "command", command.data);
	json_set_string(row, "worker", ask->worker);
	json_set_string(row, "task", ask->task);
	json_set_string(row, "goal", ask->goal);
	json_set_string(row, "node", ask->node);
	json_set_string(row, "question", ask->question);
	for (char **option = ask->options; option != NULL && *option != NULL;
	     option++)
		json_object_array_add(options, json_object_new_string(*option));
	json_set(row, "options", options);
	view_row_moment(row, "at_unix", ask->created_ms);
	return row;
}

struct json_object *
view_row_event(struct json_object *record, int64_t n)
{
	struct json_object *row, *event = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0 ||
	    !moment_parse(json_string_or(record, "timestamp", ""), &at))
		return NULL;
	event_words_of(event, &words);
	row = json_object_new_object();
	json_set_int(row, "n", n);
	json_set_int(row, "at_ms", at);
	json_set_string(row, "level", json_string_or(record, "level", NULL));
	json_set_string(row, "type", json_string_or(event, "type", NULL));
	json_set_string(
	    row, "worker", json_string_or(event, "worker_name", NULL));
	json_set_string(row, "task", json_string_or(event, "task", NULL));
	view_row_line(row, "words", words.data, VIEW_REASON_MAX);
	return row;
}

/* --- has it changed? ------------------------------------------------- */

/* A text is cut between characters, so a few bytes more count. */
#define MARK_MAX (VIEW_WORDS_MAX + 4)

uint64_t
view_row_task_mark(const struct task *task)
{
	const char *const texts[] = { task->id, task->title, task->source,
		task->key, task->label, task->worker, task->reason,
		task->last_words, task->run_id, task->commit, task->held_by };
	const int64_t numbers[] = { task->priority, task->step, task->outcome,
		task->attempts, task->turns, task->turns_before,
		task->created_ms, task->assigned_ms, task->finished_ms,
		task->lines_known, task->lines_added, task->lines_removed };
	uint64_t mark = VIEW_MARK_INIT;
	const struct spent *spent;
	struct json_object *history;
	size_t count;
	struct json_object *last;

	if (task->run != NULL)
		return 0;
	for (size_t i = 0; i < nitems(texts); i++)
		view_mark_text(&mark, texts[i], MARK_MAX);
	for (size_t i = 0; i < nitems(numbers); i++)
		view_mark_int(&mark, numbers[i]);
	spent = &task->spent;
	view_mark_int(&mark, spent->cost);
	view_mark_int(&mark, spent->estimated);
	view_mark_int(&mark, spent->unpriced);
	for (size_t m = 0; m < spent->usage.count; m++)
		view_mark_bytes(&mark, spent->usage.models[m].tokens,
		    sizeof spent->usage.models[m].tokens);
	/* Entries are only added to a history, and only taken from its
	 * front. */
	history = task->history;
	count = history != NULL ? json_object_array_length(history) : 0;
	last = count > 0 ? json_object_array_get_idx(history, count - 1) : NULL;
	view_mark_int(&mark, (int64_t)count);
	view_mark_int(&mark, json_int_or(last, "at_unix", 0));
	view_mark_text(&mark, json_string_or(last, "what", NULL), MARK_MAX);
	view_mark_text(&mark, json_string_or(last, "detail", NULL), MARK_MAX);
	return view_mark_end(mark);
}
