/* SPDX-License-Identifier: ISC */

/*
 * An operation on one worker: base/operation with the worker that it holds
 * while it runs (agent->op) and the call that it answers.
 */
#ifndef WORKER_OP_H
#define WORKER_OP_H

#include "agent.h"
#include "fleet.h"
#include "git-worktree.h"
#include "git.h"
#include "operation.h"
#include "setup.h"

struct agent;
struct buf;
struct fleet;
struct json_object;
struct salvage;
struct salvage_what;
struct server_call;
struct worker;

struct worker_op {
	struct operation op; /* first */
	struct agent *agent;
	struct server_call *call; /* NULL = no caller */
	git_work_fn *on_salvaged;
	char salvage[256]; /* ref of worker_op_salvage(), "" = nothing to save
			    */
};

/* Take the worker and begin. It must not be taken. op is part of an object that
 * the caller allocated; kind->end frees it. */
void worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call);

/* Call this first in an end: the worker is free again and checks what to do
 * next. */
void worker_op_release(struct worker_op *op);

/* Call this last in a plain end: answer with the result or the error. Without a
 * caller an error other than a cancel is emitted as EVENT_GIT_FAILED. */
void worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result);

/* Steps that several operations have: write the state down, end the
 * session. */
void worker_op_write(struct operation *op);
void worker_op_end_session(struct operation *op);

/* As a step: save the work that would be lost, and then set the worktree back
 * or remove it. fn gets the operation; NULL = the next step follows. */
void worker_op_salvage(
    struct worker_op *op, const struct salvage_what *what, git_work_fn *fn);

/* As a step: check out the submodules that the user's checkout has; those that
 * cannot be had are reported. Not in a sandbox (git-worktree.h). */
void worker_op_submodules(struct operation *op);

/* As a step: set the worktree up, if that is due (setup.h). fn gets the
 * operation; NULL = the next step follows, or the operation fails. Its cancel
 * goes with it. */
void worker_op_setup(struct operation *op, setup_fn *fn);
void worker_op_setup_cancel(struct operation *op);

/* Add a worker, with a worktree and a branch of its own. */

/* The name must be valid and unused. call NULL: requested by auto mode; then an
 * error is a hard failure. */
void op_add(struct fleet *fleet, const char *name, struct server_call *call);

/*
 * Before something is done with the work of a worker: is it still what the
 * caller has seen? Reads HEAD, the branch and uncommitted changes; nothing is
 * changed.
 */

#define OP_INSPECT_BRANCH 1u /* its own branch must be checked out */
#define OP_INSPECT_CLEAN  2u /* there must be no uncommitted changes */

/* If params has a "commit", compare the work with it; on a difference the call
 * fails with API_CHANGED and a sentence that says what it is. Else call fn,
 * with the whole id as "commit"; it must check the worker's status again.
 * Without a "commit" fn is called at once. No operation may be running on the
 * worker, and none is when fn is called. */
void op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg);

/*
 * Nuke: end the session, salvage the work, remove worktree, branch, what its
 * sandbox kept, and the worker.
 */

/* Emits EVENT_WORKER_LOST first, EVENT_WORKER_GONE at the end. */
void op_nuke(struct agent *agent, struct server_call *call);

/*
 * Reset: end the session, forget the task, salvage the work, and reset the
 * worktree to the default branch.
 */

/* call may be NULL. Emits EVENT_WORKER_LOST first: its task waits again. */
void op_reset(struct agent *agent, struct server_call *call);

/*
 * The commands for a worker: give it a task, reset or stop it, send it a
 * message, reject its work; landing is the floor above.
 */

/* Registers the methods. */
void worker_commands_register(struct fleet *fleet);

/* What is to be said, with comments on lines of the change, and by whom if it
 * is no person, appended; false: the call is refused. */
bool worker_commands_words(
    struct server_call *call, struct json_object *params, struct buf *out);

/* The cleaned text of a request, appended; false (and the call is refused) if
 * nothing is left. */
bool worker_commands_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out);

/* Refuse a call that is not possible in the worker's status; wanted: the
 * statuses where it is. */
void worker_commands_wrong_status(
    struct server_call *call, const struct worker *worker, const char *wanted);

/* Two prompts at once would be merged in the input box. True: refused. */
bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call);

/* Start: salvage and reset the worktree of a worker in "starting", then send it
 * its task (worker->prompt) in a new conversation. */

