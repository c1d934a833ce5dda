/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "task-json.h"
#include "book-history.h"
#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "landing.h"
#include "life.h"
#include "mem.h"
#include "operation.h"
#include "repo.h"

/* --- events ---------------------------------------------------------- */

/* Names for events that are not in auto.log. */
static const char *const unnamed[EVENT_KIND_COUNT] = {
	[EVENT_TASK_ORPHANED] = "orphaned",
	[EVENT_TASK_TAKEN_ELSEWHERE] = "taken_elsewhere",
	[EVENT_TASK_NOT_TOLD] = "not_told",
	[EVENT_TASKS_GIVEN_BACK] = "given_back",
	[EVENT_TASKS_EXHAUSTED] = "exhausted",
	[EVENT_LANDING_WAITS] = "landing_waits",
	[EVENT_POST_ACCEPT_FAILED] = "post_accept_failed",
	[EVENT_STATE_UNWRITTEN] = "unwritten",
	[EVENT_STALL_GIVEN_UP] = "given_up",
	[EVENT_FLEET_PAUSED] = "fleet_paused",
	[EVENT_FLEET_RESUMED] = "fleet_resumed",
};

static void
on_event(const struct event *event, void *arg)
{
	struct auto_world *world = arg;
	const char *name = event_row(event->kind)->name;
	const char *words[] = { name != NULL ? name : unnamed[event->kind],
		event->task, event->class, event->result, event->outcome,
		event->scope, event->action };

	if (words[0] == NULL || event->kind == EVENT_WORKER_MOVED ||
	    event->kind == EVENT_AUTO_BEGINS || event->kind == EVENT_AUTO_ENDS)
		return;
	for (size_t i = 0; i < nitems(words); i++)
		if (words[i] != NULL)
			buf_addf(
			    &world->told, "%s%s", i > 0 ? " " : "", words[i]);
	buf_adds(&world->told, "; ");
}

void
auto_world_told(struct auto_world *world, const char *want)
{
	ck_assert_str_eq(world->told.data, want);
	buf_clear(&world->told);
}

/* --- the world ------------------------------------------------------- */

/* Unlike in the tests of the lower floors, sessions are launched and adopted.
 * The fleet must not patrol: it would not find them in tmux. */
static void
open_floors(struct auto_world *world)
{
	struct fleet *fleet = world->floor.fleet;
	struct err err = { 0 };

	world->core = world->floor.core;
	world->floor.fleet_floor.begin = fleet->floor.begin;
	for (size_t i = 0; i < fleet->count; i++)
		fleet->agents[i]->retry_ms = 0;
	world->landings = landings_new(fleet);
	world->mode = auto_new(fleet, world->landings, &err);
	ck_assert_msg(world->mode != NULL, "%s", err.msg);
	emit_subscribe(world->core, on_event, world);
}

static void
close_floors(struct auto_world *world)
{
	emit_unsubscribe(world->core, on_event, world);
	auto_free(take_ptr(&world->mode));
	landings_free(take_ptr(&world->landings));
}

/* A tmux without sessions, and the real llmc, which runs errands. */
static void
replace_programs(const struct auto_world *world)
{
	static const char script[] = "#!/bin/sh\nexit 0\n";
	cleanup_free char *tmux =
	    xasprintf("%s/bin/tmux", world->floor.repo->base);

	ck_assert_int_eq(
	    file_replace(tmux, script, strlen(script), 0755, NULL), 0);
	floor_world_errands(&world->floor);
}

void
auto_world_begin(struct auto_world *world, const char *settings)
{
	cleanup_free char *text =
	    xasprintf("[defaults]\nagent_command = \"agent\"\n"
		      "[daemon]\npatrol_interval = \"1h\"\n[auto]\n%s",
		settings != NULL ? settings : "");

	memset(world, 0, sizeof *world);
	buf_init(&world->told);
	floor_world_begin(&world->floor, text);
	replace_programs(world);
	world->floor.options.auto_mode = true;
	open_floors(world);
}

void
auto_world_live(struct auto_world *world)
{
	floor_world_live(&world->floor);
}

void
auto_world_end(struct auto_world *world)
{
	close_floors(world);
	floor_world_end(&world->floor);
	buf_release(&world->told);
}

void
auto_world_reopen(struct auto_world *world)
{
	close_floors(world);
	floor_world_close(&world->floor);
	floor_world_open(&world->floor);
	open_floors(world);
}

void
auto_world_stop(struct auto_world *world)
{
	life_stop(world->core, "the test says so", false);
	floor_world_wait_stopped(&world->floor);
}

void
auto_world_restart(struct auto_world *world)
{
	auto_world_stop(world);
	auto_world_reopen(world);
}

/* --- files ----------------------------------------------------------- */

