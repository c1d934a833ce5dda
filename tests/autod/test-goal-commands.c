/* SPDX-License-Identifier: ISC */

/* The methods overseer.goal.* and overseer.plan.*, on a real store: what they
 * change is stored when they answer, and told. */
#include "base.h"
#include "fleet.h"
#include "plan-floor.h"
#include "plan-revise.h"
#include "work-record.h"
#include "plan-world.h"
#include "rpc.h"

#define PLAN                                                                 \
	"## One\\n### First\\nAcceptance: x\\n### Second\\nAcceptance: y\\n" \
	"Depends: First\\n"

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
create(const char *more)
{
	static char id[64];
	cleanup_free char *params =
	    xasprintf("{\"title\":\"Ship it\",\"plan\":\"" PLAN "\"%s}", more);

	strlcpy(id,
	    json_string_or(must("overseer.goal.create", params), "goal", ""),
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

static size_t
listed(const char *params)
{
	return json_object_array_length(json_object_object_get(
	    must("overseer.goal.list", params), "goals"));
}

TEST(a_goal_is_created_with_its_plan_and_stored)
{
	const char *goal = create(",\"priority\":\"high\",\"tags\":[\"a\"]");
	const struct plan *plan = plan_world_plan(goal);

	ck_assert_int_eq(plan->goal->priority, PRIORITY_HIGH);
	ck_assert_int_eq(plan->goal->version, 1);
	ck_assert_int_eq(plan_world_events("goal.created"), 1);
	ck_assert_int_eq(plan_world_events("plan.generated"), 1);
	ck_assert_int_eq(plan_world_events("plan.created"), 1);
	ck_assert_int_eq(plan_world_events("plan.updated"), 0);
	plan_world_die();
	plan = plan_world_plan(goal);
	ck_assert_ptr_nonnull(plan);
	ck_assert_uint_eq(plan->count, 3);
	ck_assert_str_eq(plan->goal->tags[0], "a");
}

TEST(a_goal_without_a_plan_waits_for_one)
{
	struct json_object *result =
	    must("overseer.goal.create", "{\"title\":\"Later\"}");
	cleanup_free char *goal = xstrdup(json_string_or(result, "goal", ""));

	ck_assert_int_eq(json_int_or(result, "nodes", -1), 0);
	ck_assert_str_eq(json_string_or(result, "status", ""), "active");
	must("overseer.goal.plan", about(goal, "")); /* asks the planner */
	result =
	    must("overseer.goal.plan", about(goal, ",\"plan\":\"" PLAN "\""));
	ck_assert_int_eq(json_int_or(result, "nodes", -1), 3);
	ck_assert_int_eq(json_int_or(result, "version", -1), 1);
}

TEST(a_wrong_plan_is_refused_and_changes_nothing)
{
	refused("overseer.goal.create", "{}", RPC_INVALID_PARAMS, "title");
	refused("overseer.goal.create",
	    "{\"title\":\"x\",\"plan\":\"## One\\n### A\\nDepends: Z\\n\"}",
	    RPC_INVALID_PARAMS, "the plan: line 3");
	refused("overseer.goal.create",
	    "{\"title\":\"x\",\"plan\":\"{\\\"phases\\\":3}\"}",
	    RPC_INVALID_PARAMS, "phases");
	refused("overseer.goal.create",
	    "{\"title\":\"x\",\"from_session\":\"nobody\"}", API_E_UNKNOWN,
	    "no worker nobody");
	ck_assert_uint_eq(listed("{}"), 0);
}

/* The store would mask them, and then refuse the records. */
TEST(an_id_that_looks_like_a_key_is_refused_before_anything_changes)
{
	const char *goal;

	refused("overseer.goal.create",
	    "{\"title\":\"x\",\"plan\":\"{\\\"phases\\\":[{\\\"id\\\":"
	    "\\\"sk-aaaaaaaaaaaaaaaaaaaaaaaa\\\",\\\"name\\\":\\\"n\\\"}]}\"}",
	    RPC_INVALID_PARAMS, "phases[0].id: looks like a key");
	refused("overseer.goal.create",
	    "{\"title\":\"x\",\"plan\":\"## AKIAIOSFODNN7EXAMPLE: One\\n### A\\n"
	    "Acceptance:\\n- b\\n\"}",
	    RPC_INVALID_PARAMS, "looks like a key");
	ck_assert_uint_eq(listed("{}"), 0);
	goal = create("");
	refused("overseer.work.add",
	    about(goal,
		",\"parent\":\"P1\",\"name\":\"n\","
		"\"id\":\"sk-aaaaaaaaaaaaaaaaaaaaaaaa\""),
	    API_E_LIMIT, "looks like a key");
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	must("overseer.goal.pause", about(goal, ""));
}

TEST(what_could_not_be_read_again_is_not_stored)
{
	cleanup_free char *goal = NULL, *params = NULL;
	char line[PLAN_LINE_MAX + 2];

	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	params = xasprintf("{\"title\":\"A\",\"constraints\":[\"%s\"]}", line);
	refused("overseer.goal.create", params, RPC_INVALID_PARAMS,
	    "constraints[0]");
	goal = xstrdup(json_string_or(
	    must("overseer.goal.create",
		"{\"title\":\" \",\"plan\":\"# Own\\n" PLAN "\"}"),
	    "goal", ""));
	plan_world_die();
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	ck_assert_str_eq(plan_world_plan(goal)->goal->title, "Own");
}

TEST(a_goal_is_paused_resumed_cancelled_and_archived_in_order)
{
	const char *goal = create("");

	refused("overseer.goal.resume", about(goal, ""), API_E_TRANSITION,
	    "is active, not paused");
	refused("overseer.goal.archive", about(goal, ""), API_E_TRANSITION,
	    "active");
	must("overseer.goal.pause", about(goal, ",\"reason\":\"holiday\""));
	refused("overseer.goal.pause", about(goal, ""), API_E_TRANSITION, "");
	must("overseer.goal.resume", about(goal, ""));
	must("overseer.goal.cancel", about(goal, ""));
	ck_assert_uint_eq(listed("{}"), 0);
	refused("overseer.goal.update", about(goal, ",\"title\":\"x\""),
	    API_E_CLOSED, "cancelled");
	must("overseer.goal.archive", about(goal, ""));
	ck_assert_int_eq(plan_world_events("goal.paused"), 1);
	ck_assert_int_eq(plan_world_events("goal.active"), 1);
	ck_assert_int_eq(plan_world_events("goal.cancelled"), 1);
	ck_assert_int_eq(plan_world_events("goal.archived"), 1);
}

TEST(a_goal_that_has_ended_is_read_from_the_store)
{
	const char *goal = create("");
	struct json_object *shown;

	must("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"done\",\"reason\":\"r\"}");
	must("overseer.goal.cancel", about(goal, ""));
	plan_world_die();
	ck_assert_ptr_null(plan_world_plan(goal));
	ck_assert_uint_eq(listed("{}"), 0);
	shown = must("overseer.goal.show", about(goal, ""));
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(
		json_object_object_get(shown, "record"), "nodes")),
	    3);
	must("overseer.goal.archive", about(goal, ""));
}

