/* SPDX-License-Identifier: ISC */

/* llmc goal: goals, as people see them and change them. */
#include "base.h"

#include <poll.h>

#include "api-work.h"
#include "cli-private.h"
#include "contract.h"
#include "plan-file.h"
#include "plan-progress.h"
#include "plan-revise.h"
#include "plan.h"
#include "view.h"
#include "work-record.h"

static const char *
node_colour(enum node_status status)
{
	return view_colour(node_status_name(status));
}

/* --- goals ----------------------------------------------------------- */

void
goal_view_add_done(struct json_object *summary, struct buf *out)
{
	if (json_int_or(summary, "total", 0) == 0)
		buf_adds(out,
		    json_bool_or(summary, "planning", false) ? "to be planned" :
							       "no plan");
	else
		buf_addf(out, "%" PRId64 "/%" PRId64,
		    json_int_or(summary, "done", 0),
		    json_int_or(summary, "total", 0));
	if (json_int_or(summary, "dropped", 0) > 0)
		buf_addf(out, ", %" PRId64 " cancelled",
		    json_int_or(summary, "dropped", 0));
}

static void
add_done(struct json_object *entry, struct buf *out)
{
	struct json_object *summary = json_member(entry, "summary");

	if (summary != NULL)
		goal_view_add_done(summary, out);
}

static void
add_status(struct json_object *entry, struct buf *out)
{
	const char *status = json_string_or(entry, "status", "");

	if (strcmp(status, goal_status_words[GOAL_COMPLETED]) == 0)
		status = plan_summary_word(GOAL_COMPLETED,
		    (size_t)json_int_or(
			json_member(entry, "summary"), "dropped", 0));
	buf_adds(out, status);
}

static void
add_name(struct json_object *entry, struct buf *out)
{
	buf_addf(out, "g%" PRId64, json_int_or(entry, "number", 0));
}

static void
add_priority(struct json_object *entry, struct buf *out)
{
	const char *priority = json_string_or(entry, "priority", "");

	buf_adds(out, strcmp(priority, "normal") == 0 ? "" : priority);
}

static const struct view_column goal_columns[] = {
	{ "Goal", .add = add_name },
	{ "Status", .cell = VIEW_STATUS, .add = add_status },
	{ "Priority", .add = add_priority },
	{ "Done", .add = add_done, .right = true },
	{ "Title", "title", .flexible = true },
};

/* The answers of overseer.goal.list and .show. -EINVAL, reported: the answer
 * cannot be read, because the daemon is of another version. */
static void
goal_view_list(struct cli *cli, struct json_object *answer, bool all)
{
	CLI_TABLE(cli, goal_columns, json_member(answer, "goals"),
	    all ? "There are no goals; create one with: llmc goal add TEXT" :
		  "There are no open goals; create one with: llmc goal add "
		  "TEXT");
}

const struct schema goal_elsewhere_shape = SCHEMA_SHAPE(
    SCHEMA_IS("goal", STRING, "HOST:ID"), SCHEMA_IS("host", STRING, NULL),
    SCHEMA_IS("status", STRING, NULL), SCHEMA_IS("title", STRING, NULL),
    SCHEMA_IS("done", INT, NULL), SCHEMA_IS("total", INT, NULL),
    SCHEMA_IS("ready", INT, NULL), SCHEMA_IS("blocked", INT, NULL));

static const struct view_column elsewhere_columns[] = {
	{ "Goal", .key = "goal" },
	{ "Status", .key = "status", .cell = VIEW_STATUS },
	{ "Done", .add = goal_view_add_done, .right = true },
	{ "Title", .key = "title", .flexible = true },
};

