/* SPDX-License-Identifier: ISC */

/*
 * The top floor: goals. Their plans are one more source of tasks for auto mode;
 * a tick compares what should happen with what does, and steps in.
 *
 *   plan-book.c      the plans in memory, as the book has them; its log
 *   plan-tasks.c     ready nodes are tasks for auto mode
 *   plan-bind.c      the assignment of a task, from its start to its outcome
 *   plan-tick.c      when the tick runs, and what it tells; what is known
 *                    about the assignments
 *   plan-change.c    puts into the book and tells what was decided or changed;
 *                    calls, from the request to the answer
 *   plan-dispatch.c  messages, fresh workers, persons; what follows from a
 *                    change
 *   goal-commands.c, plan-view.c
 *                    the methods overseer.goal.*, .work.* and .plan.*
 *   planner.c        asks a model for plans, and what an answer does; what it
 *                    is told about the repository
 *   planner-talk.c   one question to it
 *   why-command.c    the methods overseer.events and overseer.why
 *   plan-floor.c     work of hand-driven workers that lands; reverts; the
 *                    methods overseer.store.*: jobs on the book's file
 */
#ifndef PLAN_FLOOR_H
#define PLAN_FLOOR_H

#include <sys/queue.h>

#include "book.h"
#include "core.h"
#include "plan-edit.h"
#include "plan.h"
#include "reconcile.h"
#include "buf.h"
#include "work-record.h"

struct auto_mode;
struct err;
struct event;
struct fleet;
struct json_object;
struct landings;
struct loop_call;
struct plan;
struct plan_book;
struct plan_calls;
struct plan_changes;
struct plan_dispatcher;
struct plan_goal;
struct plan_node;
struct plan_revision;
struct plan_set;
struct plan_tasks;
struct plan_tick;
struct planner;
struct reconcile_result;
struct server_call;
struct store_jobs;
struct task;

TAILQ_HEAD(plan_orders, plan_order);

enum plan_state {
	PLAN_OFF, /* not enabled, and there are no goals */
	PLAN_OPEN,
	PLAN_SAFE, /* the plans cannot be read: nothing is planned */
};

/* The floor above keeps records of its own in the book. */
struct plan_guest {
	/* They can be read and changed; they cannot any more, and what is in
	 * memory of them does not count. */
	void (*opened)(void *arg);
	void (*closed)(void *arg);
};

struct plan_floor {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *mode;
	struct core_floor floor;
	enum plan_state state;
	char *why; /* PLAN_SAFE: the reason, and what to type */
	struct plan_book *book;
	struct plan_dispatcher *dispatcher; /* PLAN_OPEN */
	struct plan_tick *tick; /* PLAN_OPEN */
	struct planner *planner; /* PLAN_OPEN */
	struct plan_tasks *tasks;
	struct plan_calls *calls; /* to be answered after the commit */
	struct loop_call *show; /* what llmc status shows */
	struct loop_call *planned; /* the planner has made a plan */
	struct plan_orders orders; /* decided, and not carried out yet */
	struct store_jobs *jobs;
	const struct plan_guest *guest; /* NULL = none */
	void *guest_arg;
	bool begun; /* the floors below have begun */
};

/* Registers itself as a floor, its policy and its methods. */
struct plan_floor *plan_floor_new(struct auto_mode *mode);

/* Call before the floors below are freed. */
void plan_floor_free(struct plan_floor *floor);

/* NULL = none. opened is called from here if the plans are open. */
void plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg);

/* PLAN_OPEN only. */
struct plan_set *plan_floor_set(const struct plan_floor *floor);

/* Call it after every change of a plan by a command or the planner: what became
 * ready is offered, what is not wanted any more is taken back. */
void plan_floor_changed(struct plan_floor *floor);

/* --- the plans, plan-book.c ------------------------------------------ */

