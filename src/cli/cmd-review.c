/* SPDX-License-Identifier: ISC */

/* llmc review, reject: what a person says about finished work. */
#include "base.h"
#include "child.h"
#include "cli-private.h"
#include "comment-file.h"
#include "review.h"
#include "acceptance.h"

/* --- reject ------------------------------------------------------------ */

enum {
	FLAG_WORKER,
	FLAG_FROM,
	FLAG_REJECT_COMMIT
};

static const struct cli_flag reject_flags[] = {
	[FLAG_WORKER] = { "worker", "WORKER",
	    "reject the work of WORKER, not the work reviewed last" },
	[FLAG_FROM] = { "from", "FILE",
	    "send the comments in FILE: the diff with them below its lines, or "
	    "PATH:LINE: TEXT" },
	[FLAG_REJECT_COMMIT] = SEEN_FLAG,
	{ NULL, NULL, NULL },
};

/* The text to begin with: room above, and the diff to write comments into. It
 * is read again by the same rules whatever the user's git is set to. */
static int
add_form(struct cli *cli, const struct worker *worker, const char *commit,
    struct buf *out)
{
	struct settings *settings = NULL;
	cleanup_free char *range = NULL;
	const char *args[] = { "-c", "core.quotePath=false", "diff", "-M",
		"--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", NULL, "--", NULL };
	struct err err = { 0 };
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	range = xasprintf("refs/heads/%s...%s",
	    settings_string(settings, "repo.default_branch"), commit);
	settings_free(settings);
	args[9] = range;
	buf_addf(out,
	    "\n%s\n# Say above why you send the work of %s [%.7s] back.\n%s",
	    comment_file_end, worker->name, commit, comment_file_help);
	if (git_ask(cli->workspace.root, args, out, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	buf_addc(out, '\n');
	return CLI_OK;
}

/* The lines that a list names, as the commit has them: the worker may have
 * others before them by then. */
static void
add_code(struct cli *cli, const char *commit, struct json_object *list)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		int64_t line = json_int_or(one, "line", 0);
		cleanup_free char *name =
		    xasprintf("%s:%s", commit, json_string_or(one, "file", ""));
		const char *const args[] = { "cat-file", "blob", name, NULL };
		cleanup_buf struct buf text = BUF_INIT, code = BUF_INIT;
		const char *s;

		if (line == 0 || i >= COMMENTS_MAX ||
		    json_object_object_get_ex(one, "code", NULL) ||
		    git_ask(cli->workspace.root, args, &text, NULL) != 0)
			continue;
		for (s = text.data; s != NULL && line > 1; line--)
			s = (s = strchr(s, '\n')) != NULL ? s + 1 : NULL;
		if (s == NULL)
			continue;
		text_add_utf8(
		    &code, s, text_cut(s, strcspn(s, "\n"), COMMENT_CODE_MAX));
		json_set_string(one, "code", code.data);
	}
}

/* Send back what the draft says: as a text, or with comments in a diff.
 * ret_count: how many. */
static int
send_back(struct cli *cli, const struct worker *worker, const char *commit,
    const struct draft *draft, size_t *ret_count)
{
	struct json_object *params = seen_params(worker, commit);
	cleanup_json struct json_object *list = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	int status = CLI_OK;

	*ret_count = 0;
	if (!draft->with_diff)
		buf_adds(&text, draft->text.data);
	else if (comment_file_read(
		     draft->text.data, draft->text.len, &text, &list, &err) < 0)
		status = cli_fail_err(cli, "bad_comments", &err);
	if (list != NULL)
		*ret_count = json_object_array_length(list);
	if (status == CLI_OK && text.len == 0 && *ret_count == 0)
		status = cli_fail(cli, "empty",
		    "the text is empty, and there is no comment; nothing was "
		    "sent");
	if (status != CLI_OK) {
		json_object_put(params);
		return status;
	}
	if (text.len > 0)
		json_set_string(params, "text", text.data);
	if (*ret_count > 0) {
		add_code(cli, commit, list);
		json_set(params, "comments", json_object_get(list));
	}
	return remote_call(cli, "worker.reject", params, 0, &cli->result);
}

static void
tell_rejected(struct cli *cli, const struct worker *worker, const char *commit,
    size_t count)
{
	buf_addf(&cli->text, "Rejected [%.7s]", commit);
	if (count > 0)
		buf_addf(&cli->text, " with %zu comment%s", count,
		    count == 1 ? "" : "s");
	buf_addf(&cli->text, "; %s is %s again.\n", worker->name,
	    worker->worktree != NULL ? "working on it" : "given to a worker");
}

