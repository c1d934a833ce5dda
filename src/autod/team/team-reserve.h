/* SPDX-License-Identifier: ISC */

/* Files that agents have reserved for themselves: mail_reserve, mail_release
 * and mail_list_reservations. A reservation ends when its time is over, when it
 * is released, or with the run that made it. */
#ifndef TEAM_RESERVE_H
#define TEAM_RESERVE_H

#include <stddef.h>

struct agent;
struct event;
struct guard_policy;
struct team_floor;
struct team_reserve;

/* Registers its methods. */
struct team_reserve *team_reserve_new(struct team_floor *floor);
void team_reserve_free(struct team_reserve *reserve);
/* The book can be used: read what is open. It cannot be used any more. */
void team_reserve_opened(struct team_floor *floor);
void team_reserve_closed(struct team_reserve *reserve);

/* How many are open. */
size_t team_reserve_count(const struct team_reserve *reserve);

/* Add what others than this agent have reserved. */
void team_reserve_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy);

/* Runs may have ended: end what they had reserved. */
void team_reserve_event(struct team_floor *floor, const struct event *event);
/* The same for what there is; event: that ends some, NULL = none. */
void team_reserve_sweep(struct team_floor *floor, const struct event *event);

#endif
