/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "channel.h"
#include "id.h"
#include "settings-table.h"
#include "settings-value.h"
#include "settings.h"
#include "thresholds.h"
#include "toml-edit.h"
#include "toml.h"

struct settings_alias {
	const char *name; /* "overseer.stall_timeout_secs" */
	const char *path; /* of the setting */
	const char *yes, *no; /* what true and false mean; NULL: its value is a
			       * whole number, of seconds */
	bool same; /* the same value under another spelling */
	const char *gone; /* nothing reads it any more: what to do instead */
	bool works; /* but that take_notify() still does, in this version */
};

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

/* NULL if path is no other name. *ret_path, owned by the caller: the setting
 * that it means, of the same worker for "workers.adam.skip_permissions", of the
 * same agent for "agents.coder.costTier"; NULL for one that is gone. */
static const struct settings_alias *
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

const char *
settings_gone(const char *path)
{
	cleanup_free char *setting = NULL;
	const struct settings_alias *alias =
	    settings_alias_find(path, &setting);

	return alias != NULL ? alias->gone : NULL;
}

bool
settings_find_alias(const char *path, char **ret_path)
{
	*ret_path = NULL;
	return settings_alias_find(path, ret_path) != NULL;
}

/* Is path the name of a table that contains other names, such as
 * "overseer.backoff"? */
static bool
settings_alias_section(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < nitems(aliases); i++)
		if (strncmp(aliases[i].name, path, len) == 0 &&
		    aliases[i].name[len] == '.')
			return true;
	return false;
}

/* The setting's value for a value under that name, owned by the caller; NULL if
 * it has the wrong type. */
static struct json_object *
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

struct settings {
	struct value *values; /* one per row, then those of the workers */
	size_t count;
	char **names[SETTINGS_NAMED_COUNT]; /* of [workers], of [agents] */
	struct price_list prices;
	struct channel_list channels;
	char *home;
};

static struct value *
value_find(const struct settings *settings, const char *path)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->values[i].path, path) == 0)
			return &settings->values[i];
	return NULL;
}

static struct value *
value_add(
    struct settings *settings, const char *path, const struct setting *row)
{
	struct value *value;

	settings->values = xreallocarray(
	    settings->values, settings->count + 1, sizeof *settings->values);
	value = &settings->values[settings->count++];
	*value = (struct value){ .path = xstrdup(path), .row = row };
	return value;
}

/* The text is copied. */
static void
settings_problem_add(struct settings_problems *problems, bool fatal,
    unsigned line, const char *text)
{
	struct settings_problem *p;

	problems->list = xreallocarray(
	    problems->list, problems->count + 1, sizeof *problems->list);
	p = &problems->list[problems->count++];
	p->fatal = fatal;
	p->line = line;
	p->text = xstrdup(text);
	problems->fatal |= fatal;
}

static void
problem_unknown(struct settings_problems *problems, bool fatal,
    const char *path, unsigned line)
{
	cleanup_buf struct buf text = BUF_INIT;

	settings_describe_unknown(path, &text);
	settings_problem_add(problems, fatal, line, text.data);
}

static void
problem_in_table(void *problems, unsigned line, const char *text)
{
	settings_problem_add(problems, true, line, text);
}

/* Is path the name of a table that contains known keys? */
static bool
is_section(const char *path)
{
	size_t len = strlen(path);

	if (settings_named_table(path) >= 0 ||
	    strcmp(path, SETTINGS_PRICES) == 0 ||
	    strcmp(path, SETTINGS_CHANNELS) == 0 ||
	    settings_alias_section(path))
		return true;
	for (size_t i = 0; i < settings_table_count; i++)
		if (strncmp(settings_table[i].path, path, len) == 0 &&
		    settings_table[i].path[len] == '.')
			return true;
	return false;
}

static void
problem_twice(struct settings_problems *problems, const char *name,
    const char *ignored, unsigned line)
{
	cleanup_free char *text =
	    xasprintf("%s is ignored: %s is the same setting", ignored, name);

	settings_problem_add(problems, false, line, text);
}

/* name: the one that it has in the file. Another name than the path gives way
 * to it, and a wrong value under it is ignored. */
static void
take_value(struct settings *settings, const char *path, const char *name,
    struct json_object *json, unsigned line, struct settings_problems *problems)
{
	const struct setting *row = settings_find(path, NULL);
	struct value *value = value_find(settings, path);
	size_t before = settings->count;
	bool own = strcmp(name, path) == 0;
	struct toml_mark mark;
	cleanup_buf struct buf text = BUF_INIT;

