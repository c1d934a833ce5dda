/* SPDX-License-Identifier: ISC */

/*
 * A worker at run time: its record in the state, its session, and the operation
 * that is running on it, if any.
 */
#ifndef AGENT_H
#define AGENT_H

#include "child.h"
#include "fleet.h"
#include "git-facts.h"
#include "worker.h"

struct buf;
struct err;
struct loop_timer;
struct salvage;
struct worker_op;

/* Who has something to say after the next tool of a session. */
enum agent_wait {
	AGENT_WAIT_OVERSIGHT = 1,
	AGENT_WAIT_MAIL = 2,
};

/* Of the session that was launched last; in struct agent. */
struct worker_limits {
	char *cgroup; /* NULL = none */
	char **scope; /* NULL = none */
	int64_t memory_max;
	char *reported; /* what could not be held, as reported last */
};

struct agent {
	struct fleet *fleet;
	struct core *core; /* fleet->core */
	struct worker *worker; /* owned by the state */
	struct session *session;
	struct worker_op *op; /* running on it; NULL = none */
	struct salvage *salvage; /* part of that operation */
	struct loop_timer *timer;
	bool adopting; /* it does not go on yet: fleet.h */
	bool unsaved; /* it has lost its task, and its work was not saved */
	bool clearing; /* what its lost session left is being ended: its spool
			* waits */
	bool stirred; /* something happened since its worktree was last
		       * checked */
	unsigned tools_wait; /* a set of enum agent_wait */
	char *tool; /* that its conversation began last; NULL = none */
	int64_t tool_ms; /* when, wall clock */
	int sent_back; /* how often, at the end of this turn */
	int missing; /* patrols in a row that found no session */
	int start_failures; /* failed session starts in a row */
	bool login_tried; /* its login was refused, and nothing has shown since
			   * that it is taken again */
	bool past_budget; /* a person lets it work past the budget of the day */
	bool resuming; /* its last launch resumed a conversation */
	bool unguarded; /* its policy could not be written */
	struct worker_limits limits;
	char *launched_with; /* settings of its last launch; NULL = not ours */
	bool branch_taken; /* reported: its branch is checked out elsewhere */
	bool no_clone; /* its worktree cannot become one */
	bool spoilt; /* in error because its tree cannot be used, which is its
		      * own doing */
	int busy_port; /* of its own, that somebody else has; 0 = none */
	struct tree_setup *setup; /* part of an operation; NULL = none */
	char *box_proved; /* the words of its sandbox, tried with success */
	char *box_fault; /* why its sandbox cannot be made; NULL = not known */
	int64_t retry_ms; /* monotonic: do not launch before */
	struct git_facts seen; /* of its worktree, at the end of a turn */
	int64_t seen_ms; /* monotonic, when */
	char *last_check; /* how the check of its work ended, for its agent;
			   * NULL = not known; set by auto mode */
	bool compacted; /* it has not been told its task again yet */
	int context; /* percent of it that its conversation uses, as was
		      * reported last; 0 = not known */
	int64_t stall_ms; /* monotonic: the last attempt to end a stall, 0 =
			   * none; used by auto mode */
};

