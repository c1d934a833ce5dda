/* SPDX-License-Identifier: ISC */

/* What is due is done: told to the session, or to the worker. */
#ifndef OVERSIGHT_ACT_H
#define OVERSIGHT_ACT_H

#include <stdbool.h>

struct agent;
struct buf;
struct oversight_floor;
struct watched;

/* Record what is only to be recorded: all of it where oversight observes. */
void oversight_act_log(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent);

/* Append the warnings and redirections that are due, another approach first, to
 * a prompt or an answer that is about to be sent; context: which the session
 * reads in the middle of its turn. They are recorded as delivered once the
 * state is saved and the answer sent: if the daemon dies before, the next one
 * delivers them again. */
void oversight_act_add(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent, bool context, struct buf *out);
/* Record what was sent. parked: a prompt was not submitted yet. */
void oversight_act_given(struct oversight_floor *floor, struct watched *watched,
    const char *worker, bool parked);
/* That prompt will never be: what it says is due again. */
void oversight_act_replaced(struct watched *watched);
/* Append the redirections that were read in the middle of the turn and did not
 * help. */
void oversight_act_again(const struct oversight_floor *floor,
    const struct watched *watched, const struct agent *agent, struct buf *out);

/* Give it a fresh session, fail its attempt or park its task if that is due and
 * possible now. words: what it would be told otherwise; NULL = nothing. True:
 * that has begun, and the watched task may be gone. */
bool oversight_act_stop(struct oversight_floor *floor, struct watched *watched,
    struct agent *agent, const char *words);
/* Record the pauses of tasks that are parked now, once that is saved. */
void oversight_act_parked(struct oversight_floor *floor);

#endif
