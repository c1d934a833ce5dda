/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api.h"
#include "plan-kept.h"
#include "plan.h"

void
plan_kept_clear(struct plan_goal *goal)
{
	json_object_put(goal->draft);
	goal->draft = NULL;
}

int
plan_kept_set(
    struct plan_goal *goal, const struct plan_kept *kept, struct err *err)
{
	struct json_object *json = json_object_new_object();
	struct json_object *plan = plan_to_json(kept->next);
	size_t bytes = strlen(
	    json_object_to_json_string_ext(plan, JSON_C_TO_STRING_PLAIN));

	/* A draft of a draft is of no use. */
	json_object_object_del(plan, "draft");
	json_set_int(json, "base", kept->base);
	json_set_int(json, "at", kept->at_ms);
	json_set_string(json, "actor", kept->actor);
	json_set_string(json, "how", kept->how);
	json_set_string(json, "why", kept->why);
	json_set(json, "plan", plan);
	if (bytes > PLAN_KEPT_MAX) {
		json_object_put(json);
		return err_set(err, API_E_LIMIT,
		    "the plan is too large for a draft; apply it from its "
		    "file: llmc plan apply %s --plan FILE",
		    goal->id);
	}
	plan_kept_clear(goal);
	goal->draft = json;
	goal->updated_ms = kept->at_ms;
	return 0;
}

int
plan_kept_read(
    const struct plan_goal *goal, struct plan **ret_next, struct err *err)
{
	struct json_object *plan = NULL;
	struct err why = { 0 };

	if (goal->draft == NULL)
		return err_set(err, API_E_NOT_FOUND,
		    "goal %s has no draft; make one with: llmc plan draft %s",
		    goal->id, goal->id);
	json_object_object_get_ex(goal->draft, "plan", &plan);
	if (plan == NULL || plan_from_json(plan, "plan", ret_next, &why) < 0)
		return err_set(err, API_E_INVALID_PLAN,
		    "the draft of goal %s cannot be read%s%s", goal->id,
		    why.msg[0] != '\0' ? ": " : "", why.msg);
	return 0;
}

int64_t
plan_kept_base(const struct plan_goal *goal)
{
	return json_int_or(goal->draft, "base", 0);
}

int
plan_kept_check(const struct plan_goal *goal, int64_t version, struct err *err)
{
	if (goal->version == version)
		return 0;
	return err_set(err, API_E_CONFLICT,
	    "the plan of goal %s has version %" PRId64 " by now, and this was "
	    "made for version %" PRId64
	    "; look at it with: llmc goal show %s, and to apply it "
	    "nevertheless, add: --version %" PRId64,
	    goal->id, goal->version, version, goal->id, goal->version);
}

struct json_object *
plan_kept_view(const struct plan_goal *goal)
{
	static const char *const texts[] = { "actor", "how", "why" };
	struct json_object *json = json_object_new_object(), *plan = NULL;

	json_set_string(json, "goal", goal->id);
	json_set_int(json, "version", goal->version);
	json_set_string(json, "state",
	    goal->plan_wanted && goal->plan_drafts ? "asked" :
		goal->draft != NULL                ? "ready" :
						     "none");
	json_set(json, "base",
	    goal->draft != NULL ? json_object_new_int64(plan_kept_base(goal)) :
				  NULL);
	json_set(json, "made_ms",
	    goal->draft != NULL ?
		json_object_new_int64(json_int_or(goal->draft, "at", 0)) :
		NULL);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		json_set_string(json, texts[i],
		    json_string_or(goal->draft, texts[i], NULL));
	if (goal->draft != NULL)
		json_object_object_get_ex(goal->draft, "plan", &plan);
	json_set(json, "record", json_object_get(plan));
	return json;
}
