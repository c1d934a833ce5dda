/* SPDX-License-Identifier: ISC */

/* llmc start, attach, peek, console: a task for a free worker, and sessions of
 * tmux, for a person. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "prompt.h"
#include "tmux.h"
#include "view.h"

#define COMMAND_MS (10 * 60 * 1000)

enum {
	FLAG_WORKER,
	FLAG_PREFIX,
	FLAG_PROMPT,
	FLAG_FILE,
	FLAG_COMMAND,
	FLAG_REVIEW,
	FLAG_YES
};

static const struct cli_flag start_flags[] = {
	[FLAG_WORKER] = { "worker", "WORKER",
	    "give the task to this worker, as its name alone does" },
	[FLAG_PREFIX] = { "prefix", "TEXT",
	    "choose a free worker whose name begins with TEXT" },
	[FLAG_PROMPT] = { "prompt", "TEXT", "the task" },
	[FLAG_FILE] = { "prompt-file", "FILE",
	    "read the task from FILE; - is standard input" },
	[FLAG_COMMAND] = { "prompt-cmd", "COMMAND",
	    "use the output of this shell command as the task" },
	[FLAG_REVIEW] = { "self-review", NULL,
	    "have the agent review its own work before you do" },
	[FLAG_YES] = { "yes", NULL,
	    "do not ask about paths outside the worktree" },
	{ NULL, NULL, NULL },
};

/* The name of a worker, typed alone, is the value of --worker. */
static int
take_name(struct cli *cli, struct cli_args *args)
{
	if (args->count == 0)
		return CLI_OK;
	if (strpbrk(args->list[0], " \t\n") != NULL)
		return cli_misuse(cli, &cmd_start,
		    "\"%s\" is no name of a worker; give a task with: llmc "
		    "start --prompt TEXT",
		    args->list[0]);
	if (args->flags[FLAG_WORKER] != NULL)
		return cli_misuse(cli, &cmd_start, "name one worker, not two");
	args->flags[FLAG_WORKER] = args->list[0];
	return CLI_OK;
}

static int
check_flags(struct cli *cli, const struct cli_args *args)
{
	int sources = (args->flags[FLAG_PROMPT] != NULL) +
	    (args->flags[FLAG_FILE] != NULL) +
	    (args->flags[FLAG_COMMAND] != NULL);

	if (args->flags[FLAG_WORKER] != NULL &&
	    args->flags[FLAG_PREFIX] != NULL)
		return cli_misuse(cli, &cmd_start,
		    "a worker and --prefix cannot be combined");
	if (sources > 1)
		return cli_misuse(cli, &cmd_start,
		    "--prompt, --prompt-file and --prompt-cmd cannot be "
		    "combined");
	return CLI_OK;
}

static int
get_prompt(struct cli *cli, const struct cli_args *args, struct draft *draft)
{
	if (args->flags[FLAG_COMMAND] != NULL) {
		const char *command = args->flags[FLAG_COMMAND];
		struct child_spec spec = { .shell = command,
			.output_max = 2 * PROMPT_MAX,
			.deadline_ms = COMMAND_MS };
		cleanup_child_result struct child_result result;
		cleanup_buf struct buf words = BUF_INIT;
		struct err err = { 0 };

		if (child_run(&spec, &result, &err) < 0)
			return cli_fail_err(cli, "failed", &err);
		if (!child_succeeded(&result)) {
			child_result_describe(&result, &words);
			if (result.err.total > 0) {
				buf_adds(&words, ": ");
				child_output_text(&result.err, &words);
			}
			while (words.data[words.len - 1] == '\n')
				buf_truncate(&words, words.len - 1);
			return cli_fail(
			    cli, "failed", "--prompt-cmd %s", words.data);
		}
		if (result.out.total > PROMPT_MAX)
			return cli_fail(cli, "too_long",
			    "--prompt-cmd printed more than 1 MiB");
		child_output_text(&result.out, &draft->text);
		if (draft_check(cli, draft, "what --prompt-cmd printed") !=
		    CLI_OK)
			return CLI_FAILED;
		if (draft->text.data[strspn(draft->text.data, " \t\r\n")] ==
		    '\0')
			return cli_fail(
			    cli, "empty", "--prompt-cmd printed nothing");
		return CLI_OK;
	}
	if (args->flags[FLAG_FILE] != NULL)
		return draft_read(cli, args->flags[FLAG_FILE], draft);
	/* Do not let a person write a task for a daemon that is not running. */
	if (args->flags[FLAG_PROMPT] == NULL && !remote_alive(cli))
		return cli_fail(cli, "no_daemon",
		    "no daemon is running for %s; start it with: %s --detach",
		    cli->workspace.root, remote_start_command(cli));
	return draft_fill(cli, args->flags[FLAG_PROMPT], "start",
	    "# Write the task above, as you would type it to the agent.\n",
	    draft);
}

