/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-floor.h"
#include "plan-progress.h"

struct plan_world plan_world;

/* --- the world ------------------------------------------------------- */

void
plan_world_begin(const char *plan, const char *more)
{
	cleanup_free char *text = xasprintf("%s[plan]\nenabled = true\n%s",
	    more != NULL ? more : "", plan != NULL ? plan : "");

	memset(&plan_world, 0, sizeof plan_world);
	plan_world.words = "Done.";
	auto_world_begin(text);
	plan_world.floor = plan_floor_new(auto_world.mode);
	unit_at_end(plan_world_end);
}

void
plan_world_live(void)
{
	auto_world_live();
}

void
plan_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	plan_floor_free(plan_world.floor);
	auto_world_end();
}

void
plan_world_reopen(void)
{
	plan_floor_free(plan_world.floor);
	auto_world_reopen();
	plan_world.floor = plan_floor_new(auto_world.mode);
}

void
plan_world_die(void)
{
	plan_world_reopen();
	plan_world_live();
}

void
plan_world_begin_goal(const char *more, int tasks)
{
	plan_world_begin(NULL, more);
	plan_world_live();
	plan_world_goal("goal_a", tasks);
}

/* --- goals ----------------------------------------------------------- */

static void
attach(struct plan *plan, struct plan_node *node, const char *parent)
{
	xstrset(&node->parent_id, parent);
	ck_assert_int_eq(plan_attach(plan, node, NULL), 0);
}

void
plan_world_goal(const char *id, int tasks)
{
	int64_t now = clock_wall_ms();
	struct plan_changes changes = { 0 };
	struct plan_node *before = NULL;
	struct plan *plan;

	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	plan = plan_new(plan_goal_new(id, "A goal", now));
	attach(plan, plan_node_new(id, NODE_PHASE, "P1", "A phase", now), NULL);
	for (int i = 1; i <= tasks; i++) {
		cleanup_free char *name = xasprintf("T1.%d", i);
		struct plan_node *node =
		    plan_node_new(id, NODE_TASK, name, name, now);

		node->order = i;
		attach(plan, node, "P1");
		if (before != NULL)
			plan_depend(&changes, node, before, now);
		before = node;
	}
	for (size_t i = 0; i < plan->count; i++)
		plan_changed(&changes, plan->nodes[i]);
	changes.goal = true;
	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(plan_world.floor), plan, NULL), 0);
	plan_ready_queue(plan, now, &changes);
	plan_book_changes(plan_world.floor, plan, &changes);
	plan_changes_release(&changes);
	plan_world_settle();
	plan_floor_changed(plan_world.floor);
}

struct plan *
plan_world_plan(const char *goal)
{
	return plan_set_plan(plan_floor_set(plan_world.floor), goal);
}

struct plan_node *
plan_world_node(const char *goal, const char *node)
{
	return plan_find(plan_world_plan(goal), node);
}

void
plan_world_is(const char *goal, const char *want)
{
	const struct plan *plan = plan_world_plan(goal);
	cleanup_buf struct buf text = BUF_INIT;
	struct plan_node *node = NULL;

	ck_assert_ptr_nonnull(plan);
	buf_addf(&text, "%s; ", goal_status_name(plan->goal->status));
	while ((node = plan_next(plan, node)) != NULL)
		if (plan_node_leaf(node))
			buf_addf(&text, "%s %s; ", node->id,
			    node_status_name(node->status));
	ck_assert_str_eq(text.data, want);
}

/* --- working --------------------------------------------------------- */

struct work {
	floor_fn *fn;
	void *arg;
};

/* End the turn that is running, with a commit. */
static void
work_once(void)
{
	struct agent *agent = auto_world_agent();
	cleanup_free char *file = NULL;

	if (agent == NULL || agent->op != NULL || auto_task(agent) == NULL ||
	    !agent->worker->session.busy ||
	    fake_session_prompts(agent->session) == 0 ||
	    agent->worker->status == WORKER_STARTING)
		return;
	file = xasprintf("w%d.txt", ++plan_world.works);
	auto_world_work(file);
	fake_session_turn_ends(agent->session, plan_world.words);
}

