/* SPDX-License-Identifier: ISC */

/* llmc review, accept, reject, pick, landing rebase, landing revert: what a
 * person does with finished work. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "test-guard.h"

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

static void
tell(struct cli *cli, struct json_object *result)
{
	const char *worker = json_string_or(result, "worker", "");
	const char *head = json_string_or(result, "head_sha", "");
	const char *branch = json_string_or(result, "landing_branch", "");

	if (json_bool_or(result, "needs_conflict_resolution", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] conflicts with work that has landed "
		    "on %s in the meantime. The worker resolves the conflict, "
		    "then its work lands.\n"
		    "Follow it with: llmc wait %s --until idle,paused\n",
		    worker, head, branch, worker);
		return;
	}
	if (json_bool_or(result, "already_incorporated", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] is already on %s; the worker is "
		    "free again.\n",
		    worker, head, branch);
		return;
	}
	if (json_bool_or(result, "proposed", false)) {
		buf_addf(&cli->text,
		    "The work of %s [%.7s] becomes a pull request for %s; %s "
		    "is free again.\nFollow it with: llmc task list\n",
		    worker, head, branch, worker);
		return;
	}
	add_landed(cli, result);
	buf_addf(&cli->text,
	    "\nIt is the work of %s [%.7s]; %s is free again.\n", worker, head,
	    worker);
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
		tell(cli, cli->result);
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
	return roster_with(
	    cli, args->count > 0 ? args->list[0] : NULL, accept_named, args);
}

const struct cli_command cmd_accept = {
	.name = "accept",
	.group = CLI_LAND,
	.usage = "[WORKER] [--force] [--commit COMMIT]",
	.summary = "land a worker's work on the default branch, as one commit",
	.help =
	    "Lands exactly the commit that you reviewed. Without a name, that "
	    "is the work\nyou reviewed last. With a name, it is what you "
	    "reviewed of this worker, or its\ncurrent commit if you reviewed "
	    "nothing. If the worker has another commit by\nnow, uncommitted "
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

/* --- reject ------------------------------------------------------------ */

enum {
	FLAG_WORKER,
	FLAG_REJECT_COMMIT
};

static const struct cli_flag reject_flags[] = {
	[FLAG_WORKER] = { "worker", "WORKER",
	    "reject the work of WORKER, not the work reviewed last" },
	[FLAG_REJECT_COMMIT] = SEEN_FLAG,
	{ NULL, NULL, NULL },
};

/* The diff, to look at while writing the reasons. */
static void
add_diff(struct cli *cli, const struct worker *worker, const char *commit,
    struct buf *out)
{
	struct settings *settings = NULL;
	cleanup_free char *range = NULL;
	const char *args[] = { "diff", NULL, "--", NULL };

	if (cli_load_settings(cli, &settings) != CLI_OK)
		return;
	range = xasprintf("refs/heads/%s...%s",
	    settings_string(settings, "repo.default_branch"), commit);
	args[1] = range;
	buf_addf(out, "# Say above why you send the work of %s [%.7s] back.\n",
	    worker->name, commit);
	git_ask(cli->workspace.root, args, out, NULL);
	settings_free(settings);
}

static int
reject_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	const char *typed = args->count > 0 ? args->list[0] : NULL;
	cleanup_buf struct buf below = BUF_INIT;
	cleanup_free char *seen = NULL;
	struct draft draft = DRAFT_INIT;
	struct json_object *params;
	int status;

	/* Check first, so that nothing is written in vain. */
	if (worker->status != WORKER_NEEDS_REVIEW)
		return cli_fail(cli, "wrong_status",
		    "%s is in %s, not in needs_review; only finished work can "
		    "be rejected",
		    worker->name, worker_status_name(worker->status));
	status = seen_commit(
	    cli, worker, args->flags[FLAG_REJECT_COMMIT], true, &seen);
	if (status != CLI_OK)
		return status;
	if (typed == NULL)
		add_diff(cli, worker, seen, &below);
	status = draft_fill(cli, typed, "reject", below.data, &draft);
	if (status == CLI_OK) {
		params = seen_params(worker, seen);
		json_set_string(params, "text", draft.text.data);
		status =
		    remote_call(cli, "worker.reject", params, 0, &cli->result);
	}
	if (status == CLI_OK)
		buf_addf(&cli->text,
		    "Rejected [%.7s]; %s is working on it again.\n", seen,
		    worker->name);
	return draft_end(cli, &draft, status);
}