/* An agent follows such a path, and edits your files instead of its own. */
static int
check_paths(struct cli *cli, const char *text, bool yes)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (!prompt_names_root(text, cli->workspace.root, &path))
		return CLI_OK;
	return ask_confirm(cli, yes,
	    "The task names @%s, which is in your own checkout, not the "
	    "worker's. Write the path relative to the top of the repository. "
	    "Continue anyway?",
	    path.data);
}

/* Can the task be given to it, by its name? Exclusion from the pool is left to
 * the daemon. */
static bool
is_candidate(const struct cli_args *args, const struct worker *w)
{
	const char *name = args->flags[FLAG_WORKER];
	const char *prefix = args->flags[FLAG_PREFIX];

	if (name != NULL)
		return strcmp(w->name, name) == 0;
	return !worker_is_auto(w->name) &&
	    (prefix == NULL || text_begins(w->name, prefix));
}

/* The daemon waits for a worker whose session is starting; tell the person who
 * waits as well. */
static void
tell_wait(struct cli *cli, const struct cli_args *args)
{
	const struct worker *coming = NULL;
	struct state state;
	bool free = false;

	if (!terminal_here() || cli->json || roster_load(cli, &state) != CLI_OK)
		return;
	for (size_t i = 0; i < state.count; i++) {
		const struct worker *w = state.workers[i];

		if (!is_candidate(args, w))
			continue;
		free = free || worker_is_free(w);
		if (coming == NULL && worker_is_coming(w))
			coming = w;
	}
	if (!free && coming != NULL)
		cli_warn(cli, "waiting for the session of %s to be ready",
		    coming->name);
	state_release(&state);
}

static struct json_object *
start_params(const struct cli_args *args, const char *text)
{
	struct json_object *params = remote_params("prompt", text, "worker",
	    args->flags[FLAG_WORKER], "prefix", args->flags[FLAG_PREFIX],
	    "prompt_command", args->flags[FLAG_COMMAND], NULL);

	if (args->flags[FLAG_REVIEW] != NULL)
		json_set_bool(params, "self_review", true);
	return params;
}

static int
start_run(struct cli *cli, const struct cli_args *typed)
{
	struct cli_args with_name = *typed;
	const struct cli_args *args = &with_name;
	struct draft draft = DRAFT_INIT;
	int status = take_name(cli, &with_name);

	if (status == CLI_OK)
		status = check_flags(cli, args);
	if (status == CLI_OK)
		status = get_prompt(cli, args, &draft);
	if (status == CLI_OK)
		status = check_paths(
		    cli, draft.text.data, args->flags[FLAG_YES] != NULL);
	if (status == CLI_OK) {
		tell_wait(cli, args);
		status = remote_call(cli, "worker.start",
		    start_params(args, draft.text.data), REMOTE_LONG_MS,
		    &cli->result);
	}
	if (status == CLI_OK) {
		const char *name = json_string_or(cli->result, "worker", "");

		buf_addf(&cli->text,
		    "%s has the task, on branch %s.\nWatch it with: llmc peek "
		    "%s, or llmc attach %s\n",
		    name, json_string_or(cli->result, "branch", ""), name,
		    name);
	}
	return draft_end(cli, &draft, status);
}

