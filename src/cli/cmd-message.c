/* SPDX-License-Identifier: ISC */

/* llmc message: tell a worker something about its task. */
#include <stdlib.h>

#include "commands.h"
#include "draft.h"
#include "json.h"
#include "remote.h"
#include "roster.h"
#include "worker.h"

static int
message_run(struct cli *cli, const struct cli_args *args)
{
	const char *name = args->list[0];
	const struct worker *worker;
	struct draft draft = DRAFT_INIT;
	struct json_object *params;
	struct state state;
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	status = roster_find(cli, &state, name, &worker);
	if (status == CLI_OK)
		status = draft_fill(cli, args->count > 1 ? args->list[1] : NULL,
		    "message", NULL, &draft);
	if (status == CLI_OK) {
		params = remote_worker(name);
		json_set_string(params, "text", draft.text.data);
		status =
		    remote_call(cli, "worker.message", params, 0, &cli->result);
	}
	if (status == CLI_OK)
		buf_addf(&cli->text, "Sent to %s (%s).\n", name,
		    json_string_or(cli->result, "new_status", ""));
	state_release(&state);
	return draft_end(cli, &draft, status);
}

const struct cli_command cmd_message = {
	.name = "message",
	.usage = "WORKER [TEXT]",
	.summary = "send a worker a message about its task",
	.help =
	    "The text is typed into the session unchanged, and the "
	    "conversation continues. To\na worker that waits for review, it is "
	    "a rejection. TEXT - reads standard input;\nwithout TEXT, an "
	    "editor opens.\n",
	.min_args = 1,
	.max_args = 2,
	.method = "worker.message",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = message_run,
};
