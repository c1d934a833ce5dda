/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "mem.h"
#include "plan-advice.h"
#include "plan-assignment.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-tick.h"
#include "planner.h"
#include "settings.h"
#include "stall-diagnosis.h"
#include "transcript-tail.h"

/* About one assignment, after its last dispatch. */
struct item {
	TAILQ_ENTRY(item) entry;
	struct plan_advice *advice;
	char *assignment, *dispatch;
	bool asking;
	struct stall_diagnosis diagnosis; /* empty = there is none */
};

TAILQ_HEAD(items, item);

struct plan_advice {
	struct plan_floor *floor;
	struct items items;
};

static struct item *
find(const struct plan_advice *advice, const char *assignment)
{
	struct item *item;

	TAILQ_FOREACH (item, &advice->items, entry)
		if (strcmp(item->assignment, assignment) == 0)
			return item;
	return NULL;
}

static void
item_free(struct item *item)
{
	TAILQ_REMOVE(&item->advice->items, item, entry);
	if (item->asking)
		planner_forget(item->advice->floor->planner, item);
	stall_diagnosis_release(&item->diagnosis);
	free(item->assignment);
	free(item->dispatch);
	free(item);
}

/* Nobody asks about an assignment that has ended. */
static void
drop_ended(struct plan_advice *advice)
{
	const struct plan_set *set = plan_floor_set(advice->floor);
	struct item *item, *next;

	for (item = TAILQ_FIRST(&advice->items); item != NULL; item = next) {
		const struct plan_assignment *a =
		    plan_set_assignment(set, item->assignment);

		next = TAILQ_NEXT(item, entry);
		if (a == NULL || !assignment_status_open(a->status))
			item_free(item);
	}
}

/* --- asking ----------------------------------------------------------- */

static void
on_diagnosed(
    const struct stall_diagnosis *diagnosis, const struct err *err, void *arg)
{
	struct item *item = arg;

	(void)err; /* a person is told, as without a planner */
	item->asking = false;
	if (diagnosis != NULL)
		stall_diagnosis_copy(diagnosis, &item->diagnosis);
	plan_tick_wake(item->advice->floor->tick, "advice");
}

struct question {
	struct item *item;
	const struct plan_assignment *assignment;
};

static void
on_messages(const struct stall_message *messages, size_t count, void *arg)
{
	const struct question *q = arg;

	q->item->asking =
	    planner_diagnose(q->item->advice->floor->planner,
		q->assignment->goal_id, q->assignment->node_id,
		"several messages to its worker did not help", messages, count,
		on_diagnosed, q->item, NULL) == 0;
}

static struct item *
ask_planner(struct plan_advice *advice, const struct plan_assignment *a,
    const char *dispatch, const char *transcript)
{
	struct item *item = xcalloc(1, sizeof *item);
	struct question q = { item, a };

	drop_ended(advice);
	item->advice = advice;
	item->assignment = xstrdup(a->id);
	item->dispatch = xstrdup(dispatch);
	TAILQ_INSERT_TAIL(&advice->items, item, entry);
	transcript_tail_read(transcript, on_messages, &q);
	return item;
}

static bool
may_ask(const struct plan_floor *floor)
{
	const struct settings *s = floor->core->settings;

	return floor->planner != NULL && floor->core->state.paused == NULL &&
	    (settings_string(s, "planner.command")[0] != '\0' ||
		settings_string(s, "planner.model")[0] != '\0');
}

const struct stall_diagnosis *
plan_advice_of(struct plan_advice *advice, const struct plan_assignment *a,
    const char *transcript, bool ask, bool *ret_wait)
{
	const struct plan_dispatch *last = plan_assignment_last(a);
	struct item *item = find(advice, a->id);

	if (last == NULL)
		return NULL;
	if (item != NULL && strcmp(item->dispatch, last->id) != 0) {
		item_free(item);
		item = NULL;
	}
	if (item == NULL && ask && may_ask(advice->floor))
		item = ask_planner(advice, a, last->id, transcript);
	if (item == NULL)
		return NULL;
	*ret_wait |= item->asking;
	return item->diagnosis.count > 0 ? &item->diagnosis : NULL;
}

/* --- life ------------------------------------------------------------- */

struct plan_advice *
plan_advice_new(struct plan_floor *floor)
{
	struct plan_advice *advice = xcalloc(1, sizeof *advice);

	advice->floor = floor;
	TAILQ_INIT(&advice->items);
	return advice;
}

void
plan_advice_free(struct plan_advice *advice)
{
	struct item *item;

	while ((item = TAILQ_FIRST(&advice->items)) != NULL)
		item_free(item);
	free(advice);
}
