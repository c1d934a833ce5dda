/* SPDX-License-Identifier: ISC */

/*
 * What one tick costs, compared with its target: bench-tick. 10,000 nodes of
 * ten goals, 1,000 live assignments, in three situations: nothing has happened,
 * everything has stalled, every result was accepted. Time of the processor: the
 * tick waits for nothing.
 */
#include "base.h"

#include <sys/resource.h>

#include "bench.h"
#include "reconcile-world.h"

#define RUNS      20
#define GOALS     10
#define PHASES    4
#define TASKS     8
#define SUBTASKS  31 /* with phases and tasks, 1,028 nodes a goal */
#define ASSIGNED  1000
#define TARGET_MS 10.0

enum situation {
	QUIET,
	STALLED,
	ACCEPTED,
	SITUATIONS
};

static const char *const names[] = {
	[QUIET] = "tick: all of 1,000 assignments active",
	[STALLED] = "tick: all of them stalled",
	[ACCEPTED] = "tick: all of their results accepted",
};

static size_t
fill(struct reconcile_world *world)
{
	static char ids[ASSIGNED][16];
	size_t nodes = 0, assigned = 0;

	reconcile_world_init(world);
	for (int g = 0; g < GOALS; g++) {
		cleanup_free char *id = xasprintf("goal_%d", g);
		struct plan *plan =
		    reconcile_world_goal(world, id, PHASES, TASKS, SUBTASKS);
		size_t here = 0;

		nodes += plan->count;
		for (struct plan_node *node = plan_next(plan, NULL);
		     node != NULL && here < ASSIGNED / GOALS;
		     node = plan_next(plan, node)) {
			if (!plan_node_leaf(node))
				continue;
			here++;
			snprintf(
			    ids[assigned], sizeof ids[0], "A_%zu", assigned);
			reconcile_world_assign(world, ids[assigned++], id,
			    node->id, ASSIGNMENT_ACTIVE);
			node->work.last_dispatch_ms = world->now_ms - 10000;
		}
	}
	return nodes;
}

static int64_t
cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
	    1000000 +
	    usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static double
run(enum situation situation, size_t *ret_nodes, size_t *ret_decisions)
{
	struct reconcile_world world;
	struct reconcile_result result;
	int64_t start, end;

	*ret_nodes = fill(&world);
	for (size_t i = 0; i < world.fact_count; i++) {
		world.facts[i].accepted = situation == ACCEPTED;
		world.facts[i].in_turn = situation == QUIET;
	}
	start = cpu_us();
	reconcile_world_tick(&world, &result);
	end = cpu_us();
	*ret_decisions = result.decision_count;
	reconcile_result_release(&result);
	reconcile_world_release(&world);
	return (double)(end - start) / 1000;
}

int
main(void)
{
	struct table *table = bench_table("WHAT");

	for (int s = 0; s < SITUATIONS; s++) {
		cleanup_free char *more = NULL;
		size_t node_count = 0, decision_count = 0;
		double times[RUNS];

		for (int i = 0; i < RUNS; i++)
			times[i] = run(
			    (enum situation)s, &node_count, &decision_count);
		bench_sort(times, RUNS);
		more = xasprintf("worst %.2f ms; %zu nodes, %zu decisions",
		    times[RUNS - 1], node_count, decision_count);
		bench_report(
		    table, names[s], times[RUNS / 2], TARGET_MS, "ms", more);
	}
	bench_print(table);
	return 0;
}
