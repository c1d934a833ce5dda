/* SPDX-License-Identifier: ISC */

/* llmc status: auto mode, and what was used. */
#include "base.h"
#include "account.h"
#include "backoff.h"
#include "cli-private.h"
#include "event-table.h"
#include "moment.h"
#include "quota.h"
#include "view.h"
#include "worker.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)
#define DAY_SECONDS  (24 * 3600)

static const char *
plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* 0 = null. */
static void
set_time(struct json_object *json, const char *key, int64_t at_unix)
{
	json_set(
	    json, key, at_unix > 0 ? json_object_new_int64(at_unix) : NULL);
}

static void
add_age(struct status *s, int64_t at_unix)
{
	moment_add_age(&s->cli->text, s->now - at_unix * 1000);
}

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

/* --- what was used --------------------------------------------------- */

static bool
is_used(struct json_object *day)
{
	struct json_object *usage = NULL, *models = NULL;

	json_get_object(day, "", "usage", &usage, NULL);
	json_get_object(usage, "", "models", &models, NULL);
	return json_int_or(day, "cost_micros", 0) > 0 ||
	    (models != NULL && json_object_object_length(models) > 0);
}

/* Of a row of the budget's days, NULL = nothing was used. A day without any use
 * costs nothing: that is known. */
static struct json_object *
day_json(struct json_object *row)
{
	cleanup_json struct json_object *none = NULL;
	struct json_object *json = json_object_new_object();

	if (row == NULL) {
		row = none = json_object_new_object();
		json_set(none, "usage", usage_to_json(&(struct usage){ 0 }));
	}
	json_set_int(json, "attempts", json_int_or(row, "attempts", 0));
	spent_view_set(json, row);
	if (!is_used(row)) {
		json_set_int(json, "cost_usd", 0);
		json_set_string(
		    json, "cost_source", cost_source_words[COST_ESTIMATE]);
	}
	return json;
}

static struct json_object *
today(const struct status *s)
{
	struct json_object *days =
	    json_member(view_of(s->view, "budget"), "days");

	JSON_EACH (row, days)
		if (json_int_or(row, "day", -1) == s->now / 1000 / DAY_SECONDS)
			return row;
	return NULL;
}

static void
show_day(struct status *s, struct json_object *json)
{
	buf_adds(&s->cli->text, "Today: ");
	spent_view_add(&s->cli->text, json);
	buf_addc(&s->cli->text, '\n');
}

/* What the account has used of its windows; null = nobody has reported it, or
 * its reset is over. */
static void
show_windows(struct status *s, struct json_object *json)
{
	struct json_object *windows =
	    json_member(view_of(s->view, "budget"), "windows");
	struct json_object *known = json_object_new_object();

	for (int i = 0; i < WINDOW_COUNT; i++) {
		struct json_object *row = NULL, *used = NULL;
		int64_t resets;

		json_object_object_get_ex(windows, window_words[i], &row);
		json_object_object_get_ex(row, "used_percent", &used);
		resets = json_int_or(row, "resets_unix", 0);
		if (resets * 1000 <= s->now)
			row = NULL;
		json_set(known, window_words[i], json_object_get(row));
		if (used == NULL)
			continue;
		buf_adds(&s->cli->text,
		    i == WINDOW_FIVE_HOUR ? "Window of 5 hours: " :
					    "Window of 7 days: ");
		if (row == NULL) {
			buf_adds(&s->cli->text, "not known since its reset\n");
			continue;
		}
		buf_addf(&s->cli->text, "%.0f%% used, resets ",
		    json_object_get_double(used));
		moment_add(&s->cli->text, resets * 1000);
		buf_addc(&s->cli->text, '\n');
	}
	json_set(json, "windows", known);
}

