/* SPDX-License-Identifier: ISC */

/* llmc up, restart, down: the daemon. */
#include "base.h"

#include <fcntl.h>

#include "child.h"
#include "cli-private.h"
#include "client.h"
#include "config.h"
#include "loop.h"
#include "machine.h"
#include "people.h"
#include "preflight.h"
#include "procref.h"
#include "sibling.h"
#include "watch.h"
#include "workspace.h"

/* The lock has no event. It is polled for a daemon whose process cannot be
 * watched: on old kernels, or if it runs in another pid namespace. */
#define LOCK_LOOK_MS 250

struct daemon_wait {
	struct loop *loop;
	int64_t after; /* this restart; -1 = any answer */
	const char *path; /* of the socket, or of the lock */
	struct json_object *info;
	int64_t until_ms;
	bool over; /* what we wait for has happened */
};

static void
wait_over(struct daemon_wait *wait)
{
	wait->over = true;
	loop_stop(wait->loop, 0);
}

/* The socket has changed. Wait for a daemon that listens but is still busy; one
 * that does not listen yet changes the socket once more. */
static void
on_socket(void *arg)
{
	struct daemon_wait *wait = arg;

	cleanup_json struct json_object *info = NULL;

	if (wait->over ||
	    client_call(wait->path, "daemon.info", NULL,
		wait->until_ms - clock_mono_ms(), true, &info, NULL,
		NULL) != 0 ||
	    json_int_or(info, "restarts", 0) <= wait->after)
		return;
	wait->info = take_ptr(&info);
	wait_over(wait);
}

static void
on_broken(int fd, unsigned what, void *arg)
{
	struct daemon_wait *wait = arg;

	(void)fd;
	(void)what;
	loop_stop(wait->loop, 0);
}

static void
on_late(void *arg)
{
	struct daemon_wait *wait = arg;

	loop_stop(wait->loop, 0);
}

/* Wait until it answers: *ret_info is its daemon.info, owned by the caller.
 * `fd` becomes readable when it has ended: a pidfd, or the writing end of a
 * pipe whose reading end it has. False then, or after the timeout. after: this
 * many restarts; -1 = any. */
static bool
daemon_wait_up(struct cli *cli, int fd, int64_t after, int64_t ms,
    struct json_object **ret_info)
{
	cleanup_free char *socket = client_socket_path(&cli->workspace);
	struct daemon_wait wait = { .loop = loop_new(),
		.path = socket,
		.after = after,
		.until_ms = clock_mono_ms() + ms };
	struct loop_timer *deadline = loop_after(wait.loop, ms, on_late, &wait);
	struct loop_call *first = loop_call_new(wait.loop, on_socket, &wait);
	/* Nothing is ever read from this end: only its closing is reported. */
	struct loop_watch *broken =
	    loop_watch_new(wait.loop, fd, LOOP_READ, on_broken, &wait);
	struct watch *watch = NULL;

	watch_new(wait.loop, socket, on_socket, &wait, &watch, NULL);
	loop_call_request(first); /* it may be there already */
	loop_run(wait.loop);
	watch_free(watch);
	loop_watch_free(broken);
	loop_call_free(first);
	loop_timer_free(deadline);
	loop_free(wait.loop);
	if (wait.over)
		*ret_info = wait.info;
	return wait.over;
}

static void
on_lock_look(void *arg)
{
	struct daemon_wait *wait = arg;

	if (lock_is_held(wait->path) != 1)
		wait_over(wait);
}

static void
on_ended(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	wait_over(arg);
}

/* Until that process has ended, or the daemon's lock is free. False after the
 * timeout. */
