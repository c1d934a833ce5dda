/* SPDX-License-Identifier: ISC */

/* llmc status: auto mode, and what all workers used. Only reads files. */
#include "base.h"
#include "account.h"
#include "backoff.h"
#include "cli-private.h"
#include "failure-class.h"
#include "lock.h"
#include "task.h"

/* --- status-usage ------------------------------------------------------ */

#define DAY_MS (24 * 3600 * (int64_t)1000)

/* A day without any use costs nothing: that is known. */
static struct json_object *
status_usage_day(const struct daybook_day *day)
{
	static const struct daybook_day none;
	struct json_object *json = json_object_new_object();

	if (day == NULL)
		day = &none;
	json_set_int(json, "attempts", day->attempts);
	spent_view_set(
	    json, usage_budget_tokens(&day->spent.usage), &day->spent);
	if (day->spent.usage.count == 0 && day->spent.cost == 0) {
		json_set_int(json, "cost_usd", 0);
		json_set_string(
		    json, "cost_source", cost_source_words[COST_ESTIMATE]);
	}
	return json;
}

void
status_usage_show(struct status *status)
{
	const struct daybook *days = &status->state.days;
	struct cli *cli = status->cli;
	struct json_object *list = json_object_new_array();
	const struct daybook_day *day =
	    daybook_find(days, status->now / DAY_MS);

	for (size_t i = 0; i < days->count; i++) {
		struct json_object *json = status_usage_day(&days->days[i]);

		json_set_int(json, "day_unix", days->days[i].day * 86400);
		json_object_array_add(list, json);
	}
	json_set(cli->result, "days", list);
	if (day != NULL &&
	    (day->spent.usage.count > 0 || day->spent.cost > 0) &&
	    !json_object_object_get_ex(cli->result, "auto", NULL)) {
		cleanup_json struct json_object *json = status_usage_day(day);

		buf_adds(&cli->text, "\nToday: ");
		spent_view_add(&cli->text, json);
		buf_addc(&cli->text, '\n');
	}
}

/* --- shapes ---------------------------------------------------------- */

static const struct schema_field day_fields[] = {
	SCHEMA_FIELD(struct daybook_day, "attempts", attempts,
	    .help = "at tasks, begun"),
	SCHEMA_IS("tokens", INT, "without those read from the cache"),
	SCHEMA_OR_NULL("cost_usd", NUMBER, "null: unknown"),
	SCHEMA_IS("cost_source", STRING, NULL, .choices = cost_source_words),
	SCHEMA_IS("usage", OBJECT, NULL, .of = &usage_schema),
};

static const struct schema status_usage_day_shape =
    SCHEMA_OF(struct daybook_day, day_fields);

static const struct schema_field dated_fields[] = {
	SCHEMA_IS("day_unix", INT, "when the day began (UTC)"),
	SCHEMA_GROUP("", status_usage_day_shape, .flags = SCHEMA_FLAT),
};

const struct schema status_usage_shape =
    SCHEMA_OF(struct daybook_day, dated_fields);

#define DAY_SECONDS  (24 * 3600)
#define DOCUMENT_MAX ((size_t)256 * 1024)

struct auto_status {
	struct status *status;
	struct cli *cli;
	const struct state *state;
	int64_t now; /* seconds */
	struct json_object *heartbeat, *failure; /* as read from the files */
	struct json_object *json;
};

static struct json_object *
load(struct cli *cli, const char *name)
{
	cleanup_free char *file = workspace_path(&cli->workspace, name);
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, DOCUMENT_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return NULL;
	return take_ptr(&json);
}

static size_t
count_workers(const struct state *state)
{
	size_t count = 0;

	for (size_t i = 0; i < state->count; i++)
		count += worker_is_auto(state->workers[i]->name);
	return count;
}

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* A number of seconds since 1970, null for never. */
static void
set_moment(struct json_object *json, const char *key, int64_t at)
{
	json_set(json, key, at > 0 ? json_object_new_int64(at) : NULL);
}

static void
add_age(struct auto_status *a, int64_t at)
{
	moment_add_age(&a->cli->text, (a->now - at) * 1000);
}

/* --- counts ---------------------------------------------------------- */

