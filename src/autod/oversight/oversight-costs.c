/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "book-history.h"
#include "behaviour.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "task-run.h"
#include "task.h"

#define MICROS    1e6
#define COSTS     64 /* tasks of a kind that are remembered */
#define KINDS_MAX 64
#define FILED_MAX 512 /* records that are looked at */

struct cost_kind {
	char *name;
	double dollars[COSTS];
	size_t count; /* ever seen */
};

bool
oversight_costs_counts(const struct task *t)
{
	const struct task_run *run = t->run;

	return run == NULL ||
	    (!run->has_spawned && !run->by_mail && run->mail_turns == 0 &&
		run->waiting_ms == 0 && run->waited_ms == 0);
}

static char *
kind_of(const struct task *t)
{
	const char *who = t->run == NULL ? NULL :
	    t->run->agent != NULL        ? t->run->agent :
					   t->run->role;

	return xasprintf("%s/%s", t->source != NULL ? t->source : "",
	    who != NULL ? who : "");
}

static struct cost_kind *
find(const struct oversight_costs *costs, const char *name)
{
	for (size_t i = 0; i < costs->count; i++)
		if (strcmp(costs->kinds[i].name, name) == 0)
			return &costs->kinds[i];
	return NULL;
}

void
oversight_costs_add(struct oversight_costs *costs, const struct task *t)
{
	cleanup_free char *name = kind_of(t);
	struct cost_kind *kind = find(costs, name);

	if (t->spent.cost <= 0 || !oversight_costs_counts(t))
		return;
	if (kind == NULL) {
		if (costs->count == KINDS_MAX)
			return;
		costs->kinds = xreallocarray(
		    costs->kinds, costs->count + 1, sizeof *costs->kinds);
		kind = &costs->kinds[costs->count++];
		kind->name = take_ptr(&name);
		kind->count = 0;
	}
	kind->dollars[kind->count++ % COSTS] = (double)t->spent.cost / MICROS;
}

static bool
on_filed(const struct task *t, int64_t filed, void *arg)
{
	(void)filed;
	if (t->outcome == OUTCOME_LANDED)
		oversight_costs_add(arg, t);
	return true;
}

void
oversight_costs_load(struct oversight_costs *costs, struct book *book)
{
	if (costs->loaded)
		return;
	oversight_costs_release(costs);
	costs->loaded = true;
	book_each_task(book,
	    &(struct book_tasks){
		.limit = FILED_MAX, .oldest_first = true, .brief = true },
	    on_filed, costs, NULL);
}

double
oversight_costs_estimate(
    const struct oversight_costs *costs, const struct task *t)
{
	cleanup_free char *name = kind_of(t);
	const struct cost_kind *kind = find(costs, name);

	if (kind == NULL || !oversight_costs_counts(t))
		return NAN;
	return cost_estimate(
	    NAN, kind->dollars, kind->count < COSTS ? kind->count : COSTS);
}

void
oversight_costs_release(struct oversight_costs *costs)
{
	for (size_t i = 0; i < costs->count; i++)
		free(costs->kinds[i].name);
	free(costs->kinds);
	*costs = (struct oversight_costs){ 0 };
}