TEST(goals_are_numbered_and_found_by_their_number_or_a_part_of_their_id)
{
	ck_assert_str_eq(create(""), "g1");
	ck_assert_str_eq(create(""), "g2");
	plan_world_goal("goal_a1", 1);
	plan_world_goal("goal_a2", 1);
	must("overseer.goal.show", about("goal_a2", ""));
	refused("overseer.goal.show", about("g3", ""), API_E_UNKNOWN,
	    "there is no goal g3");
	refused("overseer.goal.show", about("goal_", ""), API_E_UNKNOWN,
	    "type more of the id");
	refused("overseer.goal.show", about("nothing", ""), API_E_UNKNOWN,
	    "llmc goal list --all");
}

TEST(an_update_is_a_revision)
{
	const char *goal = create("");
	const struct plan_goal *g;

	must("overseer.goal.update",
	    about(goal,
		",\"title\":\"New\",\"success_criteria\":[\"a\",\"b\"],"
		"\"priority\":\"low\",\"reason\":\"because\""));
	g = plan_world_plan(goal)->goal;
	ck_assert_str_eq(g->title, "New");
	ck_assert_str_eq(g->success_criteria[1], "b");
	ck_assert_int_eq(g->version, 2);
	ck_assert_str_eq(g->revisions[1].why, "because");
	ck_assert_str_eq(g->revisions[1].actor, "person");
	refused("overseer.goal.update", about(goal, ",\"title\":\" \""),
	    RPC_INVALID_PARAMS, "title");
	refused("overseer.goal.update", about(goal, ""), RPC_INVALID_PARAMS,
	    "nothing to change");
	ck_assert_int_eq(plan_world_events("plan.updated"), 1);
}

