/* SPDX-License-Identifier: ISC */

/* llmc goal: goals and their plans, which auto workers carry out. */
#include <inttypes.h>
#include <string.h>

#include "api-goal.h"
#include "commands.h"
#include "errtext.h"
#include "flag-params.h"
#include "goal-add.h"
#include "goal-edit.h"
#include "goal-view.h"
#include "json.h"
#include "mem.h"
#include "plan-send.h"
#include "remote.h"
#include "schema.h"
#include "text.h"
#include "verbs.h"

enum {
	FLAG_TITLE,
	FLAG_PLAN,
	FLAG_PLAN_FILE,
	FLAG_EDIT,
	FLAG_DRY_RUN,
	FLAG_YES,
	FLAG_PROBLEM,
	FLAG_CRITERION,
	FLAG_CONSTRAINT,
	FLAG_TAG,
	FLAG_PRIORITY,
	FLAG_FROM_SESSION,
	FLAG_REASON,
	FLAG_ALL
};

#define BIT(flag) (1u << (flag))
#define DEFINITION                                                   \
	(BIT(FLAG_TITLE) | BIT(FLAG_PROBLEM) | BIT(FLAG_CRITERION) | \
	    BIT(FLAG_CONSTRAINT) | BIT(FLAG_TAG) | BIT(FLAG_PRIORITY))

#define PLANNED (BIT(FLAG_PLAN) | BIT(FLAG_PLAN_FILE))
#define ADDING                                                       \
	(DEFINITION | PLANNED | BIT(FLAG_EDIT) | BIT(FLAG_DRY_RUN) | \
	    BIT(FLAG_YES) | BIT(FLAG_FROM_SESSION))

static const struct cli_flag goal_flags[] = {
	[FLAG_TITLE] = { "title", "TITLE",
	    "for add and edit: what is to be reached, in one line" },
	[FLAG_PLAN] = { "plan", "FILE",
	    "for add and plan: its phases, tasks and subtasks, as Markdown or "
	    "JSON (- is stdin); for edit: instead of the editor" },
	[FLAG_PLAN_FILE] = { "plan-file", "FILE", "the same as --plan" },
	[FLAG_EDIT] = { "edit", NULL,
	    "for add: show the plan in an editor before work on it begins" },
	[FLAG_DRY_RUN] = { "dry-run", NULL,
	    "for add: show the plan, and begin nothing" },
	[FLAG_YES] = { "yes", NULL, "for add --edit: begin without asking" },
	[FLAG_PROBLEM] = { "problem", "TEXT",
	    "for add and edit: what is to be solved" },
	[FLAG_CRITERION] = { "criterion", "TEXT",
	    "for add and edit: what can be verified at the end; may be "
	    "given several times" },
	[FLAG_CONSTRAINT] = { "constraint", "TEXT",
	    "for add and edit: what must hold; may be given several "
	    "times" },
	[FLAG_TAG] = { "tag", "TAG",
	    "for add and edit: may be given several times" },
	[FLAG_PRIORITY] = { "priority", "PRIORITY",
	    "for add and edit: urgent, high, normal or low" },
	[FLAG_FROM_SESSION] = { "from-session", "WORKER",
	    "for add: the worker in whose session it came up" },
	[FLAG_REASON] = { "reason", "TEXT", "for changes: why; it is kept" },
	[FLAG_ALL] = { "all", NULL,
	    "for list: goals that have ended, and those of single "
	    "tasks, too" },
	{ NULL, NULL, NULL },
};

/* --- parameters ------------------------------------------------------ */

static struct json_object *
goal_params(const char *goal)
{
	struct json_object *params = json_object_new_object();

	if (goal != NULL)
		json_set_string(params, "goal", goal);
	return params;
}

static void
set_definition(struct json_object *params, const struct cli_args *args)
{
	flag_text(params, "title", args, FLAG_TITLE);
	flag_text(params, "problem", args, FLAG_PROBLEM);
	flag_text(params, "priority", args, FLAG_PRIORITY);
	flag_list(params, "success_criteria", args, FLAG_CRITERION);
	flag_list(params, "constraints", args, FLAG_CONSTRAINT);
	flag_list(params, "tags", args, FLAG_TAG);
}

