/* SPDX-License-Identifier: ISC */

/* llmc log daemon, log failures: what the daemon and the overseer wrote. */
#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cli-private.h"
#include "history.h"
#include "loop.h"
#include "watch.h"

#define LINE_MAX_BYTES (1024 * 1024)
#define CHUNK          (64 * 1024)
#define ROTATED_MAX    9

bool
log_view_wants(const struct log_view *view, struct json_object *record)
{
	struct json_object *object = NULL;
	enum log_level level;

	if (!json_object_is_type(record, json_type_object) ||
	    !log_level_parse(json_string_or(record, "level", ""), &level) ||
	    level < view->level)
		return false;
	if (view->worker != NULL &&
	    strcmp(json_string_or(record, "worker", ""), view->worker) != 0)
		return false;
	if (view->object != NULL &&
	    json_get_object(record, "", view->object, &object, NULL) < 0)
		return false;
	return view->wants == NULL || view->wants(record, view->wants_arg);
}

/* One line of the log, or NULL if it is not wanted or not a record. The caller
 * owns it. */
static struct json_object *
log_view_read(const struct log_view *view, const char *line, size_t len)
{
	cleanup_json struct json_object *record = NULL;

	if (json_parse(line, len, LINE_MAX_BYTES, &record, NULL) < 0 ||
	    !log_view_wants(view, record))
		return NULL;
	return take_ptr(&record);
}

static bool
is_field(const char *key)
{
	static const char *const shown[] = { "timestamp", "level", "pid",
		"component", "message" };

	for (size_t i = 0; i < nitems(shown); i++)
		if (strcmp(shown[i], key) == 0)
			return false;
	return true;
}

static void
add_fields(struct json_object *record, struct buf *out)
{
	JSON_MEMBERS (it, record) {
		const char *text = json_object_get_string(it.val);

		if (!is_field(it.key) || text == NULL)
			continue;
		buf_addf(out, "  %s=", it.key);
		text_add_visible(out, text, strlen(text), false);
	}
}

/* "2026-01-31 08:15:30 WARN  message  key=value" in local time, with a newline;
 * appended. */
static void
log_view_print(
    const struct log_view *view, struct json_object *record, struct buf *out)
{
	const char *message = json_string_or(record, "message", "");
	const char *stamp = json_string_or(record, "timestamp", "");
	int64_t at = 0;
	static const char *const colours[LOG_LEVEL_COUNT] = { "90", "", "33",
		"1;31" };
	const char *name;
	enum log_level level;

	if (moment_parse(stamp, &at))
		moment_add(out, at);
	else
		text_add_visible(out, stamp, strlen(stamp), false);
	name = json_string_or(record, "level", "");
	if (view->colour && log_level_parse(name, &level) &&
	    colours[level][0] != '\0')
		buf_addf(out, " \033[%sm%-5s\033[0m ", colours[level], name);
	else
		buf_addf(out, " %-5s ", name);
	text_add_visible(out, message, strlen(message), false);
	add_fields(record, out);
	buf_addc(out, '\n');
}

/* A file that is read backwards, line by line. */
struct backwards {
	int fd;
	off_t at; /* everything from here on has been read */
	struct buf part; /* read, not yet handed out */
};

/* Read the piece before the one that was read last; false at the beginning of
 * the file. */
static bool
read_more(struct backwards *b)
{
	cleanup_free char *piece = xmalloc(CHUNK);
	size_t want = b->at < CHUNK ? (size_t)b->at : CHUNK;
	ssize_t n;

	if (want == 0 || b->part.len > LINE_MAX_BYTES)
		return false;
	n = pread(b->fd, piece, want, b->at - (off_t)want);
	if (n != (ssize_t)want)
		return false;
	b->at -= (off_t)want;
	buf_splice(&b->part, 0, 0, piece, want);
	return true;
}

/* The line before the one that was returned last; the caller frees it. NULL at
 * the beginning of the file. */
static char *
line_before(struct backwards *b)
{
	const char *newline;
	char *line;

	while (b->part.len > 0 && b->part.data[b->part.len - 1] == '\n')
		buf_truncate(&b->part, b->part.len - 1);
	for (;;) {
		newline = memrchr(b->part.data, '\n', b->part.len);
		if (newline != NULL || !read_more(b))
			break;
		while (b->part.len > 0 && b->part.data[b->part.len - 1] == '\n')
			buf_truncate(&b->part, b->part.len - 1);
	}
	if (b->part.len == 0)
		return NULL;
	line = xstrdup(newline != NULL ? newline + 1 : b->part.data);
	buf_truncate(
	    &b->part, newline != NULL ? (size_t)(newline - b->part.data) : 0);
	return line;
}

