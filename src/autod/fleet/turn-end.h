/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: judged by git's facts (model/turn), for workers that a
 * person drives and, with what the policy adds, for those of auto mode. What
 * git says is answered at once, by the Stop hook's own answer.
 */
#ifndef TURN_END_H
#define TURN_END_H

#include <stdbool.h>

struct agent;
struct server_call;

/* Of a commit made for a worker that left changes behind. */
extern const char turn_end_leftover_message[];

/* call NULL: nobody waits for the answer (spooled, or it was not heard). It is
 * answered in any case. */
void turn_end_begin(
    struct agent *agent, struct server_call *call, const char *last_words);

/* Has the turn ended and nobody judged it? Something else was being done to the
 * worktree just then, or the daemon died over it. */
bool turn_end_is_due(const struct agent *agent);

#endif
