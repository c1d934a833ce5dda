/* SPDX-License-Identifier: ISC */

#include "mail-world.h"
#include "team-private.h"

struct mail_world mail_world;

void
mail_world_open(const char *plan, const char *more)
{
	plan_world_begin(plan, more);
	mail_world.team = team_floor_new(plan_world.floor);
	unit_at_end(mail_world_end);
}

void
mail_world_begin(void)
{
	mail_world_open(NULL, "concurrency = 2\n");
	plan_world_live();
}

void
mail_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	team_floor_free(mail_world.team);
	plan_world_end();
}

void
mail_world_die(void)
{
	team_floor_free(mail_world.team);
	plan_world_reopen();
	mail_world.team = team_floor_new(plan_world.floor);
	plan_world_live();
}

void
mail_world_settle(void)
{
	plan_world_settle();
	floor_world_settle();
	plan_world_settle();
}

/* t1 of goal_a and t2 of goal_b are being worked on. */
void
mail_world_begin_two(void)
{
	mail_world_begin();
	plan_world_goal("goal_a", 1);
	auto_world_turn_on("t1");
	plan_world_goal("goal_b", 1);
	auto_world_turn_on("t2");
	mail_world_settle();
}

struct task *
mail_world_task(const char *id)
{
	return state_task(&auto_world.core->state, id);
}

struct agent *
mail_world_agent(const char *id)
{
	return fleet_find(floor_world.fleet, mail_world_task(id)->worker);
}

/* t2 was spawned by t1. */
void
mail_world_child(void)
{
	struct task_launch *run = &mail_world_task("t2")->launch;

	xstrset(&run->parent, "t1");
	xstrset(&run->parent_actor, "actor:task:t1");
	xstrset(&run->actor, "actor:team:backend:coder-1");
	persist_changed(auto_world.core);
	mail_world_settle();
}

void
mail_world_begin_family(void)
{
	mail_world_begin_two();
	mail_world_child();
}

/* --- calls --------------------------------------------------------------- */

struct floor_call *
mail_world_ask(const char *worker, const char *tool, const char *params)
{
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_as(worker, method, params);
}

struct json_object *
mail_world_must(const char *task_id, const char *tool, const char *params)
{
	return floor_world_result(
	    mail_world_ask(mail_world_task(task_id)->worker, tool, params));
}

void
mail_world_refuses(const char *task_id, const char *tool, const char *params,
    int code, const char *words)
{
	floor_world_refused(
	    mail_world_ask(mail_world_task(task_id)->worker, tool, params),
	    code, words);
}

char *
mail_world_send(const char *task_id, const char *params)
{
	return xstrdup(json_string_or(
	    mail_world_must(task_id, "mail_send", params), "id", ""));
}

const char *
mail_world_text(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

/* As a person sees it. */
struct json_object *
mail_world_show(const char *id)
{
	cleanup_free char *params = xasprintf("{\"id\":\"%s\"}", id);

	return plan_world_must("mail.show", params);
}

/* A tool ends, and its hook waits: what the session is told. */
const char *
mail_world_tool_ends(const struct agent *agent)
{
	static int ids;
	const char *worker = agent->worker->name;
	cleanup_free char *params =
	    xasprintf("{\"event\": \"PostToolUse\", \"worker\": \"%s\", "
		      "\"generation\": %d, \"id\": \"h%d\", \"data\": {}}",
		worker, (int)agent->worker->session.generation, ++ids);
	struct json_object *result = floor_world_result(
	    floor_world_ask_as(worker, "hook.event", params));

	mail_world_settle();
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
mail_world_eve(void)
{
	struct agent *eve;

	mail_world_settle(); /* git makes the other workers */
	eve = floor_world_add("eve", WORKER_OFFLINE);
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	floor_world_wait(is_at_rest, eve);
	mail_world_settle();
	ck_assert_int_eq(eve->worker->status, WORKER_IDLE);
	return eve;
}