/* Wanted records of one file, newest first, until there are `count`. */
static void
collect(const struct log_view *view, const char *path, uint64_t end,
    size_t count, struct json_object *list)
{
	struct backwards b = { .part = BUF_INIT };
	struct stat st;
	char *line;

	b.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (b.fd == -1)
		return;
	if (fstat(b.fd, &st) == 0 && S_ISREG(st.st_mode))
		b.at = (uint64_t)st.st_size > end ? (off_t)end : st.st_size;
	while (json_object_array_length(list) < count &&
	    (line = line_before(&b)) != NULL) {
		struct json_object *record =
		    log_view_read(view, line, strlen(line));

		free(line);
		if (record != NULL)
			json_object_array_add(list, record);
	}
	buf_release(&b.part);
	fd_close(b.fd);
}

struct json_object *
log_view_last(
    const struct log_view *view, const char *path, uint64_t end, size_t count)
{
	cleanup_json struct json_object *newest = json_object_new_array();
	struct json_object *list = json_object_new_array();

	collect(view, path, end, count, newest);
	for (int i = 1; i <= ROTATED_MAX; i++) {
		cleanup_free char *older = xasprintf("%s.%d", path, i);

		collect(view, older, UINT64_MAX, count, newest);
	}
	for (size_t i = json_object_array_length(newest); i > 0; i--)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(newest, i - 1)));
	return list;
}

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
	/* The reader has gone: llmc log daemon --follow | head */
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
	struct loop_watch *reader;
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
	JSON_EACH (row, last)
		print_record(logs, row);
	reader = cli_watch_reader(logs->loop);
	status = loop_run(logs->loop);
	loop_watch_free(reader);
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
	JSON_EACH (item, last)
		log_view_print(&logs.view, item, &cli->text);
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
	.name = "log daemon",
	.usage = "[--follow] [--worker WORKER] [--level LEVEL] [--lines N]",
	.summary = "show the daemon's log",
	.help =
	    "Prints one line per record, in local time; times in JSON are UTC. "
	    "With --follow\nand --json, every record is one line of JSON.\n",
	.example = "log daemon --level warn --lines 20",
	.flags = logs_flags,
	.letters = "f  n",
	.shape = CLI_SHAPE(ROWS, record_shape),
	.run = logs_run,
};

/* --- failures ------------------------------------------------------------ */

enum {
	FLAG_ALL
};

static const struct cli_flag failures_flags[] = {
	[FLAG_ALL] = { "all", NULL,
	    "include what happened before the last llmc overseer --clear" },
	{ NULL, NULL, NULL },
};

/* Failures with one signature, and what was done about them. */
struct group {
	const char *signature;
	const struct spiral_event *last; /* failure; NULL = forgotten */
	int64_t first_ms;
	size_t count; /* failures */
	size_t order; /* of its newest event */
	struct spiral_event *acts; /* repairs and ends, in order; the strings
				    * are the history's */
	size_t act_count;
};

struct failures {
	struct cli *cli;
	struct history history;
	size_t begin; /* the first event that is shown */
	const struct spiral_event *clear; /* the last one, NULL = none */
	struct group *groups; /* the newest last */
	size_t count;
};

/* --- grouping -------------------------------------------------------- */

static bool
is_failure(const struct spiral_event *event)
{
	return event->kind == SPIRAL_FAILURE || event->kind == SPIRAL_STALL;
}

static struct group *
find_group(struct failures *f, const char *signature)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->groups[i].signature, signature) == 0)
			return &f->groups[i];
	f->groups = xreallocarray(f->groups, f->count + 1, sizeof *f->groups);
	f->groups[f->count] = (struct group){ .signature = signature };
	return &f->groups[f->count++];
}

static int
compare_groups(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	return left->order < right->order ? -1 : left->order > right->order;
}

/* --- words ----------------------------------------------------------- */

/* Only the first line: the JSON has all of them. */
static void
add_words(struct cli *cli, const char *words)
{
	text_add_visible(&cli->text, words, strcspn(words, "\n"), false);
}

