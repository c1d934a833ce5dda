/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "backoff.h"
#include "budget.h"
#include "buf.h"
#include "core.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "plan-check.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-survey.h"
#include "planner-check.h"
#include "planner-goal.h"
#include "planner-job.h"
#include "planner-result.h"
#include "planner-talk.h"
#include "settings.h"
#include "workspace.h"

#define TRIES 3 /* for an answer at all, across daemons */

/* --- jobs ---------------------------------------------------------------- */

struct planner_job *
planner_job_new(struct planner *planner, enum planner_template template,
    const char *goal_id, const char *node_id)
{
	struct planner_job *job = xcalloc(1, sizeof *job);

	job->planner = planner;
	job->template = template;
	xstrset(&job->goal_id, goal_id);
	xstrset(&job->node_id, node_id);
	TAILQ_INSERT_TAIL(&planner->jobs, job, entry);
	planner->count++;
	loop_call_request(planner->look);
	return job;
}

void
planner_job_free(struct planner_job *job)
{
	struct planner *planner = job->planner;

	TAILQ_REMOVE(&planner->jobs, job, entry);
	planner->count--;
	if (job->storing)
		persist_forget(planner->core, job);
	planner_talk_free(job->talk);
	loop_timer_free(job->again);
	if (job->next != NULL)
		plan_free(job->next);
	free(job->goal_id);
	free(job->node_id);
	free(job->reason);
	free(job->prompt);
	free(job);
	loop_call_request(planner->look);
}

bool
planner_job_is_busy(const struct planner_job *job)
{
	return job->talk != NULL || job->storing;
}

struct plan *
planner_job_plan(const struct planner_job *job)
{
	return plan_set_plan(plan_floor_set(job->planner->floor), job->goal_id);
}

bool
planner_job_is_needed(const struct planner_job *job)
{
	const struct plan *plan = planner_job_plan(job);

	if (plan == NULL || !goal_status_open(plan->goal->status))
		return false;
	return job->template != PLANNER_PLAN || plan->goal->plan_wanted ||
	    (plan->count == 0 && plan->goal->plan_fault == NULL &&
		plan->goal->draft == NULL);
}

struct planner_job *
planner_job_find(const struct planner *planner, enum planner_template template,
    const char *goal_id, const char *node_id)
{
	struct planner_job *job;

	TAILQ_FOREACH (job, &planner->jobs, entry)
		if (job->template == template &&
		    strcmp(job->goal_id, goal_id) == 0 &&
		    (node_id == NULL || strcmp(job->node_id, node_id) == 0))
			return job;
	return NULL;
}

/* --- answers ------------------------------------------------------------- */

static void
check_plan(void *arg, const char *answer, size_t len, int repairs,
    struct planner_result *ret_result)
{
	struct planner_job *job = arg;

	planner_check_plan(job->planner->core->settings, planner_job_plan(job),
	    job->node_id, &(struct planner_answer){ answer, len, repairs },
	    ret_result);
	job->next = take_ptr(&ret_result->plan);
}

/* --- the plan of a goal -------------------------------------------------- */

static void
try_again(void *arg)
{
	struct planner_job *job = arg;

	loop_timer_free(take_ptr(&job->again));
	loop_call_request(job->planner->look);
}

/* "by claude-opus-5-5 for $0.25, corrected once" */
static void
made_how(const struct plan *next, const struct planner_outcome *outcome,
    struct buf *out)
{
	buf_addf(out, "by %s", next->goal->model_ref);
	if (outcome->cost_millionths > 0) {
		buf_adds(out, " for ");
		budget_add_cost(out, outcome->cost_millionths);
	}
	if (outcome->repairs > 0)
		buf_addf(out, ", corrected %s",
		    outcome->repairs == 1 ? "once" : "more than once");
}

static void
accept(
    struct planner_job *job, struct plan *plan, struct planner_outcome *outcome)
{
	struct planner *planner = job->planner;
	cleanup_buf struct buf how = BUF_INIT;
	struct err err = { 0 };

	planner_goal_sign(job->next, job->template, job->prompt, outcome,
	    planner->core->settings);
	made_how(job->next, outcome, &how);
	if ((plan->goal->plan_drafts ?
		    planner_goal_draft(
			planner->floor, plan, job->next, how.data, &err) :
		    planner_goal_apply(planner->floor, job->next, NULL,
			how.data, job->reason, &err)) == 0)
		return;
	outcome->err = &err;
	planner_goal_fail(planner->floor, plan, job->prompt, outcome);
	outcome->err = NULL;
}

