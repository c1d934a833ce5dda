/* SPDX-License-Identifier: ISC */

/*
 * One agent session, whoever owns it: a worker, the overseer's repair. It is
 * launched or adopted, told prompts (each with a receipt), heard through its
 * hooks and its transcript, and ended. It knows no task, no worker, no landing.
 *
 * What must survive the program is in a struct session_record that belongs to
 * the owner and must outlive the session. The session changes it, says so
 * (changed), and acts only after the owner has written it down (then).
 *
 * Every callback comes from the loop or from inside of session_hook(), may
 * prompt, end or interrupt the session, and may be NULL when nobody cares.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session-record.h"

struct buf;
struct err;
struct json_object;
struct loop;
struct proctree;
struct server_call;
struct session;
struct settings;
struct tmux;
struct transcript_parser;
struct workspace;

/* Derived, never stored: from the record, the pane and what is under way. */
enum session_phase {
	SESSION_NONE, /* nothing runs */
	SESSION_LAUNCHING, /* started, SessionStart awaited; also after a
			    * SessionEnd, until its process has ended */
	SESSION_UP, /* SessionStart has come */
	SESSION_ENDING, /* we are ending it */
	SESSION_PHASE_COUNT
};

/* What does not work as it should. */
enum session_trouble {
	SESSION_NOT_STARTED, /* it cannot be started; err says why */
	SESSION_ENDED_AT_ONCE, /* started, and gone before it was watched */
	SESSION_UNREPORTED, /* no SessionStart in start_timeout: it still runs;
			     * a dialog may be open. Told once a launch */
	SESSION_UNDELIVERED, /* it does not take its prompt; it still runs, the
			      * prompt is parked again */
	SESSION_TROUBLE_COUNT
};

/* What a program that has sessions gives each of them. Everything is
 * borrowed and must outlive the sessions. */
struct session_host {
	struct loop *loop;
	struct tmux *tmux;
	const struct workspace *workspace;
	const char *llmc; /* path of the command line program */
	/* Call fn(fn_arg) when the record is written; forget what was asked
	 * for with this owner. NULL: it is called at once. */
	void (*then)(
	    void *arg, void *owner, void (*fn)(void *fn_arg), void *fn_arg);
	void (*forget)(void *arg, const void *owner);
	void *arg;
};

/* Copied. A turn_ended that is NULL lets every turn end. */
struct session_events {
	void (*changed)(void *arg); /* the record: to be written */
	/* May text be typed now? NULL: always. */
	bool (*may_type)(void *arg);
	/* SessionStart: "startup", "resume", "clear". The record is up to
	 * date; compaction is not told. Of a new process: a prompt that was
	 * typed into an earlier one and not submitted is parked again; without
	 * one, record->busy is as the last process left it, that is, true for
	 * a turn that was cut off. The owner decides what becomes of it, and
	 * sets busy to false. */
	void (*ready)(void *arg, const char *source);
	/* The prompt that was on its way has been submitted; a turn runs. */
	void (*submitted)(void *arg, const char *receipt);
	/* Somebody typed this by hand; a turn runs. */
	void (*typed)(void *arg, const char *text);
	/* A tool or a turn ended: more than a sign that it took a prompt. */
	void (*progressed)(void *arg);
	/* The turn has ended, no background task or compaction goes on. call
	 * is to be answered once, with session_stop_answer(); NULL: nobody
	 * waits (spooled, or its Stop was not heard). last_words may be NULL.
	 */
	void (*turn_ended)(
	    void *arg, struct server_call *call, const char *last_words);
	void (*turn_failed)(void *arg, const char *error, const char *text);
	/* It shows a permission dialog that nobody will answer. */
	void (*asks_permission)(void *arg);
	/* The transcript has grown. */
	void (*grew)(void *arg, const struct transcript_parser *parser);
	/* It ended by itself. early: before its SessionStart. */
	void (*exited)(void *arg, bool early);
	void (*trouble)(
	    void *arg, enum session_trouble trouble, const struct err *err);
};