const struct cli_command cmd_start = {
	.name = "start",
	.group = CLI_WORKERS,
	.usage = "[WORKER | --worker WORKER | --prefix TEXT] [--prompt TEXT | "
		 "--prompt-file FILE | --prompt-cmd COMMAND] [--self-review] "
		 "[--yes]",
	.summary = "give a task to a free worker",
	.help =
	    "Chooses the worker that you name, or the first free one, resets "
	    "it to the default\nbranch, and sends it the task as a new "
	    "conversation. If no worker is free but the\nsession of one is "
	    "still starting, waits for it. Without a task on the command\n"
	    "line, an editor opens: $VISUAL, $EDITOR or vi.\n",
	.example = "start adam --prompt 'Fix the failing test'",
	.flags = start_flags,
	.max_args = 1,
	.method = "worker.start",
	.run = start_run,
};

/* --- attach ------------------------------------------------------------ */

enum {
	FLAG_NESTED
};

static const struct cli_flag attach_flags[] = {
	[FLAG_NESTED] = { "nested", NULL,
	    "attach inside another tmux without asking" },
	{ NULL, NULL, NULL },
};

static int
attach_target(struct cli *cli, const struct settings *settings,
    const char *target, bool nested)
{
	struct sessions sessions;
	const struct sessions_entry *found;
	cleanup_buf struct buf names = BUF_INIT, words = BUF_INIT;
	int status = sessions_load(cli, settings, &sessions);

	if (status != CLI_OK)
		return status;
	found = sessions_find(&sessions, target);
	if (found == NULL) {
		for (size_t i = 0; i < sessions.count; i++)
			buf_addf(&names, " %s", sessions.list[i].name);
		status = cli_fail(cli, "no_such_session",
		    "there is no session %s; %s%s", target,
		    names.len > 0 ? "the sessions are:" :
				    "no session is running, see: llmc status",
		    names.data);
	} else {
		sessions_attach_words(settings, found->name, &words);
		cli->result = json_object_new_object();
		json_set_string(cli->result, "session", found->name);
		json_set_string(cli->result, "attach", words.data);
		status = sessions_attach(cli, settings, found->name, nested);
	}
	sessions_release(&sessions);
	return status;
}

/* The words of ssh for HOST:NAME of a fleet, which run llmc there with these
 * words (for a shell). NULL: said why not. The caller frees. */
static char **
ssh_argv(struct cli *cli, const char *target, bool terminal, const char *words,
    int *ret_status)
{
	static const char *const sections[] = { VIEW_HOSTS, NULL };
	cleanup_free char *host = xstrndup(target, strcspn(target, ":"));
	cleanup_json struct json_object *view = NULL;
	cleanup_buf struct buf there = BUF_INIT;
	struct json_object *row = NULL;
	const char *ssh;
	char **argv = NULL;

	if (view_source_ask(cli, sections, &view))
		row = view_row(view, VIEW_HOSTS, host);
	ssh = json_string_or(row, "ssh", NULL);
	if (ssh == NULL || ssh[0] == '-') {
		*ret_status = cli_fail(cli, "no_such_host",
		    row == NULL ? "no host %s is known; see: llmc fleet hosts" :
				  "how to reach %s is not known; on it, type: "
				  "llmc config set fleet.ssh USER@MACHINE",
		    host);
		return NULL;
	}
	strv_add(&argv, "ssh");
	if (terminal)
		strv_add(&argv, "-t");
	strv_add(&argv, ssh);
	buf_adds(&there, "llmc --root ");
	text_add_shell(&there, json_string_or(row, "root", "."));
	buf_addf(&there, " %s", words);
	strv_add(&argv, there.data);
	return argv;
}

int
elsewhere_run(struct cli *cli, const struct cli_command *command,
    const struct cli_args *args)
{
	const char *target = args->list[0];
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };
	int status = CLI_OK;

	buf_addf(&words, "%s%s", cli->json ? "--json " : "", command->name);
	for (int i = 0; i < args->given_count; i++) {
		const struct cli_flag *flag =
		    &command->flags[args->given[i].flag];

		buf_addf(&words, " --%s", flag->name);
		if (flag->value != NULL) {
			buf_addc(&words, ' ');
			text_add_shell(&words, args->given[i].value);
		}
	}
	buf_adds(&words, " -- ");
	text_add_shell(&words, strchr(target, ':') + 1);
	for (int i = 1; i < args->count; i++) {
		buf_addc(&words, ' ');
		text_add_shell(&words, args->list[i]);
	}
	argv = ssh_argv(cli, target,
	    terminal_here() && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
	    words.data, &status);
	if (argv == NULL)
		return status;
	terminal_become((const char *const *)argv, &err);
	return cli_fail_err(cli, "ssh", &err);
}

