/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: judged by the facts from git (model/task/turn), for
 * workers driven by hand and, with additions from the policy, for those of auto
 * mode. The verdict is the answer to the Stop hook.
 */
#ifndef TURN_END_H
#define TURN_END_H

struct agent;
struct server_call;

/* The message of a commit made for a worker that left uncommitted changes. */
extern const char turn_end_leftover_message[];

/* call NULL: no caller waits (the Stop was spooled or lost). Otherwise it is
 * always answered. A turn whose next prompt is on its way is not judged: the
 * next one is. */
void turn_end_begin(
    struct agent *agent, struct server_call *call, const char *last_words);

/* May the end of its turn still decide what it becomes? Not if another turn has
 * begun meanwhile and lost its session, or if it was given up. */
bool turn_end_counts(const struct agent *agent);

/* Has the turn ended without being judged? Another operation was using the
 * worktree just then, or the daemon died. */
bool turn_end_is_due(const struct agent *agent);

#endif
