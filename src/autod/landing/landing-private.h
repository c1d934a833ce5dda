/* SPDX-License-Identifier: ISC */

/*
 * What only the landing queue itself uses. queue.c asks landing-plan.h what to
 * do next whenever something has changed, and does it. The items are in the
 * state (landing-record.h). Each file calls only those above it in this list:
 *
 *   check-slot.c      judges a commit by check_command
 *   queue-item.c      what is in the queue, and the tip of the branch
 *   candidates.c      builds commits on top of each other
 *   settle.c          how items leave the queue
 *   checkout-watch.c  waits until the user's checkout is clean
 *   landed-watch.c    finds what is no longer on the branch
 *   upstream.c        follows origin, and pushes to it
 *   queue-move.c      moves the branch
 *   op-rebase.c       rebases the work of a worker (landing.h)
 *   op-enqueue.c      freezes work, and puts it into the queue
 *   settle-worker.c   what becomes of the workers of items
 *   queue-view.c      shows all of it, and takes back what has landed
 *   queue.c           reads the branch, plans, and does what is planned
 *   landing.c         the floor: methods, events
 */
#ifndef LANDING_PRIVATE_H
#define LANDING_PRIVATE_H

#include "check-book.h"
#include "git-freeze.h"
#include "landing-plan.h"
#include "landing-record.h"
#include "landing.h"

struct agent;
struct buf;
struct candidates;
struct check_slot;
struct checkout_watch;
struct core;
struct err;
struct landing_facts;
struct landing_item;
struct landed_watch;
struct landing_plan;
struct landings;
struct loop;
struct loop_call;
struct loop_timer;
struct upstream;
struct queue;
struct queue_facts;
struct queue_move;
struct queue_slot;
struct server_call;

struct queue_slot {
	struct check_slot *slot; /* NULL = there is none */
	char **covers; /* ids of items; NULL = the base itself */
	char **pinned; /* items that keep their order while it runs */
	bool cancelled;
	bool overtaken; /* others have moved the branch since it began */
};

struct queue {
	struct landings *landings;
	struct core *core;
	struct loop_call *look;
	struct loop_timer *wake;
	struct candidates *candidates;
	struct queue_slot slots[LANDING_SLOTS_MAX];
	int slot_count;
	/* The tip of the branch, as last read. */
	char *base_commit, *base_tree; /* NULL = to be read */
	int64_t base_date; /* of the commit, in seconds; 0 = not known */
	/* A commit of the branch whose tree and date are known: mostly the tip,
	 * which then only needs to be compared. */
	char *known_commit, *known_tree;
	int64_t known_date;
	bool base_asked;
	/* Up to this commit the branch has no work of ITEM_SHARED items that
	 * wait here; NULL = not known. */
	char *read;
	char *reading; /* the commit up to which it is read now */
	bool unread; /* an item has come since that began */
	int base_fails;
	bool built; /* something was, since the last plan */
	bool trial; /* landings_tried() waits for the first verdict of the
		     * command */
	/* The tip as the last plan knew it; NULL = none has been made. */
	char *planned;
	int passed; /* checks whose result has not landed */
	bool passed_overtaken; /* others have moved the branch since */
	bool proving; /* the base is not the tip, but what landed on a result
		       * that was overtaken: nothing else is to be checked */
	struct queue_move *move; /* queue-move.c */
	struct landed_watch *landed;
	struct upstream *upstream;
	size_t long_waits; /* workers that could be released, see
			      settle-worker.c */
	uint64_t ids_before; /* given to items before this daemon began */
	bool stopping;
};

/* --- check-slot.c --------------------------------------------------------- */

/*
 * A check slot: a worktree of our own, in which check_command judges one
 * candidate at a time. The command is an errand (errand.h), so it outlives the
 * daemon; the next one finds its result.
 *
 *   .llmc/checks/1       the worktree of slot 1
 *   .llmc/checks/run-1/  the files of its errand, <tree>-<key of the command>
 */

/* how: "exited with status 1". The first line of the file. */
void check_output_keep(const struct core *core, const char *tree,
    const char *how, const char *output);

