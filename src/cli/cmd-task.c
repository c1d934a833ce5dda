/* SPDX-License-Identifier: ISC */

/* llmc task: the tasks of auto mode, waiting, in progress and done. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "draft.h"
#include "errtext.h"
#include "flag-params.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "remote.h"
#include "schema.h"
#include "source.h"
#include "table.h"
#include "task-view.h"
#include "taskbook.h"
#include "text.h"
#include "verbs.h"

#define ENDED_SHOWN 20

enum {
	FLAG_FILE,
	FLAG_PRIORITY,
	FLAG_ALL,
	FLAG_RELEASE
};

static const struct cli_flag task_flags[] = {
	[FLAG_FILE] = { "file", "FILE",
	    "for add and edit: take the text from FILE (- is stdin)" },
	[FLAG_PRIORITY] = { "priority", "PRIORITY",
	    "for add: urgent, high, normal or low" },
	[FLAG_ALL] = { "all", NULL,
	    "for list: every task that has ended, not only the last 20" },
	[FLAG_RELEASE] = { "release", "ID",
	    "for reservations: let others change what ID reserves" },
	{ NULL, NULL, NULL },
};

/* --- changes: the owner makes them ----------------------------------- */

static struct json_object *
task_params(const char *key, const char *value)
{
	struct json_object *params = json_object_new_object();

	json_set_string(params, key, value);
	return params;
}

/* The text that was typed, is in a file, piped in, or written in an editor. */
static int
fill_draft(struct cli *cli, const struct cli_args *args, struct draft *draft)
{
	cleanup_buf struct buf typed = BUF_INIT;
	const char *file = args->flags[FLAG_FILE];

	if (file != NULL && args->count > 1)
		return cli_misuse(
		    cli, &cmd_task, "give the text or --file, not both");
	if (file != NULL)
		return draft_read(cli, file, draft);
	for (int i = 1; i < args->count; i++)
		buf_addf(&typed, "%s%s", i > 1 ? " " : "", args->list[i]);
	if (args->count == 1)
		return draft_fill(cli, isatty(STDIN_FILENO) ? NULL : "-",
		    "task", NULL, draft);
	return draft_fill(cli, typed.data, "task", NULL, draft);
}

static struct json_object *
add_params(const struct draft *draft, const char *priority)
{
	struct json_object *params = task_params("text", draft->text.data);

	if (priority != NULL)
		json_set_string(params, "priority", priority);
	return params;
}

static int
task_add(struct cli *cli, const struct cli_args *args)
{
	const char *priority = args->flags[FLAG_PRIORITY];
	struct draft draft = DRAFT_INIT;
	int status = flag_priority(cli, &cmd_task, priority);

	if (status == CLI_OK)
		status = fill_draft(cli, args, &draft);
	if (status == CLI_OK)
		status = remote_call(cli, "task.add",
		    add_params(&draft, priority), 0, &cli->result);
	if (status == CLI_OK) {
		const char *key = json_string_or(cli->result, "task", "");

		buf_adds(&cli->text, "Added ");
		text_add_visible(&cli->text, key, strlen(key), false);
		buf_adds(&cli->text, ".\n");
	}
	return draft_end(cli, &draft, status);
}

static int
unknown_task(struct cli *cli, const char *word)
{
	struct taskbook book;
	const char *near;
	int status = taskbook_load(cli, 0, &book);

	if (status != CLI_OK)
		return status;
	near = taskbook_nearest(&book, word);
	status = near != NULL ?
	    cli_fail(cli, "no_such_task",
		"there is no task %s; did you mean \"%s\"?", word, near) :
	    cli_fail(cli, "no_such_task",
		"there is no task %s; see: llmc task list --all", word);
	taskbook_release(&book);
	return status;
}

/* The daemon knows a task by its id; one that has ended and is kept by its
 * source, or that only the source knows, by its key. */
static const char *
owners_name(struct json_object *entry, const char *word)
{
	enum source_type type;

	if (json_string_or(entry, "outcome", NULL) == NULL ||
	    !source_type_parse(json_string_or(entry, "source", ""), &type) ||
	    (source_type_flags(type) & SOURCE_RETRIES) == 0)
		return json_string_or(
		    entry, "id", json_string_or(entry, "key", word));
	return json_string_or(entry, "key", word);
}

/* member: what the answer says of the task now. */
static int
change(struct cli *cli, const char *method, const char *word,
    const char *priority, const char *member)
{
	struct json_object *params;
	struct json_object *entry;
	struct taskbook book;
	const char *code, *name;
	struct err err = { 0 };
	int status = taskbook_load_for(cli, word, &book);

	if (status != CLI_OK)
		return status;
	entry = taskbook_find(&book, word);
	params = task_params("task", owners_name(entry, word));
	if (priority != NULL)
		json_set_string(params, "priority", priority);
	if (remote_try(cli, method, params, 0, &cli->result, &code, &err)) {
		name = json_string_or(cli->result, "task", word);
		text_add_visible(&cli->text, name, strlen(name), false);
		buf_addf(&cli->text, ": %s.\n",
		    json_string_or(cli->result, member, ""));
	} else if (entry == NULL && strcmp(code, "no_such_task") == 0) {
		status = unknown_task(cli, word);
	} else {
		status = cli_fail_err(cli, code, &err);
	}
	taskbook_release(&book);
	return status;
}

