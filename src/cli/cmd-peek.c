/* SPDX-License-Identifier: ISC */

/* llmc peek: the last lines on a worker's screen. */
#include <stdlib.h>
#include <string.h>

#include "cmd-overseer.h"
#include "commands.h"
#include "json.h"
#include "roster.h"
#include "schema.h"
#include "sessions.h"
#include "settings.h"
#include "text.h"
#include "worker.h"

#define LINES_DEFAULT 10
#define LINES_MAX     100000

enum {
	FLAG_LINES
};

static const struct cli_flag peek_flags[] = {
	[FLAG_LINES] = { "lines", "N",
	    "number of lines to show (default: 10)" },
	{ NULL, NULL, NULL },
};

/* The worker that did something last. */
static int
choose(struct cli *cli, const struct state *state,
    const struct worker **ret_worker)
{
	const struct worker *found = NULL;

	for (size_t i = 0; i < state->count; i++)
		if (found == NULL ||
		    state->workers[i]->activity_ms > found->activity_ms)
			found = state->workers[i];
	if (found == NULL)
		return cli_fail(cli, "no_such_worker",
		    "there are no workers yet; add one with: llmc add NAME");
	*ret_worker = found;
	return CLI_OK;
}

/* Only the last `count` lines that are not blank. */
static struct json_object *
last_lines(const char *text, size_t count)
{
	cleanup_json struct json_object *all = cli_lines(text);
	struct json_object *kept = json_object_new_array();
	size_t total = json_object_array_length(all), from = total;

	while (from > 0 && count > 0) {
		const char *line = json_object_get_string(
		    json_object_array_get_idx(all, --from));

		if (line[strspn(line, " \t\r")] != '\0')
			count--;
	}
	for (; from < total; from++) {
		struct json_object *item = json_object_array_get_idx(all, from);
		const char *line = json_object_get_string(item);

		if (line[strspn(line, " \t\r")] != '\0')
			json_object_array_add(kept, json_object_get(item));
	}
	return kept;
}

/* What is on the screen of a worker's session, or of the overseer's
 * (worker NULL). */
static int
capture(struct cli *cli, const struct worker *worker, const char *target,
    int lines, struct buf *out)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	const struct sessions_entry *found;
	int status = cli_load_settings(cli, &settings);

	if (status == CLI_OK)
		status = sessions_load(cli, settings, &sessions);
	if (status == CLI_OK) {
		found = sessions_find(&sessions, target);
		if (found != NULL)
			status = sessions_capture(
			    cli, settings, found->name, lines, out);
		else if (worker != NULL)
			status = cli_fail(cli, "no_such_session",
			    "%s has no session: it is in %s%s%s", worker->name,
			    worker_status_name(worker->status),
			    worker->reason != NULL ? ": " : "",
			    worker->reason != NULL ? worker->reason : "");
		else
			status = cli_fail(cli, "no_such_session",
			    "the overseer has no repair session: no "
			    "remediation is running");
	}
	sessions_release(&sessions);
	settings_free(settings);
	return status;
}

static int
peek(
    struct cli *cli, const struct worker *worker, const char *target, int lines)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *list;
	int status = capture(cli, worker, target, lines, &text);

	if (status != CLI_OK)
		return status;
	list = last_lines(text.data, (size_t)lines);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "worker", target);
	json_set(cli->result, "lines", list);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *line =
		    json_object_get_string(json_object_array_get_idx(list, i));

		text_add_visible(&cli->text, line, strlen(line), false);
		buf_addc(&cli->text, '\n');
	}
	if (json_object_array_length(list) == 0)
		buf_addf(&cli->text, "(the screen of %s is empty)\n", target);
	return CLI_OK;
}

static int
peek_run(struct cli *cli, const struct cli_args *args)
{
	const char *target = args->count > 0 ? args->list[0] : NULL;
	const struct worker *worker = NULL;
	int64_t lines = LINES_DEFAULT;
	struct state state;
	int status;

	if (args->flags[FLAG_LINES] != NULL &&
	    !text_parse_int(args->flags[FLAG_LINES], 1, LINES_MAX, &lines))
		return cli_misuse(cli, &cmd_peek,
		    "--lines takes a number from 1 to %d", LINES_MAX);
	if (target != NULL && strcmp(target, OVERSEER_NAME) == 0)
		return peek(cli, NULL, target, (int)lines);
	status = roster_load(cli, &state);
	if (status != CLI_OK)
		return status;
	status = target != NULL ? roster_find(cli, &state, target, &worker) :
				  choose(cli, &state, &worker);
	if (status == CLI_OK && worker != NULL)
		status = peek(cli, worker, worker->name, (int)lines);
	state_release(&state);
	return status;
}

static const struct schema peek_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("worker", STRING, "or overseer"),
	    SCHEMA_IS("lines", LIST, NULL),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_peek = {
	.name = "peek",
	.usage = "[WORKER] [--lines N]",
	.summary = "show the last lines of a worker's screen",
	.help = "Without a name, shows the worker that was active last. Blank "
		"lines are left out.\nThe name overseer means the overseer's "
		"repair session.\n",
	.flags = peek_flags,
	.max_args = 1,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &peek_shape },
	.run = peek_run,
};
