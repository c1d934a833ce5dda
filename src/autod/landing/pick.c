/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "landing-item.h"
#include "landing.h"
#include "op-enqueue.h"
#include "pick.h"
#include "queue.h"
#include "salvage.h"
#include "worker-op.h"

struct pick {
	struct worker_op op; /* first */
	struct landings *landings;
	struct landing_item *item; /* until it is in the state */
};

/* It may be on any branch, and in the middle of anything. */
static bool
is_refused(struct pick *pick, const struct git_frozen *frozen)
{
	const struct agent *agent = pick->op.agent;
	unsigned refused = frozen->refused &
	    (GIT_FREEZE_MOVED | GIT_FREEZE_FORBIDDEN | GIT_FREEZE_UNRELATED);
	struct err err = { 0 };

	if (refused == 0)
		return false;
	freeze_rules_refuse(agent->core, agent->worker, pick->item->picked_head,
	    frozen, refused, &err);
	operation_fail(&pick->op.op, &err);
	return true;
}

static void
on_looked(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (!operation_arrived(&pick->op.op, err) || is_refused(pick, frozen))
		return;
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
	struct freeze_rules rules;

	freeze_rules_init(&rules, core, w, pick->item->picked_head);
	git_freeze(core->git, w->worktree, &rules.what, on_looked,
	    operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct pick *pick = arg;
	struct err nothing = { 0 };

	if (!operation_arrived(&pick->op.op, err))
		return;
	if (saved->ref[0] == '\0') {
		err_set(&nothing, -ENOENT, "it has nothing to pick");
		operation_fail(&pick->op.op, &nothing);
		return;
	}
	xstrset(&pick->item->words, saved->ref);
	operation_next(&pick->op.op);
}

static void
step_salvage(struct operation *op)
{
	struct pick *pick = (struct pick *)op;

	salvage_begin(pick->op.agent,
	    &(struct salvage_what){ .then = SALVAGE_ONLY }, on_salvaged,
	    operation_await(op));
}

static void
on_saved_looked(
    const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct pick *pick = arg;

	if (!operation_arrived(&pick->op.op, err) || is_refused(pick, frozen))
		return;
	xstrset(&pick->item->head, frozen->commit);
	pick->item->guarded = frozen->protected_paths.count > 0;
	operation_next(&pick->op.op);
}

/* What was saved has the uncommitted files too, and HEAD may have moved since
 * the first look. */
static void
step_look_again(struct operation *op)
{
	struct pick *pick = (struct pick *)op;
	struct core *core = pick->op.agent->core;
	const struct landing_item *item = pick->item;
	struct freeze_rules rules;

	freeze_rules_init(
	    &rules, core, pick->op.agent->worker, item->picked_head);
	git_freeze_look(core->git, item->base, item->words, &rules.what,
	    on_saved_looked, operation_await(op));
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
	{ .name = "look-again", .run = step_look_again },
};

static const struct operation_kind pick_kind = {
	.name = "pick",
	.steps = pick_steps,
	.count = nitems(pick_steps),
	.end = pick_end,
};

void
pick_begin(struct landings *landings, struct agent *agent, const char *commit,
    struct server_call *call)
{
	struct pick *pick = xcalloc(1, sizeof *pick);

	pick->landings = landings;
	pick->item = landing_record_new_item(&landings->core->state.landings);
	xstrset(&pick->item->picked_head, commit);
	worker_op_begin(&pick->op, &pick_kind, agent, call);
}
