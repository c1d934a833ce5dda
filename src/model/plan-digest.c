/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "json.h"
#include "mem.h"
#include "plan-digest.h"
#include "plan-set.h"
#include "plan-summary.h"
#include "shape.h"
#include "text.h"

struct sums {
	int64_t goals[GOAL_STATUS_COUNT];
	int64_t done, total, ready, blocked, more;
	struct json_object *list;
};

static struct json_object *
entry(const struct plan_goal *goal, const struct plan_summary *s)
{
	struct json_object *json = json_object_new_object();
	size_t len =
	    text_cut(goal->title, strlen(goal->title), PLAN_DIGEST_TITLE);
	cleanup_free char *title = xstrndup(goal->title, len);

	json_set_string(json, "goal", goal->id);
	json_set_string(json, "title", title);
	json_set_string(json, "status", goal_status_name(goal->status));
	json_set_int(json, "done", (int64_t)s->leaves[NODE_DONE]);
	json_set_int(json, "total", (int64_t)s->total);
	json_set_int(json, "ready", (int64_t)s->ready);
	json_set_int(json, "blocked", (int64_t)s->leaves[NODE_BLOCKED]);
	return json;
}

static void
add_plan(struct sums *sums, const struct plan *plan)
{
	struct plan_summary s = plan_summary(plan, NULL);

	sums->goals[plan->goal->status]++;
	sums->done += (int64_t)s.leaves[NODE_DONE];
	sums->total += (int64_t)s.total;
	sums->ready += (int64_t)s.ready;
	sums->blocked += (int64_t)s.leaves[NODE_BLOCKED];
	if (json_object_array_length(sums->list) < PLAN_DIGEST_GOALS)
		json_object_array_add(sums->list, entry(plan->goal, &s));
	else
		sums->more++;
}

static int64_t
count_stalled(const struct plan_set *set)
{
	int64_t count = 0;

	for (size_t i = 0; i < set->assignment_count; i++)
		count += set->assignments[i]->status == ASSIGNMENT_STALLED;
	return count;
}

struct json_object *
plan_digest(const struct plan_set *set, const char *reason)
{
	struct json_object *json = json_object_new_object();
	struct sums sums = { .list = json_object_new_array() };

	for (size_t i = 0; set != NULL && i < set->plan_count; i++)
		if (!set->plans[i]->goal->implicit &&
		    goal_status_open(set->plans[i]->goal->status))
			add_plan(&sums, set->plans[i]);
	json_set_string(json, "off", set == NULL ? reason : NULL);
	json_set_int(json, "active", sums.goals[GOAL_ACTIVE]);
	json_set_int(json, "paused", sums.goals[GOAL_PAUSED]);
	json_set_int(json, "done", sums.done);
	json_set_int(json, "total", sums.total);
	json_set_int(json, "ready", sums.ready);
	json_set_int(json, "blocked", sums.blocked);
	json_set_int(json, "stalled", set != NULL ? count_stalled(set) : 0);
	json_set(json, "goals", sums.list);
	json_set_int(json, "more", sums.more);
	return json;
}

/* --- its shape ------------------------------------------------------- */

#define NUMBER(member, words)                                        \
	{                                                            \
		.name = (member), .type = SHAPE_INT, .help = (words) \
	}
#define WORDS(member)                                  \
	{                                              \
		.name = (member), .type = SHAPE_STRING \
	}

static const struct schema goal_shape = {
	.fields =
	    (const struct schema_field[]){
		WORDS("goal"),
		WORDS("title"),
		WORDS("status"),
		NUMBER("done", NULL),
		NUMBER("total", NULL),
		NUMBER("ready", NULL),
		NUMBER("blocked", NULL),
		{ .name = NULL },
	    },
};

const struct schema plan_digest_shape = {
	.fields =
	    (const struct schema_field[]){
		{ .name = "off",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE,
		    .help = "why nothing is planned, although goals are "
			    "enabled" },
		NUMBER("active", "goals"),
		NUMBER("paused", "goals"),
		NUMBER("done", "nodes without children"),
		NUMBER("total", "of them, without those that others replaced"),
		NUMBER("ready", NULL),
		NUMBER("blocked", NULL),
		NUMBER("stalled", "assignments"),
		{ .name = "goals",
		    .type = SCHEMA_ROWS,
		    .of = &goal_shape,
		    .help = "the first 20" },
		NUMBER("more", "goals that are not listed"),
		{ .name = NULL },
	    },
};
