/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auto.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "id.h"
#include "intake.h"
#include "mem.h"
#include "persist.h"
#include "plan-apply.h"
#include "plan-bind.h"
#include "plan-edit.h"
#include "plan-floor.h"
#include "plan-implicit.h"
#include "plan-persist.h"
#include "plan-pool.h"
#include "plan-set.h"
#include "planbook.h"
#include "settings.h"

/* A goal that is not in the set, or of no use. */
struct absent {
	TAILQ_ENTRY(absent) entry;
	struct plan_pool *pool;
	char *goal;
	bool known; /* that the store does not have it; it is read otherwise */
	bool refused; /* the store does not take what it would say */
};

TAILQ_HEAD(absents, absent);

struct plan_pool {
	struct plan_floor *floor;
	struct absents absents;
	bool saving; /* the id of a goal is being saved in the state */
};

/* Does a task of the state have it? */
static bool
is_in_state(const struct plan_pool *pool, const char *goal)
{
	const struct state *state = &pool->floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->goal != NULL &&
		    strcmp(state->tasks[i]->goal, goal) == 0)
			return true;
	return false;
}

/* --- goals that are not in the set ------------------------------------ */

static struct absent *
absent_find(const struct plan_pool *pool, const char *goal)
{
	struct absent *absent;

	TAILQ_FOREACH (absent, &pool->absents, entry)
		if (strcmp(absent->goal, goal) == 0)
			return absent;
	return NULL;
}

static struct absent *
absent_add(struct plan_pool *pool, const char *goal, bool known)
{
	struct absent *absent = xcalloc(1, sizeof *absent);

	absent->pool = pool;
	absent->goal = xstrdup(goal);
	absent->known = known;
	TAILQ_INSERT_TAIL(&pool->absents, absent, entry);
	return absent;
}

static void
absent_free(struct absent *absent)
{
	TAILQ_REMOVE(&absent->pool->absents, absent, entry);
	free(absent->goal);
	free(absent);
}

void
plan_pool_refused(struct plan_pool *pool, const char *goal)
{
	struct absent *absent = absent_find(pool, goal);

	if (!is_in_state(pool, goal))
		return;
	if (absent == NULL)
		absent = absent_add(pool, goal, true);
	absent->refused = true;
}

/* --- reading ----------------------------------------------------------- */

static void
on_read(void *arg)
{
	struct absent *absent = arg;
	struct plan_pool *pool = absent->pool;
	struct plan_floor *floor = pool->floor;
	struct plan *plan = plan_set_plan(plan_floor_set(floor), absent->goal);

	if (plan != NULL)
		absent_free(absent);
	else
		absent->known = true;
	plan_pool_changed(pool);
	auto_plan_changed(floor->mode);
}

/* --- the goal of a task ------------------------------------------------ */

static void
on_saved(void *arg)
{
	struct plan_pool *pool = arg;

	pool->saving = false;
	plan_pool_changed(pool);
	auto_plan_changed(pool->floor->mode);
}

/* The state says which goal it is before the store has one. */
static void
save(struct plan_pool *pool)
{
	struct core *core = pool->floor->core;

	if (!pool->saving)
		persist_then(core, pool, on_saved, pool);
	pool->saving = true;
	persist_changed(core);
}

static void
choose(struct plan_pool *pool, struct task *t, bool reuse)
{
	const struct plan *plan =
	    reuse ? plan_implicit_reuse(plan_floor_set(pool->floor), t) : NULL;
	char ulid[ID_ULID_SIZE];

	if (plan != NULL) {
		xstrset(&t->goal, plan->goal->id);
	} else {
		id_ulid(clock_wall_ms(), ulid);
		free(t->goal);
		t->goal = xasprintf("goal_%s", ulid);
		absent_add(pool, t->goal, true);
	}
	save(pool);
}

static void
make(struct plan_pool *pool, const struct task *t)
{
	struct plan_floor *floor = pool->floor;
	struct plan *plan = plan_implicit_new(t, t->goal, clock_wall_ms());
	struct plan_changes changes = { .goal = true };

	plan_set_add(plan_floor_set(floor), plan, NULL);
	for (size_t i = 0; i < plan->count; i++)
		plan_changed(&changes, plan->nodes[i]);
	plan_persist_changes(plan_floor_persist(floor), plan, &changes);
	plan_changes_release(&changes);
	plan_apply_tell(floor,
	    &(struct event){ .kind = EVENT_GOAL_CREATED,
		.goal = plan->goal->id,
		.title = plan->goal->title,
		.task = t->id,
		.actor = t->source });
}

/* Its plan is in the set when this returns 0. */
static int
find(struct plan_pool *pool, const struct task *t, struct err *err)
{
	struct absent *absent = absent_find(pool, t->goal);

	if (absent != NULL && absent->refused)
		return err_set(err, -ESTALE, "the store does not take it");
	if (plan_set_plan(plan_floor_set(pool->floor), t->goal) != NULL)
		return 0;
	if (absent == NULL)
		planbook_fetch(pool->floor->book, t->goal, on_read,
		    absent_add(pool, t->goal, false));
	if (absent == NULL || !absent->known)
		return err_set(err, -EINPROGRESS, "its goal is being read");
	absent_free(absent);
	make(pool, t);
	return 0;
}

