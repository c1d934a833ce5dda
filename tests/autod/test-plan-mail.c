/* SPDX-License-Identifier: ISC */

/* Agents of a goal are told when somebody else has changed its plan. */
#include "mail-world.h"
#include "plan-floor.h"
#include "records.h"
#include "team-floor.h"

/* A person changes the plan of goal_a. */
static void
change(const char *what)
{
	struct plan_change c;

	plan_change_begin(
	    &c, plan_world.floor, plan_world_plan("goal_a"), "because");
	ck_assert_int_eq(plan_edit_begin(&c.edit, NULL), 0);
	plan_edit_end(&c.edit, what);
	plan_change_end(&c);
	mail_world_settle();
}

static size_t
open_of(const char *actor)
{
	return records_open(mail_world.team->core, BOOK_MAIL, actor);
}

TEST(agent_at_work_is_told_of_the_last_change_of_its_plan)
{
	cleanup_json struct json_object *mail = NULL;
	struct json_object *meta;
	const char *told;

	mail_world_begin_two();
	change("first");
	change("second");
	ck_assert_uint_eq(open_of("actor:task:t1"), 1);
	ck_assert_uint_eq(open_of("actor:task:t2"), 0);
	mail = records_first(mail_world.team->core, BOOK_MAIL, "actor:task:t1");
	ck_assert_str_eq(
	    mail_world_text(mail, "subject"), "plan.updated:goal_a");
	ck_assert_str_eq(
	    mail_world_text(mail, "sender"), "actor:system:overseer");
	meta = json_object_object_get(mail, "meta");
	ck_assert_str_eq(mail_world_text(meta, "source"), "human");
	ck_assert_int_eq(json_int_or(meta, "version", 0),
	    plan_world_plan("goal_a")->goal->version);
	told = mail_world_tool_ends(mail_world_agent("t1"));
	ck_assert_ptr_nonnull(strstr(told, "second"));
	ck_assert_ptr_null(strstr(told, "first"));
}

TEST(agent_is_not_told_of_its_own_change)
{
	int64_t version;

	mail_world_begin_two();
	version = plan_world_plan("goal_a")->goal->version;
	mail_world_must("t1", "agent_spawn",
	    "{\"call\":\"1\",\"spawn_reason\":\"two parts\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}");
	mail_world_settle();
	ck_assert_int_gt(plan_world_plan("goal_a")->goal->version, version);
	ck_assert_uint_eq(open_of("actor:task:t1"), 0);
}
