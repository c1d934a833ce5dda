/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "behaviour.h"
#include "buf.h"
#include "emit.h"
#include "hand-task.h"
#include "errtext.h"
#include "fleet.h"
#include "intervene-text.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "op-park-task.h"
#include "oversight-abort.h"
#include "oversight-act.h"
#include "oversight-floor.h"
#include "oversight-tell.h"
#include "persist.h"
#include "watched.h"

static void
tell(const struct oversight_floor *floor, const char *worker,
    const struct watched *w, const struct detection *d, enum intervention level)
{
	emit(floor->core,
	    &(struct event){ .kind = EVENT_OVERSIGHT,
		.worker = worker,
		.task = hand_task_worker(w->task) == NULL ? w->task : NULL,
		.class = detection_type_words[d->type],
		.action = intervention_words[level],
		.reason = d->message });
}

/* Is the pattern there? Then describe it. */
static bool
describe_any(const struct watched *w, int type, struct detection *ret_detection)
{
	if (behaviour_severity(w->behaviour, (enum detection_type)type) ==
	    SEVERITY_NONE)
		return false;
	behaviour_describe(
	    w->behaviour, (enum detection_type)type, ret_detection);
	return true;
}

/* Is something of this type due, and not being delivered? */
static bool
describe(const struct watched *w, int type, struct detection *ret_detection)
{
	return w->due[type] != INTERVENTION_NONE &&
	    w->giving[type].level == INTERVENTION_NONE &&
	    describe_any(w, type, ret_detection);
}

static void
deliver(const struct oversight_floor *floor, struct watched *w,
    const char *worker, const struct detection *d)
{
	tell(floor, worker, w, d, w->due[d->type]);
	watched_delivered(w, worker, d);
}

/* --- delivered, then recorded ---------------------------------------- */

/* Is it part of a prompt, or of an answer to a hook? */
static bool
is_said(const struct watched_giving *giving)
{
	return giving->level != INTERVENTION_NONE &&
	    giving->level < INTERVENTION_PAUSE && !giving->context;
}

void
oversight_act_replaced(struct watched *w)
{
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (is_said(&w->giving[i]))
			w->giving[i] = (struct watched_giving){ 0 };
}

void
oversight_act_given(struct oversight_floor *floor, struct watched *w,
    const char *worker, bool parked)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		/* A pause is recorded when the task is parked. */
		if (w->giving[i].level == INTERVENTION_NONE ||
		    w->giving[i].level == INTERVENTION_PAUSE ||
		    (parked && is_said(&w->giving[i])))
			continue;
		if (describe_any(w, i, &d)) {
			deliver(floor, w, worker, &d);
			detection_release(&d);
		}
		w->giving[i] = (struct watched_giving){ 0 };
	}
}

/* What waited for the state (answers, too) has been done in this pass. */
static void
on_saved(void *arg)
{
	const struct oversight_floor *floor = arg;

	loop_call_request(floor->given);
}

/* text: NULL = what was found. */
static void
tell_people(const struct oversight_floor *floor, const struct watched *w,
    const char *worker, const struct detection *d, const char *text)
{
	cleanup_buf struct buf reason = BUF_INIT;

	intervene_reason(d, &reason);
	oversight_tell(floor, w, worker, d, w->due[d->type],
	    text != NULL ? text : reason.data);
}

/* Whoever dies before it is recorded does it again; never not at all. text: for
 * people. */
static void
give(struct oversight_floor *floor, struct watched *w, const char *worker,
    const struct detection *d, const char *text, bool context)
{
	tell_people(floor, w, worker, d, text);
	w->giving[d->type] =
	    (struct watched_giving){ w->due[d->type], context };
	persist_then(floor->core, floor, on_saved, floor);
}

void
oversight_act_log(
    struct oversight_floor *floor, struct watched *w, const struct agent *agent)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] != INTERVENTION_LOG || !describe(w, i, &d))
			continue;
		tell_people(floor, w, agent->worker->name, &d, NULL);
		deliver(floor, w, agent->worker->name, &d);
		detection_release(&d);
	}
}

static void
add_text(const struct agent *agent, const struct detection *d,
    enum intervention level, struct buf *out)
{
	const struct task *t = auto_task(agent);

	if (out->len > 0)
		buf_adds(out, "\n\n");
	if (level == INTERVENTION_REDIRECT)
		intervene_redirection(d, t != NULL ? t->text : NULL, out);
	else
		intervene_warning(d, out);
}

static void
add_texts(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, enum intervention level, bool context,
    struct buf *out)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] != level || !describe(w, i, &d))
			continue;
		add_text(agent, &d, level, out);
		give(floor, w, agent->worker->name, &d, NULL, context);
		detection_release(&d);
	}
}

