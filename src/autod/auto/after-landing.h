/* SPDX-License-Identifier: ISC */

/* Landing of finished work: when it has to wait for the user's checkout or for
 * another git process, and what happens afterwards. */
#ifndef AFTER_LANDING_H
#define AFTER_LANDING_H

struct agent;
struct auto_mode;
struct landing_end;

/* The worker has finished: land its work, now or when the wait is over. */
void after_landing_begin(struct auto_mode *mode, struct agent *agent);
/* Begin the landings that waited. */
void after_landing_resume(struct auto_mode *mode);
/* The work is on the default branch; called in the same pass of the loop that
 * saves this. commit: NULL = there was nothing to land. */
void after_landing_published(
    struct auto_mode *mode, struct agent *agent, const char *commit);
void after_landing_ended(struct auto_mode *mode, const struct landing_end *end);

#endif