	/* TOML has no key twice, so the other one has another name. */
	if (value != NULL && value->line > 0 && !own) {
		problem_twice(problems, value->name, name, line);
		return;
	}
	if (value != NULL && value->line > 0)
		problem_twice(problems, name, value->name, value->line);
	if (value == NULL) /* of one worker or agent */
		value = value_add(settings, path, row);
	if (value_set(value, json, settings->home)) {
		value->line = line;
		xstrset(&value->name, name);
		return;
	}
	mark = toml_mark_of(json);
	buf_addf(&text, "%s: expected ", path);
	settings_describe_allowed(row, &text);
	buf_addf(&text, ", found %s", toml_mark_type_name(mark.type));
	if (mark.type == TOML_FLOAT) {
		buf_addf(&text, " %.15g", json_object_get_double(json));
	} else if (mark.type <= TOML_BOOL) {
		buf_addc(&text, ' ');
		json_print(json, false, &text);
	}
	settings_problem_add(problems, own, mark.line, text.data);
	/* Drop an invalid key of one of them. */
	if (settings->count > before) {
		settings->count--;
		free(value->path);
	}
}

/* Take a value under another name of its setting; false if it is none. */
static bool
take_alias(struct settings *settings, const char *name,
    struct json_object *json, struct settings_problems *problems)
{
	unsigned line = toml_mark_of(json).line;
	cleanup_free char *path = NULL, *text = NULL;
	const struct settings_alias *alias = settings_alias_find(name, &path);
	cleanup_json struct json_object *value = NULL;

	if (alias != NULL && alias->works)
		return true;
	if (alias != NULL && alias->gone != NULL) {
		text = xasprintf(
		    "%s does nothing any more: %s; " SETTINGS_REMOVE "%s", name,
		    alias->gone, name);
		settings_problem_add(problems, false, line, text);
		return true;
	}
	if (alias == NULL || path == NULL || settings_find(path, NULL) == NULL)
		return false;
	value = settings_alias_value(alias, json);
	if (value != NULL) {
		take_value(settings, path, name, value, line, problems);
		return true;
	}
	text = xasprintf("%s: expected %s, found %s", name,
	    alias->yes != NULL ? "true or false" : "a whole number of seconds",
	    toml_mark_type_name(toml_mark_of(json).type));
	/* Times have good defaults, but permissions are not guessed. */
	settings_problem_add(problems, alias->yes != NULL, line, text);
	return true;
}

static void
walk(struct settings *settings, const char *prefix, struct json_object *table,
    struct settings_problems *problems)
{
	int named = settings_named_table(prefix);

	json_object_object_foreach(table, key, json)
	{
		cleanup_buf struct buf path = BUF_INIT;
		unsigned line = toml_mark_of(json).line;

		/* The path of a key as a person would type it: a key that
		 * contains a dot or a control character is quoted, so it never
		 * matches a known one. */
		if (prefix[0] != '\0')
			buf_addf(&path, "%s.", prefix);
		toml_edit_quote_key(&path, key);
		if (settings_find(path.data, NULL) != NULL) {
			take_value(settings, path.data, path.data, json, line,
			    problems);
		} else if (take_alias(settings, path.data, json, problems)) {
			continue;
		} else if (named >= 0 && !text_is_name(key)) {
			problem_unknown(problems, true, path.data, line);
		} else if (named < 0 && !is_section(path.data)) {
			problem_unknown(problems, false, path.data, line);
		} else if (!json_object_is_type(json, json_type_object)) {
			struct toml_mark mark = toml_mark_of(json);
			cleanup_free char *text =
			    xasprintf("%s: expected a table, found %s",
				path.data, toml_mark_type_name(mark.type));

			settings_problem_add(problems, true, mark.line, text);
		} else if (strcmp(path.data, SETTINGS_PRICES) == 0) {
			settings_prices_read(json, &settings->prices,
			    problem_in_table, problems);
		} else if (strcmp(path.data, SETTINGS_CHANNELS) == 0) {
			settings_channels_read(json, settings->home,
			    &settings->channels, problem_in_table, problems);
		} else {
			if (named >= 0)
				strv_add(&settings->names[named], key);
			walk(settings, path.data, json, problems);
		}
	}
}

/* What the version before had instead of command channels: a command, and the
 * classes that it is run for. */
static void
take_notify(struct settings *settings, struct json_object *root,
    struct settings_problems *problems)
{
	static const char *const keys[][2] = { { "people", "notify_command" },
		{ "overseer", "notify_command" }, { "people", "notify_on" } };
	struct json_object *found[nitems(keys)] = { NULL }, *table = NULL;
	bool used, own = channel_find(&settings->channels, "notify") != NULL;

