/* SPDX-License-Identifier: ISC */

/*
 * The overseer: parent of the daemon. It notices death, hangs, complaints and
 * stalls, gathers evidence, has a Claude Code session repair what broke, starts
 * the daemon again, and stops when that does not help. Never two daemons.
 *
 *   overseer.c        the run: begins, what state it is in; the socket of its
 *                     page, from one to the next; what would make a start
 *                     useless
 *   respond.c         how it ends, and what it does not leave behind; what is
 *                     done about a verdict (model/spiral)
 *   daemon-process.c  the daemon's process: started, ended; one that runs
 *                     already, and what an earlier overseer left; a second
 *                     Ctrl-C ends it whatever happens
 *   observe.c         what is seen of it, turned into a verdict (model/health)
 *   repair.c          a repair, from its place to its outcome; with; what its
 *                     agent is told; a fix made in a worktree onto the default
 *                     branch; logs/remediation_<stamp>.txt
 *   repair-agent.c    the agent's session, and the end of its turns
 *   writer.c          what people see; what is written to the disk, by a
 *                     process of its own
 */
#ifndef OVERSEER_H
#define OVERSEER_H

#include "daemon-process.h"
#include "evidence.h"
#include "history.h"
#include "observe.h"
#include "relay.h"
#include "spiral.h"
#include "workspace.h"

struct err;
struct git;
struct loop;
struct loop_call;
struct loop_signal;
struct loop_timer;
struct notice;
struct overseer;
struct people;
struct reaper;
struct repair;
struct session_sweep;
struct settings;
struct tmux;
struct writer;

struct kept_listener {
	int fd; /* -1 = none */
	char text[FD_CHANNEL_TEXT_SIZE];
	int messages; /* of this daemon */
	int ignored; /* of them */
};

#define KEPT_LISTENER_INIT \
	{                  \
		.fd = -1   \
	}

/* A message of one that sends more than these is not read. */
#define KEPT_LISTENER_MESSAGES 1000

/* A daemon is about to start: put the socket, if there is one, into its
 * channel. */
void kept_listener_give(struct kept_listener *kept, int channel);

/* Read a message. 1: there may be more; 0: there is none now; negative: none
 * will come. */
int kept_listener_read(struct kept_listener *kept, int channel);

/* Read all that have come. */
void kept_listener_drain(struct kept_listener *kept, int channel);
void kept_listener_release(struct kept_listener *kept);

/* How it ends; overseer(8) lists them. */
enum overseer_exit {
	OVERSEER_STOPPED = 0, /* by a person, or all tasks are done */
	OVERSEER_ERROR = 1,
	OVERSEER_USAGE = 2,
	OVERSEER_SPIRAL = 3,
	OVERSEER_MANUAL = 4, /* a manual intervention file */
	OVERSEER_UNREPAIRED = 5, /* the repair failed or timed out */
	OVERSEER_REFUSED = 6, /* another overseer, a strange daemon, or a start
			       * that would be useless */
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
	bool check, json; /* only check whether it can start */
};

#define OVERSEER_EVENTS 10 /* told by llmc status */

/* err->code is 0 when they are in effect. */
typedef void overseer_reload_fn(struct overseer *o, const struct err *err);

struct overseer {
	const struct overseer_options *options;
	struct loop *loop;
	struct workspace workspace;
	struct procref self; /* who writes overseer.json is another process */
	struct settings *settings;
	struct config_read *reader;
	overseer_reload_fn *reloaded; /* when it has read; NULL = nobody */
	struct tmux *tmux;
	struct git *git;
	enum overseer_state state;
	int lock;
	char *instance;
	int64_t started_unix;
	char *llmc; /* path of the command line program */
	char *autod; /* of the daemon; NULL = only through llmc */
	char *branch; /* default branch by git, NULL = none */
	struct history history;
	struct daemon_process daemon;
	struct kept_listener listener;
	struct sight sight;
	struct json_object *beat; /* the last heartbeat of a daemon; NULL = none
				   * was seen */
	struct evidence evidence;
	int64_t evidence_from; /* what is not read yet: where the daemon's
				* standard error begins; -1 = all is */
	int64_t evidence_to; /* where it ends */
	char *evidence_stamp; /* of what has not been kept yet, or NULL */
	enum health_verdict verdict; /* that is being dealt with */
	char *class, *words, *signature;
	int64_t failed_ms; /* wall clock, when that was seen; its time in the
			    * history too, where that tells which one it is */
	bool abrupt; /* that is health_is_abrupt() */
	bool cut_short; /* an overseer was killed during a repair of that */
	int64_t ran_ms; /* how long the daemon had run by then */
	int64_t beat_age_s; /* of its heartbeat then, -1 = there was none */
	int64_t take_ms; /* monotonic, since when who holds the daemon's lock
			  * is waited for; 0 = not */
	struct repair *repair;
	int attempt; /* repairs since the last healthy run */
	struct reaper *reaper;
	struct people *people;
	struct loop_timer *delay, *watchdog, *rewrite;
	int64_t until_ms; /* wall clock, of that delay; 0 = none */
	struct loop_call *write;
	struct writer *writer;
	const char *evidence_saved; /* the stamp that the evidence is being
				     * written with; NULL = none */
	bool changed; /* what overseer.json tells */
	struct loop_signal *signals[3];
	bool stopping; /* a person wants us to end */
	bool forced; /* at once */
	bool over; /* nothing is left to do */
	struct session_sweep *sweep; /* of sessions that nobody owns */
	int sweep_lock; /* the daemon's, meanwhile; -1 = not taken */
	char *events[OVERSEER_EVENTS]; /* oldest first */
	int exit_status;
};

/* Begin to the point where the loop takes over: run o->loop, then close.
 * Negative errno: it refuses, has said why, and exit_status tells. */
int overseer_open(struct overseer *o, const struct overseer_options *options);
void overseer_close(struct overseer *o);

/* All of that; the exit status. (A test in virtual time takes the parts.) */
int overseer_run(const struct overseer_options *options);
void overseer_set_state(struct overseer *o, enum overseer_state state);
const char *overseer_state_name(enum overseer_state state);

/* Something that overseer.json tells has changed; it is written, with evidence
 * and history, after this pass of the loop, which does not wait for the disk
 * (writer.h). */
void overseer_register(struct overseer *o);
void overseer_on_write_due(void *arg);
int overseer_write_registration(const struct overseer *o, struct err *err);

/* Write all of that now, and wait for it, though not for long. */
void overseer_write(struct overseer *o);

/* Tell people; a disk that hangs keeps nobody from being told. */
void overseer_tell(struct overseer *o, const struct notice *notice);

/* Settings again; the old ones stay when the new are wrong or nobody accepted
 * them. then (may be NULL) is called after that, from here or later. */
void overseer_reload(struct overseer *o, overseer_reload_fn *then);

/* Is .llmc still the folder with our lock? */
bool overseer_owns_root(const struct overseer *o);
char *overseer_path(const struct overseer *o, const char *name);

/* Before a start: print what is not right. -EBUSY if it must not start: no
 * daemon is running that could be taken over, and none could do any work. */
int start_check(const struct overseer *o, struct err *err);

#endif
