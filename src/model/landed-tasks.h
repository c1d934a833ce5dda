/* SPDX-License-Identifier: ISC */

/* The tasks that landed in one move of the branch, and whose
 * post_accept_command has not been settled yet. */
#ifndef LANDED_TASKS_H
#define LANDED_TASKS_H

#include <stddef.h>

struct buf;
struct task;

/* In the order of their commits, oldest first. */
struct landed_tasks {
	struct task **tasks; /* not owned; the array is */
	size_t count;
};

#define cleanup_landed_tasks __attribute__((cleanup(landed_tasks_release)))

/* Find them among all tasks. The list may be empty. */
void landed_tasks_find(struct task *const *tasks, size_t count,
    const char *move, struct landed_tasks *ret_list);
void landed_tasks_release(struct landed_tasks *list);

/* NULL if the list is empty. */
struct task *landed_tasks_last(const struct landed_tasks *list);
/* The newest one whose commit is still on the branch: one that was taken back
 * has none. NULL = all were. */
struct task *landed_tasks_next_revert(const struct landed_tasks *list);

/* Append their ids, "t1 t3". */
void landed_tasks_add_ids(
    const struct landed_tasks *list, const char *between, struct buf *out);

#endif
