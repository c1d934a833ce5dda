/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "backoff.h"
#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-batch.h"
#include "plan-persist.h"
#include "plan-set.h"
#include "strv.h"

/* A full disk may have space again. */
static const struct backoff retry_waits = { .first_ms = 1000, .max_ms = 30000 };

TAILQ_HEAD(plan_batches, plan_batch);

/* A goal about which nothing is stored, and why. */
struct held {
	TAILQ_ENTRY(held) entry;
	char *goal_id;
	struct err err;
};
TAILQ_HEAD(held_list, held);

struct plan_persist {
	struct core *core;
	struct store *store;
	const struct plan_set *set;
	struct plan_persist_callbacks callbacks;
	struct plan_batch *next; /* being collected */
	struct plan_batches commits; /* in progress */
	struct held_list held;
	struct plan_batch *failing; /* effects of goals that are held */
	bool running, lost;
	/* While the store cannot be written. */
	bool outage;
	struct err why;
	int64_t since_ms; /* monotonic */
	int tries;
	size_t dropped; /* events that were not kept */
	struct loop_call *call;
	struct loop_timer *retry;
};

static struct held *
held_find(const struct plan_persist *p, const char *goal_id)
{
	struct held *held;

	TAILQ_FOREACH (held, &p->held, entry)
		if (goal_id != NULL && strcmp(held->goal_id, goal_id) == 0)
			return held;
	return NULL;
}

/* Effects that these request wait for the next commit. */
static void
run_effects(
    struct plan_persist *p, struct plan_batch *batch, const struct err *err)
{
	struct plan_batch_effect *effect;

	p->running = true;
	while ((effect = TAILQ_FIRST(&batch->effects)) != NULL) {
		TAILQ_REMOVE(&batch->effects, effect, entry);
		effect->fn(err, effect->arg);
		free(effect->goal_id);
		free(effect);
	}
	p->running = false;
}

/* --- what cannot be written ------------------------------------------ */

static void
commit_again(void *arg)
{
	struct plan_persist *p = arg;

	loop_call_request(p->call);
}

/* A damaged file stays damaged, and one of a newer llmc as it is. */
static bool
may_pass(int code)
{
	return code != -EUCLEAN && code != -EPROTONOSUPPORT &&
	    code != -ESHUTDOWN;
}

static void
wait_and_retry(struct plan_persist *p)
{
	int64_t wait_ms = retry_waits.first_ms;

	if (p->retry != NULL && loop_timer_pending(p->retry))
		return;
	backoff_next(&retry_waits, p->tries++, &wait_ms);
	loop_timer_free(p->retry);
	p->retry = loop_after(p->core->loop, wait_ms, commit_again, p);
}

/* Put it before what came after it. */
static void
commit_failed(
    struct plan_persist *p, struct plan_batch *batch, const struct err *err)
{
	struct plan_batch *both = plan_batch_new(p);

	plan_batch_join(both, batch);
	plan_batch_join(both, p->next);
	plan_batch_free(p->next);
	p->next = both;
	if (p->lost)
		return;
	if (!may_pass(err->code)) {
		p->lost = true;
		p->callbacks.lost(err, p->callbacks.arg);
		return;
	}
	p->why = *err;
	if (!p->outage) {
		p->outage = true;
		p->since_ms = clock_mono_ms();
		p->tries = 0;
		emit(p->core,
		    &(struct event){
			.kind = EVENT_STORE_UNWRITTEN, .reason = p->why.msg });
	}
	wait_and_retry(p);
}

static void
written(struct plan_persist *p)
{
	const struct event end = { .kind = EVENT_STORE_WRITTEN,
		.duration_ms = p->outage ? clock_mono_ms() - p->since_ms : 0,
		.count = (int64_t)p->dropped };

	if (!p->outage && p->dropped == 0)
		return;
	p->outage = false;
	p->dropped = 0;
	loop_timer_free(take_ptr(&p->retry));
	emit(p->core, &end);
}

int
plan_persist_ready(struct plan_persist *p, struct err *err)
{
	if (!p->outage)
		return 0;
	loop_timer_free(take_ptr(&p->retry));
	loop_call_request(p->call);
	return err_set(err, -EAGAIN,
	    "the store of goals cannot be written, so no plan is changed now: "
	    "%s",
	    p->why.msg);
}

int
plan_persist_tries(const struct plan_persist *p)
{
	return p->outage ? p->tries : 0;
}

/* --- what is refused ------------------------------------------------- */

/* A fault of one record or event, whatever else is in the transaction. */
static bool
is_refusal(int code)
{
	return code == -EINVAL || code == -E2BIG || code == -EEXIST ||
	    code == -ENOENT;
}

static void on_committed(const struct err *err, void *arg);

static void
commit(struct plan_persist *p, struct plan_batch *batch)
{
	TAILQ_INSERT_TAIL(&p->commits, batch, entry);
	plan_batch_commit(batch, p->store, p->set, on_committed);
}

