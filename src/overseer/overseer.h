/* SPDX-License-Identifier: ISC */

/*
 * The overseer: parent of the daemon. It notices death, hangs, complaints and
 * stalls, gathers evidence, has a Claude Code session repair what broke, starts
 * the daemon again, and stops when that does not help. Never two daemons.
 *
 *   overseer.c  the run: begins, ends, what state it is in
 *   ward.c      the daemon's process: started, ended
 *   inherit.c   one that runs already, and what an earlier overseer left
 *   observe.c   what is seen of it, turned into a verdict (model/health)
 *   respond.c   what is done about a verdict (model/spiral)
 *   repair.c    a repair: one agent session from its prompt to its outcome
 *   repair-session.c  that session: launched, prompted, ended
 *   report.c    logs/remediation_<stamp>.txt
 *   console.c   what people see
 */
#ifndef OVERSEER_H
#define OVERSEER_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "evidence.h"
#include "health.h"
#include "history.h"
#include "procref.h"
#include "workspace.h"

struct child;
struct err;
struct git;
struct loop;
struct loop_call;
struct loop_signal;
struct loop_timer;
struct loop_watch;
struct reaper;
struct repair;
struct settings;
struct tail;
struct tmux;
struct ward_run;

/* How it ends; overseer(8) lists them. */
enum overseer_exit {
	OVERSEER_STOPPED = 0, /* by a person, or all tasks are done */
	OVERSEER_ERROR = 1,
	OVERSEER_USAGE = 2,
	OVERSEER_SPIRAL = 3,
	OVERSEER_MANUAL = 4, /* a manual intervention file */
	OVERSEER_UNREPAIRED = 5, /* the repair failed or timed out */
	OVERSEER_REFUSED = 6, /* another overseer, or a strange daemon */
	OVERSEER_FORCED = 130,
};

enum overseer_state {
	STATE_STARTING, /* the daemon */
	STATE_RUNNING,
	STATE_ENDING_DAEMON, /* it is being terminated */
	STATE_REMEDIATING,
	STATE_WAITING, /* before the next start */
	STATE_TERMINATED,
	STATE_COUNT
};

struct overseer_options {
	const char *root;
	const char *concurrency, *task_pool_command, *post_accept_command;
	const char *clear; /* reason, NULL = run */
};

/* The daemon as we know it. */
struct ward {
	struct child *child; /* NULL when adopted or gone */
	struct procref ref;
	struct loop_watch *watch; /* of an adopted one */
	struct ward_run *run; /* what its child's end is told to */
	int life; /* a pipe that breaks when it dies, -1 = none */
	struct loop_watch *life_watch;
	bool alive;
	bool adopted;
	bool told; /* to end, by us */
	bool ready;
	bool beaten; /* it did not start, and another holds the lock */
	int status; /* when it ended, -1 = unknown */
	char *ended; /* the same in words */
	char *instance;
	int64_t started_ms; /* monotonic */
	int64_t ended_ms;
	struct loop_timer *kill;
};

#define WARD_INIT                                             \
	{                                                     \
		.ref = PROCREF_INIT, .status = -1, .life = -1 \
	}

/* What was seen of it last. */
struct sight {
	struct tail *tail; /* autod.log */
	struct buf complaint;
	uint64_t sequence;
	int64_t beat_ms; /* monotonic, of the last beat; 0 = none */
	int64_t activity_unix; /* last assignment or completion told */
	int64_t moved_ms; /* monotonic, when that changed */
	bool assigned;
	bool failure; /* failure.json of this instance */
	bool identity;
	bool doubted; /* the identity, at the last look */
	int64_t graced_ms; /* a starved verdict was put off then */
	struct loop_timer *look;
};

#define OVERSEER_EVENTS 10 /* told by llmc status */

