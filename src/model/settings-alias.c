/* SPDX-License-Identifier: ISC */

#include <stddef.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "settings-agents.h"
#include "settings-alias.h"
#include "toml.h"

#define DEFAULTS "defaults."

/* A row whose value is the setting's own. */
#define SAME(name, path)                             \
	{                                            \
		name, path, NULL, NULL, .same = true \
	}

#define GONE(name, instead)                               \
	{                                                 \
		name, NULL, NULL, NULL, .gone = (instead) \
	}

static const struct settings_alias aliases[] = {
	{ "auto.patrol_interval_secs", "daemon.patrol_interval", NULL, NULL,
	    false, NULL },
	{ "daemon.patrol_interval_secs", "daemon.patrol_interval", NULL, NULL,
	    false, NULL },
	{ DEFAULTS "skip_permissions", DEFAULTS "permission_mode",
	    "bypassPermissions", "default", false, NULL },
	{ "overseer.heartbeat_timeout_secs", "overseer.heartbeat_timeout", NULL,
	    NULL, false, NULL },
	{ "overseer.restart_cooldown_secs", "overseer.restart_cooldown", NULL,
	    NULL, false, NULL },
	{ "overseer.stall_timeout_secs", "overseer.stall_timeout", NULL, NULL,
	    false, NULL },
	{ "oversight.enabled", "oversight.mode", "act", "off", false, NULL },
	GONE("oversight.auto_escalate",
	    "to be told of nothing, set oversight.mode to \"observe\""),
	GONE("oversight.abort_on_regression",
	    "a task that keeps breaking its tests waits for a person; end it "
	    "with: llmc abort"),

	SAME("overseer.enabled", "plan.enabled"),
	SAME("overseer.tickEvery", "plan.tick_every"),
	SAME("overseer.idleAfter", "plan.idle_after"),
	SAME("overseer.maxRetries", "plan.max_retries"),
	SAME("overseer.minResendInterval", "plan.min_resend_interval"),
	SAME("overseer.backoff.base", "plan.backoff_base"),
	SAME("overseer.backoff.max", "plan.backoff_max"),
	SAME("overseer.policy.allowAgents", "plan.allow_agents"),
	SAME("overseer.policy.allowCrossAgent", "plan.allow_cross_agent"),
	SAME("overseer.planner.model", "planner.model"),
	SAME("overseer.planner.maxPlanPhases", "planner.max_phases"),
	SAME("overseer.planner.maxTasksPerPhase", "planner.max_tasks"),
	SAME("overseer.planner.maxSubtasksPerTask", "planner.max_subtasks"),
	SAME("overseer.planner.maxRepairAttempts",
	    "planner.max_repair_attempts"),
	SAME(SETTINGS_AGENT "costTier", SETTINGS_AGENT "cost_tier"),
	SAME(SETTINGS_AGENT "typicalLatency", SETTINGS_AGENT "typical_latency"),
};

/* Tables with a table for every name, and what the keys of it begin with in the
 * list above. */
static const struct {
	const char *prefix, *general;
} named[] = {
	{ "workers.", DEFAULTS },
	{ "agents.", SETTINGS_AGENT },
};

/* Length of "workers.adam." in a path, 0 for others; *ret_general: what is to
 * stand there instead. */
static size_t
named_part(const char *path, const char **ret_general)
{
	for (size_t i = 0; i < nitems(named); i++) {
		size_t len = strlen(named[i].prefix);
		const char *dot;

		if (strncmp(path, named[i].prefix, len) != 0)
			continue;
		*ret_general = named[i].general;
		dot = strchr(path + len, '.');
		return dot != NULL ? (size_t)(dot + 1 - path) : 0;
	}
	return 0;
}

const struct settings_alias *
settings_alias_find(const char *path, char **ret_path)
{
	const char *prefix = "";
	size_t part = named_part(path, &prefix);
	cleanup_free char *general =
	    part > 0 ? xasprintf("%s%s", prefix, path + part) : xstrdup(path);

	for (size_t i = 0; i < nitems(aliases); i++) {
		const char *setting = aliases[i].path;

		if (strcmp(aliases[i].name, general) != 0)
			continue;
		if (setting != NULL)
			*ret_path = part == 0 ?
			    xstrdup(setting) :
			    xasprintf("%.*s%s", (int)part, path,
				setting + strlen(prefix));
		return &aliases[i];
	}
	return NULL;
}

bool
settings_alias_section(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < nitems(aliases); i++)
		if (strncmp(aliases[i].name, path, len) == 0 &&
		    aliases[i].name[len] == '.')
			return true;
	return false;
}

struct json_object *
settings_alias_value(
    const struct settings_alias *alias, struct json_object *json)
{
	cleanup_json struct json_object *root = NULL;
	cleanup_free char *text = NULL;

	if (alias->same)
		return json_object_get(json);
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
