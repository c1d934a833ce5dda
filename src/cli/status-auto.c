/* SPDX-License-Identifier: ISC */

/* llmc status: auto mode, what was used, and the overseer. Only reads files. */
#include "base.h"
#include "account.h"
#include "backoff.h"
#include "cli-private.h"
#include "event-table.h"
#include "history.h"
#include "moment.h"
#include "quota.h"
#include "view.h"
#include "worker.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)
#define DAY_SECONDS  (24 * 3600)

void
status_section(struct cli *cli, const char *title)
{
	size_t len = strlen(title);

	buf_addf(&cli->text, "%s%s\n", cli->text.len > 0 ? "\n" : "", title);
	for (size_t i = 0; i < len; i++)
		buf_addc(&cli->text, '-');
	buf_addc(&cli->text, '\n');
}

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

		text_add_words(&line, words, strlen(words));
		buf_adds(text, "  ");
		cli_coloured(s->cli, "31", line.data);
		buf_addc(text, '\n');
	}
	if (s->overseen)
		buf_adds(text, "  -> the overseer is handling it\n");
	else
		buf_addf(text, "  -> %s, then: %s\n",
		    failure_class_find(class)->fix,
		    view_start_command(s->head));
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
	    " (%" PRId64 " of %d); commit or stash what llmc landing shows\n",
	    tries, backoff_dirty.tries_max);
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
		cli_say(s->cli, ": ", paused, "\n");
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
		buf_adds(&s->cli->text, ": the service does not answer since ");
		moment_add(&s->cli->text, since * 1000);
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
	if (json_bool_or(s->head, "auto", false) && view_all_wait(s->view)) {
		cli_coloured(s->cli, "1;31", "All workers wait for you");
		buf_adds(&s->cli->text, ", nothing runs  (llmc asks)\n");
	}
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

#define EVENTS_SHOWN 5

#define LOST       "not running"
#define STARTING   "Starting"
#define RUNNING    "Running"
#define TERMINATED "Terminated"

struct overseer_status {
	struct cli *cli;
	int64_t now; /* milliseconds */
	const struct overseer_files *overseer;
	struct json_object
	    *file; /* overseer.json, where it is to be believed */
	const char *state; /* as it is now */
	struct json_object *json;
};

static void
add_visible(struct cli *cli, const char *text)
{
	text_add_visible(&cli->text, text, strcspn(text, "\n"), false);
}

static int64_t
seconds_since(const struct overseer_status *o, int64_t at_unix)
{
	int64_t now = o->now / 1000;

	return at_unix > 0 && at_unix < now ? now - at_unix : 0;
}

/* --- what it is at --------------------------------------------------- */

static const char *
state_of(const struct overseer_files *overseer)
{
	const char *told = json_string_or(overseer->json, "state", "");

	if (overseer->registered)
		return told;
	if (overseer->active)
		return STARTING;
	return strcmp(told, TERMINATED) == 0 ? TERMINATED : LOST;
}

static bool
is_state(const struct overseer_status *o, const char *state)
{
	return strcmp(o->state, state) == 0;
}

static int64_t
exit_status(const struct overseer_status *o)
{
	return is_state(o, TERMINATED) ?
	    json_int_or(o->file, "exit_status", -1) :
	    -1;
}

static const char *
state_colour(const struct overseer_status *o)
{
	if (is_state(o, RUNNING))
		return "32";
	if (is_state(o, LOST))
		return "1;31";
	if (is_state(o, TERMINATED))
		return exit_status(o) == 0 ? "90" : "1;31";
	return "33";
}

/* Exit statuses as in overseer(8). */
static const struct {
	int status;
	const char *words;
} exits[] = {
	{ 0, "stopped" },
	{ 1, "an error of the overseer itself" },
	{ 3, "a failure spiral" },
	{ 4, "a person is needed" },
	{ 5, "the failure could not be repaired" },
	{ 130, "forced to stop" },
};

static const char *
exit_words(int64_t status)
{
	for (size_t i = 0; i < nitems(exits); i++)
		if (exits[i].status == status)
			return exits[i].words;
	return "unknown reason";
}