static int
reject_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->flags[FLAG_WORKER];

	if (args->flags[FLAG_REJECT_COMMIT] != NULL && name == NULL)
		return cli_misuse(cli, &cmd_reject, "--commit needs --worker");
	return roster_with(cli, name, reject_named, args);
}

const struct cli_command cmd_reject = {
	.name = "reject",
	.group = CLI_LAND,
	.usage = "[TEXT] [--worker WORKER] [--commit COMMIT]",
	.summary = "send finished work back with your reasons",
	.help =
	    "The worker keeps its conversation and its commits, and is told to "
	    "fix what TEXT\nsays. TEXT - reads standard input; without TEXT, "
	    "an editor opens and shows the\ndiff. If the worker has another "
	    "commit than the one you reviewed, nothing is\nsent.\n",
	.example = "reject 'A test is missing' --worker adam",
	.flags = reject_flags,
	.max_args = 1,
	.method = "worker.reject",
	.run = reject_run,
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
		"again:\n" :
		"%s is up to date.\n",
	    worker->name);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		buf_addf(&cli->text, "  %s\n",
		    json_object_get_string(json_object_array_get_idx(list, i)));
	return CLI_OK;
}

static int
rebase_run(struct cli *cli, const struct cli_args *args)
{
	return roster_with(cli, args->list[0], rebase_named, args);
}

static const struct schema rebase_shape = CLI_FIELDS(
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

/* --- review -------------------------------------------------------------- */

enum {
	FLAG_NAMES,
	FLAG_REVIEW_FORCE,
	FLAG_INTERFACE
};

static const struct cli_flag review_flags[] = {
	[FLAG_NAMES] = { "name-only", NULL,
	    "show only the names of the files" },
	[FLAG_REVIEW_FORCE] = { "force", NULL,
	    "show the work whatever the worker's status" },
	[FLAG_INTERFACE] = { "interface", "INTERFACE",
	    "git (the default), difftastic or vscode" },
	{ NULL, NULL, NULL },
};

enum interface {
	INTERFACE_GIT,
	INTERFACE_DIFFTASTIC,
	INTERFACE_VSCODE,
	INTERFACE_COUNT
};

static const char *const interface_names[] = { "git", "difftastic", "vscode",
	NULL };

struct review {
	struct cli *cli;
	const struct worker *worker;
	enum interface interface;
	bool names_only;
	struct json_object *answer; /* the daemon's */
	const char *commit; /* to show, part of the answer; NULL during a
			     * conflict */
	char *range; /* merge base to the commit */
};

/* The worker that has waited longest. */
static int
choose(struct cli *cli, const struct state *state,
    const struct worker **ret_worker)
{
	const struct worker *found = NULL;

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		if (w->status == WORKER_NEEDS_REVIEW &&
		    (found == NULL || w->since_ms < found->since_ms))
			found = w;
	}
	if (found == NULL)
		return cli_fail(cli, "nothing_to_review",
		    "no worker is waiting for review; see: llmc status");
	*ret_worker = found;
	return CLI_OK;
}