/* The two names of one option. */
static const char *
plan_file(const struct cli_args *args)
{
	return args->flags[FLAG_PLAN] != NULL ? args->flags[FLAG_PLAN] :
						args->flags[FLAG_PLAN_FILE];
}

/* --- changes --------------------------------------------------------- */

static int
goal_create(struct cli *cli, const struct cli_args *args)
{
	const char *text =
	    args->count > 1 ? args->list[1] : args->flags[FLAG_TITLE];
	const struct goal_add add = {
		.text = text,
		.file = plan_file(args),
		.edit = args->flags[FLAG_EDIT] != NULL,
		.dry_run = args->flags[FLAG_DRY_RUN] != NULL,
		.yes = args->flags[FLAG_YES] != NULL,
	};
	struct json_object *params;
	int status = flag_priority(cli, &cmd_goal, args->flags[FLAG_PRIORITY]);

	if (status != CLI_OK)
		return status;
	if (text == NULL && add.file == NULL)
		return cli_misuse(cli, &cmd_goal,
		    "say what is to be reached: llmc goal add TEXT");
	if (args->count > 1 && args->flags[FLAG_TITLE] != NULL)
		return cli_misuse(
		    cli, &cmd_goal, "give TEXT or --title, not both");
	params = json_object_new_object();
	set_definition(params, args);
	flag_text(params, "from_session", args, FLAG_FROM_SESSION);
	return goal_add(cli, &add, params);
}

static void
tell_plan(struct cli *cli)
{
	buf_addf(&cli->text,
	    "%s: its plan has %" PRId64 " nodes, version %" PRId64 ".\n",
	    json_string_or(cli->result, "goal", ""),
	    json_int_or(cli->result, "nodes", 0),
	    json_int_or(cli->result, "version", 0));
}

static int
goal_plan(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = goal_params(args->list[1]);
	int status;

	flag_text(params, "reason", args, FLAG_REASON);
	status = plan_send(cli, "overseer.goal.plan", params, plan_file(args));
	if (status != CLI_OK)
		return status;
	if (plan_file(args) != NULL)
		tell_plan(cli);
	plan_tell_next(
	    cli, plan_file(args) != NULL ? PLAN_NEXT_WORK : PLAN_NEXT_PLAN);
	return CLI_OK;
}

static int
goal_edit(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params;
	bool any = false;
	int status = flag_priority(cli, &cmd_goal, args->flags[FLAG_PRIORITY]);

	if (status != CLI_OK)
		return status;
	for (int i = 0; goal_flags[i].name != NULL; i++)
		any |= args->flags[i] != NULL && (DEFINITION & BIT(i)) != 0;
	if (any && plan_file(args) != NULL)
		return cli_misuse(cli, &cmd_goal,
		    "give --plan, or options for what is to be changed, "
		    "not both");
	if (!any)
		return goal_edit_text(cli, args->list[1], plan_file(args),
		    args->flags[FLAG_REASON]);
	params = goal_params(args->list[1]);
	set_definition(params, args);
	flag_text(params, "reason", args, FLAG_REASON);
	status =
	    remote_call(cli, "overseer.goal.update", params, 0, &cli->result);
	if (status == CLI_OK)
		buf_addf(&cli->text, "%s: changed, version %" PRId64 ".\n",
		    json_string_or(cli->result, "goal", ""),
		    json_int_or(cli->result, "version", 0));
	return status;
}

/* The method is named as the verb. */
static int
goal_move(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = goal_params(args->list[1]);
	cleanup_free char *method =
	    xasprintf("overseer.goal.%s", args->list[0]);
	int status;

	flag_text(params, "reason", args, FLAG_REASON);
	status = remote_call(cli, method, params, 0, &cli->result);
	if (status == CLI_OK)
		buf_addf(&cli->text, "%s: %s.\n",
		    json_string_or(cli->result, "goal", ""),
		    json_string_or(cli->result, "status", ""));
	return status;
}

/* --- looking --------------------------------------------------------- */

/* There may be very many of them: they are not the daemon's business. */
static int
add_ended(struct cli *cli)
{
	cleanup_json struct json_object *ended = NULL;
	struct json_object *list = NULL;
	struct err err = { 0 };

	if (remote_look(cli, "goals", json_object_new_object(), &ended, &err) <
	    0)
		return cli_fail_err(cli, "io", &err);
	json_object_object_get_ex(cli->result, "goals", &list);
	for (size_t i = 0; i < json_object_array_length(ended); i++)
		json_object_array_add(
		    list, json_object_get(json_object_array_get_idx(ended, i)));
	return CLI_OK;
}

