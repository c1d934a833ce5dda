/* SPDX-License-Identifier: ISC */

/* The methods overseer.plan.*, on a real store: a draft changes nothing until
 * it is applied, and survives the daemon. */
#include "plan-world.h"

#define PLAN                                                                 \
	"## One\\n### First\\nAcceptance: x\\n### Second\\nAcceptance: y\\n" \
	"Depends: First\\n"
#define OTHER \
	"## One\\n### First\\nAcceptance: x\\n### Third\\nAcceptance: z\\n"

void
unit_before(void)
{
	plan_world_begin(NULL, NULL);
	plan_world_live();
}

#define must(method, params) plan_world_must(method, params)

#define refused(method, params, code, words) \
	plan_world_refused(method, params, code, words)

/* Its id, valid until the next one. */
static const char *
create(void)
{
	static char id[64];

	strlcpy(id,
	    json_string_or(must("overseer.goal.create",
			       "{\"title\":\"Ship it\",\"plan\":\"" PLAN "\"}"),
		"goal", ""),
	    sizeof id);
	return id;
}

static const char *
about(const char *goal, const char *more)
{
	static char params[2048];

	snprintf(params, sizeof params, "{\"goal\":\"%s\"%s}", goal, more);
	return params;
}

TEST(a_draft_changes_nothing_until_it_is_applied)
{
	const char *goal = create();
	struct plan *plan = plan_world_plan(goal);
	struct json_object *draft, *result;

	draft = must("overseer.plan.draft",
	    about(goal, ",\"reason\":\"r\",\"plan\":\"" OTHER "\""));
	ck_assert_str_eq(json_string_or(draft, "state", ""), "ready");
	ck_assert_int_eq(json_int_or(draft, "base", 0), 1);
	ck_assert_str_eq(json_string_or(draft, "actor", ""), "person");
	ck_assert_str_eq(json_string_or(draft, "why", ""), "r");
	ck_assert_int_eq(plan->goal->version, 1);
	ck_assert_str_eq(plan_find(plan, "T1.2")->name, "Second");
	ck_assert_int_eq(plan_world_events("plan.drafted"), 1);
	/* It is there for the next daemon. */
	plan_world_die();
	draft = must("overseer.plan.draft", about(goal, ""));
	ck_assert_str_eq(json_string_or(draft, "state", ""), "ready");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(
		json_object_object_get(draft, "record"), "nodes")),
	    3);
	result = must("overseer.plan.apply", about(goal, ""));
	ck_assert_int_eq(json_int_or(result, "version", 0), 2);
	plan = plan_world_plan(goal);
	ck_assert_str_eq(plan_find(plan, "T1.2")->name, "Third");
	ck_assert_str_eq(plan->goal->revisions[1].actor, "person");
	ck_assert_ptr_null(plan->goal->draft);
	ck_assert_int_eq(plan_world_events("plan.updated"), 1);
	refused("overseer.plan.apply", about(goal, ""), API_E_NOT_FOUND,
	    "llmc goal plan draft");
}

TEST(a_draft_for_another_version_is_a_conflict)
{
	const char *goal = create();

	must("overseer.plan.draft", about(goal, ",\"plan\":\"" OTHER "\""));
	must("overseer.goal.update", about(goal, ",\"title\":\"New\""));
	refused("overseer.plan.apply", about(goal, ""), API_E_CONFLICT,
	    "has version 2 by now");
	refused("overseer.plan.apply", about(goal, ",\"version\":1"),
	    API_E_CONFLICT, "--version 2");
	refused("overseer.plan.apply",
	    about(goal, ",\"version\":3,\"plan\":\"" OTHER "\""),
	    API_E_CONFLICT, "version 3");
	ck_assert_int_eq(plan_world_plan(goal)->goal->version, 2);
	/* Who has seen the new version may say so. */
	must("overseer.plan.apply", about(goal, ",\"version\":2"));
	ck_assert_int_eq(plan_world_plan(goal)->goal->version, 3);
	/* A file needs no version. */
	must("overseer.plan.apply", about(goal, ",\"plan\":\"" PLAN "\""));
	ck_assert_str_eq(
	    plan_find(plan_world_plan(goal), "T1.2")->name, "Second");
}

TEST(what_is_no_plan_is_refused_with_its_code)
{
	const char *goal = create();

	refused("overseer.plan.draft",
	    about(goal, ",\"plan\":\"## One\\n### A\\nDepends: Z\\n\""),
	    API_E_INVALID_PLAN, "the plan: line 3");
	refused("overseer.plan.apply",
	    about(goal, ",\"plan\":\"{\\\"a\\\":1}\""), API_E_INVALID_PLAN,
	    "the plan: ");
	refused("overseer.plan.draft", about("nothing", ""), API_E_NOT_FOUND,
	    "no goal nothing");
	refused("overseer.plan.apply", about("nothing", ""), API_E_NOT_FOUND,
	    "no goal nothing");
	must("overseer.goal.cancel", about(goal, ""));
	refused("overseer.plan.draft", about(goal, ",\"plan\":\"" PLAN "\""),
	    API_E_CLOSED, "cancelled");
	ck_assert_int_eq(plan_world_events("plan.drafted"), 0);
}

/* What the caller says of itself is replaced by what the daemon knows. */
TEST(a_person_cannot_be_made_a_worker_by_a_parameter)
{
	const char *goal = create();

	must("overseer.plan.apply",
	    about(goal, ",\"worker\":\"adam\",\"plan\":\"" OTHER "\""));
	ck_assert_str_eq(
	    plan_world_plan(goal)->goal->revisions[1].actor, "person");
}
