/* SPDX-License-Identifier: ISC */

/* Files that agents have reserved for themselves: mail_reserve, mail_release
 * and mail_list_reservations. A reservation ends when its time is over, when it
 * is released, or with the run that made it. */
#ifndef TEAM_RESERVE_H
#define TEAM_RESERVE_H

struct agent;
struct event;
struct guard_policy;
struct team_floor;

/* Registers its methods. */
void team_reserve_register(struct team_floor *floor);

/* Add what others than this agent have reserved. */
void team_reserve_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy);

/* Runs may have ended: end what they had reserved. */
void team_reserve_event(struct team_floor *floor, const struct event *event);
/* The same for what there is; event: that ends some, NULL = none. */
void team_reserve_sweep(struct team_floor *floor, const struct event *event);

#endif