	for (size_t i = 0; i < nitems(keys); i++)
		if (json_object_object_get_ex(root, keys[i][0], &table) &&
		    json_object_is_type(table, json_type_object))
			json_object_object_get_ex(table, keys[i][1], &found[i]);
	used = !own &&
	    settings_channels_notify(found[0] != NULL ? found[0] : found[1],
		found[2], &settings->channels);
	for (size_t i = 0; i < nitems(keys); i++) {
		cleanup_free char *path = NULL, *text = NULL, *name = NULL;
		bool shadowed = i == 1 && found[0] != NULL;

		if (found[i] == NULL)
			continue;
		name = xasprintf("%s.%s", keys[i][0], keys[i][1]);
		text = xasprintf("%s %s: %s; " SETTINGS_REMOVE "%s", name,
		    used && !shadowed ? "works in this version only" :
					"does nothing any more",
		    settings_alias_find(name, &path)->gone, name);
		settings_problem_add(
		    problems, false, toml_mark_of(found[i]).line, text);
	}
}

static void
set_default(struct settings *settings, const struct setting *row,
    const struct settings_facts *facts)
{
	struct value *value = value_add(settings, row->path, row);
	cleanup_json struct json_object *root = NULL;
	cleanup_free char *text = NULL;
	char hash[9];

	if (row->fallback != NULL) {
		text = xasprintf("x = %s\n", row->fallback);
		if (toml_parse(text, strlen(text), &root, NULL, NULL) < 0 ||
		    !value_set(value, json_member(root, "x"), settings->home))
			fatalx("%s: the table's default is wrong", row->path);
		value->line = 0;
	} else if (strcmp(row->path, "tmux.socket") == 0) {
		id_hash(facts->root, hash, 8);
		value->string = xasprintf("llmc-%s", hash);
	} else if (strcmp(row->path, "repo.default_branch") == 0) {
		value->string = xstrdup(
		    facts->default_branch != NULL ? facts->default_branch : "");
	} else {
		fatalx("%s: the table has no default", row->path);
	}
}

/* A time that does not fit is made shorter (silence_limits()), with a warning
 * to the person who chose it. */
static void
check_stall(const struct settings *settings, struct settings_problems *problems)
{
	const struct value *worker =
	    value_find(settings, "auto.worker_stall_timeout");
	const struct value *overseer =
	    value_find(settings, "overseer.stall_timeout");
	int64_t longest = silence_longest_ms(overseer->number);
	cleanup_buf struct buf text = BUF_INIT;

	if (worker->line == 0 || worker->number <= longest)
		return;
	buf_addf(&text, "%s: ", worker->path);
	text_add_duration(&text, worker->number);
	buf_addf(&text, " is too long for %s, which is ", overseer->path);
	text_add_duration(&text, overseer->number);
	buf_adds(&text, ": ");
	text_add_duration(&text, longest);
	buf_adds(&text, " (three quarters) is used");
	settings_problem_add(problems, false, worker->line, text.data);
}

/* Others can read the settings, and what is said of them. */
static void
check_database(
    const struct settings *settings, struct settings_problems *problems)
{
	const struct value *value = value_find(settings, "fleet.database");
	const char *user = strstr(value->string, "://");
	size_t len = user != NULL ? strcspn(user + 3, "@/?") : 0;

	if (strstr(value->string, "password=") != NULL ||
	    (user != NULL && user[3 + len] == '@' &&
		memchr(user + 3, ':', len) != NULL))
		settings_problem_add(problems, true, value->line,
		    "fleet.database: the address has a password in it, which "
		    "others can read: put it in a file with mode 600 "
		    "(fleet.passfile), or use service=NAME");
}

static void
check_review(
    const struct settings *settings, struct settings_problems *problems)
{
	const struct value *value = value_find(settings, "auto.review");
	const char *const *cards = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	settings_agents(settings, &cards);
	if (value->string[0] == '\0' ||
	    strv_has(agent_kind_words, value->string) ||
	    strv_has(cards, value->string))
		return;
	buf_addf(&text, "auto.review: there is no agent \"%s\": name a kind (",
	    value->string);
	for (size_t i = 0; agent_kind_words[i] != NULL; i++)
		buf_addf(&text, "%s%s", i > 0 ? ", " : "", agent_kind_words[i]);
	buf_adds(&text, ") or a card ([agents.NAME])");
	settings_problem_add(problems, true, value->line, text.data);
}

/* The message without "line 3: ": a problem stores its line separately. */
static const char *
without_line(const char *msg)
{
	const char *end;

	if (!text_begins(msg, "line "))
		return msg;
	end = strstr(msg, ": ");
	return end != NULL ? end + 2 : msg;
}

struct settings *
settings_parse(const char *text, size_t len, const struct settings_facts *facts,
    struct settings_problems *ret_problems)
{
	struct settings *settings = xcalloc(1, sizeof *settings);
	cleanup_json struct json_object *root = NULL;
	struct err err = { 0 };
	unsigned line = 0;