void
status_days_show(struct status *s)
{
	struct json_object *days =
	    json_member(view_of(s->view, "budget"), "days");
	struct json_object *list = json_object_new_array();
	struct json_object *day = today(s);

	JSON_EACH (row, days) {
		struct json_object *json = day_json(row);

		json_set_int(
		    json, "day_unix", json_int_or(row, "day", 0) * DAY_SECONDS);
		json_object_array_add(list, json);
	}
	json_set(s->cli->result, "days", list);
	if (is_used(day) &&
	    !json_object_object_get_ex(s->cli->result, "auto", NULL)) {
		cleanup_json struct json_object *json = day_json(day);

		buf_addc(&s->cli->text, '\n');
		show_day(s, json);
	}
}

static const struct schema_field day_fields[] = {
	SCHEMA_FIELD(struct daybook_day, "attempts", attempts,
	    .help = "at tasks, begun"),
	SCHEMA_IS("tokens", INT, "without those read from the cache"),
	SCHEMA_OR_NULL("cost_usd", NUMBER, "null: unknown"),
	SCHEMA_IS("cost_source", STRING, NULL, .choices = cost_source_words),
	SCHEMA_IS("usage", OBJECT, NULL, .of = &usage_schema),
};

static const struct schema day_shape =
    SCHEMA_OF(struct daybook_day, day_fields);

static const struct schema window_shape =
    SCHEMA_SHAPE(SCHEMA_IS("used_percent", NUMBER, NULL),
	SCHEMA_OR_NULL("resets_unix", INT, NULL),
	SCHEMA_OR_NULL("seen_unix", INT, "when a session reported it"));

static const struct schema windows_shape = SCHEMA_SHAPE(
    SCHEMA_OR_NULL("five_hour", OBJECT, "null: not known", .of = &window_shape),
    SCHEMA_OR_NULL(
	"seven_day", OBJECT, "null: not known", .of = &window_shape));

static const struct schema_field dated_fields[] = {
	SCHEMA_IS("day_unix", INT, "when the day began (UTC)"),
	SCHEMA_GROUP("", day_shape, .flags = SCHEMA_FLAT),
};

const struct schema status_day_shape =
    SCHEMA_OF(struct daybook_day, dated_fields);

/* --- auto mode ------------------------------------------------------- */

static const struct schema heartbeat_shape = SCHEMA_SHAPE(
    SCHEMA_IS("timestamp_unix", INT, NULL), SCHEMA_IS("age_secs", INT, NULL),
    SCHEMA_OR_NULL("phase", STRING, "what the daemon is doing"),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_IS("sequence", INT, NULL), SCHEMA_IS("lag_ms", INT, NULL),
    SCHEMA_IS("rss_kb", INT, NULL));

static const struct schema failure_shape = SCHEMA_SHAPE(
    SCHEMA_OR_NULL("class", STRING, "see autod(8)"),
    SCHEMA_OR_NULL("scope", STRING, "daemon, fleet, worker, task or landing"),
    SCHEMA_OR_NULL("worker", STRING, NULL),
    SCHEMA_OR_NULL("task", STRING, NULL),
    SCHEMA_OR_NULL("exit_status", INT, "of a command that failed"),
    SCHEMA_OR_NULL("words", STRING, NULL), SCHEMA_OR_NULL("at_unix", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL));

static void
show_failure(struct status *s, struct json_object *json)
{
	static const char *const members[] = { "worker", "task" };
	cleanup_json struct json_object *failure = load(s->cli, "failure.json");
	const char *class = json_string_or(failure, "class", "unknown");
	const char *words = json_string_or(failure, "words", NULL);
	int64_t at = json_int_or(failure, "at_unix", 0);
	struct buf *text = &s->cli->text;

	json_set(json, "failure",
	    failure == NULL ? NULL : cli_members(&failure_shape, failure));
	if (failure == NULL)
		return;
	cli_coloured(s->cli, "1;31", "FAILED");
	buf_adds(text, ": ");
	cli_say(s->cli, "", class, "");
	for (size_t i = 0; i < nitems(members); i++) {
		const char *value = json_string_or(failure, members[i], NULL);

		if (value == NULL)
			continue;
		buf_addf(text, ", %s ", members[i]);
		cli_say(s->cli, "", value, "");
	}
	if (at > 0) {
		buf_adds(text, ", ");
		add_age(s, at);
		buf_adds(text, " ago");
	}
	buf_addc(text, '\n');
	if (words != NULL) {
		cleanup_buf struct buf line = BUF_INIT;

		text_add_visible(&line, words, strcspn(words, "\n"), false);
		buf_adds(text, "  ");
		cli_coloured(s->cli, "31", line.data);
		buf_addc(text, '\n');
	}
	if (s->overseen)
		buf_adds(text, "  -> the overseer is handling it\n");
	else
		buf_addf(text, "  -> %s, then: llmc up --auto\n",
		    failure_class_find(class)->fix);
}

