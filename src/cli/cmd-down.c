/* SPDX-License-Identifier: ISC */

/* llmc down: end the daemon and the workers' sessions. */
#include <string.h>

#include "commands.h"
#include "daemon-wait.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "oversight.h"
#include "procref.h"
#include "remote.h"
#include "shape.h"

#define DOWN_MS 30000
#define INFO_MS 5000

enum {
	FLAG_FORCE
};

static const struct cli_flag down_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "leave the sessions running; works under an overseer too" },
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

static int
down_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_json struct json_object *result = NULL;
	struct procref daemon = PROCREF_INIT;
	struct json_object *params;
	bool force = args->flags[FLAG_FORCE] != NULL;
	int status = force ?
	    CLI_OK :
	    oversight_refuse(cli, "down", "--force stops the daemon anyway");

	if (status != CLI_OK)
		return status;
	find_daemon(cli, &daemon);
	params = json_object_new_object();
	json_set_bool(params, "now", force);
	status = remote_call(cli, "daemon.stop", params, 0, &result);
	if (status == CLI_OK && !daemon_wait_gone(cli, &daemon, DOWN_MS))
		status = cli_fail(cli, "failed",
		    "the daemon was told to stop, but is still running; see: "
		    "llmc logs");
	procref_release(&daemon);
	if (status != CLI_OK)
		return status;
	buf_adds(
	    &cli->text, "The daemon has stopped; the worktrees are kept.\n");
	cli->result = json_object_new_object();
	json_set_bool(cli->result, "stopped", true);
	return CLI_OK;
}

static const struct shape down_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "stopped", .type = SHAPE_BOOL },
		{ .name = NULL },
	    },
};

const struct cli_command cmd_down = {
	.name = "down",
	.usage = "[--force]",
	.summary = "stop the daemon and the workers' sessions",
	.help =
	    "Worktrees, branches and tasks are kept; llmc up continues from "
	    "there. With\n--force, the sessions keep running for the next "
	    "daemon. Without --force, this is\nrefused while an overseer runs: "
	    "stop the overseer, which stops the daemon too.\n",
	.flags = down_flags,
	.method = "daemon.stop",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape =
	    &(const struct shape_field){
		.type = SHAPE_OBJECT,
		.of = &down_shape,
	    },
	.run = down_run,
};
