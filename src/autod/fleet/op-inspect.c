/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-facts.h"
#include "git-since.h"
#include "inspection.h"
#include "op-inspect.h"
#include "rpc.h"
#include "serve.h"
#include "worker-op.h"

struct inspect {
	struct worker_op op; /* first */
	struct json_object *params; /* holds `seen` */
	const char *seen;
	unsigned flags;
	struct git_facts facts;
	struct buf sentence; /* about the difference; empty = none */
	fleet_worker_fn *fn;
	void *arg;
};

static struct inspection
inspection_of(const struct inspect *inspect)
{
	const struct worker *w = inspect->op.agent->worker;
	const struct git_facts *facts = &inspect->facts;

	return (struct inspection){
		.worker = w->name,
		.worktree = w->worktree,
		.seen = inspect->seen,
		.reviewed = w->reviewed != NULL &&
		    strncmp(
			w->reviewed, inspect->seen, strlen(inspect->seen)) == 0,
		.branch = inspect->flags & OP_INSPECT_BRANCH ? w->branch : NULL,
		.clean = inspect->flags & OP_INSPECT_CLEAN,
		.head = facts->head,
		.checked_out = facts->branch,
		.rebasing = facts->rebasing,
		.dirty = facts->changed + facts->untracked,
	};
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	inspect->facts = *facts;
	found = inspection_of(inspect);
	if (inspection_holds(&found))
		operation_done(&inspect->op.op);
	else
		operation_next(&inspect->op.op);
}

static void
step_facts(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_facts_read(core->git, inspect->op.agent->worker->worktree, NULL,
	    on_facts, operation_await(op));
}

static void
on_since(const struct git_since *since, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	found = inspection_of(inspect);
	found.known = since->known;
	found.commits = since->commits;
	found.files = since->files;
	found.file_count = since->file_count;
	found.dirt = since->dirt;
	found.dirt_count = since->dirt_count;
	inspection_sentence(&found, &inspect->sentence);
	operation_done(&inspect->op.op);
}

/* It is not what the caller has seen: what is different? */
static void
step_since(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_since_read(core->git, inspect->op.agent->worker->worktree,
	    inspect->seen, core_branch(core), on_since, operation_await(op));
}

static void
inspect_end(struct operation *op, const struct err *err)
{
	struct inspect *inspect = (struct inspect *)op;
	struct agent *agent = inspect->op.agent;

	worker_op_release(&inspect->op);
	if (err != NULL) {
		worker_op_answer(&inspect->op, err, NULL);
	} else if (inspect->sentence.len > 0) {
		serve_fail(agent->core, inspect->op.call, API_CHANGED,
		    inspect->sentence.data);
	} else {
		json_set_string(inspect->params, "commit", inspect->facts.head);
		inspect->fn(
		    inspect->arg, agent, inspect->op.call, inspect->params);
	}
	json_object_put(inspect->params);
	buf_release(&inspect->sentence);
	free(inspect);
}

static const struct operation_step steps[] = {
	{ .name = "inspect", .run = step_facts },
	{ .name = "compare", .run = step_since },
};

static const struct operation_kind kind = {
	.name = "inspection",
	.steps = steps,
	.count = nitems(steps),
	.end = inspect_end,
};

void
op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg)
{
	const char *seen = json_string_or(params, "commit", NULL);
	struct inspect *inspect;

	if (seen == NULL) {
		fn(arg, agent, call, params);
		return;
	}
	if (!inspection_is_id(seen)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "commit: expected 7 to 64 hexadecimal digits");
		return;
	}
	inspect = xcalloc(1, sizeof *inspect);
	inspect->params = json_object_get(params);
	inspect->seen = seen;
	inspect->flags = flags;
	buf_init(&inspect->sentence);
	inspect->fn = fn;
	inspect->arg = arg;
	worker_op_begin(&inspect->op, &kind, agent, call);
}
