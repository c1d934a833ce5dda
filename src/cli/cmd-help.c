/* SPDX-License-Identifier: ISC */

/* llmc help, version, schema: llmc about itself. */
#include "base.h"
#include "cli-private.h"
#include "commit.h"
#include "version.h"

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
	json_set_string(json, "example", command->example);
	for (size_t i = 0;
	     command->flags != NULL && command->flags[i].name != NULL; i++)
		json_object_array_add(options, option_json(command, i));
	json_set(json, "options", options);
	return json;
}

/* The command that the words name, now or in an earlier version; a verb is
 * described with its command. */
static int
find_named(struct cli *cli, const struct cli_args *args,
    const struct cli_command **ret_command)
{
	cleanup_free char *two = args->count < 2 ?
	    xstrdup(args->list[0]) :
	    xasprintf("%s %s", args->list[0], args->list[1]);
	int used = args->count < 2 ? 1 : 2;
	const struct cli_command *command = cli_find(two);

	if (command == NULL) {
		command = cli_find(args->list[0]);
		used = 1;
	}
	if (command == NULL || args->count > used + 1 ||
	    (args->count > used && !cli_has_verb(command, args->list[used])))
		return cli_unknown_command(cli, two);
	*ret_command = command;
	return CLI_OK;
}

static int
help_run(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command = NULL;

	if (args->count > 0) {
		int status = find_named(cli, args, &command);

		if (status != CLI_OK)
			return status;
	}
	cli_usage(command, &cli->text);
	cli->result = json_object_new_array();
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (command == NULL || command == cli_commands[i])
			json_object_array_add(
			    cli->result, command_json(cli_commands[i]));
	return CLI_OK;
}

static const struct schema option_shape =
    SCHEMA_SHAPE(SCHEMA_IS("name", STRING, NULL),
	SCHEMA_OR_NULL("letter", STRING, "short form, null for none"),
	SCHEMA_OR_NULL("value", STRING, "name of its value; null for a switch"),
	SCHEMA_IS("help", STRING, NULL));

static const struct schema command_shape = SCHEMA_SHAPE(
    SCHEMA_IS("name", STRING, NULL), SCHEMA_IS("usage", STRING, NULL),
    SCHEMA_IS("summary", STRING, NULL), SCHEMA_OR_NULL("help", STRING, NULL),
    SCHEMA_OR_NULL("example", STRING, "what follows llmc"),
    SCHEMA_IS("options", ROWS, NULL, .of = &option_shape));

const struct cli_command cmd_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "show help for llmc or for one command",
	.example = "help goal plan",
	.max_args = 3,
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(ROWS, command_shape),
	.run = help_run,
};

/* --- version ----------------------------------------------------------- */

static int
version_run(struct cli *cli, const struct cli_args *args)
{
	(void)args;
	buf_adds(&cli->text, "llmc " LLMC_VERSION);
	if (LLMC_COMMIT[0] != '\0')
		buf_adds(&cli->text, " (" LLMC_COMMIT ")");
	buf_addc(&cli->text, '\n');
	cli->result = json_object_new_object();
	json_set_string(cli->result, "name", "llmc");
	json_set_string(cli->result, "version", LLMC_VERSION);
	json_set_string(
	    cli->result, "commit", LLMC_COMMIT[0] != '\0' ? LLMC_COMMIT : NULL);
	return CLI_OK;
}

static const struct schema version_shape = SCHEMA_SHAPE(
    SCHEMA_IS("name", STRING, NULL), SCHEMA_IS("version", STRING, NULL),
    SCHEMA_OR_NULL("commit", STRING, "that was built; null if not known"));

const struct cli_command cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "show the version",
	.example = "version",
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(OBJECT, version_shape),
	.run = version_run,
};

/* --- schema ------------------------------------------------------------ */

enum {
	FLAG_API
};

static const struct cli_flag schema_flags[] = {
	[FLAG_API] = { "api", NULL,
	    "describe the daemon's methods, not the commands" },
	{ NULL, NULL, NULL },
};

/* Errors look the same for every command. */
static const struct schema error_detail =
    SCHEMA_SHAPE(SCHEMA_IS("code", STRING, "a word for programs"),
	SCHEMA_IS("message", STRING, "a sentence for people"),
	SCHEMA_MAY("output", STRING, "of the command that failed"));

