/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "emit.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "plan-digest.h"
#include "plan-floor.h"
#include "plan-shown.h"

struct plan_shown {
	struct plan_floor *floor;
	struct loop_call *call;
};

static struct json_object *
digest(const struct plan_floor *floor)
{
	switch (floor->state) {
	case PLAN_OPEN:
		return plan_digest(plan_floor_set(floor), NULL);
	case PLAN_SAFE:
		return plan_digest(NULL, floor->why);
	case PLAN_OFF:
	case PLAN_OPENING:
	case PLAN_JOB:
		break;
	}
	return NULL;
}

static void
on_pass_end(void *arg)
{
	struct plan_shown *shown = arg;
	struct core *core = shown->floor->core;
	struct json_object *json = digest(shown->floor);

	if (json_object_equal(json, core->state.goals)) {
		json_object_put(json);
		return;
	}
	json_object_put(core->state.goals);
	core->state.goals = json;
	persist_changed(core);
}

void
plan_shown_changed(struct plan_shown *shown)
{
	loop_call_request(shown->call);
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->goal != NULL)
		plan_shown_changed(arg);
}

struct plan_shown *
plan_shown_new(struct plan_floor *floor)
{
	struct plan_shown *shown = xcalloc(1, sizeof *shown);

	shown->floor = floor;
	shown->call = loop_call_new(floor->core->loop, on_pass_end, shown);
	emit_subscribe(floor->core, on_event, shown);
	return shown;
}

void
plan_shown_free(struct plan_shown *shown)
{
	if (shown == NULL)
		return;
	emit_unsubscribe(shown->floor->core, on_event, shown);
	loop_call_free(shown->call);
	free(shown);
}
