/* SPDX-License-Identifier: ISC */

/* llmc config: show and change settings, all from the one table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config-doc.h"
#include "config.h"
#include "errtext.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "roster.h"
#include "schema.h"
#include "settings-agents.h"
#include "settings.h"
#include "table.h"
#include "text.h"

enum {
	FLAG_FORMAT
};

static const struct cli_flag config_flags[] = {
	[FLAG_FORMAT] = { "format", "FORMAT",
	    "for doc: toml (a config file) or mdoc (for the manual)" },
	{ NULL, NULL, NULL },
};

/* An effective value as people write it: strings without quotes. */
static void
add_value_text(struct json_object *value, struct buf *out)
{
	const char *s;

	if (json_object_is_type(value, json_type_string)) {
		s = json_object_get_string(value);
		text_add_visible(out, s, strlen(s), true);
	} else {
		json_print(value, false, out);
	}
}

/* The same in a sentence, where nothing would be seen of an empty one. */
static void
add_value_said(struct json_object *value, struct buf *out)
{
	size_t before = out->len;

	add_value_text(value, out);
	if (out->len == before)
		buf_adds(out, "empty");
}

static const char *
source_words(const struct setting *row, unsigned line)
{
	if (line > 0)
		return "file";
	return row->fallback != NULL ? "default" : "derived";
}

static struct json_object *
value_json(const char *path, struct json_object *value,
    const struct setting *row, unsigned line)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "key", path);
	json_set(json, "value", json_object_get(value));
	json_set_string(json, "source", source_words(row, line));
	json_set(json, "line", line > 0 ? json_object_new_int64(line) : NULL);
	return json;
}

