/* SPDX-License-Identifier: ISC */

/* llmc inside PROGRAM ARG...: the first program in a box without a network. */
#include <stdlib.h>

#include "commands.h"
#include "errtext.h"
#include "inside.h"
#include "schema.h"
#include "strv.h"

static int
inside_main(struct cli *cli, const struct cli_args *args)
{
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };

	for (int i = 0; i < args->count; i++)
		strv_add(&argv, args->list[i]);
	inside_exec(INSIDE_FD, INSIDE_PORT, argv, &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_inside = {
	.name = "inside",
	.usage = "-- PROGRAM [ARG ...]",
	.summary = "run a program in a sandbox without a network (internal)",
	.help = "The first program in the box of a worker whose sandbox is "
		"strict. It listens on\nthe box's own loopback, hands the "
		"socket to the proxy outside (llmc proxy) and\nbecomes "
		"PROGRAM.\n",
	.hidden = true,
	.min_args = 1,
	.max_args = 4096,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = inside_main,
};
