/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "auto.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "event-query.h"
#include "goal-commands.h"
#include "life.h"
#include "mem.h"
#include "plan-call.h"
#include "plan-commands.h"
#include "plan-dispatch.h"
#include "plan-floor.h"
#include "plan-landed.h"
#include "plan-log.h"
#include "plan-persist.h"
#include "plan-pool.h"
#include "plan-shown.h"
#include "plan-query.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "plan-tick.h"
#include "planbook.h"
#include "planner.h"
#include "serve.h"
#include "settings.h"
#include "store-aside.h"
#include "tick-commands.h"
#include "store-jobs.h"
#include "why-command.h"
#include "work-commands.h"
#include "workspace.h"

/* --- the store ------------------------------------------------------- */

/* Book and floors below are ready: go on where the last daemon stopped. */
static void
begin(struct plan_floor *floor)
{
	if (!floor->begun || floor->state != PLAN_OPEN)
		return;
	plan_dispatcher_begin(floor->dispatcher);
	plan_tasks_begin(floor->tasks);
	plan_landed_catch_up(floor->landed);
	plan_tick_begin(floor->tick);
	planner_look(floor->planner);
}

static void
opened(struct plan_floor *floor)
{
	if (floor->state == PLAN_OPEN && floor->guest != NULL)
		floor->guest->opened(floor->guest_arg);
	if (floor->core->options->oneshot)
		serve_release(floor->core);
	begin(floor);
	if (floor->begin_waits) {
		floor->begin_waits = false;
		life_floor_begun(floor->core);
	}
	auto_plan_changed(floor->mode);
	store_jobs_opened(floor->jobs);
}

static void
close_book(struct plan_floor *floor)
{
	if (floor->guest != NULL)
		floor->guest->closed(floor->guest_arg);
	if (floor->tasks != NULL)
		plan_tasks_closed(floor->tasks);
	plan_pool_closed(floor->pool);
	plan_calls_closed(floor->calls);
	plan_queries_closed(floor->queries);
	plan_tick_free(take_ptr(&floor->tick));
	plan_dispatcher_free(take_ptr(&floor->dispatcher));
	planner_free(take_ptr(&floor->planner));
	plan_log_free(take_ptr(&floor->log));
	planbook_free(take_ptr(&floor->book));
	if (floor->landed != NULL)
		plan_landed_closed(floor->landed);
}

/* A damaged store is moved aside; all other reasons leave it where it is. */
static void
go_safe(struct plan_floor *floor, const struct err *err)
{
	cleanup_free char *path =
	    workspace_path(floor->core->workspace, "store.db");
	cleanup_free char *aside = NULL;
	struct err err2 = { 0 };

	close_book(floor);
	floor->state = PLAN_SAFE;
	if (err->code == -EUCLEAN &&
	    store_aside(path, clock_wall_ms(), &aside, &err2) == 0) {
		xstrset(&floor->why,
		    "the store of goals is damaged; to get back what can be "
		    "read, type: llmc store recover");
		emit(floor->core,
		    &(struct event){ .kind = EVENT_STORE_CORRUPT,
			.path = aside,
			.reason = err->msg });
		return;
	}
	free(floor->why);
	floor->why = xasprintf("%s%s", err2.code != 0 ? err2.msg : err->msg,
	    err->code != -EBADMSG ? "" :
				    "; type: llmc store export FILE, correct "
				    "FILE, move .llmc/store.db elsewhere, and "
				    "type: llmc store import FILE");
	emit(floor->core,
	    &(struct event){
		.kind = EVENT_STORE_CLOSED, .reason = floor->why });
}

static void
on_book(const struct err *err, void *arg)
{
	struct plan_floor *floor = arg;
	bool was_open = floor->state == PLAN_OPEN;

	if (err != NULL)
		go_safe(floor, err);
	else
		floor->state = PLAN_OPEN;
	plan_shown_changed(floor->shown);
	if (!was_open)
		opened(floor);
}

/* The goal is as the store has it. What was refused would be refused again:
 * a person has to look at it first. */
static void
on_refused(const char *goal_id, const struct err *err, void *arg)
{
	struct plan_floor *floor = arg;
	struct plan *plan = plan_set_plan(plan_floor_set(floor), goal_id);

	plan_pool_refused(floor->pool, goal_id);
	if (plan != NULL && plan->goal->status == GOAL_ACTIVE &&
	    !plan->goal->implicit &&
	    plan_goal_move(plan->goal, GOAL_PAUSED, NULL, NULL, clock_wall_ms(),
		NULL) == 0) {
		plan_persist_record(
		    plan_floor_persist(floor), STORE_GOAL, goal_id, goal_id);
		emit(floor->core,
		    &(struct event){ .kind = EVENT_GOAL_PAUSED,
			.goal = goal_id,
			.from = goal_status_name(GOAL_ACTIVE),
			.to = goal_status_name(GOAL_PAUSED),
			.actor = "store",
			.reason = err->msg });
	}
	plan_floor_changed(floor);
}

