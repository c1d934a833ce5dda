/* SPDX-License-Identifier: ISC */

/* llmc, the command line: options common to all commands, and the dispatch. */
#include "base.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "cli-private.h"

#define VERBS_MAX 31

/* NO_COLOR and FORCE_COLOR as other programs understand them; --no-color is
 * read later and overrides both. */
static bool
wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("FORCE_COLOR");
	const char *term = getenv("TERM");

	if (no != NULL && no[0] != '\0')
		return false;
	if (force != NULL && force[0] != '\0' && strcmp(force, "0") != 0)
		return true;
	return isatty(STDOUT_FILENO) && term != NULL &&
	    strcmp(term, "dumb") != 0;
}

static bool
locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0;
	     i < nitems(names) && (value == NULL || *value == '\0'); i++)
		value = getenv(names[i]);
	return value != NULL &&
	    (strcasestr(value, "utf-8") != NULL ||
		strcasestr(value, "utf8") != NULL);
}

static int
terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1)
		return 0;
	return size.ws_col;
}

/* --- the table --------------------------------------------------------- */

/* In the order that help shows them; those of two words belong to the command
 * that is the first of them. */
static const struct cli_command *const commands[] = {
	&cmd_init,
	&cmd_doctor,
	&cmd_config,
	&cmd_up,
	&cmd_restart,
	&cmd_down,
	&cmd_overseer,
	&cmd_fleet,
	&cmd_task,
	&cmd_goal,
	&cmd_status,
	&cmd_top,
	&cmd_web,
	&cmd_report,
	&cmd_log,
	&cmd_why,
	&cmd_asks,
	&cmd_answer,
	&cmd_mail,
	&cmd_add,
	&cmd_start,
	&cmd_message,
	&cmd_pause,
	&cmd_resume,
	&cmd_stop,
	&cmd_abort,
	&cmd_reset,
	&cmd_nuke,
	&cmd_attach,
	&cmd_review,
	&cmd_accept,
	&cmd_reject,
	&cmd_pick,
	&cmd_landing,
	&cmd_peek,
	&cmd_replay,
	&cmd_wait,
	&cmd_plan,
	&cmd_node,
	&cmd_tick,
	&cmd_agents,
	&cmd_tree,
	&cmd_iterations,
	&cmd_stats,
	&cmd_oversight,
	&cmd_metrics,
	&cmd_logs,
	&cmd_failures,
	&cmd_store,
	&cmd_schema,
	&cmd_trust,
	&cmd_channel,
	&cmd_console,
	&cmd_rebase,
	&cmd_revert,
	&cmd_salvage,
	&cmd_help,
	&cmd_version,
	&cmd_verify,
	&cmd_hook,
	&cmd_mcp,
	&cmd_pane,
	&cmd_stream,
	&cmd_inside,
	&cmd_proxy,
	&cmd_errand,
	&cmd_completion,
	NULL,
};

/* --- what was typed ------------------------------------------------------ */

/* Is it refused inside an agent's own session? */
static bool
cli_is_guarded(const struct cli_command *command)
{
	return command->guarded ||
	    (command->method != NULL &&
		!(api_find(command->method)->callers & API_WORKER));
}

/* Does word name this flag? *ret_value: what follows "=", or NULL. */
static bool
flag_matches(const char *word, const char *name, const char **ret_value)
{
	size_t len = strlen(name);

	if (!text_begins(word, "--") || strncmp(word + 2, name, len) != 0)
		return false;
	word += 2 + len;
	if (*word != '\0' && *word != '=')
		return false;
	*ret_value = *word == '=' ? word + 1 : NULL;
	return true;
}

/* Parse a global flag at argv[i]: number of words used, 0 = not one, negative
 * exit status if it is wrong. */
static int
cli_parse_global(struct cli *cli, int argc, char **argv, int i, bool *ret_help,
    bool *ret_version)
{
	const char *word = argv[i], *value = NULL;

	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
		*ret_help = true;
	} else if (strcmp(word, "--version") == 0) {
		*ret_version = true;
	} else if (strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0) {
		cli->verbose = true;
	} else if (strcmp(word, "--json") == 0) {
		cli->json = true;
	} else if (strcmp(word, "--no-color") == 0) {
		cli->colour = false;
	} else if (flag_matches(word, "root", &value)) {
		if (value == NULL && i + 1 < argc)
			value = argv[i + 1];
		if (value == NULL || value[0] == '\0')
			return -cli_misuse(
			    cli, NULL, "--root needs a directory");
		cli->root_option = value;
		return strchr(word, '=') != NULL ? 1 : 2;
	} else {
		return 0;
	}
	return 1;
}

static int
cli_unknown_flag(
    struct cli *cli, const struct cli_command *command, const char *word)
{
	const char *names[CLI_FLAGS_MAX + 16], *near;
	cleanup_free char *name = xstrdup(word + strspn(word, "-"));
	size_t count = 0;

