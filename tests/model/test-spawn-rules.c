/* SPDX-License-Identifier: ISC */

/* Which of the requested agents are accepted. */

#include "unit.h"
#include "agent-card.h"
#include "attempt.h"
#include "spawn-rules.h"

#define LIST(...) list((const char *const[]){ __VA_ARGS__, NULL })

/* Kept until the program ends. */
static char **
list(const char *const *words)
{
	static char **kept[64];
	static size_t count;

	ck_assert_uint_lt(count, nitems(kept));
	return kept[count++] = strv_copy(words);
}

static const struct spawn_facts root = {
	.place = { 1, 3, 3 }, .max_concurrent = 10, .max_children = 5
};

/* One card, "fox"; also for the role of that name. */
static const struct agent_cards *
fleet(const char *model, char **tools)
{
	static char name[] = "fox", kept[64], none[] = "";
	static struct agent_card card, *cards[] = { &card };
	static const struct agent_cards all = { cards, 1 };

	strlcpy(kept, model, sizeof kept);
	card = (struct agent_card){ .name = name,
		.description = none,
		.model = kept,
		.all_tools = tools == NULL,
		.tools = tools };
	return &all;
}

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_msg(json_parse(text, strlen(text), 65536, &json, &err) == 0,
	    "%s", err.msg);
	return json;
}

/* "actor:..." for those that are accepted, the code for the others; "; " behind
 * each, then the message of all. */
static void
becomes(
    const struct spawn_facts *facts, const char *requested, const char *want)
{
	cleanup_json struct json_object *asked = parse(requested);
	cleanup_buf struct buf got = BUF_INIT;
	struct spawn_decision d;
	const char *all;

	spawn_decide(facts, asked, &d);
	for (size_t i = 0; i < d.count; i++) {
		ck_assert_int_eq(
		    d.agents[i].reason == NULL, d.agents[i].message == NULL);
		buf_addf(&got, "%s; ",
		    d.agents[i].reason != NULL ? d.agents[i].reason :
						 d.agents[i].actor);
	}
	all = spawn_decision_message(&d);
	buf_adds(&got, all != NULL ? all : "all accepted");
	ck_assert_int_eq(all != NULL, spawn_decision_suggestion(&d) != NULL);
	ck_assert_str_eq(got.data, want);
	spawn_decision_release(&d);
}

static void
denied_as(
    const struct spawn_facts *facts, const char *requested, const char *reason)
{
	cleanup_json struct json_object *asked = parse(requested);
	struct spawn_decision d;

	spawn_decide(facts, asked, &d);
	ck_assert_uint_eq(d.accepted, 0);
	ck_assert_str_eq(spawn_decision_reason(&d), reason);
	ck_assert_str_eq(
	    spawn_decision_message(&d), "all requested agents were denied");
	spawn_decision_release(&d);
}

#define CODER    "{\"role\":\"coder\",\"task\":\"do it\"}"
#define REVIEWER "{\"role\":\"reviewer\",\"task\":\"look\"}"

TEST(accepted_agents_get_unique_names)
{
	struct spawn_facts f = root;

	becomes(&f, "[" CODER "," CODER "]",
	    "actor:team:coder:coder-1; actor:team:coder:coder-2; all accepted");
	f.actors = LIST("actor:team:backend:coder-1");
	becomes(&f,
	    "[{\"role\":\"coder\",\"task\":\"x\",\"suggested_actor_id\":"
	    "\"team:backend\"},{\"role\":\"coder\",\"task\":\"x\","
	    "\"suggested_actor_id\":\"actor:team:ui\"}]",
	    "actor:team:backend:coder-2; actor:team:ui:coder-1; all accepted");
}

TEST(depth_is_that_of_the_records_and_not_of_the_request)
{
	struct spawn_facts f = root;

	f.place = (struct hierarchy_place){ 3, 3, 3 };
	denied_as(
	    &f, "[" CODER "," REVIEWER "]", "all_requests_exceed_depth_limit");
	f.place = (struct hierarchy_place){ 2, 3, 1 };
	becomes(&f, "[{\"role\":\"coder\",\"task\":\"x\",\"depth\":0}]",
	    "local_limit_exceeded; all requested agents were denied");
}

TEST(a_limit_above_that_of_the_caller_is_clamped)
{
	cleanup_json struct json_object *asked =
	    parse("[{\"role\":\"coder\",\"task\":\"x\",\"local_max_depth\":9},"
		  "{\"role\":\"coder\",\"task\":\"x\",\"local_max_depth\":1}]");
	struct spawn_decision d;

	spawn_decide(&root, asked, &d);
	ck_assert_uint_eq(d.accepted, 2);
	ck_assert(d.agents[0].clamped && d.agents[0].place.depth == 2 &&
	    d.agents[0].place.local_max_depth == 3);
	/* A leaf. */
	ck_assert(
	    !d.agents[1].clamped && d.agents[1].place.local_max_depth == 1);
	ck_assert_ptr_null(spawn_decision_reason(&d));
	spawn_decision_release(&d);
}