static void
on_planned(void *arg, const struct planner_outcome *outcome)
{
	struct planner_job *job = arg;
	struct planner *planner = job->planner;
	const struct settings *s = planner->core->settings;
	const struct backoff wait = {
		.first_ms = settings_duration(s, "plan.backoff_base"),
		.max_ms = settings_duration(s, "plan.backoff_max"),
		.tries_max = TRIES - 1,
	};
	struct planner_outcome copy = *outcome;
	struct plan *plan = planner_job_plan(job);
	int64_t wait_ms;

	job->talk = NULL;
	if (!planner_job_is_needed(job)) {
		planner_job_free(job);
		return;
	}
	if (outcome->err != NULL && !outcome->invalid &&
	    backoff_next(&wait, (int)plan->goal->plan_attempts - 1, &wait_ms)) {
		job->again =
		    loop_after(planner->core->loop, wait_ms, try_again, job);
		return;
	}
	if (outcome->err == NULL)
		accept(job, plan, &copy);
	else
		planner_goal_fail(planner->floor, plan, job->prompt, outcome);
	planner_job_free(job);
}

static void
ask(struct planner_job *job, struct json_object *schema,
    void (*check)(void *, const char *, size_t, int, struct planner_result *),
    void (*done)(void *, const struct planner_outcome *))
{
	job->talk = planner_talk_start(
	    &(struct planner_question){ .mode = job->planner->floor->mode,
		.prompt = job->prompt,
		.schema = schema,
		.check = check,
		.done = done,
		.arg = job });
	json_object_put(schema);
}

/* The attempt is committed. */
static void
ask_plan(void *arg)
{
	struct planner_job *job = arg;
	const struct plan *plan = planner_job_plan(job);
	struct plan_limits limits =
	    planner_goal_limits(job->planner->core->settings);
	cleanup_buf struct buf prompt = BUF_INIT, survey = BUF_INIT;

	job->storing = false;
	if (plan == NULL) {
		planner_job_free(job);
		return;
	}
	plan_survey(job->planner->core->workspace->root,
	    job->planner->core->settings, &survey);
	planner_prompt_plan(plan->goal, &limits, survey.data, &prompt);
	free(job->prompt);
	job->prompt = buf_take(&prompt);
	ask(job, planner_schema(), check_plan, on_planned);
}

static void
begin_plan(struct planner_job *job, struct plan *plan)
{
	struct planner *planner = job->planner;
	const struct err err = { -EIO,
		"the planner, or the daemon with it, was ended each time" };

	if (plan->goal->plan_attempts >= TRIES) {
		planner_goal_fail(planner->floor, plan, "",
		    &(struct planner_outcome){ .err = &err, .model = "" });
		return; /* and the next look drops the job */
	}
	planner_goal_count(planner->floor, plan, 1);
	job->storing = true;
	persist_then(planner->core, job, ask_plan, job);
}

/* --- replan --------------------------------------------------------------- */

static void
on_replanned(void *arg, const struct planner_outcome *outcome)
{
	struct planner_job *job = arg;
	struct plan *next = take_ptr(&job->next);

	job->talk = NULL;
	if (next != NULL)
		planner_goal_sign(next, job->template, job->prompt, outcome,
		    job->planner->core->settings);
	if (job->replanned != NULL)
		job->replanned(next, outcome->err, job->arg);
	else if (next != NULL)
		plan_free(next);
	planner_job_free(job);
}

static void
begin_replan(struct planner_job *job, const struct plan *plan)
{
	struct plan_limits limits =
	    planner_goal_limits(job->planner->core->settings);
	cleanup_buf struct buf prompt = BUF_INIT;

	planner_prompt_replan(
	    plan, plan_find(plan, job->node_id), job->reason, &limits, &prompt);
	job->prompt = buf_take(&prompt);
	ask(job, planner_schema(), check_plan, on_replanned);
}

void
planner_job_begin(struct planner_job *job)
{
	struct plan *plan = planner_job_plan(job);

	if (job->template == PLANNER_PLAN)
		begin_plan(job, plan);
	else
		begin_replan(job, plan);
}

void
planner_job_drop(struct planner_job *job)
{
	const struct err err = { -ECANCELED, "the goal has ended" };
	const struct planner_outcome outcome = { .err = &err, .model = "" };

	planner_talk_free(take_ptr(&job->talk));
	if (job->template == PLANNER_REPLAN)
		on_replanned(job, &outcome);
	else
		planner_job_free(job);
}
