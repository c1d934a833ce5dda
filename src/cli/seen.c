/* SPDX-License-Identifier: ISC */

#include "buf.h"
#include "cli.h"
#include "errtext.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "seen.h"
#include "worker.h"

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
	struct json_object *params = remote_worker(worker->name);

	json_set_string(params, "commit", commit);
	return params;
}
