/* SPDX-License-Identifier: ISC */

/* llmc pick: land the work of a worker, whatever its status is. */
#include "commands.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "roster.h"
#include "seen.h"
#include "worker.h"

enum {
	FLAG_COMMIT
};

static const struct cli_flag pick_flags[] = {
	[FLAG_COMMIT] = SEEN_FLAG,
	{ NULL, NULL, NULL },
};

static void
tell(struct cli *cli, struct json_object *result)
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
pick_named(struct cli *cli, const struct worker *worker, const char *typed)
{
	cleanup_free char *commit = NULL;
	int status = seen_commit(cli, worker, typed, false, &commit);

	if (status == CLI_OK)
		status =
		    remote_call(cli, "worker.pick", seen_params(worker, commit),
			REMOTE_LANDING_MS, &cli->result);
	if (status == CLI_OK)
		tell(cli, cli->result);
	return status;
}

static int
pick_run(struct cli *cli, const struct cli_args *args)
{
	const struct worker *worker = NULL;
	struct state state;
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	status = roster_find(cli, &state, args->list[0], &worker);
	if (status == CLI_OK)
		status = pick_named(cli, worker, args->flags[FLAG_COMMIT]);
	state_release(&state);
	return status;
}

const struct cli_command cmd_pick = {
	.name = "pick",
	.usage = "WORKER [--commit COMMIT]",
	.summary = "land a worker's current work, whatever its status",
	.help =
	    "For emergencies: commits and uncommitted changes are merged with "
	    "the default\nbranch as one commit. The worker, its worktree and "
	    "its task do not change. If\nthere is a conflict, nothing lands.\n",
	.flags = pick_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.pick",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = pick_run,
};
