/* SPDX-License-Identifier: ISC */

/*
 * What the overseer does about each event in each of its states, as data:
 * respond.c performs the acts. overseer --table prints it, and overseer(8) has
 * the same.
 */
#ifndef OVERSEER_TABLE_H
#define OVERSEER_TABLE_H

struct buf;

enum overseer_state {
	STATE_STARTING, /* the daemon; or who holds its lock is waited for */
	STATE_RUNNING,
	STATE_ENDING_DAEMON, /* it failed: it ends, and what follows is chosen
			      */
	STATE_REMEDIATING,
	STATE_WAITING, /* before the next start */
	STATE_STOPPING, /* a person wants us to end */
	STATE_TERMINATED,
	STATE_COUNT
};

enum overseer_event {
	/* Of the daemon's process. */
	WHEN_READY,
	WHEN_ENDED, /* as it was told to, or there is none to end */
	WHEN_DIED,
	WHEN_BEATEN, /* it did not start, and another holds the lock */
	/* Of who looks at it. */
	WHEN_COMPLETE,
	WHEN_FAILING, /* a failure, and its process is there */
	WHEN_FAILED, /* a failure, and it has ended */
	WHEN_RESUMED, /* an earlier overseer was dealing with a failure */
	/* What was chosen. */
	WHEN_RETRY,
	WHEN_RESTART,
	WHEN_RESET,
	WHEN_REPAIR,
	WHEN_OVER,
	/* What was waited for. */
	WHEN_REPAIRED, /* however it ended */
	WHEN_DUE,
	WHEN_SETTINGS, /* they have been read again, or cannot be used */
	/* Signals. */
	WHEN_STOP,
	WHEN_RELOAD,
	WHEN_UPGRADE,
	WHEN_COUNT
};

enum overseer_act {
	ACT_UNSET, /* a pair that the table forgot */
	ACT_NONE, /* it does not happen there, or does not matter any more */
	ACT_TAKE,
	ACT_TAKE_OTHER,
	ACT_START,
	ACT_RETRY,
	ACT_SAY_READY,
	ACT_LOOK,
	ACT_COMPLETE,
	ACT_END_DAEMON,
	ACT_FIND_DEAD,
	ACT_RESUME,
	ACT_RECORD,
	ACT_READ,
	ACT_CHOOSE,
	ACT_PAUSE,
	ACT_RESET,
	ACT_REPAIR,
	ACT_FOLLOW,
	ACT_STOP,
	ACT_STOP_REPAIR,
	ACT_STOP_NOW,
	ACT_STOPPED,
	ACT_INTERRUPTED,
	ACT_END,
	ACT_HURRY,
	ACT_RELOAD,
	ACT_UPGRADE,
	ACT_REFUSE,
	ACT_COUNT
};

/* The state is next before the act is performed, which may have a next event
 * follow. */
struct overseer_row {
	enum overseer_act act;
	enum overseer_state next;
};

extern const struct overseer_row overseer_table[STATE_COUNT][WHEN_COUNT];

/* As in overseer.json, which has no name for STATE_STOPPING: see there. */
const char *overseer_state_name(enum overseer_state state);
const char *overseer_event_name(enum overseer_event event);
const char *overseer_act_name(enum overseer_act act);

/* All that is not ACT_NONE, for people; appended. */
void overseer_table_print(struct buf *out);

#endif
