/* SPDX-License-Identifier: ISC */

/* What is due is done: told to the session, or to the worker. */
#ifndef OVERSIGHT_ACT_H
#define OVERSIGHT_ACT_H

#include <stdbool.h>

struct agent;
struct buf;
struct oversight_floor;
struct watched;

/* Record what is only to be recorded. */
void oversight_act_log(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent);

/* Append the warnings and redirections that are due: they are delivered. */
void oversight_act_preface(struct oversight_floor *floor,
    struct watched *watched, const struct agent *agent, struct buf *out);

/* Pause or abort it if that is due and possible now. words: what it would have
 * been told, NULL = nothing. True: it was; after an abort the watched task is
 * gone. */
bool oversight_act_stop(struct oversight_floor *floor, struct watched *watched,
    struct agent *agent, const char *words);

#endif