/* Warnings go to standard error as they are; errors end the command. */
static int
load(struct cli *cli, struct settings **ret_settings)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "config.toml");
	struct settings_problems problems;
	struct err err = { 0 };
	int status = CLI_OK;

	if (config_load(&cli->workspace, ret_settings, &problems, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	for (size_t i = 0; i < problems.count; i++) {
		struct settings_problem *p = &problems.list[i];

		if (p->fatal && status == CLI_OK)
			status = cli_fail(cli, "bad_config", "%s:%u: %s", file,
			    p->line, p->text);
		else if (!p->fatal)
			cli_warn(
			    cli, "%s:%u: warning: %s", file, p->line, p->text);
	}
	settings_problems_release(&problems);
	if (status != CLI_OK) {
		settings_free(*ret_settings);
		*ret_settings = NULL;
	}
	return status;
}

static int
unknown_key(struct cli *cli, const char *key)
{
	cleanup_buf struct buf words = BUF_INIT;

	settings_describe_unknown(key, &words);
	return cli_fail(cli, "no_such_key", "%s", words.data);
}

static void
list_row(struct cli *cli, struct table *table, const struct settings *settings,
    const char *path)
{
	const struct setting *row = settings_find(path, NULL);
	cleanup_buf struct buf text = BUF_INIT, from = BUF_INIT;
	cleanup_json struct json_object *value = NULL;
	unsigned line = 0;

	settings_value(settings, path, &value, &line);
	json_print(value, false, &text);
	buf_adds(&from, source_words(row, line));
	if (line > 0)
		buf_addf(&from, " line %u", line);
	table_row(table, (const char *[]){ path, text.data, from.data });
	if (line > 0)
		table_colour(table, 1, "1");
	json_object_array_add(cli->result, value_json(path, value, row, line));
}

/* Rows that a worker has of its own. */
static void
list_worker(struct cli *cli, struct table *table,
    const struct settings *settings, const char *worker)
{
	static const char prefix[] = "defaults.";

	for (size_t i = 0; i < settings_table_count; i++) {
		cleanup_buf struct buf path = BUF_INIT;

		if (strncmp(settings_table[i].path, prefix, strlen(prefix)) !=
		    0)
			continue;
		settings_worker_path(settings, worker,
		    settings_table[i].path + strlen(prefix), &path);
		if (strcmp(path.data, settings_table[i].path) != 0)
			list_row(cli, table, settings, path.data);
	}
}

/* Rows that an agent has. */
static void
list_agent(struct cli *cli, struct table *table,
    const struct settings *settings, const char *agent)
{
	for (size_t i = 0; i < settings_agent_key_count; i++) {
		cleanup_free char *path = xasprintf("agents.%s.%s", agent,
		    settings_agent_keys[i].path + strlen(SETTINGS_AGENT));
		cleanup_json struct json_object *value = NULL;
		unsigned line = 0;

		settings_value(settings, path, &value, &line);
		if (line > 0)
			list_row(cli, table, settings, path);
	}
}

static int
config_list(struct cli *cli, const struct cli_args *args)
{
	const struct table_column columns[] = { { .title = "KEY",
						    .flexible = true },
		{ .title = "VALUE", .flexible = true }, { .title = "FROM" } };
	struct table *table;
	struct settings *settings = NULL;
	const char *const *workers, *const *agents;
	size_t count;
	int status = load(cli, &settings);

	(void)args;
	if (status != CLI_OK)
		return status;
	table = table_new(columns, 3);
	cli->result = json_object_new_array();
	for (size_t i = 0; i < settings_table_count; i++)
		list_row(cli, table, settings, settings_table[i].path);
	count = settings_workers(settings, &workers);
	for (size_t i = 0; i < count; i++)
		list_worker(cli, table, settings, workers[i]);
	count = settings_agents(settings, &agents);
	for (size_t i = 0; i < count; i++)
		list_agent(cli, table, settings, agents[i]);
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
	settings_free(settings);
	return CLI_OK;
}

static int
config_get(struct cli *cli, const struct cli_args *args)
{
	const char *key = args->list[1];
	const struct setting *row = settings_find(key, NULL);
	cleanup_json struct json_object *value = NULL;
	struct settings *settings = NULL;
	unsigned line = 0;
	int status;

	if (row == NULL)
		return unknown_key(cli, key);
	status = load(cli, &settings);
	if (status != CLI_OK)
		return status;
	settings_value(settings, key, &value, &line);
	settings_free(settings);
	add_value_text(value, &cli->text);
	buf_addc(&cli->text, '\n');
	cli->result = value_json(key, value, row, line);
	return CLI_OK;
}

/* The value in effect before a change, or NULL: the file may be wrong, and the
 * change may be what makes it right. */
static struct json_object *
value_before(struct cli *cli, const char *key)
{
	struct settings_problems problems;
	struct settings *settings = NULL;
	struct json_object *value = NULL;
	unsigned line;

	if (config_load(&cli->workspace, &settings, &problems, NULL) < 0)
		return NULL;
	if (!problems.fatal)
		settings_value(settings, key, &value, &line);
	settings_problems_release(&problems);
	settings_free(settings);
	return value;
}

/* What the change means for a daemon that is running. */
static void
tell_restart(struct cli *cli, bool needs_restart)
{
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	cleanup_free char *overseer =
	    workspace_path(&cli->workspace, "overseer.lock");
	bool restart = needs_restart && daemon != NULL;

	json_set_bool(cli->result, "restart", restart);
	if (daemon == NULL)
		buf_adds(&cli->text,
		    "No daemon is running; the next one uses "
		    "it.\n");
	else if (!restart)
		buf_adds(&cli->text,
		    "The daemon uses it now; no restart is needed.\n");
	else
		buf_addf(&cli->text, "The daemon uses it after a restart: %s\n",
		    lock_is_held(overseer) == 1 ?
			"end the overseer with Ctrl-C, then llmc overseer" :
			json_bool_or(daemon, "auto", false) ?
			"llmc down, then llmc up --auto --detach" :
			"llmc down, then llmc up --detach");
}

/* typed NULL: remove it from the file. */
static int
change(struct cli *cli, const char *key, const char *typed)
{
	const char *const get[] = { "get", key };
	struct cli_args after = { .count = 2, .list = get };
	cleanup_json struct json_object *before = NULL;
	const struct setting *row = settings_find(key, NULL);
	struct err err = { 0 };
	int r, status;

	if (row == NULL)
		return unknown_key(cli, key);
	before = value_before(cli, key);
	r = config_change(&cli->workspace, key, typed, &err);
	if (r == -ENOENT)
		return cli_fail(
		    cli, "not_set", "%s is not set in config.toml", key);
	if (r < 0)
		return cli_fail_err(
		    cli, r == -EINVAL ? "bad_value" : "io", &err);
	status = config_get(cli, &after);
	if (status != CLI_OK)
		return status;
	buf_clear(&cli->text);
	buf_addf(&cli->text, "%s is now ", key);
	add_value_said(
	    json_object_object_get(cli->result, "value"), &cli->text);
	if (typed == NULL)
		buf_adds(&cli->text, ", its default");
	if (before != NULL) {
		buf_adds(&cli->text, " (was ");
		add_value_said(before, &cli->text);
		buf_addc(&cli->text, ')');
	}
	buf_adds(&cli->text, ".\n");
	json_set(cli->result, "before", json_object_get(before));
	tell_restart(cli, (row->flags & SETTING_RESTART) != 0);
	return CLI_OK;
}

static int
config_set(struct cli *cli, const struct cli_args *args)
{
	return change(cli, args->list[1], args->list[2]);
}

static int
config_unset(struct cli *cli, const struct cli_args *args)
{
	return change(cli, args->list[1], NULL);
}

static int
config_doc(struct cli *cli, const struct cli_args *args)
{
	const char *format = args->flags[FLAG_FORMAT];
	const char *key = args->count > 1 ? args->list[1] : NULL;
	const struct setting *row =
	    key != NULL ? settings_find(key, NULL) : NULL;

	if (key != NULL && row == NULL)
		return unknown_key(cli, key);
	if (row != NULL && format == NULL)
		config_doc_key(key, row, &cli->text);
	else if (row != NULL)
		return cli_misuse(
		    cli, &cmd_config, "config doc KEY takes no --format");
	else if (format == NULL || strcmp(format, "toml") == 0)
		config_doc_toml(&cli->text);
	else if (strcmp(format, "mdoc") == 0)
		config_doc_mdoc(&cli->text);
	else
		return cli_misuse(cli, &cmd_config,
		    "%s: no such format; use toml or mdoc", format);
	cli->result = config_doc_json(key, row);
	return CLI_OK;
}

static const struct {
	const char *name;
	int min_args, max_args;
	unsigned needs;
	bool changes;
	int (*run)(struct cli *cli, const struct cli_args *args);
} config_verbs[] = {
	{ "list", 0, 0, CLI_NEEDS_INIT, false, config_list },
	{ "get", 1, 1, CLI_NEEDS_INIT, false, config_get },
	{ "set", 2, 2, CLI_NEEDS_INIT, true, config_set },
	{ "unset", 1, 1, CLI_NEEDS_INIT, true, config_unset },
	{ "doc", 0, 1, 0, false, config_doc },
};

static int
config_run(struct cli *cli, const struct cli_args *args)
{
	const char *names[nitems(config_verbs) + 1], *near;
	const char *verb = args->count > 0 ? args->list[0] : "list";
	int status;

	for (size_t i = 0; i < nitems(config_verbs); i++) {
		names[i] = config_verbs[i].name;
		if (strcmp(config_verbs[i].name, verb) != 0)
			continue;
		if (args->count > 0 &&
		    (args->count <= config_verbs[i].min_args ||
			args->count > config_verbs[i].max_args + 1))
			return cli_misuse(cli, &cmd_config,
			    "config %s takes %s%d argument%s", names[i],
			    config_verbs[i].min_args <
				    config_verbs[i].max_args ?
				"at most " :
				"",
			    config_verbs[i].max_args,
			    config_verbs[i].max_args == 1 ? "" : "s");
		status = cli_find_workspace(cli, config_verbs[i].needs);
		if (status == CLI_OK && config_verbs[i].changes &&
		    cli_is_barred(cli, true))
			return cli_fail(cli, "refused",
			    "agents may not change settings; this is a "
			    "worker's session");
		return status == CLI_OK ? config_verbs[i].run(cli, args) :
					  status;
	}
	names[nitems(config_verbs)] = NULL;
	near = text_nearest(verb, names);
	if (near != NULL)
		return cli_misuse(cli, &cmd_config,
		    "config %s: no such subcommand; did you mean \"%s\"?", verb,
		    near);
	return cli_misuse(
	    cli, &cmd_config, "config %s: no such subcommand", verb);
}

static const struct schema value_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("key", STRING, NULL),
	    SCHEMA_IS("value", ANY, "of the type that llmc config doc names"),
	    SCHEMA_IS("source", STRING, NULL),
	    SCHEMA_OR_NULL(
		"line", INT, "in config.toml, null if it is not set there"),
	    SCHEMA_MAY("before", ANY,
		"after set and unset: the value that was in "
		"effect; null if the file was wrong"),
	    SCHEMA_MAY("restart", BOOL,
		"after set and unset: a daemon is running, and "
		"must be restarted to use it"),
	    SCHEMA_END,
	},
};

