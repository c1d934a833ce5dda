/* SPDX-License-Identifier: ISC */

/* The events of a worker's session, and how they change the worker. */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include "session.h"

struct agent;

extern const struct session_events agent_session_events; /* arg is an agent */

/* Its session is gone, but its process lives and cannot be reached: that is a
 * crash, too. The process is ended. */
void agent_session_gone(struct agent *agent);

#endif
