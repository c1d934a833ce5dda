/* SPDX-License-Identifier: ISC */

/* The daemon's process: started, watched, ended. */
#ifndef DAEMON_PROCESS_H
#define DAEMON_PROCESS_H

#include "procref.h"

struct child;
struct daemon_run;
struct err;
struct loop_timer;
struct loop_watch;
struct overseer;

/* After the loop's own handlers, which are called first. */
void way_out_open(void);

struct daemon_process {
	struct child *child; /* NULL when adopted or gone */
	struct procref ref;
	struct loop_watch *watch; /* of an adopted one */
	struct daemon_run *run; /* what its child's end is told to */
	int life; /* a channel that breaks when it dies, -1 = none */
	struct loop_watch *life_watch;
	bool alive;
	bool adopted;
	bool told_to_end; /* by us */
	bool ready;
	bool stuck; /* SIGKILL did not end it: it hangs in the kernel */
	bool beaten; /* it did not start, and another holds the lock */
	int64_t said_from; /* where its standard error begins in the file */
	int status; /* when it ended, -1 = unknown */
	char *how_ended; /* the same as a sentence */
	char *instance;
	int64_t started_ms; /* monotonic */
	int64_t ended_ms;
	struct loop_timer *kill;
};

#define DAEMON_PROCESS_INIT                                   \
	{                                                     \
		.ref = PROCREF_INIT, .status = -1, .life = -1 \
	}

/* SIGTERM, a grace, SIGKILL; respond_ended() is called when it is gone. The
 * signal comes before anything is told or written. One that even SIGKILL does
 * not end is told to people, and left when we are to stop. */
void daemon_process_end(struct overseer *o, bool now);

/* One that is not our child has ended: that is all that can be known. */
void daemon_process_is_gone(struct overseer *o);
void daemon_process_release(struct daemon_process *process);

/* Start the daemon, or take over what an earlier overseer left. Negative errno:
 * refused, with the reason. */
int daemon_takeover_begin(struct overseer *o, struct err *err);

/* Start it, or take over who holds its lock, now or a little later; a refusal
 * ends us. */
void daemon_takeover_or_end(struct overseer *o);

#endif
