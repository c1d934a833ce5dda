/* SPDX-License-Identifier: ISC */

/*
 * The overseer: parent of the daemon. It notices death, hangs, complaints and
 * stalls, gathers evidence, has a Claude Code session repair what broke, starts
 * the daemon again, and stops when that does not help. Never two daemons.
 *
 *   registration.c    what state it is in, for others to read
 *   kept-listener.c   the socket of the page, from one daemon to the next
 *   overseer-settings.c  the settings, read again
 *   writer.c          what people see; what is written to the disk, by a
 *                     process of its own
 *   ending.c          how it ends, and what it does not leave behind
 *   daemon-process.c  the daemon's process: started, ended, or taken over; what
 *                     it leaves; a second Ctrl-C ends it whatever happens
 *   observe.c         what is seen of it, turned into a verdict
 *                     (model/records/remedy)
 *   repair-report.c   how a repair ended: logs/remediation_<stamp>.txt
 *   repair-check.c    what a fix must pass, and what must still be there
 *   repair-agent.c    the agent's session, and the end of its turns
 *   repair.c          a repair, from its place to its outcome; what its
 *                     agent is told; a fix made in a worktree onto the default
 *                     branch
 *   respond.c         the acts of the table (overseer-table.h): what is done
 *                     about each event, and about what an earlier overseer left
 *   overseer.c        the run: how it begins; what would make a start useless
 *
 * Each calls only those above it in this list. What happens later comes back as
 * an event (HAPPENS): the end of the daemon, a verdict, a signal.
 */
#ifndef OVERSEER_PRIVATE_H
#define OVERSEER_PRIVATE_H

#include "box.h"
#include "history.h"
#include "git.h"
#include "health.h"
#include "identity.h"
#include "operation.h"
#include "overseer-table.h"
#include "procref.h"
#include "client.h"
#include "remedy.h"
#include "sibling.h"
#include "session.h"
#include "workspace.h"

struct check_place;
struct child;
struct daemon_run;
struct err;
struct git;
struct git_salvage;
struct json_object;
struct loop;
struct loop_call;
struct loop_signal;
struct loop_timer;
struct loop_watch;
struct notice;
struct overseer;
struct people;
struct reaper;
struct repair;
struct server;
struct server_call;
struct session_sweep;
struct settings;
struct tail;
struct tmux;
struct transcript;
struct writer;

