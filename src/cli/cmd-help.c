/* SPDX-License-Identifier: ISC */

/* llmc help, version, schema, completion: llmc about itself, from the table of
 * all commands. */
#include "base.h"
#include "agent-card.h"
#include "cli-private.h"
#include "commit.h"
#include "event.h"
#include "settings-table.h"
#include "version.h"
#include "worker.h"

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

/* The command that the words name; a verb is described with its command. NULL:
 * there is none, and the failure is reported. */
static const struct cli_command *
find_named(struct cli *cli, const struct cli_args *args, int *ret_status)
{
	cleanup_free char *two = args->count < 2 ?
	    xstrdup(args->list[0]) :
	    xasprintf("%s %s", args->list[0], args->list[1]);
	int used = args->count < 2 ? 1 : 2;
	const struct cli_command *command = cli_find(cli, two);

	if (command == NULL) {
		command = cli_find(cli, args->list[0]);
		used = 1;
	}
	if (command != NULL && args->count <= used + 1 &&
	    (args->count <= used || cli_has_verb(command, args->list[used])))
		return command;
	*ret_status = cli_unknown_command(cli, two);
	return NULL;
}

static void
usage_flags(const struct cli_flag *flags, const char *letters, struct buf *out)
{
	const struct table_column columns[] = { { .title = NULL },
		{ .title = NULL } };
	struct table *table = table_new(columns, 2);

	for (size_t i = 0; flags != NULL && flags[i].name != NULL; i++) {
		const char *value = flags[i].value;
		char letter = cli_flag_letter(letters, i);
		cleanup_free char *left = xasprintf("  --%s%s%s", flags[i].name,
		    value != NULL ? " " : "", value != NULL ? value : "");
		cleanup_free char *help = letter == '\0' ?
		    xstrdup(flags[i].help) :
		    xasprintf("%s (-%c)", flags[i].help, letter);

		table_row(table, (const char *[]){ left, help });
	}
	table_print(table, 0, false, out);
	table_free(table);
}

/* Those of a group or, with a parent, those that belong to it. */
static void
usage_commands(const struct cli *cli, enum cli_group group,
    const struct cli_command *parent, struct buf *out)
{
	const struct table_column columns[] = { { .title = NULL },
		{ .title = NULL } };
	struct table *table = table_new(columns, 2);

	for (size_t i = 0; cli->commands[i] != NULL; i++) {
		const struct cli_command *c = cli->commands[i];
		cleanup_free char *left = xasprintf("  %-8s", c->name);

		if (parent != NULL ? cli_verb_of(parent, c) != NULL :
				     c->group == group)
			table_row(table, (const char *[]){ left, c->summary });
	}
	table_print(table, 0, false, out);
	table_free(table);
}

/* Usage of one command, or of llmc itself (NULL), for people. */
static void
add_usage(
    const struct cli *cli, const struct cli_command *command, struct buf *out)
{
	static const char *const headings[CLI_GROUP_COUNT] = {
		[CLI_START] = "Start",
		[CLI_RUN] = "Run",
		[CLI_WORK] = "Work",
		[CLI_WATCH] = "Watch",
		[CLI_ANSWER] = "Answer",
		[CLI_WORKERS] = "Workers",
		[CLI_LAND] = "Land",
	};
	cleanup_buf struct buf more = BUF_INIT;

	if (command == NULL) {
		buf_adds(out,
		    "llmc runs Claude Code unattended. Each worker has its own "
		    "tmux session and git\nworktree, and its work lands on "
		    "your branch as one commit per task.\n\nusage: llmc "
		    "[OPTIONS] COMMAND [ARGUMENTS]\n");
		for (int i = CLI_START; i < CLI_GROUP_COUNT; i++) {
			buf_addf(out, "\n%s\n", headings[i]);
			usage_commands(cli, (enum cli_group)i, NULL, out);
		}
		buf_adds(out, "\nOptions, before or after the command:\n");
		usage_flags(cli_global_flags, NULL, out);
		buf_adds(out,
		    "\nStart with: llmc init, then llmc doctor.\n"
		    "More: llmc help COMMAND, man llmc, man llmc.conf.\n");
		return;
	}
	buf_addf(out, "llmc %s: %s\n\nusage: llmc %s%s%s\n", command->name,
	    command->summary, command->name,
	    command->usage[0] != '\0' ? " " : "", command->usage);
	if (command->help != NULL)
		buf_addf(out, "\n%s", command->help);
	if (command->example != NULL)
		buf_addf(out, "\nExample: llmc %s\n", command->example);
	usage_commands(cli, CLI_UNLISTED, command, &more);
	if (more.len > 0)
		buf_addf(
		    out, "\nMore, each with its own --help:\n%s", more.data);
	if (command->flags != NULL) {
		buf_adds(out, "\nOptions:\n");
		usage_flags(command->flags, command->letters, out);
	}
	/* The options that all commands have, on two lines. */
	buf_adds(out, "\nOptions for every command, see llmc help:\n ");
	for (const struct cli_flag *f = cli_global_flags; f->name != NULL; f++)
		if (strcmp(f->name, "version") != 0)
			buf_addf(out, " --%s%s%s", f->name,
			    f->value != NULL ? " " : "",
			    f->value != NULL ? f->value : "");
	buf_addc(out, '\n');
}

