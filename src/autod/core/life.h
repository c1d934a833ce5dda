/* SPDX-License-Identifier: ISC */

/*
 * The daemon's life cycle: begins floor by floor, patrols, and stops when every
 * floor is quiet.
 */
#ifndef LIFE_H
#define LIFE_H

struct core;
struct err;
struct life;
struct restart;

/* The lock is taken: describe who holds it, and return -EAGAIN. A daemon is
 * registered, a single request is not. */
int registration_describe_holder(const struct core *core, struct err *err);
struct life *life_new(struct core *core);
void life_free(struct life *life);

/* The methods for the daemon itself: info, state, reload, stop. */
void life_register(struct core *core);

/* Listen, register, begin the lowest floor. */
int life_begin(struct core *core, struct err *err);

/* Called by the floor that was to begin: begin the next one. */
void life_floor_begun(struct core *core);

/* Patrol everything now. */
void life_patrol(struct core *core);

/* Number of patrols by the timer so far. */
uint64_t life_patrols(const struct core *core);

/* Stop: end the sessions, save the state; the next daemon continues. now: do
 * not wait for anything. */
void life_stop(struct core *core, const char *reason, bool now);

/* The same, and it is the end of the run: no other daemon should be started.
 * The reason is kept in ended.json. */
void life_complete(struct core *core, const char *reason, bool now);

/* Was life_complete() called? */
bool life_is_complete(const struct core *core);

/* The loop has ended because the program is to be replaced (core->restarts):
 * before the floors are freed: what the next program gets. */
void life_hand_on(struct core *core, struct restart *ret_restart);

/* Does an overseer run now? */
bool life_is_overseen(const struct core *core);

/* Read the settings again, after a signal or a change of the file. */
void life_reload(struct core *core);

#endif
