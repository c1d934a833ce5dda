/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "mem.h"
#include "worker.h"

struct worker *
worker_new(const char *name, int64_t now_ms)
{
	struct worker *worker = xcalloc(1, sizeof *worker);

	worker->name = xstrdup(name);
	worker->status = WORKER_OFFLINE;
	worker->since_ms = now_ms;
	worker->activity_ms = now_ms;
	worker->created_ms = now_ms;
	worker->before = WORKER_OFFLINE;
	worker->after = WORKER_WORKING;
	return worker;
}

void
worker_free(struct worker *worker)
{
	if (worker == NULL)
		return;
	free(worker->name);
	free(worker->branch);
	free(worker->worktree);
	free(worker->prompt);
	free(worker->prompt_command);
	free(worker->task);
	free(worker->work_of);
	free(worker->base);
	free(worker->dispatch);
	free(worker->health);
	free(worker->asks_id);
	free(worker->asks);
	free(worker->commit);
	free(worker->reviewed);
	session_record_release(&worker->session);
	free(worker->reason);
	free(worker->accepted_head);
	free(worker->checked);
	free(worker->checked_key);
	free(worker);
}

bool
worker_waits(enum worker_status status)
{
	return status == WORKER_PAUSED || status == WORKER_LIMITED;
}

bool
worker_in_turn(enum worker_status status)
{
	return status == WORKER_WORKING || status == WORKER_REJECTED ||
	    status == WORKER_REVIEWING || status == WORKER_REBASING;
}

const char *const worker_hold_words[WORKER_HOLDS + 1] = { "person", "budget",
	"trust", NULL };

unsigned
worker_holds(const struct worker *worker)
{
	return (worker->on_hold ? WORKER_HOLD_PERSON : 0) |
	    (worker->over_budget ? WORKER_HOLD_BUDGET : 0) |
	    (worker->blocked ? WORKER_HOLD_TRUST : 0);
}

void
worker_add_holds(unsigned holds, struct buf *out)
{
	const char *comma = "";

	for (unsigned i = 0; i < WORKER_HOLDS; i++)
		if ((holds & 1U << i) != 0) {
			buf_addf(out, "%s%s", comma, worker_hold_words[i]);
			comma = ", ";
		}
}

bool
worker_is_quiet(const struct worker *worker)
{
	return !worker->session.busy && worker->session.step == PROMPT_NONE;
}

bool
worker_is_free(const struct worker *worker)
{
	return worker->status == WORKER_IDLE && worker_is_quiet(worker) &&
	    !worker->on_hold;
}

bool
worker_is_coming(const struct worker *worker)
{
	return worker->status == WORKER_OFFLINE && worker_is_quiet(worker) &&
	    !worker->on_hold;
}

bool
worker_is_held(const struct worker *worker)
{
	return worker_waits(worker->status) ||
	    worker->status == WORKER_ACCEPTING ||
	    worker->status == WORKER_ERROR || worker->status == WORKER_OFFLINE;
}

bool
worker_is_at_rest(const struct worker *worker)
{
	return worker_is_quiet(worker) && !worker->accepted;
}

bool
worker_expects_life(const struct worker *worker)
{
	return worker->session.busy && !worker_waits(worker->status);
}

/* A waiting worker can still go where its previous status could go. */
static bool
may_now(const struct worker *worker, enum worker_status to)
{
	if (!worker_status_may(worker->status, to))
		return false;
	if (!worker_waits(worker->status) || worker_waits(to))
		return true;
	return to == worker->before || to == WORKER_STARTING ||
	    worker_status_may(worker->before, to);
}

static void
forget_landing(struct worker *worker)
{
	worker->accepted = false;
	worker->approved = false;
	xstrset(&worker->accepted_head, NULL);
	worker->for_person = false;
	xstrset(&worker->checked, NULL);
	xstrset(&worker->checked_key, NULL);
	worker->conflicts = 0;
}

static void
forget_task(struct worker *worker)
{
	xstrset(&worker->prompt, NULL);
	xstrset(&worker->prompt_command, NULL);
	xstrset(&worker->task, NULL);
	worker->stalls = 0;
	worker->over_budget = false;
	xstrset(&worker->health, NULL);
	worker->blocked = false;
	xstrset(&worker->commit, NULL);
	xstrset(&worker->reviewed, NULL);
	worker->self_review = false;
	worker->self_reviewed = false;
	session_record_forget_pending(&worker->session);
	worker->after = WORKER_WORKING;
	forget_landing(worker);
}