static void
show_state(struct overseer_status *o)
{
	struct buf *text = &o->cli->text;
	int64_t status = exit_status(o), pid = overseer_files_pid(o->overseer);
	int64_t up =
	    seconds_since(o, json_int_or(o->file, "start_time_unix", 0));
	int64_t until = json_int_or(o->file, "until_ms", 0);

	cli_coloured(o->cli, state_colour(o), o->state);
	if (is_state(o, TERMINATED)) {
		buf_addf(text, "  exit status %" PRId64 ": %s", status,
		    exit_words(status));
	} else if (pid > 0) {
		buf_addf(text, "  pid %" PRId64 "  up ", pid);
		moment_add_age(text, up * 1000);
		if (until > 0) {
			buf_adds(text, "  until ");
			moment_add(text, until);
		}
	} else if (is_state(o, LOST)) {
		buf_adds(text, " (it crashed or was killed)");
	}
	buf_addc(text, '\n');
	json_set_bool(o->json, "active", o->overseer->active);
	json_set_string(o->json, "state", o->state);
	json_set_string(o->json, "registered_state",
	    json_string_or(o->overseer->json, "state", NULL));
	json_set(o->json, "pid", pid > 0 ? json_object_new_int64(pid) : NULL);
	json_set(
	    o->json, "uptime_secs", pid > 0 ? json_object_new_int64(up) : NULL);
	json_set(o->json, "until_ms",
	    until > 0 ? json_object_new_int64(until) : NULL);
	json_set(o->json, "exit_status",
	    status >= 0 ? json_object_new_int64(status) : NULL);
}

static const struct schema daemon_shape = SCHEMA_SHAPE(
    SCHEMA_IS("pid", INT, NULL), SCHEMA_IS("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_IS("adopted", BOOL, "it ran before this overseer"),
    SCHEMA_IS("told_to_end", BOOL, NULL));

/* If another daemon is running, that is shown elsewhere. */
static void
show_daemon(struct overseer_status *o)
{
	struct json_object *daemon = json_member(o->file, "daemon");
	struct json_object *json;
	int64_t pid = json_int_or(daemon, "pid", 0), up;

	if (!o->overseer->registered || pid <= 0) {
		json_set(o->json, "daemon", NULL);
		return;
	}
	up = seconds_since(o, json_int_or(daemon, "started_unix", 0));
	json = cli_members(&daemon_shape, daemon);
	json_set_int(json, "uptime_secs", up);
	json_set(o->json, "daemon", json);
	buf_addf(&o->cli->text, "Daemon: pid %" PRId64 "  up ", pid);
	moment_add_age(&o->cli->text, up * 1000);
	buf_addf(&o->cli->text, "%s%s\n",
	    json_bool_or(daemon, "adopted", false) ? ", taken over" : "",
	    json_bool_or(daemon, "told_to_end", false) ? ", stopping" : "");
}

static void
show_verdict(struct overseer_status *o)
{
	int64_t attempt = json_int_or(o->file, "attempt", 0);
	const char *failure = json_string_or(o->file, "failure", NULL);
	bool at_it = o->overseer->registered && !is_state(o, RUNNING);

	if (attempt > 0 && at_it)
		buf_addf(&o->cli->text, "Remediation attempt %" PRId64 "\n",
		    attempt);
	if (failure == NULL || exit_status(o) == 0)
		return;
	buf_adds(&o->cli->text, at_it ? "Failure: " : "Last failure: ");
	add_visible(o->cli, failure);
	buf_addc(&o->cli->text, '\n');
}

static void
show_events(struct overseer_status *o)
{
	struct json_object *events = json_member(o->file, "events");
	struct json_object *list = json_object_new_array();
	size_t count = json_length(events);

	for (size_t i = count > EVENTS_SHOWN ? count - EVENTS_SHOWN : 0;
	     i < count; i++) {
		struct json_object *event =
		    json_object_array_get_idx(events, i);

		if (!json_object_is_type(event, json_type_string))
			continue;
		json_object_array_add(list, json_object_get(event));
		if (is_state(o, TERMINATED))
			continue; /* how it ended says it all */
		buf_adds(&o->cli->text, "  ");
		add_visible(o->cli, json_object_get_string(event));
		buf_addc(&o->cli->text, '\n');
	}
	json_set(o->json, "events", list);
}

/* --- what a person can do -------------------------------------------- */

static char *
fix_of(struct overseer_status *o, const char *manual)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (is_state(o, LOST))
		return xstrdup(
		    "start it again; it takes over a daemon that runs: llmc "
		    "overseer");
	switch (exit_status(o)) {
	case 3:
		return overseer_files_is_over(o->cli, &words) ?
		    xstrdup(
			"see llmc log failures, fix the cause, then: llmc overseer "
			"--clear \"what was done\" and llmc overseer") :
		    xstrdup("it has been cleared; start with: llmc overseer");
	case 4:
		return manual != NULL ?
		    xasprintf("do what %s says, remove it, then: llmc overseer",
			manual) :
		    xstrdup("the file is gone; start with: llmc overseer");
	case 5:
		return xstrdup(
		    "see llmc log failures, fix the cause, then: llmc overseer");
	default:
		return NULL;
	}
}

