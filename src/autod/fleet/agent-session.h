/* SPDX-License-Identifier: ISC */

/* The events of a worker's session, and how they change the worker. */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include "session.h"

extern const struct session_events agent_session_events; /* arg is an agent */

#endif
