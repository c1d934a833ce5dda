/* SPDX-License-Identifier: ISC */

/*
 * Delegation in tests of whole programs, on top of goalrun.h: agents that
 * spawn others, whatever the agent is.
 */
#ifndef TEAMRUN_H
#define TEAMRUN_H

#include "goalrun.h"

struct json_object;

/* An entry of requested_subagents with this task: a coder, unless more, a JSON
 * object with its other members, says another role. */
struct json_object *team_child(const char *task, const char *more);
/* The step of an agent that spawns these, which end with NULL and are taken.
 */
const char *
team_spawn(struct json_object *child, ...) __attribute__((sentinel));

/* A file that the step "keep" writes, and its text. */
const char *team_kept(const char *name);
const char *team_read(const char *name);

/* The row with this label in an answer of llmc goal tree or agent_status. */
struct json_object *team_row(struct json_object *rows, const char *label);

/* The whole story: a parent spawns three agents. One lands its work, and tries
 * in vain to spawn one below itself; one lacks an artifact, twice; one finds
 * the file reserved that it wants. The daemon is killed while it verifies. */
void team_story(void);

#endif
