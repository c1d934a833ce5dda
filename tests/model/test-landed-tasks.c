/* SPDX-License-Identifier: ISC */

/* The tasks of one move of the branch. */

#include "unit.h"
#include "landing-record.h"
#include "task.h"

#define COUNT 5

static struct task *tasks[COUNT];

/* t1 and t3 landed with c2, in the other order; t4 with c3; t2 has not landed,
 * and t5 is settled already. */
void
unit_before(void)
{
	static const char *const ids[] = { "t1", "t2", "t3", "t4", "t5" };
	static const char *const moves[] = { "c2", NULL, "c2", "c3", "c2" };
	static const int places[] = { 2, 0, 1, 1, 3 };
	static const enum task_step steps[] = { TASK_LANDED, TASK_WAITING,
		TASK_LANDED, TASK_LANDED, TASK_SETTLING };

	for (size_t i = 0; i < COUNT; i++) {
		tasks[i] = task_new(ids[i], "command", "k", NULL, "x", 1);
		xstrset(&tasks[i]->move, moves[i]);
		xstrset(&tasks[i]->commit, moves[i] != NULL ? "c" : NULL);
		tasks[i]->place = places[i];
		tasks[i]->step = steps[i];
	}
}

void
unit_after(void)
{
	for (size_t i = 0; i < COUNT; i++)
		task_free(tasks[i]);
}

static void
assert_ids(const char *move, const char *want)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_buf struct buf ids = BUF_INIT;

	landed_tasks_find(tasks, COUNT, move, &list);
	landed_tasks_add_ids(&list, " ", &ids);
	ck_assert_str_eq(ids.data, want);
}

TEST(tasks_of_a_move_in_their_order)
{
	assert_ids("c2", "t3 t1");
	assert_ids("c3", "t4");
	assert_ids("c4", "");
}

TEST(the_newest_is_taken_back_first)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_landed_tasks struct landed_tasks none = { 0 };

	landed_tasks_find(tasks, COUNT, "c2", &list);
	ck_assert_ptr_eq(landed_tasks_last(&list), tasks[0]);
	ck_assert_ptr_eq(landed_tasks_next_revert(&list), tasks[0]);
	xstrset(&tasks[0]->commit, NULL);
	ck_assert_ptr_eq(landed_tasks_last(&list), tasks[0]);
	ck_assert_ptr_eq(landed_tasks_next_revert(&list), tasks[2]);
	xstrset(&tasks[2]->commit, NULL);
	ck_assert_ptr_null(landed_tasks_next_revert(&list));
	ck_assert_ptr_null(landed_tasks_last(&none));
}