struct daemon_process {
	struct child *child; /* NULL when adopted or gone */
	struct procref ref;
	struct loop_watch *watch; /* of an adopted one */
	struct daemon_run *run; /* callback data of its child's end */
	int life; /* a channel that breaks when it dies, -1 = none */
	struct loop_watch *life_watch;
	bool alive;
	bool adopted;
	bool told_to_end; /* by us */
	bool ready;
	bool stuck; /* SIGKILL did not end it: it hangs in the kernel */
	bool beaten; /* it did not start, and another holds the lock */
	int64_t take_ms; /* monotonic, since when who holds the lock is waited
			  * for; 0 = not */
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

/* What was seen of it last. */
struct sight {
	struct tail *tail; /* autod.log; it stays from one daemon to the next */
	struct json_object *beat; /* the last heartbeat of a daemon, NULL =
				   * none was seen; it stays, too */
	struct buf complaint;
	int64_t past; /* bytes of the log from before it was taken over */
	char since[CLOCK_STAMP_SIZE]; /* when it began: its lines there */
	uint64_t sequence;
	int64_t beat_ms; /* monotonic, of the last beat; 0 = none */
	int64_t sign_ms; /* monotonic, of the last sign of life in it */
	int64_t activity_unix; /* last assignment or completion reported */
	int64_t moved_ms; /* monotonic, when that changed */
	bool assigned;
	bool failure; /* failure.json of this instance */
	bool identity;
	bool reread; /* the settings, since it seemed to stall */
	bool doubted; /* identity or heartbeat, at the last look */
	int64_t restarted_ms; /* monotonic, when it said that it replaces its
			       * program; 0 = it did not, or has */
	int64_t graced_ms; /* a starved verdict was put off then */
	int64_t due_ms; /* the next look */
	int64_t woke_ms; /* a look came that late: we did not run */
	struct loop_timer *look;
};

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

struct overseer_options {
	const char *root;
	const char *concurrency, *task_pool_command, *post_accept_command;
	const char *clear; /* reason, NULL = run */
	char *const *argv; /* as given */
	bool check, json; /* only check whether it can start */
};

#define OVERSEER_EVENTS 10 /* shown by llmc status */

/* An event, with what comes with it; the rest is 0. */
struct occurrence {
	enum overseer_event event;
	enum health_verdict verdict; /* of WHEN_COMPLETE to WHEN_FAILED */
	const char *words; /* of these, NULL = those of the verdict; or why it
			    * is over, NULL = no person is needed */
	enum overseer_exit status; /* of WHEN_OVER */
	int64_t delay_ms; /* of WHEN_RESTART and WHEN_RESET */
	const struct spiral_event *repair; /* of WHEN_REPAIRED */
	const struct err *err; /* of WHEN_SETTINGS; code 0: in effect */
};

typedef void
overseer_happens_fn(struct overseer *o, const struct occurrence *what);

/* HAPPENS(o, WHEN_OVER, .status = OVERSEER_REFUSED, .words = why) */
#define HAPPENS(o, ...) \
	(o)->happens((o), &(struct occurrence){ .event = __VA_ARGS__ })

/* The failure that is being dealt with, or was last. */
struct overseer_failure {
	enum health_verdict verdict;
	char *class, *words, *signature;
	int64_t at_ms; /* wall clock, when it was seen; its time in the history
			* too, where that tells which one it is */
	bool abrupt; /* that is health_is_abrupt() */
	bool cut_short; /* an overseer was killed during a repair of it */
	int64_t ran_ms; /* how long the daemon had run by then */
	int64_t beat_age_s; /* of its heartbeat then, -1 = there was none */
	int attempt; /* repairs since the last healthy run */
	struct evidence evidence;
	int64_t said_from; /* what is not read yet of it: where the daemon's
			    * standard error begins; -1 = all is */
	int64_t said_to; /* where it ends */
	char *evidence_stamp; /* of what has not been kept yet, or NULL */
	const char *evidence_saved; /* the stamp that it is being written with;
				     * NULL = none */
};

#define OVERSEER_FAILURE_INIT                     \
	{                                         \
		.beat_age_s = -1, .said_from = -1 \
	}

/* The run of the overseer itself: how it began, and how it ends. */
struct overseer_run {
	struct procref self; /* who writes overseer.json is another process */
	char *instance;
	int64_t started_unix;
	struct restart restart; /* from the program before; all 0 = none */
	struct loop_signal *signals[4];
	struct loop_timer *watchdog;
	struct loop_timer *delay; /* then WHEN_DUE */
	int64_t until_ms; /* wall clock, of that; 0 = none */
	char *events[OVERSEER_EVENTS]; /* oldest first */
	enum overseer_state stopped_in; /* while we stop: the state before */
	bool forced; /* a person wants us to end at once */
	bool again; /* end, and let the program on disk take over */
	bool over; /* nothing is left to do */
	struct session_sweep *sweep; /* of sessions without an owner */
	int sweep_lock; /* the daemon's, meanwhile; -1 = not taken */
	int exit_status;
};

#define OVERSEER_RUN_INIT                                                 \
	{                                                                 \
		.self = PROCREF_INIT, .sweep_lock = -1, .exit_status = -1 \
	}

struct overseer {
	overseer_happens_fn *happens; /* respond_happens() */
	enum overseer_state state;
	struct daemon_process daemon;
	struct kept_listener listener;
	struct sight sight;
	struct overseer_failure failure;
	struct repair *repair; /* NULL = none */
	struct overseer_run run;
	/* What all of it is done with. */
	const struct overseer_options *options;
	struct loop *loop;
	struct workspace workspace;
	int lock;
	struct settings *settings;
	struct config_read *reader;
	bool settings_awaited; /* WHEN_SETTINGS tells when they are read */
	struct tmux *tmux;
	struct git *git;
	struct reaper *reaper;
	struct people *people;
	char *branch; /* default branch by git, NULL = none */
	char *llmc; /* path of the command line program */
	char *autod; /* of the daemon; NULL = only through llmc */
	char *program; /* our own, as it is on disk; NULL = it is gone */
	struct history history;
	struct writer *writer;
	bool changed; /* what overseer.json tells */
	struct loop_call *write;
	struct loop_timer *rewrite;
};

/* --- registration.c: what state it is in, for others to read. */

void overseer_set_state(struct overseer *o, enum overseer_state state);

/* Something that overseer.json tells has changed; it is written, with evidence
 * and history, after this pass of the loop, which does not wait for the disk
 * (writer.c). */
void overseer_register(struct overseer *o);
int overseer_write_registration(const struct overseer *o, struct err *err);

/* Is .llmc still the folder with our lock? */
bool overseer_owns_root(const struct overseer *o);
char *overseer_path(const struct overseer *o, const char *name);

/* --- kept-listener.c: the socket of the page. */

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

/* --- overseer-settings.c: the settings. */

/* When it begins, after they have been checked. */
int overseer_load_settings(struct overseer *o, struct err *err);
/* Again; the old ones stay when the new are wrong or not accepted.
 * WHEN_SETTINGS follows if it is awaited, from here or later. */
void overseer_reload(struct overseer *o, bool awaited);

/*
 * --- writer.c
 *
 * Everything that the overseer writes to the disk while it supervises: its log,
 * overseer.json, the history, evidence, and output that goes to a file. A
 * forked process writes it, a copy of the overseer at that moment, one at a
 * time: a disk that hangs holds up that process and never the overseer.
 */

enum console_colour {
	CONSOLE_PLAIN,
	CONSOLE_RED,
	CONSOLE_GREEN,
	CONSOLE_YELLOW,
};

/* A line on standard output only; with --json an object on one line. */
void console_print(
    const struct overseer *o, enum console_colour colour, const char *line);

/* What keeps the overseer from starting: on standard error, or with --json as
 * the error that every command of llmc prints. */
void console_fail(const struct overseer *o, const char *words);

/* Text on standard error, which may be a terminal that is stopped. */
void console_error(const char *text);
void console_say(struct overseer *o, enum console_colour colour,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* From here on log and console are held. */
int writer_open(struct overseer *o, struct err *err);
void writer_close(struct overseer *o);

/* Write what waits, now or when the process before has ended. */
void writer_begin(struct overseer *o);
void writer_finish(struct overseer *o);

/* Does the disk not take it? */
bool writer_is_stuck(const struct overseer *o);

/* Tell people; also while the disk hangs. */
void overseer_tell(struct overseer *o, const struct notice *notice);

/* --- ending.c: how it ends, and what it does not leave behind. */

/* End with this exit status, in STATE_TERMINATED; why: words for one that needs
 * a person. Sessions that a dead daemon left are ended first. */
void ending_begin(struct overseer *o, int status, const char *why);

/* --- daemon-process.c: the daemon's process: started, watched, ended. */

/* After the loop's own handlers, which are called first. */
void way_out_open(void);

/* SIGTERM, a grace, SIGKILL, to one that is alive. The signal comes before
 * anything is reported or written. One that even SIGKILL does not end is
 * reported to people, and left when we are to stop. */
void daemon_process_end(struct overseer *o, bool now);

/* One that is not our child has ended: that is all that can be known. */
void daemon_process_is_gone(struct overseer *o);
void daemon_process_release(struct daemon_process *process);

/* Start it, or take over who holds its lock. Negative errno: refused, with the
 * reason. */
enum daemon_take {
	DAEMON_TAKEN, /* it runs; an event tells when it does not any more */
	DAEMON_ENDED, /* it has ended already: daemon_process_tell_end() */
	DAEMON_LATER, /* who holds the lock may register in a moment: again */
};

int daemon_process_take(struct overseer *o, struct err *err);

/* That it has ended is an event: WHEN_ENDED, WHEN_DIED or WHEN_BEATEN. */
void daemon_process_tell_end(struct overseer *o);

/* Take over the one that an earlier overseer has recorded; false when that is
 * gone. */
bool daemon_process_adopt(struct overseer *o, struct json_object *daemon);

bool daemon_lock_is_held(const struct overseer *o);

/* What the next daemon would replace, and then what is left of the evidence, if
 * anything is: the start of the next daemon does not wait for that. */
void daemon_evidence_begin(struct overseer *o);
void daemon_evidence_read(struct overseer *o);

/* --- observe.c: what is seen of the daemon, turned into a verdict. */

/* A daemon runs: it is looked at until a verdict. */
void observe_begin(struct overseer *o);
void observe_end(struct overseer *o);
/* Look now; a verdict about which something must be done is an event. */
void observe_look(struct overseer *o);
/* Has it reported a failure of its own? Class and words are taken. */
bool observe_failure(struct overseer *o);

/* --- what a repair is. */

#define REPAIR_BRANCH "llmc/overseer"

enum repair_outcome {
	REPAIR_COMPLETED,
	REPAIR_NO_FIX, /* nothing was changed, or it cannot land */
	REPAIR_GAVE_UP, /* manual intervention file */
	REPAIR_INTERRUPTED, /* we are stopping */
	REPAIR_DIED, /* the session, again and again */
	REPAIR_TIMED_OUT,
	REPAIR_FAILED, /* could not even begin, or left the checkout dirty */
	REPAIR_OUTCOME_COUNT
};

/* A repair has ended; cost is in millionths of a dollar, log: its record, NULL
 * = none. */
typedef void repair_ended_fn(struct overseer *o, enum repair_outcome outcome,
    const char *words, int64_t took_ms, int64_t cost, const char *log);

struct repair_check {
	struct check_place *place; /* NULL = there is no command */
	struct child *child;
};

struct repair_keep {
	char *ref; /* NULL = nothing was uncommitted, or a worktree is used */
};

struct repair_agent {
	struct session_host host;
	struct session_record record; /* never saved: it ends with us */
	struct session *session; /* NULL = none */
	struct server *server; /* where its hooks report */
	char *socket;
	struct identity_files files; /* read to know who calls there */
	int64_t pane; /* pid of its pane, as overseer.json tells; 0 = none */
	bool looking; /* at what it left, at the end of a turn */
	struct server_call *call; /* the Stop that waits for that, or NULL */
	struct loop_timer *wait;
	bool working; /* its step goes on */
	bool asked_to_tidy;
	bool asked_to_tell; /* what it found */
	int deaths; /* of sessions */
	int failures; /* of turns */
	int limits; /* usage limits that were waited for */
	uint64_t receipts;
	struct transcript **over; /* of its sessions that have ended, owned */
	size_t over_count;
};

struct repair {
	struct operation op; /* first */
	struct overseer *overseer;
	repair_ended_fn *ended;
	struct repair_agent agent;
	struct repair_check check;
	struct repair_keep keep;
	struct buf prompt, status, diff;
	char *cwd; /* what it changes: the worktree, or the checkout */
	char *desk; /* where its session is: there, or in its folder */
	bool in_worktree;
	bool boxed;
	bool placed; /* the worktree is there and at the branch */
	bool landed;
	bool moved; /* what was there is out of the way */
	char *folder; /* .llmc/remedy, where its agent writes: */
	char *finding; /* what was wrong, and what it did */
	char *request; /* or why a person is needed, which becomes: */
	char *manual;
	char stamp[CLOCK_STAMP_SIZE];
	int64_t began_ms;
	int uncommitted; /* files changed before it began */
	char head[GIT_ID_SIZE], onto[GIT_ID_SIZE], fix[GIT_ID_SIZE];
	char tip[GIT_ID_SIZE]; /* what its agent has committed */
	char *saved; /* the ref of what it left and did not land, or NULL */
	bool failed; /* outcome and words say how */
	bool dropped; /* it was reported, and its end is not waited for */
	enum repair_outcome outcome;
	char *words;
	char **transcripts; /* paths, of each session */
};

/* --- repair-report.c: how a repair ended. */

const char *repair_outcome_name(enum repair_outcome outcome);

/* It has failed like this, which an answer brought. */
void
repair_failed(struct repair *r, enum repair_outcome outcome, const char *words);

/* logs/remediation_<stamp>.txt; its path, owned by the caller, or NULL, and err
 * says why. */
char *repair_report_write(const struct repair *r, struct err *err);

/*
 * --- repair-check.c
 *
 * Steps of a repair, before its fix lands: the rules that hold for all work.
 * The daemon and its landing queue are down, so the fix is tested here: it
 * changes no path that must not land, none that only a person may change, and
 * auto.check_command passes on exactly the commit that lands.
 */

operation_fn repair_check_paths;
operation_fn repair_check_place;
operation_fn repair_check_run;
operation_fn repair_check_cancel; /* of the run */

void repair_check_release(struct repair *r);

/*
 * Steps of a repair that works in the user's own checkout: what is not
 * committed there is saved before the session begins, and must still be there
 * when it has ended.
 */

/* Where work of repairs is saved: refs/llmc/salvage/overseer/<time>. */
void repair_keep_place(const struct repair *r, struct git_salvage *ret_what);

operation_fn repair_keep_save;
/* A file that was thrown away is a failed repair; one that has changed is only
 * reported. */
operation_fn repair_keep_check;

/* The branch that fixes land on. */
const char *repair_branch(const struct repair *r);

/* --- repair-agent.c: its session, and what the end of its turn means. */

/* End a session that an earlier overseer may have left, without waiting for
 * that. */
void repair_agent_sweep(struct overseer *o);

/* Steps of the repair: launch it, and let it work until it is done. */
operation_fn repair_agent_work;
operation_fn repair_agent_cancel;
/* End its session. */
operation_fn repair_agent_end;

/* What its sessions have cost by now, in millionths of a dollar: as Claude Code
 * says, or an estimate. */
int64_t repair_agent_cost(const struct repair *r);
/* It works no more; its session may still be there. */
void repair_agent_rest(struct repair *r);
/* At once, without waiting for anything. */
void repair_agent_kill(struct repair *r);
void repair_agent_release(struct repair *r);

/*
 * --- repair.c
 *
 * A repair: a fresh session gets what is known, works in a worktree of its own
 * (in a box, if workers are in one), and ends. Completed means that its fix has
 * landed, or that it changed what is not in the repository and wrote down what
 * it found. A fix that cannot land is saved (refs/llmc/salvage/overseer/). Each
 * outcome is reported as such; these two restart the daemon.
 *
 * It is an operation (overseer.remediation_timeout is its deadline), which
 * another one follows, whatever became of it: the session is ended, and what
 * changed is written down.
 */

void repair_begin(struct overseer *o, repair_ended_fn *ended);

/* Ask it to end; now: end it, and tell what is known by now. */
void repair_stop(struct overseer *o, bool now);

/* For the git of the overseer (git.h); arg is the overseer. The tree of repairs
 * is always detached: in a box its agent cannot write refs. */
bool repair_home(void *arg, const char *dir, struct git_home *ret_home);
int repair_box(void *arg, const char *dir, char ***ret_prefix, struct err *err);

/* --- respond.c: what is done about an event (overseer-table.h). */

/* Begin with what an earlier overseer left, or with a new daemon. Negative
 * errno: refused, with the reason. */
int respond_begin(struct overseer *o, struct err *err);

/* What the overseer does is in the table; ACT_UNSET and ACT_NONE have none. */
overseer_happens_fn respond_happens;
extern overseer_happens_fn *const respond_acts[ACT_COUNT];

/* --- overseer.c: the run itself. */

/* Begin to the point where the loop takes over: run o->loop, then close.
 * Negative errno: it refuses, has said why, and exit_status tells. */
int overseer_open(struct overseer *o, const struct overseer_options *options);
void overseer_close(struct overseer *o);

/* All of that; the exit status. (A test in virtual time takes the parts.) */
int overseer_run(const struct overseer_options *options);
#endif
