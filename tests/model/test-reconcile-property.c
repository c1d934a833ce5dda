/* SPDX-License-Identifier: ISC */

/*
 * Random telemetry over many ticks, from a fixed list of seeds (tests/soak.sh
 * tries more of them): whatever is observed, the rules that keep people and
 * workers from harm hold after every tick, and work that nothing more happens
 * to ends as done or with a person.
 */

#include "reconcile-world.h"
#include "unit.h"

#define SEEDS      8 /* or RECONCILE_SEEDS */
#define TICKS      120
#define QUIET      400 /* ticks in which nothing happens */
#define GOALS      2
#define RECORD_MAX 400 /* assignments of one world */

static const char *const main_agent[] = { "main", NULL };

/* The defaults, and their ratios on another scale. */
static struct reconcile_config
config_of(int64_t divisor)
{
	return (struct reconcile_config){
		.enabled = true,
		.tick_every_ms = 120000 / divisor,
		.idle_after_ms = 900000 / divisor,
		.max_retries = 2,
		.min_resend_ms = 300000 / divisor,
		.backoff_base_ms = 120000 / divisor,
		.backoff_max_ms = 1800000 / divisor,
		.allow_agents = main_agent,
	};
}

struct random {
	uint64_t state;
};

/* xorshift64* */
static uint32_t
draw(struct random *random, uint32_t below)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (uint32_t)((random->state * 2685821657736338717ULL) >> 33) %
	    below;
}

struct run {
	struct reconcile_world world;
	struct random random;
	struct update *updates[4];
	int assigned; /* so far */
	int64_t sent_ms[RECORD_MAX]; /* the last message, by assignment */
	char ids[64];
	char **known; /* assignments */
};

static const char *const update_texts[] = {
	"```json\n{\"overseerUpdate\":{\"status\":\"in_progress\","
	"\"summary\":\"a\"}}\n```",
	"```json\n{\"overseerUpdate\":{\"status\":\"blocked\","
	"\"blockers\":[\"b\"]}}\n```",
	"```json\n{\"overseerUpdate\":{\"status\":\"done\","
	"\"summary\":\"c\"}}\n```",
	"```json\n{\"overseerUpdate\":{\"next\":\"d\"}}\n```",
};

static const char *const message_ids[] = { "m0", "m1", "m2", "m3", "m4", "m5",
	"m6", "m7", NULL };

static void
run_begin(struct run *run, uint64_t seed, int64_t divisor)
{
	*run = (struct run){ .random = { seed * 7919 + 1 } };
	reconcile_world_init(&run->world);
	run->world.config = config_of(divisor);
	for (int g = 0; g < GOALS; g++) {
		cleanup_free char *id = xasprintf("goal_%d", g);

		reconcile_world_goal(&run->world, id, 2, 2, 2);
	}
	for (size_t i = 0; i < nitems(update_texts); i++)
		ck_assert_int_eq(
		    update_find(update_texts[i], strlen(update_texts[i]),
			&run->updates[i], NULL),
		    0);
}

static void
run_end(struct run *run)
{
	for (size_t i = 0; i < nitems(run->updates); i++)
		update_free(run->updates[i]);
	strv_free(run->known);
	reconcile_world_release(&run->world);
}

/* As auto mode does: some of the nodes that wait get an assignment. */
static void
take_nodes(struct run *run)
{
	struct plan_set *set = &run->world.set;

	for (size_t g = 0; g < set->plan_count; g++) {
		struct plan *plan = set->plans[g];

		for (struct plan_node *node = plan_next(plan, NULL);
		     node != NULL; node = plan_next(plan, node)) {
			cleanup_free char *id = NULL;

			if (!plan_node_leaf(node) ||
			    node->status != NODE_QUEUED ||
			    plan_node_is_assigned(node) ||
			    draw(&run->random, 3) != 0 ||
			    run->assigned + 2 >= RECORD_MAX / 2)
				continue;
			id = xasprintf("A_%d", ++run->assigned);
			reconcile_world_assign(&run->world, id, plan->goal->id,
			    node->id, ASSIGNMENT_QUEUED);
			node->work.recovery_policy =
			    (enum recovery_policy)draw(&run->random, 6);
			if (draw(&run->random, 2) == 0)
				plan_node_instruct(node, "Do it.");
		}
	}
}