struct overseer {
	const struct overseer_options *options;
	struct loop *loop;
	struct workspace workspace;
	struct settings *settings;
	struct tmux *tmux;
	struct git *git;
	enum overseer_state state;
	int lock;
	char *instance;
	int64_t started_unix;
	char *llmc; /* path of the command line program */
	char *branch; /* default branch by git, NULL = none */
	struct history history;
	struct ward ward;
	struct sight sight;
	struct evidence evidence;
	char *evidence_stamp; /* of what has not been kept yet, or NULL */
	enum health_verdict verdict; /* that is being dealt with */
	char *class, *words, *signature;
	int64_t failed_ms; /* wall clock, when that was seen */
	int64_t ran_ms; /* how long the daemon had run by then */
	bool noted; /* it is in the history already */
	int64_t take_ms; /* monotonic, since when who holds the daemon's lock
			  * is waited for; 0 = not */
	struct repair *repair;
	int attempt; /* repairs since the last healthy run */
	struct reaper *reaper;
	struct loop_timer *delay, *watchdog, *rewrite;
	struct loop_call *write;
	bool changed; /* what overseer.json tells */
	struct loop_signal *signals[3];
	bool stopping; /* a person wants us to end */
	bool forced; /* at once */
	char *events[OVERSEER_EVENTS]; /* oldest first */
	int exit_status;
};

/* overseer.c */
/* Begin to the point where the loop takes over: run o->loop, then close.
 * Negative errno: it refuses, has said why, and exit_status tells. */
int overseer_open(struct overseer *o, const struct overseer_options *options);
void overseer_close(struct overseer *o);
/* All of that; the exit status. */
int overseer_run(const struct overseer_options *options);
void overseer_set_state(struct overseer *o, enum overseer_state state);
const char *overseer_state_name(enum overseer_state state);
/* Something that overseer.json tells has changed; it is written, with evidence
 * and history, at the end of the turn: a restart does not wait for the disk. */
void overseer_register(struct overseer *o);
/* Write all of that now. */
void overseer_write(struct overseer *o);
/* The end: an exit status, and for one that needs a person the words. */
void overseer_end(struct overseer *o, int status, const char *why);
/* Settings again; the old ones stay when the new are wrong. */
void overseer_reload(struct overseer *o);
char *overseer_path(const struct overseer *o, const char *name);

/* inherit.c */
/* Start it, or take over what an earlier overseer left. Negative errno:
 * refused, in words. */
int ward_begin(struct overseer *o, struct err *err);
/* Start it, or take over who holds its lock, now or a little later. */
int ward_take(struct overseer *o, struct err *err);
/* The same; a refusal ends us. */
void ward_take_or_end(struct overseer *o);

/* ward.c */
void ward_start(struct overseer *o);
/* SIGTERM, a grace, SIGKILL; respond_ended() is called when it is gone. */
void ward_end(struct overseer *o, bool now);
/* One that is not our child has ended: that is all that can be known. */
void ward_is_gone(struct overseer *o);
/* Be told of its end; for one that is not our child. */
void ward_watch(struct overseer *o);
void ward_release(struct ward *ward);

/* observe.c */
void observe_begin(struct overseer *o); /* a daemon has been started */
void observe_end(struct overseer *o);
/* Look now: the verdict is acted on. */
void observe_look(struct overseer *o);
/* Is there a failure of its own that it told of? Class and words are taken. */
bool observe_failure(struct overseer *o);

/* respond.c */
void respond_verdict(
    struct overseer *o, enum health_verdict verdict, const char *words);
/* The daemon's process is gone. */
void respond_ended(struct overseer *o);
/* An earlier overseer was dealing with a failure, which we have read. */
void respond_resume(struct overseer *o);
/* A repair ended. */
enum repair_outcome {
	REPAIR_COMPLETED,
	REPAIR_GAVE_UP, /* manual intervention file */
	REPAIR_INTERRUPTED, /* we are stopping */
	REPAIR_DIED, /* the session, again and again */
	REPAIR_TIMED_OUT,
	REPAIR_FAILED, /* could not even begin, or left the checkout dirty */
	REPAIR_OUTCOME_COUNT
};
void respond_repaired(struct overseer *o, enum repair_outcome outcome,
    const char *words, int64_t took_ms, const char *log);

/* repair.c */
void repair_begin(struct overseer *o);
void repair_stop(struct overseer *o, bool now);
const char *repair_outcome_name(enum repair_outcome outcome);

/* console.c */
enum console_colour {
	CONSOLE_PLAIN,
	CONSOLE_RED,
	CONSOLE_GREEN,
	CONSOLE_YELLOW,
};
void console_say(struct overseer *o, enum console_colour colour,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