static struct json_object *
changed_files(const struct review *r)
{
	const char *const args[] = { "-c", "core.quotePath=false", "diff",
		"--name-only", r->range, "--", NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (r->commit == NULL)
		return json_object_new_array();
	git_ask(r->cli->workspace.root, args, &text, NULL);
	return cli_lines(text.data);
}

/* Whatever auto.test_guard says: a person wants to know. */
static void
read_tests(const struct review *r, struct buf *words)
{
	const char *args[16] = { "-c", "core.quotePath=false", "diff", "-U0",
		"-M", "--no-color", "--no-ext-diff", "--no-textconv", r->range,
		"--" };
	cleanup_buf struct buf diff = BUF_INIT;

	for (size_t i = 0, n = 10; test_guard_pathspecs[i] != NULL; i++)
		args[n++] = test_guard_pathspecs[i];
	if (r->commit != NULL &&
	    git_ask(r->cli->workspace.root, args, &diff, NULL) == 0 &&
	    diff.len > 0)
		test_guard_read(diff.data, diff.len, words);
}

static void
show_head(const struct review *r)
{
	const char *const args[] = { "log", "-1", "--format=%B", r->commit,
		"--", NULL };
	struct cli *cli = r->cli;
	cleanup_buf struct buf excerpt = BUF_INIT, message = BUF_INIT;

	roster_excerpt(r->worker->prompt, &excerpt);
	git_ask(cli->workspace.root, args, &message, NULL);
	cli_coloured(cli, "1", r->worker->name);
	buf_addf(&cli->text, "  %s  [%.7s]\n", r->worker->branch, r->commit);
	if (excerpt.len > 0)
		buf_addf(&cli->text, "Task: \"%s\"\n", excerpt.data);
	buf_addc(&cli->text, '\n');
	text_add_visible(&cli->text, message.data, message.len, true);
	buf_adds(&cli->text, "\n\n");
}

static int
open_vscode(struct cli *cli, const char *worktree)
{
	const char *const argv[] = { "code", worktree, NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	if (child_run(&spec, &result, &err) < 0)
		return cli_fail_err(cli, "not_installed", &err);
	if (child_succeeded(&result))
		return CLI_OK;
	child_result_describe(&result, &words);
	return cli_fail(cli, "failed", "code %s", words.data);
}

/* Directly to the terminal, with git's own pager if there is one. */
static int
show_diff(const struct review *r)
{
	const char *argv[12] = { "git", "-C", r->cli->workspace.root };
	struct err err = { 0 };
	size_t n = 3;
	int status;

	if (r->interface == INTERFACE_VSCODE)
		return open_vscode(r->cli, r->worker->worktree);
	if (r->interface == INTERFACE_DIFFTASTIC) {
		argv[n++] = "-c";
		argv[n++] = "diff.external=difft";
	}
	argv[n++] = "diff";
	if (r->interface == INTERFACE_DIFFTASTIC)
		argv[n++] = "--ext-diff";
	if (r->names_only)
		argv[n++] = "--name-only";
	argv[n++] = r->range;
	argv[n] = "--";
	cli_flush(r->cli);
	status = terminal_run(argv, &err);
	if (status < 0)
		return cli_fail_err(r->cli, "failed", &err);
	/* 141: the pager was closed before the end. */
	if (status != 0 && status != 141)
		return cli_fail(r->cli, "failed",
		    "git diff ended with status %d%s", status,
		    r->interface == INTERFACE_DIFFTASTIC ?
			"; is difft installed?" :
			"");
	return CLI_OK;
}

static void
show_conflict(const struct review *r)
{
	buf_addf(&r->cli->text,
	    "%s conflicts with work that has landed on %s in the meantime. "
	    "Review it when the worker has resolved the conflict.\n"
	    "Follow it with: llmc wait %s --until needs_review\n",
	    r->worker->name, json_string_or(r->answer, "landing_branch", ""),
	    r->worker->name);
}

/* What comes below the diff. */
static void
show_end(const struct review *r, const char *status, const char *weakens)
{
	int64_t dirty = json_int_or(r->answer, "uncommitted_files", 0);

	if (weakens != NULL)
		buf_addf(
		    &r->cli->text, "\nThis work weakens tests: %s.\n", weakens);
	if (dirty > 0)
		buf_addf(&r->cli->text,
		    "\nUncommitted changes in %d file%s are not shown.\n",
		    (int)dirty, dirty == 1 ? "" : "s");
	if (strcmp(status, "needs_review") == 0)
		buf_addf(&r->cli->text,
		    "\nNext: llmc accept, which lands [%.7s] on %s, or llmc "
		    "reject \"WHY\"\n",
		    r->commit, json_string_or(r->answer, "landing_branch", ""));
}

static int
review_show(const struct review *r)
{
	struct cli *cli = r->cli;
	const char *now = json_string_or(
	    r->answer, "status", json_string_or(r->answer, "new_status", ""));
	cleanup_buf struct buf weakens = BUF_INIT;
	int status;

	read_tests(r, &weakens);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "worker", r->worker->name);
	json_set_string(cli->result, "status", now);
	json_set_string(cli->result, "branch", r->worker->branch);
	json_set_string(cli->result, "landing_branch",
	    json_string_or(r->answer, "landing_branch", ""));
	json_set_string(cli->result, "commit_sha", r->commit);
	json_set_int(cli->result, "uncommitted_files",
	    json_int_or(r->answer, "uncommitted_files", 0));
	json_set(cli->result, "changed_files", changed_files(r));
	json_set_string(
	    cli->result, "weakens", weakens.len > 0 ? weakens.data : NULL);
	if (cli->json)
		return CLI_OK;
	if (r->commit == NULL) {
		show_conflict(r);
		return CLI_OK;
	}
	show_head(r);
	status = show_diff(r);
	if (status == CLI_OK)
		show_end(r, now, weakens.len > 0 ? weakens.data : NULL);
	return status;
}

static int
review_named(struct review *r, bool force)
{
	struct json_object *params = remote_worker(r->worker->name);
	int status;

	json_set_bool(params, "force", force);
	status = remote_call(
	    r->cli, "worker.review", params, REMOTE_LONG_MS, &r->answer);
	if (status == CLI_OK) {
		r->commit = json_string_or(r->answer, "commit_sha", NULL);
		r->range = xasprintf("refs/heads/%s...%s",
		    json_string_or(r->answer, "landing_branch", ""),
		    r->commit != NULL ? r->commit : "");
		status = review_show(r);
	}
	free(r->range);
	json_object_put(r->answer);
	return status;
}

static int
review_run(struct cli *cli, const struct cli_args *args)
{
	struct review r = { .cli = cli,
		.names_only = args->flags[FLAG_NAMES] != NULL };
	const char *interface = args->flags[FLAG_INTERFACE];
	bool force = args->flags[FLAG_REVIEW_FORCE] != NULL;
	struct state state;
	int status;

	while (interface != NULL && r.interface < INTERFACE_COUNT &&
	    strcmp(interface, interface_names[r.interface]) != 0)
		r.interface++;
	if (r.interface == INTERFACE_COUNT)
		return cli_misuse(cli, &cmd_review,
		    "%s: no such interface; use git, difftastic or vscode",
		    interface);
	if (force && args->count == 0)
		return cli_misuse(
		    cli, &cmd_review, "--force needs the name of the worker");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (args->count > 0)
		status = roster_find(cli, &state, args->list[0], &r.worker);
	else
		status = choose(cli, &state, &r.worker);
	if (status == CLI_OK && r.worker != NULL)
		status = review_named(&r, force);
	state_release(&state);
	return status;
}

static const struct schema review_shape =
    CLI_FIELDS(SCHEMA_IS("worker", STRING, NULL),
	SCHEMA_IS(
	    "status", STRING, "rebasing: the worker resolves a conflict first"),
	SCHEMA_IS("branch", STRING, "of the worker"),
	SCHEMA_IS("landing_branch", STRING, NULL),
	SCHEMA_OR_NULL(
	    "commit_sha", STRING, "what is shown; null during a conflict"),
	SCHEMA_IS(
	    "uncommitted_files", INT, "files with changes that are not shown"),
	SCHEMA_IS("changed_files", LIST, NULL),
	SCHEMA_OR_NULL("weakens", STRING, "what it does to tests"));

const struct cli_command cmd_review = {
	.name = "review",
	.group = CLI_LAND,
	.usage = "[WORKER] [--name-only] [--force] [--interface INTERFACE]",
	.summary = "show a worker's finished work",
	.help =
	    "Without a name, shows the work that has waited longest. The work "
	    "is rebased onto\nthe default branch first, and shown as one diff. "
	    "llmc accept and llmc reject\nthen apply to exactly the commit "
	    "that was shown. difftastic needs the program\ndifft; vscode needs "
	    "the program code, which opens the worktree.\n",
	.example = "review adam",
	.flags = review_flags,
	.max_args = 1,
	.method = "worker.review",
	.shape = CLI_SHAPE(OBJECT, review_shape),
	.run = review_run,
};
