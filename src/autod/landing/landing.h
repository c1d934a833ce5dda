/* SPDX-License-Identifier: ISC */

/*
 * Lands work on the landing branch: one path for a person's accept and pick,
 * for reverts and for auto mode.
 *
 * Accepted work is frozen as a commit and becomes an item of the queue
 * (op-enqueue.c). The queue builds candidates, has them checked, and moves the
 * branch to what passed (queue.c). Then the worker is cleaned, or it gets its
 * work back (settle-worker.c). Everything is in the state, so the next daemon
 * continues.
 */
#ifndef LANDING_H
#define LANDING_H

#include <sys/queue.h>

#include "check-book.h"
#include "fleet.h"

struct agent;
struct err;
struct fleet;
struct json_object;
struct landing_item;
struct queue;
struct server_call;

enum landing_result {
	LANDING_END_LANDED, /* or there was nothing to land */
	LANDING_END_PROPOSED, /* the policy has it, for a pull request */
	LANDING_END_CONFLICT, /* sent back to resolve it */
	LANDING_END_STUCK, /* too many conflicts */
	LANDING_END_EJECTED, /* its check failed */
	LANDING_END_FAILED, /* git reported an error, or it was refused */
	LANDING_END_TREE, /* the same, in its worker's tree */
	LANDING_END_CANCELLED, /* the daemon stops, or the worker lost its
				* task */
};

/* The result: event->landing of EVENT_LANDING_ENDED. */
struct landing_end {
	struct agent *agent; /* NULL = it has no worker any more */
	const char *task; /* NULL = by hand */
	const char *commit; /* the worker's, NULL = unknown */
	enum landing_result result;
	const struct err *err; /* NULL = landed or proposed */
};

/* What happens to work whose check failed. */
enum landing_return {
	LANDING_RETURN_PERSON, /* it waits for a person's decision */
	LANDING_RETURN_AGENT, /* its worker gets it back with the output */
	LANDING_RETURN_TAKEN, /* the policy has taken care of it */
};

/* Questions to auto mode; every member may be NULL. */
struct landing_policy {
	/* May the branch move now? */
	bool (*may_move)(void *arg);
	/* Is it its task, unattended? Then it waits for what is in the way. */
	bool (*keeps)(void *arg, const char *task);
	/* It failed its check, or conflicts. agent: NULL = its worker was
	 * released; from: the commit with its work, where it could go on. */
	enum landing_return (*ejected)(void *arg, struct agent *agent,
	    const char *task, const char *from, bool conflict,
	    const char *words);
	/* The work of this task will wait long, or is held: is its worker
	 * needed for another task? If so, the task has no worker from here on.
	 */
	bool (*frees)(void *arg, struct agent *agent, const char *task);
	/* A person sends held work back with these words; from: its commit. */
	void (*rejected)(
	    void *arg, const char *task, const char *from, const char *words);
	/* Nothing can land, and waiting has not helped. class: of the
	 * failure. */
	void (*blocked)(void *arg, const char *class, const char *worker,
	    const char *task, const char *reason);
	/* The branch itself, this tree, fails its check. trial: that was the
	 * first thing the command judged (landings_tried()). */
	void (*red)(void *arg, const char *tree, const char *words, bool trial);
	/* A revert that the policy wanted will not be: it conflicts, or fails
	 * its check. The item is gone afterwards. */
	void (*not_reverted)(
	    void *arg, const struct landing_item *item, const char *words);
	/* check_command has judged something (landings_tried()). */
	void (*tried)(void *arg);
	/* Does it become a pull request instead of landing? *ret_wait, which is
	 * NULL: why it can do neither now (borrowed). */
	bool (*proposes)(
	    void *arg, const struct landing_item *item, const char **ret_wait);
	/* It has passed as item->commit, on top of the branch. What is recorded
	 * of it is saved with the end of the item; its task has no worker from
	 * here on. */
	void (*propose)(void *arg, const struct landing_item *item);
	/* Enum priority of a task. */
	int (*priority)(void *arg, const char *task);
};

/* How a check ended; valid until the callback returns. */
struct check_end {
	const char *tree; /* its name in the book */
	const char *key; /* of the command */
	enum check_verdict verdict;
	bool cancelled; /* by check_slot_cancel(): no verdict */
	const char *how; /* "exited with status 1" */
	const char *output; /* the end of it */
	int64_t duration_ms;
};

/* The floor of the hosts that share one queue of tasks. Each of them freezes
 * its work and submits it; one of them lands the work of all, in its own queue
 * (ITEM_SHARED). */
struct landing_hosts {
	/* The attempt at this task that the hosts know, "FENCE/HOST/BOOT", and
	 * the task's id among them; the caller frees both. NULL = they know
	 * none: it lands by its own queue. */
	char *(*attempt)(void *arg, const char *task, char **ret_id);
	/* Is it this host that lands? The work of others waits otherwise. */
	bool (*lands)(void *arg);
	/* An item was submitted, or one of other hosts has ended. */
	void (*changed)(void *arg);
};

TAILQ_HEAD(landing_calls, landing_call);
TAILQ_HEAD(landing_reviews, review_get);

struct landings {
	struct core *core;
	struct fleet *fleet;
	const struct landing_policy *policy; /* never NULL */
	void *policy_arg;
	const struct landing_hosts *hosts; /* NULL = work stays here */
	void *hosts_arg;
	struct queue *queue;
	struct landing_calls calls; /* that wait for an item */
	struct landing_reviews reviews; /* that git is asked about */
	int review_count;
	bool begun;
	int64_t flaky_told_ms; /* a person, monotonic; 0 = not yet */
	struct core_floor floor;
};

