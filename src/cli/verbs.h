/* SPDX-License-Identifier: ISC */

/* Commands with subcommands, such as llmc goal list: a table of verbs. */
#ifndef VERBS_H
#define VERBS_H

#include <stddef.h>

struct cli;
struct cli_args;
struct cli_command;

struct verb {
	const char *name; /* NULL ends the table */
	int min_args, max_args; /* without the verb itself */
	unsigned flags; /* of the command's flags, those it takes: a bit each */
	const char *form; /* how it is typed, for errors: "show GOAL" */
	int (*run)(struct cli *cli, const struct cli_args *args);
};

/* Run the verb args->list[0], or list if none was typed; or say what is wrong,
 * and how it is typed. */
int verbs_run(struct cli *cli, const struct cli_command *command,
    const struct verb *verbs, const struct cli_args *args);

#endif
