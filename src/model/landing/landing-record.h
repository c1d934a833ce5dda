/* SPDX-License-Identifier: ISC */

/*
 * The landing queue: its items, the results of checks, and
 * the journal of a move of the branch. What is built and checked from it is
 * computed again after a restart (landing-plan.h).
 */
#ifndef LANDING_RECORD_H
#define LANDING_RECORD_H

#include "check-book.h"
#include "overtaken.h"
#include "work-record.h"

struct buf;
struct err;
struct json_object;
struct schema;
struct settings;
struct task;

/* --- an item --------------------------------------------------------- */

/*
 * One piece of work in the landing queue: a commit that was
 * frozen when it was accepted, and everything its landed commit is made of. All
 * strings are owned, NULL = not set; times are wall clock milliseconds.
 */

enum item_kind {
	ITEM_WORK, /* accepted, by a person or by auto mode */
	ITEM_PICK, /* a copy of what a worker has; it carries on */
	ITEM_REVERT, /* takes a landed commit back */
	ITEM_SHARED, /* work that a host has submitted, and this one lands */
	ITEM_KIND_COUNT
};

enum item_step {
	ITEM_QUEUED, /* waits, is checked, or is being landed */
	ITEM_LANDED, /* on the branch; its worker is still to be cleaned */
	ITEM_PROPOSED, /* as a pull request; the same */
	ITEM_EJECTED, /* will not land; its worker has not learned that yet */
	ITEM_SUBMITTED, /* to the hosts' queue: one of them lands it for all */
	ITEM_HELD, /* only a person may let it land: words say why; its worker
		    * is, or will be, free for another task */
	ITEM_STEP_COUNT
};

/* For reading records (json.h), NULL terminated. */
extern const char *const item_kind_words[ITEM_KIND_COUNT + 1];

struct landing_item {
	char *id; /* "q17"; refs/llmc/queue/q17 holds its head */
	enum item_kind kind;
	enum item_step step;
	enum priority priority;
	uint64_t seq; /* its place among those of the same priority */
	char *worker; /* whose worktree has it; NULL = that worker was freed */
	char *task; /* NULL = by hand */
	char *attempt; /* SHARED, SUBMITTED: "FENCE/HOST/BOOT" of the host that
			* did it, as its commit says */
	char *title; /* for people */
	char *head; /* the frozen commit; of a revert, the commit to undo */
	char *base; /* the commit of the branch where the work started; of a
		     * revert, what to go back to, NULL = its parent */
	int undoes; /* of a revert with a base: so many of red_run */
	char *why; /* of a revert: what failed; NULL = a person wants it */
	char *head_tree, *base_tree; /* ids */
	char *message; /* of the landed commit */
	char *author_name, *author_email;
	char *author_date, *committer_date; /* as git writes them */
	bool freeing; /* its worker is being reset for another task */
	bool approved; /* by a person: protected paths may change */
	bool guarded; /* it changes protected paths */
	int64_t tests; /* that ran in its worker's check; 0 = not known */
	bool conflict; /* ejected: with the branch; otherwise by a check */
	bool incorporated; /* landing it changes nothing: the branch has it */
	char *commit; /* LANDED, PROPOSED: as that; EJECTED: its candidate;
		       * QUEUED: the branch is moving to it (journal) */
	char *tree; /* of `commit`, QUEUED only */
	int place; /* with `commit`: among the items of that move, from 1 */
	bool overtaken; /* with `commit`: it was not checked as it lands */
	char *words; /* EJECTED: the message for its worker; HELD: why; of a
		      * pick, the ref that keeps it */
	char *picked_head; /* of a pick: the worker's HEAD, */
	int uncommitted; /* and how many files were not committed */
	bool overlaps; /* not saved: with files that the user's checkout has
			* changed; it waits for those */
	int64_t queued_ms;
};

extern const struct schema landing_item_schema;

struct landing_item *landing_item_new(const char *id);

/* --- origin ---------------------------------------------------------- */

/* What is known of origin (repo.upstream), and what it has to be given. Pure:
 * the time is an argument. */

enum upstream_mode {
	UPSTREAM_OFF,
	UPSTREAM_FOLLOW, /* the branch follows origin */
	UPSTREAM_PUSH, /* and what lands is pushed */
};
enum upstream_mode upstream_mode_of(const struct settings *settings);