static int
help_run(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command = NULL;
	int status;

	if (args->count > 0) {
		command = find_named(cli, args, &status);
		if (command == NULL)
			return status;
	}
	add_usage(cli, command, &cli->text);
	cli->result = json_object_new_array();
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (command == NULL || command == cli->commands[i])
			json_object_array_add(
			    cli->result, command_json(cli->commands[i]));
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

/* What its JSON looks like. */
static const struct schema_field *
shape_of(const struct cli_command *command)
{
	return command->shape != NULL ? command->shape :
					api_find(command->method)->result;
}

static int
print_commands(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *command;
	int status;

	if (args->count > 0) {
		command = find_named(cli, args, &status);
		if (command == NULL)
			return status;
		cli->result = schema_print(shape_of(command));
	} else {
		cli->result = json_object_new_object();
		for (size_t i = 0; cli->commands[i] != NULL; i++)
			json_set(cli->result, cli->commands[i]->name,
			    schema_print(shape_of(cli->commands[i])));
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

static void
add_workers(struct cli *cli)
{
	struct state state;

	if (roster_load(cli, &state) != CLI_OK)
		return;
	for (size_t i = 0; i < state.count; i++)
		buf_addf(&cli->text, "%s\n", state.workers[i]->name);
	state_release(&state);
}

#define TASKS_SHOWN 1000 /* that have ended */

/* What list shows; a name with a blank in it cannot be completed. */
static void
add_tasks(struct cli *cli)
{
	struct taskbook book;

	if (taskbook_load(cli, TASKS_SHOWN, NULL, &book) != CLI_OK)
		return;
	JSON_EACH (row, book.entries) {
		const char *name = taskbook_name(row);

		if (strpbrk(name, " \t\r\n$`\\\"'();&|<>*?[]{}!~#") == NULL)
			buf_addf(&cli->text, "%s\n", name);
	}
	taskbook_release(&book);
}

/* A member of every entry of the list that a method answers with. */
static void
add_answer(
    struct cli *cli, const char *method, const char *list, const char *member)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *entries = NULL;
	const char *code;
	struct err err = { 0 };

	if (!remote_try(cli, method, json_object_new_object(), 0, &answer,
		&code, &err) ||
	    !json_object_object_get_ex(answer, list, &entries))
		return;
	JSON_EACH (item, entries)
		buf_addf(&cli->text, "%s\n", json_string_or(item, member, ""));
}

static void
add_goals(struct cli *cli)
{
	add_answer(cli, "overseer.goal.list", "goals", "goal");
}

static void
add_nodes(struct cli *cli)
{
	add_answer(cli, "overseer.work.list", "nodes", "node");
}

static void
add_keys(struct cli *cli)
{
	for (size_t i = 0; i < settings_table_count; i++)
		buf_addf(&cli->text, "%s\n", settings_table[i].path);
}

static void
add_refs(struct cli *cli)
{
	const char *const ask[] = { "for-each-ref",
		"--format=%(refname:lstrip=3)", ROSTER_SALVAGE, NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (git_ask(cli->workspace.root, ask, &text, NULL) == 0 && text.len > 0)
		buf_addf(&cli->text, "%s\n", text.data);
}

static const struct {
	const char *name;
	void (*add)(struct cli *cli);
} lists[] = {
	{ "workers", add_workers },
	{ "tasks", add_tasks },
	{ "goals", add_goals },
	{ "nodes", add_nodes },
	{ "keys", add_keys },
	{ "salvage", add_refs },
};

static bool
add_list(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < nitems(lists); i++)
		if (strcmp(lists[i].name, name) == 0) {
			cli->silent = true; /* in the middle of a line */
			if (cli_find_workspace(cli, CLI_NEEDS_REPO) == CLI_OK)
				lists[i].add(cli);
			return true;
		}
	return false;
}

/* --- values ------------------------------------------------------------ */

#define FILES ":" /* alone: the shell completes the name of a file */

static void
add_methods(struct cli *cli)
{
	for (size_t i = 0; api_methods[i].name != NULL; i++)
		buf_addf(&cli->text, "%s\n", api_methods[i].name);
}

static void
add_kinds(struct cli *cli)
{
	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *name = event_row((enum event_kind)i)->name;

		if (name != NULL)
			buf_addf(&cli->text, "%s\n", name);
	}
}

#define WORDS(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* What the value of an option, or an argument, can be: words (written here, or
 * added by a function), files, or a list that the repository knows. */