static void
show_summary(struct auto_status *a)
{
	const struct state *state = a->state;
	size_t workers = count_workers(state);
	uint64_t completed = state->outcomes[OUTCOME_LANDED] +
	    state->outcomes[OUTCOME_NO_CHANGES];
	uint64_t left = state->outcomes[OUTCOME_FAILED] +
	    state->outcomes[OUTCOME_DEAD_LETTER] +
	    state->outcomes[OUTCOME_ABORTED];
	struct json_object *outcomes = json_object_new_object();
	cleanup_free char *overseer =
	    workspace_path(&a->cli->workspace, "overseer.lock");

	buf_addf(&a->cli->text,
	    "Auto Mode: %zu worker%s, %" PRIu64 " task%s completed", workers,
	    plural(workers), completed, plural(completed));
	if (left > 0)
		buf_addf(&a->cli->text, ", %" PRIu64 " not", left);
	if (state->errors > 0)
		buf_addf(&a->cli->text, ", %" PRIu64 " error%s", state->errors,
		    plural(state->errors));
	buf_addc(&a->cli->text, '\n');
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		json_set_int(outcomes, task_outcome_name((enum task_outcome)i),
		    (int64_t)state->outcomes[i]);
	json_set_bool(a->json, "active", state->auto_mode);
	json_set_bool(a->json, "overseer_active", lock_is_held(overseer) == 1);
	json_set_int(a->json, "workers", (int64_t)workers);
	json_set_int(a->json, "tasks_completed", (int64_t)completed);
	json_set_int(a->json, "errors", (int64_t)state->errors);
	json_set(a->json, "outcomes", outcomes);
}

static void
show_tasks(struct auto_status *a)
{
	const struct state *state = a->state;
	struct buf *text = &a->cli->text;
	cleanup_source_choice struct source_choice choice;
	int64_t todo; /* that nobody has taken; -1 = not known */
	size_t waiting = 0, parked = 0, at_work;
	uint64_t failed = state->outcomes[OUTCOME_FAILED] +
	    state->outcomes[OUTCOME_DEAD_LETTER];

	source_choice_init(
	    &choice, a->status->settings, &a->cli->workspace, NULL);
	todo = source_count_todo(choice.options.type, choice.options.where);
	for (size_t i = 0; i < state->task_count; i++) {
		waiting += state->tasks[i]->step <= TASK_WAITING;
		parked += state->tasks[i]->step == TASK_PARKED;
	}
	at_work = state->task_count - waiting - parked;
	json_set_int(a->json, "tasks_in_work", (int64_t)at_work);
	json_set_int(a->json, "tasks_waiting", (int64_t)waiting);
	json_set_int(a->json, "tasks_failed", (int64_t)failed);
	json_set_int(a->json, "tasks_parked", (int64_t)parked);
	json_set(a->json, "tasks_todo",
	    todo >= 0 ? json_object_new_int64(todo) : NULL);
	buf_addf(text, "Tasks: %zu in progress, %zu waiting", at_work, waiting);
	if (parked > 0)
		buf_addf(text, ", %zu parked", parked);
	if (todo >= 0)
		buf_addf(text, ", %" PRId64 " in the folder", todo);
	if (failed > 0)
		buf_addf(text, ", %" PRIu64 " failed", failed);
	if (state->outcomes[OUTCOME_ABORTED] > 0)
		buf_addf(text, ", %" PRIu64 " aborted",
		    state->outcomes[OUTCOME_ABORTED]);
	buf_adds(text, "  (llmc task list)\n");
}

/* Of all workers; nothing may have been used today. */
static void
show_today(struct auto_status *a)
{
	const struct daybook_day *day =
	    daybook_find(&a->state->days, a->now / DAY_SECONDS);
	struct json_object *json = status_usage_day(day);

	buf_adds(&a->cli->text, "Today: ");
	spent_view_add(&a->cli->text, json);
	buf_addc(&a->cli->text, '\n');
	json_set(a->json, "today", json);
}

static void
show_last(struct auto_status *a)
{
	const struct {
		const char *key;
		const char *words;
		int64_t at;
	} moments[] = {
		{ "last_task_assignment_unix", "last assigned",
		    a->state->last_task_assignment_unix },
		{ "last_task_completion_unix", "last completed",
		    a->state->last_task_completion_unix },
	};
	const char *before = "Tasks were ";

	for (size_t i = 0; i < nitems(moments); i++) {
		set_moment(a->json, moments[i].key, moments[i].at);
		if (moments[i].at == 0)
			continue;
		buf_addf(&a->cli->text, "%s%s ", before, moments[i].words);
		add_age(a, moments[i].at);
		buf_adds(&a->cli->text, " ago");
		before = ", ";
	}
	if (before[0] == ',')
		buf_addc(&a->cli->text, '\n');
}

/* --- what waits ------------------------------------------------------ */

static void
show_paused(struct auto_status *a)
{
	json_set_string(a->json, "paused", a->state->paused);
	if (a->state->paused == NULL)
		return;
	cli_coloured(a->cli, "1;35", "paused");
	buf_adds(&a->cli->text, ": ");
	cli_visible(a->cli, a->state->paused);
	buf_adds(&a->cli->text, "; continue with: llmc resume\n");
}

