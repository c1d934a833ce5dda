/* SPDX-License-Identifier: ISC */

/*
 * Hosts that a box asked for and did not get, told to the daemon through the
 * worker's socket so that a person hears of them: each host and port once an
 * hour, and not more than a few a minute.
 */
#ifndef REFUSALS_H
#define REFUSALS_H

struct proxy_target;
struct refusals;

#define REFUSALS_AGAIN_MS  (60 * 60 * 1000)
#define REFUSALS_KEPT      64 /* hosts that are remembered */
#define REFUSALS_MINUTE_MS (60 * 1000)
#define REFUSALS_A_MINUTE  6
#define REFUSALS_METHOD    "sandbox.refused"

/* socket is "" if nobody is to be told. */
struct refusals *refusals_new(const char *worker, const char *socket);

/* May wait for a moment for a daemon that is busy; one that is not there is not
 * told. */
void refusals_add(struct refusals *refusals, const struct proxy_target *target);

#endif