/* Anything may be observed about an open assignment. */
static void
observe(struct run *run, struct reconcile_facts *facts)
{
	struct random *r = &run->random;
	int64_t now = run->world.now_ms;
	const char *id = facts->assignment_id;
	struct plan_node *node = reconcile_world_find(&run->world.set, id);
	struct plan_dispatch *last;

	*facts = (struct reconcile_facts){ .assignment_id = id };
	if (node == NULL || !plan_node_is_assigned(node))
		return;
	last = plan_node_last_dispatch(node);
	if (last != NULL && last->result == DISPATCH_PENDING)
		last->result = (enum dispatch_result)draw(r, 5);
	facts->in_turn = draw(r, 5) == 0;
	facts->busy = draw(r, 8) == 0;
	facts->lost = draw(r, 40) == 0;
	facts->failed = draw(r, 40) == 0;
	facts->asked = draw(r, 20) == 0;
	facts->accepted = draw(r, 60) == 0;
	facts->sample = (enum stall_class)draw(r, STALL_CLASS_COUNT);
	if (draw(r, 3) == 0)
		facts->activity_ms = now -
		    draw(r, (uint32_t)run->world.config.idle_after_ms / 2);
	if (draw(r, 3) == 0)
		facts->turn_ms = now -
		    draw(r, (uint32_t)run->world.config.idle_after_ms / 2);
	if (draw(r, 3) == 0)
		facts->reply_ms = now -
		    draw(r, (uint32_t)run->world.config.idle_after_ms / 2);
	if (draw(r, 6) == 0) {
		facts->update = run->updates[draw(r, nitems(run->updates))];
		facts->message_id = message_ids[draw(r, nitems(message_ids))];
	}
}

/* --- what must hold --------------------------------------------------- */

static void
check_assignments(struct run *run)
{
	const struct plan_set *set = &run->world.set;

	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;

	while ((node = plan_set_next(set, &cursor)) != NULL) {
		if (!plan_node_is_assigned(node))
			continue;
		ck_assert(node->work.status != ASSIGNMENT_BLOCKED ||
		    node->work.blocked_reason);
		ck_assert_int_le(
		    node->work.retry_count, run->world.config.max_retries);
	}
}

static size_t
index_of(struct run *run, const char *id)
{
	size_t i = 0, count = strv_count(run->known);

	while (i < count && strcmp(run->known[i], id) != 0)
		i++;
	if (i == count)
		strv_add(&run->known, id);
	ck_assert_uint_lt(i, RECORD_MAX);
	return i;
}

static void
check_decisions(struct run *run, const struct reconcile_result *result)
{
	int64_t now = run->world.now_ms;

	ck_assert_uint_le(result->decision_count, RECONCILE_DECISIONS_MAX);
	for (size_t i = 0; i < result->decision_count; i++) {
		const struct reconcile_decision *d = &result->decisions[i];
		size_t at = index_of(run, d->assignment_id);

		ck_assert_ptr_nonnull(d->reason);
		if (d->dispatch_id == NULL)
			continue;
		ck_assert_ptr_nonnull(d->text);
		if (d->mode == DISPATCH_ESCALATE)
			continue;
		ck_assert_msg(run->sent_ms[at] == 0 ||
			now - run->sent_ms[at] >=
			    run->world.config.min_resend_ms,
		    "%s inside the interval", d->dispatch_id);
		run->sent_ms[at] = now;
		for (size_t j = 0; j < i; j++)
			ck_assert(result->decisions[j].dispatch_id == NULL ||
			    strcmp(result->decisions[j].dispatch_id,
				d->dispatch_id) != 0);
	}
}

/* The same input gives the same output, also when it was stored between. */
static void
check_determinism(struct run *run, struct reconcile_result *ret_result)
{
	cleanup_buf struct buf first = BUF_INIT, second = BUF_INIT;
	cleanup_buf struct buf before = BUF_INIT, after = BUF_INIT;
	struct reconcile_world copy, dry = run->world;
	struct reconcile_result again;

	/* A copy of the set is as good, and leaves the set as it is. */
	plan_set_copy(&run->world.set, &dry.set);
	reconcile_world_dump(&run->world, &before);
	reconcile_world_tick(&dry, &again);
	reconcile_result_dump(&again, &first);
	reconcile_result_release(&again);
	plan_set_release(&dry.set);
	reconcile_world_dump(&run->world, &after);
	ck_assert_str_eq(before.data, after.data);
	reconcile_world_reload(&run->world, &copy);
	reconcile_world_tick(&run->world, ret_result);
	reconcile_world_tick(&copy, &again);
	reconcile_result_dump(ret_result, &second);
	ck_assert_str_eq(first.data, second.data);
	buf_clear(&second);
	reconcile_result_dump(&again, &second);
	reconcile_world_dump(&run->world, &first);
	reconcile_world_dump(&copy, &second);
	ck_assert_str_eq(first.data, second.data);
	reconcile_result_release(&again);
	reconcile_world_release(&copy);
}

