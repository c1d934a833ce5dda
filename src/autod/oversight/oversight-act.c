/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto.h"
#include "behaviour.h"
#include "emit.h"
#include "error-signature.h"
#include "fleet.h"
#include "iteration.h"
#include "ladder.h"
#include "loop.h"
#include "notice.h"
#include "outcome.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "persist.h"
#include "person.h"
#include "task.h"
#include "watched.h"

/* --- people -------------------------------------------------------------- */

static const char *const titles[STEP_COUNT] = {
	[STEP_NONE] = "oversight has seen something",
	[STEP_LOG] = "oversight has seen something",
	[STEP_WARN] = "oversight has warned a worker",
	[STEP_REDIRECT] = "oversight has redirected a worker",
	[STEP_RESTART] = "oversight has begun a fresh session",
	[STEP_RETRY] = "oversight has begun a new attempt",
	[STEP_PAUSE] = "oversight has parked a task",
};

/* Words that llmc answer knows as --yes and --no. */
static const char *const choices[] = { "continue", "abort", NULL };

void
oversight_tell(const struct oversight_floor *floor, const struct watched *w,
    const char *worker, const struct detection *d, enum progress_step level,
    const char *text)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_json struct json_object *detection = detection_to_json(d);
	const struct task *t = state_task(&floor->core->state, w->task);
	cleanup_free char *event =
	    xasprintf("oversight/%s/%" PRId64 "/%s/%s", w->task, w->count,
		detection_type_words[d->type], progress_step_words[level]);
	struct escalation what = { .event = event,
		.asked = level >= STEP_PAUSE,
		.title = titles[level],
		.text = text,
		.worker = worker,
		.task = w->task,
		.task_title = t != NULL ? t->title : NULL,
		.iteration = w->count,
		.intervention = progress_step_words[level],
		.detection = detection,
		.options = level == STEP_PAUSE ? choices : NULL };
	const char *task;
	const char *error;

	if (hand_task_worker(w->task) != NULL ||
	    !escalation_of_intervention(progress_step_words[level],
		severity_words[d->severity], &what.level))
		return;
	/* The same error of several workers is one failure; anything else is
	 * one of its task. */
	task = w->task;
	error = json_string_or(d->evidence, "repeatedError", "");
	buf_addf(&signature, "oversight %s ", detection_type_words[d->type]);
	if (d->type == DETECTION_STUCK && *error != '\0')
		error_signature(error, strlen(error), &signature);
	else
		buf_adds(&signature, task);
	what.signature = signature.data;
	if (level >= STEP_PAUSE)
		what.class = notice_name(NOTICE_TASK);
	person_escalate(floor->core, &what);
}

/* --- several workers -------------------------------------------------- */

static const char all_workers[] = "fleet"; /* not a type of detection */

/* One event, and one message to people, not one for each worker. */
static void
tell_of_fleet(
    const struct oversight_floor *floor, size_t workers, const char *error)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_free char *reason =
	    xasprintf("%zu workers have the same error: %.200s; look at them "
		      "with: llmc status",
		workers, error);

	EMIT(floor->core, EVENT_OVERSIGHT, .class = all_workers,
	    .action = "log", .reason = reason);
	if (floor->config.mode == OVERSIGHT_OBSERVE)
		return;
	error_signature(error, strlen(error), &signature);
	person_tell(floor->core,
	    &(struct notice){ .class = NOTICE_WORKER,
		.what = "several workers have the same error",
		.why = reason,
		.signature = signature.data });
}

void
oversight_tell_fleet(struct oversight_floor *floor, const char *worker,
    const struct iteration *it)
{
	for (size_t i = 0; i < strv_count(it->errors); i++) {
		uint64_t hash =
		    error_signature_hash(it->errors[i], strlen(it->errors[i]));
		size_t workers = 0;

		if (hash != 0 && fleet_pattern_is_shared(it->errors[i]))
			workers = fleet_pattern_see(
			    &floor->pattern, hash, worker, clock_mono_ms());
		if (workers > 0)
			tell_of_fleet(floor, workers, it->errors[i]);
	}
}

/* --- what is due ---------------------------------------------------------- */

static bool
is_observed(const struct oversight_floor *floor)
{
	return floor->config.mode == OVERSIGHT_OBSERVE;
}

static void
tell(const struct oversight_floor *floor, const char *worker,
    const struct watched *w, const struct detection *d,
    enum progress_step level)
{
	cleanup_free char *observed = is_observed(floor) && level > STEP_LOG ?
	    xasprintf("only observed: %s", d->message) :
	    NULL;

	EMIT(floor->core, EVENT_OVERSIGHT, .worker = worker,
	    .task = hand_task_worker(w->task) == NULL ? w->task : NULL,
	    .class = detection_type_words[d->type],
	    .action = progress_step_words[level],
	    .reason = observed != NULL ? observed : d->message);
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
	return w->due[type] != STEP_NONE &&
	    w->giving[type].level == STEP_NONE &&
	    describe_any(w, type, ret_detection);
}

static void
deliver(const struct oversight_floor *floor, struct watched *w,
    const char *worker, const struct detection *d)
{
	tell(floor, worker, w, d, w->due[d->type]);
	watched_delivered(w, worker, d, is_observed(floor));
}

