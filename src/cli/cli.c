/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "cli-private.h"
#include "config.h"
#include "identity.h"
#include "loop.h"
#include "workspace.h"
#include "work-record.h"

#define CONCURRENCY_MAX 100

const struct cli_flag cli_global_flags[] = {
	{ "root", "DIR",
	    "work on the repository at DIR instead of the current one" },
	{ "json", NULL, "print one JSON value and nothing else" },
	{ "verbose", NULL, "also report progress on standard error (-v)" },
	{ "no-color", NULL, "never print colours" },
	{ "help", NULL, "show this help (-h)" },
	{ "version", NULL, "show the version" },
	{ NULL, NULL, NULL },
};

const struct cli_flag cli_here_flags[] = {
	{ "here", NULL, CLI_HERE_HELP },
	{ NULL, NULL, NULL },
};

/* As the designs that llmc is built from call them. */
static const struct cli_alias {
	const char *name, *command;
} aliases[] = {
	{ "work", "goal node" },
	{ "tick", "goal tick" },
};

static const struct cli_command *
find_now(const struct cli *cli, const char *name)
{
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (strcmp(cli->commands[i]->name, name) == 0)
			return cli->commands[i];
	return NULL;
}

const struct cli_command *
cli_find(const struct cli *cli, const char *name)
{
	const struct cli_command *command = find_now(cli, name);

	for (size_t i = 0; command == NULL && i < nitems(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			command = find_now(cli, aliases[i].command);
	return command;
}

bool
cli_has_verb(const struct cli_command *command, const char *word)
{
	for (const struct verb *v = command->verbs;
	     v != NULL && v->name != NULL; v++)
		if (word[0] != '\0' && strcmp(v->name, word) == 0)
			return true;
	return false;
}

const char *
cli_verb_of(const struct cli_command *parent, const struct cli_command *command)
{
	size_t len = strlen(parent->name);

	return strncmp(command->name, parent->name, len) == 0 &&
		command->name[len] == ' ' ?
	    command->name + len + 1 :
	    NULL;
}

const struct cli_command *
cli_find_words(
    const struct cli *cli, const char *const *words, int count, int *ret_used)
{
	const struct cli_command *command = NULL;

	for (*ret_used = count < 2 ? count : 2; *ret_used > 0; --*ret_used) {
		cleanup_free char *name = *ret_used == 1 ?
		    xstrdup(words[0]) :
		    xasprintf("%s %s", words[0], words[1]);

		command = cli_find(cli, name);
		if (command != NULL)
			break;
	}
	return command;
}

/* --- progress ---------------------------------------------------------- */

#define CLEAR "\r\033[K"

static struct {
	const char *what;
	volatile sig_atomic_t seconds, done, total;
	struct sigaction before;
} progress;

/* Only what a handler of a signal may call. */
static void
put(const char *text, size_t len)
{
	ssize_t n = write(STDERR_FILENO, text, len);

	(void)n;
}

static void
put_number(int number)
{
	char digits[16];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 && at > 0);
	put(digits + at, sizeof digits - at);
}

static void
on_second(int signo)
{
	int saved = errno;

	(void)signo;
	progress.seconds++;
	put(CLEAR, strlen(CLEAR));
	put(progress.what, strlen(progress.what));
	put(": ", 2);
	if (progress.total > 0) {
		put_number(progress.done);
		put(" of ", 4);
		put_number(progress.total);
		put(", ", 2);
	}
	put_number(progress.seconds);
	put(" s", 2);
	errno = saved;
}

static void
set_timer(time_t seconds)
{
	const struct itimerval every = { { .tv_sec = seconds },
		{ .tv_sec = seconds } };

	setitimer(ITIMER_REAL, &every, NULL);
}

void
progress_begin(const struct cli *cli, const char *what)
{
	struct sigaction action = { .sa_handler = on_second,
		.sa_flags = SA_RESTART };

	if (cli->json || !isatty(STDERR_FILENO))
		return;
	progress.what = what;
	progress.seconds = 0;
	progress_count(0, 0);
	sigaction(SIGALRM, &action, &progress.before);
	set_timer(1);
}

void
progress_count(size_t done, size_t total)
{
	progress.done = (sig_atomic_t)done;
	progress.total = (sig_atomic_t)total;
}

void
progress_end(void)
{
	if (progress.what == NULL)
		return;
	set_timer(0);
	sigaction(SIGALRM, &progress.before, NULL);
	progress.what = NULL;
	if (progress.seconds > 0)
		put(CLEAR, strlen(CLEAR));
}

/* --- what is said ------------------------------------------------------- */

/* On one line, whatever the message contains. */
static void
print_line(const char *message)
{
	cleanup_buf struct buf line = BUF_INIT;

	progress_end();
	buf_adds(&line, "llmc: ");
	text_add_visible(&line, message, strlen(message), false);
	fprintf(stderr, "%s\n", line.data);
}

/* The failure as JSON on standard output, or as one line on standard error. */
static void
report(struct cli *cli, const char *code, const char *message)
{
	struct json_object *error;

	if (cli->silent)
		return;
	if (cli->json) {
		error = json_object_new_object();
		json_set_string(error, "code", code);
		json_set_string(error, "message", message);
		json_object_put(cli->result);
		cli->result = json_object_new_object();
		json_set(cli->result, "error", error);
		return;
	}
	print_line(message);
}

void
cli_warn(struct cli *cli, const char *fmt, ...)
{
	cleanup_free char *message = NULL;
	va_list ap;

	if (cli->json)
		return;
	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	print_line(message);
}

int
cli_fail(struct cli *cli, const char *code, const char *fmt, ...)
{
	cleanup_free char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	report(cli, code, message);
	return CLI_FAILED;
}

int
cli_fail_err(struct cli *cli, const char *code, const struct err *err)
{
	return cli_fail(cli, code, "%s", err->msg);
}

int
cli_fail_output(struct cli *cli, const char *code, const struct err *err,
    const char *output)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *error = NULL;

	report(cli, code, err->msg);
	if (output == NULL || cli->silent)
		return CLI_FAILED;
	if (cli->json) {
		json_object_object_get_ex(cli->result, "error", &error);
		json_set_string(error, "output", output);
	} else {
		text_add_visible(&text, output, strlen(output), true);
		fputs(text.data, stderr);
	}
	return CLI_FAILED;
}

