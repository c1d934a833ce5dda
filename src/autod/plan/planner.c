/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "account.h"
#include "api.h"
#include "backoff.h"
#include "emit.h"
#include "loop.h"
#include "persist.h"
#include "plan-file.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan-revise.h"
#include "plan.h"
#include "settings-table.h"
#include "settings.h"
#include "work-record.h"
#include "workspace.h"

/* --- what an answer does --------------------------------------------- */

#define MILLION 1000000.0

/* The bounds of a plan that the planner makes. */
static const struct plan_limits limits = {
	.max_phases = 5, .max_tasks = 7, .max_subtasks = 7
};

/* --- where it came from ------------------------------------------------- */

static void
set_cut(struct json_object *json, const char *key, const char *text, size_t max)
{
	cleanup_free char *part =
	    xstrndup(text, text_cut(text, strlen(text), max));

	json_set_string(json, key, part);
}

/* The model that answered; the one that was asked for; or the command. */
static const char *
model_of(const struct planner_outcome *outcome, const struct settings *settings)
{
	const char *model = settings_string(settings, "planner.model");

	if (outcome->model[0] != '\0')
		return outcome->model;
	if (settings_string(settings, "planner.command")[0] != '\0')
		return "planner.command";
	return model[0] != '\0' ? model : "unknown";
}

static void
sign(struct plan_goal *goal, enum planner_template template, const char *prompt,
    const struct planner_outcome *outcome, const struct settings *settings)
{
	char hash[PLANNER_HASH_SIZE];
	struct json_object *json;

	planner_template_hash(template, hash);
	xstrset(&goal->model_ref, model_of(outcome, settings));
	xstrset(&goal->template_id, planner_template_id(template));
	xstrset(&goal->template_hash, hash);
	strv_clear(&goal->validation_errors);
	if (strv_count(outcome->problems) > 0)
		goal->validation_errors =
		    strv_copy(strv_const(outcome->problems));
	json_object_put(goal->planner_inputs);
	json = json_object_new_object();
	set_cut(json, "prompt", prompt, PLAN_INSTRUCTION_MAX);
	json_set_int(json, "maxPhases", limits.max_phases);
	json_set_int(json, "maxTasksPerPhase", limits.max_tasks);
	json_set_int(json, "maxSubtasksPerTask", limits.max_subtasks);
	json_set_int(json, "repairs", outcome->repairs);
	json_set(json, "costUsd",
	    json_object_new_double((double)outcome->cost_millionths / MILLION));
	if (outcome->err != NULL && outcome->answer != NULL)
		set_cut(json, "lastAnswer", outcome->answer, PLAN_TEXT_MAX);
	goal->planner_inputs = json;
}

/* --- the goal ----------------------------------------------------------- */

static void
store_goal(struct plan_floor *floor, const struct plan *plan)
{
	plan_book_record(floor, BOOK_GOAL, plan->goal->id, plan->goal->id);
}

/* Make it the plan of its goal, as plan_replan(). text: how it was made,
 * NULL: it is a change. */
static int
planner_goal_apply(struct plan_floor *floor, const struct plan *next,
    const char *node_id, const char *text, const char *why, struct err *err)
{
	struct plan *plan =
	    plan_set_plan(plan_floor_set(floor), next->goal->id);
	struct plan_change change;
	int r;

	plan_change_begin(&change, floor, plan, why);
	change.edit.actor = "planner";
	r = plan_replan(&change.edit, next, node_id, err);
	if (r < 0) {
		plan_change_drop(&change);
		return r;
	}
	if (text != NULL)
		emit(floor->core,
		    &(struct event){ .kind = EVENT_PLAN_GENERATED,
			.goal = plan->goal->id,
			.count = (int64_t)plan->count,
			.text = text });
	plan_change_end(&change);
	if (text != NULL)
		loop_call_request(floor->planned);
	return 0;
}

/* Keep it as the draft of its goal, as plan_kept_set(). text: how it was
 * made. */
static int
planner_goal_draft(struct plan_floor *floor, struct plan *plan,
    const struct plan *next, const char *text, struct err *err)
{
	struct plan_goal *goal = plan->goal;
	int r = plan_kept_set(goal,
	    &(struct plan_kept){ .next = next,
		.base = goal->version,
		.at_ms = clock_wall_ms(),
		.actor = "planner",
		.how = text },
	    err);

	if (r < 0)
		return r;
	goal->plan_wanted = goal->plan_drafts = false;
	store_goal(floor, plan);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_PLAN_DRAFTED,
		.goal = goal->id,
		.count = (int64_t)next->count,
		.text = text,
		.actor = "planner" });
	return 0;
}

