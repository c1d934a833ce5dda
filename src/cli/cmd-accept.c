/* SPDX-License-Identifier: ISC */

/* llmc accept: land a worker's work on the default branch, as one commit. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "remote.h"
#include "roster.h"
#include "text.h"
#include "worker.h"

enum {
	FLAG_FORCE
};

static const struct cli_flag accept_flags[] = {
	[FLAG_FORCE] = { "force", NULL,
	    "also land the work of a worker that is paused or made no commit" },
	{ NULL, NULL, NULL },
};

static void
tell(struct cli *cli, struct json_object *result)
{
	const char *worker = json_string_or(result, "worker", "");
	const char *message = json_string_or(result, "commit_message", "");

	if (json_bool_or(result, "needs_conflict_resolution", false)) {
		buf_addf(&cli->text,
		    "%s conflicts with work that has landed in the meantime. "
		    "The worker resolves the conflict, then its work lands.\n"
		    "Follow it with: llmc wait %s --until idle,paused\n",
		    worker, worker);
		return;
	}
	if (json_bool_or(result, "already_incorporated", false)) {
		buf_addf(&cli->text,
		    "The work of %s is already on the default branch; the "
		    "worker is free again.\n",
		    worker);
		return;
	}
	buf_addf(&cli->text, "Landed [%.7s] ",
	    json_string_or(result, "commit_sha", ""));
	text_add_visible(&cli->text, message, strcspn(message, "\n"), false);
	buf_addf(&cli->text, "\n%s is free again.\n", worker);
}

static int
accept_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->count > 0 ? args->list[0] : NULL;
	bool force = args->flags[FLAG_FORCE] != NULL;
	struct json_object *params;
	struct state state;
	int status;

	if (force && name == NULL)
		return cli_misuse(
		    cli, &cmd_accept, "--force needs the name of the worker");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (name == NULL)
		status = roster_reviewed(cli, &state, &name);
	if (status == CLI_OK) {
		params = remote_worker(name);
		json_set_bool(params, "force", force);
		status = remote_call(
		    cli, "worker.accept", params, REMOTE_LONG_MS, &cli->result);
	}
	if (status == CLI_OK)
		tell(cli, cli->result);
	state_release(&state);
	return status;
}

const struct cli_command cmd_accept = {
	.name = "accept",
	.usage = "[WORKER] [--force]",
	.summary = "land a worker's work on the default branch, as one commit",
	.help =
	    "Without a name, lands the work that you reviewed last. The work "
	    "is rebased and\nsquashed into one commit, and the default branch "
	    "moves to it. A checkout of that\nbranch moves along, unless it "
	    "has uncommitted changes. A conflict goes back to\nthe worker; the "
	    "work lands when the conflict is resolved.\n",
	.flags = accept_flags,
	.max_args = 1,
	.method = "worker.accept",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = accept_run,
};
