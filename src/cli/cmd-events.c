/* SPDX-License-Identifier: ISC */

/* llmc log: the events of auto mode, read from the book and the log, and
 * followed. */
#include "base.h"

#include <signal.h>

#include "api-work.h"
#include "cli-private.h"
#include "event.h"
#include "jsonl.h"
#include "loop.h"
#include "watch.h"

#define GOAL_PART_MIN 4 /* letters of an id that can stand for it */

/* Each list ends with NULL; an empty one excludes nothing. Strings are
 * borrowed. */
struct event_filter {
	const char *workers[CLI_GIVEN_MAX + 1];
	const char *tasks[CLI_GIVEN_MAX + 1];
	const char *kinds[CLI_GIVEN_MAX + 1];
	const char *goal; /* its id or a part of it, NULL = any */
};

static bool
event_filter_has(const char *const *list, const char *word)
{
	if (list[0] == NULL)
		return true;
	for (; *list != NULL; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

/* Is the record of auto.log wanted? filter: a struct event_filter. */
static bool
event_filter_wants(struct json_object *record, const void *arg)
{
	const struct event_filter *filter = arg;
	struct json_object *event = NULL;
	const char *goal;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return false;
	goal = json_string_or(event, "goal", "");
	if (filter->goal != NULL && strcmp(goal, filter->goal) != 0 &&
	    (strlen(filter->goal) < GOAL_PART_MIN ||
		strcasestr(goal, filter->goal) == NULL))
		return false;
	return event_filter_has(
		   filter->workers, json_string_or(event, "worker_name", "")) &&
	    event_filter_has(
		filter->tasks, json_string_or(event, "task", "")) &&
	    event_filter_has(filter->kinds, json_string_or(event, "type", ""));
}

/* All of them, with blanks between them; appended. */
static void
event_filter_add_kinds(struct buf *out)
{
	bool first = true;

	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *name = event_row((enum event_kind)i)->name;

		if (name == NULL)
			continue;
		buf_addf(out, "%s%s", first ? "" : " ", name);
		first = false;
	}
}

#define FLEET_MS  6000 /* for the other hosts' */
#define ANSWER_MS 2000 /* for a daemon to say where its stream begins */
#define LOOK_MS   2000 /* between attempts to find a daemon */
#define GROWN_MS  500 /* the same, when the file has grown */
#define READ_MOST 1000 /* records in one pass of the loop */

const struct log_view event_feed_view = { .object = "event",
	.level = LOG_LEVEL_DEBUG };

struct event_feed {
	struct loop *loop;
	const char *socket, *file;
	const struct log_view *view;
	size_t lines;
	event_feed_fn *fn;
	void *arg;
	/* Everything before it has been passed to fn. While the daemon sends,
	 * it stays where the stream began. */
	struct jsonl_cursor at;
	struct watch *watch; /* of the file; NULL while the daemon sends */
	struct loop_call *read;
	struct loop_timer *timer; /* the next attempt, or the end of waiting */
	struct client_stream *stream; /* NULL = reading the file */
	int64_t asked_ms; /* when a daemon was last looked for */
	uint64_t heard; /* events of the stream */
	struct json_object *last; /* of them */
	bool live; /* the stream has begun */
	bool begun; /* the last ones before it have been passed to fn */
	bool done; /* fn wants no more */
};

static bool
is_event(struct json_object *record)
{
	return log_view_wants(&event_feed_view, record);
}

static void
feed_give(struct event_feed *feed, struct json_object *record)
{
	if (!feed->done && log_view_wants(feed->view, record))
		feed->done = !feed->fn(record, feed->arg);
}

/* The next event of the file, owned by the caller. */
static struct json_object *
next_event(struct jsonl_cursor *cursor)
{
	struct json_object *record;

	while ((record = jsonl_cursor_next(cursor)) != NULL) {
		if (is_event(record))
			break;
		json_object_put(record);
	}
	return record;
}

/* The last ones before the cursor. False if the file was rotated meanwhile, so
 * that they cannot be known. */
static bool
feed_begin(struct event_feed *feed, const struct jsonl_cursor *cursor)
{
	cleanup_json struct json_object *last =
	    log_view_last(feed->view, feed->file, cursor->offset, feed->lines);

	if (cursor->fd != -1 && !jsonl_cursor_is_current(cursor))
		return false;
	JSON_EACH (row, last)
		feed_give(feed, row);
	feed->begun = true;
	return true;
}

static void
feed_changed(void *arg)
{
	struct event_feed *feed = arg;

	loop_call_request(feed->read);
}

static void feed_timer(void *arg);

static void
feed_set_timer(struct event_feed *feed, int64_t ms)
{
	loop_timer_set(&feed->timer, feed->loop, ms, feed_timer, feed);
}

/* Read the file from here on. If it cannot be watched, it is read whenever a
 * daemon is looked for. */
static void
feed_use_file(struct event_feed *feed)
{
	client_stream_free(take_ptr(&feed->stream));
	feed->asked_ms = clock_mono_ms();
	if (feed->live) {
		struct jsonl_cursor behind;
		struct json_object *record;
		bool found = false;

		/* When the daemon sends no more: skip what it has sent
		 * already. The last one marks the place in the file. If it
		 * is missing (a full disk), skip as many as were sent. */
		jsonl_cursor_init(&behind, feed->file);
		for (; feed->heard > 0 &&
		     (record = next_event(&feed->at)) != NULL;
		     feed->heard--) {
			if (json_object_equal(record, feed->last)) {
				jsonl_cursor_copy(&behind, &feed->at);
				found = true;
			}
			json_object_put(record);
		}
		if (found)
			jsonl_cursor_copy(&feed->at, &behind);
		jsonl_cursor_release(&behind);
		json_object_put(take_ptr(&feed->last));
		feed->heard = 0;
	}
	feed->live = false;
	if (!feed->begun) {
		do
			jsonl_cursor_seek_end(&feed->at);
		while (!feed_begin(feed, &feed->at));
	}
	if (feed->watch == NULL)
		watch_new(feed->loop, feed->file, feed_changed, feed,
		    &feed->watch, NULL);
	feed_set_timer(feed, LOOK_MS);
	loop_call_request(feed->read);
}

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	struct event_feed *feed = arg;

	if (!feed->live && strcmp(method, "following") == 0) {
		int64_t offset = json_int_or(params, "offset", -1);
		struct jsonl_cursor start;
		bool begun = feed->begun;

		/* The stream begins at this byte of the file. */
		jsonl_cursor_init(&start, feed->file);
		/* If the file was rotated meanwhile, a later attempt will
		 * succeed. */
		if (offset < 0 ||
		    jsonl_cursor_seek(&start, (uint64_t)offset) < 0 ||
		    (!begun && !feed_begin(feed, &start))) {
			jsonl_cursor_release(&start);
			feed_use_file(feed);
			return;
		}
		if (begun) {
			struct json_object *record;

			/* Pass on what the file has before the place where the
			 * stream begins. */
			while (!jsonl_cursor_reached(&feed->at, &start) &&
			    (record = next_event(&feed->at)) != NULL) {
				feed_give(feed, record);
				json_object_put(record);
			}
		}
		jsonl_cursor_release(&feed->at);
		feed->at = start;
		feed->live = true;
		loop_timer_free(take_ptr(&feed->timer));
		watch_free(take_ptr(&feed->watch));
	} else if (feed->live && strcmp(method, "event") == 0 &&
	    is_event(params)) {
		/* The first event may have created the file. */
		jsonl_cursor_hold(&feed->at);
		feed_give(feed, params);
		feed->heard++;
		json_object_put(feed->last);
		feed->last = json_object_get(params);
	}
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	(void)status;
	(void)result;
	(void)err;
	feed_use_file(arg);
}

