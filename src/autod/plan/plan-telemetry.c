/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "fleet.h"
#include "landing-record.h"
#include "mem.h"
#include "plan-bind.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "plan-telemetry.h"
#include "planner.h"
#include "said.h"
#include "strmap.h"
#include "transcript-tail.h"

#define SAMPLES_MAX 4 /* transcripts that one tick reads */

/* What a worker said last, and when. */
struct memory {
	char *worker;
	int64_t turn_ms; /* when its last turn began */
	int64_t reply_ms; /* when it ended */
	char *words;
};

/* What the facts of one assignment refer to. */
struct backing {
	struct said said;
	struct buf why;
};

struct plan_telemetry {
	struct plan_floor *floor;
	struct strmap by_worker;
	struct memory **memories;
	size_t memory_count;
	struct reconcile_telemetry out;
	int samples; /* transcripts that were read for it */
	struct reconcile_facts *facts;
	struct backing *backings;
	size_t count;
};

/* --- events ----------------------------------------------------------- */

static struct memory *
memory_of(struct plan_telemetry *telemetry, const char *worker)
{
	struct memory *m = strmap_get(&telemetry->by_worker, worker);

	if (m != NULL)
		return m;
	m = xcalloc(1, sizeof *m);
	m->worker = xstrdup(worker);
	telemetry->memories = xreallocarray(telemetry->memories,
	    telemetry->memory_count + 1, sizeof(struct memory *));
	telemetry->memories[telemetry->memory_count++] = m;
	strmap_add(&telemetry->by_worker, m->worker, m);
	return m;
}

static void
on_event(const struct event *event, void *arg)
{
	struct memory *m;

	if (event->worker == NULL)
		return;
	if (event->kind == EVENT_PROMPT_SUBMITTED) {
		memory_of(arg, event->worker)->turn_ms = event->at_ms;
	} else if (event->kind == EVENT_TURN_ENDED) {
		m = memory_of(arg, event->worker);
		m->reply_ms = event->at_ms;
		xstrset(&m->words, event->text);
	} else if (event->kind == EVENT_TASK_ASSIGNED) {
		/* What it said about another task does not count. */
		m = memory_of(arg, event->worker);
		m->reply_ms = m->turn_ms = 0;
		xstrset(&m->words, NULL);
	}
}

/* --- the last reply --------------------------------------------------- */

/* by_auto: auto mode has its task, and parks it with what it asks or what
 * blocks it. */
static void
read_reply(const struct memory *m, const struct plan_assignment *a, bool by_auto,
    struct reconcile_facts *facts, struct backing *backing)
{
	struct said *said = &backing->said;

	if (m == NULL)
		return;
	facts->turn_ms = m->turn_ms;
	if (m->words == NULL || m->reply_ms == 0)
		return;
	facts->reply_ms = m->reply_ms;
	said_read(&(struct said_sources){ .text = m->words,
		      .goal_id = a->goal_id,
		      .node_id = a->node_id },
	    said);
	if (by_auto &&
	    (said->what == SAID_BLOCKED || said->what == SAID_QUESTION))
		return;
	facts->update = said->update;
	if (said->fault.code != 0)
		facts->update_fault = said->fault.msg;
	facts->asked = said->what == SAID_QUESTION;
	if (facts->asked)
		facts->question = said->words;
}

/* --- who has it ------------------------------------------------------- */

/* Paused, and not for a question: a person, or a limit, says when it goes on;
 * or other agents do. */
static bool
waits_for_person(const struct worker *w)
{
	return w->status == WORKER_NEEDS_REVIEW || w->status == WORKER_ERROR ||
	    w->status == WORKER_WAITING ||
	    (w->status == WORKER_PAUSED && worker_holds(w) != 0);
}

static bool
is_busy(const struct plan_floor *floor, const struct agent *agent,
    const struct task *t)
{
	const struct worker *w = agent->worker;

	return agent_is_taken(agent) || w->status == WORKER_STARTING ||
	    w->status == WORKER_OFFLINE || w->status == WORKER_ACCEPTING ||
	    w->status == WORKER_LIMITED || w->session.step != PROMPT_NONE ||
	    (t != NULL &&
		landing_record_of_task(&floor->core->state.landings, t->id) !=
		    NULL);
}

static void
read_agent(struct plan_telemetry *telemetry, const struct plan_assignment *a,
    struct agent *agent, const struct task *t, struct reconcile_facts *facts,
    struct backing *backing)
{
	const struct worker *w = agent->worker;
	struct session_life life;
	int64_t now = clock_wall_ms();

	facts->in_turn = w->session.busy;
	facts->busy = is_busy(telemetry->floor, agent, t);
	facts->waiting = waits_for_person(w);
	facts->session_id = w->session.id;
	facts->run_id = a->run_id;
	session_life(agent->session, NULL, &life);
	if (life.quiet_ms < now)
		facts->activity_ms = now - life.quiet_ms;
	facts->talk = life.tool_ms > now - a->last_dispatch_ms;
	read_reply(
	    strmap_get(&telemetry->by_worker, w->name), a, t != NULL, facts,
	    backing);
}

