/* SPDX-License-Identifier: ISC */

/* What a plan says about the task on one of its nodes. */
#ifndef PLAN_KNOWN_H
#define PLAN_KNOWN_H

struct auto_known;
struct plan_set;
struct task;

/* Fill in what is known; the strings are valid until the plan changes. A node
 * is done when its work is on the branch: before that only its parts tell how
 * far it is. */
void plan_known(const struct plan_set *set, const struct task *task,
    struct auto_known *known);

#endif
