/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "api.h"
#include "buf.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "loop.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "planner-goal.h"
#include "planner-job.h"
#include "planner-prompt.h"
#include "planner-result.h"
#include "planner.h"
#include "settings.h"

#define AT_ONCE   2 /* questions */
#define QUEUE_MAX 32

/* --- questions ---------------------------------------------------------- */

static int
check_question(const struct planner *planner, enum planner_template template,
    const char *goal_id, const char *node_id, struct err *err)
{
	const struct plan *plan =
	    plan_set_plan(plan_floor_set(planner->floor), goal_id);
	struct plan_node *node;
	int r;

	if (plan == NULL)
		return err_set(
		    err, API_E_UNKNOWN, "there is no open goal %s", goal_id);
	r = plan_get(plan, node_id, &node, err);
	if (r < 0)
		return r;
	if (planner_job_find(planner, template, goal_id, node_id) != NULL)
		return err_set(err, -EALREADY,
		    "the planner is being asked about %s", node_id);
	if (planner->stopped || planner->count >= QUEUE_MAX)
		return err_set(
		    err, -EAGAIN, "too many questions wait for the planner");
	return 0;
}

int
planner_replan(struct planner *planner, const char *goal_id,
    const char *node_id, const char *reason, planner_replan_fn *fn, void *arg,
    struct err *err)
{
	struct planner_job *job;
	int r = check_question(planner, PLANNER_REPLAN, goal_id, node_id, err);

	if (r < 0)
		return r;
	job = planner_job_new(planner, PLANNER_REPLAN, goal_id, node_id);
	xstrset(&job->reason, reason);
	job->replanned = fn;
	job->arg = arg;
	return 0;
}

bool
planner_is_replanning(
    const struct planner *planner, const char *goal_id, const char *node_id)
{
	return planner != NULL &&
	    planner_job_find(planner, PLANNER_REPLAN, goal_id, node_id) != NULL;
}

int
planner_apply(struct planner *planner, const struct plan *next,
    const char *node_id, const char *why, struct err *err)
{
	if (plan_set_plan(plan_floor_set(planner->floor), next->goal->id) ==
	    NULL)
		return err_set(err, API_E_UNKNOWN, "there is no open goal %s",
		    next->goal->id);
	return planner_goal_apply(
	    planner->floor, next, node_id, NULL, why, err);
}

void
planner_forget(struct planner *planner, const void *arg)
{
	struct planner_job *job;

	TAILQ_FOREACH (job, &planner->jobs, entry)
		if (job->arg == arg)
			job->replanned = NULL;
}

/* --- looking ----------------------------------------------------------- */

static bool
is_wanted(const struct planner *planner, const struct plan *plan)
{
	return planner_is_due(plan) &&
	    (plan->goal->plan_wanted ||
		settings_bool(planner->core->settings, "plan.enabled"));
}

static void
add_goals(struct planner *planner)
{
	const struct plan_set *set = plan_floor_set(planner->floor);

	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		if (is_wanted(planner, plan) &&
		    planner_job_find(
			planner, PLANNER_PLAN, plan->goal->id, NULL) == NULL)
			planner_job_new(
			    planner, PLANNER_PLAN, plan->goal->id, NULL);
	}
}

/* Goals that were cancelled, or got a plan from a person. */
static void
drop_jobs(struct planner *planner)
{
	struct planner_job *job, *next;

	for (job = TAILQ_FIRST(&planner->jobs); job != NULL; job = next) {
		next = TAILQ_NEXT(job, entry);
		if (!planner_job_is_needed(job))
			planner_job_drop(job);
	}
}

static bool
goal_is_busy(const struct planner *planner, const char *goal_id)
{
	const struct planner_job *job;

	TAILQ_FOREACH (job, &planner->jobs, entry)
		if (planner_job_is_busy(job) &&
		    strcmp(job->goal_id, goal_id) == 0)
			return true;
	return false;
}

static void
begin_jobs(struct planner *planner)
{
	struct planner_job *job;
	size_t busy = 0;

	TAILQ_FOREACH (job, &planner->jobs, entry)
		busy += planner_job_is_busy(job);
	TAILQ_FOREACH (job, &planner->jobs, entry) {
		const struct plan *plan = planner_job_plan(job);

		if (busy >= AT_ONCE)
			return;
		if (job->again != NULL || plan->goal->status != GOAL_ACTIVE ||
		    goal_is_busy(planner, job->goal_id))
			continue;
		busy++;
		planner_job_begin(job);
	}
}