static bool
daemon_wait_gone(struct cli *cli, const struct procref *daemon, int64_t ms)
{
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	struct daemon_wait wait = { .loop = loop_new(), .path = lock };
	struct loop_timer *deadline = loop_after(wait.loop, ms, on_late, &wait);
	struct loop_timer *look =
	    loop_every(wait.loop, LOCK_LOOK_MS, on_lock_look, &wait);
	struct loop_watch *ended = NULL;

	if (daemon->pid != 0 && daemon->pidfd >= 0)
		ended = loop_watch_new(
		    wait.loop, daemon->pidfd, LOOP_READ, on_ended, &wait);
	loop_run(wait.loop);
	loop_watch_free(ended);
	loop_timer_free(look);
	loop_timer_free(deadline);
	loop_free(wait.loop);
	return wait.over;
}

#define START_MS 60000 /* the first start may read a long history */
#define INFO_MS  5000
#define DOWN_MS  30000

enum {
	FLAG_AUTO,
	FLAG_TASK_POOL_COMMAND,
	FLAG_CONCURRENCY,
	FLAG_POST_ACCEPT_COMMAND,
	FLAG_UNTIL_EMPTY,
	FLAG_DETACH,
	FLAG_CHECK
};

static const struct cli_flag up_flags[] = {
	[FLAG_AUTO] = { "auto", NULL,
	    "take tasks from the task source and land them unattended" },
	[FLAG_TASK_POOL_COMMAND] = { "task-pool-command", "COMMAND",
	    "with --auto: shell command that prints the next task" },
	[FLAG_CONCURRENCY] = { "concurrency", "N",
	    "with --auto: number of workers, 1 to 100" },
	[FLAG_POST_ACCEPT_COMMAND] = { "post-accept-command", "COMMAND",
	    "with --auto: shell command to run after each landing" },
	[FLAG_UNTIL_EMPTY] = { "until-empty", NULL,
	    "with --auto: stop when no task is left" },
	[FLAG_DETACH] = { "detach", NULL,
	    "run in the background; return when it is ready" },
	[FLAG_CHECK] = { "check", NULL,
	    "only say whether auto mode can start, and what to do if not" },
	{ NULL, NULL, NULL },
};

/* A daemon without auto mode makes room for one with it: the sessions stay, and
 * the new one takes them over. CLI_OK also if none is running. */
static int
take_over(struct cli *cli, bool is_auto)
{
	cleanup_json struct json_object *info = NULL, *stopped = NULL;
	struct json_object *params;
	struct procref daemon = PROCREF_INIT;
	struct err err = { 0 };
	const char *code;
	int status;

	if (!remote_alive(cli) ||
	    !remote_try(cli, "daemon.info", NULL, INFO_MS, &info, &code, &err))
		return CLI_OK;
	if (!is_auto || json_bool_or(info, "auto", false))
		return cli_fail(cli, "already_running",
		    "a daemon is already running for %s%s, pid %lld; see: llmc "
		    "status",
		    cli->workspace.root, is_auto ? " in auto mode" : "",
		    (long long)json_int_or(info, "pid", 0));
	procref_set(&daemon, (pid_t)json_int_or(info, "pid", 0));
	params = json_object_new_object();
	json_set_bool(params, "keep", true);
	status = remote_call(cli, "daemon.stop", params, 0, &stopped);
	if (status == CLI_OK && !daemon_wait_gone(cli, &daemon, START_MS))
		status = cli_fail(cli, "failed",
		    "the daemon without auto mode (pid %d) does not end; type: "
		    "llmc down, then llmc up --auto",
		    (int)daemon.pid);
	if (status == CLI_OK)
		cli_warn(cli,
		    "the daemon without auto mode (pid %d) has made room for "
		    "this one; its sessions go on",
		    (int)daemon.pid);
	procref_release(&daemon);
	return status;
}

