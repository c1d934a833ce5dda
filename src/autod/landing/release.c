/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "agent.h"
#include "fleet.h"
#include "landing-item.h"
#include "landing-view.h"
#include "landing.h"
#include "mem.h"
#include "op-clean.h"
#include "persist.h"
#include "queue.h"
#include "release.h"

/* The worker that waits with this item; NULL = none, or it must stay: a person
 * has accepted it, the branch is moving, or something is in progress. */
static struct agent *
agent_of(const struct landings *landings, const struct landing_item *item)
{
	struct agent *agent;

	if (item->kind != ITEM_WORK || item->task == NULL ||
	    item->worker == NULL || item->freeing || item->approved ||
	    item->commit != NULL)
		return NULL;
	agent = fleet_find(landings->fleet, item->worker);
	return agent != NULL && agent->worker->status == WORKER_ACCEPTING &&
		!agent_is_taken(agent) ?
	    agent :
	    NULL;
}

size_t
release_due(struct landings *landings, const struct landing_facts *facts,
    const struct landing_plan *plan, struct landing_item *const *items,
    int64_t now_ms)
{
	const struct landing_policy *policy = landings->policy;
	cleanup_free struct landing_view *views = NULL;
	size_t left = 0;

	if (policy == NULL || policy->frees == NULL)
		return 0;
	views = xcalloc(facts->entry_count + 1, sizeof *views);
	landing_view_make(facts, plan, now_ms, views);
	for (size_t i = 0; i < facts->entry_count; i++) {
		struct agent *agent = agent_of(landings, items[i]);

		if (agent == NULL || !landing_view_is_long(&views[i]))
			continue;
		if (!policy->frees(
			landings->policy_arg, agent, items[i]->task)) {
			left++;
			continue;
		}
		items[i]->freeing = true;
		persist_changed(landings->core);
		queue_look(landings->queue);
	}
	return left;
}

void
release_done(struct landings *landings, struct landing_item *item)
{
	xstrset(&item->worker, NULL);
	item->freeing = false;
	persist_changed(landings->core);
	queue_look(landings->queue);
}

static void
on_cleaned(struct agent *agent, void *arg)
{
	struct landings *landings = arg;
	struct landing_item *item = landing_record_of(
	    &landings->core->state.landings, agent->worker->name);

	if (item != NULL && item->freeing)
		release_done(landings, item);
}

void
release_worker(struct landings *landings, struct landing_item *item)
{
	struct agent *agent = fleet_find(landings->fleet, item->worker);

	if (agent == NULL || agent->worker->status != WORKER_ACCEPTING)
		release_done(landings, item);
	else if (!agent_is_taken(agent))
		op_clean(agent,
		    &(struct op_clean_what){
			.head = item->head, .queued = true },
		    on_cleaned, landings);
}
