/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "landed-tasks.h"
#include "mem.h"
#include "task.h"

static int
compare(const void *a, const void *b)
{
	const struct task *x = *(struct task *const *)a;
	const struct task *y = *(struct task *const *)b;

	return x->place < y->place ? -1 : x->place > y->place;
}

void
landed_tasks_find(struct task *const *tasks, size_t count, const char *move,
    struct landed_tasks *ret_list)
{
	ret_list->tasks = xcalloc(count + 1, sizeof(struct task *));
	ret_list->count = 0;
	for (size_t i = 0; i < count; i++)
		if (tasks[i]->step == TASK_LANDED && tasks[i]->move != NULL &&
		    strcmp(tasks[i]->move, move) == 0)
			ret_list->tasks[ret_list->count++] = tasks[i];
	qsort(ret_list->tasks, ret_list->count, sizeof(struct task *), compare);
}

void
landed_tasks_release(struct landed_tasks *list)
{
	free(list->tasks);
	*list = (struct landed_tasks){ 0 };
}

struct task *
landed_tasks_last(const struct landed_tasks *list)
{
	return list->count > 0 ? list->tasks[list->count - 1] : NULL;
}

struct task *
landed_tasks_next_revert(const struct landed_tasks *list)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->tasks[i]->commit != NULL)
			return list->tasks[i];
	return NULL;
}

void
landed_tasks_add_ids(
    const struct landed_tasks *list, const char *between, struct buf *out)
{
	for (size_t i = 0; i < list->count; i++)
		buf_addf(out, "%s%s", i > 0 ? between : "", list->tasks[i]->id);
}
