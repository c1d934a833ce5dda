/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "cli.h"
#include "draft.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-send.h"
#include "remote.h"
#include "roster.h"
#include "state.h"

int
plan_send(struct cli *cli, const char *method, struct json_object *params,
    const char *file)
{
	struct draft draft = DRAFT_INIT;
	const char *code = NULL;
	struct err err = { 0 };
	int status = file != NULL ? draft_read(cli, file, &draft) : CLI_OK;

	if (status != CLI_OK) {
		json_object_put(params);
		return draft_end(cli, &draft, status);
	}
	if (file != NULL)
		json_set_string(params, "plan", draft.text.data);
	if (!remote_try(cli, method, params, 0, &cli->result, &code, &err)) {
		if (file != NULL && strncmp(err.msg, "the plan: ", 10) == 0) {
			cleanup_free char *words = xstrdup(err.msg + 10);

			err_set(&err, err.code, "%s: %s", file, words);
		}
		json_object_put(take_ptr(&cli->result));
		status = cli_fail_err(cli, code, &err);
	}
	return draft_end(cli, &draft, status);
}

void
plan_tell_next(struct cli *cli, enum plan_next what)
{
	static const char *const wanted[] = {
		[PLAN_NEXT_WORK] = "Work on it begins",
		[PLAN_NEXT_PLAN] = "The planner makes its plan",
		[PLAN_NEXT_DRAFT] = "The planner makes the draft",
	};
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	bool is_auto = json_bool_or(daemon, "auto", false);
	const char *goal = json_string_or(cli->result, "goal", "");
	struct state state = { 0 };

	if (roster_load(cli, &state) == CLI_OK && state.paused != NULL)
		buf_addf(&cli->text,
		    "%s when auto mode goes on (%s): llmc resume\n",
		    wanted[what], state.paused);
	else if (daemon == NULL)
		buf_addf(&cli->text,
		    "No daemon is running. %s after: llmc up --auto --detach\n",
		    wanted[what]);
	else if (what == PLAN_NEXT_WORK && !is_auto)
		buf_addf(&cli->text,
		    "The daemon runs without auto mode. %s after: llmc up "
		    "--auto --detach\n",
		    wanted[what]);
	else if (what == PLAN_NEXT_WORK)
		buf_addf(&cli->text,
		    "Auto workers take what is ready; see: llmc goal show %s\n",
		    goal);
	else if (what == PLAN_NEXT_DRAFT)
		buf_addf(&cli->text,
		    "The planner makes a draft now; look at it with: llmc plan "
		    "draft %s\n",
		    goal);
	else if (is_auto)
		buf_addf(&cli->text,
		    "The planner makes its plan now, and auto workers begin it "
		    "without asking; see: llmc goal show %s\nTo read it first: "
		    "llmc goal pause %s\n",
		    goal, goal);
	else
		buf_addf(&cli->text,
		    "The planner makes its plan now; see: llmc goal show %s\n"
		    "Work on it begins after: llmc up --auto --detach\n",
		    goal);
	state_release(&state);
}