	*ret_problems = (struct settings_problems){ 0 };
	if (facts->home != NULL && facts->home[0] != '\0')
		settings->home = xstrdup(facts->home);
	for (size_t i = 0; i < settings_table_count; i++)
		set_default(settings, &settings_table[i], facts);
	for (size_t i = 0; i < settings_agent_key_count; i++)
		set_default(settings, &settings_agent_keys[i], facts);
	if (toml_parse(text, len, &root, &line, &err) < 0)
		settings_problem_add(
		    ret_problems, true, line, without_line(err.msg));
	else
		walk(settings, "", root, ret_problems);
	if (root != NULL)
		take_notify(settings, root, ret_problems);
	check_stall(settings, ret_problems);
	check_database(settings, ret_problems);
	check_review(settings, ret_problems);
	return settings;
}

void
settings_free(struct settings *settings)
{
	if (settings == NULL)
		return;
	for (size_t i = 0; i < settings->count; i++) {
		value_clear(&settings->values[i]);
		free(settings->values[i].path);
	}
	for (int i = 0; i < SETTINGS_NAMED_COUNT; i++)
		strv_free(settings->names[i]);
	free(settings->prices.rows);
	channel_list_release(&settings->channels);
	free(settings->values);
	free(settings->home);
	free(settings);
}

int
settings_override(struct settings *settings, const char *path,
    const char *typed, struct err *err)
{
	struct value *value = value_find(settings, path);
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = { 0 };

	if (value == NULL)
		fatalx("%s: no such setting", path);
	buf_adds(&text, "x = ");
	if (settings_value_text(value->row, typed, &text, &why) < 0)
		return err_set(err, -EINVAL, "%s: %s", path, why.msg);
	buf_addc(&text, '\n');
	if (toml_parse(text.data, text.len, &root, NULL, NULL) < 0 ||
	    !value_set(value, json_member(root, "x"), settings->home))
		fatalx("%s: a checked value is refused", path);
	value->line = 0; /* not from a file */
	return 0;
}

/* A key of one worker or agent that is not set falls back to the general one.
 */
static const struct value *
value_get(const struct settings *settings, const char *path)
{
	const struct value *value = value_find(settings, path);
	const struct setting *row;

	if (value == NULL && (row = settings_find(path, NULL)) != NULL)
		value = value_find(settings, row->path);
	return value;
}

static const struct value *
value_need(
    const struct settings *settings, const char *path, enum setting_type type)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL || value->row->type != type)
		fatalx("%s: no such setting of that type", path);
	return value;
}

const char *
settings_string(const struct settings *settings, const char *path)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL || value->row->type > SETTING_CHOICE)
		fatalx("%s: no such setting of that type", path);
	return (value->row->flags & SETTING_NONE) != 0 &&
		strcmp(value->string, "none") == 0 ?
	    "" :
	    value->string;
}

bool
settings_decided(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_STRING)->string[0] != '\0';
}

bool
settings_bool(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_BOOL)->boolean;
}

int64_t
settings_int(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_INT)->number;
}

int64_t
settings_duration(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_DURATION)->number;
}

int64_t
settings_amount(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_AMOUNT)->number;
}

size_t
settings_list(const struct settings *settings, const char *path,
    const char *const **ret_items)
{
	const struct value *value = value_need(settings, path, SETTING_LIST);

	*ret_items = strv_const(value->items);
	return strv_count(value->items);
}

void
settings_worker_path(const struct settings *settings, const char *worker,
    const char *key, struct buf *out)
{
	size_t before = out->len;

	buf_addf(out, "workers.%s.%s", worker, key);
	if (value_find(settings, out->data + before) != NULL)
		return;
	buf_truncate(out, before);
	buf_addf(out, "defaults.%s", key);
}

size_t
settings_workers(const struct settings *settings, const char *const **ret_names)
{
	*ret_names = strv_const(settings->names[SETTINGS_NAMED_WORKERS]);
	return strv_count(settings->names[SETTINGS_NAMED_WORKERS]);
}

size_t
settings_agents(const struct settings *settings, const char *const **ret_names)
{
	*ret_names = strv_const(settings->names[SETTINGS_NAMED_AGENTS]);
	return strv_count(settings->names[SETTINGS_NAMED_AGENTS]);
}

const struct price_list *
settings_prices(const struct settings *settings)
{
	return &settings->prices;
}

const struct channel_list *
settings_channels(const struct settings *settings)
{
	return &settings->channels;
}

bool
settings_value(const struct settings *settings, const char *path,
    struct json_object **ret_value, unsigned *ret_line)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL)
		return false;
	*ret_value = value_json(value);
	if (ret_line != NULL)
		*ret_line = value->line;
	return true;
}

void
settings_problems_release(struct settings_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->list[i].text);
	free(problems->list);
	*problems = (struct settings_problems){ 0 };
}
