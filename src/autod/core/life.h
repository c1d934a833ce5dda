/* SPDX-License-Identifier: ISC */

/*
 * The daemon's life: it begins floor by floor, is patrolled, and stops when
 * every floor is quiet.
 */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct err;
struct life;

struct life *life_new(struct core *core);
void life_free(struct life *life);

/* Listen, register, begin the lowest floor. */
int life_begin(struct core *core, struct err *err);
/* Of the floor whose turn it was: the next one begins. */
void life_floor_begun(struct core *core);
bool life_has_begun(const struct core *core); /* all floors */

/* A look at everything, now. */
void life_patrol(struct core *core);
/* Patrols made by the timer so far. */
uint64_t life_patrols(const struct core *core);

/* Stop: sessions end, what they did is kept, the next daemon resumes it. now:
 * wait for nobody. */
void life_stop(struct core *core, const char *reason, bool now);

/* Take the settings again, as a signal or a change of the file asks for. */
void life_reload(struct core *core);

#endif
