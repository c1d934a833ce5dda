/* SPDX-License-Identifier: ISC */

/* llmc events: what happens in auto mode, in words. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "commands.h"
#include "errtext.h"
#include "event-feed.h"
#include "event-filter.h"
#include "event-store.h"
#include "event-words.h"
#include "event.h"
#include "file.h"
#include "json.h"
#include "log-view.h"
#include "loop.h"
#include "mem.h"
#include "remote.h"
#include "schema.h"
#include "text.h"

#define LINES_DEFAULT 50
#define LINES_MAX     1000000
#define WIDTH_DEFAULT 300 /* columns where there is no terminal */

enum {
	FLAG_FOLLOW,
	FLAG_LINES,
	FLAG_WORKER,
	FLAG_TASK,
	FLAG_KIND,
	FLAG_GOAL,
	FLAG_LONG
};

static const struct cli_flag events_flags[] = {
	[FLAG_FOLLOW] = { "follow", NULL,
	    "keep printing new events until Ctrl-C" },
	[FLAG_LINES] = { "lines", "N",
	    "number of events to show (default: 50)" },
	[FLAG_WORKER] = { "worker", "WORKER", "only events about WORKER" },
	[FLAG_TASK] = { "task", "ID", "only events about this task" },
	[FLAG_KIND] = { "kind", "KIND", "only events of this kind" },
	[FLAG_GOAL] = { "goal", "GOAL", "only events of this goal" },
	[FLAG_LONG] = { "long", NULL,
	    "everything that an event says, such as the output of a check" },
	{ NULL, NULL, NULL },
};

struct events {
	struct cli *cli;
	struct event_filter filter;
	struct log_view view;
	struct loop *loop;
	int width; /* of a line, 0 = long */
};

/* While following, each event is a line of its own, as JSON too. */
static bool
print_event(struct json_object *record, void *arg)
{
	struct events *events = arg;
	cleanup_buf struct buf line = BUF_INIT;

	if (events->cli->json) {
		json_print(record, false, &line);
		buf_addc(&line, '\n');
	} else {
		event_words_add(
		    record, events->cli->colour, events->width, &line);
	}
	if (cli_write(&line) == 0)
		return true;
	/* The reader has gone: llmc events --follow | head */
	loop_stop(events->loop, CLI_OK);
	return false;
}

static void
on_signal(int signo, void *arg)
{
	struct events *events = arg;

	(void)signo;
	loop_stop(events->loop, CLI_OK);
}

static int
follow(struct events *events, const char *path, size_t lines)
{
	cleanup_free char *socket = remote_socket(events->cli);
	struct loop_signal *interrupt;
	struct event_feed *feed = NULL;
	struct err err = { 0 };
	int status;

	events->loop = loop_new();
	interrupt = loop_signal_new(events->loop, SIGINT, on_signal, events);
	if (event_feed_new(events->loop, socket, path, &events->view, lines,
		print_event, events, &feed, &err) < 0)
		status = cli_fail_err(events->cli, "io", &err);
	else
		status = loop_run(events->loop);
	event_feed_free(feed);
	loop_signal_free(interrupt);
	loop_free(events->loop);
	return status;
}

/* Each may be given several times. */
static int
fill_filter(struct events *events, const struct cli_args *args)
{
	struct event_filter *filter = &events->filter;
	size_t workers = 0, tasks = 0, kinds = 0;
	cleanup_buf struct buf all = BUF_INIT;

	for (int i = 0; i < args->given_count; i++) {
		const char *value = args->given[i].value;

		if (args->given[i].flag == FLAG_WORKER)
			filter->workers[workers++] = value;
		if (args->given[i].flag == FLAG_TASK)
			filter->tasks[tasks++] = value;
		if (args->given[i].flag != FLAG_KIND)
			continue;
		if (!event_filter_is_kind(value)) {
			event_filter_add_kinds(&all);
			return cli_misuse(events->cli, &cmd_events,
			    "%s: no such kind of event; the kinds are: %s",
			    value, all.data);
		}
		filter->kinds[kinds++] = value;
	}
	filter->goal = args->flags[FLAG_GOAL];
	events->view = event_feed_view;
	events->view.wants = event_filter_wants;
	events->view.wants_arg = filter;
	return CLI_OK;
}

static bool
is_filtered(const struct event_filter *filter)
{
	return filter->workers[0] != NULL || filter->tasks[0] != NULL ||
	    filter->kinds[0] != NULL || filter->goal != NULL;
}

static int
events_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *path =
	    workspace_path(&cli->workspace, "logs/auto.log");
	struct events events = { .cli = cli };
	cleanup_json struct json_object *last = NULL, *stored = NULL;
	int64_t lines = LINES_DEFAULT;
	int status = fill_filter(&events, args);

	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_LONG] == NULL)
		events.width = cli->width > 0 ? cli->width : WIDTH_DEFAULT;
	if (args->flags[FLAG_LINES] != NULL &&
	    !text_parse_int(args->flags[FLAG_LINES], 0, LINES_MAX, &lines))
		return cli_misuse(cli, &cmd_events,
		    "--lines takes a number from 0 to %d", LINES_MAX);
	if (args->flags[FLAG_FOLLOW] != NULL)
		return follow(&events, path, (size_t)lines);
	status = event_store_last(cli, &events.filter, (size_t)lines, &stored);
	if (status != CLI_OK)
		return status;
	last = log_view_last(&events.view, path, UINT64_MAX, (size_t)lines);
	if (stored != NULL) {
		struct json_object *logged = last;

		last = event_store_merge(stored, logged, (size_t)lines);
		json_object_put(logged);
	}
	for (size_t i = 0; i < json_object_array_length(last); i++)
		event_words_add(json_object_array_get_idx(last, i), cli->colour,
		    events.width, &cli->text);
	if (json_object_array_length(last) == 0 && is_filtered(&events.filter))
		cli_warn(cli, "there are no such events");
	else if (json_object_array_length(last) == 0)
		cli_warn(cli,
		    "there are no events yet; start auto mode with: llmc up "
		    "--auto");
	cli->result = take_ptr(&last);
	return CLI_OK;
}

const struct cli_command cmd_events = {
	.name = "events",
	.usage = "[--follow] [--lines N] [--worker WORKER] [--task ID] "
		 "[--kind KIND] [--goal GOAL] [--long]",
	.summary = "show the events of auto mode",
	.help =
	    "Prints one line per event, in local time, cut to the width of the "
	    "terminal; --long\nprints all of it. Times in JSON are UTC. With "
	    "--follow and --json, every event is\none line of JSON.\n\n"
	    "--worker, --task and --kind can be given several times: what "
	    "matches one of\neach is shown. A kind is what --json shows as "
	    "type, such as task_finished or\nfailure. With goals, events are kept in "
	    "their store too, for as long as nobody\ncompacts it.\n",
	.flags = events_flags,
	.letters = "fn",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape =
	    &(const struct schema_field){
		.type = SCHEMA_ARRAY,
		.of =
		    &(const struct schema){
			.fields = &event_record_schema,
		    },
	    },
	.run = events_run,
};