int
cli_misuse(
    struct cli *cli, const struct cli_command *command, const char *fmt, ...)
{
	cleanup_free char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	report(cli, "usage", message);
	if (cli->json || cli->silent)
		return CLI_USAGE;
	if (command != NULL)
		fprintf(stderr,
		    "usage: llmc %s%s%s\nFor details, type: llmc help %s\n",
		    command->name, command->usage[0] != '\0' ? " " : "",
		    command->usage, command->name);
	else
		fprintf(stderr,
		    "usage: llmc [OPTIONS] COMMAND [ARGUMENTS]\nFor a list of "
		    "commands, type: llmc help\n");
	return CLI_USAGE;
}

int
cli_look_for_workspace(struct cli *cli, struct err *err)
{
	return cli->root_option != NULL ?
	    workspace_at(cli->root_option, &cli->workspace, err) :
	    workspace_find(".", &cli->workspace, err);
}

int
cli_find_workspace(struct cli *cli, unsigned needs)
{
	cleanup_free char *lock = NULL;
	struct err err = { 0 };
	int r;

	if (needs & CLI_ANYWHERE)
		return CLI_OK;
	r = cli_look_for_workspace(cli, &err);
	/* A daemon that runs has been through the check, and git is slow. */
	if (r == 0 && (needs & CLI_DAEMON_DOES) &&
	    workspace_initialised(&cli->workspace)) {
		lock = workspace_path(&cli->workspace, "state.lock");
		if (lock_is_held(lock) == 1)
			return CLI_OK;
	}
	if (r < 0)
		return cli_fail_err(cli,
		    r == -ENOENT ? "no_repository" : "bad_repository", &err);
	if (needs != CLI_NEEDS_REPO)
		r = root_mark_check(&cli->workspace, &err);
	if (r < 0)
		return cli_fail_err(cli,
		    r == -ENOENT    ? "not_initialised" :
			r == -EPERM ? "foreign_config" :
				      "bad_repository",
		    &err);
	return CLI_OK;
}

int
cli_load_settings(struct cli *cli, struct settings **ret_settings)
{
	struct err err = { 0 };
	int r = config_load_strict(&cli->workspace, ret_settings, &err);

	if (r < 0)
		return cli_fail_err(
		    cli, r == -EINVAL ? "bad_config" : "io", &err);
	return CLI_OK;
}

static bool
may_repair(const char *session)
{
	return text_is(session, OVERSEER_NAME);
}

bool
cli_is_barred(struct cli *cli, bool repairs)
{
	cleanup_free char *session = NULL;
	int r;

	if (getenv("LLMC_AGENT") != NULL &&
	    !(repairs && may_repair(getenv("LLMC_WORKER"))))
		return true;
	if (cli->workspace.root == NULL)
		return false;
	r = identity_own(&cli->workspace, &session);
	/* Without /proc nothing can be said. */
	return r != 0 && r != -ESRCH && !(repairs && may_repair(session));
}

int
cli_check_concurrency(
    struct cli *cli, const struct cli_command *command, const char *text)
{
	int64_t count;

	if (text != NULL && !text_parse_int(text, 1, CONCURRENCY_MAX, &count))
		return cli_misuse(cli, command,
		    "--concurrency takes a whole number from 1 to %d, not %s",
		    CONCURRENCY_MAX, text);
	return CLI_OK;
}

int
cli_write(const struct buf *text)
{
	cleanup_buf struct buf safe = BUF_INIT;

	text_add_terminal(&safe, text->data, text->len);
	return file_write_all(STDOUT_FILENO, safe.data, safe.len);
}

static void
on_reader_gone(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	loop_stop(arg, CLI_OK);
}