/* Registers itself as a floor, and its methods. Subscribes to
 * EVENT_WORK_FINISHED (continues a landing whose conflict was resolved),
 * EVENT_WORKER_LOST (cancels) and EVENT_CLEARED (continues after a start). */
struct landings *landings_new(struct fleet *fleet);
void landings_free(struct landings *landings);
void landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg);

/* NULL = none. */
void landings_set_hosts(
    struct landings *landings, const struct landing_hosts *hosts, void *arg);

/* Land an item of another host, which the state owns from now on: its commit is
 * queue_item_ref(). If the branch has its attempt already, it has landed. */
void landings_share(struct landings *landings, struct landing_item *item);
/* It is not needed here any more: neither such an item, nor a submitted one. */
void landings_unshare(struct landings *landings, struct landing_item *item);

/* How a submitted item has ended elsewhere: as this commit ("" = the branch had
 * all of it); or it comes back with these words. */
void landings_landed_elsewhere(
    struct landings *landings, struct landing_item *item, const char *commit);
void landings_returned(struct landings *landings, struct landing_item *item,
    bool conflict, const char *words);

/* Is anything in the queue, or not settled yet, that does not wait for a
 * person? */
bool landings_busy(const struct landings *landings);

/* Does check_command run for an item of the queue, or for the branch? */
bool landings_checking(const struct landings *landings);

/* How many workers wait long with their work, and could do something else? As
 * of the last look at the queue. */
size_t landings_long_waits(const struct landings *landings);

/* Take the work of this task out of the queue. False: it is too late, or it
 * must be tried again in a moment. */
bool landings_withdraw(struct landings *landings, const char *task);

/* The work of this task, if it is in the queue, gets another priority (enum
 * priority). */
void
landings_prioritize(struct landings *landings, const char *task, int priority);

/* The branch may be able to move now; a worker may be needed. */
void landings_kick(struct landings *landings);

/* Others have something new at origin: the branch is to follow. */
void landings_follow(struct landings *landings);

/* May a task begin, with what others have pushed? False: origin is being looked
 * at, and op_start_fresh() follows, soon even if origin does not answer. */
bool landings_fresh(struct landings *landings);

/* Has check_command judged anything yet, if it is set? False: it is tried on
 * the branch as it is, the way the queue checks; the policy gets a call. */
bool landings_tried(struct landings *landings);
/* Is that under way? */
bool landings_trying(const struct landings *landings);

/* A person has seen that the branch failed that; again: it is tried again. */
void landings_trial_over(struct landings *landings, bool again);

/* Do not wait any longer for what is in the way of the branch, or for origin.
 * False: nothing waits. */
bool landings_retry(struct landings *landings);

/* Land the worker's work. call may be NULL. commit: the HEAD that was shown to
 * the person who accepts it, NULL = any; then uncommitted changes are part of
 * it. approved: a person has accepted it, so protected paths may change. Both
 * hold after a restart, too. */
void landing_begin(struct landings *landings, struct agent *agent,
    const char *commit, bool approved, struct server_call *call);

/* The work of a task is finished, and only a person may accept it (for_person,
 * with the worker's reason): the queue keeps it until they have, or send it
 * back, and the worker is free for another task. commit as above. */
void landing_hold(
    struct landings *landings, struct agent *agent, const char *commit);

/* The ref that holds the frozen commit of an item; the caller frees. */
char *queue_item_ref(const char *item);

/* Only rebase the work on the branch. */
void landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call);

/*
 * Rebases a worker's work onto the landing branch in its own worktree. A
 * conflict goes back to the worker as a prompt: it knows its changes best.
 */

enum op_rebase_end {
	OP_REBASE_DONE,
	OP_REBASE_CONFLICT, /* the worker resolves it */
	OP_REBASE_STUCK, /* too many conflicts; err says so */
	OP_REBASE_FAILED, /* git reported an error */
	OP_REBASE_CANCELLED,
};

/* Called when the worker is free again: needs_review, or waiting if it was
 * that; rebasing after a conflict. head: its HEAD, "" unless it is done. Answer
 * the call here. */
typedef void
op_rebase_fn(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg);

/* No operation may be running on the worker, which is accepting or waiting.
 * again: a rebase of an earlier daemon may be in progress; it starts over. */
void op_rebase(struct agent *agent, bool again, struct server_call *call,
    op_rebase_fn *fn, void *arg);

/* Takes landed commits back: one more commit through the landing queue. */

/* Answers when the new commit is on the branch, or cannot be. commit: an id, 7
 * digits or more. */
void revert_begin(
    struct landings *landings, const char *commit, struct server_call *call);

/* Because something failed, without a caller: EVENT_REVERTED, or the policy's
 * not_reverted, says how it ended. */
struct revert_order {
	const char *commit; /* full id, on the branch */
	const char *restored; /* what the branch is to be again; NULL = as
			       * before this commit */
	int undoes; /* with that: commits of record->own */
	const char *title, *message; /* of the new commit */
	const char *why;
};

void
revert_enqueue(struct landings *landings, const struct revert_order *order);
/* Is such a revert of this commit in the queue? */
bool revert_is_queued(const struct landings *landings, const char *commit);

/*
 * The branch fails its own check: the tasks' commits that it ends with are
 * taken back through the queue (landing-record.h says which). What they go
 * back to is checked again, even if it passed before: when it fails too, the
 * cause is outside of the commits, and nothing is taken back.
 */

/* why: the output of the check. False: the newest commit is not a task's, or
 * only origin moves the branch. */
bool red_revert_begin(struct landings *landings, const char *why);

/* Answer the call. The tip of the branch is read first if it is unknown. */
void queue_view_answer(struct landings *landings, struct server_call *call);

/* The same, with what is known now. The caller owns it. */
struct json_object *queue_view(struct landings *landings);

#endif
