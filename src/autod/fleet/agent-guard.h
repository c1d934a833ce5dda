/* SPDX-License-Identifier: ISC */

/* What a worker's agent may do with its tools, written for its hooks
 * (policy-file.h). */
#ifndef AGENT_GUARD_H
#define AGENT_GUARD_H

struct agent;
struct err;

/* Write its policy, if it has changed. If that fails, there is none any more,
 * and its hooks deny all tools. */
int agent_guard_write(struct agent *agent, struct err *err);

/* The same for a worker that may have no session. A failure is told, once until
 * it is over, and is found again at its next prompt, launch or patrol. */
void agent_guard_refresh(struct agent *agent);

#endif