/* How entering a status changes the rest of the record. */
static const struct effects {
	bool forgets_task;
	bool proves; /* the worker makes progress: forget earlier trouble */
	bool forgets_reason;
	bool takes_reason;
	bool ends_session;
} effects[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = { .forgets_task = true,
	    .proves = true,
	    .forgets_reason = true },
	[WORKER_WORKING] = { .forgets_reason = true },
	[WORKER_NEEDS_REVIEW] = { .proves = true, .forgets_reason = true },
	[WORKER_NO_CHANGES] = { .proves = true, .forgets_reason = true },
	[WORKER_PAUSED] = { .takes_reason = true },
	[WORKER_LIMITED] = { .takes_reason = true },
	[WORKER_ERROR] = { .takes_reason = true },
	[WORKER_OFFLINE] = { .ends_session = true },
	[WORKER_WAITING] = { .proves = true, .takes_reason = true },
};

/* A session that has just started is no proof yet: it may exit at once. */
static bool
has_proved(const struct worker *worker, enum worker_status from)
{
	return effects[worker->status].proves &&
	    (worker->status != WORKER_IDLE || from != WORKER_OFFLINE);
}

static void
arrive(struct worker *worker, enum worker_status from, const char *reason)
{
	const struct effects *does = &effects[worker->status];
	bool moved = worker->status != from;

	if (does->forgets_task)
		forget_task(worker);
	if (has_proved(worker, from)) {
		worker->crashes = 0;
		worker->crashed_ms = 0;
		worker->limit_tries = 0;
	}
	if (does->forgets_reason || (does->takes_reason && moved))
		xstrset(&worker->reason, NULL);
	if (does->takes_reason && reason != NULL)
		xstrset(&worker->reason, reason);
	if (does->ends_session) {
		worker->session.ready = false;
		worker->session.busy = false;
		worker->session.open_tools = 0;
	}
}

int
worker_transition(struct worker *worker, enum worker_status to,
    const char *reason, int64_t now_ms, struct err *err)
{
	cleanup_free char *words = reason == NULL ? NULL : xstrdup(reason);
	enum worker_status from = worker->status;

	if ((unsigned)to >= WORKER_STATUS_COUNT)
		return err_set(
		    err, -EINVAL, "%s: there is no such status", worker->name);
	if (!may_now(worker, to))
		return err_set(err, -EINVAL, "%s: %s cannot become %s",
		    worker->name, worker_status_name(from),
		    worker_status_name(to));
	if (worker_waits(to) && !worker_waits(from))
		worker->before = from;
	if ((worker_waits(from) && !worker_waits(to)) ||
	    (from == WORKER_WAITING && to != WORKER_WAITING))
		xstrset(&worker->reason, NULL);
	if (from == WORKER_LIMITED && to != WORKER_LIMITED)
		worker->until_ms = 0;
	if (from == WORKER_PAUSED && to != WORKER_PAUSED)
		worker->over_budget = worker->blocked = false;
	worker->status = to;
	worker->activity_ms = now_ms;
	if (to != from)
		worker->since_ms = now_ms;
	arrive(worker, from, words);
	return 0;
}

enum worker_status
worker_shown(const struct worker *worker)
{
	return worker->asks_id != NULL && worker_in_turn(worker->status) ?
	    WORKER_WAITING :
	    worker->status;
}

const char *
worker_shown_status(const struct worker *worker)
{
	return worker_status_name(worker_shown(worker));
}

void
worker_add_advice(const struct worker *worker, struct buf *out)
{
	const char *name = worker->name;

	if (worker->status == WORKER_NEEDS_REVIEW)
		buf_addf(out, "look at its work with: llmc review %s", name);
	else if (worker->status == WORKER_NO_CHANGES)
		buf_addf(out,
		    "its task ended without a change; tell it more with: llmc "
		    "message %s TEXT, or free it with: llmc reset %s",
		    name, name);
}

bool
worker_is_auto(const char *name)
{
	return strncmp(name, "auto-", strlen("auto-")) == 0 ||
	    worker_is_team(name);
}

bool
worker_is_team(const char *name)
{
	return strncmp(name, "team-", strlen("team-")) == 0;
}
