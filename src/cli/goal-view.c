/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "cli-private.h"
#include "contract.h"
#include "plan-progress.h"
#include "plan.h"
#include "view.h"

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

void
goal_view_list(struct cli *cli, struct json_object *answer)
{
	CLI_TABLE(cli, goal_columns, json_member(answer, "goals"),
	    "There are no goals; create one with: llmc goal add TEXT");
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

int
goal_view_read(struct cli *cli, struct json_object *answer,
    struct plan_set *set, struct plan **ret_plan)
{
	struct json_object *list = json_member(answer, "assignments");
	struct err err = { 0 };
	int r = plan_from_json(
	    json_member(answer, "record"), "record", ret_plan, &err);

	if (r == 0) {
		r = plan_set_add(set, *ret_plan, &err);
		if (r < 0)
			plan_free(*ret_plan);
	}
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = plan_set_read_work(set, json_object_array_get_idx(list, i),
		    "assignments", &err);
	return r == 0 ?
	    CLI_OK :
	    cli_fail(cli, "failed",
		"the daemon is of another version of llmc (%s); restart it",
		err.msg);
}

int
goal_view_fetch(struct cli *cli, const char *goal, struct plan_set *set,
    struct plan **ret_plan)
{
	cleanup_json struct json_object *answer = NULL;
	int status = remote_call(cli, "overseer.goal.show",
	    remote_params("goal", goal, NULL), 0, &answer);

	return status == CLI_OK ? goal_view_read(cli, answer, set, ret_plan) :
				  status;
}

int
goal_view_show(struct cli *cli, struct json_object *answer)
{
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = goal_view_read(cli, answer, &set, &plan);

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
