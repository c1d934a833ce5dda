/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "emit.h"
#include "plan-book.h"
#include "plan-change.h"
#include "plan-check.h"
#include "plan-floor.h"
#include "plan-kept.h"
#include "plan-replan.h"
#include "plan-set.h"
#include "plan-text.h"
#include "planner-goal.h"
#include "planner-talk.h"
#include "settings.h"

#define MILLION 1000000.0

struct plan_limits
planner_goal_limits(void)
{
	return (struct plan_limits){
		.max_phases = 5, .max_tasks = 7, .max_subtasks = 7
	};
}

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
	struct plan_limits limits;
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
	limits = planner_goal_limits();
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

void
planner_goal_sign(struct plan *next, enum planner_template template,
    const char *prompt, const struct planner_outcome *outcome,
    const struct settings *settings)
{
	sign(next->goal, template, prompt, outcome, settings);
}

/* --- the goal ----------------------------------------------------------- */

static void
store_goal(struct plan_floor *floor, const struct plan *plan)
{
	plan_book_record(floor, BOOK_GOAL, plan->goal->id, plan->goal->id);
}

int
planner_goal_apply(struct plan_floor *floor, const struct plan *next,
    const char *node_id, const char *text, const char *why, struct err *err)
{
	struct plan *plan =
	    plan_set_plan(plan_floor_set(floor), next->goal->id);
	struct plan_change change;
	int r;

	plan_change_begin(&change, floor, plan, why);
	change.edit.actor = "planner";
	r = plan_replan_node(&change.edit, next, node_id, err);
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
	return 0;
}

int
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

void
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

void
planner_goal_count(struct plan_floor *floor, struct plan *plan, int by)
{
	plan->goal->plan_attempts += by;
	store_goal(floor, plan);
}
