/* SPDX-License-Identifier: ISC */

/* llmc add, message, pause, resume, stop, abort, reset, nuke, wait: one worker,
 * or all. */
#include "base.h"

#include <pwd.h>

#include "cli-private.h"
#include "config.h"

/* --- add --------------------------------------------------------------- */

enum {
	FLAG_MODEL,
	FLAG_ROLE,
	FLAG_EXCLUDED,
	FLAG_REVIEW,
	FLAG_COUNT
};

static const struct cli_flag add_flags[] = {
	[FLAG_MODEL] = { "model", "MODEL", "model for its agent" },
	[FLAG_ROLE] = { "role-prompt", "TEXT",
	    "text to put before each of its tasks" },
	[FLAG_EXCLUDED] = { "excluded-from-pool", NULL,
	    "llmc start chooses it only when named" },
	[FLAG_REVIEW] = { "self-review", NULL,
	    "the agent reviews its own work before you do" },
	{ NULL, NULL, NULL },
};

static const char *const add_keys[FLAG_COUNT] = {
	[FLAG_MODEL] = "model",
	[FLAG_ROLE] = "role_prompt",
	[FLAG_EXCLUDED] = "excluded_from_pool",
	[FLAG_REVIEW] = "self_review",
};

/* The value of a key in the file before, NULL = none. The caller frees it. */
static char *
value_before(const struct settings *settings, const char *path)
{
	cleanup_json struct json_object *value = NULL;
	unsigned line = 0;

	if (!settings_value(settings, path, &value, &line) || line == 0)
		return NULL;
	return xstrdup(json_object_get_string(value));
}

static bool
had_section(const struct settings *settings, const char *name)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);

	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Restore the section: a worker that could not be created leaves no trace. */
static void
undo_settings(struct cli *cli, const struct settings *before, const char *name,
    const struct cli_args *args)
{
	cleanup_free char *table = xasprintf("workers.%s", name);

	if (!had_section(before, name)) {
		config_remove_table(&cli->workspace, table, NULL);
		return;
	}
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("%s.%s", table, add_keys[i]);
		cleanup_free char *old = value_before(before, path);

		if (args->flags[i] != NULL)
			config_change(&cli->workspace, path, old, NULL);
	}
}

static int
write_settings(struct cli *cli, const char *name, const struct cli_args *args)
{
	struct err err = { 0 };

	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("workers.%s.%s", name, add_keys[i]);

		if (args->flags[i] == NULL)
			continue;
		if (config_change(&cli->workspace, path,
			add_flags[i].value != NULL ? args->flags[i] : "true",
			&err) < 0)
			return cli_fail_err(cli, "bad_value", &err);
	}
	return CLI_OK;
}

static int
check_name(struct cli *cli, const char *name)
{
	struct state state;
	int status;

	if (!text_is_name(name))
		return cli_fail(cli, "bad_value",
		    "%s is not a valid name for a worker; use up to 32 lower "
		    "case letters, digits, - and _, starting with a letter or "
		    "digit",
		    name);
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (state_find(&state, name) != NULL)
		status = cli_fail(cli, "exists",
		    "there is already a worker %s; see: llmc status", name);
	state_release(&state);
	return status;
}

static int
add_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->list[0];
	struct settings *before = NULL;
	int status = check_name(cli, name);

	if (status == CLI_OK)
		status = cli_load_settings(cli, &before);
	if (status != CLI_OK)
		return status;
	status = write_settings(cli, name, args);
	if (status == CLI_OK)
		status = remote_call(cli, "worker.add", remote_worker(name),
		    REMOTE_LONG_MS, &cli->result);
	if (status != CLI_OK) {
		undo_settings(cli, before, name, args);
	} else {
		json_set_string(cli->result, "model",
		    args->flags[FLAG_MODEL] != NULL ? args->flags[FLAG_MODEL] :
						      "default");
		buf_addf(&cli->text,
		    "Created %s, with branch %s and worktree %s.\n", name,
		    json_string_or(cli->result, "branch", ""),
		    json_string_or(cli->result, "worktree_path", ""));
		buf_addf(&cli->text, "Next: llmc %s\n",
		    remote_alive(cli) ? "start" : "up");
	}
	settings_free(before);
	return status;
}

