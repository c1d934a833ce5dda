/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cli-private.h"
#include "loop.h"
#include "tail.h"

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

static void
add_level(
    const struct log_view *view, struct json_object *record, struct buf *out)
{
	static const char *const colours[LOG_LEVEL_COUNT] = { "90", "", "33",
		"1;31" };
	const char *name = json_string_or(record, "level", "");
	enum log_level level;

	if (view->colour && log_level_parse(name, &level) &&
	    colours[level][0] != '\0')
		buf_addf(out, " \033[%sm%-5s\033[0m ", colours[level], name);
	else
		buf_addf(out, " %-5s ", name);
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
	json_object_object_foreach(record, key, value)
	{
		const char *text = json_object_get_string(value);

		if (!is_field(key) || text == NULL)
			continue;
		buf_addf(out, "  %s=", key);
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

	if (moment_parse(stamp, &at))
		moment_add(out, at);
	else
		text_add_visible(out, stamp, strlen(stamp), false);
	add_level(view, record, out);
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
	.shape = CLI_SHAPE(ROWS, record_shape),
	.run = logs_run,
};
