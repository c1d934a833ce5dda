/* SPDX-License-Identifier: ISC */

/*
 * The fleet: all workers with their sessions and worktrees. It is complete for
 * workers driven by hand; auto mode registers a policy.
 */
#ifndef FLEET_H
#define FLEET_H

#include <sys/queue.h>

#include "core.h"
#include "limit.h"
#include "session.h"
#include "turn.h"

struct agent;
struct api_target;
struct buf;
struct cgroup_world;
struct child_result;
struct fleet_method;
struct git_snapshot;
struct guard_policy;
struct hooks;
struct loop_call;
struct loop_timer;
struct watch;

/* Questions that the fleet asks; every member may be NULL, which means "no" or
 * nothing to do. */
struct fleet_policy {
	/* Does auto mode drive this worker, unattended? */
	bool (*drives)(void *arg, const struct agent *agent);
	/* Who answers its tool request_orchestrator, in words? NULL: it cannot
	 * ask. */
	const char *(*answers)(void *arg, const struct agent *agent);
	/* Its turn has ended with this message (NULL = none). Fill in the facts
	 * about its task, and what the message says into facts->said; false: it
	 * has no task, a person judges. */
	bool (*turn_facts)(void *arg, struct agent *agent,
	    const char *last_words, struct turn_facts *facts);
	/* Its turn has ended: the tree that its files are compared with before
	 * it is judged, "" = where its work began; NULL: they need not be. */
	const char *(*turn_before)(void *arg, struct agent *agent);
	/* What was found; snapshot: NULL = unknown. */
	void (*turn_seen)(void *arg, struct agent *agent,
	    const struct git_snapshot *snapshot, const char *last_words);
	/* The command that tests its work before it is judged, NULL = none;
	 * and how that ended. */
	const char *(*turn_test)(void *arg, struct agent *agent);
	void (*turn_tested)(
	    void *arg, struct agent *agent, const struct child_result *result);
	/* Its turn is over, and what was judged would follow: append what it
	 * gets instead, in the same conversation. False: nothing. */
	bool (*turn_words)(void *arg, struct agent *agent, struct buf *out);
	/* It is about to be sent back with this. True: do not, it was paused
	 * or has lost its task instead. */
	bool (*turn_held)(void *arg, struct agent *agent, const char *words);
	/* It is about to get a prompt in its conversation: append what it must
	 * read first. */
	void (*preface)(void *arg, struct agent *agent, struct buf *out);
	/* The verdict on a turn of a worker with a task: NUDGE and BACK before
	 * it is sent back; NO_CHANGES, CHECK and FAIL are left to the policy.
	 * head: its HEAD; reason: for BACK, NUDGE, FAIL. */
	void (*turn_judged)(void *arg, struct agent *agent,
	    enum turn_action action, const char *head, const char *reason);
	/* Its task needs this of a person, who is given the reason: it is
	 * parked. */
	void (*turn_asks)(void *arg, struct agent *agent, enum ask_kind ask,
	    const char *reason);
	/* Its turn ended with an error that is neither a limit nor an outage;
	 * true: handled. */
	bool (*turn_error)(void *arg, struct agent *agent, const char *text);
	/* It is in a turn: how long it has been silent. True: handled. */
	bool (*silence)(
	    void *arg, struct agent *agent, const struct session_life *life);
	/* A limit, an outage, or a login that is refused: it waits until then.
	 */
	void (*limited)(void *arg, struct agent *agent, enum limit_class class,
	    const char *text, int64_t until_ms);
	/* May a task begin, with what others have pushed? False: that is looked
	 * at, and op_start_fresh() follows. */
	bool (*fresh)(void *arg);
	/* An operation on a worker, or its session, has ended; another one may
	 * have begun before the loop goes on. */
	void (*freed)(void *arg);
	/* One of its tools or turns ended. */
	void (*progressed)(void *arg, struct agent *agent);
	/* A tool of its own conversation has ended, and the hook (this event)
	 * waits. True: the call has been or will be answered, with
	 * session_hook_tool_answer(). */
	bool (*tool_ended)(void *arg, struct agent *agent,
	    struct server_call *call, const char *event);
	/* A tool of its own conversation begins or has ended. */
	void (*tool_used)(void *arg, struct agent *agent, const char *tool);
	/* What it may do with its tools; the tree is set. */
	void (*guard)(
	    void *arg, struct agent *agent, struct guard_policy *policy);
	/* Its hook has denied it a tool: see hook_guard() for what is said. */
	void (*denied)(
	    void *arg, struct agent *agent, struct json_object *denied);
	/* Its transcript has grown. */
	void (*used)(void *arg, struct agent *agent,
	    const struct transcript_parser *parser);
	/* It has another conversation, or none; the callee owns the transcript
	 * of the last one. */
	void (*left)(
	    void *arg, struct agent *agent, struct transcript *transcript);
};

