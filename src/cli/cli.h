/* SPDX-License-Identifier: ISC */

/*
 * What every command shares: its row in the table, the options common to all,
 * and the two ways out (text for people, one JSON value for programs).
 *
 * A command fills cli->text and cli->result and returns its exit status; main
 * prints the one that was asked for. Failures go through cli_fail().
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "workspace.h"

struct err;
struct json_object;
struct settings;
struct schema_field;

enum {
	CLI_OK = 0,
	CLI_FAILED = 1, /* a runtime error */
	CLI_USAGE = 2, /* called wrongly */
};

struct cli {
	const char *root_option; /* --root, else LLMC_ROOT, else NULL */
	bool json;
	bool verbose;
	bool silent; /* the command must not print errors */
	bool colour; /* on standard output */
	int width; /* of standard output, 0 = not a terminal */
	struct workspace workspace; /* when the command needs one */
	struct json_object *result;
	struct buf text;
};

struct cli_flag {
	const char *name; /* without dashes; NULL ends the list */
	const char *value; /* what its value is called, NULL = a switch */
	const char *help;
};

#define CLI_FLAGS_MAX 16
#define CLI_GIVEN_MAX 64

/* What was typed after the command's name. */
struct cli_args {
	int count;
	const char *const *list;
	const char *flags[CLI_FLAGS_MAX]; /* by position in the command's
					   * flag list; "" for a switch, NULL
					   * when not given */
	/* The same in the order in which they were typed: for flags that may
	 * be given several times. Otherwise the last one counts. */
	struct {
		int flag;
		const char *value;
	} given[CLI_GIVEN_MAX];
	int given_count;
};

#define CLI_NEEDS_REPO 1u /* a git repository */
#define CLI_NEEDS_INIT 2u /* where llmc init has been run */
#define CLI_DAEMON_DOES                                           \
	4u /* ... or where a daemon runs, which uses the settings \
	    * that were accepted */

struct cli_command {
	const char *name;
	const char *usage; /* arguments, as in a synopsis */
	const char *summary; /* one line */
	const char *help; /* more lines, each ended by a newline */
	const struct cli_flag *flags;
	const char *letters; /* short forms of the flags, by position, a blank
			      * for none; NULL = none at all */
	int min_args, max_args;
	bool hidden; /* for programs; help does not list it */
	bool silent; /* exit status 0 and no error message, whatever happens */
	const char *method; /* the daemon's method that it calls, NULL = none */
	bool guarded; /* refused inside an agent's own session, also if its
		       * method says so (api.h) ... */
	bool repairs; /* ... but not in the overseer's own repair session */
	unsigned needs;
	const struct schema_field *shape; /* of its JSON; NULL = that of its
					   * method's result */
	int (*run)(struct cli *cli, const struct cli_args *args);
};

extern const struct cli_command *const cli_commands[]; /* ends with NULL */
extern const struct cli_flag cli_global_flags[];

const struct cli_command *cli_find(const char *name);

/* What its JSON looks like. */
const struct schema_field *cli_shape(const struct cli_command *command);

/* Is it refused inside an agent's own session? */
bool cli_is_guarded(const struct cli_command *command);

/* Report a failure: one line for people, {"error":{...}} with --json. `code` is
 * a word for programs. Returns CLI_FAILED (or CLI_USAGE from cli_misuse). */
int cli_fail(struct cli *cli, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int cli_fail_err(struct cli *cli, const char *code, const struct err *err);
/* With the output of a command (NULL = none) below it. */
int cli_fail_output(struct cli *cli, const char *code, const struct err *err,
    const char *output);
int cli_misuse(struct cli *cli, const struct cli_command *command,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

int cli_unknown_command(struct cli *cli, const char *word);
int cli_unknown_flag(struct cli *cli,
    const struct cli_command *command /* NULL = none yet */, const char *word);

/* One line on standard error, for people only: nothing with --json. */
void cli_warn(struct cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Find the repository into cli->workspace, as far as `needs` asks for it.
 * CLI_OK, or the failure is reported. */
int cli_find_workspace(struct cli *cli, unsigned needs);

/* The settings in force; the caller frees them. CLI_OK, or the failure (an
 * error in the file too) is reported. */
int cli_load_settings(struct cli *cli, struct settings **ret_settings);

/* Is it forbidden in the session that this runs in? An agent must not stop what
 * it is part of; the one that repairs for the overseer may repair. The parents
 * of this process tell (identity.h), once the workspace is known; LLMC_AGENT is
 * believed only where it forbids. */
bool cli_is_barred(struct cli *cli, bool repairs);

/* Check a number of workers, as given to --concurrency: CLI_OK, or the failure
 * is reported. NULL = not given. */
int cli_check_concurrency(
    struct cli *cli, const struct cli_command *command, const char *text);

/* Write to standard output. The only way there: whatever a branch, a title or a
 * log line contains is made safe for a terminal. Negative errno. */
int cli_write(const struct buf *text);

/* Print what cli->text has so far: for commands that continue, or let another
 * program print. Nothing with --json. */
void cli_flush(struct cli *cli);

/* The lines of a text as an array of strings. */
struct json_object *cli_lines(const char *text);

/* "\033[32mtext\033[0m" where colours are wanted, else the text. */
void cli_coloured(struct cli *cli, const char *sgr, const char *text);

/* The short form of a flag by its position, '\0' = none. */
char cli_flag_letter(const char *letters, size_t flag);

/* Usage of one command, or of llmc itself (NULL), for people. */
void cli_usage(const struct cli_command *command, struct buf *out);

/* Parse argv after the command's name. Global flags may be there too.
 * *args->list is valid as long as argv. CLI_OK, or the status to exit with (the
 * failure is reported). *ret_help is set for --help. */
int cli_parse(struct cli *cli, const struct cli_command *command, int argc,
    char **argv, struct cli_args *ret_args, bool *ret_help);

/* Parse a global flag at argv[i]: number of words used, 0 = not one, negative
 * exit status if it is wrong. */
int cli_parse_global(struct cli *cli, int argc, char **argv, int i,
    bool *ret_help, bool *ret_version);

#endif
