/* SPDX-License-Identifier: ISC */

/* What a worker's session tells, and what that makes of the worker. */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include "session.h"

extern const struct session_events agent_session_events; /* of an agent */

#endif
