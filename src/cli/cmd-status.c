/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "cli-private.h"
#include "config.h"
#include "landing-record.h"
#include "plan-summary.h"
#include "remains.h"
#include "tmux.h"
#include "view.h"
#include "worker.h"

static void
add_done(struct json_object *goal, struct buf *out)
{
	int64_t total = json_int_or(goal, "total", 0);

	if (total == 0)
		buf_adds(out,
		    json_bool_or(goal, "planning", false) ? "to be planned" :
							    "no plan");
	else
		buf_addf(out, "%" PRId64 "/%" PRId64,
		    json_int_or(goal, "done", 0), total);
}

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
	{ .add = add_done, .right = true },
	{ .add = add_note },
	{ .key = "title", .flexible = true },
};

static void
status_goals_show(struct status *s)
{
	const struct schema_field shape = { .type = SCHEMA_OBJECT,
		.of = &plan_digest_shape };
	struct json_object *digest = s->state.goals;
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

#define SHA_LEN   7
#define NEEDS_MAX 20 /* lines */
#define ANSWER_MS 300 /* what hangs is not waited for */

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
	if (found == NULL) {
		/* A daemon that was killed has left the statuses of its
		 * workers in the state. Their sessions may go on, but nobody
		 * attends to them. */
		for (size_t i = 0; i < s->state.count; i++) {
			struct worker *w = s->state.workers[i];
			const char *was = worker_status_name(w->status);

			if (!worker_in_turn(w->status) &&
			    w->status != WORKER_STARTING &&
			    w->status != WORKER_ACCEPTING &&
			    w->status != WORKER_WAITING)
				continue;
			free(w->reason);
			w->reason =
			    xasprintf("was %s when the daemon ended", was);
			w->status = WORKER_OFFLINE;
		}
	}
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
		    s->state.auto_mode && !s->overseen ? " --auto" : "");
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

