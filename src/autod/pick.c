/* SPDX-License-Identifier: ISC */

/*
 * Emergency extraction: land what a worker has, from any state, without
 * touching its worktree or its status. Everything is saved as a commit first,
 * merged with the default branch in memory (git merge-tree), and landed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "errtext.h"
#include "git-work.h"
#include "git.h"
#include "json.h"
#include "mem.h"
#include "methods.h"
#include "server.h"
#include "settings.h"
#include "workspace.h"

struct pick {
	struct agent *agent;
	struct server_call *call;
	char ref[256]; /* the salvaged work */
	char onto[GIT_ID_SIZE];
	char commit[GIT_ID_SIZE];
};

static struct git_queue *
pick_queue(const struct pick *pick)
{
	const struct daemon *d = pick->agent->daemon;

	return git_queue(d->git, d->workspace->root);
}

static void
pick_end(struct pick *pick, const char *failure)
{
	struct json_object *result;

	pick->agent->operating = false;
	agent_tick_later(pick->agent, 1);
	if (failure != NULL) {
		server_fail(pick->call, METHOD_FAILED, failure, NULL);
	} else {
		result = json_object_new_object();
		json_set_string(result, "worker", pick->agent->worker->name);
		json_set_bool(result, "success", true);
		json_set_string(result, "commit_sha", pick->commit);
		json_set_string(result, "salvage", pick->ref);
		daemon_reply(pick->agent->daemon, pick->call, result);
	}
	free(pick);
}

static void
pick_landed(enum git_land_result result, const char *detail,
    const struct err *err, void *arg)
{
	struct pick *pick = arg;
	cleanup_free char *words = NULL;

	if (result == GIT_LAND_DIRTY)
		words = xasprintf("your checkout is in the way: %s", detail);
	else if (result == GIT_LAND_HELD)
		words = xasprintf("%s; pick again", detail);
	else if (result == GIT_LAND_MOVED)
		words = xstrdup("the default branch moved meanwhile; pick "
				"again");
	else if (result == GIT_LAND_FAILED)
		words = xstrdup(err->msg);
	pick_end(pick, words);
}

static void
pick_committed(const struct git_answer *answer, void *arg)
{
	struct pick *pick = arg;
	struct daemon *d = pick->agent->daemon;

	if (answer->status != 0) {
		pick_end(pick, answer->complaint);
		return;
	}
	snprintf(pick->commit, sizeof pick->commit, "%s", answer->out);
	git_work_land(d->git, daemon_branch(d), pick->onto, pick->commit,
	    daemon_lands_over_dirt(d), pick_landed, pick);
}

static void
pick_merged(const struct git_answer *answer, void *arg)
{
	struct pick *pick = arg;
	cleanup_free char *message = NULL, *words = NULL, *tree = NULL;
	const char *args[] = { "commit-tree", NULL, "-p", pick->onto, "-F", "-",
		NULL };
	struct git_command commit = { .args = args };

	if (answer->status == 1) {
		words = xasprintf("it conflicts with %s; its work is in %s",
		    daemon_branch(pick->agent->daemon), pick->ref);
		pick_end(pick, words);
		return;
	}
	if (answer->status != 0) {
		pick_end(pick, answer->complaint);
		return;
	}
	tree = xstrndup(answer->out, strcspn(answer->out, "\n"));
	message = xasprintf("Work of %s, picked\n", pick->agent->worker->name);
	args[1] = tree;
	commit.input = message;
	git_run(pick_queue(pick), &commit, pick_committed, pick);
}

static void
pick_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct pick *pick = arg;
	const char *const args[] = { "merge-tree", "--write-tree", pick->onto,
		pick->ref, NULL };
	struct git_command merge = { .args = args };

	if (err != NULL) {
		pick_end(pick, err->msg);
		return;
	}
	if (ref[0] == '\0') {
		pick_end(pick, "it has nothing that could be picked");
		return;
	}
	snprintf(pick->ref, sizeof pick->ref, "%s", ref);
	git_run(pick_queue(pick), &merge, pick_merged, pick);
}

static void
pick_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (err != NULL) {
		pick_end(pick, err->msg);
		return;
	}
	memcpy(pick->onto, facts->onto, sizeof pick->onto);
	agent_salvage(pick->agent, pick_salvaged, pick);
}

void
pick_begin(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct daemon *d = agent->daemon;
	struct pick *pick = xcalloc(1, sizeof *pick);

	(void)params;
	pick->agent = agent;
	pick->call = call;
	agent->operating = true;
	git_work_facts(d->git, agent->worker->worktree, daemon_branch(d),
	    pick_facts, pick);
}
