/* SPDX-License-Identifier: ISC */

#include "landing-world.h"

struct landing_world landing_world;

static void
on_event(const struct event *event, void *arg)
{
	static const char *const words[] = {
		[LANDING_END_LANDED] = "landed",
		[LANDING_END_PROPOSED] = "proposed",
		[LANDING_END_CONFLICT] = "conflict",
		[LANDING_END_STUCK] = "stuck",
		[LANDING_END_EJECTED] = "ejected",
		[LANDING_END_FAILED] = "failed",
		[LANDING_END_CANCELLED] = "cancelled",
	};
	const struct landing_end *end = event->landing;
	const char *worker = event->worker != NULL ? event->worker : "nobody";

	(void)arg;
	if (event->kind == EVENT_LANDED) {
		buf_addf(&landing_world.told, "%s %s%s%s; ",
		    event->commit != NULL ? "landed" : "nothing of",
		    event->worker, event->result != NULL ? " " : "",
		    event->result != NULL ? event->result : "");
	} else if (event->kind == EVENT_REVERTED) {
		buf_adds(&landing_world.told, "reverted; ");
	} else if (event->kind == EVENT_NOT_LANDED) {
		buf_addf(&landing_world.told, "not landed %s; ", worker);
	} else if (event->kind == EVENT_LANDING_ENDED) {
		ck_assert_ptr_eq(
		    end->agent, fleet_find(floor_world.fleet, worker));
		ck_assert(
		    (end->err == NULL) == (end->result == LANDING_END_LANDED));
		buf_addf(&landing_world.told, "ended %s %s; ", worker,
		    words[end->result]);
	} else if (event->kind == EVENT_STATE_UNWRITTEN) {
		landing_world.unwritten++;
	}
}

static bool
may_move(void *arg)
{
	return !((struct landing_world *)arg)->may_not_begin;
}

static void
open_floor(void)
{
	static const struct landing_policy policy = { .may_move = may_move };

	landing_world.landings = landings_new(floor_world.fleet);
	landings_set_policy(landing_world.landings, &policy, &landing_world);
	emit_subscribe(floor_world.core, on_event, &landing_world);
	floor_world_live();
}

void
landing_world_begin(const char *settings)
{
	memset(&landing_world, 0, sizeof landing_world);
	buf_init(&landing_world.told);
	floor_world_begin(settings);
	open_floor();
	unit_at_end(landing_world_end);
}

void
landing_world_reopen(void)
{
	emit_unsubscribe(floor_world.core, on_event, &landing_world);
	landings_free(take_ptr(&landing_world.landings));
	floor_world_close();
	floor_world_open();
	open_floor();
}

void
landing_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	landings_free(landing_world.landings);
	floor_world_end();
	buf_release(&landing_world.told);
}

struct agent *
landing_world_work(const char *name, const char *file, const char *text)
{
	struct agent *agent = floor_world_add(name, WORKER_NEEDS_REVIEW);
	cleanup_free char *work =
	    xasprintf("echo %s >%s; git add %s; git commit -qm 'by %s'", text,
		file, file, name);

	floor_world_wt(name, work);
	return agent;
}

struct agent *
landing_world_begin_work(const char *settings)
{
	landing_world_begin(settings);
	return landing_world_work("adam", "b.txt", "two");
}

void
landing_world_meanwhile(const char *file, const char *text)
{
	cleanup_free char *work =
	    xasprintf("echo %s >%s; git add %s; git commit -qm meanwhile", text,
		file, file);

	floor_world_sh(work);
}

static bool
is_queued(void *arg)
{
	(void)arg;
	return floor_world.core->state.landings.count > 0;
}

static bool
is_moving(void *arg)
{
	(void)arg;
	return floor_world.core->state.landings.to != NULL;
}

void
landing_world_wait(const struct agent *agent, const char *stage)
{
	if (strcmp(stage, "queued") == 0)
		floor_world_wait_closely(is_queued, &landing_world);
	else if (strcmp(stage, "moving") == 0)
		floor_world_wait_closely(is_moving, &landing_world);
	else
		floor_world_wait_step(agent, stage);
}

const char *
landing_world_accept(const char *worker)
{
	return floor_world_answer(
	    floor_world_call("worker.accept", worker, ""));
}

void
landing_world_told(const char *want)
{
	ck_assert_str_eq(landing_world.told.data, want);
	buf_truncate(&landing_world.told, 0);
}

void
landing_world_main(const char *want)
{
	ck_assert_str_eq(
	    floor_world_sh("git log --format=%s, main | tr -d '\\n'"), want);
	/* The checkout has been updated too. */
	ck_assert_str_eq(floor_world_sh("git status --porcelain -uno"), "");
}