static void
step(struct run *run, bool compare)
{
	struct reconcile_result result;

	if (compare)
		check_determinism(run, &result);
	else
		reconcile_world_tick(&run->world, &result);
	check_decisions(run, &result);
	check_assignments(run);
	reconcile_result_release(&result);
	/* What was just done needs no more decisions. */
	reconcile_world_tick(&run->world, &result);
	ck_assert_msg(result.decision_count == 0, "%s %s",
	    reconcile_kind_words[result.decisions[0].kind],
	    result.decisions[0].code);
	reconcile_result_release(&result);
}

static void
make_quiet(struct run *run)
{
	struct reconcile_world *world = &run->world;

	world->busy = false;
	for (size_t i = 0; i < world->fact_count; i++) {
		const char *id = world->facts[i].assignment_id;
		const struct plan_node *node =
		    reconcile_world_find(&world->set, id);
		struct plan_dispatch *last =
		    node != NULL ? plan_node_last_dispatch(node) : NULL;

		world->facts[i] =
		    (struct reconcile_facts){ .assignment_id = id };
		if (last != NULL && last->result == DISPATCH_PENDING)
			last->result = DISPATCH_ACCEPTED;
	}
}

static size_t
count_restless(const struct run *run)
{
	const struct plan_set *set = &run->world.set;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	size_t count = 0;

	while ((node = plan_set_next(set, &cursor)) != NULL)
		count += plan_node_is_assigned(node) &&
		    node->work.status != ASSIGNMENT_BLOCKED;
	return count;
}

static void
live(uint64_t seed, int64_t divisor)
{
	struct run *run = xcalloc(1, sizeof *run);
	int quiet = 0;

	run_begin(run, seed, divisor);
	for (int i = 0; i < TICKS; i++) {
		run->world.now_ms += run->world.config.tick_every_ms;
		take_nodes(run);
		run->world.busy = draw(&run->random, 10) == 0;
		for (size_t f = 0; f < run->world.fact_count; f++)
			observe(run, &run->world.facts[f]);
		step(run, i % 10 == 0);
	}
	while (count_restless(run) > 0 && quiet++ < QUIET) {
		run->world.now_ms += run->world.config.tick_every_ms;
		make_quiet(run);
		step(run, false);
	}
	ck_assert_msg(count_restless(run) == 0, "seed %llu: %zu left",
	    (unsigned long long)seed, count_restless(run));
	run_end(run);
	free(run);
}

START_TEST(the_rules_hold_whatever_happens)
{
	live((uint64_t)_i + 1, 1);
}
END_TEST

/* The defaults' ratios with times of a test. */
START_TEST(the_rules_hold_on_another_scale)
{
	live((uint64_t)_i + 1001, 600);
}
END_TEST

START_TEST(nobody_moving_reaches_a_person_in_bounded_time)
{
	struct run *run = xcalloc(1, sizeof *run);
	int messages = 0, persons = 0;
	int64_t start;

	run_begin(run, 1, 1);
	start = run->world.now_ms;
	reconcile_world_assign(
	    &run->world, "A_1", "goal_0", "S1.1.1", ASSIGNMENT_QUEUED);
	while (persons == 0 && run->world.now_ms < start + 86400000) {
		struct reconcile_result result;

		make_quiet(run);
		reconcile_world_tick(&run->world, &result);
		for (size_t i = 0; i < result.decision_count; i++) {
			messages += result.decisions[i].mode == DISPATCH_SEND;
			persons +=
			    result.decisions[i].mode == DISPATCH_ESCALATE;
		}
		reconcile_result_release(&result);
		run->world.now_ms += run->world.config.tick_every_ms;
	}
	/* The task and two nudges; after 15 min, then 4 (5 between messages)
	 * and 8 min later. */
	ck_assert_int_eq(persons, 1);
	ck_assert_int_eq(messages, 3);
	ck_assert_int_le(run->world.now_ms - start, 40 * 60000);
	run_end(run);
	free(run);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("reconcile-property");
	const char *more = getenv("RECONCILE_SEEDS");
	size_t seeds = more != NULL ? strtoul(more, NULL, 10) : SEEDS;

	unit_rows(s, the_rules_hold_whatever_happens, seeds);
	unit_rows(s, the_rules_hold_on_another_scale, seeds);
	unit_case(s, "reconcile-property",
	    (const TTest *[]){
		nobody_moving_reaches_a_person_in_bounded_time, NULL });
	return s;
}
