/* SPDX-License-Identifier: ISC */

/*
 * Changes of the status and the priority of nodes by somebody who is not at
 * work on them; plan-edit-tree.h changes the tree. Pure.
 *
 * Each change is all or nothing. If it succeeds, the changed nodes are in
 * edit->changes, everything is rolled up, the plan has one version more, and
 * the last of the goal's revisions says what was changed, by whom and why. The
 * assignments of the nodes are the caller's to end.
 *
 * Refused with the E_ codes of api.h: API_E_UNKNOWN for an id, API_E_CLOSED if
 * the goal is cancelled or archived, and as each function says.
 */
#ifndef PLAN_EDIT_H
#define PLAN_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "priority.h"

struct err;
struct plan;
struct plan_changes;
struct plan_evidence;
struct plan_node;

struct plan_edit {
	struct plan *plan;
	const char *actor; /* who: "person", a worker, "planner" */
	const char *why; /* NULL = not said */
	int64_t now_ms;
	struct plan_changes *changes;
};

/* PRIORITY_COUNT: that of its parent again. */
int plan_edit_priority(const struct plan_edit *edit, const char *id,
    enum priority priority, struct err *err);

/* Done, with the evidence (NULL = none). What the rules refuse (no evidence, a
 * status that done does not follow, a node with open children) is done as an
 * override if edit->why says why. API_E_EVIDENCE, API_E_TRANSITION,
 * API_E_CHILDREN, or API_E_CLOSED. */
int plan_edit_done(const struct plan_edit *edit, const char *id,
    const struct plan_evidence *evidence, struct err *err);

/* Blocked, because of edit->why; API_E_REASON without it. A node with children
 * is overridden: nothing below it is ready until it is unblocked. */
int
plan_edit_block(const struct plan_edit *edit, const char *id, struct err *err);
int plan_edit_unblock(
    const struct plan_edit *edit, const char *id, struct err *err);

/* Cancel a node and all below it that is open. API_E_CLOSED if nothing is. */
int
plan_edit_cancel(const struct plan_edit *edit, const char *id, struct err *err);

/* What was done is not (its commit was reverted): queued again, and all above
 * it open. */
int
plan_edit_reopen(const struct plan_edit *edit, const char *id, struct err *err);

/* For plan-edit-tree and plan-replan: the goal must be open to changes; the end
 * of every change. */
int plan_edit_begin(const struct plan_edit *edit, struct err *err);
void plan_edit_end(const struct plan_edit *edit, const char *what);

#endif
