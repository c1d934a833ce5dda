/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "behaviour.h"
#include "buf.h"
#include "emit.h"
#include "errtext.h"
#include "hold.h"
#include "intervene-text.h"
#include "log.h"
#include "mem.h"
#include "oversight-abort.h"
#include "oversight-act.h"
#include "oversight-floor.h"
#include "oversight-tell.h"
#include "watched.h"

static void
tell(const struct oversight_floor *floor, const struct agent *agent,
    const struct watched *w, const struct detection *d)
{
	emit(floor->core,
	    &(struct event){ .kind = EVENT_OVERSIGHT,
		.worker = agent->worker->name,
		.task = w->task,
		.class = detection_type_words[d->type],
		.action = intervention_words[w->due[d->type]],
		.reason = d->message });
}

/* Is something of this type due? Then describe it. */
static bool
describe(const struct watched *w, int type, struct detection *ret_detection)
{
	if (w->due[type] == INTERVENTION_NONE ||
	    behaviour_severity(w->behaviour, (enum detection_type)type) ==
		SEVERITY_NONE)
		return false;
	behaviour_describe(
	    w->behaviour, (enum detection_type)type, ret_detection);
	return true;
}

/* text: for people, NULL = what was found. Of an abort they know already. */
static void
deliver(const struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, const struct detection *d, const char *text)
{
	cleanup_buf struct buf reason = BUF_INIT;
	enum intervention level = w->due[d->type];

	intervene_reason(d, &reason);
	tell(floor, agent, w, d);
	if (level != INTERVENTION_ABORT)
		oversight_tell(floor, w, agent->worker->name, d, level,
		    text != NULL ? text : reason.data);
	watched_delivered(w, agent->worker->name, d);
}

void
oversight_act_log(
    struct oversight_floor *floor, struct watched *w, const struct agent *agent)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] != INTERVENTION_LOG || !describe(w, i, &d))
			continue;
		deliver(floor, w, agent, &d, NULL);
		detection_release(&d);
	}
}

/* Another approach comes before warnings. */
static void
add_texts(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, enum intervention level, struct buf *out)
{
	const struct task *t = auto_task(agent);

	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] != level || !describe(w, i, &d))
			continue;
		if (out->len > 0)
			buf_adds(out, "\n\n");
		if (level == INTERVENTION_REDIRECT)
			intervene_redirection(
			    &d, t != NULL ? t->text : NULL, out);
		else
			intervene_warning(&d, out);
		deliver(floor, w, agent, &d, NULL);
		detection_release(&d);
	}
}

void
oversight_act_preface(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, struct buf *out)
{
	add_texts(floor, w, agent, INTERVENTION_REDIRECT, out);
	add_texts(floor, w, agent, INTERVENTION_WARN, out);
}

/* --- pause ----------------------------------------------------------- */

static bool
pause_worker(struct oversight_floor *floor, struct watched *w,
    struct agent *agent, const struct detection *d, const char *words)
{
	cleanup_buf struct buf reason = BUF_INIT;
	const char *name = agent->worker->name;

	buf_adds(&reason, "paused by oversight: ");
	intervene_reason(d, &reason);
	buf_addf(&reason,
	    "; look at it with: llmc iterations %s, continue with: llmc resume "
	    "%s",
	    w->task, name);
	/* It was paused just before the daemon died. */
	if (!agent->worker->oversight &&
	    !hold_for_oversight(agent, reason.data, words))
		return false;
	deliver(floor, w, agent, d, reason.data);
	return true;
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
	    &(struct oversight_abort){ "oversight", why.data, d }, &err);
	floor->aborting = NULL;
	floor->abort_cause = NULL;
	if (r < 0) {
		log_debug("%s", err.msg); /* tried again */
		return false;
	}
	deliver(floor, w, agent, d, NULL);
	oversight_abort_keep_iterations(floor, w->task);
	oversight_floor_forget(w);
	return true;
}

bool
oversight_act_stop(struct oversight_floor *floor, struct watched *w,
    struct agent *agent, const char *words)
{
	enum detection_type type = DETECTION_STUCK;
	enum intervention level = watched_due(w, &type);
	struct detection d;
	bool done;

	if (level < INTERVENTION_PAUSE || agent_is_taken(agent) ||
	    floor->core->stopping || !describe(w, (int)type, &d))
		return false;
	done = level == INTERVENTION_PAUSE ?
	    pause_worker(floor, w, agent, &d, words) :
	    abort_task(floor, w, agent, &d);
	detection_release(&d);
	return done;
}