/* The task that it has in auto mode, or NULL. */
static const struct task *
worker_task(const struct status *s, const struct worker *w)
{
	return w->task != NULL ? state_task(&s->state, w->task) : NULL;
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct worker, key, member, ##__VA_ARGS__)

/* What is made of more than one member: worker_json(). */
#define MADE(key, kind, words)                                        \
	{                                                             \
		.name = (key), .type = SCHEMA_##kind, .help = (words) \
	}

#define MADE_OR_NULL(key, words)                          \
	{                                                 \
		.name = (key), .type = SCHEMA_STRING,     \
		.flags = SCHEMA_NULLABLE, .help = (words) \
	}

static const struct schema_field worker_fields[] = {
	FIELD("name", name, .flags = SCHEMA_REQUIRED),
	MADE("status", STRING, NULL),
	FIELD("branch", branch),
	FIELD("worktree_path", worktree),
	MADE("time_in_state_secs", INT, NULL),
	FIELD("commit_sha", commit),
	FIELD("prompt_cmd", prompt_command,
	    .help = "command that printed its task"),
	MADE_OR_NULL("prompt_excerpt", NULL),
	FIELD("error_reason", reason,
	    .help = "why it is in error, paused or limited, or why its work "
		    "did not land"),
	MADE_OR_NULL("remark", "that reason, or what a person can type next"),
	FIELD("on_hold", on_hold,
	    .help = "a person paused or stopped it: no new task"),
	MADE("paused_for", LIST,
	    "why it does not go on, or will not after its turn: person, "
	    "budget, trust"),
	FIELD("oversight", health,
	    .help = "what was found after its last turn: healthy, warning, "
		    "critical, paused or aborted"),
	FIELD("question", asks_id,
	    .help = "id of the question that it waits with; its text is in "
		    "remark"),
	FIELD("task", task, .help = "id of its task in auto mode"),
	MADE_OR_NULL("task_title", NULL),
	FIELD("until_unix", until_ms, .flags = SCHEMA_UNIX,
	    .help = "when limited: time at which it continues"),
	MADE("attach", STRING, "command that attaches to its session"),
	MADE_OR_NULL("keeper",
	    "what ends everything that its agent started: namespace, cgroup, "
	    "scope, reaper or box; null without a session"),
};

static const struct schema worker_schema =
    SCHEMA_OF(struct worker, worker_fields);

static struct json_object *
worker_json(const struct status *s, const struct worker *w)
{
	struct json_object *json = schema_json(&worker_schema, w);
	cleanup_buf struct buf excerpt = BUF_INIT, attach = BUF_INIT;
	cleanup_buf struct buf remark = BUF_INIT;
	cleanup_free char *session = tmux_session_name(w->name);
	cleanup_free char *keeper = NULL;
	const struct task *task = worker_task(s, w);
	int64_t since = s->now - w->since_ms;

	roster_excerpt(w, &excerpt);
	sessions_attach_words(s->settings, session, &attach);
	view_row_remark(w, &remark);
	if (w->session.pane != NULL && s->cli->json) /* a file of each */
		keeper = remains_mode(&s->cli->workspace, w->name);
	json_set_string(json, "status", worker_shown_status(w));
	json_set_int(json, "time_in_state_secs", since > 0 ? since / 1000 : 0);
	json_set_string(
	    json, "prompt_excerpt", excerpt.len > 0 ? excerpt.data : NULL);
	json_set_string(json, "remark", remark.len > 0 ? remark.data : NULL);
	json_set(json, "paused_for", worker_holds_to_json(worker_holds(w)));
	json_set_string(json, "task_title", task != NULL ? task->title : NULL);
	json_set_string(json, "attach", attach.data);
	json_set_string(json, "keeper", keeper);
	schema_order(&worker_schema, json);
	return json;
}

static void
add_sha(struct json_object *row, struct buf *out)
{
	const char *commit = json_string_or(row, "commit_sha", NULL);

	if (commit != NULL)
		buf_addf(out, "[%.*s]", SHA_LEN, commit);
}

static void
add_words(struct json_object *row, const void *arg, struct buf *out)
{
	const struct status *s = arg;
	const struct worker *w =
	    state_find(&s->state, json_string_or(row, "name", ""));
	const struct task *task;
	cleanup_buf struct buf excerpt = BUF_INIT;

	if (w->until_ms > s->now) {
		buf_adds(out, "continues in ");
		moment_add_age(out, w->until_ms - s->now);
	}
	/* The id and title of its task, or the beginning of its prompt. */
	task = worker_task(s, w);
	if (task != NULL && task->title != NULL)
		buf_adds(&excerpt, task->title);
	else
		roster_excerpt(w, &excerpt);
	if (w->task != NULL)
		buf_addf(out, "%s%s", out->len > 0 ? " " : "", w->task);
	if (excerpt.len > 0 && w->status != WORKER_IDLE)
		buf_addf(
		    out, "%s\"%s\"", out->len > 0 ? " " : "", excerpt.data);
}

static void
add_status(struct json_object *row, const void *arg, struct buf *out)
{
	const struct status *s = arg;

	buf_adds(out,
	    worker_shown_words(
		state_find(&s->state, json_string_or(row, "name", ""))));
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
	cleanup_json struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < s->state.count; i++)
		if (worker_is_auto(s->state.workers[i]->name) == is_auto)
			json_object_array_add(
			    list, worker_json(s, s->state.workers[i]));
	if (json_object_array_length(list) > 0) {
		struct cli *cli;

		status_section(s->cli, title);
		cli_table(s->cli, worker_columns, nitems(worker_columns), list,
		    s, NULL);
		cli = s->cli;
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			struct json_object *row =
			    json_object_array_get_idx(list, i);
			const char *remark =
			    json_string_or(row, "remark", NULL);

			if (remark == NULL)
				continue;
			buf_addf(&cli->text,
			    "%s: ", json_string_or(row, "name", ""));
			text_add_words(&cli->text, remark, strlen(remark));
			buf_addc(&cli->text, '\n');
		}
	}
	if (json_object_array_length(list) > 0 || !is_auto)
		json_set(s->cli->result, key, take_ptr(&list));
}

