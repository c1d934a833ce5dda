/* SPDX-License-Identifier: ISC */

/* Other names of settings, that a config file may use: times in plain seconds,
 * and a switch for the permission mode. */
#ifndef SETTINGS_ALIAS_H
#define SETTINGS_ALIAS_H

struct json_object;

struct settings_alias {
	const char *name; /* "overseer.stall_timeout_secs" */
	const char *path; /* of the setting */
	const char *yes, *no; /* what true and false mean; NULL: its value is a
			       * whole number, of seconds */
};

/* NULL if path is no other name. *ret_path, owned by the caller: the setting
 * that it means, of the same worker for "workers.adam.skip_permissions". */
const struct settings_alias *
settings_alias_find(const char *path, char **ret_path);

/* The setting's value for a value under that name, owned by the caller; NULL if
 * it has the wrong type. */
struct json_object *settings_alias_value(
    const struct settings_alias *alias, struct json_object *json);
/* What that type is, for a message. */
const char *settings_alias_allowed(const struct settings_alias *alias);

#endif
