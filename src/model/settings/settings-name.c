/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "settings-name.h"
#include "toml.h"

/* --- rows ------------------------------------------------------------- */

static const struct named {
	const char *prefix; /* of a path in a file */
	const char *general; /* of the rows of its keys */
	const char *what;
} named_tables[SETTINGS_NAMED_COUNT] = {
	[SETTINGS_NAMED_WORKERS] = { "workers.", "defaults.", "a worker" },
	[SETTINGS_NAMED_AGENTS] = { "agents.", SETTINGS_AGENT, "an agent" },
};

int
settings_named_table(const char *path)
{
	size_t len = strlen(path);

	for (int i = 0; i < SETTINGS_NAMED_COUNT; i++)
		if (strlen(named_tables[i].prefix) == len + 1 &&
		    strncmp(path, named_tables[i].prefix, len) == 0)
			return i;
	return -1;
}

/* The table that a path begins with: "workers.adam", "workers.adam.model". */
static const struct named *
named_of(const char *path)
{
	for (int i = 0; i < SETTINGS_NAMED_COUNT; i++) {
		const char *prefix = named_tables[i].prefix;

		if (strncmp(path, prefix, strlen(prefix)) == 0)
			return &named_tables[i];
	}
	return NULL;
}

/* Length of "workers.adam" in "workers.adam.model". A name in quotes, which is
 * no valid one, may have dots. */
static size_t
named_len(const struct named *named, const char *path)
{
	size_t len = strlen(named->prefix);
	const char *quote =
	    path[len] == '"' ? strchr(path + len + 1, '"') : NULL;

	if (quote != NULL)
		return (size_t)(quote + 1 - path);
	return len + strcspn(path + len, ".");
}

static bool
name_ok(const struct named *named, const char *path)
{
	size_t len = strlen(named->prefix);
	cleanup_free char *name =
	    xstrndup(path + len, named_len(named, path) - len);

	return text_is_name(name);
}

char *
settings_general_path(const char *path, size_t *ret_part)
{
	const struct named *named = named_of(path);
	size_t len = named != NULL ? named_len(named, path) : 0;

	*ret_part = 0;
	if (named == NULL || path[len] != '.')
		return xstrdup(path);
	*ret_part = len + 1;
	return xasprintf("%s%s", named->general, path + len + 1);
}

static const struct setting *
row_at(size_t i)
{
	if (i < settings_table_count)
		return &settings_table[i];
	i -= settings_table_count;
	return i < settings_agent_key_count ? &settings_agent_keys[i] : NULL;
}

const struct setting *
settings_find(const char *path, bool *ret_worker)
{
	const struct named *named = named_of(path);
	size_t part;
	cleanup_free char *general = settings_general_path(path, &part);
	const struct setting *row;

	if (named != NULL && !name_ok(named, path))
		return NULL;
	for (size_t i = 0; (row = row_at(i)) != NULL; i++) {
		if (strcmp(row->path, general) != 0)
			continue;
		if (ret_worker != NULL)
			*ret_worker =
			    named == &named_tables[SETTINGS_NAMED_WORKERS];
		return row;
	}
	return NULL;
}

static const char *
nearest(const char *path)
{
	cleanup_free const char **names =
	    xcalloc(settings_table_count + settings_agent_key_count + 1,
		sizeof(const char *));
	const struct setting *row;

	for (size_t i = 0; (row = row_at(i)) != NULL; i++)
		names[i] = row->path;
	return text_nearest(path, names);
}

/* --- other names ------------------------------------------------------ */

#define DEFAULTS "defaults."

/* A row whose value is the setting's own. */
#define SAME(name, path)                             \
	{                                            \
		name, path, NULL, NULL, .same = true \
	}

/* The same in whole seconds. */
#define SECONDS(key, setting)                    \
	{                                        \
		.name = (key), .path = (setting) \
	}

