/* SPDX-License-Identifier: ISC */

/*
 * Agents that were asked for and have not begun: nodes of plans without a task.
 *
 * Whoever asked waits for those that will begin, also if something has to
 * happen first (they are held); a person is told of what only a person can
 * change. Those that will not begin are not waited for, and whoever asked is
 * told why: in untold of its struct task_run.
 */
#ifndef TEAM_UNBEGUN_H
#define TEAM_UNBEGUN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct json_object;
struct task;
struct team_floor;

/* How many of the agents that this task has asked for are to begin? Their names
 * are added to names (may be NULL), with what holds them. *ret_held (may be
 * NULL): how many of them are held. */
size_t team_unbegun_count(const struct team_floor *floor,
    const struct task *task, struct buf *names, size_t *ret_held);

/* As in struct auto_team; arg is a struct team_floor. */
size_t
team_unbegun_policy(void *arg, const struct task *task, size_t *ret_held);

/* Look for those that will not begin, or not before a person has helped. */
void team_unbegun_look(struct team_floor *floor, struct task *task);

/* The name of an agent for people, after a comma: "label (id)". spawn: its
 * struct task_run as JSON. */
void
team_unbegun_name(struct buf *names, struct json_object *spawn, const char *id);

#endif