static void
tell_group(struct cli *cli, const struct group *group)
{
	const struct spiral_event *last = group->last;
	cleanup_buf struct buf title = BUF_INIT;
	const char *words = last != NULL && last->words != NULL ?
	    last->words :
	    group->signature;

	text_add_visible(&title, words, strcspn(words, "\n"), false);
	cli_coloured(cli, "1;31", title.data);
	buf_adds(&cli->text, "\n  ");
	if (last == NULL) {
		buf_adds(&cli->text, "older than the history\n");
	} else {
		buf_addf(&cli->text, "%zu time%s", group->count,
		    group->count == 1 ? ": " : "s: first ");
		if (group->count > 1) {
			moment_add(&cli->text, group->first_ms);
			buf_adds(&cli->text, ", last ");
		}
		moment_add(&cli->text, last->at_ms);
		buf_adds(&cli->text, ", after a run of ");
		moment_add_age(&cli->text, last->run_ms);
		buf_addf(&cli->text, "%s\n",
		    last->kind == SPIRAL_STALL ? " (a stall: restarted)" : "");
	}
	for (size_t i = 0; i < group->act_count; i++) {
		const struct spiral_event *act = &group->acts[i];

		buf_adds(&cli->text, "  ");
		moment_add(&cli->text, act->at_ms);
		if (act->kind == SPIRAL_REMEDY) {
			buf_adds(&cli->text, "  remediation ");
			cli_coloured(cli,
			    text_is(act->outcome, "completed") ? "32" : "33",
			    act->outcome != NULL ? act->outcome : "ended");
			buf_adds(&cli->text, " after ");
			moment_add_age(&cli->text, act->took_ms);
		} else {
			buf_adds(&cli->text, "  the overseer gave up");
		}
		if (act->words != NULL) {
			buf_adds(&cli->text, ": ");
			add_words(cli, act->words);
		}
		buf_addc(&cli->text, '\n');
		if (act->log != NULL) {
			buf_adds(&cli->text, "                       ");
			add_words(cli, act->log);
			buf_addc(&cli->text, '\n');
		}
	}
	buf_addc(&cli->text, '\n');
}

static void
tell_end(struct failures *f, const char *over)
{
	struct cli *cli = f->cli;

	if (f->count == 0)
		buf_addf(&cli->text, "No failures%s.\n",
		    f->clear != NULL ? " since the last --clear" :
				       " are recorded");
	if (f->clear != NULL) {
		buf_adds(&cli->text, "Cleared at ");
		moment_add(&cli->text, f->clear->at_ms);
		buf_adds(&cli->text, ": ");
		add_words(cli, f->clear->words != NULL ? f->clear->words : "?");
		buf_addf(&cli->text, "%s\n",
		    f->begin > 1 ?
			"  (llmc log failures --all shows older ones)" :
			"");
	}
	if (over != NULL)
		buf_adds(&cli->text,
		    "The overseer will not start again. Fix the cause, then: "
		    "llmc overseer --clear \"what was done\"\n");
}

/* What is shown of a group. */
struct row {
	const char *signature, *kind, *class, *words;
	size_t count;
	int64_t first_ms, last_ms, run_ms; /* -1 = forgotten */
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct row, key, member, ##__VA_ARGS__)

static const struct schema_field group_fields[] = {
	FIELD("signature", signature, .flags = SCHEMA_REQUIRED,
	    .help = "what these failures have in common"),
	FIELD("count", count, .help = "0: older than the history"),
	FIELD("first_ms", first_ms, .flags = SCHEMA_UNKNOWN,
	    .help = "milliseconds since 1970"),
	FIELD("last_ms", last_ms, .flags = SCHEMA_UNKNOWN),
	FIELD("last_run_ms", run_ms, .flags = SCHEMA_UNKNOWN,
	    .help = "how long the daemon had run before the last failure"),
	FIELD("kind", kind, .help = "failure or stall"),
	FIELD("class", class, .help = "see autod(8)"),
	FIELD("words", words, .help = "reason of the last failure"),
	SCHEMA_IS("done", ROWS, "remediations, and where the overseer gave up",
	    .of = &spiral_event_schema),
};
static const struct schema group_schema = SCHEMA_OF(struct row, group_fields);

static struct json_object *
group_json(const struct group *group)
{
	const struct spiral_event *last = group->last;
	struct row row = { .signature = group->signature,
		.count = group->count,
		.first_ms = last != NULL ? group->first_ms : -1,
		.last_ms = last != NULL ? last->at_ms : -1,
		.run_ms = last != NULL ? last->run_ms : -1,
		.kind = last != NULL ? spiral_kind_name(last->kind) : NULL,
		.class = last != NULL ? last->class : NULL,
		.words = last != NULL ? last->words : NULL };
	struct json_object *json = schema_json(&group_schema, &row);
	struct json_object *acts = json_object_new_array();

	for (size_t i = 0; i < group->act_count; i++)
		json_object_array_add(
		    acts, spiral_event_to_json(&group->acts[i]));
	json_set(json, "done", acts);
	return json;
}

static int
failures_run(struct cli *cli, const struct cli_args *args)
{
	struct failures f = { .cli = cli };
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };
	const char *over;
	const struct history *h;
	bool all;
	struct json_object *groups;
	struct json_object *events;
	struct json_object *json;