/* call NULL: auto mode, or a start that was interrupted. */
void op_start(struct agent *agent, struct server_call *call);

/* What starts waited for (the policy's fresh) is known, or takes too long. */
void op_start_fresh(struct fleet *fleet);

/*
 * The end of a turn: judged by the facts from git (model/task/turn), for
 * workers driven by hand and, with additions from the policy, for those of auto
 * mode. The verdict is the answer to the Stop hook.
 */

/* The message of a commit made for a worker that left uncommitted changes. */
extern const char turn_end_leftover_message[];

/* call NULL: no caller waits (the Stop was spooled or lost). Otherwise it is
 * always answered. A turn whose next prompt is on its way is not judged: the
 * next one is. */
void turn_end_begin(
    struct agent *agent, struct server_call *call, const char *last_words);

/* May the end of its turn still decide what it becomes? Not if another turn has
 * begun meanwhile and lost its session, or if it was given up. */
bool turn_end_counts(const struct agent *agent);

/* Has the turn ended without being judged? Another operation was using the
 * worktree just then, or the daemon died. */
bool turn_end_is_due(const struct agent *agent);

/*
 * Workers that a person has put on hold (llmc pause, llmc stop): they finish
 * their turn and take no new task until llmc resume. The mark is part of the
 * worker's record, so it outlives the daemon. A worker on hold is paused as
 * soon as it has nothing to do; one that waits for a decision keeps its status.
 */

/* Mark it, and pause it if nothing is in progress; with `now`, in the middle of
 * a turn, too, for a caller who ends its session. */
void hold_begin(struct agent *agent, bool now);

/* Its turn has ended, and this is its next prompt. True: it is on hold, so it
 * is paused, and gets the prompt when it is resumed. */
bool hold_turn_ended(struct agent *agent, const char *text);

/* Pause those on hold that have become idle, or wait for others. */
void hold_settle(void *fleet);

/* Is it in the middle of something, that a hold lets it finish? */
bool hold_has_to_wait(const struct worker *worker);

struct hold_change {
	unsigned cleared, left; /* sets of enum worker_hold */
};

/* Take these reasons away (a set of enum worker_hold); an agent that cannot be
 * launched stays so. When none is left, a paused worker continues from where it
 * was, for whatever reason it was paused; a budget is granted by the caller.
 * note: what a person tells it, NULL = nothing. False: there was nothing to
 * resume. It must not be taken. */
bool hold_resume(struct agent *agent, unsigned may, const char *note,
    struct hold_change *ret_change);
#define HOLD_ANY (~0U)

/*
 * Save work in a worker's worktree that would be lost, in refs/llmc/salvage/,
 * and then set the worktree back or remove it. A missing worktree is first
 * created again from its branch; a folder that is no longer a valid worktree is
 * moved aside and kept for people.
 */

#define SALVAGE_STAMP_SIZE (CLOCK_STAMP_SIZE + 32)

enum salvage_then {
	SALVAGE_ONLY, /* change nothing */
	SALVAGE_RESET, /* as git_reset() */
	SALVAGE_REMOVE /* as git_remove() */
};

struct salvage_what {
	enum salvage_then then;
	const char *onto, *head, *same; /* of a reset, as in git_reset; onto
					 * NULL = the landing branch */
	bool unlocked; /* of a reset: no lock is removed any more, so one that
			* stays is the tree's fault */
	bool find_base; /* of a reset to a commit: it is built on the landing
			 * branch; else the base of the worker stays */
	bool check; /* a check has run there: all its checks have one ref, and
		     * the worker has one place for their big files */
};

/* saved: NULL with an error. */
typedef void
salvage_fn(const struct git_salvaged *saved, const struct err *err, void *arg);

/* Part of an operation on the worker, so only one at a time
 * (agent->salvage). what is copied. */
void salvage_begin(struct agent *agent, const struct salvage_what *what,
    salvage_fn *fn, void *arg);
/* Git is freed before it has answered: fn is not called. NULL is fine. */
void salvage_drop(struct salvage *salvage);

/* Where the worker's work is saved now: adam/<time>, with the task whose work
 * it is behind it, "-t17". `what` points into the agent and into stamp. */
void salvage_place(const struct agent *agent, bool check,
    char stamp[SALVAGE_STAMP_SIZE], struct git_salvage *ret_what);
/* Tell of a ref; "" = there is none. */
void salvage_tell(const struct agent *agent, const char *ref);

#endif
