/* SPDX-License-Identifier: ISC */

/* llmc status: a drawing of the view, with what only files tell. */
#include "base.h"

#include "cli-private.h"
#include "moment.h"
#include "config.h"
#include "git-ask.h"
#include "http-request.h"
#include "landing-record.h"
#include "place.h"
#include "orphans.h"
#include "plan-progress.h"
#include "tmux.h"
#include "view.h"
#include "worker.h"
#include "setup.h"

#define SHA_LEN   7
#define NEEDS_MAX 20 /* lines */

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
				  "start it with: ",
		    s->overseen ? "" : view_start_command(s->head));
	}
	buf_addc(&cli->text, '\n');
	if (branch != NULL && branch[0] != '\0')
		buf_addf(&cli->text, "Work %s %s.\n",
		    lands_by_pull(s->settings) ? "becomes pull requests for" :
						 "lands on",
		    branch);
	else if (branch != NULL)
		buf_adds(&cli->text,
		    "Work lands nowhere: no branch is set; type: llmc config "
		    "set repo.default_branch BRANCH\n");
}

static void
show_hosts(struct status *s)
{
	struct json_object *list = view_hosts_list(s->view);
	const char *away = json_string_or(s->head, "fleet_away", NULL);

	if (json_object_array_length(list) == 0) {
		json_object_put(list);
		return;
	}
	json_set(s->cli->result, "hosts", list);
	status_section(s->cli, "HOSTS");
	cli_table(
	    s->cli, view_host_columns, VIEW_HOST_COLUMNS, list, NULL, NULL);
	if (away == NULL)
		return;
	cli_coloured(s->cli, "1;31", "away");
	cli_say(s->cli, ": ", away,
	    "; agents work on, and nothing is claimed or landed until it is "
	    "back\n");
}

/* --- workers --------------------------------------------------------- */

