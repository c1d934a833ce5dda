/* SPDX-License-Identifier: ISC */

/* llmc reject: send finished work back, with the reasons. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "draft.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "roster.h"
#include "seen.h"
#include "settings.h"
#include "worker.h"

enum {
	FLAG_WORKER,
	FLAG_COMMIT
};

static const struct cli_flag reject_flags[] = {
	[FLAG_WORKER] = { "worker", "WORKER",
	    "reject the work of WORKER, not the work reviewed last" },
	[FLAG_COMMIT] = SEEN_FLAG,
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
reject_named(struct cli *cli, const struct worker *worker, const char *typed,
    const char *commit)
{
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
	status = seen_commit(cli, worker, commit, true, &seen);
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
	const char *commit = args->flags[FLAG_COMMIT];
	const struct worker *worker = NULL;
	struct state state;
	int status;

	if (commit != NULL && name == NULL)
		return cli_misuse(cli, &cmd_reject, "--commit needs --worker");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (name == NULL)
		status = roster_reviewed(cli, &state, &worker);
	else
		status = roster_find(cli, &state, name, &worker);
	if (status == CLI_OK)
		status = reject_named(cli, worker,
		    args->count > 0 ? args->list[0] : NULL, commit);
	state_release(&state);
	return status;
}

const struct cli_command cmd_reject = {
	.name = "reject",
	.usage = "[TEXT] [--worker WORKER] [--commit COMMIT]",
	.summary = "send finished work back with your reasons",
	.help =
	    "The worker keeps its conversation and its commits, and is told to "
	    "fix what TEXT\nsays. TEXT - reads standard input; without TEXT, "
	    "an editor opens and shows the\ndiff. If the worker has another "
	    "commit than the one you reviewed, nothing is\nsent.\n",
	.flags = reject_flags,
	.max_args = 1,
	.method = "worker.reject",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = reject_run,
};
