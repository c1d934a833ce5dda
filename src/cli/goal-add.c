/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "clock.h"
#include "draft.h"
#include "errtext.h"
#include "goal-add.h"
#include "goal-view.h"
#include "json.h"
#include "mem.h"
#include "plan-load.h"
#include "plan-print.h"
#include "plan-send.h"
#include "plan-set.h"
#include "plan-text.h"
#include "remote.h"
#include "roster.h"
#include "text.h"

#define LOOK_MS 200 /* between two looks for the planner's draft */

/* The first line is the title, and a text of more than that what it solves. */
static void
set_text(struct json_object *params, const char *text)
{
	size_t len = strcspn(text, "\n");
	cleanup_free char *title =
	    xstrndup(text, text_cut(text, len, PLAN_NAME_MAX));

	json_set_string(params, "title", title);
	if (strlen(title) < strlen(text) &&
	    json_string_or(params, "problem", NULL) == NULL)
		json_set_string(params, "problem", text);
}

static int
create(struct cli *cli, struct json_object *params)
{
	return remote_call(
	    cli, "overseer.goal.create", params, 0, &cli->result);
}

static int
tell(struct cli *cli)
{
	int64_t nodes = json_int_or(cli->result, "nodes", 0);
	const char *goal = json_string_or(cli->result, "goal", "");

	buf_addf(&cli->text, "Created %s", goal);
	if (nodes > 0)
		buf_addf(
		    &cli->text, " with a plan of %" PRId64 " nodes", nodes);
	buf_adds(&cli->text, ".\n");
	plan_tell_next(cli, nodes > 0 ? PLAN_NEXT_WORK : PLAN_NEXT_PLAN);
	if (nodes == 0)
		buf_addf(&cli->text,
		    "To give it a plan yourself: llmc goal plan %s --plan "
		    "FILE\n",
		    goal);
	return CLI_OK;
}

/* --- the planner's draft --------------------------------------------- */

static struct json_object *
goal_params(const char *goal)
{
	struct json_object *params = json_object_new_object();

	json_set_string(params, "goal", goal);
	return params;
}

/* Has the planner answered? CLI_OK with *ret_done, or its failure is
 * reported. */
static int
look(struct cli *cli, const char *goal, bool *ret_done)
{
	cleanup_json struct json_object *answer = NULL;
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = remote_call(
	    cli, "overseer.goal.show", goal_params(goal), 0, &answer);

	if (status == CLI_OK)
		status = goal_view_read(cli, answer, &set, &plan);
	if (status == CLI_OK && plan->goal->plan_fault != NULL)
		status = cli_fail(cli, "failed",
		    "the planner failed: %s; ask it again with: llmc plan "
		    "draft %s",
		    plan->goal->plan_fault, goal);
	if (status == CLI_OK)
		*ret_done = !plan->goal->plan_wanted;
	plan_set_release(&set);
	return status;
}

/* Append the draft as Markdown, once it is made. */
static int
wait_draft(struct cli *cli, const char *goal, struct buf *out)
{
	cleanup_json struct json_object *answer = NULL;
	struct plan *plan = NULL;
	struct err err = { 0 };
	bool done = false;
	int status = look(cli, goal, &done);

	if (status == CLI_OK && !done)
		cli_warn(cli, "The planner makes a plan for %s.", goal);
	while (status == CLI_OK && !done) {
		poll(NULL, 0, LOOK_MS);
		status = look(cli, goal, &done);
	}
	if (status == CLI_OK)
		status = remote_call(
		    cli, "overseer.plan.draft", goal_params(goal), 0, &answer);
	if (status != CLI_OK)
		return status;
	if (plan_from_json(
		json_object_object_get(answer, "record"), "", &plan, &err) < 0)
		return cli_fail(cli, "failed",
		    "there is no draft of goal %s: %s", goal, err.msg);
	plan_print(plan, false, out);
	plan_free(plan);
	return CLI_OK;
}

