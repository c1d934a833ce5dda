/* SPDX-License-Identifier: ISC */

/*
 * A turn that ended with an error: usage limits and outages are waited for;
 * other errors are left to the policy or to a person.
 */
#ifndef TURN_FAILURE_H
#define TURN_FAILURE_H

struct agent;

/* error: the error word from Claude Code; text: the agent's message. */
void turn_failure(struct agent *agent, const char *error, const char *text);

/* The limit is over: the worker continues where it was. */
void turn_failure_over(struct agent *agent);

#endif