void
oversight_act_add(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, bool context, struct buf *out)
{
	add_texts(floor, w, agent, INTERVENTION_REDIRECT, context, out);
	add_texts(floor, w, agent, INTERVENTION_WARN, context, out);
}

void
oversight_act_again(const struct oversight_floor *floor,
    const struct watched *w, const struct agent *agent, struct buf *out)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (!watched_is_vain(w, (enum detection_type)i) ||
		    !describe_any(w, i, &d))
			continue;
		add_text(agent, &d, INTERVENTION_REDIRECT, out);
		tell(floor, agent->worker->name, w, &d, INTERVENTION_REDIRECT);
		detection_release(&d);
	}
}

/* --- pause ----------------------------------------------------------- */

/* As at a budget: the task waits for a person, and its worker does another
 * one. */
static bool
park(struct oversight_floor *floor, struct watched *w, struct agent *agent,
    const struct detection *d)
{
	cleanup_buf struct buf reason = BUF_INIT;
	const struct task *t = auto_task(agent);

	if (t == NULL || t->step != TASK_ASSIGNED ||
	    !auto_drives(floor->mode, agent) ||
	    !worker_in_turn(agent->worker->status))
		return false;
	buf_adds(&reason, "stopped by oversight: ");
	intervene_reason(d, &reason);
	buf_addf(&reason,
	    "; look at it with: llmc iterations %s, continue with: llmc resume "
	    "%s --note TEXT",
	    t->id, t->id);
	give(floor, w, agent->worker->name, d, reason.data, false);
	op_park_task(floor->mode, agent, reason.data);
	return true;
}

static const struct task *
parked_task(const struct oversight_floor *floor, const struct watched *w)
{
	const struct task *t = state_task(&floor->core->state, w->task);

	return t != NULL && t->step == TASK_PARKED ? t : NULL;
}

static void
on_parked(void *arg)
{
	struct oversight_floor *floor = arg;
	struct watched *w = NULL;

	LIST_FOREACH (w, &floor->watched, entry) {
		const struct task *t = parked_task(floor, w);

		for (int i = 0; t != NULL && i < DETECTION_TYPES; i++) {
			struct detection d;

			if (w->due[i] != INTERVENTION_PAUSE ||
			    !describe_any(w, i, &d))
				continue;
			deliver(floor, w, t->worker, &d);
			detection_release(&d);
		}
	}
}

/* Nobody is about to park it any more: it is due again. */
static void
give_up(const struct oversight_floor *floor, struct watched *w)
{
	const struct task *t = state_task(&floor->core->state, w->task);
	const struct agent *agent = t != NULL && t->worker != NULL ?
	    fleet_find(floor->fleet, t->worker) :
	    NULL;

	if (agent != NULL && auto_task(agent) == t && agent_is_taken(agent))
		return;
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->giving[i].level == INTERVENTION_PAUSE)
			w->giving[i] = (struct watched_giving){ 0 };
}

void
oversight_act_parked(struct oversight_floor *floor)
{
	struct watched *w = NULL;
	bool any = false;

	LIST_FOREACH (w, &floor->watched, entry) {
		if (!watched_waits(w))
			continue;
		if (parked_task(floor, w) != NULL)
			any = true;
		else
			give_up(floor, w);
	}
	if (any)
		persist_then(floor->core, floor, on_parked, floor);
}

/* --- abort ----------------------------------------------------------- */

static bool
abort_task(struct oversight_floor *floor, struct watched *w,
    struct agent *agent, const struct detection *d)
{
	cleanup_buf struct buf why = BUF_INIT;
	struct task *t = auto_task(agent);
	struct err err = { 0 };
	int r;

	if (t == NULL || t->step != TASK_ASSIGNED)
		return false;
	intervene_reason(d, &why);
	floor->aborting = w;
	floor->abort_cause = d;
	r = oversight_abort(floor, t,
	    &(struct oversight_abort){
		.actor = "oversight", .why = why.data, .detection = d },
	    &err);
	floor->aborting = NULL;
	floor->abort_cause = NULL;
	if (r < 0) {
		log_debug("%s", err.msg); /* tried again */
		return false;
	}
	/* People know already. */
	deliver(floor, w, agent->worker->name, d);
	oversight_abort_keep_iterations(floor, w->task);
	oversight_floor_forget(w);
	return true;
}

bool
oversight_act_stop(
    struct oversight_floor *floor, struct watched *w, struct agent *agent)
{
	enum detection_type type = DETECTION_STUCK;
	enum intervention level = watched_due(w, &type);
	struct detection d;
	bool done;

	if (level < INTERVENTION_PAUSE || agent_is_taken(agent) ||
	    floor->core->stopping || !describe(w, (int)type, &d))
		return false;
	done = level == INTERVENTION_PAUSE ? park(floor, w, agent, &d) :
					     abort_task(floor, w, agent, &d);
	detection_release(&d);
	return done;
}
