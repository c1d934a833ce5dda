/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "settings-names.h"
#include "settings.h"

const char *const agent_kind_or_none[] = { "", "claude", "claude-headless",
	"codex", "opencode", "gemini", NULL };

const struct setting settings_agent_keys[] = {
	{ SETTINGS_AGENT "description", SETTING_STRING, "\"\"",
	    .help = "What the agent is good at, in a sentence. Agents that "
		    "may start others read it." },
	{ SETTINGS_AGENT "agent", SETTING_CHOICE, "\"\"",
	    .help = "Its kind; empty means the one of the worker that runs "
		    "it (defaults.agent).",
	    .choices = agent_kind_or_none },
	{ SETTINGS_AGENT "model", SETTING_STRING, "\"\"",
	    .help = "Model of the agent; empty means the one of the worker "
		    "that runs it." },
	{ SETTINGS_AGENT "thinking", SETTING_STRING, "\"\"",
	    .help = "How hard the agent thinks.", .form = FORM_EFFORT },
	{ SETTINGS_AGENT "tags", SETTING_LIST, "[]",
	    .help = "Words and short phrases that llmc goal agents suggest "
		    "looks for in a task. Case does not matter; one with "
		    "less than three letters is ignored." },
	{ SETTINGS_AGENT "cost_tier", SETTING_STRING, "\"\"",
	    .help = "What the agent costs, compared with the others.",
	    .form = FORM_COST },
	{ SETTINGS_AGENT "typical_latency", SETTING_STRING, "\"\"",
	    .help = "How long the agent usually takes, such as 90s." },
	{ SETTINGS_AGENT "notes", SETTING_STRING, "\"\"",
	    .help = "What else one should know to choose the agent." },
	{ SETTINGS_AGENT "tools", SETTING_LIST, "[\"*\"]",
	    .help = "Tools that the agent has; [\"*\"] is every tool. "
		    "report_progress and report_completion of llmc need not "
		    "be named.",
	    .form = FORM_TOOL },
};

const size_t settings_agent_key_count = nitems(settings_agent_keys);

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

void
settings_describe_unknown(const char *path, struct buf *out)
{
	const struct named *named = named_of(path);
	const char *instead = settings_gone(path);
	cleanup_free char *renamed = NULL;

	if (instead != NULL)
		buf_addf(out, "%s does nothing any more: %s", path, instead);
	else if (settings_find_alias(path, &renamed))
		buf_addf(out,
		    "%s has another name now: %s; describe it with: llmc "
		    "config doc %s",
		    path, renamed, renamed);
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
		if (near == NULL)
			return;
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