/* Nobody begins anything meanwhile. */
static void
hold_workers(void)
{
	struct fleet *fleet = auto_world.mode->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		fleet->agents[i]->worker->on_hold = true;
}

TEST(an_edited_text_is_one_revision)
{
	const char *goal;
	struct plan *plan;
	cleanup_free char *old = NULL;
	char hash[PLAN_HASH_SIZE];
	struct json_object *result;

	hold_workers();
	goal = create("");
	plan = plan_world_plan(goal);
	plan_revise_hash(plan, hash);
	old = xasprintf(",\"before\":\"%s\",\"text\":\"# Ship it\\n"
			"## P1: Two\\n### T1.1: First\\nAcceptance: x\\n"
			"### New\\nAcceptance: z\\n\"",
	    hash);
	result = must("overseer.goal.update", about(goal, old));
	ck_assert_int_eq(json_int_or(result, "version", 0), 2);
	ck_assert_str_eq(plan_find(plan, "P1")->name, "Two");
	ck_assert_ptr_null(plan_find(plan, "T1.2"));
	ck_assert_str_eq(plan_find(plan, "T1.3")->name, "New");
	ck_assert_int_eq(plan_find(plan, "T1.3")->status, NODE_QUEUED);
	ck_assert_int_eq(plan_world_events("plan.updated"), 1);
	refused("overseer.goal.update", about(goal, old), API_CHANGED,
	    "while you edited it");
	refused("overseer.goal.update",
	    about(goal, ",\"text\":\"# t\\n### x\\n\""), RPC_INVALID_PARAMS,
	    "line 2");
	plan_find(plan, "T1.1")->started_ms = 1;
	refused("overseer.goal.update",
	    about(goal, ",\"text\":\"# t\\n## P1: One\\n\""), API_E_STARTED,
	    "P1");
	ck_assert_int_eq(plan->goal->version, 2);
	plan_world_die();
	plan = plan_world_plan(goal);
	ck_assert_uint_eq(plan->count, 3);
	ck_assert_str_eq(plan->phases[0]->children[1]->name, "New");
}

TEST(the_status_counts_goals_nodes_and_assignments)
{
	struct json_object *status;

	create("");
	status = must("overseer.status", "{}");
	ck_assert_str_eq(json_string_or(status, "state", ""), "open");
	ck_assert_int_eq(
	    json_int_or(json_object_object_get(status, "goals"), "active", -1),
	    1);
	ck_assert_int_eq(
	    json_int_or(json_object_object_get(status, "summary"), "total", -1),
	    2);
}

/* --- drafts ---------------------------------------------------------- */

/* A draft changes nothing until it is applied, and survives the daemon. */

#define OTHER \
	"## One\\n### First\\nAcceptance: x\\n### Third\\nAcceptance: z\\n"

TEST(a_draft_changes_nothing_until_it_is_applied)
{
	const char *goal = create("");
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
	const char *goal = create("");

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
	const char *goal = create("");

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
	const char *goal = create("");

	must("overseer.plan.apply",
	    about(goal, ",\"worker\":\"adam\",\"plan\":\"" OTHER "\""));
	ck_assert_str_eq(
	    plan_world_plan(goal)->goal->revisions[1].actor, "person");
}
