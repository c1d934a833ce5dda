/* SPDX-License-Identifier: ISC */

/* llmc status: a drawing of the view, with what only files tell. */
#include "base.h"
#include "account.h"
#include "backoff.h"
#include "cli-private.h"
#include "config.h"
#include "failure-class.h"
#include "landing-record.h"
#include "lock.h"
#include "plan-summary.h"
#include "orphans.h"
#include "task.h"
#include "tmux.h"
#include "view.h"
#include "worker.h"

#define SHA_LEN      7
#define NEEDS_MAX    20 /* lines */
#define DOCUMENT_MAX ((size_t)256 * 1024)
#define DAY_SECONDS  (24 * 3600)

struct status {
	struct cli *cli;
	struct json_object *view, *head, *workers;
	struct settings *settings;
	int64_t now; /* milliseconds */
	bool overseen; /* an overseer runs */
	bool plain; /* a daemon without auto mode runs */
};

static const char *
plural(int64_t count)
{
	return count == 1 ? "" : "s";
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

void
status_section(struct cli *cli, const char *title)
{
	size_t len = strlen(title);

	buf_addf(&cli->text, "%s%s\n", cli->text.len > 0 ? "\n" : "", title);
	for (size_t i = 0; i < len; i++)
		buf_addc(&cli->text, '-');
	buf_addc(&cli->text, '\n');
}

/* --- the daemon ------------------------------------------------------ */

static void
show_daemon(struct status *s)
{
	struct cli *cli = s->cli;
	cleanup_json struct json_object *found = roster_daemon(cli);
	struct json_object *json = json_object_new_object();
	int64_t up = 0, pid = json_int_or(found, "pid", 0);
	const char *set = settings_string(s->settings, "repo.default_branch");
	/* The one that the daemon uses, else the setting. */
	const char *branch = json_string_or(
	    found, "landing_branch", set[0] != '\0' ? set : NULL);

	s->plain = found != NULL && !json_bool_or(found, "auto", false);
	if (found != NULL)
		up = s->now / 1000 -
		    json_int_or(found, "start_time_unix", s->now / 1000);
	if (up < 0)
		up = 0;
	json_set_bool(json, "active", found != NULL);
	json_set(json, "pid", found ? json_object_new_int64(pid) : NULL);
	json_set(json, "uptime_secs", found ? json_object_new_int64(up) : NULL);
	json_set_string(json, "instance_id",
	    found ? json_string_or(found, "instance_id", NULL) : NULL);
	json_set_string(json, "version",
	    found ? json_string_or(found, "version", NULL) : NULL);
	json_set(cli->result, "daemon", json);
	json_set_string(cli->result, "landing_branch", branch);
	status_section(cli, "DAEMON");
	if (found != NULL) {
		cli_coloured(cli, "32", "running");
		buf_addf(&cli->text, "  pid %lld  up ", (long long)pid);
		text_add_duration(&cli->text, up * 1000);
	} else {
		cli_coloured(cli, "90", "not running");
		buf_addf(&cli->text, "  %s%s",
		    s->overseen ? "the overseer is handling it" :
				  "start it with: llmc up",
		    json_bool_or(s->head, "auto", false) && !s->overseen ?
			" --auto" :
			"");
	}
	buf_addc(&cli->text, '\n');
	if (branch != NULL && branch[0] != '\0')
		buf_addf(&cli->text, "Work lands on %s.\n", branch);
	else if (branch != NULL)
		buf_adds(&cli->text,
		    "Work lands nowhere: no branch is set; type: llmc config "
		    "set repo.default_branch BRANCH\n");
}

/* --- workers --------------------------------------------------------- */

static const struct schema worker_shape = CLI_FIELDS(
    SCHEMA_IS("name", STRING, NULL), SCHEMA_IS("status", STRING, NULL),
    SCHEMA_OR_NULL("branch", STRING, NULL),
    SCHEMA_OR_NULL("worktree_path", STRING, NULL),
    SCHEMA_IS("time_in_state_secs", INT, NULL),
    SCHEMA_OR_NULL("commit_sha", STRING, NULL),
    SCHEMA_OR_NULL("prompt_cmd", STRING, "command that printed its task"),
    SCHEMA_OR_NULL("prompt_excerpt", STRING, NULL),
    SCHEMA_OR_NULL("error_reason", STRING,
	"why it is in error, paused or limited, or why its work did not land"),
    SCHEMA_OR_NULL(
	"remark", STRING, "that reason, or what a person can type next"),
    SCHEMA_IS("on_hold", BOOL, "a person paused or stopped it: no new task"),
    SCHEMA_IS("paused_for", LIST,
	"why it does not go on, or will not after its turn: person, budget, "
	"trust"),
    SCHEMA_OR_NULL("oversight", STRING,
	"what was found after its last turn: healthy, warning, critical, "
	"paused or aborted"),
    SCHEMA_OR_NULL("question", STRING,
	"id of the question that it waits with; its text is in remark"),
    SCHEMA_OR_NULL("task", STRING, "id of its task in auto mode"),
    SCHEMA_OR_NULL("task_title", STRING, NULL),
    SCHEMA_OR_NULL("until_unix", INT,
	"when limited: time at which it continues", .max = INT64_MAX),
    SCHEMA_IS("attach", STRING, "command that attaches to its session"),
    SCHEMA_OR_NULL("keeper", STRING,
	"what ends everything that its agent started: namespace, cgroup, "
	"scope, reaper or box; null without a session"));

/* Those that the view has under another name. */
static const struct {
	const char *name, *in_view;
} renamed[] = {
	{ "worktree_path", "worktree" },
	{ "commit_sha", "commit" },
	{ "prompt_cmd", "prompt_command" },
	{ "error_reason", "reason" },
	{ "oversight", "health" },
};

static struct json_object *
worker_json(const struct status *s, struct json_object *row)
{
	struct json_object *json = cli_members(&worker_shape, row);
	cleanup_buf struct buf excerpt = BUF_INIT, attach = BUF_INIT;
	const char *name = json_string_or(row, "name", "");
	cleanup_free char *session = tmux_session_name(name);
	cleanup_free char *keeper = NULL;
	int64_t since = s->now / 1000 - json_int_or(row, "since_unix", 0);

	for (size_t i = 0; i < nitems(renamed); i++)
		json_set(json, renamed[i].name,
		    json_object_get(
			json_object_object_get(row, renamed[i].in_view)));
	roster_excerpt(json_string_or(row, "prompt", NULL), &excerpt);
	sessions_attach_words(s->settings, session, &attach);
	if (json_bool_or(row, "has_session", false) &&
	    s->cli->json) /* a file of each */
		keeper = orphans_mode(&s->cli->workspace, name);
	json_set_int(json, "time_in_state_secs", since > 0 ? since : 0);
	json_set_string(
	    json, "prompt_excerpt", excerpt.len > 0 ? excerpt.data : NULL);
	json_set_string(json, "question",
	    json_string_or(json_object_object_get(row, "asks"), "id", NULL));
	json_set_string(json, "task_title",
	    json_object_object_get_ex(row, "attempt", NULL) ?
		json_string_or(row, "title", NULL) :
		NULL);
	json_set_string(json, "attach", attach.data);
	json_set_string(json, "keeper", keeper);
	return json;
}

static struct json_object *
row_of(struct json_object *worker, const struct status *s)
{
	return json_object_object_get(
	    s->workers, json_string_or(worker, "name", ""));
}

static void
add_sha(struct json_object *row, struct buf *out)
{
	const char *commit = json_string_or(row, "commit_sha", NULL);

	if (commit != NULL)
		buf_addf(out, "[%.*s]", SHA_LEN, commit);
}

static void
add_words(struct json_object *worker, const void *arg, struct buf *out)
{
	const struct status *s = arg;
	int64_t until = json_int_or(worker, "until_unix", 0) * 1000;
	const char *task = json_string_or(worker, "task", NULL);
	/* The title of its task, or the beginning of its prompt. */
	const char *words = json_string_or(worker, "task_title",
	    json_string_or(worker, "prompt_excerpt", NULL));

	if (until > s->now) {
		buf_adds(out, "continues in ");
		moment_add_age(out, until - s->now);
	}
	if (task != NULL)
		buf_addf(out, "%s%s", out->len > 0 ? " " : "", task);
	if (words != NULL && !view_is(worker, "status", "idle"))
		buf_addf(out, "%s\"%s\"", out->len > 0 ? " " : "", words);
}

static void
add_status(struct json_object *worker, const void *arg, struct buf *out)
{
	buf_adds(out, view_row_status(row_of(worker, arg)));
}

static const struct view_column worker_columns[] = {
	{ .key = "name", .flexible = true },
	{ .add_with = add_status, .cell = VIEW_STATUS },
	{ .key = "branch", .flexible = true },
	{ .key = "time_in_state_secs", .cell = VIEW_AGE, .right = true },
	{ .add = add_sha },
	{ .add_with = add_words, .flexible = true },
};

/* The workers driven by hand, or those of auto mode. */
static void
show_workers(struct status *s, const char *title, const char *key, bool is_auto)
{
	struct json_object *list = json_object_new_array();
	struct buf *text = &s->cli->text;
	struct json_object_iter it;
	size_t count;

	json_object_object_foreachC(s->workers, it)
	{
		if (worker_is_auto(it.key) == is_auto)
			json_object_array_add(list, worker_json(s, it.val));
	}
	count = json_object_array_length(list);
	if (count > 0) {
		status_section(s->cli, title);
		cli_table(s->cli, worker_columns, nitems(worker_columns), list,
		    s, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		const char *remark = json_string_or(row, "remark", NULL);

		if (remark == NULL)
			continue;
		buf_addf(text, "%s: ", json_string_or(row, "name", ""));
		text_add_words(text, remark, strlen(remark));
		buf_addc(text, '\n');
	}
	if (count > 0 || !is_auto)
		json_set(s->cli->result, key, list);
	else
		json_object_put(list);
}

/* With how to attach to the first worker that has a session: the command for
 * others looks the same. */
static void
show_summary(struct status *s)
{
	struct json_object *counts = json_object_new_object();
	struct buf *text = &s->cli->text;
	int workers = json_object_object_length(s->workers);
	const char *comma = ": ", *attached = NULL;
	struct json_object_iter it;

	if (workers == 0)
		buf_adds(text,
		    "\nThere are no workers yet; add one with: llmc add "
		    "NAME\n");
	else
		buf_addf(text, "\n%d worker%s", workers, plural(workers));
	for (int i = 0; i < WORKER_STATUS_COUNT; i++) {
		const char *name = worker_status_name((enum worker_status)i);
		int count = 0;

		json_object_object_foreachC(s->workers, it)
		{
			count += view_is(it.val, "status", name);
			if (attached == NULL &&
			    json_bool_or(it.val, "has_session", false))
				attached = it.key;
		}
		if (count == 0)
			continue;
		buf_addf(text, "%s%d %s", comma, count, name);
		comma = ", ";
		json_set_int(counts, name, count);
	}
	if (workers > 0)
		buf_addc(text, '\n');
	json_set(s->cli->result, "summary", counts);
	if (attached != NULL) {
		cleanup_free char *session = tmux_session_name(attached);

		buf_adds(text, "Attach with: ");
		sessions_attach_words(s->settings, session, text);
		buf_addc(text, '\n');
	}
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
	    json_object_object_get(view_of(s->view, "budget"), "days");
	size_t count = json_object_array_length(days);

	for (size_t i = 0; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(days, i);

		if (json_int_or(row, "day", -1) == s->now / 1000 / DAY_SECONDS)
			return row;
	}
	return NULL;
}

static void
show_day(struct status *s, struct json_object *json)
{
	buf_adds(&s->cli->text, "Today: ");
	spent_view_add(&s->cli->text, json);
	buf_addc(&s->cli->text, '\n');
}

static void
show_days(struct status *s)
{
	struct json_object *days =
	    json_object_object_get(view_of(s->view, "budget"), "days");
	struct json_object *list = json_object_new_array();
	struct json_object *day = today(s);

	for (size_t i = 0; i < json_object_array_length(days); i++) {
		struct json_object *row = json_object_array_get_idx(days, i);
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

static const struct schema_field dated_fields[] = {
	SCHEMA_IS("day_unix", INT, "when the day began (UTC)"),
	SCHEMA_GROUP("", day_shape, .flags = SCHEMA_FLAT),
};

static const struct schema dated_shape =
    SCHEMA_OF(struct daybook_day, dated_fields);

/* --- auto mode ------------------------------------------------------- */

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
	cli_visible(s->cli, class);
	for (size_t i = 0; i < nitems(members); i++) {
		const char *value = json_string_or(failure, members[i], NULL);

		if (value == NULL)
			continue;
		buf_addf(text, ", %s ", members[i]);
		cli_visible(s->cli, value);
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
	struct json_object *steps = json_object_object_get(s->head, "steps");
	struct json_object *ended = json_object_object_get(s->head, "outcomes");
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
	struct json_object_iter it;

	json_object_object_foreachC(steps, it)
	{
		at_work += json_object_get_int64(it.val);
	}
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
		    json_object_object_get(s->head, moments[i].in_view);

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

static const struct schema dirty_shape = CLI_FIELDS(
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
	struct json_object_iter it;

	json_set_string(json, "paused", paused);
	if (paused != NULL) {
		cli_coloured(s->cli, "1;35", "paused");
		buf_adds(&s->cli->text, ": ");
		cli_visible(s->cli, paused);
		buf_adds(&s->cli->text, "; continue with: llmc resume\n");
	}
	show_dirty(s, json);
	json_set(json, "outage_since_unix",
	    since > 0 ? json_object_new_int64(since) : NULL);
	if (since > 0) {
		cli_coloured(s->cli, "33", "waiting");
		buf_adds(
		    &s->cli->text, ": the service has been unavailable for ");
		add_age(s, since);
		buf_addc(&s->cli->text, '\n');
	}
	json_object_object_foreachC(s->workers, it)
	{
		int64_t until = json_int_or(it.val, "until_unix", 0);

		if (worker_is_auto(it.key) && until > 0 &&
		    (next == 0 || until < next))
			next = until;
	}
	json_set(json, "next_deadline_unix",
	    next > 0 ? json_object_new_int64(next) : NULL);
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
	if (phase != NULL) {
		buf_adds(&s->cli->text, ", ");
		cli_visible(s->cli, phase);
	}
	buf_addc(&s->cli->text, '\n');
}

/* Nothing where auto mode was never used. */
static void
show_auto(struct status *s)
{
	struct json_object *json, *day;
	size_t before = s->cli->text.len;
	struct json_object_iter it;
	int workers = 0;

	json_object_object_foreachC(s->workers, it)
	{
		workers += worker_is_auto(it.key);
	}
	if (workers == 0 && !json_bool_or(s->head, "auto", false) &&
	    !json_bool_or(s->head, "auto_used", false) &&
	    json_object_object_get(s->head, "failure") == NULL)
		return;
	json = json_object_new_object();
	status_section(s->cli, "AUTO MODE");
	show_failure(s, json);
	show_counts(s, json, workers);
	day = day_json(today(s));
	show_day(s, day);
	json_set(json, "today", day);
	show_last(s, json);
	show_waiting(s, json);
	show_heartbeat(s, json);
	json_set(s->cli->result, "auto", json);
	/* A daemon without it would look as if it had it. */
	if (s->plain)
		buf_truncate(&s->cli->text, before);
}

static const struct schema auto_shape = CLI_FIELDS(
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
    SCHEMA_IS("today", OBJECT, NULL, .of = &day_shape),
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

/* --- goals ----------------------------------------------------------- */

static void
add_note(struct json_object *goal, struct buf *out)
{
	int64_t ready = json_int_or(goal, "ready", 0);
	int64_t blocked = json_int_or(goal, "blocked", 0);

	if (ready > 0)
		buf_addf(out, "%" PRId64 " ready", ready);
	if (blocked > 0)
		buf_addf(out, "%s%" PRId64 " blocked", ready > 0 ? ", " : "",
		    blocked);
}

static const struct view_column goal_columns[] = {
	{ .key = "goal" },
	{ .key = "status", .cell = VIEW_STATUS },
	{ .add = goal_view_add_done, .right = true },
	{ .add = add_note },
	{ .key = "title", .flexible = true },
};

static void
show_goals(struct status *s)
{
	const struct schema_field shape = { .type = SCHEMA_OBJECT,
		.of = &plan_digest_shape };
	struct json_object *digest = json_object_object_get(s->head, "goals");
	const char *off = json_string_or(digest, "off", NULL);
	int64_t stalled = json_int_or(digest, "stalled", 0);
	struct cli *cli = s->cli;
	int64_t more;

	/* Another version of llmc may have written it. */
	if (digest == NULL || schema_check(&shape, digest, "", NULL) < 0)
		return;
	json_set(cli->result, "goals", json_object_get(digest));
	if (off == NULL &&
	    json_object_array_length(json_object_object_get(digest, "goals")) ==
		0)
		return;
	status_section(cli, "GOALS");
	if (off != NULL) {
		cli_coloured(cli, "1;31", "off");
		buf_adds(&cli->text, "  ");
		cli_visible(cli, off);
		buf_addc(&cli->text, '\n');
		return;
	}
	more = json_int_or(digest, "more", 0);
	CLI_TABLE(
	    cli, goal_columns, json_object_object_get(digest, "goals"), NULL);
	if (more > 0)
		buf_addf(&cli->text,
		    "... and %" PRId64 " more; see: llmc goal list\n", more);
	if (stalled > 0)
		buf_addf(&cli->text,
		    "%" PRId64
		    " assignment%s stalled; see: llmc goal node list\n",
		    stalled, stalled == 1 ? " is" : "s are");
}

/* --- what needs a person --------------------------------------------- */

static const struct view_column need_columns[] = {
	{ .key = "who", .colour = "1;31" },
	{ .key = "words", .flexible = true },
	{ .key = "command" },
};

static void
show_needs(struct status *s)
{
	struct cli *cli = s->cli;
	struct json_object *list = view_needs_list(s->view);
	const struct view_table table = { .columns = need_columns,
		.count = nitems(need_columns),
		.rows = list,
		.most = NEEDS_MAX };
	size_t count = json_object_array_length(list);

	json_set(cli->result, "needs", list);
	if (count == 0) {
		buf_adds(&cli->text, "\nNothing needs you.\n");
		return;
	}
	status_section(cli, "NEEDS YOU");
	view_table_print(&table, cli->width, cli->colour, &cli->text);
	if (count > NEEDS_MAX)
		buf_addf(&cli->text, "... and %zu more; see: llmc report\n",
		    count - NEEDS_MAX);
}

/* Nothing stops for an origin that is away, so it must be seen here. */
static void
show_push(struct status *s)
{
	struct json_object *push = json_object_object_get(s->head, "push");

	if (push == NULL || view_is(push, "state", "done") ||
	    view_is(push, "state", "waiting"))
		return;
	json_set(s->cli->result, "push", json_object_get(push));
	status_section(s->cli, "ORIGIN");
	landing_text_push(s->cli, push);
}

/* Without asking git for a landing branch that is not set. */
static int
load_settings(struct cli *cli, struct settings **ret_settings)
{
	struct settings_problems problems;
	struct err err = { 0 };

	if (config_load_with(
		&cli->workspace, NULL, ret_settings, &problems, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	if (problems.fatal)
		cli_warn(cli, "config.toml has errors; see: llmc doctor");
	settings_problems_release(&problems);
	return CLI_OK;
}

static int
status_run(struct cli *cli, const struct cli_args *args)
{
	static const char *const sections[] = { "head", "workers", "budget",
		"needs", NULL };
	struct status s = { .cli = cli, .now = clock_wall_ms() };
	struct overseer_files overseer;
	int status = load_settings(cli, &s.settings);
	bool live;

	(void)args;
	if (status != CLI_OK)
		return status;
	status = view_source_once(cli, sections, &s.view, &live);
	if (status == CLI_OK) {
		s.head = view_of(s.view, "head");
		s.workers = view_of(s.view, "workers");
		cli->result = json_object_new_object();
		overseer_files_load(cli, &overseer);
		s.overseen = overseer.active;
		show_daemon(&s);
		status_overseer_show(cli, &overseer, s.now);
		overseer_files_release(&overseer);
		show_workers(&s, "WORKERS", "workers", false);
		show_workers(&s, "AUTO WORKERS", "auto_workers", true);
		show_auto(&s);
		show_goals(&s);
		show_days(&s);
		show_push(&s);
		show_needs(&s);
		show_summary(&s);
		json_object_put(s.view);
	}
	settings_free(s.settings);
	return status;
}

static const struct schema daemon_shape = CLI_FIELDS(
    SCHEMA_IS("active", BOOL, NULL), SCHEMA_OR_NULL("pid", INT, NULL),
    SCHEMA_OR_NULL("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_OR_NULL("version", STRING, NULL));

static const struct schema status_shape = CLI_FIELDS(
    SCHEMA_IS("daemon", OBJECT, NULL, .of = &daemon_shape),
    SCHEMA_OR_NULL("landing_branch", STRING,
	"branch that work lands on, null if none is set"),
    SCHEMA_MAY("overseer", OBJECT,
	"only where an overseer is running or has run",
	.of = &status_overseer_shape),
    SCHEMA_IS("workers", ROWS, NULL, .of = &worker_shape),
    SCHEMA_MAY("auto_workers", ROWS, NULL, .of = &worker_shape),
    SCHEMA_MAY("auto", OBJECT, "only where auto mode has been used",
	.of = &auto_shape),
    SCHEMA_MAY(
	"goals", OBJECT, "only where goals are used", .of = &plan_digest_shape),
    SCHEMA_MAY("days", ROWS, "what all workers used, oldest day first",
	.of = &dated_shape),
    SCHEMA_MAY("push", OBJECT, "only while something is wrong with origin",
	.of = &push_record_schema),
    SCHEMA_IS("needs", ROWS, "what needs a person now, the most urgent first",
	.of = &view_need_schema),
    { .name = "summary",
	.type = SCHEMA_MAP,
	.of =
	    &(const struct schema){
		.fields = &(const struct schema_field){ .type = SCHEMA_INT },
	    },
	.help = "workers by status" });

const struct cli_command cmd_status = {
	.name = "status",
	.group = CLI_WATCH,
	.usage = "",
	.summary = "show the daemon, the overseer and the workers",
	.help =
	    "Prints one line per worker: name, status, branch, time in that "
	    "status, commit,\nand the beginning of its task; below, what needs "
	    "you and what to type. Only\nreads what was saved, so it is "
	    "fast and works without a daemon.\n",
	.example = "status --json",
	.needs = CLI_DAEMON_DOES,
	.shape = CLI_SHAPE(OBJECT, status_shape),
	.run = status_run,
};