/* The planner gave up. */
static void
planner_goal_fail(struct plan_floor *floor, struct plan *plan,
    const char *prompt, const struct planner_outcome *outcome)
{
	struct plan_goal *goal = plan->goal;
	cleanup_free char *reason = xasprintf(
	    "%s; give it one: llmc goal plan %s --plan FILE, or ask the "
	    "planner again: llmc goal plan %s",
	    outcome->err->msg, goal->id, goal->id);

	if (plan->count == 0)
		sign(
		    goal, PLANNER_PLAN, prompt, outcome, floor->core->settings);
	xstrset(&goal->plan_fault, outcome->err->msg);
	goal->plan_wanted = goal->plan_drafts = false;
	goal->updated_ms = clock_wall_ms();
	store_goal(floor, plan);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_PLAN_FAILED,
		.goal = goal->id,
		.reason = reason });
}

/* One attempt more, or (-1) one that does not count. */
static void
planner_goal_count(struct plan_floor *floor, struct plan *plan, int by)
{
	plan->goal->plan_attempts += by;
	store_goal(floor, plan);
}

/* --- asking -------------------------------------------------------- */

/* The node itself has started; it is released before the new plan is applied,
 * so here it counts as such. */
static int
try_replan(const struct plan *plan, const char *node_id,
    const struct plan *next, struct err *err)
{
	const struct plan_node *part = plan_find(next, node_id);
	cleanup_json struct json_object *before =
	    plan_load_words(plan_find(plan, node_id));
	cleanup_json struct json_object *after =
	    part != NULL ? plan_load_words(part) : NULL;
	struct plan *copy;
	struct plan_node *node;
	struct plan_changes changes = { 0 };
	struct plan_edit edit = { .actor = "planner",
		.now_ms = clock_wall_ms(),
		.changes = &changes };
	int r;

	if (part == NULL)
		return err_set(err, -EINVAL,
		    "%s is missing; keep it, and divide or change it", node_id);
	/* It would fail again. */
	if (plan_node_leaf(part) && json_object_equal(before, after))
		return err_set(err, -EINVAL,
		    "%s is as it was; divide it into smaller nodes that have "
		    "new ids, or describe it in another way",
		    node_id);
	edit.plan = copy = plan_copy(plan);
	node = plan_find(copy, node_id);
	if (node != NULL && node_status_open(node->status))
		node->status = NODE_QUEUED;
	r = plan_replan(&edit, next, node_id, err);
	plan_changes_release(&changes);
	plan_free(copy);
	return r;
}

#define TRIES 3 /* for an answer at all, across daemons */

/* --- jobs ---------------------------------------------------------------- */

static struct planner_job *
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

/* Ends it; no callback is called. */
static void
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

static bool
planner_job_is_busy(const struct planner_job *job)
{
	return job->talk != NULL || job->storing;
}

/* The plan of its goal; NULL = it has ended. */
static struct plan *
planner_job_plan(const struct planner_job *job)
{
	return plan_set_plan(plan_floor_set(job->planner->floor), job->goal_id);
}

/* Is the goal still open, and without the plan that was asked for? */
static bool
planner_job_is_needed(const struct planner_job *job)
{
	const struct plan *plan = planner_job_plan(job);

	if (plan == NULL || !goal_status_open(plan->goal->status))
		return false;
	return job->template != PLANNER_PLAN || plan->goal->plan_wanted ||
	    (plan->count == 0 && plan->goal->plan_fault == NULL &&
		plan->goal->draft == NULL);
}

/* node_id NULL: any. NULL = none. */
static struct planner_job *
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

/* As planner_judge(). If a node is to be divided, the others that have started
 * must stay as they are. */
static void
check_plan(void *arg, const char *answer, size_t len, int repairs,
    struct planner_result *ret_result)
{
	struct planner_job *job = arg;
	const struct plan *plan = planner_job_plan(job);
	const struct plan_source source = { .goal_id = plan->goal->id,
		.title = plan->goal->title,
		.now_ms = clock_wall_ms(),
		.planner = true,
		.limits = limits };
	struct err err = { 0 };

