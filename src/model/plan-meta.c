/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-goal.h"
#include "plan-meta.h"
#include "task-run.h"
#include "word.h"

#define PREFIX "goal_"

void
plan_meta_plan_id(const struct plan_goal *goal, char out[ID_ULID_SIZE])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	int64_t ms = goal->created_ms > 0 ? goal->created_ms : 0;
	char hash[17];

	if (strncmp(goal->id, PREFIX, strlen(PREFIX)) == 0 &&
	    id_ulid_valid(goal->id + strlen(PREFIX))) {
		memcpy(out, goal->id + strlen(PREFIX), ID_ULID_SIZE);
		return;
	}
	id_hash(goal->id, hash, 16);
	for (int i = 9; i >= 0; i--, ms >>= 5)
		out[i] = digits[ms & 31];
	for (int i = 0; i < 16; i++)
		out[10 + i] =
		    hash[i] >= 'a' ? (char)(hash[i] - 'a' + 'A') : hash[i];
	out[26] = '\0';
}

const char *
plan_meta_source(const char *actor)
{
	static const char *const own[] = { "overseer", "planner", "landing",
		"oversight", "store", "task", "tick", "autod", ACTOR_OVERSEER,
		NULL };
	unsigned ignored;

	if (actor == NULL || word_find(own, actor, &ignored))
		return "overseer";
	return strcmp(actor, "person") == 0 ||
		strcmp(actor, ACTOR_PERSON) == 0 ?
	    "human" :
	    "agent";
}

struct json_object *
plan_meta_json(const struct plan_goal *goal, const struct plan_meta *meta)
{
	struct json_object *json = json_object_new_object();
	char plan_id[ID_ULID_SIZE], workspace[17];

	plan_meta_plan_id(goal, plan_id);
	json_set_string(json, "epic_id", goal->id);
	json_set_string(json, "plan_id", plan_id);
	json_set_int(json, "version", meta->version);
	json_set_string(json, "source", plan_meta_source(meta->actor));
	json_set_string(json, "reason",
	    meta->reason != NULL   ? meta->reason :
		meta->version == 1 ? "initial_create" :
				     "replan");
	if (meta->trace_id != NULL)
		json_set_string(json, "trace_id", meta->trace_id);
	if (meta->root != NULL) {
		id_hash(meta->root, workspace, 16);
		json_set_string(json, "workspace_id", workspace);
	}
	json_set_string(json, "priority",
	    goal->priority <= PRIORITY_HIGH    ? "high" :
		goal->priority == PRIORITY_LOW ? "low" :
						 "normal");
	return json;
}
