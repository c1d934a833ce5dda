/* SPDX-License-Identifier: ISC */

/*
 * One agent session, for any owner: a worker, the overseer's repair. It is
 * launched or adopted, gets prompts (each with a receipt), reports through its
 * hooks and its transcript, and is ended. It knows nothing about tasks, workers
 * and landings.
 *
 * What must survive a restart is in a struct session_record that belongs to the
 * owner and must outlive the session. The session changes it, calls `changed`,
 * and acts only after the owner has saved it (`then`).
 *
 * Every callback comes from the loop or from inside session_hook(); it may
 * prompt, end or interrupt the session. Callbacks may be NULL.
 */
#ifndef SESSION_H
#define SESSION_H

#include <sys/types.h>

#include "worker.h"

struct err;
struct json_object;
struct launch_choice;
struct loop;
struct proctree;
struct server_call;
struct session;
struct settings;
struct tmux;
struct transcript;
struct transcript_parser;
struct workspace;

/* Derived, never stored: from the record, the pane and running commands. */
enum session_phase {
	SESSION_NONE, /* nothing is running */
	SESSION_LAUNCHING, /* started, waiting for SessionStart; also after a
			    * SessionEnd, until its process has exited */
	SESSION_UP, /* SessionStart has arrived */
	SESSION_ENDING, /* we are ending it */
	SESSION_PHASE_COUNT
};

/* Problems that are reported to the owner. */
enum session_trouble {
	SESSION_NOT_STARTED, /* it cannot be started; err says why */
	SESSION_ENDED_AT_ONCE, /* started, but gone before it could be
				* watched */
	SESSION_UNREPORTED, /* no SessionStart within start_timeout, but it is
			     * still running; a dialog may be open. Reported
			     * once per launch */
	SESSION_UNDELIVERED, /* it does not accept its prompt; it is still
			      * running, the prompt is parked again */
	SESSION_LEFT, /* it has ended, but not everything that it started:
		       * err says what; instead of `exited` */
	SESSION_TROUBLE_COUNT
};

/* What a program provides to its sessions. Everything is borrowed and must
 * outlive the sessions. */
struct session_host {
	struct loop *loop;
	struct tmux *tmux;
	const struct workspace *workspace;
	const char *llmc; /* path of the command line program */
	/* Call fn(fn_arg) when the record is saved; drop the calls of an owner.
	 * NULL: call it immediately. */
	void (*then)(
	    void *arg, void *owner, void (*fn)(void *fn_arg), void *fn_arg);
	void (*forget)(void *arg, const void *owner);
	void *arg;
};

/* Copied. If turn_ended is NULL, every turn ends. */
struct session_events {
	void (*changed)(void *arg); /* the record has changed: save it */
	/* May text be typed now? NULL: always. */
	bool (*may_type)(void *arg);
	/* SessionStart: "startup", "resume", "clear"; not for compaction. The
	 * record is up to date. In a new process, a prompt that was typed into
	 * an earlier one and not submitted is parked again; otherwise
	 * record->busy is what the last process left, which is true for a turn
	 * that was interrupted. The owner decides what to do about that, and
	 * sets busy to false. */
	void (*ready)(void *arg, const char *source);
	/* A compaction has ended, in a turn or between two. True: the call is
	 * answered later, with session_hook_tool_answer(); NULL: no caller. */
	bool (*compacted)(void *arg, struct server_call *call);
	/* The pending prompt was submitted; a turn is running. */
	void (*submitted)(void *arg, const char *receipt);
	/* A person typed this; a turn is running. */
	void (*typed)(void *arg, const char *text);
	/* A prompt, a tool or the end of a turn is reported, before anything
	 * else is done about it: a turn runs, whatever was thought. heard: the
	 * service has answered in it. */
	void (*works)(void *arg, bool heard);
	/* A tool or a turn ended: more than accepting a prompt. */
	void (*progressed)(void *arg);
	/* The turn has ended, and no background task or compaction is running.
	 * call must be answered once, with session_hook_stop_answer(); NULL: no
	 * caller (the Stop was spooled or lost). last_words may be NULL.
	 */
	void (*turn_ended)(
	    void *arg, struct server_call *call, const char *last_words);
	void (*turn_failed)(void *arg, const char *error, const char *text);
	/* A person pressed Escape in it: no turn runs any more. Claude Code
	 * reports that nowhere but in the transcript. */
	void (*interrupted)(void *arg);
	/* It shows a permission dialog, which only a person could answer. */
	void (*asks_permission)(void *arg);
	/* The transcript has grown. */
	void (*grew)(void *arg, const struct transcript_parser *parser);
	/* Its conversation is over or its process has ended, and its transcript
	 * is about to get its last lines: it belongs to the callee now. */
	void (*left)(void *arg, struct transcript *transcript);
	/* It exited by itself, and nothing that it started is left. early:
	 * before its SessionStart. */
	void (*exited)(void *arg, bool early);
	void (*trouble)(
	    void *arg, enum session_trouble trouble, const struct err *err);
};

