/* SPDX-License-Identifier: ISC */

/*
 * The daemon's JSON-RPC methods, one row each: parameters, result, the errors
 * it may return, and who may call it when. The server checks calls against this
 * table; the command line, `llmc doctor schema` and the shell completion read
 * it too.
 */
#ifndef API_H
#define API_H

#include <stdbool.h>

#include "api-error.h"
#include "box-plan.h"

struct api_method;
struct err;
struct schema;
struct schema_field;

#define API_ONESHOT  1u /* works while no daemon runs (autod --oneshot) */
#define API_OWN      2u /* an agent's session may call it about itself only */
#define API_STOPPING 4u /* is served while the daemon stops */
#define API_STREAM   8u /* stays open and sends notifications until closed */
#define API_EARLY    16u /* served before the daemon has finished starting */
#define API_TOOL                                                  \
	32u /* a tool of llmc mcp, by the name after the dot. The \
	     * server adds the member "worker" to its parameters: \
	     * whose socket it is. */

/* As with a tool, the server adds "worker": whose own session calls it, if it
 * is one. Who may not call it is refused with API_E_UNAUTHORIZED. */
#define API_NAMED 64u

/* The server adds "sender": the worker whose own session calls it, if it is
 * one. */
#define API_SENT 128u

/* Who may call a method; how a caller is known: below. */
#define API_PERSON 1u /* no process of an agent's session */
#define API_REPAIR 2u /* the overseer's repair session */
#define API_WORKER 4u /* a worker's session, at the worker's own socket */
#define API_READER 8u /* a worker's session elsewhere, or unknown */

/* What a worker's call reaches beside its own session. No row may lack it: 0 is
 * none of them. */
enum api_reach {
	API_REACH_NOTHING = 1, /* it reads, or tells of its caller */
	API_REACH_PERSON, /* no worker calls it */
	API_REACH_FREE, /* a worker that is to get a task */
	API_REACH_WORKER, /* the conversation of a worker */
	API_REACH_WORK, /* the finished work of a worker */
	API_REACH_TASK,
	API_REACH_MESSAGE, /* whom it writes to */
	API_REACH_SIGHT, /* the worker that it tells of, or all of them */
	API_REACH_SHARED, /* what all share: within the bounds of its handler */
	API_REACH_COUNT
};

struct api_method {
	const char *name; /* "worker.start" */
	const char *help; /* one line */
	unsigned flags;
	unsigned callers;
	enum api_reach reach;
	const struct schema *params;
	const struct schema_field *result;
	const enum api_error *errors; /* beyond the common ones; ends with 0 */
};

/* The result of daemon.info, which llmc up --detach prints. */
extern const struct schema api_info;
extern const struct api_method api_methods[]; /* ends with a NULL name */

const struct api_method *api_find(const char *name); /* NULL = none */

/* The error as a word for --json on the command line: "no_such_task" if the
 * method did not find the task, "no_such_commit" for a commit, "bad_value" for
 * invalid parameters, "failed" for everything else. */
const char *api_error_word(const struct api_method *method, int code);

/* The callers as words, for llmc doctor schema: bit i is word i; NULL
 * terminated. */
extern const char *const api_caller_words[];

/* The result of ask.end. */
extern const struct schema api_ask_ended;
extern const struct schema api_resumed;

/*
 * Who calls, and whether that is enough. What the kernel says counts: at which
 * socket it was, and whether the calling process descends from the pane of a
 * session. What a caller says of itself (LLMC_AGENT) does not.
 *
 * Without a sandbox an agent runs as the same user and can leave its process
 * tree: then this tells who did what, and stops what happens by mistake or on a
 * hint. A sandbox closes the other ways.
 */

struct caller {
	const char *socket_of; /* the worker whose socket it is; NULL = the
				* people's */
	/* The session whose pane it descends from; NULL = none. */
	const char *session;
	bool unknown; /* that cannot be said: it has ended, or it is outside */
	bool outside; /* outside of our pid namespace */
};

/* API_PERSON, API_REPAIR, API_WORKER or API_READER. */
unsigned caller_rank(const struct caller *caller);

/* May every caller use it? */
bool caller_is_anybody(const struct api_method *method);

/* May it call the method? worker: whom the call is about, NULL = none; life: it
 * is only a sign of life (hook-event.h), which comes from a process that has
 * often ended. -EPERM: no, and err says why. */
int caller_check(const struct caller *caller, const struct api_method *method,
    const char *worker, bool life, struct err *err);

/*
 * What a worker that calls may reach: one rule for all methods. Without a
 * sandbox it drives other workers as a person's hand does, and changes only
 * tasks that it has added. Out of a sandbox it reaches only what is at least as
 * boxed and is its own, its child's or its parent's; nothing of a person's.
 */

/* Whose the target is, seen from the caller. */
enum api_kin {
	API_KIN_OTHER, /* a person's, or another agent's */
	API_KIN_SELF, /* the caller, or a task that it has added */
	API_KIN_CHILD, /* works for it */
	API_KIN_PARENT, /* it works for that one */
	API_KIN_FREE, /* a worker without a task */
	API_KIN_PERSON, /* a person, who is only written to */
	API_KIN_COUNT
};

struct api_target {
	const char *name; /* for people */
	enum api_kin kin;
	enum box_mode box; /* in which what the call says is read */
	bool waits; /* for a person: a review, or an answer */
};

/* May worker, which is in this box, reach the target with the method? -EPERM:
 * no, and err says why. */
int caller_reaches(const struct api_method *method, const char *worker,
    enum box_mode box, const struct api_target *target, struct err *err);

#endif
