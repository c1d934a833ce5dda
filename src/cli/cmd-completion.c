/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <string.h>

#include "agent-card.h"
#include "api.h"
#include "cli.h"
#include "cmd-events.h"
#include "commands.h"
#include "errtext.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "roster.h"
#include "schema.h"
#include "settings-table.h"
#include "taskbook.h"
#include "worker-status.h"
#include "worker.h"

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

	if (taskbook_load(cli, TASKS_SHOWN, &book) != CLI_OK)
		return;
	for (size_t i = 0; i < json_object_array_length(book.entries); i++) {
		const char *name =
		    taskbook_name(json_object_array_get_idx(book.entries, i));

		if (strpbrk(name, " \t\r\n") == NULL)
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
	for (size_t i = 0; i < json_object_array_length(entries); i++)
		buf_addf(&cli->text, "%s\n",
		    json_string_or(
			json_object_array_get_idx(entries, i), member, ""));
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

/* Append the words of that list to cli->text, one a line; false = there is no
 * such list. Prints no errors: a shell asks in the middle of a line. */
static bool
completion_words_add(struct cli *cli, const char *list)
{
	for (size_t i = 0; i < nitems(lists); i++) {
		if (strcmp(lists[i].name, list) != 0)
			continue;
		cli->silent = true;
		if (cli_find_workspace(cli, CLI_NEEDS_REPO) == CLI_OK)
			lists[i].add(cli);
		return true;
	}
	return false;
}

static void
add_methods(struct buf *out)
{
	for (size_t i = 0; api_methods[i].name != NULL; i++)
		buf_addf(out, "%s%s", i > 0 ? " " : "", api_methods[i].name);
}

static void
add_words(const char *const *words, struct buf *out)
{
	for (size_t i = 0; words[i] != NULL; i++)
		buf_addf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

static void
add_statuses(struct buf *out)
{
	add_words(worker_status_words, out);
}

static void
add_tiers(struct buf *out)
{
	add_words(cost_tier_words, out);
}

/* What the value of an option, or an argument, can be: words (written here, or
 * added by a function), files, or a list that the repository knows
 * (cmd-completion.h). */
static const struct {
	const char *name; /* as in a usage */
	const char *list;
	const char *words;
	bool files;
	void (*add)(struct buf *out);
} values[] = {
	{ .name = "WORKER", .list = "workers" },
	{ .name = "TARGET", .list = "workers" },
	{ .name = "ID", .list = "tasks" },
	{ .name = "GOAL", .list = "goals" },
	{ .name = "NODE", .list = "nodes" },
	{ .name = "PARENT", .list = "nodes" },
	{ .name = "KEY", .list = "keys" },
	{ .name = "REF", .list = "salvage" },
	{ .name = "FILE", .files = true },
	{ .name = "DIR", .files = true },
	{ .name = "FORMAT", .words = "toml mdoc" },
	{ .name = "GROUP", .words = "agent model task-type" },
	{ .name = "INTERFACE", .words = "git difftastic vscode" },
	{ .name = "LEVEL", .words = "debug info warn error" },
	{ .name = "PRIORITY", .words = "urgent high normal low" },
	{ .name = "SORT", .words = "info instruction alert" },
	{ .name = "WHO", .list = "workers" },
	{ .name = "METHOD", .add = add_methods },
	{ .name = "KIND", .add = event_filter_add_kinds },
	{ .name = "STATUS", .add = add_statuses },
	{ .name = "TIER", .add = add_tiers },
};

static int
value_find(const char *name)
{
	for (size_t i = 0; name != NULL && i < nitems(values); i++)
		if (strcmp(values[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The possible words of a value, false = they are not known here. */
static bool
add_value_words(int value, struct buf *out)
{
	if (values[value].add != NULL)
		values[value].add(out);
	else if (values[value].words != NULL)
		buf_adds(out, values[value].words);
	else
		return false;
	return true;
}

/* What the argument after a switch can be: "--switch [NAME]" in the usage.
 * Appends the words; false if the usage has no such argument. */
static bool
add_switched(const struct cli_command *command, const struct cli_flag *flag,
    struct buf *out)
{
	cleanup_free char *form = xasprintf("--%s [", flag->name);
	const char *at = strstr(command->usage, form);
	cleanup_free char *name = NULL;
	int value;

	if (flag->value != NULL || at == NULL)
		return false;
	at += strlen(form);
	name = xstrndup(at, strcspn(at, "]"));
	value = value_find(name);
	return value >= 0 && add_value_words(value, out);
}

/* Does the command take the name of a command? */
static bool
takes_commands(const struct cli_command *command)
{
	return strncmp(command->usage, "[COMMAND]", 9) == 0;
}

/* Does the command take the names of workers as arguments? */
static bool
takes_workers(const struct cli_command *command)
{
	return strncmp(command->usage, "WORKER", 6) == 0 ||
	    strncmp(command->usage, "[WORKER", 7) == 0 ||
	    strncmp(command->usage, "TARGET", 6) == 0 ||
	    strncmp(command->usage, "[NAME ...", 9) == 0;
}

/* The first words of "list | get KEY | set KEY VALUE": such a usage has no
 * brackets before its first bar. Appended, separated by blanks. */
static void
add_verbs(const struct cli_command *command, struct buf *out)
{
	const char *p = command->usage;
	size_t before = out->len;

	if (strchr(p, '|') == NULL || strcspn(p, "[") < strcspn(p, "|"))
		return;
	for (; *p != '\0'; p += strcspn(p, "|")) {
		p += strspn(p, "| ");
		if (out->len > before)
			buf_addc(out, ' ');
		buf_add(out, p, strcspn(p, " |"));
	}
}

/* For each verb whose argument is on a list: "show ID". */
typedef void verb_fn(const struct cli_command *command, const char *verb,
    const char *list, struct buf *out);

static void
each_verb_list(const struct cli_command *command, verb_fn *fn, struct buf *out)
{
	cleanup_buf struct buf verbs = BUF_INIT;
	const char *p = command->usage;

	add_verbs(command, &verbs);
	for (; verbs.len > 0 && *p != '\0'; p += strcspn(p, "|")) {
		cleanup_free char *verb = NULL, *name = NULL;
		int value;

		p += strspn(p, "| ");
		verb = xstrndup(p, strcspn(p, " |"));
		p += strlen(verb);
		p += strspn(p, " [");
		name = xstrndup(p, strcspn(p, " |]"));
		value = value_find(name);
		if (value >= 0 && values[value].list != NULL)
			fn(command, verb, values[value].list, out);
	}
}

static void
add_commands(struct buf *out)
{
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden)
			buf_addf(out, "%s%s", i > 0 ? " " : "",
			    cli_commands[i]->name);
}

static void
add_flag_names(const struct cli_flag *flags, struct buf *out)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		buf_addf(out, " --%s", flags->name);
}

/* --- bash ------------------------------------------------------------ */

/* What may follow an option: the case is "<command><word before>". */
static void
bash_values(const struct cli_command *command, struct buf *out)
{
	const struct cli_flag *flags = command->flags;

	for (; flags != NULL && flags->name != NULL; flags++) {
		cleanup_buf struct buf words = BUF_INIT;
		int value = value_find(flags->value);

		if (add_switched(command, flags, &words))
			buf_addf(out, "\t%s--%s) words='%s' ;;\n",
			    command->name, flags->name, words.data);
		if (flags->value == NULL)
			continue;
		buf_addf(out, "\t%s--%s) ", command->name, flags->name);
		if (value < 0)
			buf_adds(out, "return ;;\n");
		else if (values[value].files)
			buf_adds(out,
			    "COMPREPLY=($(compgen -f -- \"$cur\")); "
			    "return ;;\n");
		else if (add_value_words(value, &words))
			buf_addf(out, "words='%s' flags= ;;\n", words.data);
		else
			buf_addf(out,
			    "words=$(llmc completion %s 2>/dev/null) flags= "
			    ";;\n",
			    values[value].list);
	}
}

static void
bash_verb(const struct cli_command *command, const char *verb, const char *list,
    struct buf *out)
{
	buf_addf(out, "\t%s%s) words=$(llmc completion %s 2>/dev/null) ;;\n",
	    command->name, verb, list);
}

static void
bash_command(const struct cli_command *command, struct buf *out)
{
	cleanup_buf struct buf verbs = BUF_INIT;

	add_verbs(command, &verbs);
	buf_addf(out, "\t%s)\n\t\tflags+='", command->name);
	add_flag_names(command->flags, out);
	buf_adds(out, "'\n");
	if (verbs.len > 0)
		buf_addf(out, "\t\twords='%s'\n", verbs.data);
	else if (takes_workers(command))
		buf_adds(
		    out, "\t\twords=$(llmc completion workers 2>/dev/null)\n");
	else if (takes_commands(command))
		buf_adds(out, "\t\twords=$commands\n");
	buf_adds(out, "\t\t;;\n");
}

static void
completion_bash(struct buf *out)
{
	buf_adds(out,
	    "# bash completion for llmc; generated by llmc completion bash\n"
	    "_llmc()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n\tlocal "
	    "prev=${COMP_WORDS[COMP_CWORD - 1]}\n\tlocal command= words= "
	    "flags='");
	add_flag_names(cli_global_flags, out);
	buf_adds(out, "' commands='");
	add_commands(out);
	buf_adds(out,
	    "' i\n"
	    "\tCOMPREPLY=()\n"
	    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	    "\t\tcase ${COMP_WORDS[i]} in\n"
	    "\t\t--root) ((i++)) ;;\n"
	    "\t\t-*) ;;\n"
	    "\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
	    "\t\tesac\n"
	    "\tdone\n"
	    "\tcase $command in\n"
	    "\t'') words=$commands ;;\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden)
			bash_command(cli_commands[i], out);
	buf_adds(out, "\tesac\n\tcase $command$prev in\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden) {
			bash_values(cli_commands[i], out);
			each_verb_list(cli_commands[i], bash_verb, out);
		}
	buf_adds(out,
	    "\t*--root) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
	    "\tesac\n"
	    "\tCOMPREPLY=($(compgen -W \"$words $flags\" -- \"$cur\"))\n"
	    "}\n"
	    "complete -F _llmc llmc\n");
}

/* --- zsh ------------------------------------------------------------- */

/* Inside of single quotes, where a colon and a bracket mean something. */
static void
zsh_text(const char *text, struct buf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			buf_adds(out, "'\\''");
		else if (strchr(":[]\\", *text) != NULL)
			buf_addf(out, "\\%c", *text);
		else
			buf_addc(out, *text);
	}
}

static void
zsh_value(const char *name, struct buf *out)
{
	cleanup_buf struct buf words = BUF_INIT;
	int value = value_find(name);

	if (name == NULL)
		return;
	buf_addf(out, ":%s:", name);
	if (value < 0)
		buf_adds(out, " ");
	else if (values[value].files)
		buf_adds(out, "_files");
	else if (add_value_words(value, &words))
		buf_addf(out, "(%s)", words.data);
	else
		buf_addf(out, "_llmc_%s", values[value].list);
}

static void
zsh_flags(const struct cli_command *command, const struct cli_flag *flags,
    struct buf *out)
{
	for (; flags != NULL && flags->name != NULL; flags++) {
		cleanup_buf struct buf words = BUF_INIT;

		buf_addf(out, " \\\n\t\t\t'--%s[", flags->name);
		zsh_text(flags->help, out);
		buf_addc(out, ']');
		zsh_value(flags->value, out);
		if (command != NULL && add_switched(command, flags, &words))
			buf_addf(out, "::argument:(%s)", words.data);
		buf_addc(out, '\'');
	}
}

/* A function for each list, and one for what follows a verb. */
static void
zsh_lists(struct buf *out)
{
	for (size_t i = 0; i < nitems(values); i++)
		if (values[i].list != NULL &&
		    strcmp(values[i].name, "TARGET") != 0)
			buf_addf(out,
			    "_llmc_%s()\n{\n\tlocal -a names\n"
			    "\tnames=(${(f)\"$(llmc completion %s "
			    "2>/dev/null)\"})\n\tcompadd -a names\n}\n",
			    values[i].list, values[i].list);
}

static void
zsh_verb(const struct cli_command *command, const char *verb, const char *list,
    struct buf *out)
{
	buf_addf(out, "\t%s%s) _llmc_%s ;;\n", command->name, verb, list);
}

static void
zsh_argument(struct buf *out)
{
	buf_adds(out, "_llmc_argument()\n{\n\tcase $words[1]$words[2] in\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden)
			each_verb_list(cli_commands[i], zsh_verb, out);
	buf_adds(out, "\tesac\n}\n");
}

static void
zsh_command(const struct cli_command *command, struct buf *out)
{
	cleanup_buf struct buf verbs = BUF_INIT;

	add_verbs(command, &verbs);
	buf_addf(out, "\t%s)\n\t\t_arguments", command->name);
	zsh_flags(NULL, cli_global_flags, out);
	zsh_flags(command, command->flags, out);
	if (verbs.len > 0)
		buf_addf(out,
		    " \\\n\t\t\t'1:what:(%s)' '*:argument:_llmc_argument'",
		    verbs.data);
	else if (takes_workers(command))
		buf_adds(out, " \\\n\t\t\t'*:worker:_llmc_workers'");
	else if (takes_commands(command))
		buf_adds(out, " \\\n\t\t\t'1:command:_llmc_commands'");
	buf_adds(out, "\n\t\t;;\n");
}

static void
completion_zsh(struct buf *out)
{
	buf_adds(out,
	    "#compdef llmc\n# zsh completion for llmc; generated by llmc "
	    "completion zsh\n");
	zsh_lists(out);
	zsh_argument(out);
	buf_adds(
	    out, "_llmc_commands()\n{\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++) {
		if (cli_commands[i]->hidden)
			continue;
		buf_addf(out, "\t\t'%s:", cli_commands[i]->name);
		zsh_text(cli_commands[i]->summary, out);
		buf_adds(out, "'\n");
	}
	buf_adds(out,
	    "\t)\n"
	    "\t_describe command commands\n"
	    "}\n"
	    "_llmc()\n{\n"
	    "\tlocal curcontext=$curcontext state line\n"
	    "\t_arguments -C");
	zsh_flags(NULL, cli_global_flags, out);
	buf_adds(out,
	    " \\\n\t\t\t'1:command:_llmc_commands' '*::argument:->rest'\n"
	    "\t[[ $state == rest ]] || return\n"
	    "\tcase $line[1] in\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden)
			zsh_command(cli_commands[i], out);
	buf_adds(out, "\tesac\n}\n_llmc \"$@\"\n");
}

/* --- fish ------------------------------------------------------------ */

static void
fish_text(const char *text, struct buf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void
fish_flags(const struct cli_flag *flags, const char *condition, struct buf *out)
{
	for (; flags != NULL && flags->name != NULL; flags++) {
		cleanup_buf struct buf words = BUF_INIT;
		int value = value_find(flags->value);

		buf_addf(out, "complete -c llmc%s -l %s -d '", condition,
		    flags->name);
		fish_text(flags->help, out);
		buf_addc(out, '\'');
		if (flags->value == NULL)
			;
		else if (value < 0)
			buf_adds(out, " -x");
		else if (values[value].files)
			buf_adds(out, " -r -F");
		else if (add_value_words(value, &words))
			buf_addf(out, " -x -a '%s'", words.data);
		else
			buf_addf(out,
			    " -x -a '(llmc completion %s 2>/dev/null)'",
			    values[value].list);
		buf_addc(out, '\n');
	}
}

static void
fish_switched(const struct cli_command *command, struct buf *out)
{
	const struct cli_flag *flags = command->flags;

	for (; flags != NULL && flags->name != NULL; flags++) {
		cleanup_buf struct buf words = BUF_INIT;

		if (add_switched(command, flags, &words))
			buf_addf(out,
			    "complete -c llmc -n '__fish_seen_subcommand_from "
			    "%s; and __fish_contains_opt %s' -a '%s'\n",
			    command->name, flags->name, words.data);
	}
}

static void
fish_verb(const struct cli_command *command, const char *verb, const char *list,
    struct buf *out)
{
	buf_addf(out,
	    "complete -c llmc -n '__fish_seen_subcommand_from %s; and "
	    "__fish_seen_subcommand_from %s' -a '(llmc completion %s "
	    "2>/dev/null)'\n",
	    command->name, verb, list);
}

static void
fish_command(const struct cli_command *command, struct buf *out)
{
	cleanup_free char *condition =
	    xasprintf(" -n '__fish_seen_subcommand_from %s'", command->name);
	cleanup_buf struct buf verbs = BUF_INIT;

	buf_addf(out, "complete -c llmc -n __fish_use_subcommand -a %s -d '",
	    command->name);
	fish_text(command->summary, out);
	buf_adds(out, "'\n");
	add_verbs(command, &verbs);
	if (verbs.len > 0)
		buf_addf(
		    out, "complete -c llmc%s -a '%s'\n", condition, verbs.data);
	else if (takes_workers(command))
		buf_addf(out,
		    "complete -c llmc%s -a '(llmc completion workers "
		    "2>/dev/null)'\n",
		    condition);
	each_verb_list(command, fish_verb, out);
	fish_flags(command->flags, condition, out);
	fish_switched(command, out);
}

static void
completion_fish(struct buf *out)
{
	buf_adds(out,
	    "# fish completion for llmc; generated by llmc completion fish\n"
	    "complete -c llmc -f\n");
	fish_flags(cli_global_flags, "", out);
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		if (!cli_commands[i]->hidden)
			fish_command(cli_commands[i], out);
}

/* --- the command ----------------------------------------------------- */

static int
completion_done(struct cli *cli, const char *of)
{
	cli->result = json_object_new_object();
	json_set_string(cli->result, "of", of);
	json_set(cli->result, "lines", cli_lines(cli->text.data));
	return CLI_OK;
}

static int
completion_run(struct cli *cli, const struct cli_args *args)
{
	static const struct {
		const char *name;
		void (*print)(struct buf *out);
	} shells[] = {
		{ "bash", completion_bash },
		{ "zsh", completion_zsh },
		{ "fish", completion_fish },
	};

	if (completion_words_add(cli, args->list[0]))
		return completion_done(cli, args->list[0]);
	for (size_t i = 0; i < nitems(shells); i++)
		if (strcmp(shells[i].name, args->list[0]) == 0) {
			shells[i].print(&cli->text);
			return completion_done(cli, args->list[0]);
		}
	return cli_misuse(cli, &cmd_completion,
	    "%s: no such shell; use bash, zsh or fish", args->list[0]);
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.usage =
	    "bash | zsh | fish | workers | tasks | goals | nodes | keys | salvage",
	.summary = "print the completion script of a shell (internal)",
	.help =
	    "The scripts are generated from the table of commands and "
	    "installed with llmc.\nThey call llmc completion workers, tasks, goals, nodes, keys "
	    "and salvage for words that only\nthe repository knows.\n",
	.hidden = true,
	.min_args = 1,
	.max_args = 1,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of =
		&(const struct schema){
		    SCHEMA_FIELDS{
			SCHEMA_IS("of", STRING, NULL),
			SCHEMA_IS("lines", LIST, "of the script, or the words"),
			SCHEMA_END,
		    },
		} },
	.run = completion_run,
};