static const struct schema doc_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("key", STRING, NULL),
	    SCHEMA_IS("type", STRING, NULL),
	    SCHEMA_OR_NULL("default", STRING, NULL),
	    SCHEMA_OR_NULL("derived", STRING, "what the default follows from"),
	    SCHEMA_IS("allowed", STRING, NULL),
	    SCHEMA_IS("restart", BOOL, "a change needs a new daemon"),
	    SCHEMA_IS("help", STRING, NULL),
	    SCHEMA_END,
	},
};

static const struct schema config_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("list", ROWS, NULL, .of = &value_shape),
	    SCHEMA_IS("get, set, unset", OBJECT, NULL, .of = &value_shape),
	    SCHEMA_IS("doc", ROWS, NULL, .of = &doc_shape),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_config = {
	.name = "config",
	.usage = "list | get KEY | set KEY VALUE | unset KEY | doc [KEY]",
	.summary = "show and change settings",
	.help =
	    "list   every setting, its value and where the value comes from\n"
	    "get    the value in effect, defaults included\nset    change "
	    ".llmc/config.toml; comments and order are kept; says what the "
	    "value\n       was, and whether the daemon must be restarted\n"
	    "unset  remove a setting from the file, so that its default "
	    "applies\ndoc    every key, or this one, with its default and its "
	    "meaning\n\nWithout one of these words: list.\nKeys of [defaults] can be "
	    "set for one worker: workers.NAME.model\nAgents that can be "
	    "spawned have keys too: agents.NAME.model\nDurations are written "
	    "500ms, 30s, 5m, 1h, or in seconds.\nLists are written [\"a\", "
	    "\"b\"].\n",
	.flags = config_flags,
	.min_args = 0,
	.max_args = 3,
	.shape = &(const struct schema_field){ .type = SCHEMA_ONE,
	    .of = &config_shape },
	.run = config_run,
};