TEST(a_role_that_is_not_allowed_violates_the_policy)
{
	struct spawn_facts f = root;

	f.roles = LIST("coder");
	becomes(&f, "[{\"role\":\"planner\",\"task\":\"x\"}," CODER "]",
	    "policy_violation; actor:team:coder:coder-1; some agents were "
	    "denied");
}

TEST(no_more_agents_than_may_be_at_work)
{
	struct spawn_facts f = root;

	f.max_concurrent = 2;
	f.at_work = 1;
	becomes(&f, "[" CODER "," REVIEWER "]",
	    "actor:team:coder:coder-1; resource_exhausted; some agents were "
	    "denied");
	f.at_work = 2;
	denied_as(&f, "[" CODER "]", "resource_exhausted");
	f = root;
	f.children = 4;
	becomes(&f, "[" CODER "," REVIEWER "]",
	    "actor:team:coder:coder-1; resource_exhausted; some agents were "
	    "denied");
}

TEST(an_agent_that_is_not_in_the_fleet_is_forbidden)
{
	denied_as(&root, "[{\"role\":\"a\",\"task\":\"x\",\"agent\":\"fox\"}]",
	    "forbidden");
}

TEST(what_is_no_request_is_malformed)
{
	denied_as(&root, "[{\"role\":\"a b\",\"task\":\"x\"}]", "malformed");
	denied_as(&root, "[{\"role\":\"a\",\"task\":\" \\n\"}]", "malformed");
	denied_as(&root,
	    "[{\"role\":\"a\",\"task\":\"x\",\"suggested_actor_id\":"
	    "\"actor:system:overseer\"}]",
	    "malformed");
	denied_as(&root,
	    "[{\"role\":\"a\",\"task\":\"x\",\"scope_paths\":[\"src/../..\"]}]",
	    "malformed");
	denied_as(&root,
	    "[{\"role\":\"a\",\"task\":\"x\",\"scope_paths\":[\"/etc\"]}]",
	    "malformed");
	denied_as(&root,
	    "[{\"role\":\"a\",\"task\":\"x\",\"verification\":"
	    "{\"artifacts\":[{\"path\":\"../x\"}]}}]",
	    "malformed");
}

TEST(several_reasons_have_a_code_of_their_own)
{
	struct spawn_facts f = root;

	f.roles = LIST("reviewer");
	denied_as(&f, "[" CODER ",{\"role\":\"reviewer\",\"task\":\"\"}]",
	    "all_requests_denied");
}

TEST(nobody_gets_more_tools_or_paths_than_its_parent)
{
	const struct tool_scope tools = { .allow = LIST("Read", "Edit"),
		.deny = LIST("Edit") };
	struct spawn_facts f = root;

	f.tools = &tools;
	f.scope_paths = LIST("src/");
	becomes(&f,
	    "[{\"role\":\"a\",\"task\":\"x\",\"toolsAllow\":[\"Read\"],"
	    "\"scope_paths\":[\"src/a.c\"]},"
	    "{\"role\":\"b\",\"task\":\"x\",\"toolsAllow\":[\"Bash\"]},"
	    "{\"role\":\"c\",\"task\":\"x\",\"toolsAllow\":[\"Edit\"]},"
	    "{\"role\":\"d\",\"task\":\"x\",\"scope_paths\":[\"srcs\"]}]",
	    "actor:team:a:a-1; tools_widened; tools_widened; "
	    "policy_violation; some agents were denied");
	f.tools = NULL;
	f.scope_paths = NULL;
	f.cards = fleet("", LIST("Read"));
	denied_as(&f,
	    "[{\"role\":\"a\",\"task\":\"x\",\"agent\":\"fox\","
	    "\"toolsAllow\":[\"Read\",\"Bash\"]}]",
	    "tools_widened");
}

TEST(an_accepted_agent_inherits_what_restricts_its_parent)
{
	const struct tool_scope tools = { .allow = LIST("Read"),
		.deny = LIST("Bash") };
	cleanup_json struct json_object *asked = parse(
	    "[{\"role\":\"a\",\"task\":\"x\",\"toolsDeny\":[\"WebFetch\"],"
	    "\"label\":\"L\",\"model\":\"opus\",\"thinking\":\"high\","
	    "\"runTimeoutSeconds\":60,\"completionReport\":true,"
	    "\"verification\":{\"requireCompletionReport\":true}}]");
	struct spawn_facts f = root;
	struct spawn_decision d;
	struct task_launch *run;

	f.tools = &tools;
	f.scope_paths = LIST("src");
	spawn_decide(&f, asked, &d);
	ck_assert_uint_eq(d.accepted, 1);
	run =
	    spawn_launch(&f, &d.agents[0], json_object_array_get_idx(asked, 0));
	ck_assert_str_eq(run->actor, "actor:team:a:a-1");
	ck_assert(run->depth == 2 && run->max_depth == 3);
	ck_assert(run->tools_scoped && strv_count(run->tools_allow) == 1);
	ck_assert_str_eq(run->tools_allow[0], "Read");
	ck_assert_uint_eq(strv_count(run->tools_deny), 2);
	ck_assert_str_eq(run->scope_paths[0], "src");
	ck_assert_str_eq(run->label, "L");
	ck_assert_str_eq(run->model, "opus");
	ck_assert_str_eq(run->thinking, "high");
	ck_assert_int_eq(run->timeout_s, 60);
	ck_assert(!run->progress_reporting);
	ck_assert(run->contract != NULL);
	schema_free(&task_launch_schema, run);
	spawn_decision_release(&d);
}

