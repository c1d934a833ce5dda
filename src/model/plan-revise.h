/* SPDX-License-Identifier: ISC */

/*
 * A plan that a person edited as text (plan-print.h): what is different in the
 * text is changed in the goal and its plan; everything else stays, also what
 * the text has no place for. Pure. All or nothing; as in plan-edit.h, it ends
 * with a revision, unless nothing is different.
 *
 * What plan-replan.h keeps is kept here as well, but changing it in the text is
 * an error. Its priority, its recovery and its place among its siblings may be
 * changed.
 */
#ifndef PLAN_REVISE_H
#define PLAN_REVISE_H

#include "plan-assignment.h"
#include "plan-edit.h"

struct err;
struct plan;

/* before: the hash of the plan that was edited; NULL = whatever it is now.
 * -EINVAL with the line of what cannot be read; API_CHANGED if the plan is
 * another one by now; API_E_STARTED for a change of what is kept; API_E_LEVEL
 * for a node that is of another kind; or as plan_edit_add() says. */
int plan_revise(const struct plan_edit *edit, const char *text,
    const char *before, struct err *err);

/* The hash of everything that can be edited. */
#define PLAN_HASH_SIZE 17
void plan_revise_hash(const struct plan *plan, char out[PLAN_HASH_SIZE]);

#endif