static bool
was_sent(const struct plan_assignment *a)
{
	const struct plan_dispatch *d = plan_assignment_last(a);

	return d != NULL &&
	    (d->result == DISPATCH_ACCEPTED || d->result == DISPATCH_OK);
}

/* Is something about to be done about it? */
static bool
is_due(const struct plan_assignment *a, const struct reconcile_config *config,
    int64_t now)
{
	return reconcile_is_stale(a, config, now) &&
	    now >= a->backoff_until_ms &&
	    now - a->last_dispatch_ms >= config->min_resend_ms;
}

/* The others are due at the next tick. */
static void
sample(struct plan_telemetry *telemetry, const struct worker *w,
    struct reconcile_facts *facts, struct backing *backing)
{
	if (w->session.transcript == NULL)
		return;
	if (telemetry->samples == SAMPLES_MAX) {
		facts->busy = true;
		return;
	}
	telemetry->samples++;
	facts->sample =
	    transcript_tail_class(w->session.transcript, &backing->why);
	facts->sample_why = backing->why.len > 0 ? backing->why.data : NULL;
}

static void
read_one(struct plan_telemetry *telemetry, const struct plan_assignment *a,
    const struct reconcile_config *config, int64_t now,
    struct reconcile_facts *facts, struct backing *backing)
{
	struct plan_floor *floor = telemetry->floor;
	const struct task *t = plan_tasks_of(floor, a);
	const char *name = t != NULL ? t->worker : a->worker;
	struct agent *agent =
	    name != NULL ? fleet_find(floor->fleet, name) : NULL;

	*facts = (struct reconcile_facts){ .assignment_id = a->id };
	if (a->task != NULL && t == NULL) {
		facts->busy = true; /* its outcome is being stored */
		return;
	}
	if ((t != NULL && t->step != TASK_ASSIGNED) ||
	    plan_bind_wants_worker(plan_floor_set(floor), a)) {
		facts->waiting = true;
		return;
	}
	if (agent == NULL) {
		facts->lost = a->worker != NULL || t != NULL;
		return;
	}
	read_agent(telemetry, a, agent, t, facts, backing);
	/* However long that takes, the next step comes after it. */
	if (planner_is_replanning(floor->planner, a->goal_id, a->node_id))
		facts->busy = true;
	if (t == NULL && agent->worker->status == WORKER_IDLE && was_sent(a))
		facts->lost = true; /* it was reset, or given up */
	if (!facts->in_turn && !facts->busy && !facts->waiting &&
	    is_due(a, config, now))
		sample(telemetry, agent->worker, facts, backing);
}

/* --- all of them ------------------------------------------------------ */

static void
forget(struct plan_telemetry *telemetry)
{
	for (size_t i = 0; i < telemetry->count; i++) {
		said_release(&telemetry->backings[i].said);
		buf_release(&telemetry->backings[i].why);
	}
	free(take_ptr(&telemetry->facts));
	free(take_ptr(&telemetry->backings));
	telemetry->count = 0;
}

const struct reconcile_telemetry *
plan_telemetry_read(struct plan_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms)
{
	const struct plan_set *set = plan_floor_set(telemetry->floor);

	forget(telemetry);
	telemetry->samples = 0;
	telemetry->facts =
	    xcalloc(set->assignment_count + 1, sizeof *telemetry->facts);
	telemetry->backings =
	    xcalloc(set->assignment_count + 1, sizeof *telemetry->backings);
	for (size_t i = 0; i < set->assignment_count; i++) {
		size_t n = telemetry->count;

		if (!assignment_status_open(set->assignments[i]->status))
			continue;
		buf_init(&telemetry->backings[n].why);
		read_one(telemetry, set->assignments[i], config, now_ms,
		    &telemetry->facts[n], &telemetry->backings[n]);
		telemetry->count++;
	}
	telemetry->out = (struct reconcile_telemetry){
		.facts = telemetry->facts,
		.count = telemetry->count,
	};
	return &telemetry->out;
}

/* --- life ------------------------------------------------------------- */

struct plan_telemetry *
plan_telemetry_new(struct plan_floor *floor)
{
	struct plan_telemetry *telemetry = xcalloc(1, sizeof *telemetry);

	telemetry->floor = floor;
	emit_subscribe(floor->core, on_event, telemetry);
	return telemetry;
}

void
plan_telemetry_free(struct plan_telemetry *telemetry)
{
	if (telemetry == NULL)
		return;
	emit_unsubscribe(telemetry->floor->core, on_event, telemetry);
	forget(telemetry);
	strmap_release(&telemetry->by_worker);
	for (size_t i = 0; i < telemetry->memory_count; i++) {
		free(telemetry->memories[i]->worker);
		free(telemetry->memories[i]->words);
		free(telemetry->memories[i]);
	}
	free(telemetry->memories);
	free(telemetry);
}