/* How to launch it; copied. Agent command, model and so on come from the
 * settings of `name` ([workers.<name>], [defaults]). */
struct session_launch {
	const struct settings *settings;
	const char *cwd;
	const char *socket; /* where its hooks report */
	bool resume; /* continue the conversation record->id */
	int stop_blocks_max; /* a Stop sent back so often is let through */
	int64_t start_timeout_ms; /* for its SessionStart */
};

/* name: "adam"; role: "worker", "overseer" (tmux.h). No session is made yet.
 * host and record are borrowed. */
struct session *session_new(const struct session_host *host, const char *name,
    const char *role, struct session_record *record,
    const struct session_events *events, void *arg);
/* Forgets it; what runs goes on (session_end() ends it). */
void session_free(struct session *session);

enum session_phase session_phase(const struct session *session);
const char *session_name(const struct session *session); /* "llmc-adam" */

/* Begin: the record gets a new generation (and, unless it resumes, a new id and
 * no transcript), is written, and then a left-over session of that name is
 * ended and this one started. Only in SESSION_NONE. */
void
session_launch(struct session *session, const struct session_launch *launch);

/* Take over one that runs; a prompt on its way gets a little time to prove that
 * it was submitted (delivery_recovered). Only in SESSION_NONE. Negative errno:
 * its process is gone. */
int session_adopt(
    struct session *session, pid_t pane_pid, int64_t start_timeout_ms);

/* Park the prompt (clean: prompt.h); it is typed when the session is ready and
 * may_type() says yes. receipt: a number of the owner's that is not used twice.
 * clear: a fresh conversation first. Replaces one that is on its way. */
void session_prompt(
    struct session *session, const char *text, const char *receipt, bool clear);
/* Something changed (may_type): look at what is to be done next. */
void session_poke(struct session *session);
/* Was the prompt that was pasted submitted after all, its hook lost? Asks the
 * transcript; if so the record is as after `submitted`, which is not called. */
bool session_confirm(struct session *session);
/* Escape, once the record is written: no turn runs, no tool is open. */
void session_interrupt(struct session *session);

/* End it: SIGTERM, a grace, SIGKILL, and the tmux session goes. fn (may be
 * NULL) is called when it is gone, from the loop or at once when there is
 * nothing to end. Asked again while it ends, every fn is called. */
void
session_end(struct session *session, void (*fn)(void *fn_arg), void *fn_arg);
/* The same without any patience: SIGKILL now; nobody is told, also of those who
 * wait for its end. */
void session_kill(struct session *session);

/* The screen as text; fn once, NULL text on failure. */
void session_screen(struct session *session,
    void (*fn)(const char *text, void *fn_arg), void *fn_arg);

/* A hook's event for this session (the owner found it by name): params of
 * hook.event, see hook-event.h. Old generations, doubles and unknown events are
 * ignored. call NULL: from the spool. Returns true when call has been or will
 * be answered by somebody else (turn_ended); false: the caller answers it with
 * nothing. */
bool session_hook(struct session *session, struct server_call *call,
    struct json_object *params);

/* The result that answers a Stop: a reason sends it back, NULL (which becomes
 * NULL) lets it end. Owned by the caller. */
struct json_object *session_stop_answer(const char *reason);

/* Signs of life, as ages in milliseconds (INT64_MAX: never). tree may be NULL:
 * CPU time is as it was at the last look. */
struct session_life {
	int64_t hook_ms, transcript_ms, cpu_ms;
	bool process; /* its process is there */
	bool tool_open;
};
void session_life(struct session *session, const struct proctree *tree,
    struct session_life *ret_life);
/* Its process is gone and nobody told us (no pidfd)? Then `exited` comes. */
void session_check(struct session *session);
/* Is its death told by the kernel? */
bool session_is_watched(const struct session *session);
/* Did its last turn leave something running in the background? */
bool session_has_background(const struct session *session);
/* A command to its tmux session, or its launch, is under way. */
bool session_is_busy(const struct session *session);
const struct transcript_parser *
session_transcript(const struct session *session); /* NULL: none followed */

#endif