static void
on_other(const struct store_change *record, void *arg)
{
	struct plan_floor *floor = arg;

	if (floor->guest != NULL)
		floor->guest->record(floor->guest_arg, record);
}

/* A damaged store was moved aside, and nothing is in its place yet: that is
 * still so for the next daemon. */
static bool
is_damaged(struct plan_floor *floor, const char *path)
{
	cleanup_free char *aside = NULL;

	if (access(path, F_OK) == 0)
		return false;
	aside = store_aside_newest(path);
	if (aside == NULL)
		return false;
	floor->state = PLAN_SAFE;
	floor->safe_since_start = !floor->begun;
	free(floor->why);
	floor->why = xasprintf(
	    "the store of goals was damaged and is now %s; to get back what "
	    "can be read, type: llmc store recover; to do without it, move it "
	    "elsewhere%s",
	    aside,
	    floor->core->options->oneshot ? "" : " and restart the daemon");
	return true;
}

static void
open_store(struct plan_floor *floor)
{
	cleanup_free char *path =
	    workspace_path(floor->core->workspace, "store.db");

	floor->state = PLAN_OFF;
	if (is_damaged(floor, path) ||
	    (!settings_bool(floor->core->settings, "plan.enabled") &&
		access(path, F_OK) == -1))
		return;
	floor->state = PLAN_OPENING;
	if (floor->core->options->oneshot)
		serve_hold(floor->core);
	floor->book = planbook_new(
	    floor->core, path, on_book, on_refused, on_other, floor);
	floor->log = plan_log_new(floor->core, plan_floor_persist(floor));
	floor->dispatcher = plan_dispatcher_new(floor);
	floor->tick = plan_tick_new(floor);
	floor->planner = planner_new(floor);
}

void
plan_floor_close(struct plan_floor *floor)
{
	close_book(floor);
	floor->state = PLAN_JOB;
}

void
plan_floor_open(struct plan_floor *floor)
{
	open_store(floor);
	if (floor->state != PLAN_OPENING)
		opened(floor);
}

void
plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg)
{
	floor->guest = guest;
	floor->guest_arg = arg;
}

struct plan_set *
plan_floor_set(const struct plan_floor *floor)
{
	return planbook_set(floor->book);
}

struct plan_persist *
plan_floor_persist(const struct plan_floor *floor)
{
	return planbook_persist(floor->book);
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

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct plan_floor *floor = self;

	floor->begun = !floor->core->options->oneshot;
	begin(floor);
	if (floor->safe_since_start)
		emit(floor->core,
		    &(struct event){
			.kind = EVENT_STORE_CLOSED, .reason = floor->why });
	if (floor->state == PLAN_OPENING)
		floor->begin_waits = true;
	else
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

/* A command without a daemon does not wait for space on the disk. */
static bool
floor_is_quiet(const void *self)
{
	const struct plan_floor *floor = self;
	const struct plan_persist *persist =
	    floor->state == PLAN_OPEN ? plan_floor_persist(floor) : NULL;

	return persist == NULL || plan_persist_is_idle(persist) ||
	    (floor->core->options->oneshot && plan_persist_tries(persist) > 0);
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
		.is_quiet = floor_is_quiet,
	};
	core_add_floor(floor->core, &floor->floor);
	floor->pool = plan_pool_new(floor);
	floor->tasks = plan_tasks_new(floor);
	floor->landed = plan_landed_new(floor);
	floor->calls = plan_calls_new(floor);
	floor->shown = plan_shown_new(floor);
	goal_commands_register(floor);
	plan_commands_register(floor);
	work_commands_register(floor);
	tick_commands_register(floor);
	floor->queries = plan_queries_new(floor);
	event_query_register(floor);
	why_command_register(floor);
	floor->jobs = store_jobs_new(floor);
	open_store(floor);
	return floor;
}

void
plan_floor_free(struct plan_floor *floor)
{
	if (floor == NULL)
		return;
	store_jobs_free(floor->jobs);
	close_book(floor);
	plan_shown_free(floor->shown);
	plan_calls_free(floor->calls);
	plan_landed_free(floor->landed);
	plan_queries_free(floor->queries);
	plan_tasks_free(floor->tasks);
	plan_pool_free(floor->pool);
	free(floor->why);
	free(floor);
}
