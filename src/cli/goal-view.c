/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "contract.h"
#include "errtext.h"
#include "goal-view.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "plan-set.h"
#include "plan-summary.h"
#include "plan-tree.h"
#include "table.h"
#include "text.h"

const char *
goal_view_colour(const char *status)
{
	static const struct {
		const char *status, *sgr;
	} colours[] = {
		{ "active", "1" },
		{ "paused", "33" },
		{ "completed", "32" },
		{ "incomplete", "33" },
		{ "done", "32" },
		{ "in_progress", "1" },
		{ "blocked", "1;33" },
		{ "stalled", "33" },
		{ "cancelled", "90" },
		{ "archived", "90" },
		{ "todo", "90" },
	};

	for (size_t i = 0; i < nitems(colours); i++)
		if (strcmp(colours[i].status, status) == 0)
			return colours[i].sgr;
	return NULL;
}

static const char *
node_colour(enum node_status status)
{
	return goal_view_colour(node_status_name(status));
}

static void
add_visible(struct cli *cli, const char *text, bool keep_newlines)
{
	text_add_visible(&cli->text, text, strlen(text), keep_newlines);
}

/* --- goals ----------------------------------------------------------- */

static void
add_done(struct json_object *entry, struct buf *out)
{
	struct json_object *summary = NULL;

	if (!json_object_object_get_ex(entry, "summary", &summary) ||
	    summary == NULL)
		return;
	if (json_int_or(summary, "total", 0) == 0)
		buf_adds(out, "no plan");
	else
		buf_addf(out, "%" PRId64 "/%" PRId64,
		    json_int_or(summary, "done", 0),
		    json_int_or(summary, "total", 0));
	if (json_int_or(summary, "dropped", 0) > 0)
		buf_addf(out, ", %" PRId64 " cancelled",
		    json_int_or(summary, "dropped", 0));
}

static void
list_row(struct table *table, struct json_object *entry)
{
	cleanup_buf struct buf done = BUF_INIT;
	const char *status = json_string_or(entry, "status", "");
	const char *priority = json_string_or(entry, "priority", "");

	if (strcmp(status, goal_status_words[GOAL_COMPLETED]) == 0)
		status = plan_summary_word(GOAL_COMPLETED,
		    (size_t)json_int_or(
			json_object_object_get(entry, "summary"), "dropped",
			0));
	add_done(entry, &done);
	table_row(table,
	    (const char *const[]){ json_string_or(entry, "goal", ""), status,
		strcmp(priority, "normal") == 0 ? "" : priority, done.data,
		json_string_or(entry, "title", "") });
	table_colour(table, 1, goal_view_colour(status));
}

void
goal_view_list(struct cli *cli, struct json_object *answer)
{
	static const struct table_column columns[] = {
		{ .title = "GOAL" },
		{ .title = "STATUS" },
		{ .title = "PRIORITY" },
		{ .title = "DONE", .right = true },
		{ .title = "TITLE", .flexible = true },
	};
	struct json_object *goals = json_object_object_get(answer, "goals");
	size_t count = json_object_array_length(goals);
	struct table *table = table_new(columns, nitems(columns));

	for (size_t i = 0; i < count; i++)
		list_row(table, json_object_array_get_idx(goals, i));
	if (count > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	else
		buf_adds(&cli->text,
		    "There are no goals; create one with: llmc goal add "
		    "TEXT\n");
	table_free(table);
}

static void
show_text(struct cli *cli, const char *name, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(&cli->text, "\n%s\n", name);
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		buf_adds(&cli->text, len > 0 ? "  " : "");
		text_add_visible(&cli->text, text, len, false);
		buf_addc(&cli->text, '\n');
		text += len + (text[len] == '\n');
	}
}

static void
show_list(struct cli *cli, const char *name, char *const *list)
{
	if (list == NULL || list[0] == NULL)
		return;
	buf_addf(&cli->text, "\n%s\n", name);
	for (; *list != NULL; list++) {
		buf_adds(&cli->text, "  - ");
		add_visible(cli, *list, false);
		buf_addc(&cli->text, '\n');
	}
}

static void
show_plan(struct cli *cli, const struct plan *plan)
{
	const struct plan_goal *goal = plan->goal;
	cleanup_buf struct buf head = BUF_INIT;
	struct table *table;

	plan_tree_head(plan, &head);
	add_visible(cli, head.data, false);
	buf_addc(&cli->text, '\n');
	show_text(cli, "problem", goal->problem_statement);
	show_list(cli, "success criteria", goal->success_criteria);
	show_list(cli, "constraints", goal->constraints);
	show_text(cli, "the planner failed", goal->plan_fault);
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
read_plan(struct json_object *answer, struct plan_set *set,
    struct plan **ret_plan, struct err *err)
{
	struct json_object *list = NULL;
	int r = plan_from_json(
	    json_object_object_get(answer, "record"), "record", ret_plan, err);

	if (r < 0)
		return r;
	r = plan_set_add(set, *ret_plan, err);
	if (r < 0) {
		plan_free(*ret_plan);
		return r;
	}
	json_object_object_get_ex(answer, "assignments", &list);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct plan_assignment *a = NULL;

		r = plan_assignment_from_json(
		    json_object_array_get_idx(list, i), "assignments", &a, err);
		if (r < 0)
			return r;
		if (plan_set_add_assignment(set, a, NULL) < 0)
			plan_assignment_free(a);
	}
	return 0;
}

