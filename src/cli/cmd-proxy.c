/* SPDX-License-Identifier: ISC */

/* llmc proxy FILE WORKER SOCKET -- PROGRAM ARG...: the proxy of one box, and
 * the program (bwrap) that makes the box. */
#include <stdlib.h>

#include "commands.h"
#include "errtext.h"
#include "outside.h"
#include "schema.h"
#include "strv.h"

static int
proxy_main(struct cli *cli, const struct cli_args *args)
{
	struct outside outside = { .hosts = args->list[0],
		.worker = args->list[1],
		.socket = args->list[2] };
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };

	for (int i = 3; i < args->count; i++)
		strv_add(&argv, args->list[i]);
	outside_exec(&outside, argv, &err);
	return cli_fail_err(cli, "failed", &err);
}

const struct cli_command cmd_proxy = {
	.name = "proxy",
	.usage = "FILE WORKER SOCKET -- PROGRAM [ARG ...]",
	.summary = "start a sandbox's proxy, and its program (internal)",
	.help = "Starts the proxy of a worker whose sandbox is strict, then "
		"becomes PROGRAM, which\nmakes the box and runs llmc inside in "
		"it. The proxy allows the hosts in FILE, tells\nSOCKET of "
		"others, and ends with PROGRAM.\n",
	.hidden = true,
	.min_args = 4,
	.max_args = 65536,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = proxy_main,
};
