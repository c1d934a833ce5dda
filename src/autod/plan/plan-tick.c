/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "plan-apply.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-telemetry.h"
#include "plan-tick.h"
#include "reconcile.h"
#include "serve.h"
#include "settings.h"

#define WAKE_MS   1000 /* between two ticks that nobody asked for */
#define NAMES_MAX 10 /* stalled assignments in an event */

struct plan_tick {
	struct plan_floor *floor;
	struct plan_telemetry *telemetry;
	bool begun;
	const char *woken; /* why; NULL = it is not */
	int64_t last_ms; /* monotonic */
	char *stalled; /* as last told */
	struct loop_timer *timer, *wake;
	struct loop_call *call;
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
	    plan_telemetry_read(tick->telemetry, &config, now), &config, now,
	    ret_result);
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
	reconcile(copy, plan_telemetry_read(tick->telemetry, &config, now),
	    &config, now, ret_result);
}

void
plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg)
{
	struct reconcile_result result;
	struct plan_set copy = { 0 };

	if (dry_run)
		run_dry(floor->tick, &result, &copy);
	else
		run(floor->tick, reason, &result);
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
	tick->telemetry = plan_telemetry_new(floor);
	tick->call = loop_call_new(floor->core->loop, on_pass_end, tick);
	emit_subscribe(floor->core, on_event, tick);
	return tick;
}

void
plan_tick_free(struct plan_tick *tick)
{
	if (tick == NULL)
		return;
	emit_unsubscribe(tick->floor->core, on_event, tick);
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