LIST_HEAD(looks, look);
TAILQ_HEAD(waiting_calls, waiting_call);

/* A call of a method names in place of a worker a task whose finished work no
 * worker has, and which waits for a person. False: there is none. */
typedef bool fleet_held_fn(void *arg, const char *method,
    struct server_call *call, struct json_object *params);

struct fleet {
	struct core *core;
	void (*tick)(void *agent); /* what is next for a worker: fleet.c */
	struct agent **agents; /* one for each worker in the state */
	size_t count;
	bool sessions_unknown; /* tmux failed at the start: the next daemon
				* adopts the sessions */
	size_t clearing; /* lost sessions that something may be left of */
	struct loop_timer *patience; /* with them, at the start; NULL = it is
				      * over */
	bool begun;
	bool login_told; /* people know that a login is refused */
	const struct fleet_policy *policy; /* never NULL */
	void *policy_arg;
	struct session_host host;
	struct loop_call *settle; /* workers on hold have become idle */
	struct waiting_calls calls; /* for a worker, or for a status */
	struct loop_call *look; /* a worker may be ready for one of them */
	struct hooks *hooks;
	struct watch *launch_watch; /* on the agent's file; NULL = not needed
				     * yet */
	const struct cgroup_world *cgroups; /* for tests; NULL = the real */
	struct looks looks; /* git looks at their worktrees */
	struct fleet_method *methods;
	fleet_held_fn *held; /* NULL = none */
	void *held_arg;
	struct core_floor floor;
};

/* Registers itself as a floor of the core, and its methods. */
struct fleet *fleet_new(struct core *core);
void fleet_free(struct fleet *fleet);
void fleet_set_policy(
    struct fleet *fleet, const struct fleet_policy *policy, void *arg);
/* NULL = there is none of this name (NULL: none has it). */
struct agent *fleet_find(const struct fleet *fleet, const char *name);

/* Put what the policy wants it to read first in front of a message. */
void fleet_preface(struct agent *agent, const char *text, struct buf *out);

/* Tell the policy that a worker may be free. */
void fleet_freed(const struct fleet *fleet);

/* Workers that would use this account next (NULL = any) wait until then, if one
 * logs in to their kind of agent as to that of `like` (NULL = any); returns how
 * many. Which account a worker uses, without any secret; the caller frees it,
 * NULL = not known. */
size_t fleet_limit(struct fleet *fleet, const struct agent *like,
    const char *account, const char *text, int64_t until_ms);
char *agent_account(const struct agent *agent);

/* As in struct fleet_policy. */
const char *fleet_answers(const struct agent *agent);

/* Does the policy drive it? */
bool fleet_drives(const struct agent *agent);

/* A method for one worker: fn is called if it exists and is not taken. */
typedef void fleet_worker_fn(void *arg, struct agent *agent,
    struct server_call *call, struct json_object *params);

void fleet_handle(
    struct fleet *fleet, const char *method, fleet_worker_fn *fn, void *arg);

/* What a worker is to another one that calls (caller_reaches()). */
void fleet_target(const struct agent *agent, const char *caller,
    struct api_target *ret_target);
/* How many workers have their task by hand from another worker. */
size_t fleet_given_count(const struct fleet *fleet);

/* Answer that there is no such worker, and list those that exist. */
void fleet_refuse_unknown(
    const struct fleet *fleet, struct server_call *call, const char *name);

/* Is a launch of this agent in vain? Then its worker is paused with the reason,
 * a person is notified, and it is watched for. */
bool launch_block_check(struct agent *agent);

/* Why it cannot be launched now, appended; nothing if it can. */
void launch_block_reason(const struct agent *agent, struct buf *out);

/* Let those go on whose reason is gone. */
void launch_block_look(void *fleet);

/* Let those go on that can, unless a person holds them, and watch for the
 * others: those that the last daemon has left, and in each patrol, because a
 * file may change unnoticed (it is behind a symbolic link, for example). */
void launch_block_resume(struct fleet *fleet);

#endif