/* A goal whose plan is only drafted; the draft is appended. */
static int
draft_goal(struct cli *cli, struct json_object *params, struct buf *out)
{
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	int status;

	if (daemon == NULL) {
		json_object_put(params);
		return cli_fail(cli, "no_daemon",
		    "the planner is asked by the daemon: llmc up --auto "
		    "--detach; or give a plan with --plan FILE");
	}
	json_set_bool(params, "draft", true);
	status = create(cli, params);
	return status == CLI_OK ?
	    wait_draft(cli, json_string_or(cli->result, "goal", ""), out) :
	    status;
}

/* --- a plan from a file ---------------------------------------------- */

/* Show what a file says, without a goal. */
static int
show_file(struct cli *cli, const struct goal_add *add)
{
	struct draft draft = DRAFT_INIT;
	const struct plan_source source = {
		.goal_id = "new", .title = add->text, .now_ms = clock_wall_ms()
	};
	struct plan *plan = NULL;
	struct err err = { 0 };
	int status = draft_read(cli, add->file, &draft);

	if (status == CLI_OK &&
	    plan_load_text(
		draft.text.data, draft.text.len, &source, &plan, &err) < 0)
		status = cli_fail(cli, "invalid", "%s: %s", add->file, err.msg);
	if (status == CLI_OK) {
		plan_print(plan, false, &cli->text);
		cli->result = json_object_new_object();
		json_set_int(cli->result, "nodes", (int64_t)plan->count);
		json_set_bool(cli->result, "dry_run", true);
		plan_free(plan);
	}
	return draft_end(cli, &draft, status);
}

/* --- the editor ------------------------------------------------------ */

/* goal: a goal that has the draft already; NULL = params make one. */
static int
edit(struct cli *cli, const struct goal_add *add, const char *goal,
    const char *text, struct json_object *params)
{
	struct draft draft = DRAFT_INIT;
	int status = draft_edit(cli, text, "goal", "--plan", &draft);
	bool begin = status == CLI_OK &&
	    (add->yes || ask_again(cli, "Work on this plan now?"));
	const char *method = goal == NULL ? "overseer.goal.create" :
	    begin                         ? "overseer.plan.apply" :
					    "overseer.plan.draft";

	if (status != CLI_OK) {
		json_object_put(params);
		return draft_end(cli, &draft, status);
	}
	if (goal != NULL)
		json_set_string(params, "goal", goal);
	json_set_string(params, "plan", draft.text.data);
	json_object_put(take_ptr(&cli->result));
	status = remote_call(cli, method, params, 0, &cli->result);
	if (status == CLI_OK && begin)
		status = tell(cli);
	else if (status == CLI_OK && goal != NULL)
		buf_addf(&cli->text,
		    "It is kept as a draft; begin with: llmc plan apply %s\n",
		    goal);
	return draft_end(cli, &draft, status);
}

static int
edit_file(
    struct cli *cli, const struct goal_add *add, struct json_object *params)
{
	struct draft draft = DRAFT_INIT;
	int status = draft_read(cli, add->file, &draft);

	if (status == CLI_OK) {
		struct goal_add at_once = *add;

		at_once.yes = true;
		status = edit(cli, &at_once, NULL, draft.text.data, params);
	} else {
		json_object_put(params);
	}
	return draft_end(cli, &draft, status);
}

int
goal_add(
    struct cli *cli, const struct goal_add *add, struct json_object *params)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *goal = NULL;
	int status;

	if (add->text != NULL)
		set_text(params, add->text);
	if (add->dry_run && add->file != NULL) {
		json_object_put(params);
		return show_file(cli, add);
	}
	if (add->edit && add->file != NULL)
		return edit_file(cli, add, params);
	if (!add->edit && !add->dry_run) {
		status =
		    plan_send(cli, "overseer.goal.create", params, add->file);
		return status == CLI_OK ? tell(cli) : status;
	}
	status = draft_goal(cli, params, &text);
	if (status != CLI_OK)
		return status;
	xstrset(&goal, json_string_or(cli->result, "goal", ""));
	if (add->edit)
		return edit(
		    cli, add, goal, text.data, json_object_new_object());
	buf_addf(&cli->text,
	    "%s\nNothing has begun. To work on it: llmc plan apply %s; to drop "
	    "it: llmc goal cancel %s\n",
	    text.data, goal, goal);
	return CLI_OK;
}
