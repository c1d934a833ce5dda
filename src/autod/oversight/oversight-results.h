/* SPDX-License-Identifier: ISC */

/*
 * What tests say about the work at the end of a turn: the iteration that is
 * open gets it. With oversight.test_command, only that: it runs in the
 * worktree before the turn is judged (turn-end.c). Otherwise check_command: its
 * result after the turn, which is final only if it failed, because what passed
 * is about to land, and may fail there; or what the book of checks knows of
 * exactly this tree. What was not judged is not known. Parts of a turn have no
 * result.
 *
 * `floor` is a struct oversight_floor; these are parts of struct auto_watch.
 */
#ifndef OVERSIGHT_RESULTS_H
#define OVERSIGHT_RESULTS_H

#include <stdbool.h>

struct agent;
struct child_result;
struct oversight_floor;
struct task;
struct watched;

const char *oversight_results_test(void *floor, struct agent *agent);
void oversight_results_tested(
    void *floor, struct agent *agent, const struct child_result *result);
void oversight_results_checked(
    void *floor, struct agent *agent, bool passed, const char *output);
void oversight_results_ejected(void *floor, const struct task *task,
    struct agent *agent, const char *output);

/* The turn has just ended: is its result known already? */
void oversight_results_known(
    const struct oversight_floor *floor, struct watched *watched);
/* What lands has passed the check, if there is one, and is complete. */
void oversight_results_landed(
    const struct oversight_floor *floor, struct watched *watched);

#endif