static const struct word_list {
	const char *name; /* as in a usage */
	const char *list;
	const char *const *words;
	void (*add)(struct cli *cli);
} values[] = {
	{ "WORKER", .list = "workers" },
	{ "TARGET", .list = "workers" },
	{ "WHO", .list = "workers" },
	{ "ID", .list = "tasks" },
	{ "GOAL", .list = "goals" },
	{ "NODE", .list = "nodes" },
	{ "PARENT", .list = "nodes" },
	{ "KEY", .list = "keys" },
	{ "REF", .list = "salvage" },
	{ "FILE", .words = WORDS(FILES) },
	{ "DIR", .words = WORDS(FILES) },
	{ "FORMAT", .words = WORDS("toml", "mdoc") },
	{ "GROUP", .words = WORDS("agent", "model", "task-type") },
	{ "INTERFACE", .words = WORDS("git", "difftastic", "vscode") },
	{ "MODE", .words = WORDS("worktree", "strict") },
	{ "LEVEL", .words = WORDS("debug", "info", "warn", "error") },
	{ "PRIORITY", .words = WORDS("urgent", "high", "normal", "low") },
	{ "SORT", .words = WORDS("info", "instruction", "alert") },
	{ "STATUS", .words = worker_status_words },
	{ "TIER", .words = cost_tier_words },
	{ "METHOD", .add = add_methods },
	{ "KIND", .add = add_kinds },
};

/* The value that a usage names: len bytes, "ID" or "[GOAL". */
static void
add_value(struct cli *cli, const char *name, size_t len)
{
	for (size_t i = 0; i < nitems(values); i++) {
		const struct word_list *v = &values[i];

		if (strlen(v->name) != len || strncmp(v->name, name, len) != 0)
			continue;
		if (v->list != NULL) {
			add_list(cli, v->list);
		} else if (v->words != NULL) {
			const char *const *words = v->words;

			for (; *words != NULL; words++)
				buf_addf(&cli->text, "%s\n", *words);
		} else {
			v->add(cli);
		}
	}
}

/* --- one line ---------------------------------------------------------- */

/* Those of one word that people type. */
static void
add_commands(struct cli *cli)
{
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (strchr(cli->commands[i]->name, ' ') == NULL &&
		    strstr(cli->commands[i]->summary, "(internal)") == NULL)
			buf_addf(&cli->text, "%s\t%s\n", cli->commands[i]->name,
			    cli->commands[i]->summary);
}

