/* SPDX-License-Identifier: ISC */

/*
 * Agents and those that they have asked for, as long as their tasks are in the
 * state, and how both end:
 *
 * - a task that was asked for has its outcome: its parent is told by mail,
 *   before the state forgets the task;
 * - a task ends badly: those that it asked for are cancelled, with their work
 *   salvaged, or handed to its own parent (team.on_parent_end); one that ends
 *   well, in spite of them, hands them over. Without a parent they go on as
 *   ordinary tasks.
 *
 * An attempt that fails changes nothing: the next one has the same children.
 * All of it is part of settling the outcome, and is repeated until it is done.
 */
#ifndef TEAM_FAMILY_H
#define TEAM_FAMILY_H

#include <stddef.h>

struct buf;
struct err;
struct task;
struct team_family;
struct team_floor;

struct team_family *team_family_new(struct team_floor *floor);
void team_family_free(struct team_family *family);

/* How many agents that this task has asked for have not ended, or have ended
 * and it was not told yet? Their names, with commas, are appended to names
 * (may be NULL). */
size_t team_family_open(
    const struct team_floor *floor, const char *task, struct buf *names);

/* As in struct auto_team; arg is a struct team_floor. */
int team_family_settle(void *arg, const struct task *task, struct err *err);

#endif