static int
up_detached(struct cli *cli, char *const *argv, bool is_auto)
{
	cleanup_free char *log =
	    workspace_path(&cli->workspace, "logs/autod.stderr");
	cleanup_json struct json_object *info = NULL;
	cleanup_fd int fd = -1;
	struct err err = { 0 };
	off_t said = 0;

	if (file_make_private(log, &said, &err) < 0 ||
	    detach_start(cli, argv, log, &fd, &err) < 0)
		return cli_fail_err(cli, "failed", &err);
	if (!daemon_wait_up(cli, fd, -1, START_MS, &info))
		return detach_fail(cli, "the daemon", log, said);
	buf_addf(&cli->text, "The daemon is running (pid %lld).\n",
	    (long long)json_int_or(info, "pid", 0));
	if (is_auto)
		buf_adds(&cli->text, "Follow it with: llmc log --follow\n");
	cli->result = json_object_get(info);
	return CLI_OK;
}

/* Before anything starts: check the flags of auto mode, and the number of
 * workers. */
static int
check_flags(struct cli *cli, const struct cli_args *args)
{
	for (int i = FLAG_AUTO + 1; i < FLAG_DETACH; i++)
		if (args->flags[i] != NULL && args->flags[FLAG_AUTO] == NULL)
			return cli_misuse(cli, &cmd_up,
			    "--%s works only with --auto", up_flags[i].name);
	return cli_check_concurrency(
	    cli, &cmd_up, args->flags[FLAG_CONCURRENCY]);
}

/* --- before auto mode starts ------------------------------------------ */