static bool
work_until(void *arg)
{
	struct work *work = arg;

	if (work->fn(work->arg))
		return true;
	work_once();
	return false;
}

void
plan_world_work(floor_fn *fn, void *arg)
{
	struct work work = { fn, arg };

	floor_world_wait(work_until, &work);
}

static bool
is_stored(void *arg)
{
	(void)arg;
	return persist_is_idle(auto_world.core);
}

static bool
is_all_done(void *arg)
{
	cleanup_free struct plan_ready *ready = NULL;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	const struct plan_set *set;

	(void)arg;
	if (plan_world.floor->state != PLAN_OPEN || !auto_world.mode->begun)
		return false;
	set = plan_floor_set(plan_world.floor);
	while ((node = plan_set_next(set, &cursor)) != NULL)
		if (plan_bind_wants_worker(set, node))
			return false;
	return auto_world.core->state.task_count == 0 &&
	    !auto_world.mode->worth_asking && is_stored(&plan_world) &&
	    plan_ready_list(plan_floor_set(plan_world.floor), &ready) == 0;
}

void
plan_world_work_all(void)
{
	plan_world_work(is_all_done, &plan_world);
	floor_world_settle();
}

struct changing {
	struct buf last;
	int left;
};

static void
describe(struct buf *out)
{
	const struct state *state = &auto_world.core->state;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	const struct plan_set *set;

	for (size_t i = 0; i < state->task_count; i++)
		buf_addf(out, "%s %d, ", state->tasks[i]->id,
		    (int)state->tasks[i]->step);
	buf_addf(out, "%d; ", persist_is_idle(auto_world.core));
	if (plan_world.floor->state != PLAN_OPEN)
		return;
	set = plan_floor_set(plan_world.floor);
	for (size_t i = 0; i < set->plan_count; i++)
		for (size_t k = 0; k < set->plans[i]->count; k++)
			buf_addf(
			    out, "%d ", (int)set->plans[i]->nodes[k]->status);
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		const struct plan_dispatch *d = plan_node_last_dispatch(node);

		buf_addf(out, "%s %d/%d ", node->work.id,
		    (int)node->work.status, d != NULL ? (int)d->result : -1);
	}
}

static bool
has_changed(void *arg)
{
	struct changing *changing = arg;
	cleanup_buf struct buf now = BUF_INIT;

	describe(&now);
	if (strcmp(now.data, changing->last.data) != 0) {
		buf_clear(&changing->last);
		buf_adds(&changing->last, now.data);
		changing->left--;
	}
	if (changing->left <= 0 || is_all_done(&plan_world))
		return true;
	work_once();
	return false;
}

bool
plan_world_work_changes(int changes)
{
	struct changing changing = { .left = changes };

	buf_init(&changing.last);
	floor_world_wait_closely(has_changed, &changing);
	buf_release(&changing.last);
	return changing.left <= 0;
}

void
plan_world_settle(void)
{
	floor_world_wait(is_stored, &plan_world);
}

static bool
count_event(const struct book_event *event, void *arg)
{
	(void)event;
	++*(int *)arg;
	return true;
}

int
plan_world_events(const char *type)
{
	const struct book_filter filter = { .type = type };
	struct err err = { 0 };
	int count = 0;

	plan_world_settle();
	ck_assert_msg(book_query_events(auto_world.core->book, &filter,
			  count_event, &count, &err) == 0,
	    "%s", err.msg);
	return count;
}

struct json_object *
plan_world_must(const char *method, const char *params)
{
	return floor_world_result(floor_world_ask(method, params));
}

void
plan_world_refused(
    const char *method, const char *params, int code, const char *words)
{
	floor_world_refused(floor_world_ask(method, params), code, words);
}

struct plan_node *
plan_world_worked(void)
{
	const struct plan_set *set = plan_floor_set(plan_world.floor);
	struct plan_node *last = NULL, *node;
	struct plan_cursor cursor = { 0 };

	while ((node = plan_set_next(set, &cursor)) != NULL)
		if (last == NULL ||
		    node->work.created_ms >= last->work.created_ms)
			last = node;
	ck_assert_ptr_nonnull(last);
	return last;
}
