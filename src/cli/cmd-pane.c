/* SPDX-License-Identifier: ISC */

/* llmc pane FILE: what a worker's tmux pane runs; becomes the keeper of the
 * agent. */
#include "commands.h"
#include "errtext.h"
#include "launcher.h"
#include "schema.h"

static int
pane_run(struct cli *cli, const struct cli_args *args)
{
	struct err err = { 0 };

	launcher_exec(args->list[0], &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_pane = {
	.name = "pane",
	.usage = "FILE",
	.summary = "run the agent that FILE describes (internal)",
	.help =
	    "A worker's tmux pane runs this. It reads the arguments and the "
	    "environment of\nthe agent from FILE, so that they do not hit a "
	    "limit of tmux, and becomes the\nagent's keeper: the parent that "
	    "ends with the agent, and with it everything that\nthe agent "
	    "started.\n",
	.hidden = true,
	.min_args = 1,
	.max_args = 1,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = pane_run,
};