static void
show_dirty(struct auto_status *a)
{
	const struct state *state = a->state;
	int64_t at = state->source_repo_dirty_retry_after_unix;
	struct json_object *json;

	if (at == 0) {
		json_set(a->json, "source_repo_dirty", NULL);
		return;
	}
	json = json_object_new_object();
	json_set_int(json, "retry_after_unix", at);
	json_set_int(
	    json, "backoff_secs", state->source_repo_dirty_backoff_secs);
	json_set_int(json, "retry_count", state->source_repo_dirty_retry_count);
	json_set(a->json, "source_repo_dirty", json);
	cli_coloured(a->cli, "33", "waiting");
	buf_adds(&a->cli->text,
	    ": your checkout has uncommitted changes; next try ");
	if (at > a->now) {
		buf_adds(&a->cli->text, "in ");
		moment_add_age(&a->cli->text, (at - a->now) * 1000);
	} else {
		buf_adds(&a->cli->text, "now");
	}
	buf_addf(&a->cli->text,
	    " (%d of %d); commit or stash them: git status\n",
	    state->source_repo_dirty_retry_count, backoff_dirty.tries_max);
}

static void
show_outage(struct auto_status *a)
{
	int64_t since = a->state->outage_since_unix;

	set_moment(a->json, "outage_since_unix", since);
	if (since == 0)
		return;
	cli_coloured(a->cli, "33", "waiting");
	buf_adds(&a->cli->text, ": the service has been unavailable for ");
	add_age(a, since);
	buf_addc(&a->cli->text, '\n');
}

/* The first moment at which something that waits continues by itself. */
static void
set_deadline(struct auto_status *a)
{
	int64_t next = a->state->source_repo_dirty_retry_after_unix;

	for (size_t i = 0; i < a->state->count; i++) {
		const struct worker *w = a->state->workers[i];
		int64_t until = w->until_ms / 1000;

		if (worker_is_auto(w->name) && until > 0 &&
		    (next == 0 || until < next))
			next = until;
	}
	set_moment(a->json, "next_deadline_unix", next);
}

/* --- the daemon's own files ------------------------------------------ */

static const struct schema heartbeat_shape = CLI_FIELDS(
    SCHEMA_IS("timestamp_unix", INT, NULL), SCHEMA_IS("age_secs", INT, NULL),
    SCHEMA_OR_NULL("phase", STRING, "what the daemon is doing"),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_IS("sequence", INT, NULL), SCHEMA_IS("lag_ms", INT, NULL),
    SCHEMA_IS("rss_kb", INT, NULL));

static const struct schema failure_shape = CLI_FIELDS(
    SCHEMA_OR_NULL("class", STRING, "see autod(8)"),
    SCHEMA_OR_NULL("scope", STRING, "daemon, fleet, worker, task or landing"),
    SCHEMA_OR_NULL("worker", STRING, NULL),
    SCHEMA_OR_NULL("task", STRING, NULL),
    SCHEMA_OR_NULL("exit_status", INT, "of a command that failed"),
    SCHEMA_OR_NULL("words", STRING, NULL), SCHEMA_OR_NULL("at_unix", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL));

static void
show_heartbeat(struct auto_status *a)
{
	const char *phase = json_string_or(a->heartbeat, "phase", NULL);
	int64_t at = json_int_or(a->heartbeat, "timestamp_unix", 0);
	struct json_object *json;

	if (at == 0) {
		json_set(a->json, "heartbeat", NULL);
		return;
	}
	json = cli_members(&heartbeat_shape, a->heartbeat);
	json_set_int(json, "age_secs", a->now > at ? a->now - at : 0);
	json_set(a->json, "heartbeat", json);
	buf_adds(&a->cli->text, "Heartbeat: ");
	add_age(a, at);
	buf_adds(&a->cli->text, " ago");
	if (phase != NULL) {
		buf_adds(&a->cli->text, ", ");
		cli_visible(a->cli, phase);
	}
	buf_addc(&a->cli->text, '\n');
}

