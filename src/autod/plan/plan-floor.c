/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "auto.h"
#include "emit.h"
#include "errtext.h"
#include "goal-commands.h"
#include "json.h"
#include "life.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "plan-book.h"
#include "plan-call.h"
#include "plan-commands.h"
#include "plan-digest.h"
#include "plan-dispatch.h"
#include "plan-floor.h"
#include "plan-landed.h"
#include "plan-query.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "plan-tick.h"
#include "planner.h"
#include "serve.h"
#include "settings.h"
#include "store-jobs.h"
#include "why-command.h"
#include "work-commands.h"
#include "workspace.h"

/* --- the plans --------------------------------------------------------- */

/* Plans and floors below are ready: go on where the last daemon stopped. */
static void
begin(struct plan_floor *floor)
{
	if (!floor->begun || floor->state != PLAN_OPEN)
		return;
	plan_dispatcher_begin(floor->dispatcher);
	plan_tasks_begin(floor->tasks);
	plan_tick_begin(floor->tick);
	planner_look(floor->planner);
}

/* Records that no plan can be made of stay where they are. */
static void
open_plans(struct plan_floor *floor)
{
	struct err err = { 0 };

	floor->state = PLAN_OFF;
	if (!settings_bool(floor->core->settings, "plan.enabled") &&
	    !plan_book_has_goals(floor))
		return;
	if (plan_book_load(floor->book, &err) < 0) {
		floor->state = PLAN_SAFE;
		free(floor->why);
		floor->why = xasprintf("%s%s", err.msg,
		    err.code != -EBADMSG ?
			"" :
			"; type: llmc down, and correct that record with: "
			"sqlite3 .llmc/llmc.db");
		return;
	}
	floor->state = PLAN_OPEN;
	floor->dispatcher = plan_dispatcher_new(floor);
	floor->tick = plan_tick_new(floor);
	floor->planner = planner_new(floor);
	if (floor->guest != NULL)
		floor->guest->opened(floor->guest_arg);
}

static void
close_plans(struct plan_floor *floor)
{
	if (floor->guest != NULL && floor->state == PLAN_OPEN)
		floor->guest->closed(floor->guest_arg);
	plan_tasks_closed(floor->tasks);
	plan_calls_closed(floor->calls);
	plan_tick_free(take_ptr(&floor->tick));
	plan_dispatcher_free(take_ptr(&floor->dispatcher));
	planner_free(take_ptr(&floor->planner));
	plan_book_unload(floor->book);
}

static void
tell_safe(struct plan_floor *floor)
{
	if (floor->state == PLAN_SAFE)
		emit(floor->core,
		    &(struct event){
			.kind = EVENT_STORE_CLOSED, .reason = floor->why });
}

void
plan_floor_close(struct plan_floor *floor)
{
	plan_book_put(floor->book);
	close_plans(floor);
	floor->state = PLAN_JOB;
}

void
plan_floor_open(struct plan_floor *floor)
{
	open_plans(floor);
	tell_safe(floor);
	begin(floor);
	loop_call_request(floor->show);
	auto_plan_changed(floor->mode);
}

void
plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg)
{
	floor->guest = guest;
	floor->guest_arg = arg;
	if (guest != NULL && floor->state == PLAN_OPEN)
		guest->opened(arg);
}

struct plan_set *
plan_floor_set(const struct plan_floor *floor)
{
	return plan_book_set(floor->book);
}

void
plan_floor_changed(struct plan_floor *floor)
{
	plan_tasks_changed(floor->tasks);
	if (floor->dispatcher != NULL)
		plan_dispatcher_look(floor->dispatcher);
	if (floor->tick != NULL)
		plan_tick_wake(floor->tick, "plan changed");
}

/* --- what llmc status shows ------------------------------------------- */

static struct json_object *
digest(const struct plan_floor *floor)
{
	switch (floor->state) {
	case PLAN_OPEN:
		return plan_digest(plan_floor_set(floor), NULL);
	case PLAN_SAFE:
		return plan_digest(NULL, floor->why);
	case PLAN_OFF:
	case PLAN_JOB:
		break;
	}
	return NULL;
}

static void
show(void *arg)
{
	struct plan_floor *floor = arg;
	struct core *core = floor->core;
	struct json_object *json = digest(floor);

	if (json_object_equal(json, core->state.goals)) {
		json_object_put(json);
		return;
	}
	json_object_put(core->state.goals);
	core->state.goals = json;
	persist_changed(core);
}

static void
on_event(const struct event *event, void *arg)
{
	struct plan_floor *floor = arg;

	/* Before the asks are looked at: its node is not blocked any more. */
	if (event->kind == EVENT_TASK_RESUMED)
		show(floor);
	else if (event->goal != NULL)
		loop_call_request(floor->show);
}

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct plan_floor *floor = self;

	floor->begun = !floor->core->options->oneshot;
	tell_safe(floor);
	begin(floor);
	life_floor_begun(floor->core);
}

static void
floor_patrol(void *self, bool all)
{
	const struct plan_floor *floor = self;

	(void)all;
	plan_floor_changed(self);
	planner_look(floor->planner);
}

static void
floor_stop(void *self)
{
	const struct plan_floor *floor = self;

	planner_stop(floor->planner);
}

struct plan_floor *
plan_floor_new(struct auto_mode *mode)
{
	struct plan_floor *floor = xcalloc(1, sizeof *floor);

	floor->core = mode->core;
	floor->fleet = mode->fleet;
	floor->landings = mode->landings;
	floor->mode = mode;
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
	};
	core_add_floor(floor->core, &floor->floor);
	floor->book = plan_book_new(floor);
	floor->tasks = plan_tasks_new(floor);
	plan_landed_begin(floor);
	floor->calls = plan_calls_new(floor);
	floor->show = loop_call_new(floor->core->loop, show, floor);
	emit_subscribe(floor->core, on_event, floor);
	goal_commands_register(floor);
	plan_commands_register(floor);
	work_commands_register(floor);
	plan_tick_register(floor);
	plan_query_register(floor);
	why_command_register(floor);
	floor->jobs = store_jobs_new(floor);
	open_plans(floor);
	loop_call_request(floor->show);
	return floor;
}

void
plan_floor_free(struct plan_floor *floor)
{
	if (floor == NULL)
		return;
	store_jobs_free(floor->jobs);
	close_plans(floor);
	emit_unsubscribe(floor->core, on_event, floor);
	loop_call_free(floor->show);
	plan_calls_free(floor->calls);
	plan_landed_end(floor);
	plan_tasks_free(floor->tasks);
	plan_book_free(floor->book);
	free(floor->why);
	free(floor);
}