/* Append what is kept to how and output; nothing if it is lost. */
void check_output_read(const struct core *core, const char *tree,
    struct buf *how, struct buf *output);

/* Remove the outputs whose tree has no failure in the book any more. */
void check_output_trim(const struct core *core);

/* The slot is free when this is called. */
typedef void
check_slot_fn(struct check_slot *slot, const struct check_end *end, void *arg);

struct check_slot *
check_slot_new(struct core *core, int number, check_slot_fn *fn, void *arg);

/* A command that runs is left to the next daemon. */
void check_slot_free(struct check_slot *slot);

/* What to check. */
struct check_subject {
	const char *tree; /* its name in the book */
	const char *commit; /* id */
	const char *task; /* for LLMC_TASK, NULL = none */
	const char *base; /* commit of the branch: protected paths are checked
			   * as they are there; NULL = none are changed */
	const char *const *protected_paths; /* NULL terminated */
	bool afresh; /* somebody may be blamed for the result: what an earlier
		      * setup of the worktree left must not decide it */
};

/* The slot must be free. Its end is reported through fn, always later. A
 * worktree that is none any more is moved aside, and made anew, once. */
void
check_slot_start(struct check_slot *slot, const struct check_subject *subject);

/* Continue what an earlier daemon left running; false: nothing. */
bool check_slot_adopt(struct check_slot *slot);
void check_slot_cancel(struct check_slot *slot);

/* The daemon stops: let go of the command, end everything else. */
void check_slot_stop(struct check_slot *slot);

/* The name in the book of what it checks, NULL = it is free. */
const char *check_slot_tree(const struct check_slot *slot);

/* Since when, wall clock milliseconds. */
int64_t check_slot_since_ms(const struct check_slot *slot);

/* A short key for the command of auto.check_command as it is now; "" if none is
 * set. */
void check_slot_key(const struct core *core, char ret_key[CHECK_KEY_SIZE]);

/* --- queue-item.c --------------------------------------------------------- */

/* Something has changed: decide again, later in this pass of the loop. */
void queue_look(struct queue *queue);

/* The item is gone after this. */
void queue_remove(struct queue *queue, struct landing_item *item);

/* Put an item, which is owned by the state from now on, into the queue. */
void queue_add(struct queue *queue, struct landing_item *item);

/* Remember the tree and date of a commit that may be the tip. */
void queue_base_know(
    struct queue *queue, const char *commit, const char *tree, int64_t date);

/* It may have moved: read it again. */
void queue_base_changed(struct queue *queue);

/* The commit of the branch that is known to have the very tree of the item's
 * work, NULL = none. */
const char *
queue_base_same(const struct queue *queue, const struct landing_item *item);

/* What it checks for our queue; NULL = nothing. */
const char *queue_slot_tree(const struct queue_slot *slot);

/* The ref of its frozen commit is queue_item_ref() (landing.h). */

/* The ref of what was built of an item last, on top of others. */
#define QUEUE_ITEM_BUILT ".built"

char *queue_item_built_ref(const char *item);

/* Remove both. */
void queue_item_drop_ref(struct core *core, const char *item);

/* When a daemon begins, before items are added: remove the refs of ids that the
 * queue does not have. */
void queue_item_drop_strays(struct queue *queue);

/* --- candidates.c --------------------------------------------------------- */

/*
 * What is known of the items of the queue on top of one commit or another: the
 * candidates that landing-plan.h asks for. Kept in memory only; the same item
 * on the same parent gives the same commit again.
 */

/* Strings are owned, NULL = not set. */
struct candidate {
	char *item; /* id */
	char *parent; /* commit */
	enum landing_build build;
	char *commit, *tree; /* if built */
	int64_t date; /* of the commit */
	/* CONFLICT: the paths, for people. */
	char *words;
	/* Git failed, words say how: it is tried again later. */
	bool waits;
	bool broken; /* and trying again has not helped */
	/* As what it was when a check of it began, alone or below others; NULL
	 * = none has, or what has come since does not let the result stand. */
	struct {
		char *parent, *commit, *tree;
	} checked;

	/* Private. */
	struct candidates *owner;
	struct loop_timer *again;
	int tries; /* that failed */
};

