/* SPDX-License-Identifier: ISC */

/* llmc down: end the daemon and the workers' sessions. */
#include "base.h"
#include "cli-private.h"
#include "lock.h"
#include "procref.h"
#include "root-mark.h"

#define DOWN_MS 30000
#define INFO_MS 5000

enum {
	FLAG_FORCE
};

static const struct cli_flag down_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "end the sessions at once; works under an overseer too" },
	{ NULL, NULL, NULL },
};

/* The process to wait for. One that does not answer (it is ending already) is
 * known by its lock. */
static void
find_daemon(struct cli *cli, struct procref *ref)
{
	cleanup_json struct json_object *info = NULL;
	struct err err = { 0 };
	const char *code;

	if (remote_try(cli, "daemon.info", NULL, INFO_MS, &info, &code, &err))
		procref_set(ref, (pid_t)json_int_or(info, "pid", 0));
}

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

	find_daemon(cli, &daemon);
	json_set_bool(params, "now", force);
	status = remote_call(cli, "daemon.stop", params, 0, &result);
	if (status == CLI_OK && !daemon_wait_gone(cli, &daemon, DOWN_MS))
		status = cli_fail(cli, "failed",
		    "the daemon was told to stop, but is still running; see: "
		    "llmc logs");
	procref_release(&daemon);
	return status;
}

/* Under an overseer without a daemon: a repair runs, or it waits. To end only
 * what it left would not stop anything. *ret_done: it has ended. */
static int
stop_overseer(struct cli *cli, bool *ret_done)
{
	cleanup_free char *file = workspace_path(&cli->workspace, "state.lock");
	struct overseer_files overseer;
	bool active;

	overseer_files_load(cli, &overseer);
	active = overseer_files_repairs(&overseer);
	overseer_files_release(&overseer);
	if (!active || lock_is_held(file) == 1)
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
    CLI_FIELDS(SCHEMA_IS("stopped", BOOL, NULL));

const struct cli_command cmd_down = {
	.name = "down",
	.usage = "[--force]",
	.summary = "stop the daemon and the workers' sessions",
	.help =
	    "Worktrees, branches and tasks are kept; llmc up continues from "
	    "there. Without a\ndaemon, it ends the sessions that a killed one "
	    "left. With --force, the sessions\nare killed at once. Without "
	    "--force, this is refused while an overseer runs:\nstop the "
	    "overseer, which stops the daemon too. With --force, an overseer "
	    "that repairs\nthe daemon is stopped.\n",
	.flags = down_flags,
	.method = "daemon.stop",
	.needs = CLI_DAEMON_DOES,
	.shape = CLI_SHAPE(OBJECT, down_shape),
	.run = down_run,
};
