/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto.h"
#include "emit.h"
#include "life.h"
#include "loop.h"
#include "plan-floor.h"
#include "serve.h"
#include "team-private.h"

/* The records are in memory, and a daemon was away. */
static void
catch_up(struct team_floor *floor)
{
	team_post_tell_again(floor);
	team_requests_sweep(floor->requests);
	team_reserve_sweep(floor, NULL);
	team_deliver_patrol(floor);
	team_guard_changed(floor);
}

static void
floor_begin(void *self)
{
	struct team_floor *floor = self;

	floor->begun = true;
	if (floor->open)
		catch_up(floor);
	team_floor_changed(floor);
	team_report_file_all(floor);
	life_floor_begun(floor->core);
}

static void
floor_patrol(void *self, bool all)
{
	struct team_floor *floor = self;

	(void)all;
	team_deliver_patrol(floor);
	for (size_t i = 0; i < floor->fleet->count; i++)
		if (floor->fleet->agents[i]->unguarded)
			agent_guard_refresh(floor->fleet->agents[i]);
	team_report_file_all(floor);
}

static void
on_look(void *arg)
{
	team_hosts_look(arg);
	team_requests_look(((struct team_floor *)arg)->requests);
	team_deliver_look(arg);
	team_wait_look(arg);
}

static void
on_event(const struct event *event, void *arg)
{
	struct team_floor *floor = arg;

	switch (event->kind) {
	case EVENT_TASK_ASSIGNED:
		team_guard_assigned(floor, event);
		team_floor_changed(floor);
		break;
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
	case EVENT_TASK_PARKED:
		team_report_file_all(floor);
		team_reserve_sweep(floor, event);
		team_floor_changed(floor);
		break;
	case EVENT_WORKER_LOST:
	case EVENT_WORKER_GONE:
		team_reserve_sweep(floor, event);
		break;
	case EVENT_WORKER_MOVED:
	case EVENT_CLEARED:
		team_floor_changed(floor);
		break;
	case EVENT_SETTINGS_READ:
		team_guard_changed(floor);
		break;
	default:
		if (event->kind >= EVENT_GOAL_ACTIVE &&
		    event->kind <= EVENT_NODE_CANCELLED)
			team_floor_changed(floor);
		break;
	}
	team_mail_plan_event(floor, event);
	team_requests_event(floor->requests, event);
}

/* --- what auto mode asks --------------------------------------------- */

static void
policy_task_text(void *arg, const struct task *task, struct buf *out)
{
	team_report_task_text(task, out);
	team_question_task_text(arg, task, out);
	team_fleet_task_text(arg, task, out);
	team_family_task_text(arg, task, out);
}

static const char *
policy_answers(void *arg, const struct task *task)
{
	return team_question_answers(arg, task);
}

static bool
policy_asks(void *arg, const struct agent *agent)
{
	const struct team_floor *floor = arg;

	return team_requests_asks(floor->requests, agent);
}

static const struct auto_team team_policy = {
	.guard = team_guard_fill,
	.files = team_report_files,
	.denied = team_review_denied,
	.asks = policy_asks,
	.answers = policy_answers,
	.tool_used = team_report_tool_used,
	.task_text = policy_task_text,
	.stop_words = team_deliver_stop_words,
	.preface = team_deliver_preface,
	.tool_ended = team_deliver_tool_ended,
	.progressed = team_deliver_progressed,
	.verify = team_verify,
	.waits = team_wait_waits,
	.unbegun = team_family_unbegun,
	.settle = team_family_settle,
	.leaves = team_guard_leaves,
	.sent = team_hosts_sent,
};

/* --- the book -------------------------------------------------------- */

static void
on_opened(void *arg)
{
	struct team_floor *floor = arg;

	floor->open = true;
	team_post_opened(floor);
	team_requests_opened(floor->requests);
	team_reserve_opened(floor);
	if (floor->begun)
		catch_up(floor);
}

static void
on_closed(void *arg)
{
	struct team_floor *floor = arg;

	floor->open = false;
	team_hosts_stop(floor);
	team_requests_closed(floor->requests);
	team_reserve_closed(floor->reserve);
	team_post_closed(floor->post);
}

static const struct plan_guest guest = {
	.opened = on_opened,
	.closed = on_closed,
};

/* --- life ------------------------------------------------------------ */

struct team_floor *
team_floor_new(struct plan_floor *plan)
{
	struct team_floor *floor = xcalloc(1, sizeof *floor);
	struct loop *loop = plan->core->loop;

	floor->core = plan->core;
	floor->fleet = plan->fleet;
	floor->mode = plan->mode;
	floor->plan = plan;
	floor->look = loop_call_new(loop, on_look, floor);
	floor->tend = loop_call_new(loop, team_family_tend, floor);
	floor->guard = loop_call_new(loop, team_guard_refresh, floor);
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
	};
	core_add_floor(floor->core, &floor->floor);
	floor->post = team_post_new();
	floor->deliver = team_deliver_new(floor);
	floor->requests = team_requests_new(floor);
	floor->review = team_review_new(floor);
	floor->reserve = team_reserve_new(floor);
	team_mail_register(floor);
	team_report_register(floor);
	team_spawn_register(floor);
	team_tree_register(floor);
	serve_set_gate(floor->core, team_guard_admits, floor);
	auto_set_team(floor->mode, &team_policy, floor);
	emit_subscribe(floor->core, on_event, floor);
	plan_floor_set_guest(plan, &guest, floor);
	return floor;
}

void
team_floor_free(struct team_floor *floor)
{
	if (floor == NULL)
		return;
	emit_unsubscribe(floor->core, on_event, floor);
	serve_set_gate(floor->core, NULL, NULL);
	serve_set_target(floor->core, API_REACH_MESSAGE, NULL, NULL);
	auto_set_team(floor->mode, NULL, NULL);
	on_closed(floor);
	plan_floor_set_guest(floor->plan, NULL, NULL);
	team_deliver_free(floor->deliver);
	loop_timer_free(floor->late);
	team_requests_free(floor->requests);
	team_review_free(floor->review);
	team_reserve_free(floor->reserve);
	team_post_free(floor->post);
	loop_call_free(floor->look);
	loop_call_free(floor->tend);
	loop_call_free(floor->guard);
	free(floor);
}
