/* SPDX-License-Identifier: ISC */

#include "plan-set.h"
#include "reconcile-ladder.h"
#include "reconcile-out.h"
#include "reconcile-work.h"
#include "reconcile.h"

/* The order matters: what is final first, then what was reported, then signs
 * of life, and only then what to do about their absence. */
static void
reconcile_one(struct reconcile_case *c)
{
	if (reconcile_closed(c) || reconcile_accepted(c))
		return;
	/* What was sent at this moment is newer than the telemetry. */
	if (c->assignment->last_dispatch_ms >= c->run->now_ms ||
	    !reconcile_allows(
		c->run->config, c->assignment->agent_id, c->assignment->worker))
		return;
	if (reconcile_updated(c) || c->facts->waiting || reconcile_observe(c) ||
	    reconcile_failed(c) || reconcile_asked(c))
		return;
	if (c->assignment->status == ASSIGNMENT_QUEUED)
		reconcile_assign(c);
	else
		reconcile_recover(c);
}

static struct reconcile_case
case_of(struct reconcile_run *run, struct plan_assignment *assignment,
    const struct reconcile_facts *facts)
{
	return (struct reconcile_case){
		.run = run,
		.assignment = assignment,
		.plan = plan_set_plan(run->set, assignment->goal_id),
		.node = plan_set_node_of(run->set, assignment),
		.facts = facts,
	};
}

static void
run_assignment(struct reconcile_run *run, struct plan_assignment *assignment,
    const struct reconcile_facts *facts)
{
	struct reconcile_facts none = { .assignment_id = assignment->id };
	struct reconcile_case c =
	    case_of(run, assignment, facts != NULL ? facts : &none);

	c.may_dispatch = !run->telemetry->busy && !c.facts->busy &&
	    (c.plan == NULL || c.plan->goal->status == GOAL_ACTIVE) &&
	    run->result->decision_count + 2 <= RECONCILE_DECISIONS_MAX;
	reconcile_one(&c);
}

void
reconcile(struct plan_set *set, const struct reconcile_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms,
    struct reconcile_result *ret_result)
{
	struct reconcile_run run = { set, telemetry, config, now_ms,
		ret_result };
	struct strmap facts = { 0 };
	size_t count = set->assignment_count;

	*ret_result = (struct reconcile_result){ 0 };
	if (!config->enabled || config->tick_every_ms <= 0) {
		ret_result->gate = RECONCILE_DISABLED;
		return;
	}
	if (telemetry->busy)
		ret_result->gate = RECONCILE_BUSY;
	for (size_t i = 0; i < telemetry->count; i++)
		strmap_add(&facts, telemetry->facts[i].assignment_id,
		    (void *)(uintptr_t)&telemetry->facts[i]);
	/* Assignments that are added meanwhile have their turn next time. */
	for (size_t i = 0; i < count; i++)
		if (assignment_status_open(set->assignments[i]->status))
			run_assignment(&run, set->assignments[i],
			    strmap_get(&facts, set->assignments[i]->id));
	reconcile_work_finish(&run);
	strmap_release(&facts);
}

void
reconcile_now(struct plan_set *set, struct plan_assignment *assignment,
    const struct reconcile_facts *facts, const struct reconcile_config *config,
    int64_t now_ms, struct reconcile_result *ret_result)
{
	const struct reconcile_telemetry telemetry = { .facts = facts,
		.count = 1 };
	struct reconcile_run run = { set, &telemetry, config, now_ms,
		ret_result };
	struct reconcile_case c = case_of(&run, assignment, facts);

	*ret_result = (struct reconcile_result){ 0 };
	c.may_dispatch = true;
	if (assignment_status_open(assignment->status))
		reconcile_one(&c);
	reconcile_work_finish(&run);
}