static int
only_check(struct cli *cli)
{
	struct preflight preflight;
	struct err err = { 0 };
	bool ok;

	if (start_facts_check(&cli->workspace, true, &preflight, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	if (preflight.counts[PREFLIGHT_FAIL] == 0)
		cli_try_place(cli, &preflight);
	ok = preflight.counts[PREFLIGHT_FAIL] == 0;
	preflight_print(&preflight, &cli->text);
	buf_adds(&cli->text,
	    ok ? "Auto mode can start.\n" : "Auto mode cannot start.\n");
	cli->result = preflight_json(&preflight);
	preflight_release(&preflight);
	return ok ? CLI_OK : CLI_FAILED;
}

/* Nobody has chosen what checks the work: ask, where a person is. What is not
 * answered is a failed check. */
static void
ask_for_check(struct cli *cli)
{
	static const char key[] = "auto.check_command";
	struct settings *settings = NULL;
	struct settings_problems problems;
	struct proposals proposals;
	const struct proposal *one;
	cleanup_buf struct buf question = BUF_INIT, typed = BUF_INIT;
	struct err err = { 0 };

	if (cli->json || !terminal_here() ||
	    config_load(&cli->workspace, &settings, &problems, NULL) < 0)
		return;
	if (!problems.fatal && !settings_decided(settings, key)) {
		propose_look(&cli->workspace,
		    settings_string(settings, "repo.default_branch"),
		    &proposals);
		one = proposals_find(&proposals, key);
		buf_adds(&question,
		    "auto.check_command is not set: nothing tests the work "
		    "before it lands.\n");
		if (one != NULL)
			buf_addf(&question,
			    "Enter: %s (%s)\nCommand, or none: ", one->value,
			    one->reason);
		else
			buf_adds(&question,
			    "Command that tests the project, or none: ");
		if (propose_value(key, question.data, &typed) &&
		    (typed.len > 0 || one != NULL) &&
		    config_change(&cli->workspace, key,
			typed.len > 0 ? typed.data : one->value, &err) < 0)
			cli_warn(cli, "%s", err.msg);
		proposals_release(&proposals);
	}
	settings_problems_release(&problems);
	settings_free(settings);
}

/* Refuse a start after which no work could be done. An overseer has checked
 * before it started us; what changes later is a failure. */
static int
check_start(struct cli *cli)
{
	cleanup_free char *overseer =
	    workspace_path(&cli->workspace, "overseer.lock");
	cleanup_buf struct buf text = BUF_INIT;
	struct preflight preflight;
	int failed;

	if (lock_is_held(overseer) == 1)
		return CLI_OK;
	ask_for_check(cli);
	if (start_facts_check(&cli->workspace, true, &preflight, NULL) < 0)
		return CLI_OK; /* the daemon says why */
	failed = preflight.counts[PREFLIGHT_FAIL];
	preflight_print(&preflight, &text);
	preflight_release(&preflight);
	if (!cli->json)
		fputs(text.data, stderr);
	if (failed > 0)
		return cli_fail(cli, "not_ready",
		    "auto mode was not started: %d check%s failed; try again "
		    "with: llmc up --check",
		    failed, failed == 1 ? "" : "s");
	return CLI_OK;
}

/* Between two daemons the overseer repairs, or waits: one that a person starts
 * then would take the place of its own. It starts its own through us, too. */
static int
refuse_beside(struct cli *cli)
{
	if (getenv(FD_CHANNEL_VARIABLE) != NULL || !overseer_now(cli).repairs)
		return CLI_OK;
	return cli_fail(cli, "overseen",
	    "the overseer repairs the daemon and starts it then; see: llmc "
	    "status. To stop that: llmc down --force");
}

/* A person who is away would not know. */
static void
warn_unheard(struct cli *cli)
{
	struct settings *settings = NULL;
	struct settings_problems problems;

	if (config_load_with(
		&cli->workspace, NULL, &settings, &problems, NULL) < 0)
		return; /* the daemon says why */
	if (!people_reaches(settings))
		cli_warn(cli,
		    "no channel is set: you will find asks in llmc status");
	settings_problems_release(&problems);
	settings_free(settings);
}

static int
up_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *autod = sibling_find("autod");
	struct err err = { 0 };
	cleanup_strv char **argv = NULL;
	int status = check_flags(cli, args);

	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_CHECK] != NULL)
		return only_check(cli);
	status = sessions_refuse_inside(cli, "the daemon", "llmc up --detach");
	if (status != CLI_OK)
		return status;
	if (autod == NULL)
		return cli_fail(cli, "not_installed",
		    "cannot find autod next to llmc or on PATH; install it "
		    "with: make install");
	if (args->flags[FLAG_AUTO] != NULL)
		status = check_start(cli);
	if (status == CLI_OK)
		status = take_over(cli, args->flags[FLAG_AUTO] != NULL);
	if (status == CLI_OK)
		status = refuse_beside(cli);
	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_AUTO] != NULL)
		warn_unheard(cli);
	argv = cli_argv(cli, autod, up_flags, args, FLAG_AUTO, FLAG_DETACH);
	if (args->flags[FLAG_DETACH] != NULL) {
		status = up_detached(cli, argv, args->flags[FLAG_AUTO] != NULL);
	} else {
		terminal_become(strv_const(argv), &err);
		status = cli_fail_err(cli, "failed", &err);
	}
	return status;
}

static const struct schema up_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("--detach", OBJECT, NULL, .of = &api_info),
	    SCHEMA_IS("--check", OBJECT, NULL, .of = &preflight_shape),
	    SCHEMA_END,
	},
	.help = "nothing in the foreground: the daemon writes its log",
};

const struct cli_command cmd_up = {
	.name = "up",
	.group = CLI_RUN,
	.usage =
	    "[--auto [--task-pool-command COMMAND] [--concurrency N] "
	    "[--post-accept-command COMMAND] [--until-empty]] [--detach] | "
	    "--check",
	.summary = "run the daemon that owns the workers",
	.help =
	    "Runs in the foreground until Ctrl-C, or in the background with "
	    "--detach. Takes\nover the sessions that are still running, and "
	    "starts those that are missing.\n\nWith --auto, workers auto-1 to "
	    "auto-N take tasks from the task source, and their\nwork lands "
	    "without a person. The source is auto.task_pool_command, else the "
	    "task\nfiles in auto.task_list, else the folder that llmc task add "
	    "fills. The options\noverride the settings in [auto]; see llmc "
	    "config doc. Follow what happens with\nllmc log --follow. A "
	    "daemon that runs without --auto makes room for the new\none; its "
	    "sessions go on.\n\nBefore "
	    "auto mode starts, Claude Code (its login, its trust), git, the "
	    "disk and\nthe settings are checked, and a start that would be in "
	    "vain is refused. --check\nonly does that; its exit status tells "
	    "whether auto mode would start.\n",
	.example = "up --auto --detach",
	.flags = up_flags,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, up_shape),
	.run = up_run,
};