/*
 * The plans in memory, as the book has them. Goals that are active or paused
 * are read once, at the start; from then on every change is made in the set and
 * named here. Just before the pass is committed (persist.h), the named records
 * are put into the book, each once, however often it changed: a plan, its task,
 * its event and its effect are one transaction.
 *
 * A change that the book refuses is undone: nothing that this pass changed in
 * the goal is put, the goal is read again, its calls are refused, and it is
 * paused for a person to look at.
 *
 * Everything that the daemon tells and that has a name goes to the book's log
 * of events, whether or not goals are on.
 */

/* Begin to log events. */
struct plan_book *plan_book_new(struct plan_floor *floor);
/* What was named and is not put yet is lost. */
void plan_book_free(struct plan_book *book);

/* Read the plans. -EBADMSG: a record that no plan can be made of; codes of
 * book.h. The set is empty then. */
int plan_book_load(struct plan_book *book, struct err *err);
/* Put what was named, without waiting for the commit. True: a goal was refused;
 * call it again after plan_floor_changed(). refused: those that were, each
 * once, empty at first; the caller frees it. */
bool plan_book_put(struct plan_book *book, char ***refused);
/* Forget the plans, and what was named and not put. */
void plan_book_unload(struct plan_book *book);
/* Is there any goal, open or not? */
bool plan_book_has_goals(const struct plan_floor *floor);

/* The rest is for PLAN_OPEN. */

/* A goal of the set, or one that has ended, read into it. NULL with err:
 * -ENOENT, or it cannot be read. */
struct plan *
plan_book_plan(struct plan_floor *floor, const char *goal_id, struct err *err);

/* The id of the next goal, "g17", which the caller frees; taken with
 * plan_book_number(). */
char *plan_book_next_goal(const struct plan_floor *floor);
/* A new goal with such an id: its number is not given again. */
void plan_book_number(struct plan_floor *floor, struct plan_goal *goal);

/* It was changed: BOOK_GOAL, BOOK_NODE, BOOK_ASSIGNMENT or BOOK_CRYSTAL. One
 * that is not in the set is deleted. */
void plan_book_record(struct plan_floor *floor, enum book_kind kind,
    const char *goal_id, const char *id);
/* Everything that an edit changed in this plan. */
void plan_book_changes(struct plan_floor *floor, const struct plan *plan,
    const struct plan_changes *changes);

/* --- tasks and assignments, plan-bind.c ------------------------------ */

/*
 * Tasks of auto mode and assignments of plans: finds the one for the other,
 * makes an assignment for a task, follows who has it, and ends it with the
 * task's outcome. Everything is changed in the book and then stored. For an
 * open book only.
 */

/* The parts of "GOAL/NODE"; the caller frees them. -EINVAL. */
int plan_bind_key(
    const char *key, char **ret_goal, char **ret_node, struct err *err);
/* -ENOENT or -EINVAL: not in the set. */
int plan_bind_find(const struct plan_set *set, const char *key,
    struct plan **ret_plan, struct plan_node **ret_node, struct err *err);

/* The node whose work, open or ended, this task is; NULL = none. */
struct plan_node *
plan_bind_of(const struct plan_floor *floor, const struct task *task);
/* The task of the work on the node, in the state; NULL = none. */
struct task *
plan_bind_task(const struct plan_floor *floor, const struct plan_node *node);
/* Is it to be given to a fresh worker, and has no task yet? */
bool plan_bind_wants_worker(
    const struct plan_set *set, const struct plan_node *node);

/* Was the node given to another after this task had begun? What becomes of the
 * node is not its matter then, also when the other has ended. */
bool plan_bind_was_taken(const struct task *task, const struct plan_node *node);

/* Make the assignment of a task, or give the task to the one that wants a
 * worker. late: the task has begun, whatever the node's status. A node whose
 * work was taken back is opened again. -ESTALE: it is not wanted any more;
 * -EINPROGRESS: another task on the node is about to end. */
int plan_bind(struct plan_floor *floor, const struct task *task, bool late,
    struct err *err);
/* Would plan_bind take a task that does again what this one did? -ESTALE: no;
 * err says why, and what to type. */
int plan_bind_again(
    const struct plan_floor *floor, const struct task *task, struct err *err);
/* Who has the task now: worker and run (one per attempt). */
void plan_bind_worker(
    struct plan_floor *floor, struct plan_node *node, const struct task *task);