	for (const struct cli_flag *f = command != NULL ? command->flags : NULL;
	     f != NULL && f->name != NULL; f++)
		names[count++] = f->name;
	for (const struct cli_flag *f = cli_global_flags; f->name != NULL; f++)
		names[count++] = f->name;
	names[count] = NULL;
	name[strcspn(name, "=")] = '\0';
	near = text_nearest(name, names);
	/* --plan-file, which is --plan now. */
	for (size_t i = 0; near == NULL && i < count; i++)
		if (text_begins(name, names[i]) &&
		    name[strlen(names[i])] == '-')
			near = names[i];
	if (near != NULL)
		return cli_misuse(cli, command,
		    "%s: no such option; did you mean --%s?", word, near);
	return cli_misuse(cli, command, "%s: no such option", word);
}

/* Does word have this short form, "-n" or "-n5"? *ret_value: what follows, or
 * NULL. */
static bool
letter_matches(const char *word, char letter, const char **ret_value)
{
	if (letter == '\0' || word[0] != '-' || word[1] != letter)
		return false;
	*ret_value = word[2] != '\0' ? word + 2 : NULL;
	return true;
}

/* A flag of the command itself at argv[i]: number of words used, or -CLI_USAGE.
 */
static int
parse_own(struct cli *cli, const struct cli_command *command, int argc,
    char **argv, int i, struct cli_args *args)
{
	const struct cli_flag *flags = command->flags;
	const char *value = NULL;
	int taken = 1;

	for (size_t f = 0; flags != NULL && flags[f].name != NULL; f++) {
		if (!flag_matches(argv[i], flags[f].name, &value) &&
		    !letter_matches(
			argv[i], cli_flag_letter(command->letters, f), &value))
			continue;
		if (flags[f].value == NULL) {
			if (value != NULL)
				return -cli_misuse(cli, command,
				    "--%s takes no value", flags[f].name);
			value = "";
		} else if (value == NULL) {
			if (i + 1 >= argc)
				return -cli_misuse(cli, command,
				    "--%s needs a value: %s", flags[f].name,
				    flags[f].value);
			value = argv[i + 1];
			taken = 2;
		}
		args->flags[f] = value;
		if (args->given_count == CLI_GIVEN_MAX)
			return -cli_misuse(cli, command,
			    "there are more than %d options", CLI_GIVEN_MAX);
		args->given[args->given_count].flag = (int)f;
		args->given[args->given_count++].value = value;
		return taken;
	}
	return -cli_unknown_flag(cli, command, argv[i]);
}

/* Is it the command's own --version, which has a value? */
static bool
has_version(const struct cli_command *command, const char *arg)
{
	static const char name[] = "--version";

	if (!text_begins(arg, name) || strchr("=", arg[strlen(name)]) == NULL)
		return false;
	for (const struct cli_flag *f = command->flags;
	     f != NULL && f->name != NULL; f++)
		if (strcmp(f->name, name + 2) == 0)
			return true;
	return false;
}

static int
option_words(
    const struct cli_flag *flags, const char *letters, const char *word)
{
	const char *value = NULL;

	for (size_t i = 0; flags != NULL && flags[i].name != NULL; i++)
		if (flag_matches(word, flags[i].name, &value) ||
		    letter_matches(word, cli_flag_letter(letters, i), &value))
			return flags[i].value != NULL && value == NULL ? 2 : 1;
	return 0;
}

/* How many words the option takes that begins with this one, of the command
 * (NULL = none) or of every command; 0 = it is none. */
static int
cli_option_words(const struct cli_command *command, const char *word)
{
	int taken = command != NULL ?
	    option_words(command->flags, command->letters, word) :
	    0;

	return taken > 0 ? taken :
	    strcmp(word, "-v") == 0 || strcmp(word, "-h") == 0 ?
			   1 :
			   option_words(cli_global_flags, NULL, word);
}

/* Neither a verb of the command nor an argument of it. */
static int
refuse_word(struct cli *cli, const struct cli_command *command,
    const char *word, const char *otherwise)
{
	const char *names[VERBS_MAX + 1] = { NULL }, *near;
	const struct verb *verb = command->verbs;
	size_t count = 0;

	for (; verb != NULL && verb->name != NULL && count < VERBS_MAX; verb++)
		if (verb->name[0] != '\0')
			names[count++] = verb->name;
	for (size_t i = 0; cli->commands[i] != NULL && count < VERBS_MAX; i++) {
		names[count] = cli_verb_of(command, cli->commands[i]);
		if (names[count] != NULL)
			count++;
	}
	near = text_nearest(word, names);
	if (near == NULL)
		return cli_misuse(cli, command, "%s", otherwise);
	if (strcmp(near, word) == 0)
		return cli_misuse(cli, command,
		    "type the options after it: llmc %s %s ...", command->name,
		    word);
	return cli_misuse(cli, command,
	    "%s %s: no such subcommand; did you mean \"%s\"?", command->name,
	    word, near);
}

