/* SPDX-License-Identifier: ISC */

/* llmc, the command line: options common to all commands, and the dispatch. */
#include "base.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "cli-private.h"

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

/* The words with what replaces an old name at their beginning, which is said;
 * the caller frees them. */
static char **
renew(struct cli *cli, int *argc, char **argv)
{
	const struct cli_command *command = cli_find(argv[0]);
	int used = 0, next = next_word(command, *argc, argv);
	const struct cli_renamed *row = next == *argc ?
	    NULL :
	    cli_find_renamed((const char *[]){ argv[0], argv[next] }, 2, &used);
	char **words = xcalloc((size_t)*argc + 4, sizeof *words);
	int count = 0;

	if (row != NULL && used == 2)
		put_second(argv, next);
	else
		row = cli_find_renamed((const char *const *)argv, 1, &used);
	if (row != NULL) {
		static char copy[64];

		cli->old_name = row->old;
		cli_warn(cli, "'llmc %s' is now 'llmc %s'", row->old, row->new);
		strlcpy(copy, row->new, sizeof copy);
		for (char *at = copy, *word; (word = strsep(&at, " ")) != NULL;)
			words[count++] = word;
	}
	for (int i = used; i < *argc; i++)
		words[count++] = argv[i];
	*argc = count;
	return words;
}

/* llmc goal --json plan: the second word of a name may follow options. */
static void
join_name(int argc, char **argv)
{
	const struct cli_command *command = cli_find(argv[0]);
	int next = next_word(command, argc, argv), used;

	if (command == NULL || next < 2 || next >= argc ||
	    cli_find_words((const char *[]){ argv[0], argv[next] }, 2, &used) ==
		NULL ||
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

	join_name(argc, argv);
	command = cli_find_words((const char *const *)argv, argc, &used);
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
	cleanup_free char **words = NULL;
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
	words = renew(cli, &argc, argv + i);
	if (help) {
		const struct cli_command *command;

		join_name(argc, words);
		command = cli_find_words(
		    (const char *const *)words, argc, &none.count);
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
	struct cli cli = { .text = BUF_INIT };
	const char *root = getenv("LLMC_ROOT");
	int status;
	int fd;

	/* A program started with a standard descriptor closed must not find
	 * its first file there. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	fd_close(fd);
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