/* The task waits for a person, and its node is blocked with it; or it goes on,
 * and its node too, whichever of the two the person named. */
void plan_bind_parked(
    struct plan_floor *floor, struct plan_node *node, struct task *task);
/* The task has its outcome: the assignment ends, and its node is done, planned
 * anew, or blocked and a person told. Done is what is on the branch, or has a
 * result without a commit: another task that ended without a change has
 * failed. files: what its commit changed, NULL
 * terminated; NULL = not known. */
void plan_bind_end(struct plan_floor *floor, struct plan_node *node,
    const struct task *task, char *const *files);
/* Nobody has begun it: the node goes back to the queue, as it was. */
void plan_bind_release(
    struct plan_floor *floor, struct plan_node *node, const char *why);

/* Change the status of a leaf, by the table of plan-status, and tell it. why:
 * may be NULL, except for NODE_BLOCKED. */
void plan_bind_move_node(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, enum node_status to, const char *why);

/* Nobody works on it: it waits for a worker again, and that was no attempt. */
void plan_bind_queue_again(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, const char *why);

/* --- tasks of nodes, plan-tasks.c ------------------------------------ */

/*
 * Goals as a source of tasks (auto.h): a node that is ready is a task with the
 * key "GOAL/NODE". Its assignment is committed with the task that a worker
 * gets, and its outcome with the end of the task.
 */

/* Registers the policy. */
struct plan_tasks *plan_tasks_new(struct plan_floor *floor);
void plan_tasks_free(struct plan_tasks *tasks);

/* The floors below have begun and the book is open: catch up. */
void plan_tasks_begin(struct plan_tasks *tasks);
/* Plans or assignments were changed: take back what is not wanted any more, and
 * offer what is ready now. Does nothing before plan_tasks_begin(). */
void plan_tasks_changed(struct plan_tasks *tasks);
/* The book is closed. */
void plan_tasks_closed(struct plan_tasks *tasks);

/* May auto workers have nodes (plan.enabled, plan.allow_agents)? */
bool plan_tasks_allowed(const struct plan_floor *floor);

/* --- changes and calls, plan-change.c -------------------------------- */

/*
 * One change of a plan, by a person unless edit.actor is set to another one: an
 * edit (plan-edit.h) between begin and end. All of it is committed together:
 * the changed records, the revision (plan.created or plan.updated), and every
 * status that is another one than before. PLAN_OPEN only.
 */

/* --- what was decided ------------------------------------------------ */

/* What was decided about plans, or changed in them, goes to the book, and what
 * happened is told. PLAN_OPEN only. */

/* A run of the tick, or of one assignment. */
void
plan_apply(struct plan_floor *floor, const struct reconcile_result *result);

/* The work on the node, with its last dispatch. */
void plan_apply_work(struct plan_floor *floor, const struct plan_node *node);

/* Record the result of a dispatch of this node; reason may be NULL. */
void plan_dispatch_ended(struct plan_floor *floor, struct plan_node *node,
    struct plan_dispatch *dispatch, enum dispatch_result result,
    const char *reason);

/* A decision that waits until everything that was changed before is committed,
 * and is then carried out. Strings are owned, NULL = none. */
struct plan_order {
	TAILQ_ENTRY(plan_order) entry;
	struct plan_floor *floor;
	enum reconcile_kind kind;
	bool given; /* to plan-dispatch.c */
	char *goal, *node, *assignment, *dispatch, *reason, *text;
};

void
plan_order(struct plan_floor *floor, const struct reconcile_decision *decision);
void plan_order_free(struct plan_order *order);

#define PLAN_CHANGE_PERSON "person" /* the actor */

struct plan_change {
	struct plan_floor *floor;
	struct plan *plan;
	struct plan_edit edit; /* for the functions of plan-edit.h */
	struct plan_changes changes;
	/* As it was before. */
	enum goal_status status;
	int64_t version;
	struct node_before *nodes;
	struct strmap by_id;
};