static const struct schema add_shape = SCHEMA_SHAPE(
    SCHEMA_IS("worker", STRING, NULL), SCHEMA_IS("branch", STRING, NULL),
    SCHEMA_IS("worktree_path", STRING, NULL),
    SCHEMA_IS("model", STRING, "as given, or \"default\""));

const struct cli_command cmd_add = {
	.name = "add",
	.group = CLI_WORKERS,
	.usage = "NAME [--model MODEL] [--role-prompt TEXT] "
		 "[--excluded-from-pool] [--self-review]",
	.summary = "create a worker",
	.help =
	    "Creates a branch and a worktree for it. A running daemon starts "
	    "its session at\nonce. The options are written to [workers.NAME] "
	    "in the config file. To change\none later, type: llmc config set "
	    "workers.NAME.model MODEL\n",
	.example = "add adam --model opus",
	.flags = add_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.add",
	.repairs = true,
	.shape = CLI_SHAPE(OBJECT, add_shape),
	.run = add_run,
};

/* --- message ----------------------------------------------------------- */

static int
message_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	struct draft draft = DRAFT_INIT;
	int status = draft_fill(cli, args->count > 1 ? args->list[1] : NULL,
	    "message", NULL, &draft);

	if (status == CLI_OK)
		status = remote_call(cli, "worker.message",
		    remote_params(
			"worker", worker->name, "text", draft.text.data, NULL),
		    0, &cli->result);
	if (status == CLI_OK)
		buf_addf(&cli->text, "Sent to %s (%s).\n", worker->name,
		    json_string_or(cli->result, "new_status", ""));
	return draft_end(cli, &draft, status);
}

static int
message_run(struct cli *cli, const struct cli_args *args)
{
	return roster_with(cli, args->list[0], message_named, args);
}

const struct cli_command cmd_message = {
	.name = "message",
	.group = CLI_WORKERS,
	.usage = "WORKER [TEXT]",
	.summary = "send a worker a message about its task",
	.help =
	    "The text is typed into the session unchanged, and the "
	    "conversation continues. To\na worker that waits for review, it is "
	    "a rejection. TEXT - reads standard input;\nwithout TEXT, an "
	    "editor opens. HOST:WORKER is one of another host of the "
	    "fleet: ssh runs\nthis command there.\n",
	.example = "message adam 'Update the manual, too'",
	.min_args = 1,
	.max_args = 2,
	.method = "worker.message",
	.travels = true,
	.run = message_run,
};

/* --- pause ------------------------------------------------------------- */

static int
pause_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->count > 0 ? args->list[0] : NULL, *message;
	int status = remote_call(
	    cli, "worker.pause", remote_worker(name), 0, &cli->result);

	if (status != CLI_OK)
		return status;
	message = json_string_or(cli->result, "message", "Paused.");
	text_add_visible(&cli->text, message, strlen(message), true);
	buf_addf(&cli->text, "\nContinue with: llmc resume%s%s\n",
	    name != NULL ? " " : "", name != NULL ? name : "");
	return CLI_OK;
}

const struct cli_command cmd_pause = {
	.name = "pause",
	.group = CLI_WORKERS,
	.usage = "[WORKER]",
	.summary = "let workers finish their turn and take no new task",
	.help =
	    "A worker that works finishes its turn first, and its finished "
	    "work can land; to\nend its session at once, use llmc stop. The "
	    "pause lasts until llmc resume, also\nacross restarts of the "
	    "daemon. Without a name, every worker pauses.\nHOST:WORKER is one "
	    "of another host of the fleet: ssh runs this command there.\n",
	.example = "pause adam",
	.max_args = 1,
	.method = "worker.pause",
	.travels = true,
	.needs = CLI_DAEMON_DOES,
	.run = pause_run,
};

/* --- resume ------------------------------------------------------------ */

enum {
	FLAG_NOTE
};

static const struct cli_flag resume_flags[] = {
	[FLAG_NOTE] = { "note", "TEXT",
	    "what the next worker gets to read: llmc answer" },
	{ NULL, NULL, NULL },
};