/* --- restart ------------------------------------------------------------ */

#define PROGRAM_MS 10000

/* Before anything changes: does the program that is on disk run at all? */
static int
try_program(struct cli *cli, const char *name)
{
	cleanup_free char *program = sibling_find(name);
	const char *const argv[] = { program, "--version", NULL };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_buf struct buf words = BUF_INIT;
	struct child_spec spec = { .argv = argv, .deadline_ms = PROGRAM_MS };
	struct err err = { 0 };

	if (program == NULL)
		return cli_fail(cli, "not_installed",
		    "cannot find %s next to llmc; nothing was changed", name);
	child_result_init(&result);
	if (child_run(&spec, &result, &err) < 0)
		return cli_fail_err(cli, "failed", &err);
	if (child_succeeded(&result))
		return CLI_OK;
	child_result_describe(&result, &words);
	return cli_fail(cli, "failed",
	    "%s --version %s; nothing was changed: install a %s that runs here",
	    program, words.data, name);
}

/* One that has another program on disk goes on with that. *ret_pid is 0 if
 * there was no need. */
static int
restart_overseer(struct cli *cli, int64_t *ret_pid)
{
	struct overseer_files files;
	int64_t restarts, pid;
	int status = CLI_OK;

	overseer_files_load(cli, &files);
	pid = overseer_files_pid(&files);
	restarts = json_int_or(files.json, "restarts", -1);
	if (overseer_now(cli).repairs)
		status = cli_fail(cli, "overseen",
		    "the overseer repairs the daemon, or waits to start it; "
		    "see: llmc status, and try again when it runs");
	overseer_files_release(&files);
	*ret_pid = pid > 0 && restart_is_due((pid_t)pid) ? pid : 0;
	if (status != CLI_OK || *ret_pid == 0)
		return status;
	if (restarts < 0)
		return cli_fail(cli, "failed",
		    "the overseer (pid %lld) is of a version that cannot be "
		    "replaced while it runs: stop it with Ctrl-C or kill "
		    "%lld, then: llmc overseer",
		    (long long)pid, (long long)pid);
	status = try_program(cli, "overseer");
	if (status == CLI_OK && !overseer_files_restart(cli, DOWN_MS))
		status = cli_fail(cli, "failed",
		    "the overseer (pid %lld) was told to restart, but goes on "
		    "as it is; see: llmc status",
		    (long long)pid);
	return status;
}