/* EMIT() about this worker; the file includes emit.h. */
#define AGENT_EMIT(agent, what, ...)                               \
	EMIT((agent)->core, what, .worker = (agent)->worker->name, \
	    ##__VA_ARGS__)

/* Adds it to the fleet; the worker must be in the state already. */
struct agent *agent_new(struct fleet *fleet, struct worker *worker);

/* Drops its operation; the session continues. The worker stays in the state. */
void agent_free(struct agent *agent);

/* It is a worker no more: free it, and remove it from the state, with its
 * socket and its spool. */
void agent_remove(struct agent *agent);

/* The last line that its setup has printed, "" = none yet; NULL = none runs. */
const char *agent_setup_progress(const struct agent *agent);

/* Change the status according to the table, save it, emit EVENT_WORKER_MOVED. A
 * forbidden change is a bug: it is logged, and the status stays. */
int agent_move(struct agent *agent, enum worker_status to, const char *reason);

/* Send a prompt to the session: park it, save, then deliver it. after: the
 * status once it is submitted. */
void agent_prompt(struct agent *agent, const char *text, bool clear,
    enum worker_status after);
void agent_interrupt(struct agent *agent); /* presses Escape */

/* A turn has ended, and these words would send it back. If its context is
 * nearly full (defaults.fresh_at), true: it gets them in another conversation,
 * with its task. No operation may be running on the worker. */
bool agent_afresh(struct agent *agent, const char *words);

/* End the session; a new one is launched when the worker needs it. */
void agent_end_session(struct agent *agent);

/* The same in a turn that hangs: the next session is asked to continue. */
void agent_restart(struct agent *agent);

/* Save the screen in logs/screens, end the session, wait for a person. No
 * operation may be running on the worker. */
void agent_park(struct agent *agent, const char *reason);

/* The same; but in auto mode, which runs unattended, it is an error. */
void agent_give_up(struct agent *agent, const char *reason);

/*
 * A tree that cannot be used.
 *
 * A worker can do anything to its own tree, and what it does there must end
 * nothing but its own attempt. So whatever fails in a tree that a task has been
 * worked on in is the tree's fault: it is put aside, and made anew from its
 * branch. If that fails as well, it was not the tree.
 */

/* The one rule: may the tree be to blame for this error? Not if git says what
 * only a person can change. */
bool agent_blames_tree(const struct agent *agent, const struct err *err);

/* Does git take it for no worktree? One whose .git is gone is repaired; a clone
 * had all in it. */
bool agent_tree_is_broken(const struct agent *agent, const struct err *err);

/* An operation on its work has failed: the worker is in error, and spoilt if
 * its tree is to blame. True: auto mode takes care of that. */
bool agent_tree_failed(struct agent *agent, const struct err *err);

/* Move its worktree aside, where people find it: its path. Of those moved
 * before the newest stay. NULL: there is none, or it cannot be moved. The
 * caller frees it, and resets the worker. */
char *agent_put_aside(const struct agent *agent);

/* Shall the hooks of its tools wait for the daemon's answer, for this reason?
 * They do while there is any (workspace.h). */
void agent_tools_wait(struct agent *agent, enum agent_wait reason, bool on);

/* Forget the task, the conversation and earlier errors. */
void agent_forget(struct agent *agent);

void agent_saw(struct agent *agent, const struct git_facts *facts);

/* Its work is committed, up to head: needs_review. Starts a self-review if
 * configured, else emits EVENT_WORK_FINISHED. */
void agent_finish(struct agent *agent, const char *head);

/* Append the prompt for its task. */
void agent_task_text(const struct agent *agent, struct buf *out);

/* Its session ended, or did not start, while it was resuming a conversation. If
 * not for the first time, the next session is a new conversation. */
void agent_resume_failed(struct agent *agent);

/* Is an operation running on it, or is its session ending? */
bool agent_is_taken(const struct agent *agent);

/* Can it get a task: is it idle with a ready session, and not taken? */
bool agent_is_free(const struct agent *agent);

/* Is nothing in progress, as far as we know? */
bool agent_is_at_rest(const struct agent *agent);

/* Check what to do next, in ms at the latest. */
void agent_tick_later(struct agent *agent, int64_t ms);

/* This worker's effective values of [defaults] keys. */
int64_t agent_number(const struct agent *agent, const char *key);
bool agent_flag(const struct agent *agent, const char *key);

/* error: the error word from Claude Code; text: the agent's message. */
void turn_failure(struct agent *agent, const char *error, const char *text);

/* Is its login refused at the moment, to whoever uses it? */
bool turn_failure_login_is_lost(const struct agent *agent);

/* It waits for a limit that is over, or that a person says is over: it goes on
 * where it was. */
void turn_failure_over(struct agent *agent);

/* A message to a worker about its task, whatever its status. */

/* Does its status allow one? It has no task, or is starting or landing, if
 * not. */
bool agent_message_fits(const struct agent *agent);

/* Send it: a worker that waits goes on, finished work is sent back with it.
 * -EINVAL if its status does not allow one. */
int agent_message(struct agent *agent, const char *text);

/*
 * What a worker's agent may do with its tools, written for its hooks
 * (config.h).
 */

/* Write its policy, if it has changed. If that fails, there is none any more,
 * and its hooks deny all tools. */
int agent_guard_write(struct agent *agent, struct err *err);

/* The same for a worker that may have no session. A failure is reported, once
 * until it is over, and is found again at its next prompt, launch or patrol. */
void agent_guard_refresh(struct agent *agent);

/*
 * A shell command from the settings in the worktree of a worker; in the
 * worker's box if it has one. Its environment has LLMC_TASK and its place.
 */

/* As child_spawn(); both outputs are one. timeout: the key of a duration.
 * ret_boxed: what the worker left
 * beside its work may have decided the result. */
int tree_command_spawn(struct agent *agent, const char *command,
    const char *timeout, child_fn *done, void *arg, struct child **ret_child,
    bool *ret_boxed, struct err *err);

#endif
