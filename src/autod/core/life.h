/* SPDX-License-Identifier: ISC */

/*
 * The daemon's life cycle: begins floor by floor, patrols, and stops when every
 * floor is quiet.
 */
#ifndef LIFE_H
#define LIFE_H

struct core;
struct err;
struct heartbeat;
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

/* Has the loop ended because the program is to be replaced (llmc restart)? */
bool life_restarts(const struct core *core);

/* Then, before the floors are freed: what the next program gets. */
void life_hand_on(struct core *core, struct restart *ret_restart);

/* Does an overseer run now? */
bool life_is_overseen(const struct core *core);

/* What the work until now needed goes back to the kernel, in a moment: after a
 * call, which may have needed much. */
void life_rest_soon(struct core *core);

/* Read the settings again, after a signal or a change of the file. */
void life_reload(struct core *core);

/* --- heartbeat ---------------------------------------------------------- */

/* The heartbeat, written from the loop: if the loop is stuck, it gets stale. It
 * also has what the overseer has to know of the work: when a task was last
 * assigned or completed, which workers are expected to get on with theirs, and
 * a line for each. */

/* Stop, and remove the file. */
void heartbeat_free(struct heartbeat *heartbeat);

/* The state was saved: if a task was assigned or completed since the last beat,
 * beat. NULL = nothing. */
void heartbeat_saved(struct heartbeat *heartbeat);

/* The phase has changed to or from one that a person is told about. */
void heartbeat_now(struct heartbeat *heartbeat);

/* When the last one was written, as it says; 0 = none was, or NULL. */
int64_t heartbeat_last_unix(const struct heartbeat *heartbeat);

/* --- failure ------------------------------------------------------------ */

/* Hard failures: write failure.json, a record for the overseer, then emit an
 * event and stop with exit status 1. */

struct failure {
	const char *class; /* event-table.h */
	const char *worker, *task; /* NULL = none */
	int status; /* exit status of the failed command, -1 = none */
	const char *reason; /* what happened, with evidence */
};

/* Only the first one counts; ignored while the daemon stops. */
void failure_raise(struct core *core, const struct failure *failure);
/* RAISE(core, "git", .reason = words); no command has failed. */
#define RAISE(core, what, ...) \
	failure_raise(core,    \
	    &(struct failure){ .class = (what), .status = -1, __VA_ARGS__ })

#endif