static void
show_counts(struct status *s, struct json_object *json, int workers)
{
	struct json_object *steps = json_member(s->head, "steps");
	struct json_object *ended = json_member(s->head, "outcomes");
	int64_t completed = json_int_or(ended, "landed", 0) +
	    json_int_or(ended, "no_changes", 0);
	int64_t failed = json_int_or(ended, "failed", 0) +
	    json_int_or(ended, "dead-letter", 0);
	int64_t aborted = json_int_or(ended, "aborted", 0), at_work = 0, todo;
	int64_t errors = json_int_or(s->head, "errors", 0);
	int64_t parked = json_int_or(steps, "parked", 0);
	int64_t waiting =
	    json_int_or(steps, "offered", 0) + json_int_or(steps, "waiting", 0);
	cleanup_source_choice struct source_choice choice;
	struct buf *text = &s->cli->text;

	JSON_MEMBERS (it, steps)
		at_work += json_object_get_int64(it.val);
	at_work -= waiting + parked;
	/* Tasks that are not taken; -1 = not known. */
	source_choice_init(&choice, s->settings, &s->cli->workspace, NULL);
	todo = source_count_todo(choice.options.type, choice.options.where);
	json_set_bool(json, "active", json_bool_or(s->head, "auto", false));
	json_set_bool(json, "overseer_active", s->overseen);
	json_set_int(json, "workers", workers);
	json_set_int(json, "tasks_completed", completed);
	json_set_int(json, "errors", errors);
	json_set(json, "outcomes", json_object_get(ended));
	json_set_int(json, "tasks_in_work", at_work);
	json_set_int(json, "tasks_waiting", waiting);
	json_set_int(json, "tasks_failed", failed);
	json_set_int(json, "tasks_parked", parked);
	json_set(
	    json, "tasks_todo", todo >= 0 ? json_object_new_int64(todo) : NULL);
	buf_addf(text, "Auto Mode: %d worker%s, %" PRId64 " task%s completed",
	    workers, plural(workers), completed, plural(completed));
	if (failed + aborted > 0)
		buf_addf(text, ", %" PRId64 " not", failed + aborted);
	if (errors > 0)
		buf_addf(text, ", %" PRId64 " error%s", errors, plural(errors));
	buf_addf(text, "\nTasks: %" PRId64 " in progress, %" PRId64 " waiting",
	    at_work, waiting);
	if (parked > 0)
		buf_addf(text, ", %" PRId64 " parked", parked);
	if (todo >= 0)
		buf_addf(text, ", %" PRId64 " in the folder", todo);
	if (failed > 0)
		buf_addf(text, ", %" PRId64 " failed", failed);
	if (aborted > 0)
		buf_addf(text, ", %" PRId64 " aborted", aborted);
	buf_adds(text, "  (llmc task list)\n");
}

static void
show_last(struct status *s, struct json_object *json)
{
	static const struct {
		const char *key, *in_view, *words;
	} moments[] = {
		{ "last_task_assignment_unix", "assigned_unix",
		    "last assigned" },
		{ "last_task_completion_unix", "completed_unix",
		    "last completed" },
	};
	const char *before = "Tasks were ";

	for (size_t i = 0; i < nitems(moments); i++) {
		struct json_object *at =
		    json_member(s->head, moments[i].in_view);

		json_set(json, moments[i].key, json_object_get(at));
		if (at == NULL)
			continue;
		buf_addf(&s->cli->text, "%s%s ", before, moments[i].words);
		add_age(s, json_object_get_int64(at));
		buf_adds(&s->cli->text, " ago");
		before = ", ";
	}
	if (before[0] == ',')
		buf_addc(&s->cli->text, '\n');
}