static int
resume_run(struct cli *cli, const struct cli_args *args)
{
	const char *note = args->flags[FLAG_NOTE];
	const char *message;
	int status;

	if (note != NULL && args->count == 0)
		return cli_misuse(
		    cli, &cmd_resume, "--note needs a WORKER or a TASK");
	if (note != NULL)
		return answer_with(cli, args->list[0], note);
	status = remote_call(cli, "auto.resume",
	    remote_params(
		"worker", args->count > 0 ? args->list[0] : NULL, NULL),
	    0, &cli->result);
	if (status != CLI_OK)
		return status;
	message = json_string_or(cli->result, "message", "Resumed.");
	text_add_visible(&cli->text, message, strlen(message), true);
	buf_addc(&cli->text, '\n');
	return CLI_OK;
}

static const struct schema resume_forms =
    SCHEMA_SHAPE(SCHEMA_IS("resume", OBJECT, NULL, .of = &api_resumed),
	SCHEMA_IS("resume --note", OBJECT, NULL, .of = &api_ask_ended));

const struct cli_command cmd_resume = {
	.name = "resume",
	.group = CLI_WORKERS,
	.usage = "[WORKER | TASK] [--note TEXT]",
	.summary = "let paused workers and parked tasks continue",
	.help =
	    "For workers that you have paused or stopped (llmc pause, llmc "
	    "stop), and for\nthose that paused by themselves; llmc status says "
	    "why. When the budget of the\nday is used up, all of auto mode "
	    "pauses; a task that has used up its own, or that\noversight has "
	    "stopped, is parked and its worker does another one. Resuming\n"
	    "grants the same amount once more, and oversight does not stop "
	    "that task for the\nsame kind of finding again. A worker that "
	    "waits for a usage limit or an outage\ngoes on at once: you have "
	    "bought more, or logged in to something else. Without a\nname, "
	    "everything that is paused, parked or limited continues. "
	    "HOST:WORKER is one\nof another host of the fleet: ssh runs this "
	    "command there.\n",
	.example = "resume adam",
	.flags = resume_flags,
	.max_args = 1,
	.method = "auto.resume",
	.travels = true,
	.shape = CLI_SHAPE(ONE, resume_forms),
	.run = resume_run,
};

/* --- stop -------------------------------------------------------------- */

static int
stop_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->list[0], *status_now;
	int status = remote_call(cli, "worker.stop", remote_worker(name),
	    REMOTE_LONG_MS, &cli->result);

	if (status != CLI_OK)
		return status;
	status_now = json_string_or(cli->result, "new_status", "");
	buf_addf(
	    &cli->text, "The session of %s has ended; its work is kept", name);
	if (strcmp(status_now, "paused") != 0)
		buf_addf(&cli->text, " (%s)", status_now);
	buf_addf(&cli->text, ".\nContinue with: llmc resume %s", name);
	buf_addf(&cli->text,
	    "; to start over, type before that: llmc reset %s\n", name);
	return CLI_OK;
}

const struct cli_command cmd_stop = {
	.name = "stop",
	.group = CLI_WORKERS,
	.usage = "WORKER",
	.summary = "end the session of a worker, keep its work",
	.help =
	    "A turn that is running is interrupted. The worktree, the task and "
	    "the\nconversation stay: llmc resume starts a session that "
	    "continues from there.\nUntil then the worker takes no new task. "
	    "To stop everything, use llmc down; to\nlet a worker finish its "
	    "turn first, llmc pause. HOST:WORKER is one of another host\nof "
	    "the fleet: ssh runs this command there.\n",
	.example = "stop adam",
	.min_args = 1,
	.max_args = 1,
	.method = "worker.stop",
	.travels = true,
	.needs = CLI_DAEMON_DOES,
	.run = stop_run,
};

/* --- abort ------------------------------------------------------------- */

enum {
	FLAG_REASON
};

static const struct cli_flag abort_flags[] = {
	[FLAG_REASON] = { "reason", "TEXT", "why, for the record" },
	{ NULL, NULL, NULL },
};