static int
task_retry(struct cli *cli, const struct cli_args *args)
{
	return change(cli, "task.retry", args->list[1], NULL, "status");
}

static int
task_priority(struct cli *cli, const struct cli_args *args)
{
	const char *priority = args->list[2];
	int status = flag_priority(cli, &cmd_task, priority);

	if (status != CLI_OK)
		return status;
	return change(
	    cli, "task.priority", args->list[1], priority, "priority");
}

static int
task_drop(struct cli *cli, const struct cli_args *args)
{
	return change(cli, "task.drop", args->list[1], NULL, "status");
}

/* --- what agents have reserved --------------------------------------- */

static int
release_reservation(struct cli *cli, const char *id)
{
	cleanup_json struct json_object *row = NULL;
	int status = remote_call(
	    cli, "reservation.release", task_params("id", id), 0, &row);

	if (status != CLI_OK)
		return status;
	buf_addf(
	    &cli->text, "%s is released.\n", json_string_or(row, "path", ""));
	cli->result = json_object_new_object();
	json_set(cli->result, "released", take_ptr(&row));
	return CLI_OK;
}

static int
task_reservations(struct cli *cli, const struct cli_args *args)
{
	static const struct table_column columns[] = { { .title = "ID" },
		{ .title = "PATH" }, { .title = "WORKER" }, { .title = "TASK" },
		{ .title = "UNTIL" }, { .title = "WHY", .flexible = true } };
	struct json_object *rows = NULL;
	struct table *table;
	int status;

	if (args->flags[FLAG_RELEASE] != NULL)
		return release_reservation(cli, args->flags[FLAG_RELEASE]);
	status = remote_call(
	    cli, "reservation.list", json_object_new_object(), 0, &rows);
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_object();
	json_set(cli->result, "reservations", rows);
	if (json_object_array_length(rows) == 0) {
		buf_adds(&cli->text, "Nothing is reserved.\n");
		return CLI_OK;
	}
	table = table_new(columns, nitems(columns));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		cleanup_buf struct buf until = BUF_INIT;

		moment_add(&until, json_int_or(row, "until_ms", 0));
		table_row(table,
		    (const char *const[]){ json_string_or(row, "id", ""),
			json_string_or(row, "path", ""),
			json_string_or(row, "worker", ""),
			json_string_or(row, "task", ""), until.data,
			json_string_or(row, "reason", "") });
	}
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
	return CLI_OK;
}

/* --- edit ------------------------------------------------------------ */

/* One that is in progress: what can be done instead. */
static int
refuse_edit(struct cli *cli, struct json_object *entry)
{
	const char *id = json_string_or(entry, "id", "");
	const char *worker = json_string_or(entry, "worker", NULL);

	if (worker != NULL)
		return cli_fail(cli, "wrong_status",
		    "%s has %s already; tell it what is different with: llmc "
		    "message %s TEXT, or take the task away with: llmc task "
		    "drop %s",
		    worker, id, worker, id);
	return cli_fail(cli, "wrong_status",
	    "%s is in progress already (%s); take it away with: llmc task drop "
	    "%s, then add it again",
	    id, json_string_or(entry, "status", ""), id);
}

/* The text of its file, as source_edit() compares it; NULL = there is none that
 * can be edited. The caller frees it. */
static char *
text_to_edit(const struct taskbook *book, const char *key)
{
	char *text = source_text(book->type, book->where, key, "todo");

	return text != NULL ?
	    text :
	    source_text(book->type, book->where, key, "failed");
}

static bool
is_same(const char *before, const struct buf *after)
{
	size_t len = strlen(before), n = after->len;

	while (len > 0 && before[len - 1] == '\n')
		len--;
	while (n > 0 && after->data[n - 1] == '\n')
		n--;
	return len == n && memcmp(before, after->data, n) == 0;
}

static void
add_changed(struct cli *cli, const char *key)
{
	buf_adds(&cli->text, "Changed ");
	text_add_visible(&cli->text, key, strlen(key), false);
	buf_adds(&cli->text, ".\n");
}

static int
edit_text(
    struct cli *cli, const char *key, const char *before, const char *file)
{
	struct draft draft = DRAFT_INIT;
	struct json_object *params;
	int status = file != NULL ?
	    draft_read(cli, file, &draft) :
	    draft_edit(cli, before, "task", "--file", &draft);

	if (status == CLI_OK && is_same(before, &draft.text)) {
		cli->result = task_params("task", key);
		buf_adds(&cli->text, "Nothing was changed.\n");
	} else if (status == CLI_OK) {
		params = task_params("task", key);
		json_set_string(params, "before", before);
		json_set_string(params, "text", draft.text.data);
		status = remote_call(cli, "task.edit", params, 0, &cli->result);
		if (status == CLI_OK)
			add_changed(cli, key);
	}
	return draft_end(cli, &draft, status);
}