static void
show_failure(struct auto_status *a)
{
	static const char *const members[] = { "worker", "task" };
	const char *class = json_string_or(a->failure, "class", "unknown");
	const char *words = json_string_or(a->failure, "words", NULL);
	int64_t at = json_int_or(a->failure, "at_unix", 0);

	json_set(a->json, "failure",
	    a->failure == NULL ? NULL :
				 cli_members(&failure_shape, a->failure));
	if (a->failure == NULL)
		return;
	cli_coloured(a->cli, "1;31", "FAILED");
	buf_adds(&a->cli->text, ": ");
	cli_visible(a->cli, class);
	for (size_t i = 0; i < nitems(members); i++) {
		const char *value =
		    json_string_or(a->failure, members[i], NULL);

		if (value == NULL)
			continue;
		buf_addf(&a->cli->text, ", %s ", members[i]);
		cli_visible(a->cli, value);
	}
	if (at > 0) {
		buf_adds(&a->cli->text, ", ");
		add_age(a, at);
		buf_adds(&a->cli->text, " ago");
	}
	buf_addc(&a->cli->text, '\n');
	if (words != NULL) {
		cleanup_buf struct buf line = BUF_INIT;

		text_add_visible(&line, words, strcspn(words, "\n"), false);
		buf_adds(&a->cli->text, "  ");
		cli_coloured(a->cli, "31", line.data);
		buf_addc(&a->cli->text, '\n');
	}
	if (a->status->overseen)
		buf_adds(&a->cli->text, "  -> the overseer is handling it\n");
	else
		buf_addf(&a->cli->text, "  -> %s, then: llmc up --auto\n",
		    failure_class_find(class)->fix);
}

void
status_auto_show(struct status *status)
{
	static void (*const parts[])(struct auto_status *) = { show_failure,
		show_summary, show_tasks, show_today, show_last, show_paused,
		show_dirty, show_outage, set_deadline, show_heartbeat };
	struct auto_status a = { .status = status,
		.cli = status->cli,
		.state = &status->state,
		.now = status->now / 1000,
		.heartbeat = load(status->cli, "auto.heartbeat"),
		.failure = load(status->cli, "failure.json") };
	size_t before = a.cli->text.len;

	if (a.state->auto_mode || a.failure != NULL ||
	    a.state->auto_workers != NULL || count_workers(a.state) > 0) {
		a.json = json_object_new_object();
		status_section(a.cli, "AUTO MODE");
		for (size_t i = 0; i < nitems(parts); i++)
			parts[i](&a);
		json_set(a.cli->result, "auto", a.json);
		/* A daemon without it would look as if it had it. */
		if (status->plain)
			buf_truncate(&a.cli->text, before);
	}
	json_object_put(a.heartbeat);
	json_object_put(a.failure);
}

/* --- shapes ---------------------------------------------------------- */

static const struct schema dirty_shape = CLI_FIELDS(
    SCHEMA_IS("retry_after_unix", INT, NULL),
    SCHEMA_IS("backoff_secs", INT, NULL), SCHEMA_IS("retry_count", INT, NULL));

const struct schema status_auto_shape = CLI_FIELDS(
    SCHEMA_IS("active", BOOL,
	"the daemon that is running, or ran last, is in auto "
	"mode"),
    SCHEMA_IS("overseer_active", BOOL, NULL), SCHEMA_IS("workers", INT, NULL),
    SCHEMA_IS("tasks_completed", INT, "landed or no_changes, ever"),
    SCHEMA_IS("errors", INT, "hard failures, ever"),
    { .name = "outcomes",
	.type = SCHEMA_MAP,
	.of =
	    &(const struct schema){
		.fields = &(const struct schema_field){ .type = SCHEMA_INT },
	    },
	.help = "tasks by outcome" },
    SCHEMA_IS("tasks_failed", INT, "failed or dead-letter, ever"),
    SCHEMA_IS("tasks_in_work", INT, NULL),
    SCHEMA_IS("tasks_waiting", INT, NULL),
    SCHEMA_IS("tasks_parked", INT, "over their budget; llmc task retry"),
    SCHEMA_OR_NULL("tasks_todo", INT,
	"files in the folder of tasks, if that is the source"),
    SCHEMA_IS("today", OBJECT, NULL, .of = &status_usage_day_shape),
    SCHEMA_OR_NULL("last_task_assignment_unix", INT, NULL),
    SCHEMA_OR_NULL("last_task_completion_unix", INT, NULL),
    SCHEMA_OR_NULL("paused", STRING, "why no task is assigned"),
    SCHEMA_OR_NULL("source_repo_dirty", OBJECT,
	"landings wait for a clean checkout", .of = &dirty_shape),
    SCHEMA_OR_NULL("outage_since_unix", INT, NULL),
    SCHEMA_OR_NULL(
	"next_deadline_unix", INT, "when the first thing that waits continues"),
    SCHEMA_OR_NULL("heartbeat", OBJECT, NULL, .of = &heartbeat_shape),
    SCHEMA_OR_NULL(
	"failure", OBJECT, "why the daemon stopped", .of = &failure_shape));