/* Attach and peek: without a terminal, the command is printed. */
static int
go_elsewhere(struct cli *cli, const char *verb, const char *target)
{
	cleanup_buf struct buf there = BUF_INIT, words = BUF_INIT;
	cleanup_strv char **argv = NULL;
	struct err err = { 0 };
	int status = CLI_OK;

	buf_addf(&there, "%s ", verb);
	text_add_shell(&there, strchr(target, ':') + 1);
	argv = ssh_argv(cli, target, true, there.data, &status);
	if (argv == NULL)
		return status;
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_addc(&words, ' ');
		text_add_shell(&words, argv[i]);
	}
	cli->result = json_object_new_object();
	json_set_string(cli->result, "session", target);
	json_set_string(cli->result, "attach", words.data);
	if (cli->json || !terminal_here() || !isatty(STDOUT_FILENO)) {
		buf_addf(&cli->text, "%s\n", words.data);
		return CLI_OK;
	}
	terminal_become((const char *const *)argv, &err);
	return cli_fail_err(cli, "ssh", &err);
}

static int
attach_run(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	int status;

	if (strchr(args->list[0], ':') != NULL)
		return go_elsewhere(cli, "attach", args->list[0]);
	status = cli_load_settings(cli, &settings);
	if (status == CLI_OK)
		status = attach_target(cli, settings, args->list[0],
		    args->flags[FLAG_NESTED] != NULL);
	settings_free(settings);
	return status;
}

static const struct schema attach_shape =
    SCHEMA_SHAPE(SCHEMA_IS("session", STRING, NULL),
	SCHEMA_IS("attach", STRING, "command to type; --json does not attach"));

const struct cli_command cmd_attach = {
	.name = "attach",
	.group = CLI_WORKERS,
	.usage = "TARGET [--nested]",
	.summary = "attach to a session",
	.help =
	    "TARGET is a worker, a console, overseer (during a remediation), "
	    "or the name of\na session. You can watch, or type into it. Detach "
	    "with the keys of tmux, by\ndefault Ctrl-b d; the agent carries "
	    "on. Inside the same tmux server, the client\nswitches to the "
	    "session; inside another one, you are asked whether to attach\n"
	    "inside of it (--nested: yes). Detach from there with its prefix "
	    "twice: Ctrl-b\nCtrl-b d.\nHOST:WORKER is a worker of another host "
	    "of the fleet: ssh runs llmc attach there;\nwithout a terminal, "
	    "the command is printed.\n",
	.example = "attach adam",
	.flags = attach_flags,
	.min_args = 1,
	.max_args = 1,
	.shape = CLI_SHAPE(OBJECT, attach_shape),
	.run = attach_run,
};

/* --- peek -------------------------------------------------------------- */

#define LINES_DEFAULT 10
#define LINES_MAX     100000

enum {
	FLAG_LINES
};

static const struct cli_flag peek_flags[] = {
	[FLAG_LINES] = { "lines", "N",
	    "number of lines to show (default: 10)" },
	{ NULL, NULL, NULL },
};

/* The worker that did something last. */
static int
choose(struct cli *cli, const struct state *state,
    const struct worker **ret_worker)
{
	const struct worker *found = NULL;

	for (size_t i = 0; i < state->count; i++)
		if (found == NULL ||
		    state->workers[i]->activity_ms > found->activity_ms)
			found = state->workers[i];
	if (found == NULL)
		return cli_fail(cli, "no_such_worker",
		    "there are no workers yet; add one with: llmc add NAME");
	*ret_worker = found;
	return CLI_OK;
}

