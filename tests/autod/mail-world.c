/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "plan-world.h"
#include "run-dir.h"
#include "task-run.h"
#include "task.h"
#include "team-private.h"
#include "mail-world.h"

struct floor_world *
mail_world_floor(struct mail_world *w)
{
	return &w->plans.world.floor;
}

void
mail_world_begin(struct mail_world *w)
{
	plan_world_begin(&w->plans, NULL, "concurrency = 2\n");
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
}

void
mail_world_end(struct mail_world *w)
{
	team_floor_free(w->team);
	plan_world_end(&w->plans);
}

void
mail_world_die(struct mail_world *w)
{
	team_floor_free(w->team);
	plan_world_reopen(&w->plans);
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
}

void
mail_world_settle(struct mail_world *w)
{
	plan_world_settle(&w->plans);
	floor_world_settle(mail_world_floor(w));
	plan_world_settle(&w->plans);
}

/* t1 of goal_a and t2 of goal_b are being worked on. */
void
mail_world_begin_two(struct mail_world *w)
{
	mail_world_begin(w);
	plan_world_goal(&w->plans, "goal_a", 1);
	auto_world_turn_on(&w->plans.world, "t1");
	plan_world_goal(&w->plans, "goal_b", 1);
	auto_world_turn_on(&w->plans.world, "t2");
	mail_world_settle(w);
}

struct task *
mail_world_task(struct mail_world *w, const char *id)
{
	return state_task(&w->plans.world.core->state, id);
}

struct agent *
mail_world_agent(struct mail_world *w, const char *id)
{
	return fleet_find(
	    mail_world_floor(w)->fleet, mail_world_task(w, id)->worker);
}

/* t2 was spawned by t1. */
void
mail_world_child(struct mail_world *w)
{
	struct task_run *run = task_run_of(mail_world_task(w, "t2"));

	xstrset(&run->parent, "t1");
	xstrset(&run->parent_actor, "actor:task:t1");
	xstrset(&run->actor, "actor:team:backend:coder-1");
	persist_changed(w->plans.world.core);
	mail_world_settle(w);
}

/* --- calls --------------------------------------------------------------- */

struct floor_call *
mail_world_ask(struct mail_world *w, const char *worker, const char *tool,
    const char *params)
{
	cleanup_free char *socket =
	    run_dir_socket(&mail_world_floor(w)->workspace, worker);
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(mail_world_floor(w), socket, method, params);
}

struct json_object *
mail_world_answer(struct mail_world *w, struct floor_call *call)
{
	const char *error = floor_world_answer(mail_world_floor(w), call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

struct json_object *
mail_world_must(struct mail_world *w, const char *task_id, const char *tool,
    const char *params)
{
	return mail_world_answer(w,
	    mail_world_ask(
		w, mail_world_task(w, task_id)->worker, tool, params));
}

struct json_object *
mail_world_person(struct mail_world *w, const char *method, const char *params)
{
	return mail_world_answer(
	    w, floor_world_ask(mail_world_floor(w), method, params));
}

void
mail_world_refused(
    struct mail_world *w, struct floor_call *call, int code, const char *words)
{
	const char *error = floor_world_answer(mail_world_floor(w), call);

	ck_assert_msg(error != NULL, "it was not refused");
	ck_assert_msg(floor_call_code(call) == code, "%d: %s",
	    floor_call_code(call), error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
}

void
mail_world_refuses(struct mail_world *w, const char *task_id, const char *tool,
    const char *params, int code, const char *words)
{
	mail_world_refused(w,
	    mail_world_ask(
		w, mail_world_task(w, task_id)->worker, tool, params),
	    code, words);
}

char *
mail_world_send(struct mail_world *w, const char *task_id, const char *params)
{
	return xstrdup(json_string_or(
	    mail_world_must(w, task_id, "mail_send", params), "id", ""));
}

const char *
mail_world_text(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

/* As a person sees it. */
struct json_object *
mail_world_show(struct mail_world *w, const char *id)
{
	cleanup_free char *params = xasprintf("{\"id\":\"%s\"}", id);

	return mail_world_person(w, "mail.show", params);
}

/* A tool ends, and its hook waits: what the session is told. */
const char *
mail_world_tool_ends(struct mail_world *w, const struct agent *agent)
{
	static int ids;
	const char *worker = agent->worker->name;
	cleanup_free char *socket =
	    run_dir_socket(&mail_world_floor(w)->workspace, worker);
	cleanup_free char *params =
	    xasprintf("{\"event\": \"PostToolUse\", \"worker\": \"%s\", "
		      "\"generation\": %d, \"id\": \"h%d\", \"data\": {}}",
		worker, (int)agent->worker->session.generation, ++ids);
	struct json_object *result = mail_world_answer(w,
	    floor_world_ask_at(
		mail_world_floor(w), socket, "hook.event", params));

	mail_world_settle(w);
	return result != NULL ? json_object_get_string(result) : "";
}

static bool
is_at_rest(void *arg)
{
	const struct agent *agent = arg;

	return agent->worker->session.ready && agent->op == NULL;
}

/* A worker driven by hand. */
struct agent *
mail_world_eve(struct mail_world *w)
{
	struct agent *eve;

	mail_world_settle(w); /* git makes the other workers */
	eve = floor_world_add(mail_world_floor(w), "eve", WORKER_OFFLINE);
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	floor_world_wait(mail_world_floor(w), is_at_rest, eve);
	mail_world_settle(w);
	ck_assert_int_eq(eve->worker->status, WORKER_IDLE);
	return eve;
}
