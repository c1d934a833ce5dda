/* SPDX-License-Identifier: ISC */

/* llmc reset: reset a worker to the default branch, without a task. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "commands.h"
#include "errtext.h"
#include "json.h"
#include "remote.h"
#include "roster.h"
#include "schema.h"
#include "worker.h"

enum {
	FLAG_ALL,
	FLAG_FAILED,
	FLAG_YES
};

static const struct cli_flag reset_flags[] = {
	[FLAG_ALL] = { "all", NULL, "every worker" },
	[FLAG_FAILED] = { "failed", "REASON",
	    "the attempt at its task failed, and counts" },
	[FLAG_YES] = { "yes", NULL, "do not ask" },
	{ NULL, NULL, NULL },
};

static void
tell(struct cli *cli, struct json_object *result)
{
	const char *salvage = json_string_or(result, "salvage", "");

	buf_addf(&cli->text, "Reset %s, which was in %s.\n",
	    json_string_or(result, "worker", ""),
	    json_string_or(result, "previous_status", ""));
	if (salvage[0] != '\0')
		buf_addf(&cli->text, "Its work is kept: llmc salvage show %s\n",
		    roster_salvage(salvage));
}

static struct json_object *
params_of(const char *name, const char *why)
{
	struct json_object *params = remote_worker(name);

	if (why != NULL)
		json_set_string(params, "failed", why);
	return params;
}

static int
reset_one(struct cli *cli, const char *name, const char *why)
{
	int status = remote_call(cli, "worker.reset", params_of(name, why),
	    REMOTE_LONG_MS, &cli->result);

	if (status == CLI_OK)
		tell(cli, cli->result);
	return status;
}

/* If one fails, the others are still reset. */
static int
reset_all(struct cli *cli, const struct state *state, const char *why)
{
	struct json_object *done = json_object_new_array();
	struct json_object *failed = json_object_new_object();
	struct err err = { 0 };
	const char *code;

	for (size_t i = 0; i < state->count; i++) {
		cleanup_json struct json_object *result = NULL;
		const char *name = state->workers[i]->name;

		if (remote_try(cli, "worker.reset", params_of(name, why),
			REMOTE_LONG_MS, &result, &code, &err)) {
			json_object_array_add(
			    done, json_object_new_string(name));
			tell(cli, result);
		} else {
			json_set_string(failed, name, err.msg);
			cli_warn(cli, "%s: %s", name, err.msg);
		}
	}
	if (state->count == 0)
		buf_adds(&cli->text, "There are no workers.\n");
	cli->result = json_object_new_object();
	json_set(cli->result, "workers_reset", done);
	json_set(cli->result, "failed", failed);
	return json_object_object_length(failed) == 0 ? CLI_OK : CLI_FAILED;
}

static int
reset_run(struct cli *cli, const struct cli_args *args)
{
	bool all = args->flags[FLAG_ALL] != NULL;
	const char *name = args->count > 0 ? args->list[0] : NULL;
	const char *why = args->flags[FLAG_FAILED];
	const struct worker *worker;
	struct state state;
	int status;

	if (all == (name != NULL))
		return cli_misuse(cli, &cmd_reset,
		    all ? "name the worker or give --all, not both" :
			  "name the worker to reset, or give --all");
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	if (!all)
		status = roster_find(cli, &state, name, &worker);
	if (status == CLI_OK)
		status = ask_confirm(cli, args->flags[FLAG_YES] != NULL,
		    "This ends the session of %s and removes its task and its "
		    "unlanded work; the work is kept for llmc salvage.",
		    all ? "every worker" : name);
	if (status == CLI_OK)
		status = all ? reset_all(cli, &state, why) :
			       reset_one(cli, name, why);
	state_release(&state);
	return status;
}

static const struct schema word_shape = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};

static const struct schema reset_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("worker", STRING, NULL),
	    SCHEMA_MAY("previous_status", STRING, NULL),
	    SCHEMA_MAY("new_status", STRING, NULL),
	    SCHEMA_MAY("salvage", STRING,
		"ref that keeps its work; empty when there was none"),
	    SCHEMA_MAY("workers_reset", LIST,
		"with --all, instead of the members above"),
	    SCHEMA_MAY("failed", MAP,
		"with --all: reason of each failure, by worker",
		.of = &word_shape),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_reset = {
	.name = "reset",
	.usage = "[WORKER | --all] [--failed REASON] [--yes]",
	.summary = "reset a worker to the default branch, without a task",
	.help =
	    "Ends the session, saves work that has not landed for llmc "
	    "salvage, resets the\nbranch and the worktree to the default "
	    "branch, and forgets the task. A running\ndaemon starts a new "
	    "session. In auto mode the task waits for a worker again;\nwith "
	    "--failed REASON the attempt counts, as one that failed for that "
	    "reason.\nAsks first; without a terminal, --yes is required.\n",
	.flags = reset_flags,
	.max_args = 1,
	.repairs = true,
	.method = "worker.reset",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &reset_shape },
	.run = reset_run,
};
