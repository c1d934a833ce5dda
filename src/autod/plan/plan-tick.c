/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "loop.h"
#include "mem.h"
#include "plan-apply.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-set.h"
#include "plan-telemetry.h"
#include "plan-tick.h"
#include "reconcile.h"
#include "settings.h"

#define WAKE_MS   1000 /* between two ticks that nobody asked for */
#define NAMES_MAX 10 /* stalled assignments in an event */

/* A tick that is being stored, for somebody who waits. */
struct asked {
	TAILQ_ENTRY(asked) entry;
	struct plan_tick *tick;
	struct reconcile_result result;
	plan_tick_fn *fn;
	void *arg;
};

TAILQ_HEAD(asked_list, asked);

struct plan_tick {
	struct plan_floor *floor;
	struct plan_telemetry *telemetry;
	bool begun;
	const char *woken; /* why; NULL = it is not */
	int64_t last_ms; /* monotonic */
	char *stalled; /* as last told */
	struct loop_timer *timer, *wake;
	struct loop_call *call;
	struct asked_list asked;
};

/* --- telling ---------------------------------------------------------- */

static void
tell_actions(struct plan_tick *tick, const struct reconcile_result *result)
{
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
}

/* Once for each set of them. */
static void
tell_stalled(struct plan_tick *tick)
{
	const struct plan_set *set = plan_floor_set(tick->floor);
	cleanup_buf struct buf names = BUF_INIT;
	int count = 0;

	for (size_t i = 0; i < set->assignment_count; i++) {
		const struct plan_assignment *a = set->assignments[i];

		if (a->status != ASSIGNMENT_STALLED)
			continue;
		if (count++ < NAMES_MAX)
			buf_addf(&names, "%s%s (%s)", names.len > 0 ? ", " : "",
			    a->id, a->node_id);
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
run(struct plan_tick *tick, const char *reason,
    struct reconcile_result *ret_result)
{
	struct plan_floor *floor = tick->floor;
	int64_t began = clock_mono_ms(), now = clock_wall_ms();
	struct reconcile_config config;

	tick->last_ms = began;
	reconcile_config_read(floor->core->settings, &config);
	reconcile(plan_floor_set(floor),
	    plan_telemetry_read(tick->telemetry, &config, now, false), &config,
	    now, ret_result);
	tell_tick(tick, ret_result, reason, began);
	tell_actions(tick, ret_result);
	plan_apply(floor, ret_result);
	tell_stalled(tick);
}

static void
run_dry(struct plan_tick *tick, struct reconcile_result *ret_result,
    struct plan_set *copy)
{
	struct plan_floor *floor = tick->floor;
	int64_t now = clock_wall_ms();
	struct reconcile_config config;

	reconcile_config_read(floor->core->settings, &config);
	plan_set_copy(plan_floor_set(floor), copy);
	reconcile(copy,
	    plan_telemetry_read(tick->telemetry, &config, now, true), &config,
	    now, ret_result);
}

static void
asked_free(struct asked *asked)
{
	TAILQ_REMOVE(&asked->tick->asked, asked, entry);
	reconcile_result_release(&asked->result);
	free(asked);
}

static void
on_stored(const struct err *err, void *arg)
{
	struct asked *asked = arg;

	(void)err; /* it is about all goals */
	asked->fn(&asked->result, asked->arg);
	asked_free(asked);
}

void
plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg)
{
	struct plan_tick *tick = floor->tick;
	struct reconcile_result result;
	struct plan_set copy;
	struct asked *asked;

	if (dry_run) {
		run_dry(tick, &result, &copy);
		if (fn != NULL)
			fn(&result, arg);
		reconcile_result_release(&result);
		plan_set_release(&copy);
		return;
	}
	run(tick, reason, &result);
	if (fn == NULL) {
		reconcile_result_release(&result);
		return;
	}
	asked = xcalloc(1, sizeof *asked);
	asked->tick = tick;
	/* A goal may be read again before this is stored. */
	reconcile_result_let_go(&result);
	asked->result = result;
	asked->fn = fn;
	asked->arg = arg;
	TAILQ_INSERT_TAIL(&tick->asked, asked, entry);
	plan_persist_then(
	    plan_floor_persist(floor), tick, NULL, on_stored, asked);
}

/* --- when ------------------------------------------------------------- */

static void
on_timer(void *arg)
{
	struct plan_tick *tick = arg;

	if (plan_persist_ready(plan_floor_persist(tick->floor), NULL) == 0)
		plan_tick_now(tick->floor, "timer", false, NULL, NULL);
}

static void
on_wake(void *arg)
{
	struct plan_tick *tick = arg;
	const char *why = take_ptr(&tick->woken);

	if (why != NULL &&
	    plan_persist_ready(plan_floor_persist(tick->floor), NULL) == 0 &&
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
	loop_timer_free(tick->wake);
	tick->wake = loop_after(tick->floor->core->loop, wait, on_wake, tick);
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
on_event(const struct event *event, void *arg)
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

	tick->floor = floor;
	TAILQ_INIT(&tick->asked);
	tick->telemetry = plan_telemetry_new(floor);
	tick->call = loop_call_new(floor->core->loop, on_pass_end, tick);
	emit_subscribe(floor->core, on_event, tick);
	return tick;
}

void
plan_tick_free(struct plan_tick *tick)
{
	struct asked *asked;

	if (tick == NULL)
		return;
	emit_unsubscribe(tick->floor->core, on_event, tick);
	plan_persist_forget(plan_floor_persist(tick->floor), tick);
	while ((asked = TAILQ_FIRST(&tick->asked)) != NULL)
		asked_free(asked);
	plan_telemetry_free(tick->telemetry);
	loop_timer_free(tick->timer);
	loop_timer_free(tick->wake);
	loop_call_free(tick->call);
	free(tick->stalled);
	free(tick);
}