static const struct schema worker_shape = SCHEMA_SHAPE(
    SCHEMA_MAY("host", STRING, "of a fleet"), SCHEMA_IS("name", STRING, NULL),
    SCHEMA_IS("status", STRING, NULL), SCHEMA_OR_NULL("branch", STRING, NULL),
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

static bool
is_elsewhere(const struct status *s, struct json_object *row)
{
	const char *host = json_string_or(row, "host", NULL);

	return host != NULL && !view_is(s->head, "host", host);
}

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
	if (is_elsewhere(s, row))
		buf_addf(&attach, "llmc attach %s:%s",
		    json_string_or(row, "host", ""), name);
	else
		sessions_attach_words(s->settings, session, &attach);
	if (json_bool_or(row, "has_session", false) && s->cli->json &&
	    !is_elsewhere(s, row)) /* a file of each */
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
	const char *name = json_string_or(worker, "name", "");
	cleanup_free char *key = is_elsewhere(s, worker) ?
	    xasprintf("%s:%s", json_string_or(worker, "host", ""), name) :
	    xstrdup(name);

	return json_object_object_get(s->workers, key);
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
	{ .key = "host", .usual = "" },
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
	size_t count;

	JSON_MEMBERS (it, s->workers)
		if (worker_is_auto(json_string_or(it.val, "name", it.key)) ==
		    is_auto)
			json_object_array_add(list, worker_json(s, it.val));
	count = json_object_array_length(list);
	if (count > 0) {
		status_section(s->cli, title);
		cli_table(s->cli, worker_columns, nitems(worker_columns), list,
		    s, NULL);
	}
	JSON_EACH (row, list) {
		const char *remark = json_string_or(row, "remark", NULL);

		if (remark == NULL)
			continue;
		if (is_elsewhere(s, row))
			buf_addf(text, "%s:", json_string_or(row, "host", ""));
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

	if (workers == 0)
		buf_adds(text,
		    "\nThere are no workers yet; add one with: llmc add "
		    "NAME\n");
	else
		buf_addf(
		    text, "\n%d worker%s", workers, workers == 1 ? "" : "s");
	for (int i = 0; i < WORKER_STATUS_COUNT; i++) {
		const char *name = worker_status_name((enum worker_status)i);
		int count = 0;

		JSON_MEMBERS (it, s->workers) {
			count += view_is(it.val, "status", name);
			if (attached == NULL && !is_elsewhere(s, it.val) &&
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
		cli_say(cli, "  ", off, "\n");
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

static void
show_goals_elsewhere(struct status *s)
{
	struct json_object *rows =
	    json_object_object_get(s->view, VIEW_HOSTS) == NULL ||
		s->cli->here ?
	    NULL :
	    goal_view_elsewhere(s->cli);

	if (rows != NULL)
		json_set(s->cli->result, "goals_elsewhere", rows);
}

/* What one worker has for itself, and what of its session listens. */
static void
show_place(struct cli *cli, const struct settings *settings, const char *name,
    int index)
{
	struct json_object *place = json_object_new_object();
	struct json_object *list = workplace_listeners(&cli->workspace, name);
	cleanup_free char *tmpdir = workplace_tmpdir(&cli->workspace, index);
	int port = place_port(settings, index);
	int busy = workplace_busy_port(settings, index);
	struct buf *text = &cli->text;
	bool own = false;

	JSON_EACH (row, list)
		own = own || json_int_or(row, "port", 0) == busy;

	json_set_int(place, "index", index);
	json_set_int(place, "port", port);
	json_set_string(place, "tmpdir", tmpdir);
	json_set(place, "listeners", list);
	json_set(cli->result, "place", place);
	status_section(cli, "PLACE");
	buf_addf(text, "number %d, ports %d to %d, temporary files in %s\n",
	    index, port, port + PLACE_PORTS - 1, tmpdir);
	if (busy != 0 && !own)
		buf_addf(text,
		    "port %d is used by another program; other ports: llmc "
		    "config set repo.port_base NUMBER\n",
		    busy);
	JSON_EACH (row, list) {
		cli_say(cli, "", json_string_or(row, "program", "?"), "");
		buf_addf(text, " (pid %d) listens on %d\n",
		    (int)json_int_or(row, "pid", 0),
		    (int)json_int_or(row, "port", 0));
	}
}

static const struct schema listener_shape =
    SCHEMA_SHAPE(SCHEMA_IS("port", INT, NULL), SCHEMA_IS("pid", INT, NULL),
	SCHEMA_IS("program", STRING, NULL));

static const struct schema place_shape =
    SCHEMA_SHAPE(SCHEMA_IS("index", INT, "LLMC_INDEX"),
	SCHEMA_IS("port", INT, "LLMC_PORT, the first of 20"),
	SCHEMA_IS("tmpdir", STRING, "LLMC_TMPDIR"),
	SCHEMA_IS("listeners", ROWS,
	    "processes of its session that listen on TCP ports now",
	    .of = &listener_shape));

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

/* What has landed on a result that was overtaken. */
static void
show_unproven(struct status *s)
{
	const char *commit = json_string_or(s->head, "unproven", NULL);

	if (commit == NULL)
		return;
	json_set_string(s->cli->result, "unproven", commit);
	status_section(s->cli, "LANDING");
	landing_text_unproven(s->cli, commit);
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
	else if (settings_bool(*ret_settings, "web.enabled") &&
	    web_may_listen(settings_string(*ret_settings, "web.listen"),
		settings_string(*ret_settings, "web.origin"), &err) < 0)
		cli_warn(cli, "%s", err.msg);
	settings_problems_release(&problems);
	return CLI_OK;
}

static int
status_run(struct cli *cli, const struct cli_args *args)
{
	static const char *const sections[] = { "head", "workers", "budget",
		"needs", VIEW_HOSTS, NULL };
	struct status s = { .cli = cli, .now = clock_wall_ms() };
	struct overseer_files overseer;
	int status = load_settings(cli, &s.settings);
	const char *name = args->count > 0 ? args->list[0] : NULL;
	bool live;

	cli->here = args->flags[0] != NULL;
	if (status != CLI_OK)
		return status;
	status = view_source_once(cli, sections, &s.view, &live);
	if (status == CLI_OK && name != NULL) {
		struct json_object *row, *one = json_object_new_object();

		if (json_object_object_get_ex(
			view_of(s.view, "workers"), name, &row)) {
			json_set(one, name, json_object_get(row));
			json_set(s.view, "workers", one);
		} else {
			json_object_put(one);
			status = cli_fail(cli, "no_such_worker",
			    "there is no worker %s; see: llmc status", name);
		}
	}
	if (status == CLI_OK) {
		s.head = view_of(s.view, "head");
		s.workers = view_of(s.view, "workers");
		cli->result = json_object_new_object();
		overseer_files_load(cli, &overseer);
		s.overseen = overseer.active;
		show_daemon(&s);
		status_overseer_show(cli, &overseer, s.now);
		overseer_files_release(&overseer);
		show_hosts(&s);
		show_workers(&s, "WORKERS", "workers", false);
		show_workers(&s, "AUTO WORKERS", "auto_workers", true);
		if (name != NULL && strchr(name, ':') != NULL) {
			/* Its place is on another machine. */
		} else if (name != NULL) {
			show_place(cli, s.settings, name,
			    (int)json_int_or(
				json_object_object_get(s.workers, name),
				"index", 0));
		} else {
			status_auto_show(&s);
			show_goals(&s);
			show_goals_elsewhere(&s);
			status_days_show(&s);
			show_push(&s);
			show_unproven(&s);
		}
		show_needs(&s);
		show_summary(&s);
	}
	json_object_put(s.view);
	settings_free(s.settings);
	return status;
}

static const struct schema daemon_shape = SCHEMA_SHAPE(
    SCHEMA_IS("active", BOOL, NULL), SCHEMA_OR_NULL("pid", INT, NULL),
    SCHEMA_OR_NULL("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_OR_NULL("version", STRING, NULL));

static const struct schema status_shape = SCHEMA_SHAPE(
    SCHEMA_IS("daemon", OBJECT, NULL, .of = &daemon_shape),
    SCHEMA_OR_NULL("landing_branch", STRING,
	"branch that work lands on, null if none is set"),
    SCHEMA_MAY("overseer", OBJECT,
	"only where an overseer is running or has run",
	.of = &status_overseer_shape),
    SCHEMA_MAY(
	"hosts", ROWS, "of a fleet, lost ones first", .of = &view_host_schema),
    SCHEMA_IS("workers", ROWS, NULL, .of = &worker_shape),
    SCHEMA_MAY("auto_workers", ROWS, NULL, .of = &worker_shape),
    SCHEMA_MAY(
	"place", OBJECT, "of the worker that was named", .of = &place_shape),
    SCHEMA_MAY("auto", OBJECT, "only where auto mode has been used",
	.of = &status_auto_shape),
    SCHEMA_MAY(
	"goals", OBJECT, "only where goals are used", .of = &plan_digest_shape),
    SCHEMA_MAY("goals_elsewhere", ROWS, "of the other hosts of a fleet",
	.of = &goal_elsewhere_shape),
    SCHEMA_MAY("days", ROWS, "what all workers used, oldest day first",
	.of = &status_day_shape),
    SCHEMA_MAY("push", OBJECT, "only while something is wrong with origin",
	.of = &push_record_schema),
    SCHEMA_MAY("unproven", STRING,
	"commit that landed on a result that was overtaken, and that no check "
	"has passed yet"),
    SCHEMA_IS("needs", ROWS, "what needs a person now, the most urgent first",
	.of = &view_need_schema),
    SCHEMA_IS("summary", MAP, "workers by status", .of = SCHEMA_VALUES(INT)));

const struct cli_command cmd_status = {
	.name = "status",
	.group = CLI_WATCH,
	.usage = "[WORKER] [--here]",
	.flags = cli_here_flags,
	.max_args = 1,
	.summary = "show the daemon, the overseer and the workers",
	.help =
	    "Prints one line per worker: name, status, branch, time in that "
	    "status, commit,\nand the beginning of its task; below, what needs "
	    "you and what to type. Only\nreads what was saved, so it is "
	    "fast and works without a daemon.\nOf one WORKER it also shows the place: its "
	    "number, its ports, and which programs\nof its session listen.\n",
	.example = "status --json",
	.needs = CLI_DAEMON_DOES,
	.shape = CLI_SHAPE(OBJECT, status_shape),
	.run = status_run,
};

/* --- llmc without a command ------------------------------------------- */

struct stand {
	struct json_object *need; /* the most urgent, NULL = none */
	bool daemon, is_auto, overseen;
	bool tasks; /* some wait */
	bool wrong; /* the settings have an error */
	int workers, working, review;
	int held; /* by a person, until llmc resume */
	int by_hand; /* workers that take no tasks by themselves */
};

/* Does a command line of llmc ask the daemon? */
static bool
asks_daemon(const struct cli *cli, const char *line)
{
	cleanup_free char *copy = xstrdup(line);
	const char *words[2] = { "", "" };
	const struct cli_command *command;
	char *at = copy, *word;
	int count = -1, used; /* the first word is llmc */

	for (; count < 2 && (word = strsep(&at, " ")) != NULL; count++)
		if (count >= 0)
			words[count] = word;
	command = count > 0 ? cli_find_words(cli, words, count, &used) : NULL;
	return command != NULL && command->method != NULL;
}

static bool
all_held(const struct stand *s)
{
	return s->held > 0 && s->held == s->workers;
}

/* The one thing to type next. */
static const char *
stand_next(const struct cli *cli, const struct stand *s)
{
	const char *answer = s->need == NULL ?
	    NULL :
	    json_string_or(s->need, "command", "llmc asks");

	if (s->wrong)
		return "llmc doctor";
	if (answer != NULL && (s->daemon || !asks_daemon(cli, answer)))
		return answer;
	if (!s->daemon && s->overseen)
		return "llmc status";
	if (!s->daemon && (s->tasks || (s->need != NULL && s->by_hand == 0)))
		return "llmc up --auto --detach";
	if (!s->daemon)
		return s->by_hand == 0 ?
		    "llmc task add \"What is to be done\"" :
		    s->is_auto ? "llmc up --auto --detach" :
				 "llmc up --detach";
	if (s->review > 0 && !s->is_auto)
		return "llmc review";
	if (all_held(s))
		return "llmc resume";
	if (s->working > 0 || s->tasks)
		return s->is_auto || s->working > 0 ? "llmc top" :
						      "llmc up --auto --detach";
	if (s->is_auto)
		return "llmc task add \"What is to be done\"";
	return s->workers > 0 ? "llmc start" : "llmc add adam";
}

static bool
folder_has_tasks(const struct cli *cli)
{
	cleanup_free char *path = workspace_path(&cli->workspace, "tasks/todo");
	cleanup_dir DIR *dir = opendir(path);
	const char *name = dir_next(dir);

	while (name != NULL && name[0] == '.')
		name = dir_next(dir);
	return name != NULL;
}

static void
stand_print(struct cli *cli, const struct stand *s)
{
	struct buf *text = &cli->text;

	buf_addf(text, "%s: %s%s, %d worker%s", cli->workspace.root,
	    !s->daemon     ? "no daemon runs" :
		s->is_auto ? "auto mode runs" :
			     "the daemon runs",
	    s->overseen ? " under the overseer" : "", s->workers,
	    s->workers == 1 ? "" : "s");
	if (s->working > 0)
		buf_addf(text, " (%d at work)", s->working);
	if (all_held(s))
		buf_adds(text, ", paused by a person");
	buf_adds(text, s->tasks ? "; tasks wait" : "; no task waits");
	if (s->wrong)
		buf_adds(text, "; config.toml has errors");
	if (s->need != NULL) {
		cli_say(cli,
		    "\nNeeds you: ", json_string_or(s->need, "who", ""), ": ");
		cli_say(cli, "", json_string_or(s->need, "words", ""), "");
	}
	buf_addf(text, "\nNext: %s\n", stand_next(cli, s));
}

int
status_stand(struct cli *cli)
{
	static const char *const sections[] = { "head", "workers", "budget",
		"needs", NULL };
	static const char *const at_work[] = { "starting", "working",
		"reviewing", "rejected", "rebasing", "accepting", "limited",
		"waiting" };
	cleanup_json struct json_object *view = NULL, *daemon = NULL,
					*needs = NULL;
	struct settings *settings = NULL;
	struct stand s = { 0 };
	bool live;
	int status;

	if (!workspace_initialised(&cli->workspace)) {
		buf_addf(&cli->text,
		    "%s: llmc is not set up in this repository.\nNext: %s\n",
		    cli->workspace.root,
		    git_ask_has_commit(cli->workspace.root, NULL) == 0 ?
			"git commit --allow-empty -m Start" :
			"llmc init");
		return CLI_OK;
	}
	status = view_source_once(cli, sections, &view, &live);
	if (status != CLI_OK)
		return status;
	s.wrong = config_load_strict(&cli->workspace, &settings, NULL) < 0;
	settings_free(settings);
	daemon = roster_daemon(cli);
	s.overseen = overseer_now(cli).active;
	needs = view_needs_list(view);
	if (json_object_array_length(needs) > 0)
		s.need = json_object_array_get_idx(needs, 0);
	s.daemon = daemon != NULL;
	s.is_auto = json_bool_or(view_of(view, "head"), "auto", false);
	s.tasks = json_int_or(view_of(view, "head"), "todo", 0) > 0 ||
	    folder_has_tasks(cli);
	JSON_MEMBERS (it, view_of(view, "workers")) {
		const char *status_name = json_string_or(it.val, "status", "");

		s.workers++;
		/* A limit stops those without a task, too. */
		for (size_t i = 0; i < nitems(at_work); i++)
			s.working += strcmp(status_name, at_work[i]) == 0 &&
			    (strcmp(status_name, "limited") != 0 ||
				json_string_or(it.val, "title", NULL) != NULL);
		s.review += strcmp(status_name, "needs_review") == 0;
		s.held += json_bool_or(it.val, "on_hold", false);
		s.by_hand +=
		    !worker_is_auto(json_string_or(it.val, "name", it.key));
	}
	stand_print(cli, &s);
	return CLI_OK;
}
