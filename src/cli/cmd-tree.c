/* SPDX-License-Identifier: ISC */

/* llmc tree: who spawned whom, and how they are doing. */
#include "base.h"
#include "cli-private.h"

/* "40% writing tests" */
static void
add_progress(struct json_object *row, struct buf *out)
{
	struct json_object *progress = NULL, *percent = NULL;

	if (!json_object_object_get_ex(row, "progress", &progress))
		return;
	if (json_object_object_get_ex(progress, "percentComplete", &percent))
		buf_addf(out, "%.0f%% ", json_object_get_double(percent));
	buf_adds(out, json_string_or(progress, "phase", ""));
}

/* "complete (high), verification passed" */
static void
add_result(struct json_object *row, struct buf *out)
{
	struct json_object *completion = NULL;
	const char *sure, *checked = json_string_or(row, "verification", NULL);

	if (json_object_object_get_ex(row, "completion", &completion)) {
		buf_adds(out, json_string_or(completion, "status", "reported"));
		sure = json_string_or(completion, "confidence", NULL);
		if (sure != NULL)
			buf_addf(out, " (%s)", sure);
	}
	if (checked != NULL)
		buf_addf(out, "%sverification %s", out->len > 0 ? ", " : "",
		    checked);
}

/* How many of those above it are shown: its parent may have ended long ago, and
 * then it must not stand below somebody else. */
static int
levels_above(const struct json_object *rows, struct json_object *row)
{
	const char *parent = json_string_or(row, "parent_actor_id", "");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *other = json_object_array_get_idx(rows, i);

		if (other == row)
			return 0; /* those above it come before it */
		if (strcmp(json_string_or(other, "actor_id", ""), parent) == 0)
			return levels_above(rows, other) + 1;
	}
	return 0;
}

/* arg: all rows. */
static void
add_agent(struct json_object *row, const void *arg, struct buf *out)
{
	buf_addf(out, "%*s%s", levels_above(arg, row) * 2, "",
	    json_string_or(row, "actor_id", ""));
}

static void
add_node(struct json_object *row, struct buf *out)
{
	buf_adds(
	    out, json_string_or(row, "node", json_string_or(row, "task", "")));
}

static void
add_work(struct json_object *row, struct buf *out)
{
	buf_adds(out,
	    json_string_or(row, "label", json_string_or(row, "title", "")));
}

static const struct view_column columns[] = {
	{ "Agent", .add_with = add_agent },
	{ "Depth", "depth", VIEW_INT, .right = true },
	{ "Status", .key = "runStatus" },
	{ "Questions", "pendingRequestCount", VIEW_INT, .right = true },
	{ "Worker", .key = "worker" },
	{ "Node", .add = add_node },
	{ "Progress", .add = add_progress, .flexible = true },
	{ "Result", .add = add_result, .flexible = true },
	{ "Work", .add = add_work, .flexible = true },
};

static int
tree_run(struct cli *cli, const struct cli_args *args)
{
	int status;
	bool any = false;

	(void)args;
	status = remote_call(
	    cli, "team.tree", json_object_new_object(), 0, &cli->result);
	if (status != CLI_OK)
		return status;
	cli_table(cli, columns, nitems(columns), cli->result, cli->result,
	    "No agent is at work.");
	/* Why some do not go on. */
	for (size_t i = 0; i < json_object_array_length(cli->result); i++) {
		struct json_object *row =
		    json_object_array_get_idx(cli->result, i);
		const char *reason = json_string_or(row, "blockedReason", NULL);
		const char *name = json_string_or(row, "actor_id", "");

		if (reason == NULL)
			continue;
		buf_adds(&cli->text, any ? "" : "\n");
		any = true;
		cli_visible(cli, name);
		buf_addf(
		    &cli->text, ": %s: ", json_string_or(row, "runStatus", ""));
		cli_visible(cli, reason);
		buf_addc(&cli->text, '\n');
	}
	return CLI_OK;
}

const struct cli_command cmd_tree = {
	.name = "tree",
	.usage = "",
	.summary = "show which agent spawned which, and how they are doing",
	.help =
	    "Each agent stands below the one that spawned it. STATUS is "
	    "queued, running,\nwaiting (for agents that it spawned), blocked, "
	    "verifying, landing, done, failed or\ncancelled; QUESTIONS counts "
	    "those of its questions that nobody has answered. Agents\nof "
	    "open goals that have ended are shown for a day. Without goals "
	    "(plan.enabled)\nthere are only workers with their tasks.\n",
	.method = "team.tree",
	.run = tree_run,
};
