/* SPDX-License-Identifier: ISC */

/* llmc pick: land the work of a worker, whatever its status is. */
#include "commands.h"
#include "json.h"
#include "remote.h"

static int
pick_run(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "worker.pick",
	    remote_worker(args->list[0]), REMOTE_LONG_MS, &cli->result);

	if (status == CLI_OK)
		buf_addf(&cli->text,
		    "Landed [%.7s], the current work of %s, which carries on "
		    "as before.\n",
		    json_string_or(cli->result, "commit_sha", ""),
		    args->list[0]);
	return status;
}

const struct cli_command cmd_pick = {
	.name = "pick",
	.usage = "WORKER",
	.summary = "land a worker's current work, whatever its status",
	.help =
	    "For emergencies: commits and uncommitted changes are merged with "
	    "the default\nbranch as one commit. The worker, its worktree and "
	    "its task do not change. If\nthere is a conflict, nothing lands.\n",
	.min_args = 1,
	.max_args = 1,
	.method = "worker.pick",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = pick_run,
};
