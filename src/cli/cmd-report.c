/* SPDX-License-Identifier: ISC */

/* llmc report, replay: what a run, or a time, has brought, and how the work on
 * a task went. Only reads. */
#include "base.h"
#include "charts.h"
#include "cli-private.h"
#include "moment.h"
#include "report.h"
#include "transcript.h"
#include "view.h"
#include "why.h"

#define HTML_MODE    0644
#define CHARTS_WIDTH 80 /* where there is no terminal */
#define CHARTS_ROWS  40 /* workers; the JSON has all */

enum {
	FLAG_SINCE,
	FLAG_RUN,
	FLAG_HTML,
	FLAG_CHARTS,
	FLAG_HERE
};

static const struct cli_flag report_flags[] = {
	[FLAG_SINCE] = { "since", "WHEN",
	    "since then: an age such as 12h, a day such as 2026-01-31, or a "
	    "moment" },
	[FLAG_RUN] = { "run", "RUN", "of this run of auto mode, such as r17" },
	[FLAG_HTML] = { "html", "FILE",
	    "write it to FILE, as one page for a browser" },
	[FLAG_CHARTS] = { "charts", NULL,
	    "draw it: the workers' time, tasks and money, the landing queue, "
	    "goals" },
	[FLAG_HERE] = { "here", NULL, CLI_HERE_HELP },
	{ NULL, NULL, NULL },
};

/* Does the last run go on? Also while the overseer starts its next daemon. */
static bool
is_active(struct cli *cli, struct json_object *view, bool live)
{
	cleanup_free char *ended =
	    workspace_path(&cli->workspace, "ended.json");

	if (live)
		return json_bool_or(view_of(view, "head"), "auto", false);
	/* The file: the daemon says that it is over. */
	return access(ended, F_OK) != 0 && overseer_now(cli).active;
}

