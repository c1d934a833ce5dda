/* SPDX-License-Identifier: ISC */

/* llmc logs: the daemon's log, for people. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "log-view.h"
#include "loop.h"
#include "mem.h"
#include "schema.h"
#include "tail.h"
#include "text.h"

#define LINES_DEFAULT 50
#define LINES_MAX     1000000

enum {
	FLAG_FOLLOW,
	FLAG_WORKER,
	FLAG_LEVEL,
	FLAG_LINES
};

static const struct cli_flag logs_flags[] = {
	[FLAG_FOLLOW] = { "follow", NULL,
	    "keep printing new records until Ctrl-C" },
	[FLAG_WORKER] = { "worker", "WORKER", "only records about WORKER" },
	[FLAG_LEVEL] = { "level", "LEVEL",
	    "lowest level to show: debug, info, warn or error" },
	[FLAG_LINES] = { "lines", "N",
	    "number of records to show (default: 50)" },
	{ NULL, NULL, NULL },
};

struct logs {
	struct cli *cli;
	struct log_view view;
	struct loop *loop;
};

/* While following, each record is a line of its own, as JSON too. */
static void
print_record(struct logs *logs, struct json_object *record)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (logs->cli->json) {
		json_print(record, false, &line);
		buf_addc(&line, '\n');
	} else {
		log_view_print(&logs->view, record, &line);
	}
	/* The reader has gone: llmc logs --follow | head */
	if (cli_write(&line) < 0)
		loop_stop(logs->loop, CLI_OK);
}

static void
on_line(const char *line, size_t len, bool cut, void *arg)
{
	struct logs *logs = arg;
	cleanup_json struct json_object *record =
	    cut ? NULL : log_view_read(&logs->view, line, len);

	if (record != NULL)
		print_record(logs, record);
}

static int
follow(struct logs *logs, const char *path, size_t lines)
{
	cleanup_json struct json_object *last = NULL;
	struct tail *tail;
	struct err err = { 0 };
	int status;

	logs->loop = loop_new();
	if (tail_new(logs->loop, path, false, on_line, logs, &tail, &err) < 0) {
		loop_free(logs->loop);
		return cli_fail_err(logs->cli, "io", &err);
	}
	/* Up to where the tail begins, so that nothing is missed in between. */
	last = log_view_last(&logs->view, path, tail_offset(tail), lines);
	for (size_t i = 0; i < json_object_array_length(last); i++)
		print_record(logs, json_object_array_get_idx(last, i));
	status = loop_run(logs->loop);
	tail_free(tail);
	loop_free(logs->loop);
	return status;
}

static int
parse_flags(const struct cli_args *args, struct logs *logs, int64_t *ret_lines)
{
	const char *level = args->flags[FLAG_LEVEL];

	if (level != NULL && !log_level_parse(level, &logs->view.level))
		return cli_misuse(logs->cli, &cmd_logs,
		    "%s: no such level; use debug, info, warn or error", level);
	if (args->flags[FLAG_LINES] != NULL &&
	    !text_parse_int(args->flags[FLAG_LINES], 0, LINES_MAX, ret_lines))
		return cli_misuse(logs->cli, &cmd_logs,
		    "--lines takes a number from 0 to %d", LINES_MAX);
	logs->view.worker = args->flags[FLAG_WORKER];
	return CLI_OK;
}

static int
logs_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *path =
	    workspace_path(&cli->workspace, "logs/autod.log");
	struct logs logs = { .cli = cli,
		.view = { .colour = cli->colour, .level = LOG_LEVEL_DEBUG } };
	cleanup_json struct json_object *last = NULL;
	int64_t lines = LINES_DEFAULT;
	int status = parse_flags(args, &logs, &lines);

	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_FOLLOW] != NULL)
		return follow(&logs, path, (size_t)lines);
	last = log_view_last(&logs.view, path, UINT64_MAX, (size_t)lines);
	for (size_t i = 0; i < json_object_array_length(last); i++)
		log_view_print(
		    &logs.view, json_object_array_get_idx(last, i), &cli->text);
	if (json_object_array_length(last) == 0)
		cli_warn(cli, "there are no matching records in %s", path);
	cli->result = take_ptr(&last);
	return CLI_OK;
}

static const struct schema record_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("timestamp", STRING, NULL),
	    SCHEMA_IS("level", STRING, NULL),
	    SCHEMA_IS("pid", INT, NULL),
	    SCHEMA_IS("component", STRING, NULL),
	    SCHEMA_IS("message", STRING, NULL),
	    SCHEMA_END,
	},
	.open = true,
};

const struct cli_command cmd_logs = {
	.name = "logs",
	.usage = "[--follow] [--worker WORKER] [--level LEVEL] [--lines N]",
	.summary = "show the daemon's log",
	.help =
	    "Prints one line per record, in local time; times in JSON are UTC. "
	    "With --follow\nand --json, every record is one line of JSON.\n",
	.flags = logs_flags,
	.letters = "f  n",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape =
	    &(const struct schema_field){
		.type = SCHEMA_ROWS,
		.of = &record_shape,
	    },
	.run = logs_run,
};
