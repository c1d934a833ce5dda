/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <string.h>

#include "agent.h"
#include "emit.h"
#include "errtext.h"
#include "landing-world.h"
#include "landing.h"
#include "mem.h"

static void
on_event(const struct event *event, void *arg)
{
	static const char *const words[] = {
		[LANDING_END_LANDED] = "landed",
		[LANDING_END_CONFLICT] = "conflict",
		[LANDING_END_STUCK] = "stuck",
		[LANDING_END_EJECTED] = "ejected",
		[LANDING_END_FAILED] = "failed",
		[LANDING_END_CANCELLED] = "cancelled",
	};
	struct landing_world *world = arg;
	const struct landing_end *end = event->landing;
	const char *worker = event->worker != NULL ? event->worker : "nobody";

	if (event->kind == EVENT_LANDED) {
		buf_addf(&world->told, "%s %s; ",
		    event->commit != NULL ? "landed" : "nothing of",
		    event->worker);
	} else if (event->kind == EVENT_REVERTED) {
		buf_adds(&world->told, "reverted; ");
	} else if (event->kind == EVENT_NOT_LANDED) {
		buf_addf(&world->told, "not landed %s; ", worker);
	} else if (event->kind == EVENT_LANDING_ENDED) {
		ck_assert_ptr_eq(
		    end->agent, fleet_find(world->floor.fleet, worker));
		ck_assert(
		    (end->err == NULL) == (end->result == LANDING_END_LANDED));
		buf_addf(
		    &world->told, "ended %s %s; ", worker, words[end->result]);
	} else if (event->kind == EVENT_STATE_UNWRITTEN) {
		world->unwritten++;
	}
}

static bool
may_move(void *arg)
{
	return !((struct landing_world *)arg)->may_not_begin;
}

static void
open_floor(struct landing_world *world)
{
	static const struct landing_policy policy = { .may_move = may_move };

	world->landings = landings_new(world->floor.fleet);
	landings_set_policy(world->landings, &policy, world);
	emit_subscribe(world->floor.core, on_event, world);
	floor_world_live(&world->floor);
}

void
landing_world_begin(struct landing_world *world, const char *settings)
{
	memset(world, 0, sizeof *world);
	buf_init(&world->told);
	floor_world_begin(&world->floor, settings);
	open_floor(world);
}

void
landing_world_reopen(struct landing_world *world)
{
	emit_unsubscribe(world->floor.core, on_event, world);
	landings_free(take_ptr(&world->landings));
	floor_world_close(&world->floor);
	floor_world_open(&world->floor);
	open_floor(world);
}

void
landing_world_end(struct landing_world *world)
{
	landings_free(world->landings);
	floor_world_end(&world->floor);
	buf_release(&world->told);
}

struct agent *
landing_world_work(struct landing_world *world, const char *name,
    const char *file, const char *text)
{
	struct agent *agent =
	    floor_world_add(&world->floor, name, WORKER_NEEDS_REVIEW);
	cleanup_free char *work =
	    xasprintf("echo %s >%s; git add %s; git commit -qm 'by %s'", text,
		file, file, name);

	floor_world_wt(&world->floor, name, work);
	return agent;
}

void
landing_world_meanwhile(
    struct landing_world *world, const char *file, const char *text)
{
	cleanup_free char *work =
	    xasprintf("echo %s >%s; git add %s; git commit -qm meanwhile", text,
		file, file);

	floor_world_sh(&world->floor, work);
}

static bool
is_queued(void *arg)
{
	const struct landing_world *world = arg;

	return world->floor.core->state.landings.count > 0;
}

static bool
is_moving(void *arg)
{
	const struct landing_world *world = arg;

	return world->floor.core->state.landings.to != NULL;
}

void
landing_world_wait(
    struct landing_world *world, const struct agent *agent, const char *stage)
{
	if (strcmp(stage, "queued") == 0)
		floor_world_wait_closely(&world->floor, is_queued, world);
	else if (strcmp(stage, "moving") == 0)
		floor_world_wait_closely(&world->floor, is_moving, world);
	else
		floor_world_wait_step(&world->floor, agent, stage);
}

const char *
landing_world_accept(struct landing_world *world, const char *worker)
{
	return floor_world_answer(&world->floor,
	    floor_world_call(&world->floor, "worker.accept", worker, ""));
}

void
landing_world_told(struct landing_world *world, const char *want)
{
	ck_assert_str_eq(world->told.data, want);
	buf_truncate(&world->told, 0);
}

void
landing_world_main(struct landing_world *world, const char *want)
{
	ck_assert_str_eq(floor_world_sh(&world->floor,
			     "git log --format=%s, main | tr -d '\\n'"),
	    want);
	/* The checkout has been updated too. */
	ck_assert_str_eq(
	    floor_world_sh(&world->floor, "git status --porcelain -uno"), "");
}