/* Only the last `count` lines that are not blank. */
static struct json_object *
last_lines(const char *text, size_t count)
{
	cleanup_json struct json_object *all = cli_lines(text);
	struct json_object *kept = json_object_new_array();
	size_t total = json_object_array_length(all), from = total;

	while (from > 0 && count > 0) {
		const char *line = json_object_get_string(
		    json_object_array_get_idx(all, --from));

		if (line[strspn(line, " \t\r")] != '\0')
			count--;
	}
	for (; from < total; from++) {
		struct json_object *item = json_object_array_get_idx(all, from);
		const char *line = json_object_get_string(item);

		if (line[strspn(line, " \t\r")] != '\0')
			json_object_array_add(kept, json_object_get(item));
	}
	return kept;
}

/* What is on the screen of a worker's session, or of the overseer's
 * (worker NULL). */
static int
capture(struct cli *cli, const struct worker *worker, const char *target,
    int lines, struct buf *out)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	const struct sessions_entry *found;
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK)
		status = sessions_load(cli, settings, &sessions);
	if (status == CLI_OK) {
		found = sessions_find(&sessions, target);
		if (found != NULL)
			status = sessions_capture(
			    cli, settings, found->name, lines, out);
		else if (worker != NULL)
			status = cli_fail(cli, "no_such_session",
			    "%s has no session: it is in %s%s%s", worker->name,
			    worker_status_name(worker->status),
			    worker->reason != NULL ? ": " : "",
			    worker->reason != NULL ? worker->reason : "");
		else
			status = cli_fail(cli, "no_such_session",
			    "the overseer has no repair session: no "
			    "remediation is running");
	}
	sessions_release(&sessions);
	settings_free(settings);
	return status;
}

static int
peek(
    struct cli *cli, const struct worker *worker, const char *target, int lines)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *list;
	int status = capture(cli, worker, target, lines, &text);

	if (status != CLI_OK)
		return status;
	list = last_lines(text.data, (size_t)lines);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "worker", target);
	json_set(cli->result, "lines", list);
	JSON_EACH (row, list) {
		const char *line = json_object_get_string(row);

		cli_say(cli, "", line, "\n");
	}
	if (json_object_array_length(list) == 0)
		buf_addf(&cli->text, "(the screen of %s is empty)\n", target);
	return CLI_OK;
}

static int
peek_run(struct cli *cli, const struct cli_args *args)
{
	const char *target = args->count > 0 ? args->list[0] : NULL;
	const struct worker *worker = NULL;
	int64_t lines = LINES_DEFAULT;
	struct state state;
	int status;

	if (args->flags[FLAG_LINES] != NULL &&
	    !text_parse_int(args->flags[FLAG_LINES], 1, LINES_MAX, &lines))
		return cli_misuse(cli, &cmd_peek,
		    "--lines takes a number from 1 to %d", LINES_MAX);
	if (text_is(target, OVERSEER_NAME))
		return peek(cli, NULL, target, (int)lines);
	if (target != NULL && strchr(target, ':') != NULL) {
		cleanup_free char *verb =
		    xasprintf("peek --lines %" PRId64, lines);

		return go_elsewhere(cli, verb, target);
	}
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	status = target != NULL ? roster_find(cli, &state, target, &worker) :
				  choose(cli, &state, &worker);
	if (status == CLI_OK && worker != NULL)
		status = peek(cli, worker, worker->name, (int)lines);
	state_release(&state);
	return status;
}

static const struct schema peek_shape =
    SCHEMA_SHAPE(SCHEMA_MAY("worker", STRING, "or overseer"),
	SCHEMA_MAY("lines", LIST, NULL),
	SCHEMA_MAY("session", STRING, "HOST:WORKER"),
	SCHEMA_MAY("attach", STRING, "command to type, for that"));

