/* SPDX-License-Identifier: ISC */

/* llmc accept, pick, landing rebase, landing revert: what a person has landed,
 * and takes back. */
#include "base.h"
#include "cli-private.h"

/* --- seen -------------------------------------------------------------- */

int
seen_commit(struct cli *cli, const struct worker *worker, const char *typed,
    bool reviewed, char **ret_commit)
{
	cleanup_buf struct buf head = BUF_INIT;
	struct err err = { 0 };
	int r;

	if (typed == NULL && reviewed)
		typed = worker->reviewed;
	if (typed != NULL) {
		*ret_commit = xstrdup(typed);
		return CLI_OK;
	}
	if (worker->worktree == NULL)
		return cli_fail(cli, "git", "%s has no worktree", worker->name);
	/* No git of ours runs in a clone; its branch has followed. */
	if (worker->clone) {
		cleanup_free char *name =
		    xasprintf("refs/heads/%s^{commit}", worker->branch);
		const char *const args[] = { "rev-parse", "--verify", "--quiet",
			name, NULL };

		r = git_ask(cli->workspace.root, args, &head, &err);
	} else {
		r = git_ask_head(worker->worktree, &head, &err);
	}
	if (r < 0)
		return cli_fail_err(cli, "git", &err);
	if (r > 0)
		return cli_fail(cli, "git", "%s has no commit in %s",
		    worker->name, worker->worktree);
	*ret_commit = buf_take(&head);
	return CLI_OK;
}

struct json_object *
seen_params(const struct worker *worker, const char *commit)
{
	return remote_params("worker", worker->name, "commit", commit, NULL);
}

/* --- accept ------------------------------------------------------------ */

enum {
	FLAG_FORCE,
	FLAG_COMMIT
};

static const struct cli_flag accept_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "land paused and unchanged work too, with what is not committed" },
	[FLAG_COMMIT] = SEEN_FLAG,
	{ NULL, NULL, NULL },
};

/* "Landed [1234567] on main: Fix it" */
static void
add_landed(struct cli *cli, struct json_object *result)
{
	const char *message = json_string_or(result, "commit_message", "");

	buf_addf(&cli->text,
	    "Landed [%.7s] on %s: ", json_string_or(result, "commit_sha", ""),
	    json_string_or(result, "landing_branch", ""));
	text_add_visible(&cli->text, message, strcspn(message, "\n"), false);
}

/* name: of the worker, or of the task whose work no worker has. */
static void
tell(struct cli *cli, const char *name, struct json_object *result)
{
	const char *worker = json_string_or(result, "worker", NULL);
	cleanup_free char *freed = worker != NULL ?
	    xasprintf("; %s is free again", worker) :
	    xstrdup("");
	const char *head = json_string_or(result, "head_sha", "");
	const char *branch = json_string_or(result, "landing_branch", "");

	if (json_bool_or(result, "needs_conflict_resolution", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] conflicts with work that has landed "
		    "on %s in the meantime. The worker resolves the conflict, "
		    "then its work lands.\n"
		    "Follow it with: llmc wait %s --until idle,paused\n",
		    name, head, branch, name);
		return;
	}
	if (json_bool_or(result, "already_incorporated", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] is already on %s%s.\n", name, head,
		    branch, freed);
		return;
	}
	if (json_bool_or(result, "proposed", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] becomes a pull request for "
		    "%s%s.\nFollow it with: llmc task list\n",
		    name, head, branch, freed);
		return;
	}
	add_landed(cli, result);
	buf_addf(&cli->text, "\nIt is the work of %s [%.7s]%s.\n", name, head,
	    freed);
}

static int
accept_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	cleanup_free char *commit = NULL, *what = NULL;
	struct json_object *params;
	int status =
	    seen_commit(cli, worker, args->flags[FLAG_COMMIT], true, &commit);

	if (status != CLI_OK)
		return status;
	params = seen_params(worker, commit);
	json_set_bool(params, "force", args->flags[FLAG_FORCE] != NULL);
	what = xasprintf("landing the work of %s", worker->name);
	progress_begin(cli, what);
	status = remote_call(
	    cli, "worker.accept", params, REMOTE_LANDING_MS, &cli->result);
	progress_end();
	if (status == CLI_OK)
		tell(cli, worker->name, cli->result);
	return status;
}

static int
accept_run(struct cli *cli, const struct cli_args *args)
{
	bool force = args->flags[FLAG_FORCE] != NULL;

	if (args->count == 0 && (force || args->flags[FLAG_COMMIT] != NULL))
		return cli_misuse(cli, &cmd_accept,
		    "--%s needs the name of the worker",
		    force ? "force" : "commit");
	return roster_with_work(
	    cli, args->count > 0 ? args->list[0] : NULL, accept_named, args);
}

const struct cli_command cmd_accept = {
	.name = "accept",
	.group = CLI_LAND,
	.usage = "[WORKER|TASK] [--force] [--commit COMMIT]",
	.summary = "land a worker's work on the default branch, as one commit",
	.help =
	    "Lands exactly the commit that you reviewed. Without a name, that "
	    "is the work\nyou reviewed last. With a name, it is what you "
	    "reviewed of this worker, or its\ncurrent commit if you reviewed "
	    "nothing. A task names its worker, or the work that\nwaits for "
	    "you without one. If the worker has another commit by\nnow, uncommitted "
	    "changes or another branch, nothing lands, and the message says\n"
	    "what is different.\n\nThe work is rebased and squashed into one "
	    "commit, and the default branch moves\nto it. A checkout of that "
	    "branch moves along, unless it has uncommitted\nchanges. A "
	    "conflict goes back to the worker; the work lands when the conflict"
	    "\nis resolved. llmc pick lands work that is not finished.\n",
	.example = "accept adam",
	.flags = accept_flags,
	.max_args = 1,
	.method = "worker.accept",
	.run = accept_run,
};