static const struct schema dirty_shape = SCHEMA_SHAPE(
    SCHEMA_IS("retry_after_unix", INT, NULL),
    SCHEMA_IS("backoff_secs", INT, NULL), SCHEMA_IS("retry_count", INT, NULL));

static void
show_dirty(struct status *s, struct json_object *json)
{
	int64_t at = json_int_or(s->head, "dirty_retry_unix", 0);
	int64_t tries = json_int_or(s->head, "dirty_tries", 0);
	struct json_object *dirty = NULL;

	if (at != 0) {
		dirty = json_object_new_object();
		json_set_int(dirty, "retry_after_unix", at);
		json_set_int(dirty, "backoff_secs",
		    json_int_or(s->head, "dirty_backoff_secs", 0));
		json_set_int(dirty, "retry_count", tries);
	}
	json_set(json, "source_repo_dirty", dirty);
	if (at == 0)
		return;
	cli_coloured(s->cli, "33", "waiting");
	buf_adds(&s->cli->text,
	    ": your checkout has uncommitted changes; next try ");
	if (at * 1000 > s->now) {
		buf_adds(&s->cli->text, "in ");
		moment_add_age(&s->cli->text, at * 1000 - s->now);
	} else {
		buf_adds(&s->cli->text, "now");
	}
	buf_addf(&s->cli->text,
	    " (%" PRId64 " of %d); commit or stash them: git status\n", tries,
	    backoff_dirty.tries_max);
}

/* Why nothing is assigned or landed, and when the first thing that waits
 * continues by itself. */
static void
show_waiting(struct status *s, struct json_object *json)
{
	const char *paused = json_string_or(s->head, "paused", NULL);
	int64_t since = json_int_or(s->head, "outage_since_unix", 0);
	int64_t next = json_int_or(s->head, "dirty_retry_unix", 0);
	const char *held = json_string_or(s->head, "held", NULL);
	int64_t opens = json_int_or(s->head, "held_until_unix", 0);

	if (opens > 0 && (next == 0 || opens < next))
		next = opens;
	json_set_string(json, "paused", paused);
	if (paused != NULL) {
		cli_coloured(s->cli, "1;35", "paused");
		cli_say(s->cli, ": ", paused, "; continue with: llmc resume\n");
	}
	json_set_string(json, "held", held);
	set_time(json, "held_until_unix", opens);
	if (held != NULL && paused == NULL) {
		cli_coloured(s->cli, "33", "waiting");
		buf_adds(&s->cli->text, ": no task begins");
		if (opens > 0) {
			buf_adds(&s->cli->text, " until ");
			moment_add(&s->cli->text, opens * 1000);
		}
		cli_say(s->cli, ", because ", held, "\n");
	}
	show_dirty(s, json);
	set_time(json, "outage_since_unix", since);
	if (since > 0) {
		cli_coloured(s->cli, "33", "waiting");
		buf_adds(
		    &s->cli->text, ": the service has been unavailable for ");
		add_age(s, since);
		buf_addc(&s->cli->text, '\n');
	}
	JSON_MEMBERS (it, s->workers) {
		int64_t until = json_int_or(it.val, "until_unix", 0);

		if (worker_is_auto(it.key) && until > 0 &&
		    (next == 0 || until < next))
			next = until;
	}
	set_time(json, "next_deadline_unix", next);
}