	planner_judge(
	    answer, len, &source, repairs, PLANNER_REPAIRS, ret_result);
	if (ret_result->verdict == PLANNER_ACCEPTED && job->node_id != NULL &&
	    try_replan(plan, job->node_id, ret_result->plan, &err) < 0) {
		cleanup_free char *previous = xstrndup(answer, len);

		/* It can be read, and not be used. */
		planner_result_release(ret_result);
		strv_add(&ret_result->problems, err.msg);
		planner_reject(ret_result, repairs, PLANNER_REPAIRS, previous);
	}
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

static void
accept(
    struct planner_job *job, struct plan *plan, struct planner_outcome *outcome)
{
	struct planner *planner = job->planner;
	cleanup_buf struct buf how = BUF_INIT;
	struct err err = { 0 };

	sign(job->next->goal, job->template, job->prompt, outcome,
	    planner->core->settings);
	/* "by claude-opus-5-5 for $0.25, corrected once" */
	buf_addf(&how, "by %s", job->next->goal->model_ref);
	if (outcome->cost_millionths > 0) {
		buf_adds(&how, " for ");
		budget_add_cost(&how, outcome->cost_millionths);
	}
	if (outcome->repairs > 0)
		buf_addf(&how, ", corrected %s",
		    outcome->repairs == 1 ? "once" : "more than once");
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
	const struct backoff wait = {
		.first_ms = tuning.plan_tick,
		.max_ms = 15 * tuning.plan_tick,
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
ask(struct planner_job *job,
    void (*done)(void *, const struct planner_outcome *))
{
	job->talk = planner_talk_start(
	    &(struct planner_question){ .mode = job->planner->floor->mode,
		.prompt = job->prompt,
		.check = check_plan,
		.done = done,
		.arg = job });
}

/* The attempt is committed. */
static void
ask_plan(void *arg)
{
	struct planner_job *job = arg;
	const struct plan *plan = planner_job_plan(job);
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
	ask(job, on_planned);
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
		sign(next->goal, job->template, job->prompt, outcome,
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
	cleanup_buf struct buf prompt = BUF_INIT;

	planner_prompt_replan(
	    plan, plan_find(plan, job->node_id), job->reason, &limits, &prompt);
	job->prompt = buf_take(&prompt);
	ask(job, on_replanned);
}

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

/* At the budget of the day, nothing is asked until tomorrow. */
static void
planner_look_(void *arg)
{
	struct planner *planner = arg;
	const struct plan_set *set;
	struct planner_job *job, *next;

	if (planner->stopped || !planner->floor->begun ||
	    planner->floor->state != PLAN_OPEN)
		return;
	set = plan_floor_set(planner->floor);
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		if (is_wanted(planner, plan) &&
		    planner_job_find(
			planner, PLANNER_PLAN, plan->goal->id, NULL) == NULL)
			planner_job_new(
			    planner, PLANNER_PLAN, plan->goal->id, NULL);
	}
	/* Goals that were cancelled, or got a plan from a person. */
	for (job = TAILQ_FIRST(&planner->jobs); job != NULL; job = next) {
		next = TAILQ_NEXT(job, entry);
		if (!planner_job_is_needed(job)) {
			const struct err err = { -ECANCELED,
				"the goal has ended" };
			const struct planner_outcome outcome = { .err = &err,
				.model = "" };

			/* The goal has ended: call back, and end it. */
			planner_talk_free(take_ptr(&job->talk));
			if (job->template == PLANNER_REPLAN)
				on_replanned(job, &outcome);
			else
				planner_job_free(job);
		}
	}
	if (planner->core->state.paused == NULL) {
		size_t busy = 0;

		TAILQ_FOREACH (job, &planner->jobs, entry)
			busy += planner_job_is_busy(job);
		TAILQ_FOREACH (job, &planner->jobs, entry) {
			const struct plan *plan = planner_job_plan(job);

			if (busy >= AT_ONCE)
				return;
			if (job->again != NULL ||
			    plan->goal->status != GOAL_ACTIVE ||
			    goal_is_busy(planner, job->goal_id))
				continue;
			busy++;
			if (job->template == PLANNER_PLAN)
				begin_plan(job, planner_job_plan(job));
			else
				begin_replan(job, planner_job_plan(job));
		}
	}
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
		    plan_node_is_assigned(plan->nodes[i]))
			return err_set(err, API_E_STARTED,
			    "%s has been worked on; give the rest another "
			    "plan: llmc goal plan %s --plan FILE",
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
	planner->look =
	    loop_call_new(floor->core->loop, planner_look_, planner);
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
