/* SPDX-License-Identifier: ISC */

/* llmc pause: no new task for a worker, or for all. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "remote.h"
#include "text.h"

static int
pause_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->count > 0 ? args->list[0] : NULL, *message;
	struct json_object *params =
	    name != NULL ? remote_worker(name) : json_object_new_object();
	int status = remote_call(cli, "worker.pause", params, 0, &cli->result);

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
	.usage = "[WORKER]",
	.summary = "let workers finish their turn and take no new task",
	.help =
	    "A worker that works finishes its turn first, and its finished "
	    "work can land; to\nend its session at once, use llmc stop. The "
	    "pause lasts until llmc resume, also\nacross restarts of the "
	    "daemon. Without a name, every worker pauses.\n",
	.max_args = 1,
	.method = "worker.pause",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT | CLI_DAEMON_DOES,
	.run = pause_run,
};