/* As the designs that llmc is built from call them. */
static const struct settings_alias aliases[] = {
	SECONDS("auto.patrol_interval_secs", "daemon.patrol_interval"),
	SECONDS("daemon.patrol_interval_secs", "daemon.patrol_interval"),
	{ DEFAULTS "skip_permissions", DEFAULTS "permission_mode",
	    "bypassPermissions", "default", .same = false },
	SECONDS(
	    "overseer.heartbeat_timeout_secs", "overseer.heartbeat_timeout"),
	SECONDS("overseer.restart_cooldown_secs", "overseer.restart_cooldown"),
	SECONDS("overseer.stall_timeout_secs", "overseer.stall_timeout"),
	SAME("overseer.enabled", "plan.enabled"),
	SAME("overseer.policy.allowAgents", "plan.allow_agents"),
	SAME("overseer.planner.model", "planner.model"),
	SAME(SETTINGS_AGENT "costTier", SETTINGS_AGENT "cost_tier"),
	SAME(SETTINGS_AGENT "typicalLatency", SETTINGS_AGENT "typical_latency"),
};

const struct settings_alias *
settings_alias_find(const char *path, char **ret_path)
{
	size_t part;
	cleanup_free char *general = settings_general_path(path, &part);
	size_t prefix = strlen(general) - strlen(path + part);

	for (size_t i = 0; i < nitems(aliases); i++) {
		const char *setting = aliases[i].path;

		if (strcmp(aliases[i].name, general) != 0)
			continue;
		*ret_path = part == 0 ?
		    xstrdup(setting) :
		    xasprintf("%.*s%s", (int)part, path, setting + prefix);
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
	return json_object_get(json_member(root, "x"));
}

/* --- names that mean nothing ------------------------------------------ */

void
settings_describe_unknown(const char *path, struct buf *out)
{
	const struct named *named = named_of(path);
	cleanup_free char *setting = NULL;

	if (settings_alias_find(path, &setting) != NULL)
		buf_addf(out,
		    "%s is another name of %s; describe it with: llmc config "
		    "doc %s",
		    path, setting, setting);
	else if (named != NULL && !name_ok(named, path))
		buf_addf(out,
		    "%.*s: not a valid name for %s; use up to 32 lower case "
		    "letters, digits, - and _, starting with a letter or digit",
		    (int)named_len(named, path), path, named->what);
	else if (strncmp(path, SETTINGS_PRICES ".",
		     strlen(SETTINGS_PRICES ".")) == 0)
		buf_addf(out,
		    "%s: prices are tables, one for each model; write them "
		    "into .llmc/config.toml (see llmc.conf(5))",
		    path);
	else if (strncmp(path, SETTINGS_CHANNELS ".",
		     strlen(SETTINGS_CHANNELS ".")) == 0)
		buf_addf(out,
		    "%s: channels are tables; write them into "
		    ".llmc/config.toml (see llmc.conf(5))",
		    path);
	else {
		cleanup_free char *general = NULL;
		const char *near;
		size_t len, part;

		buf_addf(out, "%s: no such setting", path);
		/* "workers.adam.modle", if the row of the nearest one is one
		 * of that table. */
		named = named_of(path);
		general = settings_general_path(path, &part);
		near = nearest(general);
		if (near == NULL) {
			buf_adds(out, "; all of them: llmc config list");
			return;
		}
		if (named == NULL || strcmp(general, path) == 0) {
			/* That of an agent has no name that can be typed. */
			if (strncmp(near, SETTINGS_AGENT,
				strlen(SETTINGS_AGENT)) != 0)
				buf_addf(out, "; did you mean \"%s\"?", near);
			return;
		}
		len = strlen(named->general);
		if (strncmp(near, named->general, len) == 0)
			buf_addf(out, "; did you mean \"%.*s.%s\"?",
			    (int)named_len(named, path), path, near + len);
		else
			buf_addf(out, "; did you mean \"%s\"?", near);
	}
}