static int
task_edit(struct cli *cli, const struct cli_args *args)
{
	const char *word = args->list[1], *key;
	cleanup_free char *text = NULL;
	struct json_object *entry;
	struct taskbook book;
	int status = taskbook_load_for(cli, word, &book);

	if (status != CLI_OK)
		return status;
	entry = taskbook_find(&book, word);
	key = json_string_or(entry, "key", word);
	if (entry == NULL)
		status = unknown_task(cli, word);
	else if (json_string_or(entry, "id", NULL) != NULL &&
	    json_string_or(entry, "outcome", NULL) == NULL)
		status = refuse_edit(cli, entry);
	else if (strcmp(json_string_or(entry, "source", ""), "plan") == 0)
		status = cli_fail(cli, "failed",
		    "%s is a task of a goal; change it with: llmc goal edit "
		    "%.*s",
		    word, (int)strcspn(key, "/"), key);
	else if ((source_type_flags(book.type) & SOURCE_EDITABLE) == 0)
		status = cli_fail(cli, "failed",
		    "tasks come from %s%s; edit them there",
		    source_type_origin(book.type), book.where);
	else if ((text = text_to_edit(&book, key)) == NULL)
		status = cli_fail(cli, "wrong_status",
		    "%s has ended (%s); do it again with: llmc task retry %s",
		    word, json_string_or(entry, "status", ""), word);
	else
		status = edit_text(cli, key, text, args->flags[FLAG_FILE]);
	taskbook_release(&book);
	return status;
}

/* --- looking --------------------------------------------------------- */

static int
task_list(struct cli *cli, const struct cli_args *args)
{
	struct taskbook book;
	int status = taskbook_load(
	    cli, args->flags[FLAG_ALL] != NULL ? 0 : ENDED_SHOWN, &book);

	if (status != CLI_OK)
		return status;
	if (book.problem != NULL)
		cli_warn(cli, "%s", book.problem);
	task_view_list(cli, &book);
	taskbook_release(&book);
	return CLI_OK;
}

static int
task_show(struct cli *cli, const struct cli_args *args)
{
	struct json_object *entry;
	struct taskbook book;
	int status = taskbook_load_for(cli, args->list[1], &book);

	if (status != CLI_OK)
		return status;
	entry = taskbook_find(&book, args->list[1]);
	if (entry == NULL) {
		status = unknown_task(cli, args->list[1]);
	} else {
		taskbook_read_text(&book, entry);
		task_view_show(cli, entry);
	}
	taskbook_release(&book);
	return status;
}

/* --- the command ----------------------------------------------------- */

static const struct verb task_verbs[] = {
	{ "add", 0, 1000, 1u << FLAG_FILE | 1u << FLAG_PRIORITY,
	    "add [TEXT ...]", task_add },
	{ "list", 0, 0, 1u << FLAG_ALL, "list [--all]", task_list },
	{ "show", 1, 1, 0, "show ID", task_show },
	{ "edit", 1, 1, 1u << FLAG_FILE, "edit ID", task_edit },
	{ "priority", 2, 2, 0, "priority ID PRIORITY", task_priority },
	{ "retry", 1, 1, 0, "retry ID", task_retry },
	{ "drop", 1, 1, 0, "drop ID", task_drop },
	{ "reservations", 0, 0, 1u << FLAG_RELEASE,
	    "reservations [--release ID]", task_reservations },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int
task_run(struct cli *cli, const struct cli_args *args)
{
	return verbs_run(cli, &cmd_task, task_verbs, args);
}

const struct cli_command cmd_task = {
	.name = "task",
	.usage = "add TEXT ... | list | show ID | edit ID | priority ID "
		 "PRIORITY | retry ID | drop ID | reservations",
	.summary = "show and change the tasks of auto mode",
	.help =
	    "add       add a task to the folder of tasks; without TEXT, it is "
	    "read from\n          standard input or an editor opens\n"
	    "list      the tasks in progress, those to do, and the last that "
	    "have ended\n"
	    "show      everything that is known about one task, with its "
	    "history\n"
	    "edit      change the text of a task that nobody has taken yet, or "
	    "that failed,\n          in an editor ($VISUAL, $EDITOR or vi)\n"
	    "priority  make a task urgent, high, normal or low\n"
	    "retry     do a task again that failed or has landed\n"
	    "drop      remove a task; its file goes to the folder's trash\n"
	    "reservations  files that agents keep others from changing; "
	    "--release ID ends one\n\n"
	    "Without one of these words: list. ID is what list shows: a number "
	    "such as t17, the\nname of the file, or the node of a goal "
	    "(GOAL/T3.1 or GOAL/3.1, the beginning of\nthe goal's id is "
	    "enough). You can add tasks only to "
	    "the folder of tasks\n(auto.tasks_dir).\n",
	.flags = task_flags,
	.min_args = 0,
	.max_args = 1001,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &task_view_shape },
	.run = task_run,
};