struct json_object *
goal_view_elsewhere(struct cli *cli)
{
	static const char *const sections[] = { "head", "goals", VIEW_HOSTS,
		NULL };
	static const char *const members[] = { "title", "status", "done",
		"total", "ready", "blocked", "host", NULL };
	cleanup_json struct json_object *view = NULL;
	struct json_object *rows = NULL;

	if (!remote_alive(cli) || !view_source_ask(cli, sections, &view))
		return NULL;
	JSON_MEMBERS (it, view_of(view, "goals")) {
		struct json_object *row;

		if (strchr(it.key, ':') == NULL)
			continue;
		row = json_object_new_object();
		view_pick(row, it.val, members);
		json_set_string(row, "goal", it.key);
		if (rows == NULL)
			rows = json_object_new_array();
		json_object_array_add(rows, row);
	}
	if (rows != NULL) {
		buf_adds(&cli->text, "\nof other hosts\n");
		CLI_TABLE(cli, elsewhere_columns, rows, NULL);
	}
	return rows;
}

static void
show_list(struct cli *cli, const char *name, char *const *list)
{
	if (list == NULL || list[0] == NULL)
		return;
	buf_addf(&cli->text, "\n%s\n", name);
	for (; *list != NULL; list++)
		cli_say(cli, "  - ", *list, "\n");
}

static void
show_plan(struct cli *cli, const struct plan *plan)
{
	const struct plan_goal *goal = plan->goal;
	cleanup_buf struct buf head = BUF_INIT;
	struct table *table;

	plan_tree_head(plan, &head);
	cli_say(cli, "", head.data, "\n");
	cli_text(cli, "problem", goal->problem_statement);
	show_list(cli, "success criteria", goal->success_criteria);
	show_list(cli, "constraints", goal->constraints);
	cli_text(cli, "the planner failed", goal->plan_fault);
	if (plan->count == 0) {
		buf_addf(&cli->text,
		    "\nIt has no plan yet%s; give it one with: llmc goal plan "
		    "%s --plan FILE\n",
		    goal->plan_fault == NULL ?
			"; the planner makes one while llmc up --auto runs" :
			"",
		    goal->id);
		if (goal->plan_fault != NULL)
			buf_addf(&cli->text,
			    "or ask the planner again: llmc goal plan %s\n",
			    goal->id);
		return;
	}
	buf_addf(&cli->text, "\nplan, version %" PRId64 "\n", goal->version);
	table = plan_tree(plan, node_colour);
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
}

static int
goal_view_show(struct cli *cli, struct json_object *answer)
{
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = plan_read(cli, answer, &set, &plan);

	if (status == CLI_OK)
		show_plan(cli, plan);
	plan_set_release(&set);
	return status;
}

/* --- nodes ----------------------------------------------------------- */

static const struct view_column node_columns[] = {
	{ "Node", .key = "node" },
	{ "Status", "status", .cell = VIEW_STATUS },
	{ "Priority", .add = add_priority },
	{ "Name", "name", .flexible = true },
	{ "Note", "note", .flexible = true },
	{ "Goal", .key = "goal" },
};

void
goal_view_nodes(struct cli *cli, struct json_object *answer)
{
	CLI_TABLE(cli, node_columns, json_member(answer, "nodes"),
	    "Nothing is to be done; see the goals with: llmc goal list");
}

static void
add_kind(struct json_object *answer, struct buf *out)
{
	struct json_object *record = json_member(answer, "record");

	buf_adds(out,
	    json_string_or(record, "phaseId", NULL) != NULL    ? "phase" :
		json_string_or(record, "taskId", NULL) != NULL ? "task" :
								 "subtask");
}

static const struct view_column node_lines[] = {
	{ "status", "record.status", .cell = VIEW_STATUS },
	{ "note", .key = "note" },
	{ "kind", .add = add_kind },
	{ "goal", .key = "record.goalId" },
	{ "below", .key = "record.parentId" },
	{ "priority", .key = "record.priority" },
	{ "recovery", .key = "record.recoveryPolicy" },
	{ "result", .key = "record.result" },
	{ "agent", .key = "record.suggestedAgentId" },
	{ "tools", "record.requiredTools", .cell = VIEW_WORDS },
	{ "depends on", "record.dependsOn", .cell = VIEW_WORDS },
	{ "blocks", "record.blocks", .cell = VIEW_WORDS },
	{ "commits", "record.evidence.commits", .cell = VIEW_WORDS },
	{ "tests", "record.evidence.testsRun", .cell = VIEW_WORDS },
	{ "started", "record.startedAt", .cell = VIEW_MOMENT },
	{ "ended", "record.endedAt", .cell = VIEW_MOMENT },
};