static int
restart_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_json struct json_object *info = NULL, *result = NULL;
	struct json_object *params = json_object_new_object();
	struct procref daemon = PROCREF_INIT;
	struct settings *settings = NULL;
	int64_t overseer = 0, restarts, gap;
	int status;

	(void)args;
	json_set_bool(params, "keep", true);
	json_set_bool(params, "again", true);
	status = remote_call(cli, "daemon.info", NULL, INFO_MS, &info);
	restarts = json_int_or(info, "restarts", -1);
	if (status == CLI_OK && restarts < 0)
		status = cli_fail(cli, "failed",
		    "the daemon (version %s) is of a version that cannot be "
		    "replaced while it runs; type: llmc down, then llmc up%s",
		    json_string_or(info, "version", "?"),
		    json_bool_or(info, "auto", false) ? " --auto" : "");
	if (status == CLI_OK)
		status = try_program(cli, "autod");
	/* The new program would not start with wrong ones. */
	if (status == CLI_OK)
		status = cli_load_settings(cli, &settings);
	settings_free(settings);
	if (status == CLI_OK)
		status = restart_overseer(cli, &overseer);
	if (status == CLI_OK)
		procref_set(&daemon, (pid_t)json_int_or(info, "pid", 0));
	gap = clock_mono_ms();
	if (status == CLI_OK)
		status = remote_call(
		    cli, "daemon.stop", take_ptr(&params), 0, &result);
	json_object_put(params);
	json_object_put(take_ptr(&info));
	if (status == CLI_OK &&
	    !daemon_wait_up(cli, daemon.pidfd, restarts, START_MS, &info))
		status = cli_fail(cli, "failed",
		    "the daemon does not answer after its restart; see: llmc "
		    "status, llmc log daemon");
	procref_release(&daemon);
	if (status != CLI_OK)
		return status;
	gap = clock_mono_ms() - gap;
	if (overseer > 0)
		buf_addf(&cli->text,
		    "The overseer (pid %lld) goes on with the program on "
		    "disk.\n",
		    (long long)overseer);
	buf_addf(&cli->text,
	    "The daemon (pid %lld) goes on with the program on disk, version "
	    "%s, after %lld ms. The sessions were not touched.\n",
	    (long long)json_int_or(info, "pid", 0),
	    json_string_or(info, "version", "?"), (long long)gap);
	cli->result = take_ptr(&info);
	json_set_int(cli->result, "took_ms", gap);
	json_set_bool(cli->result, "overseer", overseer > 0);
	return CLI_OK;
}

static const struct schema restart_shape = SCHEMA_SHAPE(
    SCHEMA_IS("version", STRING, NULL), SCHEMA_IS("pid", INT, NULL),
    SCHEMA_IS("instance_id", STRING, "the same as before"),
    SCHEMA_IS("lag_ms", INT, NULL), SCHEMA_IS("turns", INT, NULL),
    SCHEMA_IS("workers", INT, NULL), SCHEMA_IS("auto", BOOL, NULL),
    SCHEMA_IS("restarts", INT, "of this process"),
    SCHEMA_IS("took_ms", INT, "until the daemon answered again"),
    SCHEMA_IS("overseer", BOOL, "it was restarted too"));

const struct cli_command cmd_restart = {
	.name = "restart",
	.group = CLI_RUN,
	.usage = "",
	.summary = "go on with the programs that are on disk now",
	.help =
	    "After an upgrade: the daemon saves its state and goes on with the "
	    "program that is\non disk now, in the same process, with the same "
	    "options. The workers' sessions\nare not touched; what they report "
	    "meanwhile is kept. So does an overseer, if its\nprogram was "
	    "replaced; it does not take this for a failure. llmc doctor says "
	    "when a\nrestart is due.\n",
	.example = "restart",
	.method = "daemon.stop",
	.needs = CLI_DAEMON_DOES,
	.shape = CLI_SHAPE(OBJECT, restart_shape),
	.run = restart_run,
};

/* --- down ---------------------------------------------------------------- */

enum {
	FLAG_FORCE
};

static const struct cli_flag down_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "end the sessions at once; works under an overseer too" },
	{ NULL, NULL, NULL },
};

/* A daemon that was killed leaves its workers' sessions running. CLI_OK with
 * *ret_ended 0: there was nothing to end. */
static int
end_orphans(struct cli *cli, int *ret_ended)
{
	cleanup_free char *file = workspace_path(&cli->workspace, "state.lock");
	cleanup_fd int lock = lock_try(file, NULL);
	struct settings *settings = NULL;
	struct err err = { 0 };
	int status;

	*ret_ended = 0;
	if (lock < 0)
		return CLI_OK; /* a daemon runs: it ends them */
	/* It has just ended, and the settings say what tmux is. */
	if (root_mark_check(&cli->workspace, &err) < 0)
		return cli_fail_err(cli, "foreign_config", &err);
	status = cli_load_settings(cli, &settings);
	if (status == CLI_OK)
		status = sessions_sweep(cli, settings, ret_ended);
	settings_free(settings);
	return status;
}