/* Parse argv after the command's name. Global flags may be there too.
 * *args->list is valid as long as argv. CLI_OK, or the status to exit with (the
 * failure is reported). *ret_help is set for --help. */
static int
cli_parse(struct cli *cli, const struct cli_command *command, int argc,
    char **argv, struct cli_args *ret_args, bool *ret_help)
{
	struct cli_args args = { 0 };
	bool version = false;
	int i = 0, taken;

	while (i < argc) {
		if (strcmp(argv[i], "--") == 0) {
			for (i++; i < argc; i++)
				argv[args.count++] = argv[i];
			break;
		}
		taken = has_version(command, argv[i]) ?
		    0 :
		    cli_parse_global(cli, argc, argv, i, ret_help, &version);
		if (taken == 0 && argv[i][0] == '-' && argv[i][1] != '\0' &&
		    !(argv[i][1] >= '0' && argv[i][1] <= '9'))
			taken = parse_own(cli, command, argc, argv, i, &args);
		if (taken < 0)
			return -taken;
		if (taken == 0) {
			argv[args.count++] = argv[i];
			taken = 1;
		}
		i += taken;
	}
	if (version)
		return cli_misuse(
		    cli, command, "--version must come before the command");
	args.list = (const char *const *)argv;
	*ret_args = args;
	if (*ret_help)
		return CLI_OK;
	if (args.count < command->min_args)
		return cli_misuse(
		    cli, command, "%s needs more arguments", command->name);
	if (args.count > command->max_args) {
		cleanup_free char *otherwise = xasprintf(
		    "%s: unexpected argument", args.list[command->max_args]);

		if (command->verbs == NULL)
			return refuse_word(
			    cli, command, args.list[0], otherwise);
		return cli_misuse(cli, command, "%s", otherwise);
	}
	return CLI_OK;
}

static int
run_verb(struct cli *cli, const struct cli_command *command,
    const struct verb *verb, const struct cli_args *args)
{
	for (int i = 0;
	     command->flags != NULL && command->flags[i].name != NULL; i++)
		if (args->flags[i] != NULL && (verb->flags & 1u << i) == 0)
			return cli_misuse(cli, command, "%s%s%s takes no --%s",
			    command->name, verb->name[0] != '\0' ? " " : "",
			    verb->name, command->flags[i].name);
	if (args->count - 1 < verb->min_args ||
	    args->count - 1 > verb->max_args)
		return cli_misuse(cli, command, "type: llmc %s %s",
		    command->name, verb->form);
	return verb->run(cli, args);
}

/* Run the command; one with verbs: args->list[0] (the verb list, if nothing was
 * typed), or say what is wrong with that, and how it is typed. */
static int
cli_run(struct cli *cli, const struct cli_command *command,
    const struct cli_args *args)
{
	static const char *const bare[] = { "list" };
	cleanup_free char *otherwise = NULL;
	struct cli_args listing = *args;

	if (command->travels && args->count > 0 &&
	    strchr(args->list[0], ':') != NULL)
		return elsewhere_run(cli, command, args);
	if (command->verbs == NULL)
		return command->run(cli, args);
	if (args->count == 0) {
		listing.count = 1;
		listing.list = bare;
		args = &listing;
	}
	for (const struct verb *v = command->verbs; v->name != NULL; v++) {
		if (strcmp(v->name, args->list[0]) == 0)
			return run_verb(cli, command, v, args);
		/* The form without a verb. */
		if (v->name[0] == '\0' && args->count == 1) {
			listing.count = 2;
			listing.list = (const char *[]){ "", args->list[0] };
			return run_verb(cli, command, v, &listing);
		}
	}
	otherwise = xasprintf(
	    "%s %s: no such subcommand", command->name, args->list[0]);
	return refuse_word(cli, command, args->list[0], otherwise);
}

/* --- the dispatch -------------------------------------------------------- */

/* By what the environment says, and again when the repository is known. */
static int
check_session(struct cli *cli, const struct cli_command *command)
{
	if (!cli_is_guarded(command) || !cli_is_barred(cli, command->repairs))
		return CLI_OK;
	return cli_fail(cli, "refused",
	    "agents may not run llmc %s; this is a worker's session",
	    command->name);
}

/* Where the first word is that is no option of this command: of those behind
 * its name, argv[0]. argc if there is none. */
static int
next_word(const struct cli_command *command, int argc, char **argv)
{
	int i = 1, taken;

	while (i < argc && strcmp(argv[i], "--") != 0 &&
	    (taken = cli_option_words(command, argv[i])) > 0)
		i += taken;
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	return i < argc ? i : argc;
}