/* Every goal for itself, to see which one it is. What belongs to none comes
 * last: the store answers in this order. */
static void
divide(struct plan_persist *p, struct plan_batch *batch)
{
	struct plan_batch *rest = plan_batch_new(p);
	const char *goal_id;

	rest->is_part = true;
	while ((goal_id = plan_batch_any_goal(batch)) != NULL) {
		struct plan_batch *part = plan_batch_new(p);

		part->is_part = true;
		part->goal_id = xstrdup(goal_id);
		plan_batch_move_goal(batch, part->goal_id, part);
		commit(p, part);
	}
	plan_batch_join(rest, batch);
	commit(p, rest);
}

/* An event that cannot be stored, such as one without a type. */
static void
refuse_events(struct plan_persist *p, struct plan_batch *batch)
{
	p->dropped += batch->event_count;
	run_effects(p, batch, NULL);
}

static void
refuse(struct plan_persist *p, struct plan_batch *batch, const struct err *err)
{
	struct held *held = held_find(p, batch->goal_id);

	/* What came since then is built on what was refused. */
	plan_batch_move_goal(p->next, batch->goal_id, batch);
	emit(p->core,
	    &(struct event){ .kind = EVENT_STORE_REFUSED,
		.goal = batch->goal_id,
		.reason = err->msg });
	if (held != NULL) {
		run_effects(p, batch, err);
		return;
	}
	held = xcalloc(1, sizeof *held);
	held->goal_id = xstrdup(batch->goal_id);
	held->err = *err;
	TAILQ_INSERT_TAIL(&p->held, held, entry);
	run_effects(p, batch, err);
	p->callbacks.refused(held->goal_id, &held->err, p->callbacks.arg);
}

static void
held_free(struct plan_persist *p, struct held *held)
{
	TAILQ_REMOVE(&p->held, held, entry);
	free(held->goal_id);
	free(held);
}

void
plan_persist_go_on(struct plan_persist *p, const char *goal_id)
{
	struct held *held = held_find(p, goal_id);

	if (held != NULL)
		held_free(p, held);
}

/* --- committing ------------------------------------------------------ */

static void
on_committed(const struct err *err, void *arg)
{
	struct plan_batch *batch = arg;
	struct plan_persist *p = batch->persist;
	struct err copy = { 0 };

	if (err != NULL)
		copy = *err;
	if (err == NULL) {
		written(p);
		run_effects(p, batch, NULL);
	} else if (!is_refusal(copy.code)) {
		commit_failed(p, batch, &copy);
	} else if (!batch->is_part) {
		divide(p, batch);
	} else if (batch->goal_id == NULL) {
		refuse_events(p, batch);
	} else {
		refuse(p, batch, &copy);
	}
	TAILQ_REMOVE(&p->commits, batch, entry);
	plan_batch_free(batch);
	if (!plan_batch_is_empty(p->next) || !TAILQ_EMPTY(&p->next->effects))
		loop_call_request(p->call);
}

static void
run_failing(struct plan_persist *p)
{
	struct plan_batch *failing = p->failing;
	const char *goal_id;

	p->failing = plan_batch_new(p);
	/* An owner that is freed meanwhile finds its effects there. */
	TAILQ_INSERT_TAIL(&p->commits, failing, entry);
	while ((goal_id = plan_batch_any_goal(failing)) != NULL) {
		struct plan_batch *part = plan_batch_new(p);
		const struct held *held = held_find(p, goal_id);
		struct err err = { -EAGAIN, "the goal was read again" };

		if (held != NULL)
			err = held->err;
		part->goal_id = xstrdup(goal_id);
		plan_batch_move_goal(failing, part->goal_id, part);
		TAILQ_INSERT_TAIL(&p->commits, part, entry);
		run_effects(p, part, &err);
		TAILQ_REMOVE(&p->commits, part, entry);
		plan_batch_free(part);
	}
	TAILQ_REMOVE(&p->commits, failing, entry);
	plan_batch_free(failing);
}

/* Runs at the end of a pass of the loop. */
static void
on_pass_end(void *arg)
{
	struct plan_persist *p = arg;
	struct plan_batch *batch;

	if (p->running || p->lost)
		return;
	run_failing(p);
	if (!TAILQ_EMPTY(&p->commits) ||
	    (p->retry != NULL && loop_timer_pending(p->retry)))
		return;
	batch = p->next;
	p->next = plan_batch_new(p);
	if (!plan_batch_is_empty(batch)) {
		commit(p, batch);
		return;
	}
	run_effects(p, batch, NULL);
	plan_batch_free(batch);
}

/* --- what changed ---------------------------------------------------- */

void
plan_persist_record(struct plan_persist *p, enum store_kind kind,
    const char *goal_id, const char *id)
{
	if (held_find(p, goal_id) != NULL)
		return;
	plan_batch_record(p->next, kind, goal_id, id, NULL);
	loop_call_request(p->call);
}