static void
add_flags(struct cli *cli, const struct cli_flag *flags)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		buf_addf(&cli->text, "--%s\t%s\n", flags->name, flags->help);
}

/* The commands that belong to this one. */
static void
add_parts(struct cli *cli, const struct cli_command *command)
{
	for (size_t i = 0; cli->commands[i] != NULL; i++) {
		const char *more = cli_verb_of(command, cli->commands[i]);

		if (more != NULL)
			buf_addf(&cli->text, "%s\t%s\n", more,
			    cli->commands[i]->summary);
	}
}

/* The usage "list | get KEY | set KEY VALUE" has verbs: it has no brackets
 * before its first bar. Adds them, or what the argument of one can be; and the
 * commands that belong to this one. */
static void
add_verbs(struct cli *cli, const struct cli_command *command, const char *verb)
{
	const char *usage = command->usage;

	if (verb == NULL)
		add_parts(cli, command);
	if (strchr(usage, '|') == NULL || usage[0] < 'a' || usage[0] > 'z' ||
	    strcspn(usage, "[") < strcspn(usage, "|"))
		return;
	for (; *usage != '\0'; usage += strcspn(usage, "|")) {
		size_t len;

		usage += strspn(usage, "| ");
		len = strcspn(usage, " |");
		if (verb == NULL && usage[0] >= 'A' && usage[0] <= 'Z') {
			add_value(cli, usage, len);
		} else if (verb == NULL) {
			buf_add(&cli->text, usage, len);
			buf_addc(&cli->text, '\n');
		} else if (strlen(verb) == len &&
		    strncmp(usage, verb, len) == 0) {
			usage += len;
			usage += strspn(usage, " [");
			add_value(cli, usage, strcspn(usage, " |]"));
		}
	}
}

/* Arguments that a usage begins with: "WORKER ...", "[NAME ...", "[COMMAND]",
 * or follow a switch: "--switch [NAME]". */
static void
add_arguments(
    struct cli *cli, const char *usage, const char *before, const char *verb)
{
	const struct cli_command *named =
	    verb != NULL ? cli_find(cli, verb) : NULL;
	cleanup_free char *form = xasprintf("%s [", before);
	const char *at = before[0] == '-' ? strstr(usage, form) : NULL;
	const char *first = usage + strspn(usage, "[");

	if (at != NULL) {
		at += strlen(form);
		add_value(cli, at, strcspn(at, "]"));
	}
	if (text_begins(first, "COMMAND]") && verb == NULL)
		add_commands(cli);
	else if (text_begins(first, "COMMAND]") && named != NULL &&
	    strcmp(before, verb) == 0)
		add_parts(cli, named);
	else if (text_begins(first, "NAME ..."))
		add_list(cli, "workers");
	else if (text_begins(first, "WORKER") || text_begins(first, "TARGET"))
		add_list(cli, "workers");
}

/* The option that was typed, if it has a value. */
static const struct cli_flag *
valued(const struct cli_flag *flags, const char *word)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		if (flags->value != NULL && text_begins(word, "--") &&
		    strcmp(word + 2, flags->name) == 0)
			return flags;
	return NULL;
}

/* What can stand in place of the last word; those before it were typed. */
static void
add_candidates(struct cli *cli, const char *const *words, int count)
{
	const char *before = count > 1 ? words[count - 2] : "", *verb = NULL;
	const struct cli_command *command = NULL, *part;
	const struct cli_flag *flag = NULL;
	const char *first = "";

	for (int i = 0; i < count - 1; i++) {
		if (strcmp(words[i], "--root") == 0 && i + 2 < count) {
			cli->root_option = words[++i];
		} else if (words[i][0] == '-') {
			continue;
		} else if (command == NULL) {
			first = words[i];
			command = cli_find(cli, first);
		} else if (verb == NULL &&
		    valued(command->flags, words[i - 1]) == NULL) {
			cleanup_free char *two =
			    xasprintf("%s %s", first, words[i]);

			part = cli_find(cli, two);
			first = "";
			if (part == NULL)
				verb = words[i];
			else
				command = part;
		}
	}
	flag = valued(cli_global_flags, before);
	if (flag == NULL && command != NULL)
		flag = valued(command->flags, before);
	if (flag != NULL) {
		add_value(cli, flag->value, strlen(flag->value));
		return;
	}
	if (command == NULL) {
		add_commands(cli);
	} else {
		add_verbs(cli, command, verb);
		add_arguments(cli, command->usage, before, verb);
		if (strcmp(cli->text.data, FILES "\n") == 0) {
			if (words[count - 1][0] != '-')
				return;
			buf_truncate(&cli->text, 0);
		}
		add_flags(cli, command->flags);
	}
	add_flags(cli, cli_global_flags);
}

