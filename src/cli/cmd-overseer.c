/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <poll.h>
#include <signal.h>

#include "cli-private.h"
#include "history.h"
#include "preflight.h"
#include "procref.h"
#include "sibling.h"

#define OVERSEER_FILES_LOOK_MS 50
#define REGISTRATION_MAX       ((size_t)256 * 1024)

void
overseer_files_load(struct cli *cli, struct overseer_files *ret_overseer)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "overseer.json");
	cleanup_free char *lock =
	    workspace_path(&cli->workspace, "overseer.lock");
	cleanup_json struct json_object *json = NULL;

	*ret_overseer =
	    (struct overseer_files){ .active = lock_is_held(lock) == 1 };
	if (json_load(file, REGISTRATION_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	ret_overseer->registered =
	    ret_overseer->active && roster_is_alive(json);
	ret_overseer->json = take_ptr(&json);
}

void
overseer_files_release(struct overseer_files *overseer)
{
	json_object_put(overseer->json);
	*overseer = (struct overseer_files){ 0 };
}

int64_t
overseer_files_pid(const struct overseer_files *overseer)
{
	return overseer->registered ? json_int_or(overseer->json, "pid", 0) : 0;
}

struct overseer_now
overseer_now(struct cli *cli)
{
	struct overseer_files files;
	struct overseer_now now;
	const char *state;

	overseer_files_load(cli, &files);
	state = json_string_or(files.json, "state", "");
	now = (struct overseer_now){ .active = files.active,
		.repairs = files.registered &&
		    (strcmp(state, "Remediating") == 0 ||
			strcmp(state, "Waiting") == 0),
		.pid = overseer_files_pid(&files) };
	overseer_files_release(&files);
	return now;
}

bool
overseer_files_end(struct cli *cli, int64_t ms)
{
	cleanup_free char *lock =
	    workspace_path(&cli->workspace, "overseer.lock");
	struct procref ref = PROCREF_INIT;
	struct overseer_files overseer;
	int64_t end = clock_mono_ms() + ms;
	bool told;

	overseer_files_load(cli, &overseer);
	told = overseer.registered &&
	    procref_from_json(&ref, overseer.json, NULL) == 0 &&
	    procref_open(&ref) == 0 && procref_signal(&ref, SIGTERM) == 0;
	overseer_files_release(&overseer);
	procref_release(&ref);
	while (told && lock_is_held(lock) == 1 && clock_mono_ms() < end)
		poll(NULL, 0, OVERSEER_FILES_LOOK_MS); /* a lock has no event */
	return told && lock_is_held(lock) != 1;
}

bool
overseer_files_restart(struct cli *cli, int64_t ms)
{
	struct procref ref = PROCREF_INIT;
	struct overseer_files overseer;
	int64_t end = clock_mono_ms() + ms, before;
	bool told, done = false;

	overseer_files_load(cli, &overseer);
	before = json_int_or(overseer.json, "restarts", 0);
	told = overseer.registered &&
	    procref_from_json(&ref, overseer.json, NULL) == 0 &&
	    procref_open(&ref) == 0 && procref_signal(&ref, SIGUSR2) == 0;
	overseer_files_release(&overseer);
	while (told && !done && procref_alive(&ref) && clock_mono_ms() < end) {
		poll(NULL, 0, OVERSEER_FILES_LOOK_MS);
		overseer_files_load(cli, &overseer);
		done = overseer.registered &&
		    json_int_or(overseer.json, "restarts", 0) > before;
		overseer_files_release(&overseer);
	}
	procref_release(&ref);
	return done;
}

int
overseer_files_refuse(struct cli *cli, const char *command, const char *way)
{
	struct overseer_now now = overseer_now(cli);
	cleanup_free char *kill = NULL;

	if (!now.active)
		return CLI_OK;
	if (now.pid > 0)
		kill = xasprintf(", or: kill %lld", (long long)now.pid);
	return cli_fail(cli, "overseen",
	    "llmc %s is refused while an overseer runs; stop the overseer "
	    "first, with Ctrl-C in its terminal%s%s%s",
	    command, kill != NULL ? kill : "", way != NULL ? "; " : "",
	    way != NULL ? way : "");
}

bool
overseer_files_is_over(struct cli *cli, struct buf *words)
{
	struct history history;
	bool over;

	if (history_load(&cli->workspace, &history, NULL) < 0)
		return false;
	over = spiral_is_over(history.events, history.count, words);
	history_release(&history);
	return over;
}

#define START_MS             60000
#define CMD_OVERSEER_LOOK_MS 50

enum {
	FLAG_CONCURRENCY,
	FLAG_TASK_POOL_COMMAND,
	FLAG_POST_ACCEPT_COMMAND,
	FLAG_CLEAR,
	FLAG_CHECK,
	FLAG_COUNT,
	FLAG_DETACH = FLAG_COUNT /* not one of the program */
};

static const struct cli_flag overseer_flags[] = {
	[FLAG_CONCURRENCY] = { "concurrency", "N",
	    "number of workers, 1 to 100" },
	[FLAG_TASK_POOL_COMMAND] = { "task-pool-command", "COMMAND",
	    "shell command that prints the next task" },
	[FLAG_POST_ACCEPT_COMMAND] = { "post-accept-command", "COMMAND",
	    "shell command to run after each landing" },
	[FLAG_CLEAR] = { "clear", "REASON",
	    "only record that the cause is fixed: the next failure counts as "
	    "the first" },
	[FLAG_CHECK] = { "check", NULL,
	    "only say whether it can start, and what to do if not" },
	[FLAG_DETACH] = { "detach", NULL,
	    "run in the background; return when it oversees" },
	{ NULL, NULL, NULL },
};

static int
check_flags(struct cli *cli, const struct cli_args *args)
{
	const char *reason = args->flags[FLAG_CLEAR];

	if (reason != NULL && reason[0] == '\0')
		return cli_misuse(cli, &cmd_overseer,
		    "--clear needs a reason: what was fixed, or found");
	if (args->flags[FLAG_DETACH] != NULL &&
	    (reason != NULL || args->flags[FLAG_CHECK] != NULL))
		return cli_misuse(cli, &cmd_overseer,
		    "--detach cannot be combined with --clear or --check");
	for (int i = 0; i < FLAG_COUNT; i++)
		if (reason != NULL && i != FLAG_CLEAR && args->flags[i] != NULL)
			return cli_misuse(cli, &cmd_overseer,
			    "--clear starts nothing and cannot be combined "
			    "with --%s",
			    overseer_flags[i].name);
	return cli_check_concurrency(
	    cli, &cmd_overseer, args->flags[FLAG_CONCURRENCY]);
}

/* Wait until it has a daemon, or deals with one that it does not have; false
 * if it has ended. */
static bool
wait_overseeing(struct cli *cli, int fd)
{
	struct pollfd broken = { .fd = fd, .events = POLLIN };
	int64_t end = clock_mono_ms() + START_MS;

	while (clock_mono_ms() < end) {
		struct overseer_files files;
		const char *state;
		bool begins;

		if (poll(&broken, 1, CMD_OVERSEER_LOOK_MS) == 1)
			return false;
		overseer_files_load(cli, &files);
		state = json_string_or(files.json, "state", "Starting");
		begins = !files.registered || strcmp(state, "Starting") == 0;
		overseer_files_release(&files);
		if (!begins)
			break;
	}
	return true;
}

static int
detach(struct cli *cli, char *const *argv)
{
	cleanup_free char *log =
	    workspace_path(&cli->workspace, "logs/overseer.stderr");
	struct overseer_files files;
	cleanup_fd int fd = -1;
	struct err err = { 0 };
	off_t said = 0;

	if (overseer_now(cli).active)
		return cli_fail(cli, "already_running",
		    "another overseer is running for %s; see: llmc status",
		    cli->workspace.root);
	if (file_make_private(log, &said, &err) < 0 ||
	    detach_start(cli, argv, log, &fd, &err) < 0)
		return cli_fail_err(cli, "failed", &err);
	if (!wait_overseeing(cli, fd))
		return detach_fail(cli, "the overseer", log, said);
	overseer_files_load(cli, &files);
	buf_addf(&cli->text,
	    "The overseer is running (pid %lld): %s.\n"
	    "Follow it with: llmc log --follow; stop it with: kill %lld\n",
	    (long long)overseer_files_pid(&files),
	    json_string_or(files.json, "state", "Starting"),
	    (long long)overseer_files_pid(&files));
	cli->result = json_object_new_object();
	json_set_int(cli->result, "pid", overseer_files_pid(&files));
	json_set_string(cli->result, "state",
	    json_string_or(files.json, "state", "Starting"));
	overseer_files_release(&files);
	return CLI_OK;
}

static int
cmd_overseer_overseer_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *program = sibling_find("overseer");
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };
	int status = check_flags(cli, args);

	if (status == CLI_OK && args->flags[FLAG_CHECK] == NULL &&
	    args->flags[FLAG_CLEAR] == NULL)
		status = sessions_refuse_inside(
		    cli, "the overseer", "llmc overseer");
	if (status != CLI_OK)
		return status;
	if (program == NULL)
		return cli_fail(cli, "not_installed",
		    "cannot find overseer next to llmc or on PATH; install it "
		    "with: make install");
	argv = cli_argv(cli, program, overseer_flags, args, 0, FLAG_COUNT);
	if (args->flags[FLAG_DETACH] != NULL)
		return detach(cli, argv);
	if (cli->json)
		strv_add(&argv, "--json");
	terminal_become(strv_const(argv), &err);
	return cli_fail_err(cli, "failed", &err);
}

