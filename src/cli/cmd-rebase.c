/* SPDX-License-Identifier: ISC */

/* llmc rebase: bring a worker's finished work up to date. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "git-ask.h"
#include "json.h"
#include "remote.h"
#include "roster.h"
#include "schema.h"
#include "worker.h"

/* Paths in conflict, from the index. No git of ours runs in a clone, whose
 * configuration is the worker's. */
static struct json_object *
conflicts(const struct worker *worker)
{
	const char *const args[] = { "-c", "core.quotePath=false", "diff",
		"--name-only", "--diff-filter=U", NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (!worker->clone)
		git_ask(worker->worktree, args, &text, NULL);
	return cli_lines(text.data);
}

static int
rebase_named(struct cli *cli, const struct worker *worker)
{
	cleanup_json struct json_object *result = NULL;
	struct json_object *list;
	bool conflict;
	int status = remote_call(cli, "worker.rebase",
	    remote_worker(worker->name), REMOTE_LONG_MS, &result);

	if (status != CLI_OK)
		return status;
	conflict = json_bool_or(result, "needs_conflict_resolution", false);
	list = conflict ? conflicts(worker) : json_object_new_array();
	cli->result = json_object_new_object();
	json_set_string(cli->result, "worker", worker->name);
	json_set_bool(cli->result, "success", !conflict);
	json_set(cli->result, "conflicts", list);
	buf_addf(&cli->text,
	    conflict ?
		"%s is resolving its conflicts, and then waits for review "
		"again:\n" :
		"%s is up to date.\n",
	    worker->name);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		buf_addf(&cli->text, "  %s\n",
		    json_object_get_string(json_object_array_get_idx(list, i)));
	return CLI_OK;
}

static int
rebase_run(struct cli *cli, const struct cli_args *args)
{
	const struct worker *worker;
	struct state state;
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	status = roster_find(cli, &state, args->list[0], &worker);
	if (status == CLI_OK)
		status = rebase_named(cli, worker);
	state_release(&state);
	return status;
}

static const struct schema rebase_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("worker", STRING, NULL),
	    SCHEMA_IS("success", BOOL, NULL),
	    SCHEMA_IS("conflicts", LIST, "paths that the worker is resolving"),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_rebase = {
	.name = "rebase",
	.usage = "WORKER",
	.summary = "rebase a worker's finished work onto the default branch",
	.help =
	    "Conflicts are given to the worker to resolve; the exit status is "
	    "0 in that case\ntoo.\n",
	.min_args = 1,
	.max_args = 1,
	.method = "worker.rebase",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &rebase_shape },
	.run = rebase_run,
};
