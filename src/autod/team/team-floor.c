/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "emit.h"
#include "json.h"
#include "life.h"
#include "loop.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-mail.h"
#include "serve.h"
#include "team-again.h"
#include "team-deliver.h"
#include "team-family.h"
#include "team-fleet.h"
#include "team-floor.h"
#include "team-guard.h"
#include "team-mail.h"
#include "team-perf.h"
#include "team-post.h"
#include "team-report.h"
#include "team-question.h"
#include "team-request.h"
#include "team-reserve.h"
#include "team-review.h"
#include "team-scope.h"
#include "team-spawn.h"
#include "team-tree.h"
#include "team-verify.h"
#include "team-unbegun.h"
#include "team-wait.h"

struct agent *
team_floor_speaker(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct task **ret_task)
{
	const char *worker = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(floor->fleet, worker);

	if (agent == NULL)
		serve_refuse(call, API_UNKNOWN,
		    "this session belongs to no worker any more");
	else if (ret_task != NULL)
		*ret_task = auto_task(agent);
	return agent;
}

/* The records are in memory, and a daemon was away. */
static void
catch_up(struct team_floor *floor)
{
	team_post_tell_again(floor);
	team_requests_sweep(floor->requests);
	team_reserve_sweep(floor, NULL);
	team_deliver_patrol(floor->deliver);
	team_guard_changed(floor);
}

static void
floor_begin(void *self)
{
	struct team_floor *floor = self;

	floor->begun = true;
	if (floor->open)
		catch_up(floor);
	team_wait_look(floor);
	team_perf_write(floor->perf);
	life_floor_begun(floor->core);
}

bool
team_floor_ends(const struct event *event, const char *task, const char *worker)
{
	if (event == NULL)
		return false;
	switch (event->kind) {
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
		return task != NULL && event->task != NULL &&
		    strcmp(task, event->task) == 0;
	case EVENT_WORKER_LOST:
	case EVENT_WORKER_GONE:
		return worker != NULL && event->worker != NULL &&
		    strcmp(worker, event->worker) == 0;
	default:
		return false;
	}
}

static void
on_event(const struct event *event, void *arg)
{
	struct team_floor *floor = arg;

	if (event->kind == EVENT_TASK_ASSIGNED)
		team_guard_assigned(floor, event);
	else if (event->kind == EVENT_SETTINGS_READ)
		team_guard_changed(floor);
	plan_mail_event(floor, event);
	team_requests_event(floor->requests, event);
	team_reserve_event(floor, event);
}

static void
floor_patrol(void *self, bool all)
{
	struct team_floor *floor = self;

	(void)all;
	team_deliver_patrol(floor->deliver);
	team_wait_look(floor);
	team_guard_patrol(floor);
	team_perf_write(floor->perf);
}

/* --- what auto mode asks --------------------------------------------- */

static bool
policy_stop_words(void *arg, struct agent *agent, struct buf *out)
{
	const struct team_floor *floor = arg;

	return team_deliver_stop_words(floor->deliver, agent, out);
}

static void
policy_preface(void *arg, struct agent *agent, struct buf *out)
{
	const struct team_floor *floor = arg;

	team_deliver_preface(floor->deliver, agent, out);
}

static bool
policy_tool_ended(
    void *arg, struct agent *agent, struct server_call *call, const char *event)
{
	const struct team_floor *floor = arg;

	return team_deliver_tool_ended(floor->deliver, agent, call, event);
}

static void
policy_progressed(void *arg, struct agent *agent)
{
	const struct team_floor *floor = arg;

	team_deliver_progressed(floor->deliver, agent);
}

static void
policy_tool_used(void *arg, struct agent *agent, const char *tool)
{
	const struct team_floor *floor = arg;

	team_report_tool_used(floor->report, agent, tool);
}

static void
policy_task_text(void *arg, const struct task *task, struct buf *out)
{
	team_report_task_text(task, out);
	team_question_task_text(arg, task, out);
	team_fleet_task_text(arg, task, out);
	team_again_task_text(arg, task, out);
}

static const char *
policy_answers(void *arg, const struct task *task)
{
	return team_question_answers(arg, task);
}

static void
policy_files(void *arg, struct task *task)
{
	const struct team_floor *floor = arg;

	team_perf_files(floor->perf, task);
}

static void
policy_guard(void *arg, struct agent *agent, struct guard_policy *policy)
{
	team_guard_fill(arg, agent, policy);
}

static void
policy_denied(void *arg, struct agent *agent, struct json_object *denied)
{
	team_review_denied(arg, agent, denied);
}

static bool
policy_asks(void *arg, const struct agent *agent)
{
	const struct team_floor *floor = arg;

	return team_requests_asks(floor->requests, agent);
}

static bool
policy_verify(void *arg, struct agent *agent, const char *head)
{
	return team_scope(arg, agent, head) || team_verify(arg, agent, head);
}

static const struct auto_team team_policy = {
	.guard = policy_guard,
	.files = policy_files,
	.denied = policy_denied,
	.asks = policy_asks,
	.answers = policy_answers,
	.tool_used = policy_tool_used,
	.task_text = policy_task_text,
	.stop_words = policy_stop_words,
	.preface = policy_preface,
	.tool_ended = policy_tool_ended,
	.progressed = policy_progressed,
	.verify = policy_verify,
	.waits = team_wait_waits,
	.unbegun = team_unbegun_policy,
	.settle = team_family_settle,
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

	floor->core = plan->core;
	floor->fleet = plan->fleet;
	floor->mode = plan->mode;
	floor->plan = plan;
	floor->post = team_post_new();
	floor->deliver = team_deliver_new(floor);
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
	};
	core_add_floor(floor->core, &floor->floor);
	serve_set_gate(floor->core, team_guard_admits, floor);
	floor->family = team_family_new(floor);
	floor->wait = team_wait_new(floor);
	auto_set_team(floor->mode, &team_policy, floor);
	emit_subscribe(floor->core, on_event, floor);
	team_mail_register(floor);
	floor->report = team_report_new(floor);
	floor->perf = team_perf_new(floor);
	floor->requests = team_requests_new(floor);
	floor->review = team_review_new(floor);
	floor->guard =
	    loop_call_new(floor->core->loop, team_guard_refresh, floor);
	floor->reserve = team_reserve_new(floor);
	team_spawn_register(floor);
	team_tree_register(floor);
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
	auto_set_team(floor->mode, NULL, NULL);
	on_closed(floor);
	plan_floor_set_guest(floor->plan, NULL, NULL);
	team_deliver_free(floor->deliver);
	team_report_free(floor->report);
	team_wait_free(floor->wait);
	team_family_free(floor->family);
	team_perf_free(floor->perf);
	team_requests_free(floor->requests);
	team_review_free(floor->review);
	team_reserve_free(floor->reserve);
	team_post_free(floor->post);
	loop_call_free(floor->guard);
	free(floor);
}
