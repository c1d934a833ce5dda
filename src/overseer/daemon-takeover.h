/* SPDX-License-Identifier: ISC */

/* A daemon that runs already, and what an earlier overseer left. */
#ifndef DAEMON_TAKEOVER_H
#define DAEMON_TAKEOVER_H

struct err;
struct overseer;

/* Start the daemon, or take over what an earlier overseer left. Negative errno:
 * refused, with the reason. */
int daemon_takeover_begin(struct overseer *o, struct err *err);
/* Start it, or take over who holds its lock, now or a little later; a refusal
 * ends us. */
void daemon_takeover_or_end(struct overseer *o);

#endif
