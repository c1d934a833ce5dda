/* SPDX-License-Identifier: ISC */

/*
 * Which setting a path means: by its name, by another one, or by none; and what
 * to say of a path that means none. Pure.
 */
#ifndef SETTINGS_NAME_H
#define SETTINGS_NAME_H

#include "settings-table.h"

struct buf;
struct json_object;

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

/* The path of the row of "workers.adam.model": "defaults.model", owned by the
 * caller. *ret_part: the length of "workers.adam."; 0 = the path is its own. */
char *settings_general_path(const char *path, size_t *ret_part);

/* The row for a path ("workers.adam.model" finds "defaults.model",
 * "agents.coder.model" finds "agents.NAME.model"), or NULL.
 * *ret_worker (may be NULL) is true for a key in a worker's section. */
const struct setting *settings_find(const char *path, bool *ret_worker);

/* --- other names ------------------------------------------------------ */

/* Another name of a setting. */
struct settings_alias {
	const char *name; /* "overseer.stall_timeout_secs" */
	const char *path; /* of the setting */
	const char *yes, *no; /* what true and false mean; NULL: its value is a
			       * whole number, of seconds */
	bool same; /* the same value under another spelling */
};

/* NULL if path is no other name. *ret_path, owned by the caller: the setting
 * that it means, of the same worker for "workers.adam.skip_permissions", of the
 * same agent for "agents.coder.costTier". */
const struct settings_alias *
settings_alias_find(const char *path, char **ret_path);

/* The setting's value for a value under that name, owned by the caller; NULL if
 * it has the wrong type. */
struct json_object *settings_alias_value(
    const struct settings_alias *alias, struct json_object *json);

/* Is path the name of a table that contains other names, such as
 * "overseer.policy"? */
bool settings_alias_section(const char *path);

/* Append why settings_find() does not know a path: "tmux.comand: no such
 * setting; did you mean \"tmux.command\"?", or what is wrong with the name of a
 * worker or an agent in it. */
void settings_describe_unknown(const char *path, struct buf *out);

#endif
