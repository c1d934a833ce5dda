/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "plan-book.h"
#include "plan-call.h"
#include "plan-change.h"
#include "plan-commands.h"
#include "plan-floor.h"
#include "plan-kept.h"
#include "plan-load.h"
#include "plan-replan.h"
#include "plan-view.h"
#include "planner.h"
#include "serve.h"

int
plan_commands_read(struct json_object *params, const char *goal_id,
    const char *title, int64_t now_ms, struct plan **ret_plan, struct err *err)
{
	const char *text = json_string_or(params, "plan", NULL);
	const struct plan_source source = {
		.goal_id = goal_id,
		.title = title,
		.now_ms = now_ms,
		.limits = { .shared_acceptance = true },
	};
	int r;

	if (text == NULL) {
		*ret_plan = NULL;
		return 0;
	}
	r = plan_load_text(text, strlen(text), &source, ret_plan, err);
	if (r < 0)
		err_prefix(err, "the plan");
	return r;
}

void
plan_commands_replace(struct plan_floor *floor, struct server_call *call,
    struct plan *plan, const struct plan *next, const char *actor,
    const char *why)
{
	struct plan_change change;
	struct err err = { 0 };

	plan_change_begin(&change, floor, plan, why);
	change.edit.actor = actor;
	if (plan_replan(&change.edit, next, &err) < 0) {
		plan_change_drop(&change);
		plan_call_refuse(call, &err);
		return;
	}
	/* Whatever was drafted, this is the plan now. */
	plan_kept_clear(plan->goal);
	plan_change_end(&change);
	plan_call_answer(floor, call, plan->goal->id, plan_view_changed(plan));
}

/* A text that is no plan has its own code here. */
static int
read_text(struct json_object *params, const struct plan *plan,
    struct plan **ret_next, struct err *err)
{
	int r = plan_commands_read(params, plan->goal->id, plan->goal->title,
	    clock_wall_ms(), ret_next, err);

	if (r == -EINVAL)
		r = err->code = API_E_INVALID_PLAN;
	return r;
}

/* --- draft ------------------------------------------------------------ */

static int
keep(struct plan_floor *floor, struct json_object *params, struct plan *plan,
    struct err *err)
{
	struct plan *next = NULL;
	int r = read_text(params, plan, &next, err);

	if (r < 0)
		return r;
	r = plan_kept_set(plan->goal,
	    &(struct plan_kept){ .next = next,
		.base = plan->goal->version,
		.at_ms = clock_wall_ms(),
		.actor = PLAN_CHANGE_PERSON,
		.how = "from a file",
		.why = json_string_or(params, "reason", NULL) },
	    err);
	if (r == 0 && next != NULL) {
		plan->goal->plan_wanted = plan->goal->plan_drafts = false;
		plan_book_record(
		    floor, BOOK_GOAL, plan->goal->id, plan->goal->id);
		emit(floor->core,
		    &(struct event){ .kind = EVENT_PLAN_DRAFTED,
			.goal = plan->goal->id,
			.count = (int64_t)next->count,
			.text = "from a file",
			.actor = PLAN_CHANGE_PERSON });
	}
	plan_free(next);
	return r;
}

/* Is there one that was made for the plan as it is? It is shown then, unless
 * the caller says why there should be another. */
static bool
has_draft(const struct plan *plan, struct json_object *params)
{
	const struct plan_goal *goal = plan->goal;

	if (json_string_or(params, "reason", NULL) != NULL)
		return false;
	return (goal->plan_wanted && goal->plan_drafts) ||
	    (goal->draft != NULL && plan_kept_base(goal) == goal->version);
}

static void
draft(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	struct plan_edit none = { .plan = plan };
	struct err err = { 0 };
	int r = plan_edit_begin(&none, &err);

	if (r == 0 && json_string_or(params, "plan", NULL) != NULL)
		r = keep(floor, params, plan, &err);
	else if (r == 0 && !has_draft(plan, params))
		r = planner_ask(floor->planner, plan->goal->id, true, &err);
	if (r < 0)
		plan_call_refuse(call, &err);
	else
		plan_call_answer(
		    floor, call, plan->goal->id, plan_kept_view(plan->goal));
}

/* --- apply ------------------------------------------------------------ */

/* The given one, or the draft; 0 with *ret_next for the caller to free. */
static int
next_plan(const struct plan *plan, struct json_object *params,
    struct plan **ret_next, struct err *err)
{
	int64_t version = json_int_or(params, "version", -1);
	bool given = json_string_or(params, "plan", NULL) != NULL;
	int r;

	r = given ? read_text(params, plan, ret_next, err) :
		    plan_kept_read(plan->goal, ret_next, err);
	if (r < 0)
		return r;
	if (version < 0 && !given)
		version = plan_kept_base(plan->goal);
	r = version >= 0 ? plan_kept_check(plan->goal, version, err) : 0;
	if (r < 0)
		plan_free(*ret_next);
	return r;
}

/* --- registering ------------------------------------------------------ */

static void
on_draft(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan *plan;

	if (plan_call_begin_change(arg, call) &&
	    (plan = plan_call_plan(arg, call, params)) != NULL)
		draft(arg, call, params, plan);
}

static void
on_apply(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan *plan;

	if (plan_call_begin_change(arg, call) &&
	    (plan = plan_call_plan(arg, call, params)) != NULL) {
		const char *actor =
		    json_string_or(params, "worker", PLAN_CHANGE_PERSON);
		const char *why = json_string_or(params, "reason", NULL);
		struct plan *next = NULL;
		struct err err = { 0 };

		if (next_plan(plan, params, &next, &err) < 0) {
			plan_call_refuse(call, &err);
			return;
		}
		plan_commands_replace(arg, call, plan, next, actor, why);
		plan_free(next);
	}
}

void
plan_commands_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.plan.draft", on_draft, floor);
	serve_handle(floor->core, "overseer.plan.apply", on_apply, floor);
}