	if (history_load(&cli->workspace, &f.history, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	over = spiral_is_over(f.history.events, f.history.count, &words) ?
	    words.data :
	    NULL;
	all = args->flags[FLAG_ALL] != NULL;
	h = &f.history;
	for (size_t i = 0; i < h->count; i++) {
		if (h->events[i].kind != SPIRAL_CLEAR)
			continue;
		f.clear = &h->events[i];
		f.begin = all ? 0 : i + 1;
	}
	for (size_t i = f.begin; i < h->count; i++) {
		const struct spiral_event *event = &h->events[i];
		struct group *group;

		if (!is_failure(event) && event->kind != SPIRAL_REMEDY &&
		    event->kind != SPIRAL_GAVE_UP)
			continue;
		group = find_group(&f,
		    event->signature != NULL ? event->signature :
					       spiral_kind_name(event->kind));
		group->order = i;
		if (!is_failure(event)) {
			group->acts = xreallocarray(group->acts,
			    group->act_count + 1, sizeof *group->acts);
			group->acts[group->act_count++] = *event;
			continue;
		}
		if (group->count++ == 0)
			group->first_ms = event->at_ms;
		group->last = event;
	}
	if (f.count > 1)
		qsort(f.groups, f.count, sizeof *f.groups, compare_groups);
	groups = json_object_new_array();
	events = json_object_new_array();
	json = json_object_new_object();
	for (size_t i = 0; i < f.count; i++)
		json_object_array_add(groups, group_json(&f.groups[i]));
	for (size_t i = f.begin; i < f.history.count; i++)
		json_object_array_add(
		    events, spiral_event_to_json(&f.history.events[i]));
	json_set(json, "failures", groups);
	json_set(json, "events", events);
	json_set(json, "cleared",
	    f.clear != NULL ? spiral_event_to_json(f.clear) : NULL);
	json_set_string(json, "over", over);
	f.cli->result = json;
	for (size_t i = 0; i < f.count; i++)
		tell_group(cli, &f.groups[i]);
	tell_end(&f, over);
	for (size_t i = 0; i < f.count; i++)
		free(f.groups[i].acts);
	free(f.groups);
	history_release(&f.history);
	return CLI_OK;
}

static const struct schema failures_shape =
    SCHEMA_SHAPE(SCHEMA_IS("failures", ROWS, "by signature, newest last",
		     .of = &group_schema),
	SCHEMA_IS("events", ROWS, "the events behind the failures, newest last",
	    .of = &spiral_event_schema),
	SCHEMA_OR_NULL(
	    "cleared", OBJECT, "the last --clear", .of = &spiral_event_schema),
	SCHEMA_OR_NULL("over", STRING,
	    "why the overseer will not start before llmc overseer "
	    "--clear"));

const struct cli_command cmd_failures = {
	.name = "log failures",
	.usage = "[--all]",
	.summary =
	    "show the failures under the overseer and what was done about them",
	.help =
	    "Lists each failure once: how often it happened, when first and "
	    "last, its\nmessage, and which remediations were tried, how they "
	    "ended and where their logs\nare. The newest is last. Without "
	    "--all, lists only what happened since the last\nllmc overseer "
	    "--clear.\n",
	.example = "log failures --all",
	.flags = failures_flags,
	.shape = CLI_SHAPE(OBJECT, failures_shape),
	.run = failures_run,
};
