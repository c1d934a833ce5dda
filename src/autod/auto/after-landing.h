/* SPDX-License-Identifier: ISC */

/* Finished work on its way onto the default branch: when its landing has to
 * wait for the user's checkout or for another git, and what follows it. */
#ifndef AFTER_LANDING_H
#define AFTER_LANDING_H

struct agent;
struct auto_mode;
struct landing_end;

/* The worker has finished: land its work, now or when the wait is over. */
void after_landing_begin(struct auto_mode *mode, struct agent *agent);
/* Begin the landings that wait. */
void after_landing_resume(struct auto_mode *mode);
/* The work is on the default branch; called in the pass that writes so.
 * commit: NULL = nothing was left to land. */
void after_landing_published(
    struct auto_mode *mode, struct agent *agent, const char *commit);
void after_landing_ended(struct auto_mode *mode, const struct landing_end *end);

#endif