static const struct schema error_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("error", OBJECT, NULL, .of = &error_detail),
	    SCHEMA_END,
	},
	.help = "printed by any command that fails\n",
};

static const struct schema_field error_field = { .type = SCHEMA_OBJECT,
	.of = &error_shape };

static int
print_commands(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command = NULL;

	if (args->count > 0) {
		int status = find_named(cli, args, &command);

		if (status != CLI_OK)
			return status;
		cli->result = schema_print(cli_shape(command));
	} else {
		cli->result = json_object_new_object();
		for (size_t i = 0; cli_commands[i] != NULL; i++)
			json_set(cli->result, cli_commands[i]->name,
			    schema_print(cli_shape(cli_commands[i])));
		json_set(cli->result, "error", schema_print(&error_field));
	}
	return CLI_OK;
}

/* --- methods --------------------------------------------------------- */

static struct json_object *
callers_json(const struct api_method *m)
{
	struct json_object *json = json_object_new_array();

	for (size_t i = 0; api_caller_words[i] != NULL; i++)
		if (m->callers & (1u << i))
			json_object_array_add(
			    json, json_object_new_string(api_caller_words[i]));
	return json;
}

static struct json_object *
method_json(const struct api_method *m)
{
	const struct schema_field params = { .type = SCHEMA_OBJECT,
		.of = m->params };
	struct json_object *json = json_object_new_object();
	struct json_object *errors = json_object_new_object();

	for (const enum api_error *e = m->errors; *e != 0; e++)
		json_set_int(errors, api_error_word(m, (int)*e), *e);
	json_set_string(json, "help", m->help);
	json_set(json, "params", schema_print(&params));
	json_set(json, "result", schema_print(m->result));
	json_set(json, "errors", errors);
	json_set_bool(json, "oneshot", m->flags & API_ONESHOT);
	json_set(json, "callers", callers_json(m));
	json_set_bool(json, "stream", m->flags & API_STREAM);
	return json;
}

static int
print_methods(struct cli *cli, const struct cli_args *args)
{
	const struct api_method *m;

	if (args->count > 0) {
		m = api_find(args->list[0]);
		if (m == NULL) {
			const char *word = args->list[0];
			cleanup_free const char **names = NULL;
			const char *near;
			size_t count = 0;

			while (api_methods[count].name != NULL)
				count++;
			names = xcalloc(count + 1, sizeof *names);
			for (size_t i = 0; i < count; i++)
				names[i] = api_methods[i].name;
			near = text_nearest(word, names);
			if (near != NULL)
				return cli_misuse(cli, &cmd_schema,
				    "%s: no such method; did you mean \"%s\"?",
				    word, near);
			return cli_misuse(
			    cli, &cmd_schema, "%s: no such method", word);
		}
		cli->result = method_json(m);
		return CLI_OK;
	}
	cli->result = json_object_new_object();
	for (m = api_methods; m->name != NULL; m++)
		json_set(cli->result, m->name, method_json(m));
	return CLI_OK;
}

static int
schema_run(struct cli *cli, const struct cli_args *args)
{
	int status = args->flags[FLAG_API] != NULL ? print_methods(cli, args) :
						     print_commands(cli, args);

	if (status == CLI_OK)
		json_print(cli->result, true, &cli->text);
	return status;
}

const struct cli_command cmd_schema = {
	.name = "doctor schema",
	.usage = "[COMMAND] | --api [METHOD]",
	.summary = "describe the JSON output of a command",
	.help =
	    "Prints the JSON Schema of a command's --json output, or an object "
	    "with the schema\nof every command, and of a failure under "
	    "\"error\".\n\nWith --api, describes what programs can ask the "
	    "daemon over its socket. For one\nmethod, or for each: the "
	    "parameters, the result, its own errors by name, whether\nit works "
	    "without a daemon (oneshot), who may call it (callers: a person, "
	    "the\noverseer's repair session, a worker at its own socket, or any "
	    "reader), and\nwhether it stays open and reports what happens "
	    "(stream).\n",
	.example = "doctor schema status",
	.flags = schema_flags,
	.max_args = 3,
	.needs = CLI_ANYWHERE,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT },
	.run = schema_run,
};
