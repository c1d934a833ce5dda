/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "git-facts.h"
#include "git-land.h"
#include "git.h"
#include "json.h"
#include "landing.h"
#include "mem.h"
#include "pick.h"
#include "salvage.h"
#include "worker-op.h"
#include "workspace.h"

struct pick {
	struct worker_op op; /* first */
	struct landings *landings;
	char ref[256]; /* the salvaged work */
	char onto[GIT_ID_SIZE];
	char tree[GIT_ID_SIZE]; /* the merged tree */
	char commit[GIT_ID_SIZE];
};

static struct git_queue *
root_queue(const struct pick *pick)
{
	const struct core *core = pick->op.agent->core;

	return git_queue(core->git, core->workspace->root);
}

/* The result from git as an error; NULL = success. */
static const struct err *
complaint(const struct git_answer *answer, struct err *err)
{
	if (answer->status == 0)
		return NULL;
	err_set(err, -EIO, "%s", answer->complaint);
	return err;
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (!operation_arrived(&pick->op.op, err))
		return;
	memcpy(pick->onto, facts->onto, sizeof pick->onto);
	operation_next(&pick->op.op);
}

static void
step_facts(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;

	git_facts_read(core->git, pick->op.agent->worker->worktree,
	    core_branch(core), on_facts, operation_await(op));
}

static void
on_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct pick *pick = arg;
	struct err nothing = { 0 };

	if (!operation_arrived(&pick->op.op, err))
		return;
	if (ref[0] == '\0') {
		err_set(&nothing, -ENOENT, "it has nothing to pick");
		operation_fail(&pick->op.op, &nothing);
		return;
	}
	snprintf(pick->ref, sizeof pick->ref, "%s", ref);
	operation_next(&pick->op.op);
}

static void
step_salvage(struct operation *op)
{
	struct pick *pick = (struct pick *)op;

	salvage_begin(pick->op.agent, on_salvaged, operation_await(op));
}

static void
on_merged(const struct git_answer *answer, void *arg)
{
	struct pick *pick = arg;
	struct err err = { 0 };

	if (answer->status == 1)
		err_set(&err, -EEXIST,
		    "it conflicts with %s; its work is in %s",
		    core_branch(pick->op.agent->core), pick->ref);
	else
		complaint(answer, &err);
	if (!operation_arrived(&pick->op.op, err.code != 0 ? &err : NULL))
		return;
	snprintf(pick->tree, sizeof pick->tree, "%.*s",
	    (int)strcspn(answer->out, "\n"), answer->out);
	operation_next(&pick->op.op);
}

static void
step_merge(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	const char *const args[] = { "merge-tree", "--write-tree", pick->onto,
		pick->ref, NULL };
	struct git_command merge = { .args = args };

	git_run(root_queue(pick), &merge, on_merged, operation_await(op));
}

static void
on_committed(const struct git_answer *answer, void *arg)
{
	struct pick *pick = arg;
	struct err err = { 0 };

	if (!operation_arrived(&pick->op.op, complaint(answer, &err)))
		return;
	snprintf(pick->commit, sizeof pick->commit, "%s", answer->out);
	operation_next(&pick->op.op);
}

static void
step_commit(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	const char *const args[] = { "commit-tree", pick->tree, "-p",
		pick->onto, "-F", "-", NULL };
	cleanup_free char *message =
	    xasprintf("Work of %s, picked\n", pick->op.agent->worker->name);
	struct git_command commit = { .args = args, .input = message };

	git_run(root_queue(pick), &commit, on_committed, operation_await(op));
}

static void
on_landed(enum git_land_result result, const char *detail,
    const struct err *error, void *arg)
{
	struct pick *pick = arg;
	struct err err = { 0 };

	if (!operation_arrived(&pick->op.op, error))
		return;
	if (result == GIT_LANDED) {
		operation_next(&pick->op.op);
		return;
	}
	if (result == GIT_LAND_DIRTY)
		err_set(
		    &err, -EBUSY, "your checkout is in the way: %s", detail);
	else if (result == GIT_LAND_MOVED)
		err_set(&err, -EBUSY,
		    "the default branch moved meanwhile; pick again");
	else
		err_set(&err, -EBUSY, "%s; pick again", detail);
	operation_fail(&pick->op.op, &err);
}

static void
step_land(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;

	git_land(core->git, core_branch(core), pick->onto, pick->commit,
	    core_lands_over_dirt(core), on_landed, operation_await(op));
}

static void
pick_end(struct operation *op, const struct err *err)
{
	struct pick *pick = (struct pick *)op;
	struct json_object *result = NULL;

	worker_op_release(&pick->op);
	if (err == NULL) {
		result = json_object_new_object();
		json_set_string(result, "worker", pick->op.agent->worker->name);
		json_set_bool(result, "success", true);
		json_set_string(result, "commit_sha", pick->commit);
		json_set_string(result, "salvage", pick->ref);
	}
	worker_op_answer(&pick->op, err, result);
	/* A landing of the worker may have waited for this. */
	landings_kick(pick->landings);
	free(pick);
}

static const struct operation_step pick_steps[] = {
	{ .name = "facts", .run = step_facts },
	{ .name = "salvage", .run = step_salvage },
	{ .name = "merge", .run = step_merge },
	{ .name = "commit", .run = step_commit },
	{ .name = "land", .run = step_land, .firm = true },
};

static const struct operation_kind pick_kind = {
	.name = "pick",
	.steps = pick_steps,
	.count = nitems(pick_steps),
	.end = pick_end,
};

void
pick_begin(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	struct pick *pick = xcalloc(1, sizeof *pick);

	pick->landings = landings;
	worker_op_begin(&pick->op, &pick_kind, agent, call);
}

struct operation *
pick_of(const struct agent *agent)
{
	return agent->op != NULL && agent->op->op.kind == &pick_kind ?
	    &agent->op->op :
	    NULL;
}