/* Is there a daemon that answers? */
static bool
feed_ask(struct event_feed *feed)
{
	static const struct client_stream_fns fns = { on_notification, on_end };
	cleanup_json struct json_object *params = json_object_new_object();
	bool asked =
	    client_stream_new(feed->loop, feed->socket, "events.follow", params,
		&fns, feed, &feed->stream, NULL) == 0;

	feed->asked_ms = clock_mono_ms();
	feed_set_timer(feed, asked ? ANSWER_MS : LOOK_MS);
	return asked;
}

/* Pass on what the file has. At its end, look for a daemon. */
static void
feed_read(void *arg)
{
	struct event_feed *feed = arg;
	struct json_object *record;
	int left = READ_MOST;

	if (feed->stream != NULL)
		return;
	if (!feed->begun) {
		if (!feed_ask(feed))
			feed_use_file(feed);
		return;
	}
	while (left-- > 0 && (record = next_event(&feed->at)) != NULL) {
		feed_give(feed, record);
		json_object_put(record);
	}
	if (left < 0)
		loop_call_request(feed->read);
	else if (clock_mono_ms() - feed->asked_ms >= GROWN_MS)
		feed_ask(feed);
}

static void
feed_timer(void *arg)
{
	struct event_feed *feed = arg;

	if (feed->stream != NULL)
		feed_use_file(feed); /* it did not answer */
	else
		feed_read(feed);
}

static void
on_interrupt(int signo, void *arg)
{
	(void)signo;
	loop_stop(arg, CLI_OK);
}

