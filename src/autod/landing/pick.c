/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "errtext.h"
#include "git-freeze.h"
#include "git.h"
#include "landing-item.h"
#include "landing.h"
#include "mem.h"
#include "op-enqueue.h"
#include "pick.h"
#include "queue.h"
#include "salvage.h"
#include "serve.h"
#include "worker-op.h"
#include "workspace.h"

struct pick {
	struct worker_op op; /* first */
	struct landings *landings;
	struct landing_item *item; /* until it is in the state */
};

static void
on_looked(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct pick *pick = arg;
	struct err unrelated = { 0 };

	if (!operation_arrived(&pick->op.op, err))
		return;
	if (frozen->refused & GIT_FREEZE_UNRELATED) {
		err_set(&unrelated, -EINVAL,
		    "%s has no commit in common with %s",
		    pick->op.agent->worker->branch,
		    core_branch(pick->op.agent->core));
		operation_fail(&pick->op.op, &unrelated);
		return;
	}
	xstrset(&pick->item->base, frozen->base);
	xstrset(&pick->item->picked_head, frozen->commit);
	pick->item->uncommitted = (int)frozen->dirty.count;
	operation_next(&pick->op.op);
}

static void
step_look(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;
	const struct worker *w = pick->op.agent->worker;
	struct git_freeze what = {
		.branch = w->branch,
		.onto = core_branch(core),
	};

	git_freeze(
	    core->git, w->worktree, &what, on_looked, operation_await(op));
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
	xstrset(&pick->item->words, ref);
	operation_next(&pick->op.op);
}

static void
step_salvage(struct operation *op)
{
	struct pick *pick = (struct pick *)op;

	salvage_begin(pick->op.agent, on_salvaged, operation_await(op));
}

static void
on_resolved(const struct git_answer *answer, void *arg)
{
	struct pick *pick = arg;
	struct err err = { 0 };

	if (answer->status != 0)
		err_set(&err, -EIO, "%s", answer->complaint);
	if (!operation_arrived(&pick->op.op, err.code != 0 ? &err : NULL))
		return;
	xstrset(&pick->item->head, answer->out);
	operation_next(&pick->op.op);
}

static void
step_resolve(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	const struct core *core = pick->op.agent->core;
	const char *const args[] = { "rev-parse", "--verify", pick->item->words,
		NULL };
	struct git_command ask = { .args = args };

	git_run(git_queue(core->git, core->workspace->root), &ask, on_resolved,
	    operation_await(op));
}

static void
enqueue(struct pick *pick)
{
	struct landings *landings = pick->landings;
	struct landing_item *item = take_ptr(&pick->item);
	int64_t now = clock_wall_ms();

	item->kind = ITEM_PICK;
	xstrset(&item->worker, pick->op.agent->worker->name);
	item->title = xasprintf("Work of %s, picked", item->worker);
	item->message = xasprintf("%s\n", item->title);
	item->author_date = xasprintf("%" PRId64 " +0000", now / 1000);
	xstrset(&item->committer_date, item->author_date);
	item->approved = true;
	item->queued_ms = now;
	landings_add_call(landings, item->id, take_ptr(&pick->op.call));
	queue_add(landings->queue, item);
}

static void
pick_end(struct operation *op, const struct err *err)
{
	struct pick *pick = (struct pick *)op;

	worker_op_release(&pick->op);
	if (err == NULL)
		enqueue(pick);
	else
		landings_fail(pick->landings, pick->op.call,
		    pick->op.agent->worker->name, pick->item->picked_head, err,
		    NULL);
	/* A landing of the worker may have waited for this. */
	landings_kick(pick->landings);
	landing_item_free(pick->item);
	free(pick);
}

static const struct operation_step pick_steps[] = {
	{ .name = "look", .run = step_look },
	{ .name = "salvage", .run = step_salvage },
	{ .name = "resolve", .run = step_resolve },
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
	pick->item = landing_record_new_item(&landings->core->state.landings);
	worker_op_begin(&pick->op, &pick_kind, agent, call);
}
