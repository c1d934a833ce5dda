/* SPDX-License-Identifier: ISC */

#include "life-world.h"

struct life_world life_world;

/* --- the floors ------------------------------------------------------- */

static void
note(struct life_floor *s, const char *what)
{
	buf_addf(&life_world.trace, "%s %s; ", s->name, what);
}

static void
floor_begin(void *self)
{
	struct life_floor *s = self;

	note(s, "begins");
	if (!s->late)
		life_floor_begun(floor_world.core);
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
add_floor(struct life_floor *s, const char *name)
{
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
	core_add_floor(floor_world.core, &s->floor);
}

/* --- the world -------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	(void)arg;
	life_world.failures += event->kind == EVENT_FAILURE;
	/* The floors hear of it before they are stopped. */
	if (event->kind == EVENT_FAILURE)
		ck_assert(!floor_world.core->stopping);
	life_world.unwritten += event->kind == EVENT_STATE_UNWRITTEN;
	life_world.resumes += event->kind == EVENT_DAEMON_RESUMES;
	life_world.stopping += event->kind == EVENT_DAEMON_STOPPING;
}

void
life_world_build(void)
{
	add_floor(&life_world.low, "low");
	add_floor(&life_world.high, "high");
	emit_subscribe(floor_world.core, on_event, &life_world);
	floor_world_live();
}

void
life_world_begin(const char *settings)
{
	buf_init(&life_world.trace);
	floor_world_begin(settings);
	floor_world.options = life_world.options;
	life_world_build();
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
	unit_at_end(life_world_end);
}

void
life_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	floor_world_end();
	buf_release(&life_world.trace);
	clock_virtual_end();
}

static void
on_time(void *arg)
{
	loop_stop(arg, LIFE_GOES_ON);
}

int
life_world_run(int64_t ms)
{
	struct loop *loop = floor_world.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);
	int status = loop_run(loop);

	loop_timer_free(timer);
	return status;
}

void
life_world_expect(const char *trace)
{
	ck_assert_str_eq(life_world.trace.data, trace);
	buf_clear(&life_world.trace);
}

bool
life_world_exists(const char *name)
{
	cleanup_free char *file = workspace_path(&floor_world.workspace, name);

	return file_exists(file);
}

struct json_object *
life_world_load(const char *name)
{
	cleanup_free char *file = workspace_path(&floor_world.workspace, name);
	struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    json_load(file, 1 << 20, &json, &err) == 0, "%s", err.msg);
	return json;
}

void
life_world_begin_quietly(void)
{
	life_world_begin(NULL);
	ck_assert_int_eq(life_world_run(100), LIFE_GOES_ON);
	buf_clear(&life_world.trace);
}
