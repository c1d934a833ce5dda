/* SPDX-License-Identifier: ISC */

/*
 * The tasks' commits that the landing branch ends with, and which of them are
 * taken back when the branch fails its own check (auto.on_red = "revert"). A
 * person's commit never is: it ends the run. Pure.
 */
#ifndef RED_RUN_H
#define RED_RUN_H

#include <stdbool.h>
#include <stddef.h>

struct check_book;
struct schema;

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

#endif
