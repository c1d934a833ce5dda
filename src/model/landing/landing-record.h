/* SPDX-License-Identifier: ISC */

/*
 * The landing queue: its items, the results of checks, and
 * the journal of a move of the branch. What is built and checked from it is
 * computed again after a restart (landing-plan.h).
 */
#ifndef LANDING_RECORD_H
#define LANDING_RECORD_H

#include "check-book.h"

struct buf;
struct err;
struct json_object;
struct landing_item;
struct schema;
struct task;

/* What is to be pushed after a landing. */

/* All zero: nothing has landed since pushes are wanted. */
struct push_record {
	char *
	    unpushed; /* landed commit that the remote does not have, or NULL */
	char *pushed; /* the last one that it got, or NULL */
	int tries; /* that failed since then */
	char *reason; /* of the last one */
	int64_t next_ms; /* when to try again, wall clock; 0 = at once */
};

/* A landing has moved the branch to this commit. */
/* The branch was pushed for this commit, as it was then; a later one may have
 * landed meanwhile. */
void push_record_done(
    struct push_record *push, const char *commit, const char *pushed);
/* A try failed: sets when the next one is. */
void push_record_failed(
    struct push_record *push, const char *reason, int64_t now_ms);
/* How long to wait for the next try; -1 = there is nothing to push. */
int64_t push_record_wait_ms(const struct push_record *push, int64_t now_ms);

bool push_record_has_failed(const struct push_record *push);
extern const struct schema push_record_schema;
/* For people; NULL = nothing has landed yet. */
struct json_object *push_record_json(const struct push_record *push);

/*
 * The tasks' commits that the landing branch ends with, and which of them are
 * taken back when the branch fails its own check (auto.on_red = "revert"). A
 * person's commit never is: it ends the run. Pure.
 */

#define RED_RUN_MAX 64 /* commits that are remembered */

/* Strings are owned. */
struct red_commit {
	char *commit, *tree;
	char *parent, *parent_tree;
	char *task; /* that landed it */
};

/* All zero is an empty run. */
struct red_run {
	struct red_commit list[RED_RUN_MAX]; /* oldest first */
	size_t count;
};

void red_run_release(struct red_run *run);

/* The branch has this commit now, which is copied. One without a task (a
 * person's, or one that takes others back), or on top of another commit than
 * the last one, ends what was remembered. */
void red_run_add(struct red_run *run, const struct red_commit *commit);

/* How many of the newest commits are to be taken back if the branch is red at
 * `tip`: so that it is again as the last commit whose tree passed the command,
 * else as the one before the run. 0 = none may be. */
size_t red_run_length(const struct red_run *run, const char *tip,
    const struct check_book *book, const char *command);

extern const struct schema red_commit_schema;

struct landing_record {
	struct landing_item **items; /* owned, in the order of their ids */
	size_t count;
	uint64_t ids; /* items numbered so far */
	int window; /* how many are looked at together, 0 = not set */
	/* The journal: the branch moves from one commit to the other, with the
	 * items that have a commit. NULL = it does not move. The branch is also
	 * NULL in the journal of an older version. */
	char *branch, *from, *to;
	char *from_tree;
	char *red_told; /* base tree that was reported as failing */
	struct red_run own; /* tasks' commits that the branch ends with */
	struct push_record push;
	struct check_book checks;
};

/* All zero is an empty record. */
extern const struct schema landing_record_schema;

/* A new item with the next id, not yet in the queue; and then into it. */
struct landing_item *landing_record_new_item(struct landing_record *record);
void
landing_record_append(struct landing_record *record, struct landing_item *item);
void
landing_record_remove(struct landing_record *record, struct landing_item *item);
/* NULL = none. */
struct landing_item *
landing_record_find(const struct landing_record *record, const char *id);
/* The item whose work is in that worker's worktree. NULL = none. */
struct landing_item *
landing_record_of(const struct landing_record *record, const char *worker);

/* The item that has the work of this task. NULL = none. */
struct landing_item *
landing_record_of_task(const struct landing_record *record, const char *task);

/* The tasks that landed in one move of the branch, and whose
 * post_accept_command has not been settled yet. */

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