/* changed: a build has ended, or may be tried again. */
struct candidates *
candidates_new(struct core *core, void (*changed)(void *arg), void *arg);
void candidates_free(struct candidates *candidates);

/* What is known of the item, on whatever parent; NULL = nothing. */
const struct candidate *
candidates_of(const struct candidates *candidates, const char *item);

/* Build it on top of parent; what was known of it is forgotten. parent_date: 0
 * = unknown. base: the commit of the branch, whose attributes count. */
void
candidates_build(struct candidates *candidates, const struct landing_item *item,
    const char *parent, int64_t parent_date, const char *base);
/* A check of it has begun: if it is built again because others have moved the
 * branch, the result may stand (overtaken.h). */
void candidates_checked(struct candidates *candidates, const char *item);
/* The tree whose result stands for the candidate; NULL = none does. */
const char *candidate_stands(const struct candidate *c);
/* The item has left the queue. */
void candidates_forget(struct candidates *candidates, const char *item);
/* Is a build running? */
bool candidates_busy(const struct candidates *candidates);

/* After a result was added to the book: forget old ones, but none of what is in
 * the queue now. */
void candidates_trim_book(
    const struct candidates *candidates, const char *base_tree);

/* What must not land, or only when a person has seen it. */
struct freeze_rules {
	struct git_freeze what;
	const char *forbidden[3]; /* what.forbidden */
	char worktrees[PATH_MAX];
};

/* Only the paths. */
void freeze_rules_paths(struct freeze_rules *rules, const struct core *core);

/* --- settle.c ------------------------------------------------------------- */

/*
 * How items leave the queue: the caller gets its answer, the floors above are
 * asked, and get an event. What is left to be done for its worker is in the
 * state (item->step), so the next daemon finishes it (settle-worker.c).
 */

/* On the branch as item->commit: emits EVENT_LANDED in the pass of the loop
 * that saves it. */
void settle_landed(struct landings *landings, struct landing_item *item);

/* It will not land. Words for its worker, or NULL; they may be its own. */
void settle_ejected(
    struct landings *landings, struct landing_item *item, const char *words);

/* It could not land for a reason outside of it. Work of auto mode stays in the
 * queue; a person gets the error, and decides again. The item may be gone. */
void settle_refused(struct landings *landings, struct landing_item *item,
    const struct err *err);

/* Taken out of the queue: answer, event. The item is gone. */
void settle_cancelled(
    struct landings *landings, struct landing_item *item, const char *reason);

/* Take it out because its task was dropped: who waits is answered, there is no
 * event. False if it has landed, the branch is moving with it, or its worker is
 * being reset. */
bool settle_withdraw(struct landings *landings, struct landing_item *item);

/* What the worker is told after this tree failed, into item->words. */
void settle_check_words(
    const struct core *core, const char *tree, struct landing_item *item);

/* For settle-worker.c. The worker that still has the item's work; NULL =
 * none. */
struct agent *settle_agent_of(
    const struct landings *landings, const struct landing_item *item);
/* The item is gone after these; after the first nobody hears of it, the last
 * gives it back to a person. */
void settle_forget(struct landings *landings, struct landing_item *item);
void settle_end(struct landings *landings, struct landing_item *item,
    struct agent *agent, enum landing_result result, const struct err *err);
void settle_give_back(struct landings *landings, struct landing_item *item,
    enum landing_result result, const struct err *err);
/* What a caller is told of its item. */
struct json_object *settle_answer(const struct landings *landings,
    const struct landing_item *item, const char *status);
/* Answer the call of an item that has landed. */
void settle_reply(struct landings *landings, const struct landing_item *item);

bool landings_may_move(const struct landings *landings);
bool landings_keeps(const struct landings *landings, const char *task);
bool landings_proposes(const struct landings *landings,
    const struct landing_item *item, const char **ret_wait);

/* Nothing can land, which the first item of the queue is named for; or this one
 * cannot. */
void landings_blocked(
    struct landings *landings, const char *class, const char *reason);
void landings_item_blocked(struct landings *landings,
    const struct landing_item *item, const char *class, const char *reason);

/* The branch of the move that is under way, else the landing branch. */
const char *landings_moving(const struct landings *landings);

