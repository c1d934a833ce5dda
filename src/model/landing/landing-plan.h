/* SPDX-License-Identifier: ISC */

/*
 * The landing queue: what to build, check, land or send back next.
 *
 * The rule behind it: the branch only moves to a commit whose tree passed the
 * check command. The entries of the queue are put in order and built on top of
 * each other, beginning on the base (the tip of the branch): that is the chain.
 * A check of one link covers all links up to it. If it passes, they land
 * together; if it fails, links below it are checked until one entry remains to
 * blame, which is checked again before it is sent back.
 *
 * landing_plan_make() is pure and is called after every event with everything
 * that is known. It answers actions. What was begun must be in the facts of the
 * next call (a build, a run, a landing under way): then no action is given
 * twice, neither in one life of the caller nor after a restart. The chain is
 * not kept; results are found by tree (check-book.h).
 *
 * Strings are borrowed: those of the facts from the caller, those of a plan
 * from its facts. Commits are names of git objects, trees are names in the
 * check book.
 */
#ifndef LANDING_PLAN_H
#define LANDING_PLAN_H

#include "work-record.h"

struct check_book;

#define LANDING_WINDOW_MAX 32 /* links in a chain */
#define LANDING_SLOTS_MAX  32 /* checks at a time */

enum landing_mode {
	LANDING_TIP, /* each move of the branch ends at a tree that passed */
	LANDING_EACH, /* the tree of each single commit passed */
	LANDING_MODE_COUNT
};

extern const char *const landing_mode_words[LANDING_MODE_COUNT + 1];

/* What is known of an entry, merged onto `parent`. */
enum landing_build {
	LANDING_UNBUILT,
	LANDING_BUILDING,
	LANDING_BUILT, /* as `commit` with `tree` */
	LANDING_CONFLICT,
	LANDING_SAME, /* its tree would be the parent's */
	LANDING_BUILD_COUNT
};

struct landing_entry {
	const char *task;
	enum priority priority;
	uint64_t seq; /* unique; older entries have lower ones */
	bool held; /* waits for a person or cannot be built: left out */
	bool landing; /* part of the landing under way: left out */
	enum landing_build build;
	const char *parent; /* the commit that all of this is about */
	const char *commit; /* if built */
	const char *tree; /* and how its check is found in the book */
	const char *stands; /* another tree that, once it has passed, counts for
			     * this one (overtaken.h); NULL = none */
};

/* A check that is running. */
struct landing_run {
	const char *tree;
	const char *const *tasks; /* landing_plan_tasks() when it began */
	int64_t started_ms;
	bool cancelled; /* it was asked to stop and still holds its slot */
};

struct landing_facts {
	/* The tip of the branch. During a landing, what it moves to. */
	const char *base_commit, *base_tree;
	bool moving; /* a landing is under way */
	bool hold; /* the branch cannot be moved now: dirty checkout, lock */
	const struct landing_entry *entries; /* in any order */
	size_t entry_count;
	const struct landing_run *runs;
	size_t run_count;
	const struct check_book *book;
	const char *command; /* hash of the check command, NULL = none is set */
	enum landing_mode mode;
	int window; /* links that a chain may have; 0 = the first time */
	int slots; /* checks at a time; 0 = start none now */
	const char *red_told; /* base tree that was reported as red, or NULL */
	bool trial; /* somebody waits for the first verdict of the command: if
		     * nothing else is checked, the base is */
	bool unproven; /* the base has landed on a result that was overtaken:
			* the same */
};

enum landing_act {
	LANDING_DO_BUILD, /* `entry` on top of `commit` with `tree` */
	LANDING_DO_CHECK, /* `commit` with `tree`: links[0..upto) are covered */
	LANDING_DO_CONTROL, /* the same for the base itself */
	LANDING_DO_CANCEL, /* `run` */
	LANDING_DO_LAND, /* move the branch to `commit`: links[0..upto) */
	LANDING_DO_EJECT_CONFLICT, /* send `entry` back: conflict with base */
	LANDING_DO_EJECT_FAILED, /* send it back: `tree`, the base and this
				  * entry alone, failed */
	LANDING_DO_DONE, /* `entry` is in the base already */
	LANDING_DO_RED, /* tell a person: the base itself, `tree`, fails */
	LANDING_ACT_COUNT
};

struct landing_action {
	enum landing_act act;
	size_t entry; /* index into the facts */
	size_t run; /* the same */
	const char *commit, *tree;
	size_t upto;
	bool overtaken; /* LAND: it was not checked as it lands */
};

/* A part of the chain. A `same` entry adds nothing to the link before it and
 * shares its commit: it counts as landed together with that. */
struct landing_link {
	size_t entry;
	const char *commit, *tree;
	bool same;
};

/* Where an entry is in relation to the chain. */
enum landing_place {
	LANDING_BEHIND, /* not reached yet: window, or a build before it */
	LANDING_IN_CHAIN,
	LANDING_OUT_HELD,
	LANDING_OUT_MOVING, /* in the landing under way */
	LANDING_OUT_DEFERRED, /* conflicts with an entry before it */
	LANDING_OUT_CONFLICT, /* conflicts with the base */
	LANDING_OUT_DONE, /* nothing to add to the base */
	LANDING_OUT_RED, /* failed alone on a base that fails itself */
	LANDING_PLACE_COUNT
};

struct landing_plan {
	struct landing_action *actions; /* to be done in this order */
	size_t action_count;
	struct landing_link *links; /* the chain, as far as it is built */
	size_t link_count;
	size_t *order; /* the entries in order, all of them */
	enum landing_place *places; /* of each entry */
	bool built; /* the chain is, as far as it goes */
	size_t green; /* links from the front that may land */
	bool red; /* the base fails */
	bool suspect; /* the first link after them failed */
	int64_t wake_ms; /* call again then, 0 = only after an event */
};

/* Fill *ret_plan, which the caller releases. */
void landing_plan_make(const struct landing_facts *facts, int64_t now_ms,
    struct landing_plan *ret_plan);
void landing_plan_release(struct landing_plan *plan);

/* The tasks whose order must not change while a CHECK of this plan is running:
 * those it covers, and those between them that are left out. ret_tasks has room
 * for one more than there are entries, and ends with NULL. */
void landing_plan_tasks(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action,
    const char **ret_tasks);

/* The window after a landing of this many tasks: it grows by their number.
 * After a failed entry was sent back it loses a quarter. */
int landing_plan_window_landed(int window, size_t tasks);
int landing_plan_window_ejected(int window);

#endif
