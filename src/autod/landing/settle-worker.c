/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "landing-list.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "serve.h"
#include "worker-op.h"

/* The landing is final, even if the worktree cannot be reset. Not called if the
 * daemon stops before: the next one does it again. */
typedef void op_clean_fn(struct agent *agent, void *arg);

struct op_clean_what {
	const char *head; /* commit that was frozen; what was done there since
			   * then is saved first */
	const char *same; /* a commit that has its tree, NULL = not known */
	bool queued; /* it has not landed: only the queue will have it, so that
		      * must be on disk first */
};

static void op_clean(struct agent *agent, const struct op_clean_what *what,
    op_clean_fn *fn, void *arg);

struct op_clean {
	struct worker_op op; /* first */
	char *head, *same;
	bool queued;
	op_clean_fn *fn;
	void *arg;
};

/* The work is safe, and the next start sets the worktree back as well. */
static void
report(struct op_clean *c, const struct err *err)
{
	AGENT_EMIT(c->op.agent, EVENT_CLEANUP_FAILED,
	    .branch = core_branch(c->op.agent->core), .commit = c->head,
	    .reason = err->msg);
}

static void
on_synced(const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	if (!operation_arrived(&c->op.op, NULL))
		return;
	if (err != NULL)
		operation_done(&c->op.op);
	else
		operation_next(&c->op.op);
}

static void
step_sync(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;

	if (c->queued)
		git_freeze_sync(
		    c->op.agent->core->git, on_synced, operation_await(op));
	else
		operation_next(op);
}

static void
on_reset(const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	else
		xstrset(&c->op.agent->worker->work_of, NULL);
	operation_on_done(NULL, arg);
}

static void
clean_step_reset(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;

	worker_op_salvage(&c->op,
	    &(struct salvage_what){ .then = SALVAGE_RESET,
		.head = c->head,
		.same = c->same,
		.unlocked = true },
	    on_reset);
}

static void
clean_end(struct operation *op, const struct err *err)
{
	struct op_clean *c = (struct op_clean *)op;
	struct agent *agent = c->op.agent;

	worker_op_release(&c->op);
	if (err == NULL) {
		agent->worker->accepted = false;
		agent_move(agent,
		    agent->worker->session.ready ? WORKER_IDLE : WORKER_OFFLINE,
		    NULL);
		persist_changed(agent->core);
		c->fn(agent, c->arg);
	}
	free(c->head);
	free(c->same);
	free(c);
}

static const struct operation_step clean_steps[] = {
	{ .name = "sync", .run = step_sync, .firm = true },
	{ .name = "reset", .run = clean_step_reset, .firm = true },
};

OPERATION_KIND(clean_kind, "clean", clean_steps, clean_end);

/* No operation may be running on the worker, which is accepting. what is
 * copied. */
static void
op_clean(struct agent *agent, const struct op_clean_what *what, op_clean_fn *fn,
    void *arg)
{
	struct op_clean *c = xcalloc(1, sizeof *c);

	c->head = xstrdup(what->head);
	xstrset(&c->same, what->same);
	c->queued = what->queued;
	c->fn = fn;
	c->arg = arg;
	worker_op_begin(&c->op, &clean_kind, agent, NULL);
}

/* The worker that waits with this item; NULL = none, or it must stay: a person
 * has accepted it, the branch is moving, or something is in progress. */
static struct agent *
release_agent_of(
    const struct landings *landings, const struct landing_item *item)
{
	struct agent *agent;

	if (item->kind != ITEM_WORK || item->task == NULL ||
	    item->worker == NULL || item->freeing || item->approved ||
	    item->commit != NULL)
		return NULL;
	agent = fleet_find(landings->fleet, item->worker);
	return agent != NULL && agent->worker->status == WORKER_ACCEPTING &&
		!agent_is_taken(agent) ?
	    agent :
	    NULL;
}

