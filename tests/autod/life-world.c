/* SPDX-License-Identifier: ISC */

#include <check.h>

#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "life-world.h"
#include "life.h"
#include "loop.h"
#include "mem.h"

/* --- the floors ------------------------------------------------------- */

static void
note(struct life_floor *s, const char *what)
{
	buf_addf(&s->world->trace, "%s %s; ", s->name, what);
}

static void
floor_begin(void *self)
{
	struct life_floor *s = self;

	note(s, "begins");
	if (!s->late)
		life_floor_begun(s->world->world.core);
}

static void
floor_patrol(void *self, bool all)
{
	note(self, all ? "looks at all" : "patrols");
}

static void
floor_stop(void *self)
{
	note(self, "stops");
}

static bool
floor_is_quiet(const void *self)
{
	return !((const struct life_floor *)self)->noisy;
}

static void
floor_close(void *self, bool now)
{
	note(self, now ? "closes now" : "closes");
}

static const char *
floor_phase(const void *self)
{
	return ((const struct life_floor *)self)->phase;
}

static void
add_floor(struct life_world *house, struct life_floor *s, const char *name)
{
	s->world = house;
	s->name = name;
	s->floor = (struct core_floor){
		.self = s,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
		.close = floor_close,
		.phase = s->phase != NULL ? floor_phase : NULL,
	};
	core_add_floor(house->world.core, &s->floor);
}

/* --- the world -------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct life_world *house = arg;

	house->failures += event->kind == EVENT_FAILURE;
	house->unwritten += event->kind == EVENT_STATE_UNWRITTEN;
	house->resumes += event->kind == EVENT_DAEMON_RESUMES;
	house->stopping += event->kind == EVENT_DAEMON_STOPPING;
}

void
life_world_build(struct life_world *house)
{
	add_floor(house, &house->low, "low");
	add_floor(house, &house->high, "high");
	emit_subscribe(house->world.core, on_event, house);
	floor_world_live(&house->world);
}

void
life_world_begin(struct life_world *house, const char *settings)
{
	struct core_options options = house->world.options;

	buf_init(&house->trace);
	floor_world_begin(&house->world, settings);
	house->world.options = options;
	life_world_build(house);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
}

void
life_world_end(struct life_world *house)
{
	floor_world_end(&house->world);
	buf_release(&house->trace);
	clock_virtual_end();
}

static void
on_time(void *arg)
{
	loop_stop(arg, LIFE_GOES_ON);
}

int
life_world_run(struct life_world *house, int64_t ms)
{
	struct loop *loop = house->world.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);
	int status = loop_run(loop);

	loop_timer_free(timer);
	return status;
}

void
life_world_expect(struct life_world *house, const char *trace)
{
	ck_assert_str_eq(house->trace.data, trace);
	buf_clear(&house->trace);
}

bool
life_world_exists(struct life_world *house, const char *name)
{
	cleanup_free char *file = workspace_path(&house->world.workspace, name);

	return file_exists(file);
}

struct json_object *
life_world_load(struct life_world *house, const char *name)
{
	cleanup_free char *file = workspace_path(&house->world.workspace, name);
	struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    json_load(file, 1 << 20, &json, &err) == 0, "%s", err.msg);
	return json;
}

void
life_world_begin_quietly(struct life_world *house)
{
	life_world_begin(house, NULL);
	ck_assert_int_eq(life_world_run(house, 100), LIFE_GOES_ON);
	buf_clear(&house->trace);
}
