/* SPDX-License-Identifier: ISC */

/* Other names of settings, that a config file may use: times in plain seconds,
 * switches that have become words, other spellings; and names that are gone. */
#ifndef SETTINGS_ALIAS_H
#define SETTINGS_ALIAS_H

#include <stdbool.h>

struct json_object;

struct settings_alias {
	const char *name; /* "overseer.stall_timeout_secs" */
	const char *path; /* of the setting */
	const char *yes, *no; /* what true and false mean; NULL: its value is a
			       * whole number, of seconds */
	bool same; /* the same value under another spelling */
	const char *gone; /* nothing reads it any more: what to do instead */
};

/* NULL if path is no other name. *ret_path, owned by the caller: the setting
 * that it means, of the same worker for "workers.adam.skip_permissions", of the
 * same agent for "agents.coder.costTier"; NULL for one that is gone. */
const struct settings_alias *
settings_alias_find(const char *path, char **ret_path);

/* Is path the name of a table that contains other names, such as
 * "overseer.backoff"? */
bool settings_alias_section(const char *path);

/* The setting's value for a value under that name, owned by the caller; NULL if
 * it has the wrong type. */
struct json_object *settings_alias_value(
    const struct settings_alias *alias, struct json_object *json);
/* What that type is, for a message. */
const char *settings_alias_allowed(const struct settings_alias *alias);

#endif