/* why: may be NULL; borrowed until the end. */
void plan_change_begin(struct plan_change *change, struct plan_floor *floor,
    struct plan *plan, const char *why);
/* It has been made: queue what is ready now, store it, and tell. What follows
 * from it is for the caller: plan_floor_changed(). */
void plan_change_end(struct plan_change *change);
/* It was refused, and changed nothing. */
void plan_change_drop(struct plan_change *change);

/* The whole change of one node by the daemon, likewise. */
typedef int
plan_edit_fn(const struct plan_edit *edit, const char *id, struct err *err);
int plan_change_node(struct plan_floor *floor, const struct plan_node *node,
    plan_edit_fn *edit, const char *actor, const char *why, struct err *err);

/* --- calls ----------------------------------------------------------- */

/*
 * Calls about goals, from the request to the answer: refused while goals are
 * off, given the goal that they are about (also one that has ended, and is only
 * in the book), and answered once everything that they changed is committed, or
 * when it turns out that the book cannot be written.
 */

struct plan_calls *plan_calls_new(struct plan_floor *floor);
void plan_calls_free(struct plan_calls *calls);
/* The plans are about to be closed: refuse what waits. */
void plan_calls_closed(struct plan_calls *calls);

/* Are the plans open? If not, the call is refused, with what to type. */
bool plan_call_begin(struct plan_floor *floor, struct server_call *call);

/* The same for a call that changes a plan: also refused while the book cannot
 * be written. */
bool plan_call_begin_change(struct plan_floor *floor, struct server_call *call);

/* Refuse it: err->code is a code of api.h, or an errno. */
void plan_call_refuse(struct server_call *call, const struct err *err);

/* The goal that the member "goal" of params names, by its id or a part of it.
 * NULL: there is none, or several, and the call was refused. */
struct plan *plan_call_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params);

/* The same for overseer.plan.*, whose code for it is API_E_NOT_FOUND. */
struct plan *plan_call_plan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params);

/* plan_call_begin(), and the plan of a goal that may be named; *ret NULL = none
 * is. False: refused. */
bool plan_call_begin_maybe(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, const struct plan **ret);

/* Answer when everything so far is committed, or refuse the call if the book
 * refuses what it changed in this goal (NULL = in none). Takes result. */
void plan_call_answer(struct plan_floor *floor, struct server_call *call,
    const char *goal_id, struct json_object *result);

/* --- answers, plan-view.c -------------------------------------------- */

/* Goals and plans as the answers of the methods (api-work.h). Each
 * returns an object that the caller owns. */

/* After a change: what the goal is now. */
struct json_object *plan_view_changed(const struct plan *plan);
/* The same for a node, with the last revision of its plan. */
struct json_object *
plan_view_node_changed(const struct plan *plan, const struct plan_node *node);

/* The open goals. */
struct json_object *plan_view_list(const struct plan_set *set);
/* One of such a list, of a goal that has ended: from its record, which gets
 * nodes, and the records of these. NULL = it has not ended, or is a task's own.
 */
struct json_object *
plan_view_ended(struct json_object *goal, struct json_object *nodes);
struct json_object *plan_view_show(const struct plan *plan);
struct json_object *plan_view_status(const struct plan_floor *floor);

/* The nodes of one plan, or of all open goals (plan NULL). */
struct json_object *
plan_view_nodes(const struct plan_set *set, const struct plan *plan, bool all);
struct json_object *
plan_view_node(const struct plan *plan, const struct plan_node *node);

/* --- what is in the book --------------------------------------------- */

/* The method overseer.events, and what calls read in the book, as JSON: arrays
 * for the caller to free; NULL = it cannot be read, and the call was refused.
 * PLAN_OPEN only. */

void plan_query_register(struct plan_floor *floor);

/* The bodies of records of this kind with this id. */
struct json_object *plan_query_records(struct plan_floor *floor,
    struct server_call *call, enum book_kind kind, const char *id);

/* The same of mail, the newest first: that of an actor (NULL = of all). */
struct json_object *plan_query_mail(struct plan_floor *floor,
    struct server_call *call, const char *actor, size_t limit);

#endif