/* autod makes it (autod/look-private.h). CLI_OK, or the failure is reported. */
static int
make(struct cli *cli, const char *run, int64_t since_ms, int64_t now_ms,
    bool charts, struct json_object **ret_report)
{
	cleanup_json struct json_object *report = NULL, *daemon = NULL;
	struct json_object *params = json_object_new_object();
	struct json_object *view = NULL, *last = NULL;
	struct err err = { 0 };
	bool live = view_source_ask(cli, NULL, &view);

	daemon = live ? NULL : roster_daemon(cli);
	json_set_bool(params, "alive", daemon != NULL);
	json_set_bool(params, "active", is_active(cli, view, live));
	json_set_int(params, "now_ms", now_ms);
	if (since_ms >= 0)
		json_set_int(params, "since_ms", since_ms);
	json_set_string(params, "run", run);
	json_set_bool(params, "charts", charts);
	if (live)
		json_set(params, "view", view);
	if (remote_look(cli, "report", params, &report, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	if (!json_object_object_get_ex(report, "unknown_run", &last)) {
		*ret_report = take_ptr(&report);
		return CLI_OK;
	}
	return last != NULL ?
	    cli_fail(cli, "unknown_run",
		"there is no run %s; the last one: llmc report --run %s", run,
		json_object_get_string(last)) :
	    cli_fail(cli, "unknown_run",
		"there is no run %s; a run begins with: llmc up --auto", run);
}

static int
write_html(struct cli *cli, const char *file, struct json_object *report)
{
	cleanup_buf struct buf html = BUF_INIT;
	struct err err = { 0 };

	report_html(report, &html);
	if (file_replace(file, html.data, html.len, HTML_MODE, &err) < 0)
		return cli_fail(cli, "io",
		    "%s; name a file that can be written, such as: llmc report "
		    "--html report.html",
		    err.msg);
	buf_addf(&cli->text, "The report is in %s\n", file);
	return CLI_OK;
}

static int
report_run(struct cli *cli, const struct cli_args *args)
{
	const char *since = args->flags[FLAG_SINCE];
	const char *run = args->flags[FLAG_RUN], *html = args->flags[FLAG_HTML];
	int64_t now = clock_wall_ms(), from = -1;
	bool charts = args->flags[FLAG_CHARTS] != NULL;
	const struct charts_look look = {
		.width = cli->width > 0 ? cli->width : CHARTS_WIDTH,
		.rows = CHARTS_ROWS,
		.colours = cli->colour,
		.utf8 = cli->utf8,
	};
	int status;

	if (since != NULL && run != NULL)
		return cli_misuse(
		    cli, &cmd_report, "--since and --run: give one of them");
	if (charts && html != NULL)
		return cli_misuse(cli, &cmd_report,
		    "--charts and --html: give one of them; the page has the "
		    "same charts");
	if (since != NULL &&
	    (!since_parse(since, now, &from) || from > now || from < 0))
		return cli_misuse(cli, &cmd_report,
		    "--since %s: expected " SINCE_EXPECTED
		    ", not in the future",
		    since);
	cli->here = args->flags[FLAG_HERE] != NULL;
	progress_begin(cli, "reading the records");
	status =
	    make(cli, run, from, now, charts || html != NULL, &cli->result);
	progress_end();
	if (status != CLI_OK)
		return status;
	if (html != NULL)
		return write_html(cli, html, cli->result);
	if (charts) {
		report_print_head(cli->result, cli->colour, &cli->text);
		charts_print(json_object_object_get(cli->result, "charts"),
		    &look, &cli->text);
		return CLI_OK;
	}
	report_print(cli->result, cli->width, cli->colour, &cli->text);
	return CLI_OK;
}

const struct cli_command cmd_report = {
	.name = "report",
	.group = CLI_WATCH,
	.usage = "[--since WHEN | --run RUN] [--html FILE | --charts] [--here]",
	.summary = "show what a run brought: what needs you, landed, failed, "
		   "cost",
	.help =
	    "Without an option: of the run of auto mode that goes on, or of "
	    "the last one. A run\nbegins with llmc up --auto and goes on when "
	    "the overseer restarts the daemon; one\nthat was killed, or stopped "
	    "less than an hour before with work left, is part of\nthe report of "
	    "the next. A task is in the report of the time in which it ended.\n"
	    "The rows of the workers' time add up to the time of all "
	    "workers.\n--charts draws the same rows with characters, in 80 "
	    "columns: the time of each\nworker with marks where you were asked "
	    "or something failed, tasks that ended and\nwhat they cost over "
	    "time, the landing queue, and open goals with their critical\n"
	    "paths. With --json they are the member \"charts\".\n",
	.example = "report --since 12h --html report.html",
	.flags = report_flags,
	.shape = &report_shape,
	.run = report_run,
};

#define FILE_BYTES   ((size_t)64 * 1024 * 1024) /* of a conversation */
#define LINE_BYTES   ((size_t)4 * 1024 * 1024)
#define EVENTS_LINES 1000

enum {
	FLAG_FROM
};

static const struct cli_flag replay_flags[] = {
	[FLAG_FROM] = { "from", "N",
	    "with --json: the entries from the N-th on, counted from 0" },
	{ NULL, NULL, NULL },
};

struct replaying {
	struct cli *cli;
	struct json_object *list, *gone;
	const char *task, *title, *outcome; /* NULL = none */
};

/* The lines of a conversation. One that cannot be read is named. */
static void
read_conversation(struct replaying *r, const char *path)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	cleanup_free char *model = NULL;
	cleanup_fd int fd = transcript_open_file(path);
	size_t at = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && bytes.len < FILE_BYTES) {
		buf_reserve(&bytes, 65536);
		n = read(fd, bytes.data + bytes.len, 65536);
		if (n > 0)
			buf_grew(&bytes, (size_t)n);
	}
	if (fd < 0 || n < 0) {
		json_object_array_add(r->gone, json_object_new_string(path));
		return;
	}
	while (at < bytes.len) {
		cleanup_json struct json_object *line = NULL;
		const char *s = bytes.data + at;
		const char *end = memchr(s, '\n', bytes.len - at);
		size_t len = end != NULL ? (size_t)(end - s) : bytes.len - at;

		at += len + 1;
		if (json_parse(s, len, LINE_BYTES, &line, NULL) < 0 ||
		    !json_object_is_type(line, json_type_object))
			continue;
		line = transcript_translate(line, &model);
		if (line != NULL)
			replay_add_line(r->list, line);
	}
}

