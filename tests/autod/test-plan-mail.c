/* SPDX-License-Identifier: ISC */

/* Agents of a goal are told when somebody else has changed its plan. */
#include <check.h>
#include <string.h>

#include "json.h"
#include "mail-world.h"
#include "plan-change.h"
#include "records.h"
#include "team-floor.h"
#include "unit.h"

/* A person changes the plan of goal_a. */
static void
change(struct mail_world *w, const char *what)
{
	struct plan_change c;

	plan_change_begin(&c, w->plans.floor,
	    plan_world_plan(&w->plans, "goal_a"), "because");
	ck_assert_int_eq(plan_edit_begin(&c.edit, NULL), 0);
	plan_edit_end(&c.edit, what);
	plan_change_end(&c);
	mail_world_settle(w);
}

static size_t
open_of(struct mail_world *w, const char *actor)
{
	return records_open(w->team->core, BOOK_MAIL, actor);
}

TEST(agent_at_work_is_told_of_the_last_change_of_its_plan)
{
	struct mail_world w;
	cleanup_json struct json_object *mail = NULL;
	struct json_object *meta;
	const char *told;

	mail_world_begin_two(&w);
	change(&w, "first");
	change(&w, "second");
	ck_assert_uint_eq(open_of(&w, "actor:task:t1"), 1);
	ck_assert_uint_eq(open_of(&w, "actor:task:t2"), 0);
	mail = records_first(w.team->core, BOOK_MAIL, "actor:task:t1");
	ck_assert_str_eq(
	    mail_world_text(mail, "subject"), "plan.updated:goal_a");
	ck_assert_str_eq(
	    mail_world_text(mail, "sender"), "actor:system:overseer");
	meta = json_object_object_get(mail, "meta");
	ck_assert_str_eq(mail_world_text(meta, "source"), "human");
	ck_assert_int_eq(json_int_or(meta, "version", 0),
	    plan_world_plan(&w.plans, "goal_a")->goal->version);
	told = mail_world_tool_ends(&w, mail_world_agent(&w, "t1"));
	ck_assert_ptr_nonnull(strstr(told, "second"));
	ck_assert_ptr_null(strstr(told, "first"));
	mail_world_end(&w);
}

TEST(agent_is_not_told_of_its_own_change)
{
	struct mail_world w;
	int64_t version;

	mail_world_begin_two(&w);
	version = plan_world_plan(&w.plans, "goal_a")->goal->version;
	mail_world_must(&w, "t1", "agent_spawn",
	    "{\"call\":\"1\",\"spawn_reason\":\"two parts\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}");
	mail_world_settle(&w);
	ck_assert_int_gt(
	    plan_world_plan(&w.plans, "goal_a")->goal->version, version);
	ck_assert_uint_eq(open_of(&w, "actor:task:t1"), 0);
	mail_world_end(&w);
}
