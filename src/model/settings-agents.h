/* SPDX-License-Identifier: ISC */

/* The keys of the tables [agents.<name>] of a config file: what an agent that
 * can be asked for is good at, and how it is started. agent-card.h has them as
 * values. */
#ifndef SETTINGS_AGENTS_H
#define SETTINGS_AGENTS_H

#include <stddef.h>

#include "settings-table.h"

/* What the paths of the rows begin with; not a name that a file can have. */
#define SETTINGS_AGENT "agents.NAME."

extern const struct setting settings_agent_keys[];
extern const size_t settings_agent_key_count;

#endif
