/* SPDX-License-Identifier: ISC */

/* A message to a worker about its task, whatever its status. */
#ifndef AGENT_MESSAGE_H
#define AGENT_MESSAGE_H

struct agent;

/* Does its status allow one? It has no task, or is starting or landing, if
 * not. */
bool agent_message_fits(const struct agent *agent);

/* Send it: a worker that waits goes on, finished work is sent back with it.
 * -EINVAL if its status does not allow one. */
int agent_message(struct agent *agent, const char *text);

#endif