static int
stop_daemon(struct cli *cli, bool force)
{
	cleanup_json struct json_object *result = NULL;
	struct procref daemon = PROCREF_INIT;
	struct json_object *params = json_object_new_object();
	int status;
	cleanup_json struct json_object *info = NULL;
	struct err err = { 0 };
	const char *code;

	/* The process to wait for. One that does not answer (it is ending
	 * already) is known by its lock. */
	if (remote_try(cli, "daemon.info", NULL, INFO_MS, &info, &code, &err))
		procref_set(&daemon, (pid_t)json_int_or(info, "pid", 0));
	json_set_bool(params, "now", force);
	status = remote_call(cli, "daemon.stop", params, 0, &result);
	if (status == CLI_OK && !daemon_wait_gone(cli, &daemon, DOWN_MS))
		status = cli_fail(cli, "failed",
		    "the daemon was told to stop, but is still running; see: "
		    "llmc log daemon");
	procref_release(&daemon);
	return status;
}

/* Under an overseer without a daemon: a repair runs, or it waits. To end only
 * what it left would not stop anything. *ret_done: it has ended. */
static int
stop_overseer(struct cli *cli, bool *ret_done)
{
	cleanup_free char *file = workspace_path(&cli->workspace, "state.lock");

	if (!overseer_now(cli).repairs || lock_is_held(file) == 1)
		return CLI_OK;
	if (!overseer_files_end(cli, DOWN_MS))
		return cli_fail(cli, "failed",
		    "the overseer was told to stop, but is still running; see: "
		    "llmc status");
	*ret_done = true;
	return CLI_OK;
}

static int
down_run(struct cli *cli, const struct cli_args *args)
{
	bool force = args->flags[FLAG_FORCE] != NULL, overseer = false;
	int ended = 0, status;

	status = force ? CLI_OK :
			 overseer_files_refuse(
			     cli, "down", "--force stops the daemon anyway");
	if (status == CLI_OK && force)
		status = stop_overseer(cli, &overseer);
	if (status == CLI_OK)
		status = end_orphans(cli, &ended);
	if (status == CLI_OK && ended == 0 && !overseer)
		status = stop_daemon(cli, force);
	if (status != CLI_OK)
		return status;
	if (overseer)
		buf_adds(&cli->text,
		    "No daemon ran; the overseer has stopped. The worktrees are "
		    "kept.\n");
	else if (ended > 0)
		buf_addf(&cli->text,
		    "No daemon runs; the %d session%s that one had left %s "
		    "ended. The worktrees are kept.\n",
		    ended, ended == 1 ? "" : "s", ended == 1 ? "has" : "have");
	else
		buf_adds(&cli->text,
		    "The daemon has stopped; the worktrees are kept.\n");
	cli->result = json_object_new_object();
	json_set_bool(cli->result, "stopped", true);
	return CLI_OK;
}

static const struct schema down_shape =
    SCHEMA_SHAPE(SCHEMA_IS("stopped", BOOL, NULL));

const struct cli_command cmd_down = {
	.name = "down",
	.group = CLI_RUN,
	.usage = "[--force]",
	.summary = "stop the daemon and the workers' sessions",
	.help =
	    "Worktrees, branches and tasks are kept; llmc up continues from "
	    "there. Without a\ndaemon, it ends the sessions that a killed one "
	    "left. With --force, the sessions\nare killed at once. Without "
	    "--force, this is refused while an overseer runs:\nstop the "
	    "overseer, which stops the daemon too. With --force, an overseer "
	    "that repairs\nthe daemon is stopped.\n",
	.example = "down",
	.flags = down_flags,
	.method = "daemon.stop",
	.needs = CLI_DAEMON_DOES,
	.shape = CLI_SHAPE(OBJECT, down_shape),
	.run = down_run,
};