/* --- pick -------------------------------------------------------------- */

enum {
	FLAG_PICK_COMMIT
};

static const struct cli_flag pick_flags[] = {
	[FLAG_PICK_COMMIT] = SEEN_FLAG,
	{ NULL, NULL, NULL },
};

static void
pick_tell(struct cli *cli, struct json_object *result)
{
	const char *worker = json_string_or(result, "worker", "");
	int64_t dirty = json_int_or(result, "uncommitted_files", 0);

	if (json_string_or(result, "commit_sha", "")[0] == '\0') {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] is already on %s; nothing landed.\n",
		    worker, json_string_or(result, "head_sha", ""),
		    json_string_or(result, "landing_branch", ""));
		return;
	}
	buf_addf(&cli->text, "Landed [%.7s] on %s: the work of %s [%.7s]",
	    json_string_or(result, "commit_sha", ""),
	    json_string_or(result, "landing_branch", ""), worker,
	    json_string_or(result, "head_sha", ""));
	if (dirty > 0)
		buf_addf(&cli->text,
		    " and its uncommitted changes in %d file%s", (int)dirty,
		    dirty == 1 ? "" : "s");
	buf_addf(&cli->text, ".\n%s carries on as before.\n", worker);
}

static int
pick_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	cleanup_free char *commit = NULL;
	int status = seen_commit(
	    cli, worker, args->flags[FLAG_PICK_COMMIT], false, &commit);

	if (status == CLI_OK)
		status =
		    remote_call(cli, "worker.pick", seen_params(worker, commit),
			REMOTE_LANDING_MS, &cli->result);
	if (status == CLI_OK)
		pick_tell(cli, cli->result);
	return status;
}

static int
pick_run(struct cli *cli, const struct cli_args *args)
{
	return roster_with(cli, args->list[0], pick_named, args);
}

const struct cli_command cmd_pick = {
	.name = "pick",
	.usage = "WORKER [--commit COMMIT]",
	.summary = "land a worker's current work, whatever its status",
	.help =
	    "For emergencies: commits and uncommitted changes are merged with "
	    "the default\nbranch as one commit. The worker, its worktree and "
	    "its task do not change. If\nthere is a conflict, nothing lands.\n",
	.example = "pick adam",
	.flags = pick_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.pick",
	.run = pick_run,
};

/* --- rebase ------------------------------------------------------------ */

/* Paths in conflict, from the index. No git of ours runs in a clone, whose
 * configuration is the worker's. */
static struct json_object *
conflicts(const struct worker *worker)
{
	const char *const args[] = { "-c", "core.quotePath=false", "diff",
		"--name-only", "--diff-filter=U", NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (!worker->clone)
		git_ask(worker->worktree, args, &text, NULL);
	return cli_lines(text.data);
}

static int
rebase_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	cleanup_json struct json_object *result = NULL;
	struct json_object *list;
	bool conflict;
	int status = remote_call(cli, "worker.rebase",
	    remote_worker(worker->name), REMOTE_LONG_MS, &result);

	(void)args;
	if (status != CLI_OK)
		return status;
	conflict = json_bool_or(result, "needs_conflict_resolution", false);
	list = conflict ? conflicts(worker) : json_object_new_array();
	cli->result = json_object_new_object();
	json_set_string(cli->result, "worker", worker->name);
	json_set_bool(cli->result, "success", !conflict);
	json_set(cli->result, "conflicts", list);
	buf_addf(&cli->text,
	    conflict ?
		"%s is resolving its conflicts, and then waits for review "
		"again%s\n" :
		"%s is up to date%s\n",
	    worker->name, json_object_array_length(list) > 0 ? ":" : ".");
	JSON_EACH (row, list)
		buf_addf(&cli->text, "  %s\n", json_object_get_string(row));
	return CLI_OK;
}

static int
rebase_run(struct cli *cli, const struct cli_args *args)
{
	return roster_with(cli, args->list[0], rebase_named, args);
}

static const struct schema rebase_shape = SCHEMA_SHAPE(
    SCHEMA_IS("worker", STRING, NULL), SCHEMA_IS("success", BOOL, NULL),
    SCHEMA_IS("conflicts", LIST, "paths that the worker is resolving"));

const struct cli_command cmd_rebase = {
	.name = "landing rebase",
	.usage = "WORKER",
	.summary = "rebase a worker's finished work onto the default branch",
	.help =
	    "Conflicts are given to the worker to resolve; the exit status is "
	    "0 in that case\ntoo.\n",
	.example = "landing rebase adam",
	.min_args = 1,
	.max_args = 1,
	.method = "worker.rebase",
	.shape = CLI_SHAPE(OBJECT, rebase_shape),
	.run = rebase_run,
};

/* --- revert -------------------------------------------------------------- */

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
		add_landed(cli, cli->result);
		buf_addf(&cli->text, "\nIt takes [%.7s] back.\n",
		    json_string_or(cli->result, "reverted_sha", ""));
	}
	return status;
}

const struct cli_command cmd_revert = {
	.name = "landing revert",
	.usage = "[--yes] TASK|COMMIT",
	.summary = "take landed work back",
	.help = "Undoes what a task, or any commit on the default branch, "
		"changed: with a new\ncommit, which lands like other work, "
		"after auto.check_command has passed. If\nlater changes "
		"conflict with it, nothing lands.\n",
	.example = "landing revert t17",
	.flags = revert_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "landing.revert",
	.run = revert_run,
};
