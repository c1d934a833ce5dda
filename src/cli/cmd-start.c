/* SPDX-License-Identifier: ISC */

/* llmc start: give a task to a free worker. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "prompt.h"

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
		    "no daemon is running for %s; start it with: llmc up "
		    "--detach",
		    cli->workspace.root);
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