static int
abort_run(struct cli *cli, const struct cli_args *args)
{
	const struct passwd *user = getpwuid(getuid());
	struct json_object *params = remote_params("task", args->list[0],
	    "reason", args->flags[FLAG_REASON], "user",
	    user != NULL ? user->pw_name : NULL, NULL);
	const char *task;
	int status;

	progress_begin(cli, "waiting for the worker to let go of its task");
	status = remote_call(
	    cli, "task.abort", params, REMOTE_LONG_MS, &cli->result);
	progress_end();
	if (status != CLI_OK)
		return status;
	task = json_string_or(cli->result, "task", "");
	buf_addf(&cli->text,
	    "%s is aborted, and is not tried again; its work is saved (llmc "
	    "landing salvage), and what\nis known of it is in .llmc/aborted/%s.\n",
	    task, task);
	return CLI_OK;
}

const struct cli_command cmd_abort = {
	.name = "abort",
	.group = CLI_WORKERS,
	.usage = "WORKER | TASK [--reason TEXT]",
	.summary = "end a task that goes wrong, for good",
	.help = "The worker's turn is ended, its work is saved, and it is free "
		"for another task.\nThe task counts as failed and is not tried "
		"again; llmc task retry does it once more.\nA check that runs "
		"is ended, a shorter operation waited for; work whose landing "
		"has\nbegun to move the branch lands.\nTo let a worker "
		"wait instead, use llmc pause; to take back a task that nobody "
		"wants,\nllmc task drop.\n",
	.example = "abort t17 --reason 'The approach is wrong'",
	.flags = abort_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "task.abort",
	.needs = CLI_DAEMON_DOES,
	.run = abort_run,
};

/* --- reset ------------------------------------------------------------- */

enum {
	FLAG_ALL,
	FLAG_FAILED,
	FLAG_YES
};

static const struct cli_flag reset_flags[] = {
	[FLAG_ALL] = { "all", NULL, "every worker" },
	[FLAG_FAILED] = { "failed", "REASON",
	    "the attempt at its task failed, and counts" },
	[FLAG_YES] = { "yes", NULL, "do not ask" },
	{ NULL, NULL, NULL },
};

static void
tell_kept(struct cli *cli, const char *salvage)
{
	if (salvage[0] != '\0')
		buf_addf(&cli->text,
		    "Its work is kept: llmc landing salvage show %s\n",
		    roster_salvage(salvage));
}

static void
tell(struct cli *cli, struct json_object *result)
{
	buf_addf(&cli->text, "Reset %s, which was in %s.\n",
	    json_string_or(result, "worker", ""),
	    json_string_or(result, "previous_status", ""));
	tell_kept(cli, json_string_or(result, "salvage", ""));
}

static int
reset_one(struct cli *cli, const char *name, const char *why)
{
	int status = remote_call(cli, "worker.reset",
	    remote_params("worker", name, "failed", why, NULL), REMOTE_LONG_MS,
	    &cli->result);

	if (status == CLI_OK)
		tell(cli, cli->result);
	return status;
}

/* If one fails, the others are still reset. */
static int
reset_all(struct cli *cli, const struct state *state, const char *why)
{
	struct json_object *done = json_object_new_array();
	struct json_object *failed = json_object_new_object();
	struct err err = { 0 };
	const char *code;

	for (size_t i = 0; i < state->count; i++) {
		cleanup_json struct json_object *result = NULL;
		const char *name = state->workers[i]->name;

		if (remote_try(cli, "worker.reset",
			remote_params("worker", name, "failed", why, NULL),
			REMOTE_LONG_MS, &result, &code, &err)) {
			json_object_array_add(
			    done, json_object_new_string(name));
			tell(cli, result);
		} else {
			json_set_string(failed, name, err.msg);
			cli_warn(cli, "%s: %s", name, err.msg);
		}
	}
	if (state->count == 0)
		buf_adds(&cli->text, "There are no workers.\n");
	cli->result = json_object_new_object();
	json_set(cli->result, "workers_reset", done);
	json_set(cli->result, "failed", failed);
	return json_object_object_length(failed) == 0 ? CLI_OK : CLI_FAILED;
}

