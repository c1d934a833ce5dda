/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "commands.h"
#include "json.h"
#include "schema.h"

static struct json_object *
option_json(const struct cli_command *command, size_t flag)
{
	const struct cli_flag *f = &command->flags[flag];
	struct json_object *json = json_object_new_object();
	char letter[] = { cli_flag_letter(command->letters, flag), '\0' };

	json_set_string(json, "name", f->name);
	json_set_string(json, "letter", letter[0] != '\0' ? letter : NULL);
	json_set_string(json, "value", f->value);
	json_set_string(json, "help", f->help);
	return json;
}

static struct json_object *
command_json(const struct cli_command *command)
{
	struct json_object *json = json_object_new_object();
	struct json_object *options = json_object_new_array();

	json_set_string(json, "name", command->name);
	json_set_string(json, "usage", command->usage);
	json_set_string(json, "summary", command->summary);
	json_set_string(json, "help", command->help);
	for (size_t i = 0;
	     command->flags != NULL && command->flags[i].name != NULL; i++)
		json_object_array_add(options, option_json(command, i));
	json_set(json, "options", options);
	return json;
}

static int
help_run(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command = NULL;

	if (args->count > 0) {
		command = cli_find(args->list[0]);
		if (command == NULL)
			return cli_unknown_command(cli, args->list[0]);
	}
	cli_usage(command, &cli->text);
	cli->result = json_object_new_array();
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (command == NULL || command == cli_commands[i])
			json_object_array_add(
			    cli->result, command_json(cli_commands[i]));
	return CLI_OK;
}

static const struct schema option_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_OR_NULL("letter", STRING, "short form, null for none"),
	    SCHEMA_OR_NULL(
		"value", STRING, "name of its value; null for a switch"),
	    SCHEMA_IS("help", STRING, NULL),
	    SCHEMA_END,
	},
};

static const struct schema command_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("usage", STRING, NULL),
	    SCHEMA_IS("summary", STRING, NULL),
	    SCHEMA_OR_NULL("help", STRING, NULL),
	    SCHEMA_IS("options", ROWS, NULL, .of = &option_shape),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "show help for llmc or for one command",
	.max_args = 1,
	.shape =
	    &(const struct schema_field){
		.type = SCHEMA_ROWS,
		.of = &command_shape,
	    },
	.run = help_run,
};