void
goal_view_node(struct cli *cli, struct json_object *answer)
{
	struct plan_node *node = NULL;
	const struct plan_node *n;

	if (plan_node_from_json(
		json_member(answer, "record"), "record", &node, NULL) < 0)
		return;
	n = node;
	cli_say(cli, "", n->id, "");
	cli_say(cli, "  ", n->name, "\n");
	CLI_FACTS(cli, node_lines, answer, 10);
	cli_text(cli, "objective", n->objective);
	cli_text(cli, "outcome", n->expected_outcome);
	show_list(cli, "acceptance", n->acceptance);
	show_list(cli, "scope paths", n->scope_paths);
	if (n->verification != NULL) {
		buf_adds(&cli->text, "\ncontract\n");
		contract_print(n->verification, &cli->text);
	}
	plan_node_free(node);
}

struct goal_add {
	const char *text; /* what is to be reached; NULL = as the plan says */
	const char *file; /* its plan; NULL = the planner makes one */
	bool edit; /* show the plan in the editor first */
	bool dry_run; /* only show it */
	bool yes; /* after the editor: begin without asking */
};

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
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	struct plan_edit none = { 0 };
	struct err err = { 0 };
	int status = plan_fetch(cli, goal, &set, &plan);

	/* Do not let a person write what is refused then. */
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
	struct json_object *params =
	    remote_params("goal", edit->goal, "text", draft->text.data,
		"before", edit->file == NULL ? edit->before : NULL, "reason",
		edit->reason, NULL);

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
			    "type: llmc goal edit %s --plan FILE",
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
		    cli, edit->text.data, "goal", "--plan", draft);
	status = draft_read(cli, edit->file, draft);
	if (status != CLI_OK)
		return status;
	blank = strspn(draft->text.data, " \t\r\n");
	if (draft->text.data[blank] == '{')
		return cli_fail(cli, "invalid",
		    "%s is JSON, and only Markdown can be compared with what "
		    "the goal is now; to replace what has not begun of the "
		    "plan, type: llmc goal plan %s --plan %s",
		    edit->file, edit->goal, edit->file);
	return CLI_OK;
}

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

/* Has the planner answered? CLI_OK with *ret_done, or its failure is
 * reported. */
static int
look(struct cli *cli, const char *goal, bool *ret_done)
{
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = plan_fetch(cli, goal, &set, &plan);

	if (status == CLI_OK && plan->goal->plan_fault != NULL)
		status = cli_fail(cli, "failed",
		    "the planner failed: %s; ask it again with: llmc goal plan "
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
		status = remote_call(cli, "overseer.plan.draft",
		    remote_params("goal", goal, NULL), 0, &answer);
	if (status != CLI_OK)
		return status;
	if (plan_from_json(json_member(answer, "record"), "", &plan, &err) < 0)
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
	status =
	    remote_call(cli, "overseer.goal.create", params, 0, &cli->result);
	return status == CLI_OK ?
	    wait_draft(cli, json_string_or(cli->result, "goal", ""), out) :
	    status;
}

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
goal_add_edit(struct cli *cli, const struct goal_add *add, const char *goal,
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
		    "It is kept as a draft; begin with: llmc goal plan apply %s\n",
		    goal);
	return draft_end(cli, &draft, status);
}

/* params: what else the goal says. Takes them. */
static int
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
	if (add->edit && add->file != NULL) {
		struct draft draft = DRAFT_INIT;

		status = draft_read(cli, add->file, &draft);
		if (status == CLI_OK) {
			struct goal_add at_once = *add;

			at_once.yes = true;
			status = goal_add_edit(
			    cli, &at_once, NULL, draft.text.data, params);
		} else {
			json_object_put(params);
		}
		return draft_end(cli, &draft, status);
	}
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
		return goal_add_edit(
		    cli, add, goal, text.data, json_object_new_object());
	buf_addf(&cli->text,
	    "%s\nNothing has begun. To work on it: llmc goal plan apply %s; to drop "
	    "it: llmc goal cancel %s\n",
	    text.data, goal, goal);
	return CLI_OK;
}