static void
show_heartbeat(struct status *s, struct json_object *json)
{
	cleanup_json struct json_object *beat = load(s->cli, "auto.heartbeat");
	const char *phase = json_string_or(beat, "phase", NULL);
	int64_t at = json_int_or(beat, "timestamp_unix", 0);
	int64_t age = s->now / 1000 - at;
	struct json_object *shown = NULL;

	if (at != 0) {
		shown = cli_members(&heartbeat_shape, beat);
		json_set_int(shown, "age_secs", age > 0 ? age : 0);
	}
	json_set(json, "heartbeat", shown);
	if (at == 0)
		return;
	buf_adds(&s->cli->text, "Heartbeat: ");
	add_age(s, at);
	buf_adds(&s->cli->text, " ago");
	if (phase != NULL)
		cli_say(s->cli, ", ", phase, "");
	buf_addc(&s->cli->text, '\n');
	if (text_is(phase, "trial"))
		buf_adds(&s->cli->text,
		    "The first task waits until auto.check_command has passed "
		    "on the branch as it is:\nsee llmc landing, and llmc "
		    "log for what it said.\n");
}

/* Nothing where auto mode was never used. */
void
status_auto_show(struct status *s)
{
	struct json_object *json, *day;
	size_t before = s->cli->text.len;
	int workers = 0;

	JSON_MEMBERS (it, s->workers)
		workers += worker_is_auto(it.key);
	if (workers == 0 && !json_bool_or(s->head, "auto", false) &&
	    !json_bool_or(s->head, "auto_used", false) &&
	    json_member(s->head, "failure") == NULL)
		return;
	json = json_object_new_object();
	status_section(s->cli, "AUTO MODE");
	show_failure(s, json);
	show_counts(s, json, workers);
	day = day_json(today(s));
	show_day(s, day);
	json_set(json, "today", day);
	show_windows(s, json);
	show_last(s, json);
	show_waiting(s, json);
	show_heartbeat(s, json);
	json_set(s->cli->result, "auto", json);
	/* A daemon without it would look as if it had it. */
	if (s->plain)
		buf_truncate(&s->cli->text, before);
}

const struct schema status_auto_shape = SCHEMA_SHAPE(
    SCHEMA_IS("active", BOOL,
	"the daemon that is running, or ran last, is in auto "
	"mode"),
    SCHEMA_IS("overseer_active", BOOL, NULL), SCHEMA_IS("workers", INT, NULL),
    SCHEMA_IS("tasks_completed", INT, "landed or no_changes, ever"),
    SCHEMA_IS("errors", INT, "hard failures, ever"),
    SCHEMA_IS("outcomes", MAP, "tasks by outcome", .of = SCHEMA_VALUES(INT)),
    SCHEMA_IS("tasks_failed", INT, "failed or dead-letter, ever"),
    SCHEMA_IS("tasks_in_work", INT, NULL),
    SCHEMA_IS("tasks_waiting", INT, NULL),
    SCHEMA_IS("tasks_parked", INT, "over their budget; llmc task retry"),
    SCHEMA_OR_NULL("tasks_todo", INT,
	"files in the folder of tasks, if that is the source"),
    SCHEMA_IS("today", OBJECT, NULL, .of = &day_shape),
    SCHEMA_IS("windows", OBJECT,
	"what the account has used of its usage windows, as Claude Code "
	"reports it",
	.of = &windows_shape),
    SCHEMA_OR_NULL("last_task_assignment_unix", INT, NULL),
    SCHEMA_OR_NULL("last_task_completion_unix", INT, NULL),
    SCHEMA_OR_NULL("paused", STRING, "why no task is assigned"),
    SCHEMA_OR_NULL("held", STRING, "why no task begins for now"),
    SCHEMA_OR_NULL("held_until_unix", INT, NULL),
    SCHEMA_OR_NULL("source_repo_dirty", OBJECT,
	"landings wait for a clean checkout", .of = &dirty_shape),
    SCHEMA_OR_NULL("outage_since_unix", INT, NULL),
    SCHEMA_OR_NULL(
	"next_deadline_unix", INT, "when the first thing that waits continues"),
    SCHEMA_OR_NULL("heartbeat", OBJECT, NULL, .of = &heartbeat_shape),
    SCHEMA_OR_NULL(
	"failure", OBJECT, "why the daemon stopped", .of = &failure_shape));