/* Its worker can do something else. How many could, if somebody needed them? */
static size_t
release(struct landings *landings, struct landing_item *item)
{
	struct agent *agent = release_agent_of(landings, item);

	if (agent == NULL || landings->policy->frees == NULL)
		return 0;
	if (!POLICY_ASK(landings, policy, frees, agent, item->task))
		return 1;
	item->freeing = true;
	persist_changed(landings->core);
	queue_look(landings->queue);
	return 0;
}

size_t
release_due(struct landings *landings, const struct landing_facts *facts,
    const struct landing_plan *plan, struct landing_item *const *items,
    int64_t now_ms)
{
	cleanup_free struct landing_view *views = NULL;
	const char *wait;
	size_t left = 0;

	views = xcalloc(facts->entry_count + 1, sizeof *views);
	landing_view_make(facts, plan, now_ms, views);
	for (size_t i = 0; i < facts->entry_count; i++) {
		landings_proposes(landings, items[i], &wait);
		if (wait != NULL || items[i]->overlaps ||
		    landing_view_is_long(&views[i]))
			left += release(landings, items[i]);
	}
	return left;
}

void
release_done(struct landings *landings, struct landing_item *item)
{
	xstrset(&item->worker, NULL);
	item->freeing = false;
	persist_changed(landings->core);
	queue_look(landings->queue);
}

static void
release_on_cleaned(struct agent *agent, void *arg)
{
	struct landings *landings = arg;
	struct landing_item *item = landing_record_of(
	    &landings->core->state.landings, agent->worker->name);

	if (item != NULL && item->freeing)
		release_done(landings, item);
}

/* err NULL: the worker is working on it again. */
typedef void
op_return_fn(struct agent *agent, const struct err *err, void *arg);

struct op_return {
	struct worker_op op; /* first */
	char *commit, *words;
	op_return_fn *fn;
	void *arg;
};

static void
settle_step_reset(struct operation *op)
{
	struct op_return *r = (struct op_return *)op;

	worker_op_salvage(&r->op,
	    &(struct salvage_what){
		.then = SALVAGE_RESET, .onto = r->commit, .find_base = true },
	    NULL);
}

static void
return_end(struct operation *op, const struct err *err)
{
	struct op_return *r = (struct op_return *)op;
	struct agent *agent = r->op.agent;

	worker_op_release(&r->op);
	if (err == NULL || err->code != -ECANCELED || !agent->core->stopping) {
		agent->worker->accepted = false;
		agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
		if (err == NULL) {
			agent_move(agent, WORKER_REJECTED, NULL);
			agent_prompt(agent, r->words, false, WORKER_REJECTED);
		} else {
			xstrset(&agent->worker->reason, err->msg);
		}
		persist_changed(agent->core);
	}
	r->fn(agent, err, r->arg);
	free(r->commit);
	free(r->words);
	free(r);
}

static const struct operation_step settle_steps[] = {
	{ .name = "reset", .run = settle_step_reset, .firm = true },
};

OPERATION_KIND(settle_kind, "return", settle_steps, return_end);

/* No operation may be running on the worker, which is accepting. */
static void
op_return(struct agent *agent, const char *commit, const char *words,
    op_return_fn *fn, void *arg)
{
	struct op_return *r = xcalloc(1, sizeof *r);

	xstrset(&r->commit, commit);
	xstrset(&r->words, words);
	r->fn = fn;
	r->arg = arg;
	worker_op_begin(&r->op, &settle_kind, agent, NULL);
}

static void
finish_landed(
    struct landings *landings, struct landing_item *item, struct agent *agent)
{
	settle_reply(landings, item);
	settle_end(landings, item, agent,
	    item->step == ITEM_LANDED ? LANDING_END_LANDED :
					LANDING_END_PROPOSED,
	    NULL);
}

static void
settle_on_cleaned(struct agent *agent, void *arg)
{
	struct landings *landings = arg;
	struct landing_item *item = landing_record_of(
	    &landings->core->state.landings, agent->worker->name);

	if (item != NULL &&
	    (item->step == ITEM_LANDED || item->step == ITEM_PROPOSED))
		finish_landed(landings, item, agent);
}

