/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "book-history.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-kin.h"

static bool
is_whole(const struct task_run *run)
{
	/* The parent of one that was handed over to the overseer is none. */
	return run->parent_actor != NULL && run->actor != NULL;
}

static void
add(struct team_floor *floor, struct plan *plan, struct plan_node *node,
    struct team_kins *kins)
{
	cleanup_free char *key = xasprintf("%s/%s", plan->goal->id, node->id);
	struct task *task =
	    state_task_by_key(&floor->core->state, AUTO_PLAN_SOURCE, key);
	struct task_run *run = NULL;

	if (task != NULL && task->run != NULL)
		run = task_run_copy(task->run);
	else if (task_run_from_json(node->spawn, node->id, &run, NULL) < 0)
		return;
	if (!is_whole(run)) {
		task_run_free(run);
		return;
	}
	if (kins->count == kins->room) {
		kins->room = kins->room * 2 + 16;
		kins->list =
		    xreallocarray(kins->list, kins->room, sizeof *kins->list);
	}
	kins->list[kins->count++] = (struct team_kin){
		.plan = plan, .node = node, .run = run, .task = task
	};
}

void
team_kins_load(struct team_floor *floor, struct team_kins *ret)
{
	const struct plan_set *set = plan_floor_set(floor->plan);

	*ret = (struct team_kins){ 0 };
	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan_node *node = NULL;

		while ((node = plan_next(set->plans[i], node)) != NULL)
			if (node->spawn != NULL)
				add(floor, set->plans[i], node, ret);
	}
}

static void
take_filed(struct team_kin *kin, const struct task *filed)
{
	if (filed->run == NULL || !is_whole(filed->run))
		return;
	task_run_free(kin->run);
	kin->run = task_run_copy(filed->run);
	kin->outcome = filed->outcome;
	xstrset(&kin->reason, filed->reason);
}

void
team_kins_add_filed(struct team_floor *floor, struct team_kins *kins)
{
	for (size_t i = 0; i < kins->count; i++) {
		struct team_kin *kin = &kins->list[i];
		cleanup_free char *key = NULL;
		struct task *filed;

		if (kin->task != NULL || team_kin_is_open(kin))
			continue;
		key = xasprintf("%s/%s", kin->plan->goal->id, kin->node->id);
		filed = book_find_task_key(
		    floor->core->book, AUTO_PLAN_SOURCE, key);
		if (filed != NULL)
			take_filed(kin, filed);
		task_free(filed);
	}
}

void
team_kins_release(struct team_kins *kins)
{
	for (size_t i = 0; i < kins->count; i++) {
		task_run_free(kins->list[i].run);
		free(kins->list[i].reason);
	}
	free(kins->list);
	*kins = (struct team_kins){ 0 };
}

bool
team_kin_is_open(const struct team_kin *kin)
{
	if (kin->task != NULL)
		return kin->task->step != TASK_SETTLING;
	if (!goal_status_open(kin->plan->goal->status))
		return false;
	return node_status_open(kin->node->status) &&
	    kin->node->status != NODE_BLOCKED;
}

const struct team_kin *
team_kins_find(const struct team_kins *kins, const char *actor)
{
	for (size_t i = 0; i < kins->count; i++)
		if (strcmp(kins->list[i].run->actor, actor) == 0)
			return &kins->list[i];
	return NULL;
}

bool
team_kin_is_below(
    const struct team_kins *kins, const struct team_kin *kin, const char *actor)
{
	/* A chain is not longer than the list, whatever a file says. */
	for (size_t i = 0; kin != NULL && i <= kins->count; i++) {
		if (strcmp(kin->run->parent_actor, actor) == 0)
			return true;
		kin = team_kins_find(kins, kin->run->parent_actor);
	}
	return false;
}