int
goal_view_read(struct cli *cli, struct json_object *answer,
    struct plan_set *set, struct plan **ret_plan)
{
	struct err err = { 0 };

	if (read_plan(answer, set, ret_plan, &err) == 0)
		return CLI_OK;
	return cli_fail(cli, "failed",
	    "the daemon is of another version of llmc (%s); restart it",
	    err.msg);
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

void
goal_view_nodes(struct cli *cli, struct json_object *answer)
{
	static const struct table_column columns[] = {
		{ .title = "NODE" },
		{ .title = "STATUS" },
		{ .title = "PRIORITY" },
		{ .title = "NAME", .flexible = true },
		{ .title = "NOTE", .flexible = true },
		{ .title = "GOAL" },
	};
	struct json_object *nodes = json_object_object_get(answer, "nodes");
	size_t count = json_object_array_length(nodes);
	struct table *table = table_new(columns, nitems(columns));

	for (size_t i = 0; i < count; i++) {
		struct json_object *n = json_object_array_get_idx(nodes, i);
		const char *status = json_string_or(n, "status", "");
		const char *priority = json_string_or(n, "priority", "");

		table_row(table,
		    (const char *const[]){ json_string_or(n, "node", ""),
			status, strcmp(priority, "normal") == 0 ? "" : priority,
			json_string_or(n, "name", ""),
			json_string_or(n, "note", ""),
			json_string_or(n, "goal", "") });
		table_colour(table, 1, goal_view_colour(status));
	}
	if (count > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	else
		buf_adds(&cli->text,
		    "Nothing is to be done; see the goals with: llmc goal "
		    "list\n");
	table_free(table);
}

static void
show_line(struct cli *cli, const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	buf_addf(&cli->text, "%-10s ", name);
	add_visible(cli, value, false);
	buf_addc(&cli->text, '\n');
}

static void
show_words(struct cli *cli, const char *name, char *const *list)
{
	cleanup_buf struct buf words = BUF_INIT;

	for (; list != NULL && *list != NULL; list++)
		buf_addf(&words, "%s%s", words.len > 0 ? ", " : "", *list);
	show_line(cli, name, words.data);
}

static void
show_moment(struct cli *cli, const char *name, int64_t at_ms)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (at_ms == 0)
		return;
	moment_add(&text, at_ms);
	show_line(cli, name, text.data);
}

static void
show_node(
    struct cli *cli, const struct plan_node *n, struct json_object *answer)
{
	const char *status = node_status_name(n->status);
	const char *sgr = goal_view_colour(status);

	add_visible(cli, n->id, false);
	buf_adds(&cli->text, "  ");
	add_visible(cli, n->name, false);
	buf_addf(&cli->text, "\n%-10s ", "status");
	cli_coloured(cli, sgr != NULL ? sgr : "1", status);
	buf_addc(&cli->text, '\n');
	show_line(cli, "note", json_string_or(answer, "note", NULL));
	show_line(cli, "kind", node_kind_name(n->kind));
	show_line(cli, "goal", n->goal_id);
	show_line(cli, "below", n->parent_id);
	if (n->priority != PRIORITY_COUNT)
		show_line(cli, "priority", priority_name(n->priority));
	if (n->recovery_policy != RECOVERY_UNSET)
		show_line(
		    cli, "recovery", recovery_policy_words[n->recovery_policy]);
	show_words(cli, "depends on", n->depends_on);
	show_words(cli, "blocks", n->blocks);
	show_words(cli, "commits", n->evidence.commits);
	show_words(cli, "tests", n->evidence.tests_run);
	show_moment(cli, "started", n->started_ms);
	show_moment(cli, "ended", n->ended_ms);
	show_text(cli, "objective", n->objective);
	show_text(cli, "outcome", n->expected_outcome);
	show_list(cli, "acceptance", n->acceptance);
	show_list(cli, "scope paths", n->scope_paths);
	if (n->verification != NULL) {
		buf_adds(&cli->text, "\ncontract\n");
		contract_print(n->verification, "  ", &cli->text);
	}
}

void
goal_view_node(struct cli *cli, struct json_object *answer)
{
	struct plan_node *node = NULL;

	if (plan_node_from_json(json_object_object_get(answer, "record"),
		"record", &node, NULL) < 0)
		return;
	show_node(cli, node, answer);
	plan_node_free(node);
}