enum {
	FLAG_TITLE,
	FLAG_PLAN,
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
	FLAG_ALL,
	FLAG_HERE
};

#define BIT(flag) (1u << (flag))

#define DEFINITION                                                   \
	(BIT(FLAG_TITLE) | BIT(FLAG_PROBLEM) | BIT(FLAG_CRITERION) | \
	    BIT(FLAG_CONSTRAINT) | BIT(FLAG_TAG) | BIT(FLAG_PRIORITY))

#define ADDING                                                              \
	(DEFINITION | BIT(FLAG_PLAN) | BIT(FLAG_EDIT) | BIT(FLAG_DRY_RUN) | \
	    BIT(FLAG_YES) | BIT(FLAG_FROM_SESSION))

static const struct cli_flag goal_flags[] = {
	[FLAG_TITLE] = { "title", "TITLE",
	    "for add and edit: what is to be reached, in one line" },
	[FLAG_PLAN] = { "plan", "FILE",
	    "for add and edit: its plan, as Markdown or JSON; see llmc(1)" },
	[FLAG_EDIT] = { "edit", NULL,
	    "for add: show the plan in an editor before it begins" },
	[FLAG_DRY_RUN] = { "dry-run", NULL,
	    "for add: show the plan, and begin nothing" },
	[FLAG_YES] = { "yes", NULL, "for add --edit: begin without asking" },
	[FLAG_PROBLEM] = { "problem", "TEXT",
	    "for add and edit: what is to be solved" },
	[FLAG_CRITERION] = { "criterion", "TEXT",
	    "for add and edit: what can be verified; repeatable" },
	[FLAG_CONSTRAINT] = { "constraint", "TEXT",
	    "for add and edit: what must hold; repeatable" },
	[FLAG_TAG] = { "tag", "TAG", "for add and edit; repeatable" },
	[FLAG_PRIORITY] = { "priority", "PRIORITY",
	    "for add and edit: urgent, high, normal or low" },
	[FLAG_FROM_SESSION] = { "from-session", "WORKER",
	    "for add: the worker in whose session it came up" },
	[FLAG_REASON] = { "reason", "TEXT", "for changes: why; it is kept" },
	[FLAG_ALL] = { "all", NULL, "for list: those that have ended, too" },
	[FLAG_HERE] = { "here", NULL, "for list: " CLI_HERE_HELP },
	{ NULL, NULL, NULL },
};

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

static int
goal_create(struct cli *cli, const struct cli_args *args)
{
	const char *text =
	    args->count > 1 ? args->list[1] : args->flags[FLAG_TITLE];
	const struct goal_add add = {
		.text = text,
		.file = args->flags[FLAG_PLAN],
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
	if (any && args->flags[FLAG_PLAN] != NULL)
		return cli_misuse(cli, &cmd_goal,
		    "give --plan, or options for what is to be changed, "
		    "not both");
	if (!any) {
		const char *goal = args->list[1];
		const char *file = args->flags[FLAG_PLAN];
		const char *reason = args->flags[FLAG_REASON];
		struct goal_edit edit = {
			.text = BUF_INIT, .file = file, .reason = reason
		};
		struct draft draft = DRAFT_INIT;

		/* Change what is different in the text: that of the file
		 * ("-" is standard input), or (NULL) of the editor. A text
		 * that is refused can be edited again, and is kept in its
		 * file. reason may be NULL. CLI_OK, or the failure is
		 * reported. */
		status = fetch(cli, goal, &edit);
		if (status == CLI_OK)
			status = fill(cli, &edit, &draft);
		if (status == CLI_OK)
			status = apply(cli, &edit, &draft);
		if (status == CLI_OK &&
		    json_int_or(cli->result, "version", 0) == edit.version)
			buf_addf(&cli->text, "%s: nothing was changed.\n",
			    edit.goal);
		else if (status == CLI_OK)
			buf_addf(&cli->text,
			    "%s: changed, version %" PRId64
			    "; its plan has %" PRId64 " nodes.\n",
			    edit.goal, json_int_or(cli->result, "version", 0),
			    json_int_or(cli->result, "nodes", 0));
		free(edit.goal);
		buf_release(&edit.text);
		return draft_end(cli, &draft, status);
	}
	params = remote_params("goal", args->list[1], NULL);
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
	struct json_object *params = remote_params("goal", args->list[1], NULL);
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
	int status = remote_see(cli, "goals", json_object_new_object(), &ended);

	if (status == CLI_OK)
		json_add_all(json_member(cli->result, "goals"), ended);
	return status;
}

static int
goal_list(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "overseer.goal.list",
	    json_object_new_object(), 0, &cli->result);

	if (status == CLI_OK && args->flags[FLAG_ALL] != NULL)
		status = add_ended(cli);
	if (status == CLI_OK) {
		struct json_object *rows;

		goal_view_list(cli, cli->result, args->flags[FLAG_ALL] != NULL);
		rows = args->flags[FLAG_HERE] == NULL ?
		    goal_view_elsewhere(cli) :
		    NULL;
		if (rows != NULL)
			json_set(cli->result, "elsewhere", rows);
	}
	return status;
}

