/* SPDX-License-Identifier: ISC */

/* llmc accept: land a worker's work on the default branch, as one commit. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "mem.h"
#include "progress.h"
#include "remote.h"
#include "roster.h"
#include "seen.h"
#include "text.h"
#include "worker.h"

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

static void
tell(struct cli *cli, struct json_object *result)
{
	const char *worker = json_string_or(result, "worker", "");
	const char *head = json_string_or(result, "head_sha", "");
	const char *branch = json_string_or(result, "landing_branch", "");
	const char *message = json_string_or(result, "commit_message", "");

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
	buf_addf(&cli->text,
	    "Landed [%.7s] on %s: ", json_string_or(result, "commit_sha", ""),
	    branch);
	text_add_visible(&cli->text, message, strcspn(message, "\n"), false);
	buf_addf(&cli->text,
	    "\nIt is the work of %s [%.7s]; %s is free again.\n", worker, head,
	    worker);
}

static int
accept_named(
    struct cli *cli, const struct worker *worker, const char *typed, bool force)
{
	cleanup_free char *commit = NULL, *what = NULL;
	struct json_object *params;
	int status = seen_commit(cli, worker, typed, true, &commit);

	if (status != CLI_OK)
		return status;
	params = seen_params(worker, commit);
	json_set_bool(params, "force", force);
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
	const char *commit = args->flags[FLAG_COMMIT];
	bool force = args->flags[FLAG_FORCE] != NULL;
	const struct worker *worker = NULL;
	struct state state;
	int status;

	if (args->count == 0 && (force || commit != NULL))
		return cli_misuse(cli, &cmd_accept,
		    "--%s needs the name of the worker",
		    force ? "force" : "commit");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (args->count > 0)
		status = roster_find(cli, &state, args->list[0], &worker);
	else
		status = roster_reviewed(cli, &state, &worker);
	if (status == CLI_OK)
		status = accept_named(cli, worker, commit, force);
	state_release(&state);
	return status;
}

const struct cli_command cmd_accept = {
	.name = "accept",
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
	    "\nis resolved.\n",
	.flags = accept_flags,
	.max_args = 1,
	.method = "worker.accept",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = accept_run,
};
