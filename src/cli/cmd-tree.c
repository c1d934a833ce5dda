/* SPDX-License-Identifier: ISC */

/* llmc tree: who spawned whom, and how they are doing. */
#include <string.h>

#include "commands.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "table.h"
#include "text.h"

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
levels_above(struct json_object *rows, struct json_object *row)
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

static void
add_row(struct table *table, struct json_object *rows, struct json_object *row)
{
	int64_t depth = json_int_or(row, "depth", 1);
	int64_t asks = json_int_or(row, "pendingRequestCount", 0);
	cleanup_free char *level = xasprintf("%d", (int)depth);
	cleanup_free char *pending = xasprintf("%d", (int)asks);
	cleanup_free char *name =
	    xasprintf("%*s%s", levels_above(rows, row) * 2, "",
		json_string_or(row, "actor_id", ""));
	cleanup_buf struct buf progress = BUF_INIT, result = BUF_INIT;

	add_progress(row, &progress);
	add_result(row, &result);
	table_row(table,
	    (const char *[]){ name, level, json_string_or(row, "runStatus", ""),
		pending, json_string_or(row, "worker", NULL),
		json_string_or(row, "node", json_string_or(row, "task", NULL)),
		progress.data, result.data,
		json_string_or(
		    row, "label", json_string_or(row, "title", NULL)) });
}

/* Why some do not go on. */
static void
add_reasons(struct cli *cli)
{
	bool any = false;

	for (size_t i = 0; i < json_object_array_length(cli->result); i++) {
		struct json_object *row =
		    json_object_array_get_idx(cli->result, i);
		const char *reason = json_string_or(row, "blockedReason", NULL);
		const char *name = json_string_or(row, "actor_id", "");

		if (reason == NULL)
			continue;
		buf_adds(&cli->text, any ? "" : "\n");
		any = true;
		text_add_visible(&cli->text, name, strlen(name), false);
		buf_addf(
		    &cli->text, ": %s: ", json_string_or(row, "runStatus", ""));
		text_add_visible(&cli->text, reason, strlen(reason), false);
		buf_addc(&cli->text, '\n');
	}
}

static int
tree_run(struct cli *cli, const struct cli_args *args)
{
	const struct table_column columns[] = { { .title = "AGENT" },
		{ .title = "DEPTH", .right = true }, { .title = "STATUS" },
		{ .title = "QUESTIONS", .right = true }, { .title = "WORKER" },
		{ .title = "NODE" }, { .title = "PROGRESS", .flexible = true },
		{ .title = "RESULT", .flexible = true },
		{ .title = "WORK", .flexible = true } };
	struct table *table;
	int status;

	(void)args;
	status = remote_call(
	    cli, "team.tree", json_object_new_object(), 0, &cli->result);
	if (status != CLI_OK)
		return status;
	if (json_object_array_length(cli->result) == 0) {
		buf_adds(&cli->text, "No agent is at work.\n");
		return CLI_OK;
	}
	table = table_new(columns, nitems(columns));
	for (size_t i = 0; i < json_object_array_length(cli->result); i++)
		add_row(table, cli->result,
		    json_object_array_get_idx(cli->result, i));
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
	add_reasons(cli);
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
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = tree_run,
};