/* --- delivered, then recorded ---------------------------------------- */

/* Is it part of a prompt, or of an answer to a hook? */
static bool
is_said(const struct watched_giving *giving)
{
	return giving->level != STEP_NONE && giving->level < STEP_PAUSE &&
	    !giving->context;
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
		if (w->giving[i].level == STEP_NONE ||
		    w->giving[i].level == STEP_PAUSE ||
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

	progress_reason(d, &reason);
	oversight_tell(floor, w, worker, d, w->due[d->type],
	    text != NULL ? text : reason.data);
}

/* A daemon that dies before it is recorded does it again. text: for
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

		if ((w->due[i] != STEP_LOG && !is_observed(floor)) ||
		    !describe(w, i, &d))
			continue;
		if (!is_observed(floor))
			tell_people(floor, w, agent->worker->name, &d, NULL);
		deliver(floor, w, agent->worker->name, &d);
		detection_release(&d);
	}
}

static void
add_text(const struct agent *agent, const struct detection *d,
    enum progress_step level, struct buf *out)
{
	const struct task *t = auto_task(agent);

	if (out->len > 0)
		buf_adds(out, "\n\n");
	if (level == STEP_REDIRECT)
		progress_redirection(d, t != NULL ? t->text : NULL, out);
	else
		progress_warning(d, out);
}

static void
add_texts(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, enum progress_step level, bool context,
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
	add_texts(floor, w, agent, STEP_REDIRECT, context, out);
	add_texts(floor, w, agent, STEP_WARN, context, out);
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
		add_text(agent, &d, STEP_REDIRECT, out);
		tell(floor, agent->worker->name, w, &d, STEP_REDIRECT);
		detection_release(&d);
	}
}

/* --- pause ----------------------------------------------------------- */

/* As at a budget: the task waits for a person, and its worker does another
 * one. */
static void
park(struct oversight_floor *floor, struct watched *w, struct agent *agent,
    const struct detection *d)
{
	cleanup_buf struct buf reason = BUF_INIT;
	const struct task *t = auto_task(agent);

	buf_adds(&reason, "stopped by oversight: ");
	progress_reason(d, &reason);
	buf_addf(&reason,
	    "; look at it with: llmc task iterations %s, continue with: llmc resume "
	    "%s --note TEXT",
	    t->id, t->id);
	give(floor, w, agent->worker->name, d, reason.data, false);
	op_park_task(floor->mode, agent, ASK_FAILURE, reason.data);
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

			if (w->due[i] != STEP_PAUSE || !describe_any(w, i, &d))
				continue;
			deliver(floor, w, t->worker, &d);
			detection_release(&d);
		}
	}
}

/* It is not about to be parked any more: it is due again. */
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
		if (w->giving[i].level == STEP_PAUSE)
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

/* --- a fresh session, a new attempt ----------------------------------- */

/* What the next worker of the task must know. words: what this worker would get
 * now; NULL = what the check printed last. */
static void
add_learned(const struct watched *w, const struct detection *d,
    const char *last_words, const char *words, struct buf *out)
{
	progress_learned(
	    d, last_words, words != NULL ? words : w->failure, out);
}

bool
oversight_act_stop(struct oversight_floor *floor, struct watched *w,
    struct agent *agent, const char *words)
{
	enum detection_type type = DETECTION_STUCK;
	enum progress_step step = watched_due(w, &type);
	const struct task *t = auto_task(agent);
	struct detection d;
	bool on;

	if (step < STEP_RESTART || agent_is_taken(agent) ||
	    floor->core->stopping || t == NULL || t->step != TASK_ASSIGNED ||
	    !auto_drives(floor->mode, agent) ||
	    !worker_in_turn(agent->worker->status) ||
	    !describe(w, (int)type, &d))
		return false;
	on = step == STEP_PAUSE && type != DETECTION_RESOURCE_BURN &&
	    outcome_is_handed_on(floor->mode, t);
	if (step == STEP_RESTART) {
		cleanup_buf struct buf text = BUF_INIT;

		agent_task_text(agent, &text);
		buf_adds(&text, "\n\n");
		add_learned(w, &d, auto_task(agent)->last_words, words, &text);
		buf_adds(&text,
		    "\nThe worktree has the work so far: keep what is right.\n");
		give(floor, w, agent->worker->name, &d, NULL, false);
		if (agent->worker->session.busy)
			agent_interrupt(agent);
		agent_prompt(agent, text.data, true, agent->worker->status);
	} else if (step == STEP_RETRY || on) {
		cleanup_buf struct buf reason = BUF_INIT;

		w->due[type] = STEP_RETRY;
		/* The watched task may be gone then. Its prompt has the last
		 * words. on: no attempt is to follow, but what the plan says.
		 */
		add_learned(w, &d, NULL, words, &reason);
		tell_people(floor, w, agent->worker->name, &d, NULL);
		deliver(floor, w, agent->worker->name, &d);
		if (on)
			outcome_hand_on(floor->mode, agent, reason.data);
		else
			outcome_attempt_stuck(floor->mode, agent, reason.data);
	} else {
		park(floor, w, agent, &d);
	}
	detection_release(&d);
	return true;
}