static int
reset_run(struct cli *cli, const struct cli_args *args)
{
	bool all = args->flags[FLAG_ALL] != NULL;
	const char *name = args->count > 0 ? args->list[0] : NULL;
	const char *why = args->flags[FLAG_FAILED];
	const struct worker *worker;
	struct state state;
	int status;

	if (all == (name != NULL))
		return cli_misuse(cli, &cmd_reset,
		    all ? "name the worker or give --all, not both" :
			  "name the worker to reset, or give --all");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (!all)
		status = roster_find(cli, &state, name, &worker);
	if (status == CLI_OK)
		status = ask_confirm(cli, args->flags[FLAG_YES] != NULL,
		    "This ends the session of %s and removes its task and its "
		    "unlanded work; the work is kept for llmc landing salvage.",
		    all ? "every worker" : name);
	if (status == CLI_OK)
		status = all ? reset_all(cli, &state, why) :
			       reset_one(cli, name, why);
	state_release(&state);
	return status;
}

static const struct schema reset_shape = SCHEMA_SHAPE(
    SCHEMA_MAY("worker", STRING, NULL),
    SCHEMA_MAY("previous_status", STRING, NULL),
    SCHEMA_MAY("new_status", STRING, NULL),
    SCHEMA_MAY("salvage", STRING,
	"ref that keeps its work; empty when there was none"),
    SCHEMA_MAY(
	"workers_reset", LIST, "with --all, instead of the members above"),
    SCHEMA_MAY("failed", MAP, "with --all: reason of each failure, by worker",
	.of = SCHEMA_VALUES(STRING)));

const struct cli_command cmd_reset = {
	.name = "reset",
	.group = CLI_WORKERS,
	.usage = "[WORKER | --all] [--failed REASON] [--yes]",
	.summary = "reset a worker to the default branch, without a task",
	.help =
	    "Ends the session, saves work that has not landed for llmc "
	    "landing salvage, resets the\nbranch and the worktree to the default "
	    "branch, and forgets the task. A running\ndaemon starts a new "
	    "session. In auto mode the task waits for a worker again;\nwith "
	    "--failed REASON the attempt counts, as one that failed for that "
	    "reason.\nAsks first; without a terminal, --yes is required.\n",
	.example = "reset adam --yes",
	.flags = reset_flags,
	.max_args = 1,
	.repairs = true,
	.method = "worker.reset",
	.shape = CLI_SHAPE(OBJECT, reset_shape),
	.run = reset_run,
};

/* --- wait -------------------------------------------------------------- */

#define TIMEOUT_MS     (10 * 60 * 1000)
#define TIMEOUT_MAX_MS (7 * 24 * 3600 * (int64_t)1000)
#define ANSWER_MS      10000 /* added to the timeout, for the answer itself */

enum {
	FLAG_UNTIL,
	FLAG_TIMEOUT
};

static const struct cli_flag wait_flags[] = {
	[FLAG_UNTIL] = { "until", "STATUS",
	    "one status, or several separated by commas" },
	[FLAG_TIMEOUT] = { "timeout", "TIME",
	    "give up after TIME (default: 10m, at most 7d)" },
	{ NULL, NULL, NULL },
};

static int
check_statuses(struct cli *cli, const char *until)
{
	const char *names[WORKER_STATUS_COUNT + 1] = { NULL }, *near;
	cleanup_free char *copy = xstrdup(until);
	char *rest = copy, *word;
	enum worker_status status;

	for (int i = 0; i < WORKER_STATUS_COUNT; i++)
		names[i] = worker_status_name((enum worker_status)i);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (worker_status_parse(word, &status))
			continue;
		near = text_nearest(word, names);
		return cli_misuse(cli, &cmd_wait, "%s: no such status%s%s%s",
		    word, near != NULL ? "; did you mean \"" : "",
		    near != NULL ? near : "", near != NULL ? "\"?" : "");
	}
	return CLI_OK;
}

static int
wait_run(struct cli *cli, const struct cli_args *args)
{
	const char *until = args->flags[FLAG_UNTIL], *now;
	struct json_object *params;
	int64_t timeout = TIMEOUT_MS;
	int status;

	if (until == NULL)
		return cli_misuse(cli, &cmd_wait, "--until STATUS is required");
	status = check_statuses(cli, until);
	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_TIMEOUT] != NULL &&
	    (!text_parse_duration(args->flags[FLAG_TIMEOUT], &timeout) ||
		timeout < 1 || timeout > TIMEOUT_MAX_MS))
		return cli_misuse(cli, &cmd_wait,
		    "--timeout takes a time such as 30s, 10m or 1h, at most "
		    "7d");
	params = remote_worker(args->list[0]);
	json_set_string(params, "until", until);
	json_set_int(params, "timeout_ms", timeout);
	status = remote_call(
	    cli, "worker.wait", params, timeout + ANSWER_MS, &cli->result);
	if (status != CLI_OK)
		return status;
	now = json_string_or(cli->result, "status", "");
	if (!json_bool_or(cli->result, "reached", false)) {
		if (strcmp(now, "gone") == 0)
			cli_warn(cli, "%s has been removed", args->list[0]);
		else
			cli_warn(cli, "timed out: %s is in %s, not in %s",
			    args->list[0], now, until);
		return CLI_FAILED;
	}
	buf_addf(&cli->text, "%s is in %s.\n", args->list[0], now);
	return CLI_OK;
}