static int
reject_named(
    struct cli *cli, const struct worker *worker, const struct cli_args *args)
{
	const char *typed = args->count > 0 ? args->list[0] : NULL;
	const char *from = args->flags[FLAG_FROM];
	cleanup_buf struct buf form = BUF_INIT;
	cleanup_free char *seen = NULL;
	struct draft draft = DRAFT_INIT;
	size_t count = 0;
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
	draft.with_diff = typed == NULL;
	if (from != NULL) {
		status = draft_read(cli, from, &draft);
	} else if (typed == NULL) {
		status = add_form(cli, worker, seen, &form);
		if (status == CLI_OK)
			status = draft_edit(
			    cli, form.data, "reject", "--from", &draft);
	} else {
		status = draft_fill(cli, typed, "reject", NULL, &draft);
	}
	if (status == CLI_OK)
		status = send_back(cli, worker, seen, &draft, &count);
	if (status == CLI_OK)
		tell_rejected(cli, worker, seen, count);
	return draft_end(cli, &draft, status);
}

static bool
is_worker(struct cli *cli, const char *word)
{
	struct state state = { 0 };
	bool found = roster_read(cli, &state, NULL) == 0;

	roster_add_held(&state);
	if (found)
		found = state_find(&state, word) != NULL;
	for (size_t i = 0; !found && i < state.count; i++)
		found = text_is(state.workers[i]->task, word);
	state_release(&state);
	return found;
}

/* One word that names a worker, or the task of one, is that, as with accept. */
static int
reject_run(struct cli *cli, const struct cli_args *args)
{
	struct cli_args rest = *args;
	const char *name = args->flags[FLAG_WORKER];

	if (args->count == 2 && name != NULL)
		return cli_misuse(cli, &cmd_reject, "name one worker");
	if (name == NULL &&
	    (args->count == 2 ||
		(args->count == 1 && is_worker(cli, args->list[0])))) {
		name = args->list[0];
		rest.list++;
		rest.count--;
	}
	args = &rest;
	if (args->flags[FLAG_REJECT_COMMIT] != NULL && name == NULL)
		return cli_misuse(
		    cli, &cmd_reject, "--commit needs the name of the worker");
	if (args->flags[FLAG_FROM] != NULL && args->count > 0)
		return cli_misuse(cli, &cmd_reject,
		    "give either TEXT or --from, whose file may have a text "
		    "too");
	return roster_with_work(cli, name, reject_named, args);
}

const struct cli_command cmd_reject = {
	.name = "reject",
	.group = CLI_LAND,
	.usage = "[WORKER|TASK] [TEXT | --from FILE] [--commit COMMIT]",
	.summary = "send finished work back with your reasons",
	.help =
	    "Without a name, that is the work you reviewed last. A task is "
	    "named for its worker,\nor for work that no worker has, which is "
	    "given to one again. The worker keeps its conversation and its commits, and is told to "
	    "fix what TEXT\nsays. TEXT - reads standard input; without TEXT, "
	    "an editor opens with the diff:\nabove it you write what is wrong "
	    "with the work as a whole, and below a line of it,\non lines that "
	    "begin with >, what is wrong with that line. All of it becomes one\n"
	    "message to the worker, with the file, the line and its text for "
	    "each comment.\n--from sends a file that was written like this before, "
	    "or a list of lines\nPATH:LINE: TEXT. A line that is neither part "
	    "of the diff nor a comment is an error,\nand nothing is sent. If "
	    "the worker has another commit than the one you reviewed,\nnothing "
	    "is sent.\n",
	.example = "reject adam 'A test is missing'",
	.flags = reject_flags,
	.max_args = 2,
	.method = "worker.reject",
	.run = reject_run,
};

/* --- review -------------------------------------------------------------- */

enum {
	FLAG_NAMES,
	FLAG_REVIEW_FORCE,
	FLAG_COMMENT,
	FLAG_INTERFACE
};