/* Remember the call that waits for this item, and take it to answer it (NULL =
 * none). */
void landings_add_call(
    struct landings *landings, const char *item, struct server_call *call);
struct server_call *
landings_take_call(struct landings *landings, const char *item);
/* The daemon stops: the work stays in the queue, only the calls end. */
void landings_release_calls(struct landings *landings);

/* Answer a call (NULL = none) with a failure, naming what did not land and
 * where. head: NULL = unknown. output: NULL = none. */
void landings_fail(struct landings *landings, struct server_call *call,
    const char *worker, const char *head, const struct err *err,
    const char *output);

/* Emit EVENT_LANDING_ENDED, after EVENT_NOT_LANDED for a failure. */
void landings_ended(struct landings *landings, const struct landing_end *end);

/* --- checkout-watch.c ----------------------------------------------------- */

/* Waits until the user's checkout may not be in the way any more. */

#define CHECKOUT_WATCH_SETTLE_MS 200 /* without another change */
#define CHECKOUT_WATCH_SPACE_MS  1000 /* between the starts of two looks */
#define CHECKOUT_WATCH_LOOK_MS   (60 * 1000) /* without a change */

/* Look now. */
typedef void checkout_watch_fn(void *arg);

struct checkout_watch *
checkout_watch_new(struct loop *loop, checkout_watch_fn *fn, void *arg);
void checkout_watch_free(struct checkout_watch *watch);

/* The last look has found the checkout in the way. These files (whole paths,
 * NULL terminated, there or not) tell when it may be clean. What has changed
 * since that look began is not missed. */
void
checkout_watch_wait(struct checkout_watch *watch, const char *const *places);

/* Is it waiting for the next look? */
bool checkout_watch_waits(const struct checkout_watch *watch);

/* A look begins now for another reason: do not wait, but watch on. */
void checkout_watch_looks(struct checkout_watch *watch);

/* Nothing is in the way any more, or nobody waits. */
void checkout_watch_end(struct checkout_watch *watch);

/* --- landed-watch.c ------------------------------------------------------- */

/*
 * Looks after what has landed: at the start, once a day, and when somebody else
 * has moved the branch. Commits that it no longer has are one ask, which ends
 * when they are back; a person who answers it lets them go. The refs that keep
 * them (git-landed.h) are removed after 30 days.
 */

struct landed_watch *landed_watch_new(struct core *core);
void landed_watch_free(struct landed_watch *watch);
void landed_watch_begin(struct landed_watch *watch);
/* Has it been moved, or the ask been answered? */
void landed_watch_patrol(struct landed_watch *watch);
/* By a landing of ours. */
void landed_watch_moved(
    struct landed_watch *watch, const char *from, const char *to);

/* --- upstream.c ----------------------------------------------------------- */

/*
 * The landing branch and origin (repo.upstream). It is looked at before a task
 * begins, before work lands, and once in a while, by one git for all; what
 * others have pushed is followed by the rules of a landing. What lands is
 * pushed first, by compare-and-swap, and the branch moves when origin has taken
 * it: so the branch has nothing that origin refused. An origin that is away
 * holds up nothing; what has landed meanwhile is pushed when it answers. A
 * branch that has diverged is a person's to decide about, and nothing is
 * merged. landing-record.h decides.
 */

struct upstream *upstream_new(struct queue *queue);
void upstream_free(struct upstream *up);
/* Also when the settings have changed. */
void upstream_begin(struct upstream *up);
/* A push that runs has a moment to end. */
void upstream_stop(struct upstream *up);
bool upstream_is_quiet(const struct upstream *up);

/* Is it known what others have pushed, as far as a task or a landing needs it?
 * False: it is looked at; op_start_fresh() and queue_look() follow. */
bool upstream_fresh(struct upstream *up);
bool upstream_may_land(struct upstream *up);

/* Is what lands to be pushed before? And do it; fn is called once, unless the
 * daemon stops. */
typedef void upstream_push_fn(enum push_next next, void *arg);
bool upstream_takes(const struct upstream *up);
void upstream_push(
    struct upstream *up, const char *commit, upstream_push_fn *fn, void *arg);
