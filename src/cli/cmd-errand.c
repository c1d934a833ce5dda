/* SPDX-License-Identifier: ISC */

/* llmc errand FILE: what autod runs for a command whose result is not to be
 * lost. */
#include "commands.h"
#include "errand-run.h"
#include "errtext.h"
#include "shape.h"

static int
errand_main(struct cli *cli, const struct cli_args *args)
{
	struct err err = { 0 };

	errand_run(args->list[0], &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_errand = {
	.name = "errand",
	.usage = "FILE",
	.summary = "run the command that FILE describes (internal)",
	.help = "What autod runs for a task_pool_command or a "
		"post_accept_command: executes the\ncommand that FILE names "
		"and leaves its output and exit status beside FILE, so\nthat "
		"they are found also when autod has been killed meanwhile.\n",
	.hidden = true,
	.min_args = 1,
	.max_args = 1,
	.shape = &(const struct shape_field){ .type = SHAPE_ANY },
	.run = errand_main,
};