struct loop_watch *
cli_watch_reader(struct loop *loop)
{
	struct stat st;

	/* An end that can only be written has nothing to read but its error. */
	if (fstat(STDOUT_FILENO, &st) == -1 || !S_ISFIFO(st.st_mode) ||
	    (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_WRONLY)
		return NULL;
	return loop_watch_new(
	    loop, STDOUT_FILENO, LOOP_READ, on_reader_gone, loop);
}

struct json_object *
cli_lines(const char *text)
{
	struct json_object *list = json_object_new_array();

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		cleanup_buf struct buf line = BUF_INIT;

		text_add_utf8(&line, text, len);
		json_object_array_add(list, json_object_new_string(line.data));
		text += len + (text[len] == '\n');
	}
	return list;
}

void
cli_coloured(struct cli *cli, const char *sgr, const char *text)
{
	if (cli->colour)
		buf_addf(&cli->text, "\033[%sm%s\033[0m", sgr, text);
	else
		buf_adds(&cli->text, text);
}

void
cli_say(
    struct cli *cli, const char *before, const char *text, const char *after)
{
	buf_adds(&cli->text, before);
	text_add_visible(&cli->text, text, strlen(text), false);
	buf_adds(&cli->text, after);
}

void
cli_table(struct cli *cli, const struct view_column *columns, size_t count,
    struct json_object *rows, const void *arg, const char *none)
{
	const struct view_table table = {
		.columns = columns, .count = count, .rows = rows, .arg = arg
	};

	if (json_object_array_length(rows) > 0)
		view_table_print(&table, cli->width, cli->colour, &cli->text);
	else if (none != NULL)
		buf_addf(&cli->text, "%s\n", none);
}

void
cli_text(struct cli *cli, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(&cli->text, "\n%s\n", name);
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (len > 0)
			buf_adds(&cli->text, "  ");
		text_add_visible(&cli->text, text, len, true);
		buf_addc(&cli->text, '\n');
		text += len + (text[len] == '\n');
	}
}

struct json_object *
cli_members(const struct schema *shape, struct json_object *from)
{
	struct json_object *json = json_object_new_object();

	for (const struct schema_field *f = shape->fields; f->name != NULL;
	     f++) {
		struct json_object *value = NULL;

		if (json_object_is_type(from, json_type_object))
			value = json_object_get(json_member(from, f->name));
		if (value == NULL && (f->flags & SCHEMA_OPTIONAL))
			continue;
		if (value == NULL && !(f->flags & SCHEMA_NULLABLE))
			value = f->type == SCHEMA_BOOL ?
			    json_object_new_boolean(false) :
			    json_object_new_int64(0);
		json_set(json, f->name, value);
	}
	return json;
}

char
cli_flag_letter(const char *letters, size_t flag)
{
	if (letters == NULL || strlen(letters) <= flag || letters[flag] == ' ')
		return '\0';
	return letters[flag];
}

int
cli_unknown_command(struct cli *cli, const char *word)
{
	const char *names[128], *near;
	size_t count = 0;

	for (size_t i = 0; cli->commands[i] != NULL; i++)
		names[count++] = cli->commands[i]->name;
	names[count] = NULL;
	near = text_nearest(word, names);
	if (near != NULL)
		return cli_misuse(cli, NULL,
		    "%s: no such command; did you mean \"%s\"?", word, near);
	return cli_misuse(cli, NULL, "%s: no such command", word);
}

char **
cli_argv(struct cli *cli, const char *program, const struct cli_flag *flags,
    const struct cli_args *args, int from, int to)
{
	char **argv = NULL;

	strv_add_all(&argv,
	    (const char *const[]){
		program, "--root", cli->workspace.root, NULL });
	for (int i = from; i < to; i++) {
		if (args->flags[i] == NULL)
			continue;
		strv_take(&argv, xasprintf("--%s", flags[i].name));
		if (flags[i].value != NULL)
			strv_add(&argv, args->flags[i]);
	}
	return argv;
}

void
flag_text(struct json_object *params, const char *key,
    const struct cli_args *args, int flag)
{
	if (args->flags[flag] != NULL)
		json_set_string(params, key, args->flags[flag]);
}

void
flag_list(struct json_object *params, const char *key,
    const struct cli_args *args, int flag)
{
	struct json_object *list;

	if (args->flags[flag] == NULL)
		return;
	list = json_object_new_array();
	for (int i = 0; i < args->given_count; i++)
		if (args->given[i].flag == flag &&
		    args->given[i].value[0] != '\0')
			json_object_array_add(
			    list, json_object_new_string(args->given[i].value));
	json_set(params, key, list);
}

int
flag_priority(
    struct cli *cli, const struct cli_command *command, const char *word)
{
	enum priority priority;

	if (word == NULL || priority_parse(word, &priority))
		return CLI_OK;
	return cli_misuse(cli, command,
	    "\"%s\" is not a priority; use urgent, high, normal or low", word);
}

#define DAY_LEN 10 /* "2026-01-31" */

bool
since_parse(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	cleanup_free char *stamp = NULL;
	int64_t age = 0;

	if (text_parse_duration(text, &age)) {
		*ret_ms = now_ms - age;
		return true;
	}
	stamp = strlen(text) == DAY_LEN ? xasprintf("%sT00:00:00.000Z", text) :
					  xstrdup(text);
	return moment_parse(stamp, ret_ms);
}