/* The branch has moved to this commit; the caller saves the state. */
void upstream_landed(struct upstream *up, const char *commit);
/* Origin has taken a commit, and the branch has got another one meanwhile. */
void upstream_split(struct upstream *up);
/* Whatever was moving the branch has ended. */
void upstream_moved(struct upstream *up);

/* Look at origin, however new the last look is. */
void upstream_look(struct upstream *up);

/* Why nothing can land because of it; NULL = it can. */
const char *upstream_reason(const struct upstream *up);
/* Do not wait any longer for the next try. False: none waits. */
bool upstream_retry(struct upstream *up);

/* --- queue-move.c --------------------------------------------------------- */

/*
 * Moves the branch as the journal in the state says (landing-record.h: from,
 * to), and waits where the user's checkout or another git is in the way: once
 * for all items, not for each of them.
 */

struct queue_move *queue_move_new(struct queue *queue);
void queue_move_free(struct queue_move *move);

/* The journal is in the state, and will be saved before anything is done. Also
 * after a restart: the branch may have moved already. */
void queue_move_begin(struct queue_move *move);
bool queue_move_busy(const struct queue_move *move);

/* Must the next one wait? */
bool queue_move_waits(const struct queue_move *move);

/* Why it waits; NULL = it does not. */
const char *queue_move_reason(const struct queue_move *move);

/* Do not wait any longer: something that was in the way may be gone. */
void queue_move_retry(struct queue_move *move);
void queue_move_stop(struct queue_move *move);

/* --- op-enqueue.c --------------------------------------------------------- */

/* Freezes a worker's commit and puts it into the landing queue. */

/* The worker is accepting, and no operation is running on it. If it was
 * accepted without a commit that HEAD must be (worker->accepted_head),
 * leftovers are committed first. */
void op_enqueue(
    struct landings *landings, struct agent *agent, struct server_call *call);

/*
 * Pick, for emergencies: land what a worker has, in any status, without
 * touching its worktree or its status. Everything is saved as a commit first,
 * which then goes through the landing queue like any other work.
 */

/* No operation may be running on the worker. commit: the HEAD that was shown to
 * the person, NULL = any. */
void pick_begin(struct landings *landings, struct agent *agent,
    const char *commit, struct server_call *call);

/* --- settle-worker.c ------------------------------------------------------ */

/* Mark what can be released. items are those of the entries of the facts, from
 * which the plan was made. Returns how many workers could be released, if
 * somebody needed them. */
size_t release_due(struct landings *landings, const struct landing_facts *facts,
    const struct landing_plan *plan, struct landing_item *const *items,
    int64_t now_ms);

/* The item has no worker any more. */
void release_done(struct landings *landings, struct landing_item *item);

/* Finish items that have landed or were ejected, where their worker can be
 * had. */
void settle_due(struct landings *landings);

/* --- queue-view.c --------------------------------------------------------- */

/* review.get; the calls that wait are refused. */
void review_get_register(struct landings *landings);
void review_get_release(struct landings *landings);

/* The landing queue for people: landing.list. */

struct queue_facts {
	struct landing_facts plan;
	struct landing_entry *entries;
	struct landing_item **items; /* of the entries */
	struct landing_run runs[LANDING_SLOTS_MAX];
	struct queue_slot *run_slots[LANDING_SLOTS_MAX];
	char key[CHECK_KEY_SIZE];
	char **trees; /* names of trees that are checked with an overlay */
};

/* Borrows from the queue; valid until something changes there. */
void queue_facts_make(struct queue *queue, struct queue_facts *ret_facts);
void queue_facts_release(struct queue_facts *facts);

/* Take out of the queue what is of no use any more: the branch passes, has
 * another commit, or would fail without the commits too. True = something was,
 * and the plan must be made again. */
bool red_revert_review(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan);

/* --- queue.c -------------------------------------------------------------- */

struct queue *queue_new(struct landings *landings);
void queue_free(struct queue *queue);

/* After the floors below have begun: continue what an earlier daemon left. */
void queue_begin(struct queue *queue);

/* Is a check_command set that has judged nothing yet? */
bool queue_trial_due(const struct queue *queue);

#endif
