/* SPDX-License-Identifier: ISC */

/*
 * A turn that ended with an error: a usage limit or an outage is waited for,
 * the rest is for the policy or for a person.
 */
#ifndef TURN_FAILURE_H
#define TURN_FAILURE_H

struct agent;

/* error: Claude Code's word for it; text: what the agent said. */
void turn_failure(struct agent *agent, const char *error, const char *text);

/* A limit is over: the worker goes on from where it was. */
void turn_failure_over(struct agent *agent);

#endif
