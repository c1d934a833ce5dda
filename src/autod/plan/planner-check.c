/* SPDX-License-Identifier: ISC */

#include <errno.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-load.h"
#include "plan-replan.h"
#include "plan.h"
#include "planner-check.h"
#include "planner-goal.h"
#include "planner-prompt.h"
#include "planner-result.h"
#include "settings.h"
#include "strv.h"

static int
max_repairs(const struct settings *settings)
{
	return (int)settings_int(settings, "planner.max_repair_attempts");
}

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
	r = plan_replan_node(&edit, next, node_id, err);
	plan_changes_release(&changes);
	plan_free(copy);
	return r;
}

/* It can be read, and not be used. */
static void
refuse(const struct settings *settings, const struct planner_answer *answer,
    const struct err *err, struct planner_result *result)
{
	cleanup_free char *previous = xstrndup(answer->text, answer->len);
	cleanup_buf struct buf prompt = BUF_INIT;

	planner_result_release(result);
	strv_add(&result->problems, err->msg);
	result->verdict = PLANNER_GIVE_UP;
	if (answer->repairs >= max_repairs(settings))
		return;
	planner_prompt_repair(strv_const(result->problems), previous, &prompt);
	result->prompt = buf_take(&prompt);
	result->verdict = PLANNER_ASK_AGAIN;
}

void
planner_check_plan(const struct settings *settings, const struct plan *plan,
    const char *node_id, const struct planner_answer *answer,
    struct planner_result *ret_result)
{
	const struct plan_source source = { .goal_id = plan->goal->id,
		.title = plan->goal->title,
		.now_ms = clock_wall_ms(),
		.planner = true,
		.limits = planner_goal_limits(settings) };
	struct err err = { 0 };

	planner_judge(answer->text, answer->len, &source, answer->repairs,
	    max_repairs(settings), ret_result);
	if (ret_result->verdict == PLANNER_ACCEPTED && node_id != NULL &&
	    try_replan(plan, node_id, ret_result->plan, &err) < 0)
		refuse(settings, answer, &err, ret_result);
}
