/* SPDX-License-Identifier: ISC */

/*
 * One piece of work in the landing queue: a commit that was
 * frozen when it was accepted, and everything its landed commit is made of. All
 * strings are owned, NULL = not set; times are wall clock milliseconds.
 */
#ifndef LANDING_ITEM_H
#define LANDING_ITEM_H

#include "priority.h"

struct json_object;
struct schema;

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
	ITEM_STEP_COUNT
};

/* For reading records (word.h), NULL terminated. */
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
	char *words; /* EJECTED: the message for its worker; of a pick, the ref
		      * that keeps it */
	char *picked_head; /* of a pick: the worker's HEAD, */
	int uncommitted; /* and how many files were not committed */
	int64_t queued_ms;
};

extern const struct schema landing_item_schema;

struct landing_item *landing_item_new(const char *id);

#endif