/* --- the scripts ------------------------------------------------------- */

static const struct {
	const char *name, *script;
} shells[] = {
	{ "bash",
	    "# bash completion for llmc; printed by llmc completion bash\n"
	    "_llmc()\n{\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} IFS=$'\\n' words\n"
	    "\twords=$(llmc completion words -- "
	    "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null | cut -f1)\n"
	    "\tif [ \"$words\" = " FILES " ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	    "\telse\n"
	    "\t\tlocal word\n"
	    "\t\tCOMPREPLY=()\n"
	    "\t\twhile read -r word; do\n"
	    "\t\t\t[[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
	    "\t\tdone <<<\"$words\"\n"
	    "\tfi\n}\n"
	    "complete -F _llmc llmc\n" },
	{ "zsh",
	    "#compdef llmc\n"
	    "# zsh completion for llmc; printed by llmc completion zsh\n"
	    "local -a found\n"
	    "found=(${(f)\"$(llmc completion words -- "
	    "\"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
	    "if [[ $found == " FILES " ]]; then\n"
	    "\t_files\n"
	    "else\n"
	    "\tfound=(${found//:/\\\\:})\n"
	    "\tfound=(${found/$'\\t'/:})\n"
	    "\t_describe llmc found\n"
	    "fi\n" },
	{ "fish",
	    "# fish completion for llmc; printed by llmc completion fish\n"
	    "function __llmc\n"
	    "\tset -l typed (commandline -opc)\n"
	    "\tset -e typed[1]\n"
	    "\tset -l found (llmc completion words -- $typed "
	    "(commandline -ct) 2>/dev/null)\n"
	    "\tif test \"$found\" = " FILES "\n"
	    "\t\t__fish_complete_path (commandline -ct)\n"
	    "\telse\n"
	    "\t\tprintf '%s\\n' $found\n"
	    "\tend\nend\n"
	    "complete -c llmc -f -a '(__llmc)'\n" },
};

static int
completion_run(struct cli *cli, const struct cli_args *args)
{
	const char *of = args->list[0];
	bool known = true;

	if (strcmp(of, "words") == 0)
		add_candidates(cli, args->list + 1, args->count - 1);
	else
		known = args->count == 1 && add_list(cli, of);
	for (size_t i = 0; i < nitems(shells); i++)
		if (args->count == 1 && strcmp(shells[i].name, of) == 0) {
			buf_adds(&cli->text, shells[i].script);
			known = true;
		}
	if (!known)
		return cli_misuse(cli, &cmd_completion,
		    "%s: no such shell; use bash, zsh or fish", of);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "of", of);
	json_set(cli->result, "lines", cli_lines(cli->text.data));
	return CLI_OK;
}

static const struct schema completion_shape =
    SCHEMA_SHAPE(SCHEMA_IS("of", STRING, NULL),
	SCHEMA_IS("lines", LIST, "of the script, or the words"));

const struct cli_command cmd_completion = {
	.name = "completion",
	.usage = "bash | zsh | fish | words -- WORD ... | workers | tasks | "
		 "goals | nodes | keys | salvage",
	.summary = "print the completion script of a shell (internal)",
	.help = "The scripts are installed with llmc, and call llmc completion "
		"words -- WORD ... for\nwhat can stand in place of the last "
		"WORD: a line for each, with its help after a\ntab; a line "
		"\":\" means the name of a file.\n",
	.min_args = 1,
	.max_args = 1000,
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(OBJECT, completion_shape),
	.run = completion_run,
};