static int
goal_list(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "overseer.goal.list",
	    json_object_new_object(), 0, &cli->result);

	if (status == CLI_OK && args->flags[FLAG_ALL] != NULL)
		status = add_ended(cli);
	if (status == CLI_OK)
		goal_view_list(cli, cli->result);
	return status;
}

static int
goal_show(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "overseer.goal.show",
	    goal_params(args->list[1]), 0, &cli->result);

	return status == CLI_OK ? goal_view_show(cli, cli->result) : status;
}

/* --- the command ----------------------------------------------------- */

static const struct verb goal_verbs[] = {
	{ "add", 0, 1, ADDING, "add TEXT [--plan FILE]", goal_create },
	{ "create", 0, 1, ADDING, "add TEXT [--plan FILE]", goal_create },
	{ "list", 0, 0, BIT(FLAG_ALL), "list [--all]", goal_list },
	{ "show", 1, 1, 0, "show GOAL", goal_show },
	{ "plan", 1, 1, PLANNED | BIT(FLAG_REASON), "plan GOAL [--plan FILE]",
	    goal_plan },
	{ "edit", 1, 1, DEFINITION | PLANNED | BIT(FLAG_REASON), "edit GOAL",
	    goal_edit },
	{ "pause", 1, 1, BIT(FLAG_REASON), "pause GOAL", goal_move },
	{ "resume", 1, 1, BIT(FLAG_REASON), "resume GOAL", goal_move },
	{ "cancel", 1, 1, BIT(FLAG_REASON), "cancel GOAL", goal_move },
	{ "archive", 1, 1, BIT(FLAG_REASON), "archive GOAL", goal_move },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int
goal_run(struct cli *cli, const struct cli_args *args)
{
	return verbs_run(cli, &cmd_goal, goal_verbs, args);
}

static const struct schema goal_forms = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("list", OBJECT, NULL, .of = &api_goal_listed),
	    SCHEMA_IS("show", OBJECT, NULL, .of = &api_goal_shown),
	    SCHEMA_IS("every change", OBJECT, NULL, .of = &api_goal_changed),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_goal = {
	.name = "goal",
	.usage = "add TEXT | list | show GOAL | plan GOAL | edit "
		 "GOAL | pause GOAL | resume GOAL | cancel GOAL | archive GOAL",
	.summary = "show and change goals and their plans",
	.help =
	    "add      add a goal; --plan gives it a plan, otherwise the "
	    "planner does, and auto\n         workers begin it\n"
	    "list     the goals that are active or paused; with --all, every "
	    "goal\n"
	    "show     a goal with its plan: progress, blockers, and who works "
	    "on what\n"
	    "plan     give it a plan, or another one for what has not begun; "
	    "without\n         --plan, the planner makes it; llmc plan "
	    "draft and apply do\n         that in two steps\n"
	    "edit     change it and its plan as text, in an editor ($VISUAL, "
	    "$EDITOR or vi);\n         or only what --title, --problem, "
	    "--criterion, --constraint, --tag or\n         --priority say\n"
	    "pause    begin nothing new; turns that run are finished\n"
	    "resume   continue\n"
	    "cancel   give it up; work in progress is salvaged\n"
	    "archive  hide a goal that has ended\n\n"
	    "Without one of these words: list.\n"
	    "GOAL is the id that list shows, or four letters or more of it that no other goal\n"
	    "has, such as its last ones. A plan file in Markdown has a phase for each\n"
	    "\"## Name\", a task for each \"### Name\", a subtask for each \"- name\" below a task,\n"
	    "and lists after \"Acceptance:\" and \"Depends:\". \"Recovery:\" says what to do about\n"
	    "a task whose attempts have all failed: retry, replan, reassign or escalate. llmc\n"
	    "work changes single nodes.\n",
	.flags = goal_flags,
	.min_args = 0,
	.max_args = 2,
	.guarded = true,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(
	    const struct schema_field){ .type = SCHEMA_ONE, .of = &goal_forms },
	.run = goal_run,
};
