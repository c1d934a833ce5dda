/* SPDX-License-Identifier: ISC */

/* llmc review: show a worker's finished work. */
#include "base.h"
#include "child.h"
#include "cli-private.h"

enum {
	FLAG_NAMES,
	FLAG_FORCE,
	FLAG_INTERFACE
};

static const struct cli_flag review_flags[] = {
	[FLAG_NAMES] = { "name-only", NULL,
	    "show only the names of the files" },
	[FLAG_FORCE] = { "force", NULL,
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

static void
show_head(const struct review *r)
{
	const char *const args[] = { "log", "-1", "--format=%B", r->commit,
		"--", NULL };
	struct cli *cli = r->cli;
	cleanup_buf struct buf excerpt = BUF_INIT, message = BUF_INIT;

	roster_excerpt(r->worker, &excerpt);
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
show_end(const struct review *r, const char *status)
{
	int64_t dirty = json_int_or(r->answer, "uncommitted_files", 0);

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
	int status;

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
	if (cli->json)
		return CLI_OK;
	if (r->commit == NULL) {
		show_conflict(r);
		return CLI_OK;
	}
	show_head(r);
	status = show_diff(r);
	if (status == CLI_OK)
		show_end(r, now);
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
	bool force = args->flags[FLAG_FORCE] != NULL;
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
	SCHEMA_IS("changed_files", LIST, NULL));

const struct cli_command cmd_review = {
	.name = "review",
	.usage = "[WORKER] [--name-only] [--force] [--interface INTERFACE]",
	.summary = "show a worker's finished work",
	.help =
	    "Without a name, shows the work that has waited longest. The work "
	    "is rebased onto\nthe default branch first, and shown as one diff. "
	    "llmc accept and llmc reject\nthen apply to exactly the commit "
	    "that was shown. difftastic needs the program\ndifft; vscode needs "
	    "the program code, which opens the worktree.\n",
	.flags = review_flags,
	.max_args = 1,
	.method = "worker.review",
	.shape = CLI_SHAPE(OBJECT, review_shape),
	.run = review_run,
};