/* Does work become pull requests (auto.land)? Then the branch follows origin,
 * whatever repo.upstream says, and nothing else moves it. */
bool lands_by_pull(const struct settings *settings);

/* All zero: nothing is known, and nothing was pushed. */
struct push_record {
	char *
	    unpushed; /* landed commit that the remote does not have, or NULL */
	char *pushed; /* the last one that it got, or NULL */
	int tries; /* that failed since then */
	char *reason; /* of the last one */
	int64_t next_ms; /* when to try again, wall clock; 0 = at once */
	int64_t away_ms; /* since when it does not answer; 0 = it does */
	int rejected; /* pushes in a row for which it had moved */
	bool held; /* it does not take what would land, which waits; with
		    * away_ms: it has not said whether it has taken it */
	char *ours, *theirs; /* commits of branch and origin that have diverged;
			      * NULL = they have not */
	/* What has landed here is put on top of what origin has: the branch
	 * moves to this tip. "ID FROM TO" of each commit (git-replay.h); NULL =
	 * it does not. */
	char **replayed;
	char *replayed_tip, *replayed_tree;
	char *blocked; /* by a checkout, or commits that were not pushed: why;
			* NULL = it is not */
	int64_t blocked_ms; /* since then, wall clock */
	/* Not saved: */
	int64_t looked_ms; /* at it, by this daemon */
	int64_t pushing_ms; /* since when a push runs; 0 = none does */
	char *pushing; /* what is pushed */
};

/* The branch was pushed for this commit, as it was then; a later one may have
 * landed meanwhile. */
void push_record_done(
    struct push_record *push, const char *commit, const char *pushed);
/* A try failed: sets when the next one is. */
void push_record_failed(
    struct push_record *push, const char *reason, int64_t now_ms);
/* It answers. */
void push_record_reached(struct push_record *push);
/* How long to wait for the next try; -1 = there is nothing to push. */
int64_t push_record_wait_ms(const struct push_record *push, int64_t now_ms);

/* When to look at origin. */
enum look_why {
	LOOK_REGULAR, /* every repo.fetch_every */
	LOOK_TASK, /* a task is about to begin */
	LOOK_LANDING, /* work is about to land */
};
#define LOOK_LANDING_MS (3 * 1000) /* a look is as good as new for one */

/* How long to wait before it is looked at; -1 = that need not be for this. */
int64_t push_record_look_ms(const struct push_record *push, enum look_why why,
    int64_t every_ms, int64_t now_ms);

/* What a remote said to a push (git-upstream.h), and what follows. The branch
 * itself moves after the push: what origin does not take does not land. */
enum push_answer {
	PUSH_OK,
	PUSH_REJECTED, /* the ref is not where it was expected any more */
	PUSH_AWAY, /* no answer, or nobody whom it lets in; it may have been
		    * done all the same */
	PUSH_REFUSED, /* a hook or a rule does not want it */
	PUSH_UNKNOWN, /* forward only: it began, and it is not known how it
		       * ended, or may still end */
	PUSH_ANSWER_COUNT
};
enum push_next {
	PUSH_THEN_LAND,
	PUSH_THEN_LATER, /* land it, push it when origin answers */
	PUSH_THEN_REBUILD, /* on what origin has now */
	PUSH_THEN_HOLD, /* a person is asked, it is tried again later */
};
#define PUSH_REJECTED_MAX 5

enum push_next push_record_answer(struct push_record *push,
    enum push_answer answer, const char *words, int64_t now_ms);

bool push_record_has_failed(const struct push_record *push);
extern const struct schema push_record_schema;
/* What a person has to decide about origin, and what to type; NULL = nothing.
 * The caller frees it. */
char *push_record_asks(const struct push_record *push, enum upstream_mode mode,
    const char *branch);
#define FOLLOW_PATIENCE_MS (15 * 60 * 1000)
/* A checkout has been in the way of what origin has for so long that a person
 * is asked: why; NULL = it has not. */
const char *push_record_blocks(
    const struct push_record *push, enum upstream_mode mode, int64_t now_ms);