void
plan_persist_dispatch(
    struct plan_persist *p, const struct plan_dispatch *dispatch)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (held_find(p, dispatch->goal_id) != NULL)
		return;
	json = plan_dispatch_to_json(dispatch);
	json_print(json, false, &text);
	plan_batch_record(p->next, STORE_DISPATCH, dispatch->goal_id,
	    dispatch->id, buf_take(&text));
	loop_call_request(p->call);
}

void
plan_persist_body(struct plan_persist *p, enum store_kind kind,
    const char *goal_id, const char *id, char *body)
{
	if (held_find(p, goal_id) != NULL) {
		free(body);
		return;
	}
	plan_batch_record(p->next, kind, goal_id, id, body);
	loop_call_request(p->call);
}

void
plan_persist_changes(struct plan_persist *p, const struct plan *plan,
    const struct plan_changes *changes)
{
	const char *goal_id = plan->goal->id;

	if (changes->goal)
		plan_persist_record(p, STORE_GOAL, goal_id, goal_id);
	for (size_t i = 0;
	     changes->removed != NULL && changes->removed[i] != NULL; i++)
		plan_persist_record(
		    p, STORE_NODE, goal_id, changes->removed[i]);
	for (size_t i = 0; i < changes->count; i++)
		plan_persist_record(
		    p, STORE_NODE, goal_id, changes->nodes[i]->id);
}

/* Those of a goal belong to a change of its plan; new ones are refused while
 * the store cannot be written, so that they are few. */
static bool
has_room(const struct plan_persist *p, const struct store_event *event)
{
	return event->goal_id != NULL ||
	    (p->next->event_count < PLAN_PERSIST_EVENTS_MAX &&
		p->next->event_bytes < PLAN_PERSIST_BYTES_MAX);
}

void
plan_persist_event(struct plan_persist *p, const struct store_event *event)
{
	struct store_event copy = *event;

	if (!has_room(p, event)) {
		p->dropped++;
		return;
	}
	if (copy.ts_ms == 0)
		copy.ts_ms = clock_wall_ms();
	plan_batch_event(p->next, &copy);
	loop_call_request(p->call);
}

void
plan_persist_then(struct plan_persist *p, void *owner, const char *goal_id,
    plan_persist_fn *fn, void *arg)
{
	plan_batch_effect(held_find(p, goal_id) != NULL ? p->failing : p->next,
	    owner, goal_id, fn, arg);
	loop_call_request(p->call);
}

void
plan_persist_forget(struct plan_persist *p, const void *owner)
{
	struct plan_batch *batch;

	plan_batch_forget(p->next, owner);
	plan_batch_forget(p->failing, owner);
	TAILQ_FOREACH (batch, &p->commits, entry)
		plan_batch_forget(batch, owner);
}

bool
plan_persist_is_idle(const struct plan_persist *p)
{
	return TAILQ_EMPTY(&p->commits) && plan_batch_is_empty(p->next) &&
	    TAILQ_EMPTY(&p->next->effects) &&
	    TAILQ_EMPTY(&p->failing->effects) && TAILQ_EMPTY(&p->held);
}

bool
plan_persist_is_stored(const struct plan_persist *p, const char *goal_id)
{
	const struct plan_batch *batch;

	TAILQ_FOREACH (batch, &p->commits, entry)
		if (plan_batch_has_goal(batch, goal_id))
			return false;
	return !plan_batch_has_goal(p->next, goal_id) &&
	    held_find(p, goal_id) == NULL;
}

/* --- life ------------------------------------------------------------ */

void
plan_persist_stop(struct plan_persist *p)
{
	p->lost = true;
}

struct plan_persist *
plan_persist_new(struct core *core, struct store *store,
    const struct plan_set *set, const struct plan_persist_callbacks *callbacks)
{
	struct plan_persist *p = xcalloc(1, sizeof *p);

	p->core = core;
	p->store = store;
	p->set = set;
	p->callbacks = *callbacks;
	p->next = plan_batch_new(p);
	p->failing = plan_batch_new(p);
	TAILQ_INIT(&p->commits);
	TAILQ_INIT(&p->held);
	p->call = loop_call_new(core->loop, on_pass_end, p);
	return p;
}

void
plan_persist_free(struct plan_persist *p)
{
	struct plan_batch *batch;
	struct held *held;

	while ((batch = TAILQ_FIRST(&p->commits)) != NULL) {
		TAILQ_REMOVE(&p->commits, batch, entry);
		plan_batch_free(batch);
	}
	while ((held = TAILQ_FIRST(&p->held)) != NULL)
		held_free(p, held);
	plan_batch_free(p->next);
	plan_batch_free(p->failing);
	loop_call_free(p->call);
	loop_timer_free(p->retry);
	free(p);
}