int
event_follow(struct cli *cli, struct loop *loop, const struct log_view *view,
    size_t lines, event_feed_fn *fn, void *arg)
{
	cleanup_free char *socket = remote_socket(cli);
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "logs/auto.log");
	struct event_feed feed = { .loop = loop,
		.socket = socket,
		.file = file,
		.view = view,
		.lines = lines,
		.fn = fn,
		.arg = arg };
	struct loop_signal *interrupt =
	    loop_signal_new(loop, SIGINT, on_interrupt, loop);
	struct loop_watch *reader = cli_watch_reader(loop);
	struct err err = { 0 };
	int status;

	jsonl_cursor_init(&feed.at, file);
	feed.read = loop_call_new(loop, feed_read, &feed);
	if (watch_new(loop, file, feed_changed, &feed, &feed.watch, &err) < 0) {
		status = cli_fail_err(cli, "io", &err);
	} else {
		loop_call_request(feed.read);
		status = loop_run(loop);
	}
	client_stream_free(feed.stream);
	watch_free(feed.watch);
	loop_timer_free(feed.timer);
	loop_call_free(feed.read);
	loop_signal_free(interrupt);
	loop_watch_free(reader);
	jsonl_cursor_release(&feed.at);
	json_object_put(feed.last);
	return status;
}

static void
add_list(struct json_object *params, const char *key, const char *const *words)
{
	struct json_object *list = json_object_new_array();

	for (; *words != NULL; words++)
		json_object_array_add(list, json_object_new_string(*words));
	json_set(params, key, list);
}

static struct json_object *
page_params(const struct event_filter *filter, size_t lines, int64_t before)
{
	struct json_object *params = json_object_new_object();

	if (filter->goal != NULL)
		json_set_string(params, "goal", filter->goal);
	add_list(params, "workers", filter->workers);
	add_list(params, "tasks", filter->tasks);
	add_list(params, "kinds", filter->kinds);
	json_set_int(params, "lines",
	    (int64_t)(lines < API_EVENTS_MAX ? lines : API_EVENTS_MAX));
	if (before > 0)
		json_set_int(params, "before", before);
	return params;
}

/* The last `lines` that are wanted, oldest first, as records of the log: an
 * array, owned by the caller. NULL with CLI_OK: there is no store, or it cannot
 * be asked. Otherwise the failure is reported. */
static int
event_store_last(struct cli *cli, const struct event_filter *filter,
    size_t lines, struct json_object **ret_events)
{
	cleanup_free char *store =
	    workspace_path(&cli->workspace, WORKSPACE_BOOK);
	cleanup_json struct json_object *all = json_object_new_array();
	int64_t before = 0;

	*ret_events = NULL;
	if (!file_exists(store))
		return CLI_OK;
	while (json_object_array_length(all) < lines) {
		cleanup_json struct json_object *page = NULL;
		struct json_object *more = json_object_new_array();
		struct err err = { 0 };
		const char *code;

		if (!remote_try(cli, "overseer.events",
			page_params(filter,
			    lines - json_object_array_length(all), before),
			0, &page, &code, &err)) {
			json_object_put(more);
			return filter->goal != NULL &&
				strcmp(code, "E_UNKNOWN") == 0 ?
			    cli_fail_err(cli, code, &err) :
			    CLI_OK;
		}
		/* In front of what was read before. */
		json_add_all(more, json_member(page, "events"));
		json_add_all(more, all);
		json_object_put(all);
		all = more;
		before = json_int_or(page, "before", 0);
		if (before == 0)
			break;
	}
	*ret_events = take_ptr(&all);
	return CLI_OK;
}

/* --- merge ----------------------------------------------------------- */

static const char *
stamp_of(struct json_object *record)
{
	return json_string_or(record, "timestamp", "");
}

/* The store may know more of it. */
static bool
is_same(struct json_object *a, struct json_object *b)
{
	static const char *const keys[] = { "type", "worker_name", "task",
		"goal", "node", "assignment" };
	struct json_object *x = NULL, *y = NULL;

	json_object_object_get_ex(a, "event", &x);
	json_object_object_get_ex(b, "event", &y);
	for (size_t i = 0; i < nitems(keys); i++) {
		const char *wanted = json_string_or(y, keys[i], NULL);

		if (wanted != NULL &&
		    strcmp(json_string_or(x, keys[i], ""), wanted) != 0)
			return false;
	}
	return strcmp(stamp_of(a), stamp_of(b)) == 0;
}

/* Is it among those from `at` on that have the same time? */
static bool
cmd_events_has(struct json_object *list, size_t at, struct json_object *record)
{
	size_t count = json_object_array_length(list);

	for (; at < count; at++) {
		struct json_object *other = json_object_array_get_idx(list, at);

		if (strcmp(stamp_of(other), stamp_of(record)) != 0)
			return false;
		if (is_same(other, record))
			return true;
	}
	return false;
}

/* Both in the order of time, without those that are in both: the last `lines`
 * of them, owned by the caller. */
