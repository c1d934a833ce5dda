/* SPDX-License-Identifier: ISC */

/* llmc tick: compare the plans of all goals with what is done, now. */
#include "base.h"
#include "cli-private.h"

enum {
	FLAG_NOW,
	FLAG_DRY_RUN
};

static const struct cli_flag tick_flags[] = {
	[FLAG_NOW] = { "now", NULL, "step in where work has stalled, now" },
	[FLAG_DRY_RUN] = { "dry-run", NULL,
	    "only show what would be done, and why" },
	{ NULL, NULL, NULL },
};

static void
show_decision(struct cli *cli, struct json_object *decision)
{
	cleanup_buf struct buf line = BUF_INIT;
	const char *worker = json_string_or(decision, "worker", NULL);

	buf_addf(&line, "%s  %s of %s (%s)",
	    json_string_or(decision, "kind", ""),
	    json_string_or(decision, "node", ""),
	    json_string_or(decision, "goal", ""),
	    json_string_or(decision, "assignment", ""));
	if (worker != NULL)
		buf_addf(&line, ", %s", worker);
	buf_addf(&line, ": %s", json_string_or(decision, "reason", ""));
	cli_visible(cli, line.data);
	buf_addc(&cli->text, '\n');
}

static void
show(struct cli *cli)
{
	struct json_object *list =
	    json_object_object_get(cli->result, "decisions");
	const char *gate = json_string_or(cli->result, "gate", NULL);
	size_t count = json_object_array_length(list);

	for (size_t i = 0; i < count; i++)
		show_decision(cli, json_object_array_get_idx(list, i));
	if (gate != NULL && strcmp(gate, "disabled") == 0)
		buf_adds(&cli->text,
		    "Nothing was decided: goals are off; turn them on with: "
		    "llmc config set plan.enabled true\n");
	else if (gate != NULL)
		buf_addf(&cli->text,
		    "Nothing was decided (%s); it is done later.\n", gate);
	else if (count == 0)
		buf_adds(&cli->text, "Nothing needs to be done.\n");
}

static int
tick_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params;
	int status;

	if (args->flags[FLAG_NOW] == NULL && args->flags[FLAG_DRY_RUN] == NULL)
		return cli_misuse(cli, &cmd_tick,
		    "type: llmc tick --now, or llmc tick --dry-run");
	params = json_object_new_object();
	json_set_bool(params, "dry_run", args->flags[FLAG_DRY_RUN] != NULL);
	status = remote_call(cli, "overseer.tick", params, 0, &cli->result);
	if (status == CLI_OK)
		show(cli);
	return status;
}

const struct cli_command cmd_tick = {
	.name = "tick",
	.usage = "--now [--dry-run]",
	.summary = "look after the assignments of goals now",
	.help =
	    "The daemon does this by itself, every plan.tick_every. Prints "
	    "each decision with\nits reason: nudge, resend, replan, reassign, "
	    "escalate and others.\n",
	.flags = tick_flags,
	.method = "overseer.tick",
	.run = tick_run,
};