/* What the daemon remembers of the task; false: nothing. */
static bool
read_events(struct replaying *r)
{
	struct json_object *params = json_object_new_object();
	struct json_object *tasks = json_object_new_array(), *events = NULL;
	cleanup_json struct json_object *page = NULL;
	struct err err = { 0 };
	const char *code;
	size_t count;

	json_object_array_add(tasks, json_object_new_string(r->task));
	json_set(params, "tasks", tasks);
	json_set_int(params, "lines", EVENTS_LINES);
	if (!remote_try(
		r->cli, "overseer.events", params, 0, &page, &code, &err) ||
	    !json_object_object_get_ex(page, "events", &events))
		return false;
	count = json_object_array_length(events);
	JSON_EACH (row, events)
		replay_add_event(r->list, row);
	return count > 0;
}

/* Its conversations are notes in its history. */
static void
read_task(struct replaying *r, struct json_object *task)
{
	struct json_object *history = NULL;
	bool told;

	r->task = json_string_or(task, "id", "");
	r->title = json_string_or(task, "title", NULL);
	r->outcome = json_string_or(task, "outcome", NULL);
	told = read_events(r);
	if (json_get_array(task, "", "history", &history, NULL) < 0)
		return;
	JSON_EACH (note, history) {
		const char *path = json_string_or(note, "detail", NULL);

		if (strcmp(json_string_or(note, "what", ""), "conversation") ==
			0 &&
		    path != NULL)
			read_conversation(r, path);
		else if (!told)
			replay_add_note(r->list, note);
	}
}

static void
print_entries(const struct replaying *r)
{
	struct cli *cli = r->cli;
	size_t count = json_object_array_length(r->list);

	if (r->title != NULL)
		buf_addf(&cli->text, "%s: %s\n\n", r->task, r->title);
	JSON_EACH (e, r->list) {
		const char *kind = json_string_or(e, "kind", "");
		struct json_object *at = json_member(e, "at");
		cleanup_buf struct buf when = BUF_INIT;

		if (at != NULL)
			moment_add(&when,
			    (int64_t)(json_object_get_double(at) * 1000));
		buf_addf(&cli->text, "%-19s  %-6s  ", when.data, kind);
		for (const char *s = json_string_or(e, "text", ""); *s != '\0';
		     s++) {
			buf_addc(&cli->text, *s);
			if (*s == '\n')
				buf_addf(&cli->text, "%29s", "");
		}
		buf_addc(&cli->text, '\n');
	}
	if (count == 0)
		buf_adds(&cli->text, "Nothing is known of it.\n");
	JSON_EACH (row, r->gone)
		buf_addf(&cli->text,
		    "A conversation is not there any more: %s\n",
		    json_object_get_string(row));
}

/* All of it is read; a part of it is answered. */
static void
set_result(const struct replaying *r, int64_t from)
{
	struct json_object *entries = json_object_new_array();
	int64_t total = (int64_t)json_object_array_length(r->list);

	for (int64_t i = from; i < total && i < from + REPLAY_PAGE; i++)
		json_object_array_add(entries,
		    json_object_get(
			json_object_array_get_idx(r->list, (size_t)i)));
	r->cli->result = json_object_new_object();
	json_set_string(r->cli->result, "task", r->task);
	json_set_string(r->cli->result, "title", r->title);
	json_set_string(r->cli->result, "outcome", r->outcome);
	json_set_int(r->cli->result, "from", from);
	json_set_int(r->cli->result, "total", total);
	json_set(r->cli->result, "entries", entries);
	json_set(r->cli->result, "gone", json_object_get(r->gone));
}