static void
show_summary(struct status *s)
{
	struct json_object *counts = json_object_new_object();
	struct cli *cli = s->cli;
	size_t by_status[WORKER_STATUS_COUNT] = { 0 };
	const char *comma = ": ";

	for (size_t i = 0; i < s->state.count; i++)
		by_status[worker_shown(s->state.workers[i])]++;
	if (s->state.count == 0)
		buf_adds(&cli->text,
		    "\nThere are no workers yet; add one with: llmc add "
		    "NAME\n");
	else
		buf_addf(&cli->text, "\n%zu worker%s", s->state.count,
		    s->state.count == 1 ? "" : "s");
	for (int i = 0; i < WORKER_STATUS_COUNT; i++) {
		const char *name = worker_status_name((enum worker_status)i);

		if (by_status[i] == 0)
			continue;
		buf_addf(&cli->text, "%s%zu %s", comma, by_status[i], name);
		comma = ", ";
		json_set_int(counts, name, (int64_t)by_status[i]);
	}
	if (s->state.count > 0)
		buf_addc(&cli->text, '\n');
	json_set(cli->result, "summary", counts);
}

/* For the first worker that has a session: the command for others looks the
 * same. */
static void
show_attach(struct status *s)
{
	for (size_t i = 0; i < s->state.count; i++) {
		const struct worker *w = s->state.workers[i];
		cleanup_free char *session = tmux_session_name(w->name);

		if (w->session.pane == NULL)
			continue;
		buf_adds(&s->cli->text, "Attach with: ");
		sessions_attach_words(s->settings, session, &s->cli->text);
		buf_addc(&s->cli->text, '\n');
		return;
	}
}

/* --- what needs a person --------------------------------------------- */

/* The daemon's view, or that of the files if none answers, soon, and us. */
static struct json_object *
look_around(struct status *s)
{
	cleanup_free char *socket = remote_socket(s->cli);
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *view = NULL;

	json_set_bool(params, "needs", true);
	if (client_call(socket, "view.get", params, ANSWER_MS, true, &view,
		NULL, NULL) == 0)
		return view_complete(view);
	view = view_new();
	view_source_fill(s->cli, s->settings, &s->state, view);
	view_needs(view);
	return view;
}

static const struct view_column need_columns[] = {
	{ .key = "who", .colour = "1;31" },
	{ .key = "words", .flexible = true },
	{ .key = "command" },
};

static void
show_needs(struct status *s)
{
	struct cli *cli = s->cli;
	cleanup_json struct json_object *view = look_around(s);
	struct json_object *list = view_needs_list(view);
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

/* A push that fails is nothing that stops, so it must be seen here. */
static void
show_push(struct status *s)
{
	const struct push_record *push = &s->state.landings.push;
	struct json_object *json;

	if (!settings_bool(s->settings, "repo.push") ||
	    !push_record_has_failed(push))
		return;
	json = push_record_json(push);
	json_set(s->cli->result, "push", json);
	status_section(s->cli, "PUSH");
	landing_text_push(s->cli, json);
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
	struct status s = { .cli = cli, .now = clock_wall_ms() };
	struct overseer_files overseer;
	int status = load_settings(cli, &s.settings);

	(void)args;
	if (status != CLI_OK)
		return status;
	status = roster_load(cli, &s.state);
	if (status == CLI_OK) {
		cli->result = json_object_new_object();
		overseer_files_load(cli, &overseer);
		s.overseen = overseer.active;
		show_daemon(&s);
		status_overseer_show(&s, &overseer);
		overseer_files_release(&overseer);
		show_workers(&s, "WORKERS", "workers", false);
		show_workers(&s, "AUTO WORKERS", "auto_workers", true);
		status_auto_show(&s);
		status_goals_show(&s);
		status_usage_show(&s);
		show_push(&s);
		show_needs(&s);
		show_summary(&s);
		show_attach(&s);
		state_release(&s.state);
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
    SCHEMA_IS("workers", ROWS, NULL, .of = &worker_schema),
    SCHEMA_MAY("auto_workers", ROWS, NULL, .of = &worker_schema),
    SCHEMA_MAY("auto", OBJECT, "only where auto mode has been used",
	.of = &status_auto_shape),
    SCHEMA_MAY(
	"goals", OBJECT, "only where goals are used", .of = &plan_digest_shape),
    SCHEMA_MAY("days", ROWS, "what all workers used, oldest day first",
	.of = &status_usage_shape),
    SCHEMA_MAY("push", OBJECT, "only while a push of landed work fails",
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