/* The word at this place becomes the second one. */
static void
put_second(char **argv, int at)
{
	char *word = argv[at];

	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
	argv[1] = word;
}

/* llmc goal --json plan: the second word of a name may follow options. */
static void
join_name(const struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command = cli_find(cli, argv[0]);
	int next = next_word(command, argc, argv), used;

	if (command == NULL || next < 2 || next >= argc ||
	    cli_find_words(cli, (const char *[]){ argv[0], argv[next] }, 2,
		&used) == NULL ||
	    used < 2)
		return;
	/* llmc attach -- console means a worker. */
	if (command->verbs != NULL || strcmp(argv[next - 1], "--") != 0)
		put_second(argv, next);
}

static int
run_command(struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command;
	struct cli_args args;
	bool help = false;
	int status, used;

	join_name(cli, argc, argv);
	command = cli_find_words(cli, (const char *const *)argv, argc, &used);
	if (command == NULL)
		return cli_unknown_command(cli, argv[0]);
	cli->silent = command->silent;
	status =
	    cli_parse(cli, command, argc - used, argv + used, &args, &help);
	if (status != CLI_OK)
		return status;
	if (help) {
		const char *name = command->name;

		args = (struct cli_args){ .count = 1, .list = &name };
		return cmd_help.run(cli, &args);
	}
	if (cli->verbose)
		log_open(&(struct log_options){ .component = "llmc",
		    .terminal = true,
		    .level = LOG_LEVEL_DEBUG });
	status = check_session(cli, command);
	if (status == CLI_OK)
		status = cli_find_workspace(cli, command->needs);
	if (status == CLI_OK)
		status = check_session(cli, command);
	return status == CLI_OK ? cli_run(cli, command, &args) : status;
}

static int
run(struct cli *cli, int argc, char **argv)
{
	bool help = false, version = false;
	struct cli_args none = { 0 };
	char **words;
	struct err err = { 0 };
	int i = 1, taken;

	while (i < argc && argv[i][0] == '-') {
		taken = cli_parse_global(cli, argc, argv, i, &help, &version);
		if (taken < 0)
			return -taken;
		if (taken == 0)
			return cli_unknown_flag(cli, NULL, argv[i]);
		i += taken;
	}
	if (version)
		return cmd_version.run(cli, &none);
	if (help && i >= argc)
		return cmd_help.run(cli, &none);
	if (i >= argc) {
		/* In a repository: where things stand. */
		if (cli->json || cli_look_for_workspace(cli, &err) < 0)
			return cli_misuse(cli, NULL,
			    "a command is required%s%s",
			    err.msg[0] != '\0' ? "; " : "", err.msg);
		return status_stand(cli);
	}
	argc -= i;
	words = argv + i;
	if (help) {
		const struct cli_command *command;

		join_name(cli, argc, words);
		command = cli_find_words(
		    cli, (const char *const *)words, argc, &none.count);
		if (command == NULL)
			none.count = 1;
		else if (none.count < argc &&
		    cli_has_verb(command, words[none.count]))
			none.count++;
		none.list = (const char *const *)words;
		return cmd_help.run(cli, &none);
	}
	return run_command(cli, argc, words);
}

/* Print the result in the form that was asked for. A reader that has gone (llmc
 * help | head) is not an error; a full disk is. */
static int
print_result(struct cli *cli, int status)
{
	int r;

	if (cli->json) {
		buf_clear(&cli->text);
		if (cli->result != NULL)
			json_print(cli->result, true, &cli->text);
	}
	r = cli_write(&cli->text);
	if (cli->silent)
		return CLI_OK;
	if (r < 0 && r != -EPIPE) {
		fprintf(stderr, "llmc: standard output: %s\n", strerror(-r));
		return CLI_FAILED;
	}
	return status;
}

/* --json after a mistake must still be honoured: look for it first. */
static bool
json_is_wanted(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	struct cli cli = { .commands = commands, .text = BUF_INIT };
	const char *root = getenv("LLMC_ROOT");
	int status;
	int fd;

	/* A program started with a standard descriptor closed must not find
	 * its first file there. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	fd_close(fd);
	fatal_on(log_fatal);
	setlocale(LC_CTYPE, "C");
	signal(SIGPIPE, SIG_IGN);
	if (root != NULL && root[0] != '\0')
		cli.root_option = root;
	cli.json = json_is_wanted(argc, argv);
	cli.colour = wants_colour();
	cli.utf8 = locale_is_utf8();
	cli.width = terminal_width();
	status = run(&cli, argc, argv);
	status = print_result(&cli, status);
	json_object_put(cli.result);
	buf_release(&cli.text);
	workspace_release(&cli.workspace);
	log_close();
	return status;
}
