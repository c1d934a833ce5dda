/* SPDX-License-Identifier: ISC */

/* The names of settings: which row of the tables a path means, and what to say
 * of a path that means none. Declares what only settings.c needs; the rest is
 * in settings.h. Pure. */
#ifndef SETTINGS_NAMES_H
#define SETTINGS_NAMES_H

#include "settings-table.h"

/* Tables whose keys are not known in advance. */
#define SETTINGS_PRICES   "prices"
#define SETTINGS_CHANNELS "people.channels"

/* Tables that have a table with the same keys for every name. */
enum settings_named {
	SETTINGS_NAMED_WORKERS,
	SETTINGS_NAMED_AGENTS,
	SETTINGS_NAMED_COUNT
};

/* Is path one of them ("workers")? Its index, else -1. */
int settings_named_table(const char *path);

/* What to do instead of setting a key that does nothing any more; NULL if path
 * is none. */
const char *settings_gone(const char *path);
/* Is it one of those, or another name of a setting? *ret_path, owned by the
 * caller: that setting, NULL for none. */
bool settings_find_alias(const char *path, char **ret_path);

/* The keys of the tables [agents.<name>] of a config file: what an agent that
 * can be asked for is good at, and how it is started. agent-card.h has them as
 * values. */

/* The kinds of agents (agent-kind.h), NULL terminated; and "" before them. */
extern const char *const agent_kind_or_none[];
#define agent_kind_words (agent_kind_or_none + 1)

/* What the paths of the rows begin with; not a name that a file can have. */
#define SETTINGS_AGENT "agents.NAME."

extern const struct setting settings_agent_keys[];
extern const size_t settings_agent_key_count;

/* The path of the row of "workers.adam.model": "defaults.model", owned by the
 * caller. *ret_part: the length of "workers.adam."; 0 = the path is its own. */
char *settings_general_path(const char *path, size_t *ret_part);

#endif
