/* SPDX-License-Identifier: ISC */

/*
 * Changes of the status and the priority of nodes from outside the work on
 * them; plan-edit.h changes the tree. Pure.
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

#include "work-record.h"

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

/* For plan-revise.c, too: the goal must be open to changes; the end of every
 * change. */
int plan_edit_begin(const struct plan_edit *edit, struct err *err);
void plan_edit_end(const struct plan_edit *edit, const char *what);

#define PLAN_LAST ((size_t)-1) /* a place: behind the others */

/* A node to be made. */
struct plan_spec {
	const char *id; /* NULL = the next free one, as in "T1.3" */
	const char *name;
	const char *objective; /* NULL = none; the same for the others */
	const char *outcome;
	const char *const *acceptance; /* NULL terminated */
	const char *const *depends_on; /* ids, also of nodes that are made
					* together with it */
	const enum priority *priority; /* NULL = that of its parent */
};

/* Add one below a parent (NULL: a phase). API_E_EXISTS, API_E_LIMIT,
 * API_E_CYCLE; API_E_LEVEL below a subtask; API_E_STARTED or API_E_ASSIGNED if
 * the parent is at work itself; API_E_CLOSED if it has ended. */
int
plan_edit_add(const struct plan_edit *edit, const char *parent_id, size_t place,
    const struct plan_spec *spec, struct plan_node **ret_node, struct err *err);

/* Add nodes that the worker on a node has asked for, in one revision: last
 * below a parent (NULL: phases), which is that of the node. from_id: the node,
 * NULL = it is in another goal. ret_nodes has room for all of them. As
 * plan_edit_add(). */
int plan_edit_spawn(const struct plan_edit *edit, const char *parent_id,
    const char *from_id, const struct plan_spec *specs, size_t count,
    struct plan_node **ret_nodes, struct err *err);

/* Split a node without children and without a worker. A phase or a task gets
 * the parts as children. A subtask is cancelled, and the parts come behind it:
 * they wait for what it waited for, and what waited for it waits for all of
 * them. */
int plan_edit_split(const struct plan_edit *edit, const char *id,
    const struct plan_spec *parts, size_t count, struct err *err);

/* Merge siblings without children that have not started into the first one:
 * criteria and dependencies of all; the others are cancelled. ids is NULL
 * terminated; at least two. name: the new one, NULL = that of the first. */
int plan_edit_merge(const struct plan_edit *edit, const char *const *ids,
    const char *name, struct err *err);

/* Move a node with all below it to another parent of the same kind, or another
 * place. parent_id NULL: a phase. */
int plan_edit_move(const struct plan_edit *edit, const char *id,
    const char *parent_id, size_t place, struct err *err);

/* For plan-revise: may it have one more child (NULL = the goal)? API_E_LEVEL,
 * API_E_CLOSED, API_E_ASSIGNED or API_E_STARTED. */
int plan_edit_check_parent(const struct plan_node *parent, struct err *err);

/* A parent that lost its last child has a status of its own again: what was
 * rolled up meant the children. Others are left as they are. */
void
plan_edit_left_alone(const struct plan_edit *edit, struct plan_node *parent);

#endif
