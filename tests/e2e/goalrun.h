/* SPDX-License-Identifier: ISC */

/*
 * Goals in tests of whole programs, on top of autorun.h: made from a Markdown
 * file, and compared with what the commands and the history of the branch say
 * about them.
 */
#ifndef GOALRUN_H
#define GOALRUN_H

#include "autorun.h"

/* Before the daemon starts: turn goals on, with the times of the defaults, or
 * with the same times 600 times as fast. */
void goal_enable(void);
void goal_enable_fast(void);

/* A goal from a file with this text; its id. */
const char *goal_create(const char *markdown);
/* A phase of a plan with one task, whose work are these steps. */
const char *goal_of_one_task(const char *steps);

/* From goal show --json: the record, and of the goal and of the node at this
 * path. */
struct json_object *goal_record(const char *goal);
const char *goal_status(const char *goal);
const char *goal_node(const char *goal, const char *node, const char *path);

/* The goal is completed; each of these nodes (the list ends with NULL) is done,
 * its evidence is one commit, which is on main and no other node's, and `llmc
 * why` and `llmc doctor store check` agree. */
void goal_is_reached(const char *goal, const char *const *nodes);

/* A channel appends to a file, one line per notice; wait for one of this
 * class with these words, and count those that tell a person about a goal. */
void goal_set_notices(void);
void goal_wait_notice(const char *class, const char *words);
int goal_notices(void);

#endif