const struct cli_command cmd_wait = {
	.name = "wait",
	.group = CLI_WORKERS,
	.usage = "WORKER --until STATUS[,STATUS] [--timeout TIME]",
	.summary = "wait until a worker reaches a status",
	.help =
	    "For scripts: the exit status is 0 when the worker reaches the "
	    "status or is\nalready in it, and 1 on a timeout. The statuses are "
	    "idle, starting, working,\nneeds_review, reviewing, rejected, "
	    "rebasing, no_changes, accepting, paused,\nlimited, error, offline "
	    "and waiting.\n",
	.example = "wait adam --until needs_review,error --timeout 30m",
	.flags = wait_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.wait",
	.run = wait_run,
};

/* --- nuke ---------------------------------------------------------------- */

enum {
	FLAG_NUKE_ALL,
	FLAG_FORCE,
	FLAG_NUKE_YES
};

static const struct cli_flag nuke_flags[] = {
	[FLAG_NUKE_ALL] = { "all", NULL, "every worker" },
	[FLAG_FORCE] = { "force", NULL,
	    "with --all: also while an overseer runs" },
	[FLAG_NUKE_YES] = { "yes", NULL, "do not ask" },
	{ NULL, NULL, NULL },
};

struct nuke {
	struct cli *cli;
	struct state state;
	struct settings *settings;
	struct sessions sessions;
	const char **names;
	size_t count;
	struct json_object *removed, *salvaged, *failed;
};

/* Consoles have no worker; they are only sessions. */
static const struct sessions_entry *
find_console(const struct nuke *n, const char *name)
{
	const struct sessions_entry *found = sessions_find(&n->sessions, name);

	return found != NULL && strcmp(found->role, "console") == 0 ? found :
								      NULL;
}

static int
choose(struct nuke *n, const struct cli_args *args)
{
	bool all = args->flags[FLAG_NUKE_ALL] != NULL;
	const struct worker *worker;

	if (all == (args->count > 0))
		return cli_misuse(n->cli, &cmd_nuke,
		    all ? "name the workers or give --all, not both" :
			  "name the workers to remove, or give --all");
	n->count = all ? n->state.count : (size_t)args->count;
	n->names = xcalloc(n->count + 1, sizeof *n->names);
	for (size_t i = 0; i < n->count; i++) {
		n->names[i] = all ? n->state.workers[i]->name : args->list[i];
		if (state_find(&n->state, n->names[i]) != NULL ||
		    find_console(n, n->names[i]) != NULL)
			continue;
		return roster_find(n->cli, &n->state, n->names[i], &worker);
	}
	return CLI_OK;
}

static void
nuke_one(struct nuke *n, const char *name)
{
	const struct sessions_entry *console = find_console(n, name);

	if (state_find(&n->state, name) != NULL) {
		cleanup_free char *table = xasprintf("workers.%s", name);
		cleanup_json struct json_object *result = NULL;
		struct err err = { 0 };
		const char *code, *salvage;

		if (!remote_try(n->cli, "worker.nuke", remote_worker(name),
			REMOTE_LONG_MS, &result, &code, &err)) {
			const char *message = err.msg;

			json_set_string(n->failed, name, message);
			cli_warn(n->cli, "%s: %s", name, message);
			return;
		}
		if (config_remove_table(&n->cli->workspace, table, &err) < 0)
			cli_warn(n->cli,
			    "%s: its settings were not removed: %s", name,
			    err.msg);
		json_object_array_add(n->removed, json_object_new_string(name));
		salvage = json_string_or(result, "salvage", "");
		buf_addf(&n->cli->text, "Removed %s.\n", name);
		if (json_string_or(result, "warning", NULL) != NULL)
			cli_warn(n->cli, "%s: %s", name,
			    json_string_or(result, "warning", ""));
		if (salvage[0] != '\0')
			json_set_string(n->salvaged, name, salvage);
		tell_kept(n->cli, salvage);
	} else if (console != NULL &&
	    sessions_kill(n->cli, n->settings, console->name) == CLI_OK) {
		json_object_array_add(n->removed, json_object_new_string(name));
		buf_addf(&n->cli->text, "Removed %s.\n", name);
	} else {
		json_set_string(n->failed, name, "its session did not end");
	}
}

