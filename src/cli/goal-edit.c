/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "draft.h"
#include "errtext.h"
#include "goal-edit.h"
#include "goal-view.h"
#include "json.h"
#include "mem.h"
#include "plan-print.h"
#include "plan-revise.h"
#include "plan-set.h"
#include "remote.h"
#include "terminal.h"

struct goal_edit {
	struct buf text; /* as it is shown */
	char *goal; /* its id */
	char before[PLAN_HASH_SIZE]; /* the hash of what is edited */
	int64_t version;
	const char *file, *reason; /* NULL = none */
};

static int
fetch(struct cli *cli, const char *goal, struct goal_edit *edit)
{
	struct json_object *params = json_object_new_object();
	cleanup_json struct json_object *answer = NULL;
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	struct plan_edit none = { 0 };
	struct err err = { 0 };
	int status;

	json_set_string(params, "goal", goal);
	status = remote_call(cli, "overseer.goal.show", params, 0, &answer);
	if (status == CLI_OK)
		status = goal_view_read(cli, answer, &set, &plan);
	/* Nobody shall write what is refused then. */
	none.plan = plan;
	if (status == CLI_OK && plan_edit_begin(&none, &err) < 0)
		status = cli_fail_err(cli, "E_CLOSED", &err);
	if (status == CLI_OK) {
		edit->goal = xstrdup(plan->goal->id);
		edit->version = plan->goal->version;
		plan_revise_hash(plan, edit->before);
		plan_print(plan, true, &edit->text);
	}
	plan_set_release(&set);
	return status;
}

/* false: code and err say why it was refused. */
static bool
send(struct cli *cli, const struct goal_edit *edit, const struct draft *draft,
    const char **ret_code, struct err *err)
{
	struct json_object *params = json_object_new_object();

	json_set_string(params, "goal", edit->goal);
	json_set_string(params, "text", draft->text.data);
	if (edit->file == NULL)
		json_set_string(params, "before", edit->before);
	if (edit->reason != NULL)
		json_set_string(params, "reason", edit->reason);
	if (remote_try(cli, "overseer.goal.update", params, 0, &cli->result,
		ret_code, err))
		return true;
	json_object_put(take_ptr(&cli->result));
	if (edit->file != NULL)
		err_prefix(err, "%s", edit->file);
	return false;
}

static int
apply(struct cli *cli, const struct goal_edit *edit, struct draft *draft)
{
	const char *code = NULL;
	struct err err = { 0 };
	int status;

	while (!send(cli, edit, draft, &code, &err)) {
		/* An edit of a plan that is another one by now stays one. */
		if (edit->file != NULL || strcmp(code, "changed") == 0 ||
		    !terminal_here())
			return cli_fail_err(cli, code, &err);
		cli_warn(cli, "%s", err.msg);
		if (!ask_again(cli, "Edit it again?"))
			return cli_fail(cli, code,
			    "nothing was changed; when the text is right, "
			    "type: llmc goal edit %s --plan-file FILE",
			    edit->goal);
		status = draft_again(cli, draft);
		if (status != CLI_OK)
			return status;
	}
	return CLI_OK;
}

static int
fill(struct cli *cli, const struct goal_edit *edit, struct draft *draft)
{
	size_t blank;
	int status;

	if (edit->file == NULL)
		return draft_edit(
		    cli, edit->text.data, "goal", "--plan-file", draft);
	status = draft_read(cli, edit->file, draft);
	if (status != CLI_OK)
		return status;
	blank = strspn(draft->text.data, " \t\r\n");
	if (draft->text.data[blank] == '{')
		return cli_fail(cli, "invalid",
		    "%s is JSON, and only Markdown can be compared with what "
		    "the goal is now; to replace what has not begun of the "
		    "plan, type: llmc goal plan %s --plan-file %s",
		    edit->file, edit->goal, edit->file);
	return CLI_OK;
}

int
goal_edit_text(
    struct cli *cli, const char *goal, const char *file, const char *reason)
{
	struct goal_edit edit = {
		.text = BUF_INIT, .file = file, .reason = reason
	};
	struct draft draft = DRAFT_INIT;
	int status = fetch(cli, goal, &edit);

	if (status == CLI_OK)
		status = fill(cli, &edit, &draft);
	if (status == CLI_OK)
		status = apply(cli, &edit, &draft);
	if (status == CLI_OK &&
	    json_int_or(cli->result, "version", 0) == edit.version)
		buf_addf(&cli->text, "%s: nothing was changed.\n", edit.goal);
	else if (status == CLI_OK)
		buf_addf(&cli->text,
		    "%s: changed, version %" PRId64 "; its plan has %" PRId64
		    " nodes.\n",
		    edit.goal, json_int_or(cli->result, "version", 0),
		    json_int_or(cli->result, "nodes", 0));
	free(edit.goal);
	buf_release(&edit.text);
	return draft_end(cli, &draft, status);
}