static struct json_object *
event_store_merge(
    struct json_object *stored, struct json_object *logged, size_t lines)
{
	cleanup_json struct json_object *all = json_object_new_array();
	struct json_object *last = json_object_new_array(), *record;
	size_t s = 0, l = 0, count = json_object_array_length(stored);

	for (; l < json_object_array_length(logged); l++) {
		record = json_object_array_get_idx(logged, l);
		for (; s < count &&
		     strcmp(stamp_of(json_object_array_get_idx(stored, s)),
			 stamp_of(record)) < 0;
		     s++)
			json_object_array_add(all,
			    json_object_get(
				json_object_array_get_idx(stored, s)));
		if (!cmd_events_has(stored, s, record))
			json_object_array_add(all, json_object_get(record));
	}
	for (; s < count; s++)
		json_object_array_add(
		    all, json_object_get(json_object_array_get_idx(stored, s)));
	count = json_object_array_length(all);
	for (size_t i = count > lines ? count - lines : 0; i < count; i++)
		json_object_array_add(
		    last, json_object_get(json_object_array_get_idx(all, i)));
	return last;
}

static int
by_stamp(const void *a, const void *b)
{
	return strcmp(stamp_of(*(struct json_object *const *)a),
	    stamp_of(*(struct json_object *const *)b));
}

/* Add what the other hosts of a fleet told all of them. */
static void
add_elsewhere(struct cli *cli, const struct event_filter *filter, size_t lines,
    struct json_object **last)
{
	cleanup_json struct json_object *answer = NULL, *others = NULL;
	struct json_object *events = NULL, *here = *last;
	const char *code = NULL;
	struct err err = { 0 };

	if (!remote_alive(cli) ||
	    !remote_try(cli, "fleet.events", json_object_new_object(), FLEET_MS,
		&answer, &code, &err) ||
	    !json_object_object_get_ex(answer, "events", &events))
		return;
	others = json_object_new_array();
	JSON_EACH (record, events)
		if (event_filter_wants(record, filter))
			json_object_array_add(others, json_object_get(record));
	json_object_array_sort(others, by_stamp);
	*last = event_store_merge(others, here, lines);
	json_object_put(here);
}

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
	FLAG_LONG,
	FLAG_HERE
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
	[FLAG_HERE] = { "here", NULL, CLI_HERE_HELP },
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
	/* The reader has gone: llmc log --follow | head */
	loop_stop(events->loop, CLI_OK);
	return false;
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
		if (event_row_named(value) == NULL) {
			event_filter_add_kinds(&all);
			return cli_misuse(events->cli, &cmd_log,
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
		return cli_misuse(cli, &cmd_log,
		    "--lines takes a number from 0 to %d", LINES_MAX);
	if (args->flags[FLAG_FOLLOW] != NULL) {
		events.loop = loop_new();
		status = event_follow(cli, events.loop, &events.view,
		    (size_t)lines, print_event, &events);
		loop_free(events.loop);
		return status;
	}
	status = event_store_last(cli, &events.filter, (size_t)lines, &stored);
	if (status != CLI_OK)
		return status;
	last = log_view_last(&events.view, path, UINT64_MAX, (size_t)lines);
	if (stored != NULL) {
		struct json_object *logged = last;

		last = event_store_merge(stored, logged, (size_t)lines);
		json_object_put(logged);
	}
	if (args->flags[FLAG_HERE] == NULL)
		add_elsewhere(cli, &events.filter, (size_t)lines, &last);
	JSON_EACH (row, last)
		event_words_add(row, cli->colour, events.width, &cli->text);
	if (json_object_array_length(last) == 0 && is_filtered(&events.filter))
		cli_warn(cli, "there are no such events");
	else if (json_object_array_length(last) == 0 && lines > 0)
		cli_warn(cli,
		    "there are no events yet; start auto mode with: llmc up "
		    "--auto");
	cli->result = take_ptr(&last);
	return CLI_OK;
}

const struct cli_command cmd_log = {
	.name = "log",
	.group = CLI_WATCH,
	.usage = "[--follow] [--lines N] [--worker WORKER] [--task ID] "
		 "[--kind KIND] [--goal GOAL] [--long] [--here]",
	.summary = "show the events of auto mode",
	.help =
	    "Prints one line per event, in local time, cut to the width of the "
	    "terminal; --long\nprints all of it. Times in JSON are UTC. With "
	    "--follow and --json, every event is\none line of JSON.\n\n"
	    "--worker, --task and --kind can be given several times: what "
	    "matches one of\neach is shown. With a fleet, what concerns all hosts is shown of the others, too:\ntasks claimed, finished, parked or lost, hosts that came or were lost (not with\n--follow or --here). A kind is what --json shows as "
	    "type, such as task_finished or\nfailure. With goals, events are kept in "
	    "the book, too (a year).\n",
	.example = "log --follow --worker adam",
	.flags = events_flags,
	.letters = "fn",
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