/* Why, in one line; item->words has the output. */
static const char fails[] = "it fails auto.check_command";

static void
on_returned(struct agent *agent, const struct err *err, void *arg)
{
	struct landings *landings = arg;
	struct landing_item *item = landing_record_of(
	    &landings->core->state.landings, agent->worker->name);
	struct err words = { 0 };

	if (item == NULL || item->step != ITEM_EJECTED)
		return;
	if (err != NULL && err->code == -ECANCELED && landings->core->stopping)
		return; /* the next daemon tells it */
	err_set(&words, err != NULL ? err->code : -EBADMSG, "%s",
	    err != NULL ? err->msg : fails);
	if (words.code == -EUCLEAN && !fleet_drives(agent))
		agent_park(agent, words.msg);
	landings_fail(landings, landings_take_call(landings, item->id),
	    item->worker, item->head, &words, err != NULL ? NULL : item->words);
	settle_end(landings, item, agent,
	    err != NULL ? LANDING_END_TREE : LANDING_END_EJECTED, &words);
}

/* --- conflicts ------------------------------------------------------- */

static const enum landing_result rebase_results[] = {
	[OP_REBASE_CONFLICT] = LANDING_END_CONFLICT,
	[OP_REBASE_STUCK] = LANDING_END_STUCK,
	[OP_REBASE_FAILED] = LANDING_END_TREE,
	[OP_REBASE_CANCELLED] = LANDING_END_CANCELLED,
};

static void
on_rebased(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *none, void *arg)
{
	struct landings *landings = arg;
	struct core *core = landings->core;
	struct landing_item *item =
	    landing_record_of(&core->state.landings, agent->worker->name);
	struct server_call *call;
	struct json_object *answer;
	struct err conflict = { 0 };
	bool approved, looks;

	(void)none;
	if (item == NULL || item->step != ITEM_EJECTED)
		return;
	if (end == OP_REBASE_CANCELLED && core->stopping) {
		agent_move(agent, WORKER_ACCEPTING, NULL);
		return; /* the next daemon tries again */
	}
	call = landings_take_call(landings, item->id);
	if (end == OP_REBASE_DONE) {
		/* It applies after all: into the queue again. */
		approved = item->approved;
		looks = call == NULL && !approved &&
		    landings_keeps(landings, item->task);
		settle_forget(landings, item);
		if (looks) /* it is another commit: see landing.c */
			agent_finish(agent, head);
		else
			landing_begin(landings, agent, NULL, approved, call);
		return;
	}
	answer = settle_answer(landings, item, "rebasing");
	if (end == OP_REBASE_CONFLICT) {
		agent->worker->accepted = true; /* lands when it is resolved */
		err_set(&conflict, -EEXIST,
		    "conflict with %s; the worker resolves it",
		    core_branch(core));
		serve_reply(core, call, answer);
	} else {
		agent->worker->accepted = false;
		json_object_put(answer);
		landings_fail(landings, call, agent->worker->name,
		    agent->worker->commit, err, NULL);
	}
	persist_changed(core);
	settle_end(landings, item, agent, rebase_results[end],
	    end == OP_REBASE_CONFLICT ? &conflict : err);
}

/* Another worker can resolve it, from where the work was frozen. */
static bool
give_to_another(struct landings *landings, const struct landing_item *item)
{
	const char *branch = core_branch(landings->core);
	cleanup_free char *words = NULL;

	if (item->kind != ITEM_WORK || item->task == NULL)
		return false;
	words = xasprintf(
	    "It conflicts with what has landed on %s since%s%s\nRebase it: git "
	    "rebase %s; resolve the conflicts so that both changes hold, and "
	    "check the result.\n",
	    branch, item->words != NULL ? ": " : ".",
	    item->words != NULL ? item->words : "", branch);
	return POLICY_ASK(landings, policy, ejected, NULL, item->task,
		   item->head, true, words) == LANDING_RETURN_TAKEN;
}

/* A pick, a revert, and work whose worker was reset have no worker that could
 * resolve it. */