/* A card may be removed while its agents work. */
TEST(a_run_keeps_the_tools_that_its_card_has_now)
{
	cleanup_json struct json_object *asked =
	    parse("[{\"role\":\"fox\",\"task\":\"x\"}]");
	cleanup_tool_scope struct tool_scope scope = { 0 };
	struct spawn_facts f = root;
	struct spawn_decision d;
	struct task_launch *run;

	f.cards = fleet("", LIST("Read"));
	spawn_decide(&f, asked, &d);
	ck_assert_uint_eq(d.accepted, 1);
	run =
	    spawn_launch(&f, &d.agents[0], json_object_array_get_idx(asked, 0));
	ck_assert_int_eq(tool_scope_of_run(NULL, run, &scope, NULL), 0);
	ck_assert(tool_scope_permits(&scope, "Read"));
	ck_assert(!tool_scope_permits(&scope, "Bash"));
	schema_free(&task_launch_schema, run);
	spawn_decision_release(&d);
}

/* As a text such a pattern may match another one that means more. */
TEST(a_pattern_of_the_child_is_one_of_the_parent_or_below_a_folder)
{
	struct spawn_facts f = root;

	f.scope_paths = LIST("src/?", "docs", "*.md");
	becomes(&f,
	    "[{\"role\":\"a\",\"task\":\"x\",\"scope_paths\":[\"src/*\"]},"
	    "{\"role\":\"b\",\"task\":\"x\",\"scope_paths\":[\"*\"]},"
	    "{\"role\":\"c\",\"task\":\"x\",\"scope_paths\":[\"./src/?\","
	    "\"docs/*.txt\",\"*.md\"]}]",
	    "policy_violation; policy_violation; actor:team:c:c-1; "
	    "some agents were denied");
}

/* What the file has beside its rows: {"concurrency": ...} and so on. */
TEST(the_other_members_of_the_vectors_hold)
{
	cleanup_json struct json_object *file = NULL, *two = NULL;
	struct json_object *roles, *list, *expect;
	cleanup_strv char **allowed = NULL;
	cleanup_free char *path = NULL;
	struct spawn_decision d;
	struct spawn_facts f = root;

	path = file_join(unit_vectors(), "foxctl_hierarchy.json");
	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	roles = json_object_object_get(file, "roles");
	allowed = strv_from_json(json_object_object_get(roles, "allowed"));
	list = json_object_object_get(roles, "requested");
	two = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_new_object();

		json_set_string(one, "role",
		    json_object_get_string(json_object_array_get_idx(list, i)));
		json_set_string(one, "task", "x");
		json_object_array_add(two, one);
	}
	f.roles = allowed;
	spawn_decide(&f, two, &d);
	expect = json_object_object_get(roles, "expect");
	for (size_t i = 0; i < d.count; i++) {
		const char *want = json_string_or(expect,
		    json_object_get_string(json_object_array_get_idx(list, i)),
		    "");

		ck_assert_str_eq(d.agents[i].reason != NULL ?
			d.agents[i].reason :
			"not denied for role",
		    want);
	}
	expect = json_object_object_get(file, "partial");
	ck_assert_int_eq(json_int_or(expect, "requests", 0), d.count);
	ck_assert_int_eq(
	    json_int_or(expect, "denied", 0), d.count - d.accepted);
	ck_assert_str_eq(spawn_decision_message(&d),
	    json_string_or(
		json_object_object_get(expect, "expect"), "reason", ""));
	spawn_decision_release(&d);
	/* As many as there may be: all are denied. */
	f = root;
	expect = json_object_object_get(file, "concurrency");
	f.max_concurrent = (size_t)json_int_or(expect, "max", 0);
	f.at_work = (size_t)json_int_or(expect, "active", 0);
	spawn_decide(&f, two, &d);
	ck_assert_uint_eq(d.accepted, 0);
	ck_assert_ptr_nonnull(strstr(
	    json_string_or(expect, "expect", ""), spawn_decision_reason(&d)));
	expect = json_object_object_get(
	    json_object_object_get(file, "all_denied"), "expect");
	ck_assert_str_eq(
	    spawn_decision_message(&d), json_string_or(expect, "reason", ""));
	spawn_decision_release(&d);
}
