/* SPDX-License-Identifier: ISC */

/* Mail to the agents of a goal whose plan somebody else has changed. */
#ifndef PLAN_MAIL_H
#define PLAN_MAIL_H

struct event;
struct team_floor;

/* plan.updated: every agent of the goal that has not ended is told, but for the
 * one that made the change (also the one in floor->asking). What it was not
 * given yet of an earlier version is left out. When a plan is created, there
 * are no agents yet. */
void plan_mail_event(struct team_floor *floor, const struct event *event);

#endif
