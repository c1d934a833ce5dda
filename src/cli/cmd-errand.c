/* SPDX-License-Identifier: ISC */

/* llmc errand FILE: run by autod for a command whose result must not be lost.
 */
#include "commands.h"
#include "errand-run.h"
#include "errtext.h"
#include "schema.h"

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
	.help =
	    "autod uses this for task_pool_command and post_accept_command. It "
	    "runs the\ncommand that FILE describes and leaves the output and "
	    "the exit status next to\nFILE, so that they are not lost when "
	    "autod is killed in the meantime.\n",
	.hidden = true,
	.min_args = 1,
	.max_args = 1,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = errand_main,
};