static struct json_object *
find_record(struct json_object *tasks, const char *id)
{
	static const char *const lists[] = { "open", "ended" };

	for (size_t l = 0; l < nitems(lists); l++) {
		struct json_object *list = NULL;

		if (json_get_array(tasks, "", lists[l], &list, NULL) < 0)
			continue;
		JSON_EACH (task, list)
			if (strcmp(json_string_or(task, "id", ""), id) == 0)
				return task;
	}
	return NULL;
}

/* Of a worker with a task: of that. By hand: its conversation. */
static int
replay_worker(struct replaying *r, const char *name, char **ret_task)
{
	struct state state;
	const struct worker *w;
	int status = roster_load(r->cli, &state);

	if (status != CLI_OK)
		return status;
	w = state_find(&state, name);
	if (w != NULL && w->task != NULL)
		xstrset(ret_task, w->task);
	else if (w != NULL && w->session.transcript != NULL)
		read_conversation(r, w->session.transcript);
	else
		status = cli_fail(r->cli, "no_such_task",
		    "there is no task %s, and no worker with a conversation of "
		    "that name; see: llmc task list",
		    name);
	state_release(&state);
	return status;
}

static int
replay_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_json struct json_object *list = json_object_new_array(),
					*gone = json_object_new_array(),
					*tasks = NULL;
	struct replaying r = { .cli = cli, .list = list, .gone = gone };
	struct json_object *params = json_object_new_object(), *entry;
	const char *word = args->list[0];
	const char *typed = args->flags[FLAG_FROM];
	cleanup_free char *id = NULL;
	struct taskbook book;
	struct err err = { 0 };
	int64_t from = 0;
	int status;

	if (typed != NULL && !text_parse_int(typed, 0, INT32_MAX, &from)) {
		json_object_put(params);
		return cli_misuse(cli, &cmd_replay,
		    "--from needs a number, not \"%s\"", typed);
	}
	status = taskbook_load_for(cli, word, &book);
	if (status == CLI_OK) {
		entry = taskbook_find(&book, word);
		xstrset(&id, json_string_or(entry, "id", NULL));
		taskbook_release(&book);
	}
	if (status == CLI_OK && id == NULL)
		status = replay_worker(&r, word, &id);
	json_set_int(params, "limit", 0);
	json_set_string(params, "name", id);
	json_set_bool(params, "brief", false);
	json_set_bool(params, "open", true);
	if (status != CLI_OK || id == NULL)
		json_object_put(params);
	else if (remote_look(cli, "tasks", params, &tasks, &err) < 0)
		status = cli_fail_err(cli, "bad_state", &err);
	else if ((entry = find_record(tasks, id)) != NULL)
		read_task(&r, entry);
	if (status != CLI_OK)
		return status;
	replay_sort(list);
	set_result(&r, from);
	print_entries(&r);
	return CLI_OK;
}

static const struct schema replay_shape = SCHEMA_SHAPE(
    SCHEMA_OR_NULL("task", STRING, "null: a worker's task by hand"),
    SCHEMA_OR_NULL("title", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "null: it has not ended"),
    SCHEMA_IS("from", INT, "the number of the first entry here"),
    SCHEMA_IS("total", INT, "entries that there are"),
    SCHEMA_IS("entries", ROWS, NULL, .of = &replay_entry_schema),
    SCHEMA_IS("gone", LIST, "conversations that are not there any more"));

const struct cli_command cmd_replay = {
	.name = "replay",
	.usage = "TASK|WORKER [--from N]",
	.summary = "show how the work on a task went",
	.help =
	    "What the agent was asked, said and did, what failed, and what "
	    "llmc did with it:\nfrom the conversations of the task, which the "
	    "agent keeps, and from the events.\nWith the name of a worker: of "
	    "the task that it has. With --json, 500 entries at a\ntime.\n",
	.example = "replay t17",
	.flags = replay_flags,
	.min_args = 1,
	.max_args = 1,
	.shape = CLI_SHAPE(OBJECT, replay_shape),
	.run = replay_run,
};
