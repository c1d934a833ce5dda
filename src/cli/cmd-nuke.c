/* SPDX-License-Identifier: ISC */

/* llmc nuke: remove workers, with their worktrees and branches. */
#include "base.h"
#include "cli-private.h"
#include "config.h"

enum {
	FLAG_ALL,
	FLAG_FORCE,
	FLAG_YES
};

static const struct cli_flag nuke_flags[] = {
	[FLAG_ALL] = { "all", NULL, "every worker" },
	[FLAG_FORCE] = { "force", NULL,
	    "with --all: also while an overseer runs" },
	[FLAG_YES] = { "yes", NULL, "do not ask" },
	{ NULL, NULL, NULL },
};

struct nuke {
	struct cli *cli;
	struct state state;
	struct settings *settings;
	struct sessions sessions;
	const char **names;
	size_t count;
	struct json_object *removed, *salvaged, *failed;
};

/* Consoles have no worker; they are only sessions. */
static const struct sessions_entry *
find_console(const struct nuke *n, const char *name)
{
	const struct sessions_entry *found = sessions_find(&n->sessions, name);

	return found != NULL && strcmp(found->role, "console") == 0 ? found :
								      NULL;
}

static int
choose(struct nuke *n, const struct cli_args *args)
{
	bool all = args->flags[FLAG_ALL] != NULL;
	const struct worker *worker;

	if (all == (args->count > 0))
		return cli_misuse(n->cli, &cmd_nuke,
		    all ? "name the workers or give --all, not both" :
			  "name the workers to remove, or give --all");
	n->count = all ? n->state.count : (size_t)args->count;
	n->names = xcalloc(n->count + 1, sizeof *n->names);
	for (size_t i = 0; i < n->count; i++) {
		n->names[i] = all ? n->state.workers[i]->name : args->list[i];
		if (state_find(&n->state, n->names[i]) != NULL ||
		    find_console(n, n->names[i]) != NULL)
			continue;
		return roster_find(n->cli, &n->state, n->names[i], &worker);
	}
	return CLI_OK;
}

static void
nuke_one(struct nuke *n, const char *name)
{
	const struct sessions_entry *console = find_console(n, name);

	if (state_find(&n->state, name) != NULL) {
		cleanup_free char *table = xasprintf("workers.%s", name);
		cleanup_json struct json_object *result = NULL;
		struct err err = { 0 };
		const char *code, *salvage;

		if (!remote_try(n->cli, "worker.nuke", remote_worker(name),
			REMOTE_LONG_MS, &result, &code, &err)) {
			const char *message = err.msg;

			json_set_string(n->failed, name, message);
			cli_warn(n->cli, "%s: %s", name, message);
			return;
		}
		if (config_remove_table(&n->cli->workspace, table, &err) < 0)
			cli_warn(n->cli,
			    "%s: its settings were not removed: %s", name,
			    err.msg);
		json_object_array_add(n->removed, json_object_new_string(name));
		salvage = json_string_or(result, "salvage", "");
		buf_addf(&n->cli->text, "Removed %s.\n", name);
		if (salvage[0] == '\0')
			return;
		json_set_string(n->salvaged, name, salvage);
		buf_addf(&n->cli->text,
		    "Its work is kept: llmc salvage show %s\n",
		    roster_salvage(salvage));
	} else if (console != NULL &&
	    sessions_kill(n->cli, n->settings, console->name) == CLI_OK) {
		json_object_array_add(n->removed, json_object_new_string(name));
		buf_addf(&n->cli->text, "Removed %s.\n", name);
	} else {
		json_set_string(n->failed, name, "its session did not end");
	}
}

static int
nuke_all(struct nuke *n, bool yes)
{
	struct cli *cli = n->cli;
	cleanup_buf struct buf list = BUF_INIT;
	int status;

	for (size_t i = 0; i < n->count; i++)
		buf_addf(&list, "%s%s", i > 0 ? ", " : "", n->names[i]);
	status = n->count == 0 ?
	    CLI_OK :
	    ask_confirm(cli, yes,
		"This removes %s: session, worktree, branch and settings.",
		list.data);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < n->count; i++)
		nuke_one(n, n->names[i]);
	if (n->count == 0)
		buf_adds(&cli->text, "There are no workers.\n");
	cli->result = json_object_new_object();
	json_set(cli->result, "workers_removed", json_object_get(n->removed));
	json_set(cli->result, "salvaged", json_object_get(n->salvaged));
	json_set(cli->result, "failed", json_object_get(n->failed));
	return json_object_object_length(n->failed) == 0 ? CLI_OK : CLI_FAILED;
}

static int
nuke_run(struct cli *cli, const struct cli_args *args)
{
	struct nuke n = { .cli = cli };
	int status =
	    args->flags[FLAG_ALL] != NULL && args->flags[FLAG_FORCE] == NULL ?
	    overseer_files_refuse(cli, "nuke --all",
		"or remove them under it: llmc nuke --all --force") :
	    CLI_OK;

	if (status == CLI_OK)
		status = cli_load_settings(cli, &n.settings);
	if (status != CLI_OK)
		return status;
	status = roster_load(cli, &n.state);
	if (status == CLI_OK) {
		status = sessions_load(cli, n.settings, &n.sessions);
		if (status == CLI_OK)
			status = choose(&n, args);
		n.removed = json_object_new_array();
		n.salvaged = json_object_new_object();
		n.failed = json_object_new_object();
		if (status == CLI_OK)
			status = nuke_all(&n, args->flags[FLAG_YES] != NULL);
		json_object_put(n.removed);
		json_object_put(n.salvaged);
		json_object_put(n.failed);
		sessions_release(&n.sessions);
		free(n.names);
		state_release(&n.state);
	}
	settings_free(n.settings);
	return status;
}

static const struct schema word_shape = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};

static const struct schema nuke_shape =
    CLI_FIELDS(SCHEMA_IS("workers_removed", LIST, NULL),
	SCHEMA_IS("salvaged", MAP, "ref that keeps the work, by worker",
	    .of = &word_shape),
	SCHEMA_IS("failed", MAP,
	    "reason of each failure, by worker; the exit status is "
	    "then 1",
	    .of = &word_shape));

const struct cli_command cmd_nuke = {
	.name = "nuke",
	.usage = "[NAME ...] [--all [--force]] [--yes]",
	.summary = "remove workers, with their worktrees and branches",
	.help =
	    "Ends the session and removes the worktree, the branch and the "
	    "settings. Work\nthat has not landed is kept for llmc salvage. You "
	    "can also name a console. Asks\nfirst; without a terminal, --yes "
	    "is required. While an overseer runs, --all\nneeds --force.\n",
	.flags = nuke_flags,
	.max_args = 1000,
	.method = "worker.nuke",
	.shape = CLI_SHAPE(OBJECT, nuke_shape),
	.run = nuke_run,
};
