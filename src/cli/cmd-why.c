/* SPDX-License-Identifier: ISC */

/* llmc why: why something of a plan is where it is. */
#include "base.h"
#include "cli-private.h"

static void
add_text(struct cli *cli, const char *text)
{
	cli_visible(cli, text);
}

/* "A_1 (T1.2 of goal_x, Ship it), auto-1, t17: stalled" */
static void
add_head(struct cli *cli)
{
	struct json_object *result = cli->result;
	const char *title = json_string_or(result, "goal_title", NULL);
	const char *worker = json_string_or(result, "worker", NULL);
	const char *task = json_string_or(result, "task", NULL);

	add_text(cli,
	    json_string_or(
		result, "assignment", json_string_or(result, "subject", "")));
	if (json_string_or(result, "goal", NULL) != NULL) {
		buf_adds(&cli->text, " (");
		add_text(cli, json_string_or(result, "node", ""));
		buf_adds(&cli->text, " of ");
		add_text(cli, json_string_or(result, "goal", ""));
		buf_adds(&cli->text, title != NULL ? ", " : "");
		add_text(cli, title != NULL ? title : "");
		buf_addc(&cli->text, ')');
	}
	if (worker != NULL) {
		buf_adds(&cli->text, ", ");
		add_text(cli, worker);
	}
	if (task != NULL) {
		buf_adds(&cli->text, ", ");
		add_text(cli, task);
	}
	buf_adds(&cli->text, ": ");
	add_text(cli, json_string_or(result, "now", "no assignment"));
	buf_addc(&cli->text, '\n');
}

static void
add_answers(struct cli *cli)
{
	static const struct {
		const char *key, *question;
	} answers[] = {
		{ "stalled", "Stalled?" },
		{ "dispatch", "Last message" },
		{ "backoff", "Back-off" },
		{ "progress", "Progress" },
	};

	for (size_t i = 0; i < nitems(answers); i++) {
		const char *text =
		    json_string_or(cli->result, answers[i].key, NULL);

		if (text == NULL)
			continue;
		buf_addf(&cli->text, "  %-13s ", answers[i].question);
		add_text(cli, text);
		buf_addc(&cli->text, '\n');
	}
}

static int
why_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = json_object_new_object(), *chain = NULL;
	int status;

	json_set_string(params, "subject", args->list[0]);
	status = remote_call(cli, "overseer.why", params, 0, &cli->result);
	if (status != CLI_OK)
		return status;
	add_head(cli);
	add_answers(cli);
	if (!json_object_object_get_ex(cli->result, "chain", &chain) ||
	    json_object_array_length(chain) == 0) {
		buf_adds(&cli->text, "\nNothing has happened yet.\n");
		return CLI_OK;
	}
	buf_adds(&cli->text, "\nWhat happened:\n");
	for (size_t i = 0; i < json_object_array_length(chain); i++) {
		buf_adds(&cli->text, "  ");
		add_text(cli,
		    json_object_get_string(
			json_object_array_get_idx(chain, i)));
		buf_addc(&cli->text, '\n');
	}
	return CLI_OK;
}

const struct cli_command cmd_why = {
	.name = "why",
	.usage = "TARGET",
	.summary = "tell why work on a goal is where it is",
	.help =
	    "TARGET is an assignment, a worker, a task, or a node of a plan "
	    "(T1.2, or GOAL/T1.2\nif several goals have it). Tells whether it "
	    "is stalled and why, what was sent last\nand whether it was "
	    "received, which back-off is active, and what shows progress; "
	    "then\nwhat happened, the newest last.\n",
	.min_args = 1,
	.max_args = 1,
	.method = "overseer.why",
	.run = why_run,
};
