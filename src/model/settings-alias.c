/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "settings-alias.h"
#include "toml.h"

#define DEFAULTS "defaults."
#define WORKERS  "workers."

static const struct settings_alias aliases[] = {
	{ "auto.patrol_interval_secs", "daemon.patrol_interval", NULL, NULL },
	{ "daemon.patrol_interval_secs", "daemon.patrol_interval", NULL, NULL },
	{ DEFAULTS "skip_permissions", DEFAULTS "permission_mode",
	    "bypassPermissions", "default" },
	{ "overseer.heartbeat_timeout_secs", "overseer.heartbeat_timeout", NULL,
	    NULL },
	{ "overseer.restart_cooldown_secs", "overseer.restart_cooldown", NULL,
	    NULL },
	{ "overseer.stall_timeout_secs", "overseer.stall_timeout", NULL, NULL },
};

/* Length of "workers.adam." in a path, 0 for others. */
static size_t
worker_part(const char *path)
{
	const char *dot;

	if (strncmp(path, WORKERS, strlen(WORKERS)) != 0)
		return 0;
	dot = strchr(path + strlen(WORKERS), '.');
	return dot != NULL ? (size_t)(dot + 1 - path) : 0;
}

const struct settings_alias *
settings_alias_find(const char *path, char **ret_path)
{
	size_t part = worker_part(path);
	cleanup_free char *general =
	    part > 0 ? xasprintf(DEFAULTS "%s", path + part) : xstrdup(path);

	for (size_t i = 0; i < nitems(aliases); i++) {
		const char *setting = aliases[i].path;

		if (strcmp(aliases[i].name, general) != 0)
			continue;
		*ret_path = part == 0 ? xstrdup(setting) :
					xasprintf("%.*s%s", (int)part, path,
					    setting + strlen(DEFAULTS));
		return &aliases[i];
	}
	return NULL;
}

struct json_object *
settings_alias_value(
    const struct settings_alias *alias, struct json_object *json)
{
	cleanup_json struct json_object *root = NULL;
	cleanup_free char *text = NULL;

	if (alias->yes == NULL)
		return json_object_is_type(json, json_type_int) ?
		    json_object_get(json) :
		    NULL;
	if (!json_object_is_type(json, json_type_boolean))
		return NULL;
	/* As if the file had it. */
	text = xasprintf("x = \"%s\"\n",
	    json_object_get_boolean(json) ? alias->yes : alias->no);
	if (toml_parse(text, strlen(text), &root, NULL, NULL) < 0)
		return NULL;
	return json_object_get(json_object_object_get(root, "x"));
}

const char *
settings_alias_allowed(const struct settings_alias *alias)
{
	return alias->yes != NULL ? "true or false" :
				    "a whole number of seconds";
}
