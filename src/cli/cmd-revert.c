/* SPDX-License-Identifier: ISC */

/* llmc revert: take landed work back, with one more commit. */
#include "base.h"
#include "cli-private.h"

enum {
	FLAG_YES
};

static const struct cli_flag revert_flags[] = {
	[FLAG_YES] = { "yes", NULL, "do not ask" },
	{ NULL, NULL, NULL },
};

/* The commit that the task landed as. */
static int
commit_of_task(struct cli *cli, struct json_object *entry, char **ret_commit)
{
	const char *commit = json_string_or(entry, "commit_sha", NULL);

	if (commit == NULL)
		return cli_fail(cli, "wrong_status",
		    "%s has not landed; see: llmc task show %s",
		    taskbook_name(entry), taskbook_name(entry));
	*ret_commit = xstrdup(commit);
	return CLI_OK;
}

/* A task by its id or its name at its source, otherwise a commit by any name
 * that git knows. */
static int
find_commit(struct cli *cli, const char *word, char **ret_commit)
{
	cleanup_free char *name = xasprintf("%s^{commit}", word);
	const char *const args[] = { "rev-parse", "--verify", "--quiet",
		"--end-of-options", name, NULL };
	cleanup_buf struct buf id = BUF_INIT;
	struct json_object *entry;
	struct taskbook book;
	struct err err = { 0 };
	int status = taskbook_load_for(cli, word, &book);
	int r;

	if (status != CLI_OK)
		return status;
	entry = taskbook_find(&book, word);
	if (entry != NULL)
		status = commit_of_task(cli, entry, ret_commit);
	taskbook_release(&book);
	if (entry != NULL)
		return status;
	r = git_ask(cli->workspace.root, args, &id, &err);
	if (r < 0)
		return cli_fail_err(cli, "git", &err);
	if (r > 0)
		return cli_fail(cli, "no_such_commit",
		    "there is no task and no commit %s; see: llmc task list",
		    word);
	*ret_commit = buf_take(&id);
	return CLI_OK;
}

static char *
subject_of(struct cli *cli, const char *commit)
{
	const char *const args[] = { "log", "--max-count=1",
		"--no-show-signature", "--format=%s", commit, "--", NULL };
	cleanup_buf struct buf subject = BUF_INIT;

	git_ask(cli->workspace.root, args, &subject, NULL);
	return buf_take(&subject);
}

static int
revert_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *commit = NULL, *subject = NULL;
	struct json_object *params;
	int status = find_commit(cli, args->list[0], &commit);

	if (status != CLI_OK)
		return status;
	subject = subject_of(cli, commit);
	status = ask_confirm(cli, args->flags[FLAG_YES] != NULL,
	    "This takes back what commit %.7s changed: %s. Continue?", commit,
	    subject);
	if (status != CLI_OK)
		return status;
	params = remote_params("commit", commit, NULL);
	progress_begin(cli, "taking it back");
	status = remote_call(
	    cli, "landing.revert", params, REMOTE_LANDING_MS, &cli->result);
	progress_end();
	if (status == CLI_OK) {
		struct json_object *result = cli->result;
		const char *message =
		    json_string_or(result, "commit_message", "");

		buf_addf(&cli->text, "Landed [%.7s] on %s: ",
		    json_string_or(result, "commit_sha", ""),
		    json_string_or(result, "landing_branch", ""));
		text_add_visible(
		    &cli->text, message, strcspn(message, "\n"), false);
		buf_addf(&cli->text, "\nIt takes [%.7s] back.\n",
		    json_string_or(result, "reverted_sha", ""));
	}
	return status;
}

const struct cli_command cmd_revert = {
	.name = "revert",
	.usage = "[--yes] TASK|COMMIT",
	.summary = "take landed work back",
	.help = "Undoes what a task, or any commit on the default branch, "
		"changed: with a new\ncommit, which lands like other work, "
		"after auto.check_command has passed. If\nlater changes "
		"conflict with it, nothing lands.\n",
	.flags = revert_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "landing.revert",
	.run = revert_run,
};