/* --- recording --------------------------------------------------------- */

/* Of a task that nobody has begun there is nothing to be recorded. */
static bool
is_wanted(const struct plan_pool *pool, const struct task *t)
{
	if (t->goal != NULL)
		return true;
	return t->attempts > 0 &&
	    settings_bool(pool->floor->core->settings, "plan.enabled");
}

static int
bind_in(struct plan_pool *pool, struct task *t, struct err *err)
{
	struct plan_floor *floor = pool->floor;
	struct plan_assignment *a;
	int r;

	a = plan_bind_of(floor, t);
	if (a != NULL) {
		plan_bind_worker(floor, a, t);
		return 0;
	}
	r = plan_bind(floor, t, true, err);
	if (r == 0 || r == -EINPROGRESS)
		return r;
	/* That of an earlier task, which is over for good. */
	choose(pool, t, false);
	return err_set(err, -EINPROGRESS, "it is being saved");
}

int
plan_pool_bind(struct plan_pool *pool, const struct task *task,
    struct plan **ret_plan, struct err *err)
{
	const struct plan_floor *floor = pool->floor;
	struct task *t = state_task(&floor->core->state, task->id);
	int r;

	if (t == NULL || !is_wanted(pool, t))
		return err_set(err, -ESTALE, "it is not recorded");
	if (t->goal == NULL)
		choose(pool, t, true);
	if (pool->saving)
		return err_set(err, -EINPROGRESS, "it is being saved");
	if (plan_persist_tries(plan_floor_persist(floor)) > 0)
		return err_set(
		    err, -EINPROGRESS, "the store cannot be written");
	r = find(pool, t, err);
	if (r == 0)
		r = bind_in(pool, t, err);
	if (r == 0 && ret_plan != NULL)
		*ret_plan = plan_set_plan(plan_floor_set(floor), t->goal);
	return r;
}

void
plan_pool_assigned(struct plan_pool *pool, const char *task)
{
	struct task *t = state_task(&pool->floor->core->state, task);

	if (t == NULL || !is_wanted(pool, t))
		return;
	if (t->goal == NULL)
		choose(pool, t, true);
	else
		save(pool);
}

static void
drop(struct plan_pool *pool, const struct plan *plan)
{
	if (plan->goal->implicit && !goal_status_open(plan->goal->status) &&
	    plan_persist_is_stored(
		plan_floor_persist(pool->floor), plan->goal->id))
		plan_set_drop(plan_floor_set(pool->floor), plan->goal->id);
}

void
plan_pool_changed(struct plan_pool *pool)
{
	const struct plan_floor *floor = pool->floor;
	const struct state *state = &floor->core->state;
	const struct plan_set *set;
	struct absent *absent, *next;

	if (floor->state != PLAN_OPEN)
		return;
	for (size_t i = state->task_count; i-- > 0;) {
		const struct task *t = state->tasks[i];

		/* One that is settling is asked for by auto mode. */
		if (!intake_is_planned(t) && t->step != TASK_SETTLING)
			plan_pool_bind(pool, t, NULL, NULL);
	}
	for (absent = TAILQ_FIRST(&pool->absents); absent != NULL;
	     absent = next) {
		next = TAILQ_NEXT(absent, entry);
		if (absent->known && !is_in_state(pool, absent->goal))
			absent_free(absent);
	}
	set = plan_floor_set(floor);
	for (size_t i = set->plan_count; i-- > 0;)
		if (set->plans[i]->goal->implicit &&
		    !is_in_state(pool, set->plans[i]->goal->id))
			drop(pool, set->plans[i]);
}

void
plan_pool_forget(struct plan_pool *pool, const struct task *task)
{
	const struct plan *plan = intake_is_planned(task) ?
	    NULL :
	    plan_set_plan(plan_floor_set(pool->floor), task->goal);

	if (plan != NULL)
		drop(pool, plan);
}

void
plan_pool_give_up(
    struct plan_floor *floor, struct plan_assignment *a, const char *why)
{
	struct plan *plan = plan_set_plan(plan_floor_set(floor), a->goal_id);
	enum goal_status before = plan->goal->status;
	struct plan_changes changes = { 0 };
	const struct plan_edit edit = { .plan = plan,
		.actor = "task",
		.why = why,
		.now_ms = clock_wall_ms(),
		.changes = &changes,
		.by_task = true };

	if (plan_implicit_cancel(&edit, NULL) == 0)
		plan_apply_edit(floor, plan, &changes, before);
	plan_changes_release(&changes);
	plan_bind_release(floor, a, why);
}

/* --- life -------------------------------------------------------------- */

void
plan_pool_closed(struct plan_pool *pool)
{
	struct absent *absent;

	while ((absent = TAILQ_FIRST(&pool->absents)) != NULL)
		absent_free(absent);
	persist_forget(pool->floor->core, pool);
	pool->saving = false;
}

struct plan_pool *
plan_pool_new(struct plan_floor *floor)
{
	struct plan_pool *pool = xcalloc(1, sizeof *pool);

	pool->floor = floor;
	TAILQ_INIT(&pool->absents);
	return pool;
}

void
plan_pool_free(struct plan_pool *pool)
{
	plan_pool_closed(pool);
	free(pool);
}
