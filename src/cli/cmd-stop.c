/* SPDX-License-Identifier: ISC */

/* llmc stop: end the session of a worker. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "remote.h"

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
	buf_addf(&cli->text,
	    ".\nContinue with: llmc resume %s, or start over with: llmc reset "
	    "%s\n",
	    name, name);
	return CLI_OK;
}

const struct cli_command cmd_stop = {
	.name = "stop",
	.usage = "WORKER",
	.summary = "end the session of a worker, keep its work",
	.help =
	    "A turn that is running is interrupted. The worktree, the task and "
	    "the\nconversation stay: llmc resume starts a session that "
	    "continues from there.\nUntil then the worker takes no new task. "
	    "To stop everything, use llmc down; to\nlet a worker finish its "
	    "turn first, llmc pause.\n",
	.min_args = 1,
	.max_args = 1,
	.method = "worker.stop",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT | CLI_DAEMON_DOES,
	.run = stop_run,
};