static int
goal_show(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "overseer.goal.show",
	    remote_params("goal", args->list[1], NULL), 0, &cli->result);

	return status == CLI_OK ? goal_view_show(cli, cli->result) : status;
}

static const struct verb goal_verbs[] = {
	{ "add", 0, 1, ADDING, "add TEXT [--plan FILE]", goal_create },
	{ "create", 0, 1, ADDING, "add TEXT [--plan FILE]", goal_create },
	{ "list", 0, 0, BIT(FLAG_ALL) | BIT(FLAG_HERE), "list [--all] [--here]",
	    goal_list },
	{ "show", 1, 1, 0, "show GOAL", goal_show },
	{ "edit", 1, 1, DEFINITION | BIT(FLAG_PLAN) | BIT(FLAG_REASON),
	    "edit GOAL", goal_edit },
	{ "pause", 1, 1, BIT(FLAG_REASON), "pause GOAL", goal_move },
	{ "resume", 1, 1, BIT(FLAG_REASON), "resume GOAL", goal_move },
	{ "cancel", 1, 1, BIT(FLAG_REASON), "cancel GOAL", goal_move },
	{ "archive", 1, 1, BIT(FLAG_REASON), "archive GOAL", goal_move },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema goal_listed =
    SCHEMA_SHAPE(SCHEMA_IS("goals", ROWS, NULL, .of = &api_goal_entry),
	SCHEMA_MAY("elsewhere", ROWS, "of the other hosts of a fleet",
	    .of = &goal_elsewhere_shape));

static const struct schema goal_forms =
    SCHEMA_SHAPE(SCHEMA_IS("list", OBJECT, NULL, .of = &goal_listed),
	SCHEMA_IS("show", OBJECT, NULL, .of = &api_goal_shown),
	SCHEMA_IS("every change", OBJECT, NULL, .of = &api_goal_changed));

const struct cli_command cmd_goal = {
	.name = "goal",
	.group = CLI_WORK,
	.usage = "add TEXT | list | show GOAL | edit GOAL | pause GOAL | "
		 "resume GOAL | cancel GOAL | archive GOAL",
	.summary = "show and change goals and their plans",
	.help =
	    "add      add a goal; without --plan, the planner makes its plan\n"
	    "list     the active and paused goals, such as g2; the default\n"
	    "show     a goal with its plan: progress, blockers, who works on "
	    "what\n"
	    "edit     change it and its plan in an editor, or what the options "
	    "say\n"
	    "pause    begin nothing new; turns that run are finished; resume "
	    "continues\n"
	    "cancel   give it up; work in progress is salvaged; archive hides "
	    "it\n",
	.example = "goal add 'Support IPv6' --plan plan.md",
	.flags = goal_flags,
	.max_args = 2,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, goal_forms),
	.verbs = goal_verbs,
};