static void
show_fix(struct overseer_status *o)
{
	cleanup_free char *manual = history_manual_file(&o->cli->workspace);
	cleanup_free char *fix = fix_of(o, manual);

	json_set_string(o->json, "manual_intervention", manual);
	json_set_string(o->json, "fix", fix);
	if (fix == NULL)
		return;
	buf_adds(&o->cli->text, "-> ");
	add_visible(o->cli, fix);
	buf_addc(&o->cli->text, '\n');
}

void
status_overseer_show(
    struct cli *cli, const struct overseer_files *overseer, int64_t now_ms)
{
	static void (*const parts[])(struct overseer_status *) = { show_state,
		show_daemon, show_verdict, show_events, show_fix };
	struct overseer_status o = { .cli = cli,
		.now = now_ms,
		.overseer = overseer,
		.state = state_of(overseer) };

	if (overseer->json == NULL && !overseer->active)
		return;
	/* The file knows nothing about an overseer that has not registered yet.
	 */
	if (overseer->registered || !overseer->active)
		o.file = overseer->json;
	o.json = cli_members(&status_overseer_shape, o.file);
	if (exit_status(&o) == 0)
		buf_adds(&o.cli->text, "\nOverseer: "); /* one line */
	else
		status_section(o.cli, "OVERSEER");
	for (size_t i = 0; i < nitems(parts); i++)
		parts[i](&o);
	json_set(o.cli->result, "overseer", o.json);
}

const struct schema status_overseer_shape = SCHEMA_SHAPE(
    SCHEMA_IS("active", BOOL, NULL),
    SCHEMA_IS("state", STRING,
	"Starting, Running, Remediating, Terminated, ..., or "
	"\"not running\": it crashed or was killed"),
    SCHEMA_OR_NULL("registered_state", STRING, "state that it wrote last"),
    SCHEMA_OR_NULL("pid", INT, NULL), SCHEMA_OR_NULL("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_OR_NULL("version", STRING, NULL),
    SCHEMA_OR_NULL("until_ms", INT, "when Waiting: milliseconds since 1970"),
    SCHEMA_OR_NULL("exit_status", INT, "when Terminated; see overseer(8)"),
    SCHEMA_OR_NULL(
	"daemon", OBJECT, "daemon that it watches", .of = &daemon_shape),
    SCHEMA_IS("attempt", INT, "remediations since the last healthy run"),
    SCHEMA_OR_NULL("failure", STRING, "reason of the last failure"),
    SCHEMA_IS("events", LIST, "its last messages"),
    SCHEMA_OR_NULL("manual_intervention", STRING,
	"file of a remediation that asks for a person"),
    SCHEMA_OR_NULL("fix", STRING, "what to do"));