/* At the budget of the day, nothing is asked until tomorrow. */
static void
look(void *arg)
{
	struct planner *planner = arg;

	if (planner->stopped || !planner->floor->begun ||
	    planner->floor->state != PLAN_OPEN)
		return;
	add_goals(planner);
	drop_jobs(planner);
	if (planner->core->state.paused == NULL)
		begin_jobs(planner);
}

void
planner_look(struct planner *planner)
{
	if (planner != NULL)
		loop_call_request(planner->look);
}

static void
on_event(const struct event *event, void *arg)
{
	struct planner *planner = arg;

	if (event->goal != NULL || event->kind == EVENT_FLEET_RESUMED)
		planner_look(planner);
}

int
planner_ask(
    struct planner *planner, const char *goal_id, bool draft, struct err *err)
{
	struct plan *plan =
	    plan_set_plan(plan_floor_set(planner->floor), goal_id);
	struct planner_job *job;

	if (plan == NULL)
		return err_set(
		    err, API_E_UNKNOWN, "there is no open goal %s", goal_id);
	if (!goal_status_open(plan->goal->status))
		return err_set(err, API_E_CLOSED, "goal %s is %s", goal_id,
		    goal_status_name(plan->goal->status));
	for (size_t i = 0; i < plan->count; i++)
		if (plan_node_started(plan->nodes[i]) ||
		    plan->nodes[i]->assignment != NULL)
			return err_set(err, API_E_STARTED,
			    "%s has been worked on; give the rest another "
			    "plan: llmc goal plan %s --plan-file FILE",
			    plan->nodes[i]->id, goal_id);
	plan->goal->plan_wanted = true;
	plan->goal->plan_drafts = draft;
	xstrset(&plan->goal->plan_fault, NULL);
	job = planner_job_find(planner, PLANNER_PLAN, goal_id, NULL);
	plan->goal->plan_attempts =
	    job != NULL && planner_job_is_busy(job) ? 1 : 0;
	planner_goal_count(planner->floor, plan, 0);
	if (job != NULL)
		loop_timer_free(take_ptr(&job->again));
	planner_look(planner);
	return 0;
}

bool
planner_expects(const struct planner *planner)
{
	const struct plan_set *set;
	const struct planner_job *job;

	if (planner == NULL || planner->stopped)
		return false;
	TAILQ_FOREACH (job, &planner->jobs, entry) {
		const struct plan *plan = planner_job_plan(job);

		if (plan != NULL && plan->goal->status == GOAL_ACTIVE)
			return true;
	}
	set = plan_floor_set(planner->floor);
	for (size_t i = 0; i < set->plan_count; i++)
		if (is_wanted(planner, set->plans[i]))
			return true;
	return false;
}

/* --- life -------------------------------------------------------------- */

struct planner *
planner_new(struct plan_floor *floor)
{
	struct planner *planner = xcalloc(1, sizeof *planner);

	planner->floor = floor;
	planner->core = floor->core;
	TAILQ_INIT(&planner->jobs);
	planner->look = loop_call_new(floor->core->loop, look, planner);
	emit_subscribe(floor->core, on_event, planner);
	return planner;
}

void
planner_stop(struct planner *planner)
{
	struct planner_job *job;

	if (planner == NULL || planner->stopped)
		return;
	planner->stopped = true;
	while ((job = TAILQ_FIRST(&planner->jobs)) != NULL) {
		struct plan *plan = planner_job_plan(job);

		if (job->template == PLANNER_PLAN && planner_job_is_busy(job) &&
		    plan != NULL)
			planner_goal_count(planner->floor, plan, -1);
		planner_job_free(job);
	}
}

void
planner_free(struct planner *planner)
{
	struct planner_job *job;

	if (planner == NULL)
		return;
	emit_unsubscribe(planner->core, on_event, planner);
	while ((job = TAILQ_FIRST(&planner->jobs)) != NULL)
		planner_job_free(job);
	loop_call_free(planner->look);
	free(planner);
}
