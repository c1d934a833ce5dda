/* SPDX-License-Identifier: ISC */

/* llmc abort: end a task that goes wrong. */
#include <pwd.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "progress.h"
#include "remote.h"

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
	struct json_object *params = json_object_new_object();
	const struct passwd *user = getpwuid(getuid());
	const char *task;
	int status;

	json_set_string(params, "task", args->list[0]);
	if (args->flags[FLAG_REASON] != NULL)
		json_set_string(params, "reason", args->flags[FLAG_REASON]);
	if (user != NULL)
		json_set_string(params, "user", user->pw_name);
	progress_begin(cli, "waiting for the worker to let go of its task");
	status = remote_call(
	    cli, "task.abort", params, REMOTE_LONG_MS, &cli->result);
	progress_end();
	if (status != CLI_OK)
		return status;
	task = json_string_or(cli->result, "task", "");
	buf_addf(&cli->text,
	    "%s is aborted, and is not tried again; its work is saved (llmc "
	    "salvage), and what\nis known of it is in .llmc/aborted/%s.\n",
	    task, task);
	return CLI_OK;
}

const struct cli_command cmd_abort = {
	.name = "abort",
	.usage = "WORKER | TASK [--reason TEXT]",
	.summary = "end a task that goes wrong, for good",
	.help = "The worker's turn is ended, its work is saved, and it is free "
		"for another task.\nThe task counts as failed and is not tried "
		"again; llmc task retry does it once more.\nA check that runs "
		"is ended, a shorter operation waited for; work whose landing "
		"has\nbegun to move the branch lands.\nTo let a worker "
		"wait instead, use llmc pause; to take back a task that nobody "
		"wants,\nllmc task drop.\n",
	.flags = abort_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "task.abort",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT | CLI_DAEMON_DOES,
	.run = abort_run,
};