static int
nuke_all(struct nuke *n, bool yes)
{
	struct cli *cli = n->cli;
	cleanup_buf struct buf list = BUF_INIT;
	const char *what = "session";
	int status;

	for (size_t i = 0; i < n->count; i++) {
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", n->names[i]);
		if (state_find(&n->state, n->names[i]) != NULL)
			what = "session, worktree, branch and settings";
	}
	status = n->count == 0 ?
	    CLI_OK :
	    ask_confirm(cli, yes, "This removes %s: %s.", list.data, what);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < n->count; i++)
		nuke_one(n, n->names[i]);
	if (n->count == 0)
		buf_adds(&cli->text, "There are no workers.\n");
	cli->result = json_object_new_object();
	json_set(cli->result, "workers_removed", json_object_get(n->removed));
	json_set(cli->result, "salvaged", json_object_get(n->salvaged));
	json_set(cli->result, "failed", json_object_get(n->failed));
	return json_object_object_length(n->failed) == 0 ? CLI_OK : CLI_FAILED;
}

static int
nuke_run(struct cli *cli, const struct cli_args *args)
{
	struct nuke n = { .cli = cli };
	int status = args->flags[FLAG_NUKE_ALL] != NULL &&
		args->flags[FLAG_FORCE] == NULL ?
	    overseer_files_refuse(cli, "nuke --all",
		"or remove them under it: llmc nuke --all --force") :
	    CLI_OK;

	if (status == CLI_OK)
		status = cli_load_settings(cli, &n.settings);
	if (status != CLI_OK)
		return status;
	status = roster_load(cli, &n.state);
	if (status == CLI_OK) {
		status = sessions_load(cli, n.settings, &n.sessions);
		if (status == CLI_OK)
			status = choose(&n, args);
		n.removed = json_object_new_array();
		n.salvaged = json_object_new_object();
		n.failed = json_object_new_object();
		if (status == CLI_OK)
			status =
			    nuke_all(&n, args->flags[FLAG_NUKE_YES] != NULL);
		json_object_put(n.removed);
		json_object_put(n.salvaged);
		json_object_put(n.failed);
		sessions_release(&n.sessions);
		free(n.names);
		state_release(&n.state);
	}
	settings_free(n.settings);
	return status;
}

static const struct schema nuke_shape =
    SCHEMA_SHAPE(SCHEMA_IS("workers_removed", LIST, NULL),
	SCHEMA_IS("salvaged", MAP, "ref that keeps the work, by worker",
	    .of = SCHEMA_VALUES(STRING)),
	SCHEMA_IS("failed", MAP,
	    "reason of each failure, by worker; the exit status is "
	    "then 1",
	    .of = SCHEMA_VALUES(STRING)));

const struct cli_command cmd_nuke = {
	.name = "nuke",
	.group = CLI_WORKERS,
	.usage = "[NAME ...] [--all [--force]] [--yes]",
	.summary = "remove workers, with their worktrees and branches",
	.help =
	    "Ends the session and removes the worktree, the branch and the "
	    "settings. Work\nthat has not landed is kept for llmc landing salvage. You "
	    "can also name a console. Asks\nfirst; without a terminal, --yes "
	    "is required. While an overseer runs, --all\nneeds --force.\n",
	.example = "nuke adam eve --yes",
	.flags = nuke_flags,
	.max_args = 1000,
	.method = "worker.nuke",
	.shape = CLI_SHAPE(OBJECT, nuke_shape),
	.run = nuke_run,
};