static const struct schema line_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("time", STRING, NULL),
	    SCHEMA_IS("kind", STRING, NULL,
		.choices = (const char *const[]){ "info", "bad", "good",
		    "warning", NULL }),
	    SCHEMA_IS("message", STRING, NULL),
	    SCHEMA_END,
	},
	.help = "one on each line",
};

static const struct schema detached_shape =
    SCHEMA_SHAPE(SCHEMA_IS("pid", INT, NULL), SCHEMA_IS("state", STRING, NULL));

static const struct schema overseer_shape =
    SCHEMA_SHAPE(SCHEMA_IS("what happens", OBJECT, NULL, .of = &line_shape),
	SCHEMA_IS("--detach", OBJECT, NULL, .of = &detached_shape),
	SCHEMA_IS("--check", OBJECT, NULL, .of = &preflight_shape));

const struct cli_command cmd_overseer = {
	.name = "overseer",
	.group = CLI_RUN,
	.usage =
	    "[--concurrency N] [--task-pool-command COMMAND] "
	    "[--post-accept-command COMMAND] [--detach] | --clear REASON | "
	    "--check",
	.summary = "run auto mode, and repair it when it breaks",
	.help =
	    "Runs in the foreground until Ctrl-C, which stops the daemon too, "
	    "or in the\nbackground with --detach. "
	    "Starts the daemon in auto mode (llmc up --auto), or\ntakes over "
	    "the one that is running, and watches it. When the daemon dies,\n"
	    "hangs, logs an error or stalls, a Claude Code session repairs "
	    "the cause (watch\nit with llmc attach overseer), and the daemon "
	    "is started again. When that does\nnot help, the overseer stops and "
	    "says what to do. llmc log failures shows the\nhistory, and --clear "
	    "lets the overseer start again. overseer.remediation_prompt"
	    "\ntells a repair about the project; see man overseer. --check "
	    "checks what llmc up\n--check does, and whether an earlier run "
	    "waits for a person.\n",
	.example = "overseer --detach",
	.flags = overseer_flags,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, overseer_shape),
	.run = cmd_overseer_overseer_run,
};
