/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "cli.h"
#include "text.h"
#include "verbs.h"

#define VERBS_MAX 31

static int
run(struct cli *cli, const struct cli_command *command, const struct verb *verb,
    const struct cli_args *args)
{
	for (int i = 0;
	     command->flags != NULL && command->flags[i].name != NULL; i++)
		if (args->flags[i] != NULL && (verb->flags & 1u << i) == 0)
			return cli_misuse(cli, command, "%s %s takes no --%s",
			    command->name, verb->name, command->flags[i].name);
	if (args->count - 1 < verb->min_args ||
	    args->count - 1 > verb->max_args)
		return cli_misuse(cli, command, "type: llmc %s %s",
		    command->name, verb->form);
	return verb->run(cli, args);
}

int
verbs_run(struct cli *cli, const struct cli_command *command,
    const struct verb *verbs, const struct cli_args *args)
{
	const char *names[VERBS_MAX + 1] = { NULL }, *near;
	static const char *const bare[] = { "list" };
	struct cli_args listing = *args;

	if (args->count == 0) {
		listing.count = 1;
		listing.list = bare;
		args = &listing;
	}
	for (size_t i = 0; i < VERBS_MAX && verbs[i].name != NULL; i++) {
		names[i] = verbs[i].name;
		if (strcmp(names[i], args->list[0]) == 0)
			return run(cli, command, &verbs[i], args);
	}
	near = text_nearest(args->list[0], names);
	if (near != NULL)
		return cli_misuse(cli, command,
		    "%s %s: no such subcommand; did you mean \"%s\"?",
		    command->name, args->list[0], near);
	return cli_misuse(cli, command, "%s %s: no such subcommand",
	    command->name, args->list[0]);
}
