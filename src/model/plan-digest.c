/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-digest.h"
#include "plan-set.h"
#include "plan-summary.h"
#include "schema.h"

struct entry {
	char *id, *title; /* of the goal */
	enum goal_status status;
	struct plan_summary summary;
};

struct digest {
	const char *off;
	int64_t goals[GOAL_STATUS_COUNT];
	struct plan_summary sum;
	int64_t stalled, more;
	struct entry list[PLAN_DIGEST_GOALS];
	size_t count;
};

#define ENTRY(key, member, ...) \
	SCHEMA_FIELD(struct entry, key, member, ##__VA_ARGS__)
#define FIELD(key, member, words) \
	SCHEMA_FIELD(struct digest, key, member, .help = (words))

static const struct schema_field entry_fields[] = {
	ENTRY("goal", id, .flags = SCHEMA_REQUIRED),
	ENTRY("title", title, .flags = SCHEMA_REQUIRED | SCHEMA_CUT,
	    .max = PLAN_DIGEST_TITLE),
	ENTRY("status", status, .words = goal_status_words),
	ENTRY("done", summary.leaves[NODE_DONE]),
	ENTRY("total", summary.total),
	ENTRY("ready", summary.ready),
	ENTRY("blocked", summary.leaves[NODE_BLOCKED]),
};
static const struct schema entry = SCHEMA_OF(struct entry, entry_fields);

static const struct schema_field fields[] = {
	FIELD("off", off, "why nothing is planned, although goals are enabled"),
	FIELD("active", goals[GOAL_ACTIVE], "goals"),
	FIELD("paused", goals[GOAL_PAUSED], "goals"),
	FIELD("done", sum.leaves[NODE_DONE], "nodes without children"),
	FIELD(
	    "total", sum.total, "of them, without those that others replaced"),
	FIELD("ready", sum.ready, NULL),
	FIELD("blocked", sum.leaves[NODE_BLOCKED], NULL),
	FIELD("stalled", stalled, "assignments"),
	SCHEMA_PARTS(struct digest, "goals", SLOTS, list, count, entry,
	    .help = "the first 20"),
	FIELD("more", more, "goals that are not listed"),
};

const struct schema plan_digest_shape = SCHEMA_OF(struct digest, fields);

static void
add_plan(struct digest *digest, const struct plan *plan)
{
	struct plan_summary s = plan_summary(plan, NULL);

	digest->goals[plan->goal->status]++;
	digest->sum.leaves[NODE_DONE] += s.leaves[NODE_DONE];
	digest->sum.leaves[NODE_BLOCKED] += s.leaves[NODE_BLOCKED];
	digest->sum.total += s.total;
	digest->sum.ready += s.ready;
	if (digest->count < PLAN_DIGEST_GOALS)
		digest->list[digest->count++] =
		    (struct entry){ .id = plan->goal->id,
			    .title = plan->goal->title,
			    .status = plan->goal->status,
			    .summary = s };
	else
		digest->more++;
}

struct json_object *
plan_digest(const struct plan_set *set, const char *reason)
{
	struct digest digest = { .off = set == NULL ? reason : NULL };

	for (size_t i = 0; set != NULL && i < set->plan_count; i++)
		if (goal_status_open(set->plans[i]->goal->status))
			add_plan(&digest, set->plans[i]);
	for (size_t i = 0; set != NULL && i < set->assignment_count; i++)
		digest.stalled +=
		    set->assignments[i]->status == ASSIGNMENT_STALLED;
	return schema_json(&plan_digest_shape, &digest);
}