static const struct cli_flag review_flags[] = {
	[FLAG_NAMES] = { "name-only", NULL,
	    "show only the names of the files" },
	[FLAG_REVIEW_FORCE] = { "force", NULL,
	    "show the work whatever the worker's status" },
	[FLAG_COMMENT] = { "comment", NULL,
	    "open the diff in an editor, and send your comments back" },
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
	bool names_only, comment;
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
	/* Not the message of what has landed, if nothing is its own. */
	const char *const args[] = { "log", "--right-only", "-1", "--format=%B",
		r->range, "--", NULL };
	struct cli *cli = r->cli;
	cleanup_buf struct buf excerpt = BUF_INIT, message = BUF_INIT;

	roster_excerpt(r->worker->prompt, &excerpt);
	git_ask(cli->workspace.root, args, &message, NULL);
	cli_coloured(cli, "1", r->worker->name);
	buf_addf(&cli->text, "  %s  [%.7s]\n",
	    r->worker->branch != NULL ? r->worker->branch : "no worker",
	    r->commit);
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

	if (r->interface == INTERFACE_VSCODE && r->worker->worktree == NULL)
		return cli_fail(r->cli, "no_worktree",
		    "no worker has the work of %s, so there is no worktree; "
		    "leave --interface out",
		    r->worker->name);
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
	/* git prints below what was said so far. */
	if (!r->cli->json)
		cli_write(&r->cli->text);
	buf_clear(&r->cli->text);
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
	/* Without a name, they are about the worker that was reviewed last. */
	const char *held = r->worker->worktree == NULL ? r->worker->name : NULL;

	if (weakens != NULL)
		buf_addf(
		    &r->cli->text, "\nThis work weakens tests: %s.\n", weakens);
	if (dirty > 0)
		buf_addf(&r->cli->text,
		    "\nUncommitted changes in %d file%s are not shown.\n",
		    (int)dirty, dirty == 1 ? "" : "s");
	if (strcmp(status, "needs_review") == 0)
		buf_addf(&r->cli->text,
		    "\nNext: llmc accept%s%s, which lands [%.7s] on %s, or llmc "
		    "reject%s%s \"WHY\", or llmc review --comment\n",
		    held != NULL ? " " : "", held != NULL ? held : "",
		    r->commit, json_string_or(r->answer, "landing_branch", ""),
		    held != NULL ? " " : "", held != NULL ? held : "");
}

/* The editor instead of the pager. Who writes nothing sends nothing. */
static int
comment(const struct review *r, const char *now)
{
	struct cli *cli = r->cli;
	struct draft draft = { .text = BUF_INIT, .with_diff = true };
	cleanup_buf struct buf form = BUF_INIT;
	size_t count = 0;
	int status;

	if (strcmp(now, "needs_review") != 0)
		return cli_fail(cli, "wrong_status",
		    "%s is in %s; only finished work can be sent back with "
		    "comments",
		    r->worker->name, now);
	status = add_form(cli, r->worker, r->commit, &form);
	if (status == CLI_OK)
		status = draft_edit(cli, form.data, "review", "--from", &draft);
	if (status == CLI_OK && strcmp(draft.text.data, form.data) == 0) {
		buf_adds(&cli->text, "You wrote nothing, so nothing was sent.");
		show_end(r, now, NULL);
		return draft_end(cli, &draft, CLI_OK);
	}
	json_object_put(take_ptr(&cli->result));
	if (status == CLI_OK)
		status = send_back(cli, r->worker, r->commit, &draft, &count);
	if (status == CLI_OK)
		tell_rejected(cli, r->worker, r->commit, count);
	else if (draft.file != NULL)
		cli_warn(cli,
		    "send it again with: llmc reject --worker %s "
		    "--from %s",
		    r->worker->name, draft.file);
	return draft_end(cli, &draft, status);
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
	if (r->comment)
		return comment(r, now);
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
		.names_only = args->flags[FLAG_NAMES] != NULL,
		.comment = args->flags[FLAG_COMMENT] != NULL };
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
	if (r.comment && (cli->json || r.names_only || interface != NULL))
		return cli_misuse(cli, &cmd_review,
		    "--comment opens an editor; it goes with neither --json, "
		    "--name-only nor --interface");
	if (force && args->count == 0)
		return cli_misuse(
		    cli, &cmd_review, "--force needs the name of the worker");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	roster_add_held(&state);
	if (args->count > 0)
		status =
		    roster_find_work(cli, &state, args->list[0], &r.worker);
	else
		status = choose(cli, &state, &r.worker);
	if (status == CLI_OK && r.worker != NULL)
		status = review_named(&r, force);
	state_release(&state);
	return status;
}

static const struct schema review_shape =
    SCHEMA_SHAPE(SCHEMA_IS("worker", STRING, NULL),
	SCHEMA_IS(
	    "status", STRING, "rebasing: the worker resolves a conflict first"),
	SCHEMA_OR_NULL("branch", STRING,
	    "of the worker; null: no worker has the work, and worker is its "
	    "task"),
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
	.usage =
	    "[WORKER|TASK] [--comment | --name-only] [--force] [--interface "
	    "INTERFACE]",
	.summary = "show a worker's finished work",
	.help =
	    "Without a name, shows the work that has waited longest. The work "
	    "is rebased onto\nthe default branch first, and shown as one diff. "
	    "llmc accept and llmc reject\nthen apply to exactly the commit "
	    "that was shown. difftastic needs the program\ndifft; vscode needs "
	    "the program code, which opens the worktree. With --comment,\nthe "
	    "diff opens in an editor: write below a line, on lines that begin "
	    "with >, what\nyou have to say about it, and all of it is sent "
	    "back when you save (llmc reject).\n",
	.example = "review adam",
	.flags = review_flags,
	.max_args = 1,
	.method = "worker.review",
	.shape = CLI_SHAPE(OBJECT, review_shape),
	.run = review_run,
};
