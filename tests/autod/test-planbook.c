/* SPDX-License-Identifier: ISC */

/* The plans in memory are those of the store: read again, and kept apart from a
 * store that is of no use. */
#include <check.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-world.h"
#include "planbook.h"
#include "store.h"
#include "unit.h"

static char *
plan_text(struct plan_world *world)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json =
	    plan_to_json(plan_world_plan(world, "goal_a"));

	json_print(json, true, &text);
	json_object_put(json);
	return xstrdup(text.data);
}

static void
begin(struct plan_world *world)
{
	plan_world_begin(world, NULL, NULL);
	plan_world_goal(world, "goal_a", 3);
}

START_TEST(what_was_stored_is_read_again)
{
	cleanup_free char *before = NULL, *after = NULL;
	struct plan_world world;

	begin(&world);
	before = plan_text(&world);
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	after = plan_text(&world);
	ck_assert_str_eq(before, after);
	plan_world_end(&world);
}
END_TEST

static void
count_call(const struct err *err, void *arg)
{
	ck_assert_ptr_null(err);
	++*(int *)arg;
}

static bool
was_called(void *arg)
{
	return *(int *)arg > 0;
}

/* The store checks what it needs itself; a parent that is missing is found when
 * the plan is built. */
START_TEST(a_record_that_fits_no_plan_turns_goals_off)
{
	const struct store_change lost = { .kind = STORE_NODE,
		.goal_id = "goal_a",
		.id = "T9.9",
		.body = "{\"id\":\"T9.9\",\"goalId\":\"goal_a\","
			"\"kind\":\"task\",\"parentId\":\"P9\",\"order\":1,"
			"\"name\":\"Lost\",\"status\":\"todo\","
			"\"createdAt\":1,\"updatedAt\":1}" };
	struct plan_world world;
	int calls = 0;

	begin(&world);
	store_commit(planbook_store(world.floor->book), &lost, 1, NULL, 0,
	    count_call, &calls);
	floor_world_wait(&world.world.floor, was_called, &calls);
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	ck_assert_int_eq(world.floor->state, PLAN_SAFE);
	ck_assert_msg(strstr(world.floor->why, "T9.9") != NULL &&
		strstr(world.floor->why, "llmc store export") != NULL,
	    "%s", world.floor->why);
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "ls .llmc/store.db"),
	    ".llmc/store.db");
	plan_world_end(&world);
}
END_TEST

static void
tell_much(struct plan_world *world)
{
	cleanup_buf struct buf data = BUF_INIT;

	buf_adds(&data, "{\"text\":\"");
	for (int i = 0; i < 1500; i++)
		buf_addc(&data, 'x');
	buf_adds(&data, "\"}");
	for (int i = 0; i < 40; i++)
		plan_persist_event(plan_floor_persist(world->floor),
		    &(struct store_event){ .type = "test",
			.goal_id = "goal_a",
			.data = data.data });
}

/* A record that changes twice is stored as it is in the end. */
START_TEST(the_last_state_of_a_record_is_stored)
{
	struct plan_world world;
	struct plan_node *node;

	begin(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	for (int i = 0; i < 2; i++) {
		xstrset(&node->objective, i == 0 ? "first" : "last");
		plan_persist_record(plan_floor_persist(world.floor), STORE_NODE,
		    "goal_a", "T1.1");
	}
	plan_world_settle(&world);
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "last");
	plan_world_end(&world);
}
END_TEST

static void
never(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
	ck_abort_msg("its owner is gone");
}

START_TEST(effects_of_an_owner_can_be_dropped)
{
	struct plan_world world;
	int calls = 0, owner = 0;

	begin(&world);
	tell_much(&world);
	plan_persist_then(
	    plan_floor_persist(world.floor), &owner, NULL, never, NULL);
	plan_persist_then(
	    plan_floor_persist(world.floor), &calls, NULL, count_call, &calls);
	plan_persist_forget(plan_floor_persist(world.floor), &owner);
	floor_world_wait(&world.world.floor, was_called, &calls);
	plan_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("planbook");

	unit_case(suite, "the store",
	    (const TTest *const[]){ what_was_stored_is_read_again,
		a_record_that_fits_no_plan_turns_goals_off,
		the_last_state_of_a_record_is_stored,
		effects_of_an_owner_can_be_dropped, NULL });
	return suite;
}
