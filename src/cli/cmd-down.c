/* SPDX-License-Identifier: ISC */

/* llmc down: end the daemon and the workers' sessions. */
#include <poll.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "commands.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "oversight.h"
#include "remote.h"
#include "shape.h"

#define DOWN_MS 30000

enum {
	FLAG_FORCE
};

static const struct cli_flag down_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "do not wait for sessions to end, nor mind an overseer" },
	{ NULL, NULL, NULL },
};

static int
down_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	cleanup_json struct json_object *result = NULL;
	struct json_object *params;
	int64_t end = clock_mono_ms() + DOWN_MS;
	bool force = args->flags[FLAG_FORCE] != NULL;
	int status = force ?
	    CLI_OK :
	    oversight_refuse(cli, "down", "--force does it all the same");

	if (status != CLI_OK)
		return status;
	params = json_object_new_object();
	json_set_bool(params, "now", force);
	status = remote_call(cli, "daemon.stop", params, 0, &result);
	if (status != CLI_OK)
		return status;
	/* It has ended when nobody holds its lock. */
	while (lock_is_held(lock) == 1) {
		if (clock_mono_ms() > end)
			return cli_fail(cli, "failed",
			    "the daemon was told to end, but has not");
		poll(NULL, 0, 10);
	}
	buf_adds(&cli->text,
	    "The daemon has ended; the workers' worktrees "
	    "stay.\n");
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
	.summary = "end the daemon and the workers' sessions",
	.help = "Worktrees, branches and what the workers were doing stay; "
		"llmc up goes on from\nthere. With --force sessions are left "
		"running for the next daemon. While an overseer\nruns it is "
		"refused without --force: stop the overseer, which ends the "
		"daemon too.\n",
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
