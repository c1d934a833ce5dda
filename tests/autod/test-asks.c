/* SPDX-License-Identifier: ISC */

/* Asks follow the state and are saved with it, wherever the daemon dies. */
#include <string.h>

#include "core.h"
#include "floor-world.h"
#include "json.h"
#include "persist.h"
#include "person.h"
#include "state.h"
#include "task.h"
#include "unit.h"

static struct floor_world world;

static void
begin(void)
{
	floor_world_begin(&world, NULL);
	floor_world_live(&world);
	floor_world_settle(&world);
}

static void
end(void)
{
	floor_world_end(&world);
}

static void
change(void)
{
	persist_changed(world.core);
	floor_world_settle(&world);
}

/* As killed: nothing more is saved. */
static void
die(void)
{
	world.store_fails = true;
	floor_world_close(&world);
	world.store_fails = false;
	floor_world_open(&world);
	floor_world_live(&world);
	floor_world_settle(&world);
}

static void
park(enum ask_kind kind)
{
	struct task *t = task_new("t1", "command", "k", "T", "x", 1);

	t->step = TASK_WAITING;
	ck_assert_int_eq(task_park(t, kind, NULL, "no money", 2), 0);
	state_add_task(&world.core->state, t);
}

static const struct ask *
only(void)
{
	ck_assert_uint_eq(world.core->state.ask_count, 1);
	return world.core->state.asks[0];
}

TEST(a_parked_task_is_an_open_ask_until_it_goes_on)
{
	begin();
	park(ASK_BUDGET);
	change();
	ck_assert_str_eq(only()->id, "a1");
	ck_assert_str_eq(only()->key, "task/t1");
	ck_assert_str_eq(only()->words, "no money");
	ck_assert_int_eq(only()->kind, ASK_BUDGET);
	change();
	only();
	task_unpark(state_task(&world.core->state, "t1"), NULL, 3);
	change();
	ck_assert_uint_eq(world.core->state.ask_count, 0);
	/* Its number is not given again. */
	task_park(
	    state_task(&world.core->state, "t1"), ASK_BLOCKED, NULL, "w", 4);
	change();
	ck_assert_str_eq(only()->id, "a2");
	end();
}

TEST(it_is_saved_with_what_caused_it_or_not_at_all)
{
	begin();
	world.store_fails = true;
	park(ASK_BUDGET);
	persist_changed(world.core);
	die();
	ck_assert_ptr_null(state_task(&world.core->state, "t1"));
	ck_assert_uint_eq(world.core->state.ask_count, 0);
	park(ASK_BUDGET);
	change();
	die();
	ck_assert_ptr_nonnull(state_task(&world.core->state, "t1"));
	ck_assert_str_eq(only()->id, "a1");
	end();
}

TEST(a_failed_task_asks_until_a_person_answers)
{
	const struct notice failed = {
		.class = NOTICE_TASK, .why = "it is broken", .task = "t9"
	};
	struct floor_call *call;

	begin();
	person_tell(world.core, &failed);
	person_tell(world.core, &failed);
	floor_world_settle(&world);
	ck_assert_int_eq(only()->count, 2);
	ck_assert_int_eq(only()->kind, ASK_FAILURE);
	die();
	ck_assert_str_eq(only()->words, "it is broken");
	call = floor_world_ask(
	    &world, "ask.end", "{\"ask\": \"a1\", \"answer\": \"no\"}");
	ck_assert_ptr_null(floor_world_answer(&world, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "answered");
	ck_assert_uint_eq(world.core->state.ask_count, 0);
	die();
	ck_assert_uint_eq(world.core->state.ask_count, 0);
	end();
}

/* The answer came first; what it did has ended the ask then. */
TEST(what_is_still_so_stays_open)
{
	struct floor_call *call;

	begin();
	park(ASK_BLOCKED);
	change();
	call = floor_world_ask(
	    &world, "ask.end", "{\"ask\": \"t1\", \"answer\": \"go on\"}");
	ck_assert_ptr_null(floor_world_answer(&world, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "open");
	ck_assert_str_eq(only()->answer, "go on");
	end();
}

TEST(only_what_is_critical_stays_open_of_what_wants_nothing)
{
	begin();
	person_tell(world.core,
	    &(struct notice){ .class = NOTICE_LIMIT, .why = "until seven" });
	ck_assert_uint_eq(world.core->state.ask_count, 0);
	person_tell(world.core,
	    &(struct notice){ .class = NOTICE_STATE, .why = "damaged" });
	ck_assert_int_eq(only()->kind, ASK_TOLD);
	ck_assert_str_eq(only()->id, "a2");
	end();
}