/* How to launch it; copied. Agent command, model and so on come from the
 * settings of `name` ([workers.<name>], [defaults]). */
struct session_launch {
	const struct settings *settings;
	const char *cwd;
	int index; /* of its place: place.h */
	const char *socket; /* where its hooks report */
	const char *projects; /* where Claude Code keeps its transcripts; NULL =
			       * not known, then any folder will do */
	const char *cgroup; /* with its limits; NULL = none */
	char *const *scope; /* likewise, the words before its keeper */
	bool sandboxed; /* in a box, if the settings say so */
	const char *const *read, *const *write; /* more for that box; NULL =
						 * nothing */
	bool guarded; /* it has a policy file: config.h */
	const struct launch_choice *choice; /* what is not as the settings say;
					     * NULL = nothing */
	bool resume; /* continue the conversation record->id */
	int stop_blocks_max; /* after this many blocked Stops it is let
			      * through */
	int64_t start_timeout_ms; /* for its SessionStart */
};

/* name: "adam"; role: "worker", "overseer" (tmux.h). Does not start a session
 * yet. host and record are borrowed. */
struct session *session_new(const struct session_host *host, const char *name,
    const char *role, struct session_record *record,
    const struct session_events *events, void *arg);
/* Forgets it; the process continues (session_end() ends it). */
void session_free(struct session *session);

enum session_phase session_phase(const struct session *session);
const char *session_name(const struct session *session); /* "llmc-adam" */

/* Begin: the record gets a new generation (and, unless it resumes, a new id and
 * no transcript) and is saved; then a left-over session of that name is ended
 * with everything it started, and this one started. Only in SESSION_NONE. */
void
session_launch(struct session *session, const struct session_launch *launch);

/* Take over a running session; a pending prompt gets a little time to prove
 * that it was submitted (delivery_recovered). Only in SESSION_NONE. On negative
 * errno its process is gone. */
int session_adopt(
    struct session *session, pid_t pane_pid, int64_t start_timeout_ms);

/* Park the prompt (cleaned: prompt.h); it is typed when the session is ready
 * and may_type() allows it. receipt: a number of the owner that is never
 * reused. clear: start a new conversation first. Replaces a pending prompt. */
void session_prompt(
    struct session *session, const char *text, const char *receipt, bool clear);
/* Something changed (may_type): check what to do next. */
void session_poke(struct session *session);
/* Was the pasted prompt submitted, and its hook lost? Searches the transcript;
 * if so, the record is as after `submitted`, which is not called. */
bool session_confirm(struct session *session);
/* Press Escape, once the record is saved: no turn runs, no tool is open. */
void session_interrupt(struct session *session);
/* Between two turns: close a dialog that may be open, before the next prompt.
 */
void session_dismiss(struct session *session);

/* End it: SIGTERM, a grace period, SIGKILL; then what it started, and the tmux
 * session is removed. fn (may be NULL) is called when all is gone, from the
 * loop, or immediately if there is nothing to end. If called again while it
 * ends, every fn is called. See session_left(). */
void
session_end(struct session *session, void (*fn)(void *fn_arg), void *fn_arg);
/* End what an earlier process of this session left; the last screen stays in
 * tmux. Only in SESSION_NONE; the phase is SESSION_ENDING until fn is called,
 * from the loop or immediately. See session_left(). */
void
session_clear(struct session *session, void (*fn)(void *fn_arg), void *fn_arg);
/* What could not be ended by the last attempt, in words for a person; NULL if
 * nothing is left. */
const struct err *session_left(const struct session *session);
/* End it without waiting: SIGKILL now. No callback is called, not even those
 * that wait for its end. */
void session_kill(struct session *session);

/* The screen as text; fn is called once, with NULL text on failure. */
void session_screen(struct session *session,
    void (*fn)(const char *text, void *fn_arg), void *fn_arg);

/* Signs of life, as ages in milliseconds (INT64_MAX: never). tree may be NULL:
 * CPU time is as at the last check. */
struct session_life {
	int64_t quiet_ms; /* the last hook, or growth of the transcript */
	int64_t tool_ms; /* the last end of a tool: work, not words */
	int64_t cpu_ms;
	bool process; /* its process exists */
	bool tool_open; /* or left running at the end of a turn */
};
void session_life(struct session *session, const struct proctree *tree,
    struct session_life *ret_life);
/* Is its process gone without a report (no pidfd)? Then `exited` is called. */
void session_check(struct session *session);
/* Does the kernel report its exit? */
bool session_is_watched(const struct session *session);
const struct transcript_parser *
session_transcript(const struct session *session); /* NULL: none is followed */

#endif
