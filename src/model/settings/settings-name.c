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

#define GONE(name, instead)                               \
	{                                                 \
		name, NULL, NULL, NULL, .gone = (instead) \
	}

/* It works for the last time. */
#define LAST(name, instead)                                              \
	{                                                                \
		name, NULL, NULL, NULL, .gone = (instead), .works = true \
	}

#define OF_TICK "assignments are checked every 2 minutes"
#define SLICE   "a part of a long turn ends after 10 minutes or 30 tool calls"
#define PLAN_SIZE                                                              \
	"a plan has at most 5 phases, 7 tasks in each and 7 subtasks in each " \
	"of those; say in the goal how small it should be"
#define HISTORY "what has ended is kept for a year, at most 100000 tasks"
#define TMUX_SIZE \
	"a worker's screen has 40 rows of 120 columns, and 20000 lines above"
#define RETRIES "a stalled assignment is asked for its status twice"
#define SAME_FAILURE \
	"a person is needed at the fifth failure of a kind in 24 hours"
#define NOTIFY                                                              \
	"describe the command as a channel: [people.channels.notify] with " \
	"type = \"command\" and command = ..."
#define REPAIRS "the planner may correct its answer twice"

static const struct settings_alias aliases[] = {
	SECONDS("auto.patrol_interval_secs", "daemon.patrol_interval"),
	SECONDS("daemon.patrol_interval_secs", "daemon.patrol_interval"),
	SAME("auto.protected_paths", "repo.protected_paths"),
	{ DEFAULTS "skip_permissions", DEFAULTS "permission_mode",
	    "bypassPermissions", "default", .same = false },
	SECONDS(
	    "overseer.heartbeat_timeout_secs", "overseer.heartbeat_timeout"),
	SECONDS("overseer.restart_cooldown_secs", "overseer.restart_cooldown"),
	SECONDS("overseer.stall_timeout_secs", "overseer.stall_timeout"),
	{ "oversight.enabled", "oversight.mode", "act", "off", .same = false },
	GONE("oversight.auto_escalate",
	    "to be told of nothing, set oversight.mode to \"observe\""),
	GONE("oversight.abort_on_regression",
	    "a task that keeps breaking its tests waits for a person; end it "
	    "with: llmc abort"),
	GONE("repo.serena",
	    "set repo.setup_command to the path of contrib/serena-setup.sh"),
	GONE(DEFAULTS "hang_timeout",
	    "it is 30m; auto.worker_stall_timeout is for auto mode"),
	GONE("history.tasks", HISTORY),
	GONE("history.days", HISTORY),
	GONE("people.answer_wait",
	    "a worker waits for your answer for 10 minutes; then it gets "
	    "another task, and the task waits without it"),
	GONE("plan.idle_after", OF_TICK),
	GONE("plan.min_resend_interval", OF_TICK),
	GONE("plan.backoff_base", OF_TICK),
	GONE("plan.backoff_max", OF_TICK),
	GONE("overseer.tickEvery", OF_TICK),
	GONE("overseer.maxRetries", RETRIES),
	GONE("overseer.policy.allowCrossAgent",
	    "a worker that plan.allow_agents names gets work"),
	GONE("overseer.idleAfter", OF_TICK),
	GONE("overseer.minResendInterval", OF_TICK),
	GONE("overseer.backoff.base", OF_TICK),
	GONE("overseer.backoff.max", OF_TICK),
	GONE("planner.max_phases", PLAN_SIZE),
	GONE("planner.max_tasks", PLAN_SIZE),
	GONE("planner.max_subtasks", PLAN_SIZE),
	GONE("overseer.planner.maxPlanPhases", PLAN_SIZE),
	GONE("overseer.planner.maxTasksPerPhase", PLAN_SIZE),
	GONE("overseer.planner.maxSubtasksPerTask", PLAN_SIZE),
	GONE("planner.max_repair_attempts", REPAIRS),
	GONE("planner.max_cost",
	    "an answer of the planner may cost 1 dollar; see budget.day_cost"),
	GONE("overseer.planner.maxRepairAttempts", REPAIRS),
	GONE("team.max_children",
	    "5 agents may work for one; see team.max_concurrent"),
	GONE("team.provider_limits", "see team.max_concurrent"),
	GONE("team.ci_may_apply", "agents never apply plans"),

	GONE("repo.strip_attribution", "the agent's attribution is removed"),
	GONE("repo.max_conflicts",
	    "a worker is asked to resolve three conflicts of one task"),
	GONE(DEFAULTS "self_review_prompt",
	    "say in defaults.role_prompt how to review"),
	GONE("overseer.same_failure_window", SAME_FAILURE),
	GONE("overseer.same_failure_max", SAME_FAILURE),
	GONE("overseer.remediations_per_day",
	    "a person is needed after 20 remediations in 24 hours; see "
	    "budget.day_cost"),
	GONE("overseer.start_timeout", "the daemon has a minute to start"),
	GONE("overseer.stop_grace", "the daemon has 30 seconds to end"),
	GONE("auto.outage_limit",
	    "the service may be unavailable for 6 hours before a person is "
	    "needed"),
	GONE("auto.post_accept_timeout", "it is twice auto.check_timeout"),
	GONE("oversight.slice", SLICE),
	GONE("oversight.slice_tools", SLICE),
	GONE("oversight.coverage_pattern",
	    "print a line that begins with total or coverage and ends with "
	    "the percentage, such as \"total: 81.5%\""),
	GONE("oversight.expected_iterations",
	    "say in the plan how much effort a task needs"),
	GONE("team.max_depth",
	    "agents spawn others down to depth 3; see team.max_concurrent"),
	GONE("team.on_parent_end",
	    "the agents of a task that fails or is dropped are cancelled; "
	    "their work is kept"),
	LAST("people.notify_command", NOTIFY),
	LAST("overseer.notify_command", NOTIFY),
	LAST("people.notify_on",
	    "a channel gets the events of its levels; see llmc config doc "
	    "people.channels"),
	GONE("plan.tick_every", OF_TICK),
	GONE("plan.max_retries", RETRIES),
	GONE("plan.allow_cross_agent",
	    "a worker that plan.allow_agents names gets work"),
	GONE("tmux.columns", TMUX_SIZE),
	GONE("tmux.rows", TMUX_SIZE),
	GONE("tmux.history_limit", TMUX_SIZE),

	{ "repo.push", "repo.upstream", "push", "off", .same = false },
	SAME(DEFAULTS "sandbox_env", DEFAULTS "env"),
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
		if (setting != NULL)
			*ret_path = part == 0 ? xstrdup(setting) :
						xasprintf("%.*s%s", (int)part,
						    path, setting + prefix);
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
	cleanup_free char *renamed = NULL;
	const struct settings_alias *alias =
	    settings_alias_find(path, &renamed);

	if (alias != NULL && alias->gone != NULL)
		buf_addf(
		    out, "%s does nothing any more: %s", path, alias->gone);
	else if (alias != NULL)
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