const struct cli_command cmd_peek = {
	.name = "peek",
	.group = CLI_WORKERS,
	.usage = "[WORKER] [--lines N]",
	.summary = "show the last lines of a worker's screen",
	.help = "Without a name, shows the worker that was active last. Blank "
		"lines are left out.\nThe name overseer means the overseer's "
		"repair session. HOST:WORKER is a worker of\nanother host of "
		"the fleet: ssh runs llmc peek there; without a terminal, the\n"
		"command is printed.\n",
	.example = "peek adam --lines 40",
	.flags = peek_flags,
	.max_args = 1,
	.shape = CLI_SHAPE(OBJECT, peek_shape),
	.run = peek_run,
};

/* --- console ----------------------------------------------------------- */

#define CONSOLES_MAX 1000

/* The first number that is unused, or whose agent has ended. */
static char *
free_name(const struct sessions *sessions)
{
	for (int i = 1; i < CONSOLES_MAX; i++) {
		cleanup_free char *name = xasprintf("console%d", i);
		const struct sessions_entry *found =
		    sessions_find(sessions, name);

		if (found == NULL || found->dead)
			return take_ptr(&name);
	}
	return NULL;
}

static int
console_open(struct cli *cli, const struct settings *settings,
    const struct sessions *sessions, const char *given)
{
	cleanup_free char *name =
	    given != NULL ? xstrdup(given) : free_name(sessions);
	cleanup_free char *session = NULL;
	const struct sessions_entry *found;
	bool fresh;
	int status = CLI_OK;

	if (name == NULL)
		return cli_fail(cli, "failed",
		    "there are too many consoles; remove one with: llmc nuke "
		    "NAME");
	if (!text_is_name(name) || !text_begins(name, "console"))
		return cli_fail(cli, "bad_value",
		    "%s is not a valid name for a console; use \"console\" "
		    "followed by lower case letters, digits, - and _",
		    name);
	session = tmux_session_name(name);
	found = sessions_find(sessions, name);
	if (found != NULL && strcmp(found->role, "console") != 0)
		return cli_fail(cli, "exists", "%s is not a console, but %s",
		    name,
		    found->role[0] != '\0' ? found->role :
					     "a session of another program");
	/* The session stays when its agent ends, so that its last output can be
	 * read. */
	fresh = found == NULL || found->dead;
	if (found != NULL && found->dead)
		status = sessions_kill(cli, settings, session);
	if (status == CLI_OK && fresh)
		status = sessions_start_console(cli, settings, name);
	if (status != CLI_OK)
		return status;
	{
		bool created = fresh;
		cleanup_buf struct buf words = BUF_INIT;

		/* A session may be created by a script; only attaching needs
		 * a terminal. */
		sessions_attach_words(settings, session, &words);
		cli->result = json_object_new_object();
		json_set_string(cli->result, "name", name);
		json_set_string(cli->result, "session", session);
		json_set_bool(cli->result, "created", created);
		json_set_string(cli->result, "attach", words.data);
		if (!cli->json && terminal_here())
			return sessions_attach(cli, settings, session, false);
		buf_addf(&cli->text, "%s %s; in a terminal, type: %s\n", name,
		    created ? "is running" : "is already running", words.data);
		return CLI_OK;
	}
}

static int
console_run(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK)
		status = sessions_load(cli, settings, &sessions);
	if (status == CLI_OK)
		status = console_open(cli, settings, &sessions,
		    args->count > 0 ? args->list[0] : NULL);
	sessions_release(&sessions);
	settings_free(settings);
	return status;
}

static const struct schema console_shape = SCHEMA_SHAPE(
    SCHEMA_IS("name", STRING, NULL), SCHEMA_IS("session", STRING, NULL),
    SCHEMA_IS("created", BOOL, "false: it already existed"),
    SCHEMA_IS("attach", STRING, "command to type; --json does not attach"));

const struct cli_command cmd_console = {
	.name = "attach console",
	.usage = "[NAME]",
	.summary = "open an agent for yourself at the top of the repository",
	.help =
	    "Starts a session with the default agent and model, named "
	    "console1, console2 and\nso on. With the NAME of a running "
	    "console, attaches to it. Consoles have no\nworktree and outlive "
	    "the daemon; remove one with llmc nuke NAME.\n",
	.example = "attach console",
	.max_args = 1,
	.guarded = true,
	.shape = CLI_SHAPE(OBJECT, console_shape),
	.run = console_run,
};