static void
conflict_without_worker(struct landings *landings, struct landing_item *item)
{
	struct err err = { 0 };

	if (item->kind == ITEM_REVERT)
		err_set(&err, -EEXIST,
		    "it conflicts with later changes: %s; undo it by hand "
		    "with: git revert %.12s",
		    item->words != NULL ? item->words : "see git log",
		    item->head);
	else if (item->kind == ITEM_PICK)
		err_set(&err, -EEXIST,
		    "it conflicts with %s; its work is in %s",
		    core_branch(landings->core), item->words);
	else
		err_set(&err, -EEXIST,
		    "it conflicts with %s%s%s; its commit is %.12s",
		    core_branch(landings->core),
		    item->words != NULL ? ": " : "",
		    item->words != NULL ? item->words : "", item->head);
	settle_give_back(landings, item, LANDING_END_CONFLICT, &err);
}

/* --- what is due ----------------------------------------------------- */

static void
settle_item(struct landings *landings, struct landing_item *item)
{
	struct agent *agent = settle_agent_of(landings, item);

	if (item->freeing) {
		/* Reset the worker of a marked item. */
		agent = fleet_find(landings->fleet, item->worker);
		if (agent == NULL || agent->worker->status != WORKER_ACCEPTING)
			release_done(landings, item);
		else if (!agent_is_taken(agent))
			op_clean(agent,
			    &(struct op_clean_what){
				.head = item->head, .queued = true },
			    release_on_cleaned, landings);
		return;
	}
	if (item->step == ITEM_HELD ||
	    (item->step == ITEM_SUBMITTED &&
		clock_wall_ms() - item->queued_ms > LANDING_HOLD_MS))
		release(landings, item);
	if (item->step == ITEM_QUEUED || item->step == ITEM_SUBMITTED ||
	    item->step == ITEM_HELD || item->kind == ITEM_SHARED)
		return; /* a SHARED one is the hosts' to settle */
	if (agent != NULL && agent_is_taken(agent))
		return; /* looked at again when that operation has ended */
	if (item->step == ITEM_LANDED || item->step == ITEM_PROPOSED) {
		if (agent != NULL)
			op_clean(agent,
			    &(struct op_clean_what){ .head = item->head,
				.queued = item->step == ITEM_PROPOSED,
				.same =
				    queue_base_same(landings->queue, item) },
			    settle_on_cleaned, landings);
		else
			finish_landed(landings, item, NULL);
	} else if (!item->conflict) {
		enum landing_return how = LANDING_RETURN_PERSON;
		struct err err = { 0 };

		err_set(&err, -EBADMSG, "%s", fails);
		if (item->task != NULL)
			how = POLICY_ASK(landings, policy, ejected, agent,
			    item->task,
			    item->commit != NULL ? item->commit : item->head,
			    false, item->words);
		switch (how) {
		case LANDING_RETURN_AGENT:
			op_return(agent, item->commit, item->words, on_returned,
			    landings);
			break;
		case LANDING_RETURN_TAKEN:
			landings_fail(landings,
			    landings_take_call(landings, item->id),
			    item->worker, item->head, &err, item->words);
			settle_forget(landings, item);
			break;
		case LANDING_RETURN_PERSON:
			settle_give_back(
			    landings, item, LANDING_END_EJECTED, &err);
			break;
		}
	} else if (agent != NULL) {
		op_rebase(agent, true, NULL, on_rebased, landings);
	} else if (give_to_another(landings, item)) {
		struct err err = { 0 };

		err_set(&err, -EEXIST, "conflict with %s; a worker resolves it",
		    core_branch(landings->core));
		landings_fail(landings, landings_take_call(landings, item->id),
		    item->worker, item->head, &err, NULL);
		settle_forget(landings, item);
	} else {
		conflict_without_worker(landings, item);
	}
}

void
settle_due(struct landings *landings)
{
	const struct landing_record *record = &landings->core->state.landings;

	/* An item may be removed on the way, only itself. */
	for (size_t i = record->count; i-- > 0;)
		if (i < record->count)
			settle_item(landings, record->items[i]);
}
