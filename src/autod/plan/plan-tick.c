/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "fleet.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "plan-private.h"
#include "plan.h"
#include "serve.h"
#include "settings.h"
#include "transcript.h"
#include "turn.h"

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
telemetry_on_event(const struct event *event, void *arg)
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

/* --- who has it ------------------------------------------------------- */

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
read_agent(struct plan_telemetry *telemetry, const struct plan_node *node,
    struct agent *agent, const struct task *t, struct reconcile_facts *facts,
    struct backing *backing)
{
	const struct worker *w = agent->worker;
	struct session_life life;
	int64_t now = clock_wall_ms();
	const struct memory *m;
	bool by_auto;
	struct said *said;

	facts->in_turn = w->session.busy;
	facts->busy = is_busy(telemetry->floor, agent, t);
	/* Paused, and not for a question: a person, or a limit, says when it
	 * goes on; or other agents do. */
	facts->waiting = w->status == WORKER_NEEDS_REVIEW ||
	    w->status == WORKER_ERROR || w->status == WORKER_WAITING ||
	    (w->status == WORKER_PAUSED && worker_holds(w) != 0);
	facts->session_id = w->session.id;
	facts->run_id = node->work.run_id;
	session_life(agent->session, NULL, &life);
	if (life.quiet_ms < now)
		facts->activity_ms = now - life.quiet_ms;
	facts->talk = life.tool_ms > now - node->work.last_dispatch_ms;
	/* by_auto: auto mode has its task, and parks it with what it asks or
	 * what blocks it. */
	m = strmap_get(&telemetry->by_worker, w->name);
	by_auto = t != NULL;
	said = &backing->said;
	if (m == NULL)
		return;
	facts->turn_ms = m->turn_ms;
	if (m->words == NULL || m->reply_ms == 0)
		return;
	facts->reply_ms = m->reply_ms;
	said_read(&(struct said_sources){ .text = m->words,
		      .goal_id = node->goal_id,
		      .node_id = node->id },
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

static bool
was_sent(const struct plan_node *node)
{
	const struct plan_dispatch *d = plan_node_last_dispatch(node);

	return d != NULL &&
	    (d->result == DISPATCH_ACCEPTED || d->result == DISPATCH_OK);
}

/* Is something about to be done about it? */
static bool
is_due(const struct plan_work *work, const struct reconcile_config *config,
    int64_t now)
{
	return reconcile_is_stale(work, config, now) &&
	    now >= work->backoff_until_ms &&
	    now - work->last_dispatch_ms >= config->min_resend_ms;
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
read_one(struct plan_telemetry *telemetry, const struct plan_node *node,
    const struct reconcile_config *config, int64_t now,
    struct reconcile_facts *facts, struct backing *backing)
{
	struct plan_floor *floor = telemetry->floor;
	const struct plan_work *work = &node->work;
	const struct task *t = plan_bind_task(floor, node);
	const char *name = t != NULL ? t->worker : work->worker;
	struct agent *agent =
	    name != NULL ? fleet_find(floor->fleet, name) : NULL;

	*facts = (struct reconcile_facts){ .assignment_id = work->id };
	if (work->task != NULL && t == NULL) {
		facts->busy = true; /* its outcome is being stored */
		return;
	}
	if ((t != NULL && t->step != TASK_ASSIGNED) ||
	    plan_bind_wants_worker(plan_floor_set(floor), node)) {
		facts->waiting = true;
		return;
	}
	if (agent == NULL) {
		facts->lost = work->worker != NULL || t != NULL;
		return;
	}
	read_agent(telemetry, node, agent, t, facts, backing);
	/* However long that takes, the next step comes after it. */
	if (planner_is_replanning(floor->planner, node->goal_id, node->id))
		facts->busy = true;
	if (t == NULL && agent->worker->status == WORKER_IDLE && was_sent(node))
		facts->lost = true; /* it was reset, or given up */
	if (!facts->in_turn && !facts->busy && !facts->waiting &&
	    is_due(work, config, now))
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

/* The facts about all open assignments; valid until the next call. */
static const struct reconcile_telemetry *
plan_telemetry_read(struct plan_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms)
{
	const struct plan_set *set = plan_floor_set(telemetry->floor);
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	size_t count = 0;

	forget(telemetry);
	telemetry->samples = 0;
	while (plan_set_next(set, &cursor) != NULL)
		count++;
	telemetry->facts = xcalloc(count + 1, sizeof *telemetry->facts);
	telemetry->backings = xcalloc(count + 1, sizeof *telemetry->backings);
	cursor = (struct plan_cursor){ 0 };
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		size_t n = telemetry->count;

		if (!plan_node_is_assigned(node))
			continue;
		buf_init(&telemetry->backings[n].why);
		read_one(telemetry, node, config, now_ms, &telemetry->facts[n],
		    &telemetry->backings[n]);
		telemetry->count++;
	}
	telemetry->out = (struct reconcile_telemetry){
		.facts = telemetry->facts,
		.count = telemetry->count,
	};
	return &telemetry->out;
}

/* --- life ------------------------------------------------------------- */

static void
plan_telemetry_free(struct plan_telemetry *telemetry)
{
	if (telemetry == NULL)
		return;
	emit_unsubscribe(telemetry->floor->core, telemetry_on_event, telemetry);
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

#define WAKE_MS   1000 /* between two ticks without a request */
#define NAMES_MAX 10 /* stalled assignments in an event */

struct plan_tick {
	struct plan_floor *floor;
	struct plan_telemetry *telemetry;
	bool begun;
	const char *woken; /* why; NULL = it is not */
	int64_t last_ms; /* monotonic */
	char *stalled; /* as last reported */
	struct loop_timer *timer, *wake;
	struct loop_call *call;
};

/* --- telling ---------------------------------------------------------- */

static void
tell_tick(struct plan_tick *tick, const struct reconcile_result *result,
    const char *reason, int64_t began)
{
	const char *gate = reconcile_gate_reason(result->gate);

	/* A tick that found nothing is not worth a record. */
	if (result->decision_count == 0 && result->event_count == 0 &&
	    gate == NULL)
		return;
	emit(tick->floor->core,
	    &(struct event){ .kind = EVENT_TICK,
		.count = (int64_t)result->decision_count,
		.duration_ms = clock_mono_ms() - began,
		.reason = gate != NULL ? gate : reason });
}

/* --- one tick --------------------------------------------------------- */

static void
carry_out(struct plan_tick *tick, const struct reconcile_result *result,
    const char *reason, int64_t began)
{
	struct plan_floor *floor = tick->floor;
	const struct plan_set *set;
	cleanup_buf struct buf names = BUF_INIT;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node = NULL;
	int count = 0;

	tick->last_ms = began;
	tell_tick(tick, result, reason, began);
	for (size_t i = 0; i < result->decision_count; i++) {
		const struct reconcile_decision *d = &result->decisions[i];

		emit(tick->floor->core,
		    &(struct event){ .kind = EVENT_ACTION,
			.goal = d->goal_id,
			.node = d->node_id,
			.assignment = d->assignment_id,
			.worker = d->worker,
			.action = reconcile_kind_words[d->kind],
			.reason = d->reason });
	}
	plan_apply(floor, result);
	/* Once for each set of them. */
	set = plan_floor_set(tick->floor);
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		if (node->work.status != ASSIGNMENT_STALLED)
			continue;
		if (count++ < NAMES_MAX)
			buf_addf(&names, "%s%s (%s)", names.len > 0 ? ", " : "",
			    node->work.id, node->id);
	}
	if (strcmp(names.data, tick->stalled != NULL ? tick->stalled : "") == 0)
		return;
	xstrset(&tick->stalled, names.data);
	if (count > 0)
		emit(tick->floor->core,
		    &(struct event){ .kind = EVENT_STALLED,
			.count = count,
			.text = names.data });
}

void
plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg)
{
	struct plan_tick *tick = floor->tick;
	struct plan_set copy = { 0 }, *set = plan_floor_set(floor);
	int64_t began = clock_mono_ms(), now = clock_wall_ms();
	struct reconcile_config config;
	struct reconcile_result result;

	if (dry_run) {
		plan_set_copy(set, &copy);
		set = &copy;
	}
	reconcile_config_read(floor->core->settings, &config);
	reconcile(set, plan_telemetry_read(tick->telemetry, &config, now),
	    &config, now, &result);
	if (!dry_run)
		carry_out(tick, &result, reason, began);
	if (fn != NULL)
		fn(&result, arg);
	reconcile_result_release(&result);
	plan_set_release(&copy);
}

/* --- when ------------------------------------------------------------- */

static void
on_timer(void *arg)
{
	struct plan_tick *tick = arg;

	if (persist_ready(tick->floor->core, NULL) == 0)
		plan_tick_now(tick->floor, "timer", false, NULL, NULL);
}

static void
on_wake(void *arg)
{
	struct plan_tick *tick = arg;
	const char *why = take_ptr(&tick->woken);

	if (why != NULL && persist_ready(tick->floor->core, NULL) == 0 &&
	    settings_bool(tick->floor->core->settings, "plan.enabled"))
		plan_tick_now(tick->floor, why, false, NULL, NULL);
}

static void
on_pass_end(void *arg)
{
	struct plan_tick *tick = arg;
	int64_t wait = tick->last_ms + WAKE_MS - clock_mono_ms();

	if (tick->last_ms == 0 || wait <= 0) {
		on_wake(tick);
		return;
	}
	loop_timer_set(
	    &tick->wake, tick->floor->core->loop, wait, on_wake, tick);
}

void
plan_tick_wake(struct plan_tick *tick, const char *reason)
{
	if (!tick->begun || tick->woken != NULL)
		return;
	tick->woken = reason;
	loop_call_request(tick->call);
}

static void
start_timer(struct plan_tick *tick)
{
	struct reconcile_config config;

	reconcile_config_read(tick->floor->core->settings, &config);
	loop_timer_free(take_ptr(&tick->timer));
	if (config.enabled && config.tick_every_ms > 0)
		tick->timer = loop_every(tick->floor->core->loop,
		    config.tick_every_ms, on_timer, tick);
}

static void
tick_on_event(const struct event *event, void *arg)
{
	struct plan_tick *tick = arg;

	switch (event->kind) {
	case EVENT_SETTINGS_READ:
		if (tick->begun)
			start_timer(tick);
		break;
	case EVENT_WORKER_MOVED:
	case EVENT_WORKER_LOST:
	case EVENT_TURN_ENDED:
	case EVENT_TURN_FAILED:
	case EVENT_PROMPT_SUBMITTED:
	case EVENT_TASK_FINISHED:
	case EVENT_STORE_WRITTEN:
		plan_tick_wake(tick, "event");
		break;
	default:
		break;
	}
}

/* --- life ------------------------------------------------------------- */

void
plan_tick_begin(struct plan_tick *tick)
{
	tick->begun = true;
	start_timer(tick);
	plan_tick_wake(tick, "start");
}

struct plan_tick *
plan_tick_new(struct plan_floor *floor)
{
	struct plan_tick *tick = xcalloc(1, sizeof *tick);
	struct plan_telemetry *telemetry;

	tick->floor = floor;
	/* Subscribes to the events of the core. */
	telemetry = xcalloc(1, sizeof *telemetry);
	telemetry->floor = floor;
	emit_subscribe(floor->core, telemetry_on_event, telemetry);
	tick->telemetry = telemetry;
	tick->call = loop_call_new(floor->core->loop, on_pass_end, tick);
	emit_subscribe(floor->core, tick_on_event, tick);
	return tick;
}

void
plan_tick_free(struct plan_tick *tick)
{
	if (tick == NULL)
		return;
	emit_unsubscribe(tick->floor->core, tick_on_event, tick);
	plan_telemetry_free(tick->telemetry);
	loop_timer_free(tick->timer);
	loop_timer_free(tick->wake);
	loop_call_free(tick->call);
	free(tick->stalled);
	free(tick);
}

/* --- the methods overseer.tick and .wake ------------------------------- */

static struct json_object *
decision_json(const struct reconcile_decision *d)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "kind", reconcile_kind_words[d->kind]);
	json_set_string(json, "code", d->code != NULL ? d->code : "");
	json_set_string(json, "reason", d->reason != NULL ? d->reason : "");
	json_set_string(json, "goal", d->goal_id);
	json_set_string(json, "node", d->node_id);
	json_set_string(json, "assignment", d->assignment_id);
	json_set_string(json, "worker", d->worker);
	json_set_string(json, "dispatch", d->dispatch_id);
	json_set_string(json, "text", d->text);
	return json;
}

static void
on_ticked(const struct reconcile_result *result, void *arg)
{
	struct json_object *json = json_object_new_object(), **ret = arg;
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < result->decision_count; i++)
		json_object_array_add(
		    list, decision_json(&result->decisions[i]));
	json_set_string(json, "gate", reconcile_gate_reason(result->gate));
	json_set(json, "decisions", list);
	*ret = json;
}

static void
on_tick_call(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;
	bool dry_run = json_bool_or(params, "dry_run", false);
	struct json_object *result = NULL;

	if (dry_run ? !plan_call_begin(floor, call) :
		      !plan_call_begin_change(floor, call))
		return;
	plan_tick_now(
	    floor, "asked for by a person", dry_run, on_ticked, &result);
	/* The decisions are carried out before that. */
	plan_call_answer(floor, call, NULL, result);
}

static void
on_wake_call(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	(void)params;
	if (!plan_call_begin(floor, call))
		return;
	plan_tick_wake(floor->tick, "woken by a person");
	serve_reply(floor->core, call, NULL);
}

void
plan_tick_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.tick", on_tick_call, floor);
	serve_handle(floor->core, "overseer.wake", on_wake_call, floor);
}