/* Nothing is pushed any more: what origin does not take holds up nothing.
 * False: it did not. */
bool push_record_let_go(struct push_record *push);
/* For people; NULL = nothing has landed yet, and origin answers. */
struct json_object *push_record_json(const struct push_record *push);

/*
 * The tasks' commits that the landing branch ends with, and which of them are
 * taken back when the branch fails its own check (auto.on_red = "revert"). A
 * person's commit never is: it ends the run. Pure.
 */

#define RED_RUN_MAX 64 /* commits that are remembered */

/* Strings are owned. */
struct red_commit {
	char *commit, *tree;
	char *parent, *parent_tree;
	char *task; /* that landed it */
};

/* All zero is an empty run. */
struct red_run {
	struct red_commit list[RED_RUN_MAX]; /* oldest first */
	size_t count;
};

void red_run_release(struct red_run *run);

/* The branch has this commit now, which is copied. One without a task (a
 * person's, or one that takes others back), or on top of another commit than
 * the last one, ends what was remembered. */
void red_run_add(struct red_run *run, const struct red_commit *commit);

/* How many of the newest commits are to be taken back if the branch is red at
 * `tip`: so that it is again as the last commit whose tree passed the command,
 * else as the one before the run. 0 = none may be. */
size_t red_run_length(const struct red_run *run, const char *tip,
    const struct check_book *book, const char *command);

extern const struct schema red_commit_schema;

struct landing_record {
	struct landing_item **items; /* owned, in the order of their ids */
	size_t count;
	uint64_t ids; /* items numbered so far */
	int window; /* how many are looked at together, 0 = not set */
	/* The journal: the branch moves from one commit to the other, with the
	 * items that have a commit. NULL = it does not move. */
	char *branch, *from, *to;
	char *from_tree;
	char *red_told; /* base tree that was reported as failing */
	struct red_run own; /* tasks' commits that the branch ends with */
	/* Commits that have landed and are not on the branch any more: those
	 * that a person is asked about, and those that may stay away. */
	char **lost, **let_go;
	char *watched; /* the branch, which is the landing branch since then; */
	int64_t watched_ms; /* 0 = the first one */
	struct overtaken_record overtaken;
	struct push_record push;
	struct check_book checks;
};

/* All zero is an empty record. */
extern const struct schema landing_record_schema;

/* What a person is told of checks that are overtaken; NULL = nothing. The
 * caller frees it. */
char *landing_record_overtaken(const struct landing_record *record,
    const struct settings *settings, const char *branch);

/* A new item with the next id, not yet in the queue; and then into it. */
struct landing_item *landing_record_new_item(struct landing_record *record);
void
landing_record_append(struct landing_record *record, struct landing_item *item);
void
landing_record_remove(struct landing_record *record, struct landing_item *item);
/* NULL = none. */
struct landing_item *
landing_record_find(const struct landing_record *record, const char *id);
/* The item whose work is in that worker's worktree. NULL = none. */
struct landing_item *
landing_record_of(const struct landing_record *record, const char *worker);

/* The item that has the work of this task. NULL = none. */
struct landing_item *
landing_record_of_task(const struct landing_record *record, const char *task);

/* The same, if it waits for a person. */
struct landing_item *
landing_record_held(const struct landing_record *record, const char *task);

/* The tasks that landed in one move of the branch, and whose
 * post_accept_command has not been settled yet. */

/* In the order of their commits, oldest first. */
struct landed_tasks {
	struct task **tasks; /* not owned; the array is */
	size_t count;
};

#define cleanup_landed_tasks __attribute__((cleanup(landed_tasks_release)))

/* Find them among all tasks. The list may be empty. */
void landed_tasks_find(struct task *const *tasks, size_t count,
    const char *move, struct landed_tasks *ret_list);
void landed_tasks_release(struct landed_tasks *list);

/* NULL if the list is empty. */
struct task *landed_tasks_last(const struct landed_tasks *list);
/* The newest one whose commit is still on the branch: one that was taken back
 * has none. NULL = all were. */
struct task *landed_tasks_next_revert(const struct landed_tasks *list);

/* Append their ids, "t1 t3". */
void landed_tasks_add_ids(
    const struct landed_tasks *list, const char *between, struct buf *out);

#endif
