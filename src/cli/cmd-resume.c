/* SPDX-License-Identifier: ISC */

/* llmc resume: go on after a pause: a budget, an outage, too many failures. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "remote.h"
#include "text.h"

static int
resume_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = args->count > 0 ?
	    remote_worker(args->list[0]) :
	    json_object_new_object();
	const char *message;
	int status = remote_call(cli, "auto.resume", params, 0, &cli->result);

	if (status != CLI_OK)
		return status;
	message = json_string_or(cli->result, "message", "Going on.");
	text_add_visible(&cli->text, message, strlen(message), true);
	buf_addc(&cli->text, '\n');
	return CLI_OK;
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.usage = "[WORKER]",
	.summary = "let auto mode go on after a pause",
	.help = "A budget that is reached pauses a worker, or all of them; "
		"llmc status tells\nwhich and why. Resuming grants the same "
		"amount once more. Without a name, all\nthat is paused goes "
		"on.\n",
	.max_args = 1,
	.method = "auto.resume",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = resume_run,
};
