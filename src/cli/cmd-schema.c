/* SPDX-License-Identifier: ISC */

#include "commands.h"
#include "json.h"
#include "shape.h"

/* Errors look the same for every command. */
static const struct shape error_detail = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "code",
		    .type = SHAPE_STRING,
		    .help = "a word for programs" },
		{ .name = "message",
		    .type = SHAPE_STRING,
		    .help = "a sentence for people" },
		{ .name = NULL },
	    },
};

static const struct shape error_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "error", .type = SHAPE_OBJECT, .of = &error_detail },
		{ .name = NULL },
	    },
	.help = "what any command prints when it fails",
};

static const struct shape_field error_field = { .type = SHAPE_OBJECT,
	.of = &error_shape };

static int
schema_run(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command;

	if (args->count > 0) {
		command = cli_find(args->list[0]);
		if (command == NULL)
			return cli_unknown_command(cli, args->list[0]);
		cli->result = shape_schema(cli_shape(command));
	} else {
		cli->result = json_object_new_object();
		for (size_t i = 0; cli_commands[i] != NULL; i++)
			json_set(cli->result, cli_commands[i]->name,
			    shape_schema(cli_shape(cli_commands[i])));
		json_set(cli->result, "error", shape_schema(&error_field));
	}
	json_print(cli->result, true, &cli->text);
	return CLI_OK;
}

const struct cli_command cmd_schema = {
	.name = "schema",
	.usage = "[COMMAND]",
	.summary = "show what the JSON of a command looks like",
	.help = "Prints JSON Schema: of one command's --json output, or an "
		"object with that\nof every command, and of a failure under "
		"\"error\".\n",
	.max_args = 1,
	.shape = &(const struct shape_field){ .type = SHAPE_OBJECT },
	.run = schema_run,
};
