/* SPDX-License-Identifier: ISC */

/*
 * One change of a plan, by a person unless edit.actor is set to another one: an
 * edit (plan-edit.h) between begin and end. All of it is committed together:
 * the changed records, the revision (plan.created or plan.updated), and every
 * status that is another one than before. PLAN_OPEN only.
 */
#ifndef PLAN_CHANGE_H
#define PLAN_CHANGE_H

#include "plan-edit.h"
#include "plan.h"
#include "strmap.h"

struct plan_floor;

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
/* It has been made: queue what is ready now, store it, and tell. */
void plan_change_end(struct plan_change *change);
/* It was refused, and changed nothing. */
void plan_change_drop(struct plan_change *change);

#endif
