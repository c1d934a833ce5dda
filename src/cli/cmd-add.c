/* SPDX-License-Identifier: ISC */

/* llmc add: a new worker, with its branch and its worktree. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "roster.h"
#include "schema.h"
#include "settings.h"
#include "text.h"

enum {
	FLAG_MODEL,
	FLAG_ROLE,
	FLAG_EXCLUDED,
	FLAG_REVIEW,
	FLAG_COUNT
};

static const struct cli_flag add_flags[] = {
	[FLAG_MODEL] = { "model", "MODEL", "model for its agent" },
	[FLAG_ROLE] = { "role-prompt", "TEXT",
	    "text to put before each of its tasks" },
	[FLAG_EXCLUDED] = { "excluded-from-pool", NULL,
	    "llmc start chooses it only when named" },
	[FLAG_REVIEW] = { "self-review", NULL,
	    "the agent reviews its own work before you do" },
	{ NULL, NULL, NULL },
};

static const char *const add_keys[FLAG_COUNT] = {
	[FLAG_MODEL] = "model",
	[FLAG_ROLE] = "role_prompt",
	[FLAG_EXCLUDED] = "excluded_from_pool",
	[FLAG_REVIEW] = "self_review",
};

/* The value of a key in the file before, NULL = none. The caller frees it. */
static char *
value_before(const struct settings *settings, const char *path)
{
	cleanup_json struct json_object *value = NULL;
	unsigned line = 0;

	if (!settings_value(settings, path, &value, &line) || line == 0)
		return NULL;
	return xstrdup(json_object_get_string(value));
}

static bool
had_section(const struct settings *settings, const char *name)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);

	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Restore the section: a worker that could not be created leaves no trace. */
static void
undo_settings(struct cli *cli, const struct settings *before, const char *name,
    const struct cli_args *args)
{
	cleanup_free char *table = xasprintf("workers.%s", name);

	if (!had_section(before, name)) {
		config_remove_table(&cli->workspace, table, NULL);
		return;
	}
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("%s.%s", table, add_keys[i]);
		cleanup_free char *old = value_before(before, path);

		if (args->flags[i] != NULL)
			config_change(&cli->workspace, path, old, NULL);
	}
}

static int
write_settings(struct cli *cli, const char *name, const struct cli_args *args)
{
	struct err err = { 0 };

	for (size_t i = 0; i < FLAG_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("workers.%s.%s", name, add_keys[i]);

		if (args->flags[i] == NULL)
			continue;
		if (config_change(&cli->workspace, path,
			add_flags[i].value != NULL ? args->flags[i] : "true",
			&err) < 0)
			return cli_fail_err(cli, "bad_value", &err);
	}
	return CLI_OK;
}

static int
check_name(struct cli *cli, const char *name)
{
	struct state state;
	int status;

	if (!text_is_name(name))
		return cli_fail(cli, "bad_value",
		    "%s is not a valid name for a worker; use up to 32 lower "
		    "case letters, digits, - and _, starting with a letter or "
		    "digit",
		    name);
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (state_find(&state, name) != NULL)
		status = cli_fail(cli, "exists",
		    "there is already a worker %s; see: llmc status", name);
	state_release(&state);
	return status;
}

static int
add_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->list[0];
	struct settings *before = NULL;
	int status = check_name(cli, name);

	if (status == CLI_OK)
		status = cli_load_settings(cli, &before);
	if (status != CLI_OK)
		return status;
	status = write_settings(cli, name, args);
	if (status == CLI_OK)
		status = remote_call(cli, "worker.add", remote_worker(name),
		    REMOTE_LONG_MS, &cli->result);
	if (status != CLI_OK) {
		undo_settings(cli, before, name, args);
	} else {
		json_set_string(cli->result, "model",
		    args->flags[FLAG_MODEL] != NULL ? args->flags[FLAG_MODEL] :
						      "default");
		buf_addf(&cli->text,
		    "Created %s, with branch %s and worktree %s.\n", name,
		    json_string_or(cli->result, "branch", ""),
		    json_string_or(cli->result, "worktree_path", ""));
		buf_addf(&cli->text, "Next: llmc %s\n",
		    remote_alive(cli) ? "start" : "up");
	}
	settings_free(before);
	return status;
}

static const struct schema add_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("worker", STRING, NULL),
	    SCHEMA_IS("branch", STRING, NULL),
	    SCHEMA_IS("worktree_path", STRING, NULL),
	    SCHEMA_IS("model", STRING, "as given, or \"default\""),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_add = {
	.name = "add",
	.usage = "NAME [--model MODEL] [--role-prompt TEXT] "
		 "[--excluded-from-pool] [--self-review]",
	.summary = "create a worker",
	.help =
	    "Creates a branch and a worktree for it. A running daemon starts "
	    "its session at\nonce. The options are written to [workers.NAME] "
	    "in the config file. To change\none later, type: llmc config set "
	    "workers.NAME.model MODEL\n",
	.flags = add_flags,
	.min_args = 1,
	.max_args = 1,
	.method = "worker.add",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &add_shape },
	.run = add_run,
};
