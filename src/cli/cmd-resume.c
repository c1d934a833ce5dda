/* SPDX-License-Identifier: ISC */

/* llmc resume: continue after a pause: a person's own, or at a budget. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "remote.h"
#include "text.h"

enum {
	FLAG_NOTE
};

static const struct cli_flag resume_flags[] = {
	[FLAG_NOTE] = { "note", "TEXT", "what whoever goes on is told" },
	{ NULL, NULL, NULL },
};

static int
resume_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = args->count > 0 ?
	    remote_worker(args->list[0]) :
	    json_object_new_object();
	const char *message;
	int status;

	if (args->flags[FLAG_NOTE] != NULL && args->count == 0) {
		json_object_put(params);
		return cli_misuse(
		    cli, &cmd_resume, "--note needs a WORKER or a TASK");
	}
	if (args->flags[FLAG_NOTE] != NULL)
		json_set_string(params, "note", args->flags[FLAG_NOTE]);
	status = remote_call(cli, "auto.resume", params, 0, &cli->result);
	if (status != CLI_OK)
		return status;
	message = json_string_or(cli->result, "message", "Resumed.");
	text_add_visible(&cli->text, message, strlen(message), true);
	buf_addc(&cli->text, '\n');
	return CLI_OK;
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.usage = "[WORKER | TASK] [--note TEXT]",
	.summary = "let paused workers and parked tasks continue",
	.help =
	    "For workers that you have paused or stopped (llmc pause, llmc "
	    "stop), and for\nthose that paused by themselves; llmc status says "
	    "why. When the budget of the\nday is used up, all of auto mode "
	    "pauses; a task that has used up its own, or that oversight has "
	    "stopped, is\nparked and its worker does another one. Resuming "
	    "grants the same amount once\nmore, and oversight does not stop "
	    "that task for the same kind of finding again.\nWithout a name, "
	    "everything that is paused or parked continues.\n",
	.flags = resume_flags,
	.max_args = 1,
	.method = "auto.resume",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = resume_run,
};
