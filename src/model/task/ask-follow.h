/* SPDX-License-Identifier: ISC */

/* Which asks follow from the state: a task is parked, the checkout is dirty.
 * Pure. */
#ifndef ASK_FOLLOW_H
#define ASK_FOLLOW_H

struct ask;
struct json_object;
struct task;
struct worker;

/* What asks follow from; the workers, tasks and open asks are borrowed. */
struct ask_facts {
	int64_t now_ms;
	struct worker *const *workers;
	size_t worker_count;
	struct task *const *tasks;
	size_t task_count;
	struct ask *const *asks;
	size_t ask_count;
	int64_t ids; /* asks numbered so far */
	const char *paused; /* why no task is given out; NULL = they are */
	const char *unpushed; /* why what has landed could not be pushed */
	bool red; /* the landing branch fails its own check */
	bool unchecked; /* auto mode runs, and nobody has chosen a check */
	const char *behind; /* why the branch does not follow origin, for long;
			     * NULL = it does */
	bool dirty; /* the checkout has changes, and nothing can land */
	struct json_object *goals; /* their digest, may be NULL */
};

/* Compare the asks with the state: open ones are updated, settled ones are
 * ended (ask->changed for both), and new ones are returned; the caller frees
 * the list. */
struct ask **ask_follow(const struct ask_facts *facts, size_t *ret_count);

#endif