void
auto_world_task(struct auto_world *world, const char *name, const char *text)
{
	cleanup_free char *where = xasprintf("tasks/todo/%s", name);
	cleanup_free char *file =
	    workspace_path(&world->floor.workspace, where);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0644, NULL), 0);
}

void
auto_world_folder(struct auto_world *world, const char *want)
{
	ck_assert_str_eq(floor_world_sh(&world->floor,
			     "cd .llmc/tasks; for d in todo doing done failed; "
			     "do for f in $(ls $d); do printf '%s: %s; ' $d "
			     "$f; done; done"),
	    want);
}

static bool
on_filed(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	buf_addf(arg, "%s %s; ", task->id, task_outcome_name(task->outcome));
	return true;
}

void
auto_world_filed(struct auto_world *world, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(book_each_task(world->core->book,
			     &(struct book_tasks){ .oldest_first = true },
			     on_filed, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, want);
}

const char *
auto_world_record(struct auto_world *world, const char *id)
{
	static struct buf text;
	struct task *task = book_find_task(world->core->book, id);
	cleanup_json struct json_object *json =
	    task != NULL ? task_to_json(task) : NULL;

	buf_release(&text);
	buf_init(&text);
	if (json != NULL)
		json_print(json, false, &text);
	task_free(task);
	return text.data;
}

void
auto_world_fails(struct auto_world *world, const char *class)
{
	cleanup_free char *file =
	    workspace_path(&world->floor.workspace, "failure.json");
	cleanup_json struct json_object *json = NULL;

	floor_world_wait_stopped(&world->floor);
	ck_assert_int_eq(json_load(file, 65536, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "class", ""), class);
	ck_assert_int_eq(world->core->exit_status, 1);
	ck_assert(world->mode->failing);
}

/* --- auto-1 ---------------------------------------------------------- */

struct agent *
auto_world_agent(struct auto_world *world)
{
	return fleet_find(world->floor.fleet, "auto-1");
}

struct turn_look {
	struct auto_world *world;
	int prompts;
};

static bool
is_in_turn(void *arg)
{
	const struct turn_look *look = arg;
	const struct agent *agent = auto_world_agent(look->world);

	return agent != NULL && agent->op == NULL &&
	    agent->worker->session.busy &&
	    fake_session_prompts(agent->session) == look->prompts;
}

struct agent *
auto_world_turn(struct auto_world *world, int prompts)
{
	struct turn_look look = { world, prompts };

	floor_world_wait(&world->floor, is_in_turn, &look);
	return auto_world_agent(world);
}

struct task_look {
	struct auto_world *world;
	const char *task;
	struct agent *agent;
};

static bool
is_on_task(void *arg)
{
	struct task_look *look = arg;
	const struct fleet *fleet = look->world->floor.fleet;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (agent->worker->task == NULL || agent->op != NULL ||
		    fake_session_prompts(agent->session) == 0 ||
		    !agent->worker->session.busy ||
		    strcmp(agent->worker->task, look->task) != 0)
			continue;
		look->agent = agent;
		return true;
	}
	return false;
}

struct agent *
auto_world_turn_on(struct auto_world *world, const char *task)
{
	struct task_look look = { .world = world, .task = task };

	floor_world_wait(&world->floor, is_on_task, &look);
	return look.agent;
}

void
auto_world_work(struct auto_world *world, const char *file)
{
	cleanup_free char *text =
	    xasprintf("echo work >%s; git add %s; git commit -qm 'add %s'",
		file, file, file);

	floor_world_wt(&world->floor, "auto-1", text);
}

/* --- waiting --------------------------------------------------------- */

static bool
is_done(void *arg)
{
	const struct auto_world *world = arg;

	return world->core->state.task_count == 0 && world->mode->post == NULL;
}

void
auto_world_wait_done(struct auto_world *world)
{
	floor_world_wait(&world->floor, is_done, world);
	floor_world_settle(&world->floor);
}

struct told_look {
	struct auto_world *world;
	const char *words;
};

static bool
is_told(void *arg)
{
	const struct told_look *look = arg;

	return strstr(look->world->told.data, look->words) != NULL;
}

void
auto_world_wait(struct auto_world *world, const char *told)
{
	struct told_look look = { world, told };

	floor_world_wait(&world->floor, is_told, &look);
}

static bool
is_posting(void *arg)
{
	const struct told_look *look = arg;
	const struct post_accept *post = look->world->mode->post;

	return post == NULL ?
	    *look->words == '\0' :
	    strcmp(operation_step_name((const struct operation *)post),
		look->words) == 0;
}

void
auto_world_wait_post(struct auto_world *world, const char *step)
{
	struct told_look look = { world, step };

	floor_world_wait_closely(&world->floor, is_posting, &look);
}

void
auto_world_patrol(struct auto_world *world)
{
	life_patrol(world->core);
	floor_world_settle(&world->floor);
}
