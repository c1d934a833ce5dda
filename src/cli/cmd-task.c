/* SPDX-License-Identifier: ISC */

/* llmc task: the tasks of auto mode, waiting, in progress and done. */
#include "base.h"
#include "api-team.h"
#include "cli-private.h"
#include "contract.h"
#include "work-record.h"

#define LABEL 9 /* width of the words before what is shown of one task */

/* --- what is shown --------------------------------------------------- */

/* A task that the source has, but that cannot be used; one that is a pull
 * request. */
static void
add_status(struct json_object *entry, struct buf *out)
{
	const char *status = json_string_or(entry, "status", "");
	const char *pull = json_string_or(entry, "pull", NULL);

	if (json_string_or(entry, "problem", NULL) != NULL)
		buf_adds(out, "unusable");
	else if (pull != NULL && strcmp(status, "queued") == 0)
		buf_add(out, pull, strcspn(pull, ":"));
	else
		buf_adds(out, status);
}

static void
add_name(struct json_object *entry, struct buf *out)
{
	buf_adds(out, taskbook_name(entry));
}

static void
add_priority(struct json_object *entry, struct buf *out)
{
	buf_adds(out, json_string_or(entry, "priority", "normal"));
}

static void
add_title(struct json_object *entry, struct buf *out)
{
	buf_adds(out,
	    json_string_or(
		entry, "problem", json_string_or(entry, "title", "")));
}

static const struct view_column list_columns[] = {
	{ "Id", .add = add_name, .flexible = true },
	{ "Origin", "origin", .flexible = true },
	{ "Status", .cell = VIEW_STATUS, .add = add_status },
	{ "Priority", .add = add_priority, .usual = "normal" },
	{ "Worker", "worker", .flexible = true },
	{ "Tries", "attempts", VIEW_COUNT, .right = true },
	{ "Age", "age_secs", VIEW_AGE, .right = true },
	{ "Title", .add = add_title, .flexible = true },
};

/* Long members are left out of the list. */
static struct json_object *
list_entry(struct json_object *entry)
{
	static const char *const details[] = { "text", "last_words",
		"history" };
	struct json_object *json = NULL;

	json_object_deep_copy(entry, &json, NULL);
	for (size_t i = 0; i < nitems(details); i++)
		json_object_object_del(json, details[i]);
	return json;
}

/* The words of a program, which may have several lines. */
static void
add_reason(struct json_object *entry, struct buf *out)
{
	const char *reason = json_string_or(entry, "reason", "");

	text_add_line(out, reason, strlen(reason));
}

static const struct view_column head_lines[] = {
	{ "status", .cell = VIEW_STATUS, .add = add_status },
	{ "problem", .key = "problem" },
	{ "reason", .add = add_reason },
	{ "pull", .key = "pull_url" },
	{ "origin", .key = "origin" },
	{ "name", .key = "key" },
	{ "priority", .add = add_priority, .usual = "normal" },
	{ "label", .key = "label" },
	{ "worker", .key = "worker" },
	{ "attempts", "attempts", .cell = VIEW_COUNT },
	{ "commit", .key = "commit_sha" },
	{ "before", .key = "landed_before" },
};

static void
add_spent(struct json_object *entry, struct buf *out)
{
	if (json_string_or(entry, "cost_source", NULL) != NULL &&
	    json_int_or(entry, "attempts", 0) > 0)
		spent_view_add(out, entry);
}

static const struct view_column spent_lines[] = {
	{ "spent", .add = add_spent },
};

static const struct view_column time_lines[] = {
	{ "created", "created_unix", .cell = VIEW_UNIX },
	{ "assigned", "assigned_unix", .cell = VIEW_UNIX },
	{ "ended", "finished_unix", .cell = VIEW_UNIX },
};

static void
show_history(struct cli *cli, struct json_object *entry)
{
	struct json_object *history = NULL;

	if (json_get_array(entry, "", "history", &history, NULL) < 0 ||
	    json_object_array_length(history) == 0)
		return;
	buf_adds(&cli->text, "\nhistory\n");
	JSON_EACH (item, history) {
		const char *detail = json_string_or(item, "detail", NULL);

		buf_adds(&cli->text, "  ");
		moment_add(&cli->text, json_int_or(item, "at_unix", 0) * 1000);
		cli_say(cli, "  ", json_string_or(item, "what", "?"), "");
		if (detail != NULL) {
			buf_adds(&cli->text, ": ");
			text_add_words(&cli->text, detail, strlen(detail));
		}
		buf_addc(&cli->text, '\n');
	}
}

/* Refs have the task in their names: "auto-1/20260131T081530Z-t17". */
static void
show_salvage(struct cli *cli, struct json_object *entry)
{
	const char *id = json_string_or(entry, "id", NULL);
	cleanup_free char *pattern =
	    xasprintf("%s*/*-%s", ROSTER_SALVAGE, id != NULL ? id : "");
	const char *const ask[] = { "for-each-ref", "--sort=creatordate",
		"--format=%(refname)", pattern, NULL };
	struct json_object *refs = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *ref;

	if (id != NULL && git_ask(cli->workspace.root, ask, &text, NULL) == 0) {
		rest = text.data;
		while (text.len > 0 && (ref = strsep(&rest, "\n")) != NULL) {
			json_object_array_add(
			    refs, json_object_new_string(ref));
			cli_say(cli, "salvaged  ", roster_salvage(ref), "\n");
		}
	}
	json_set(entry, "salvage", refs);
}

static void
show_contract(struct cli *cli, struct json_object *entry)
{
	struct json_object *contract = NULL, *result = NULL;
	cleanup_buf struct buf reasons = BUF_INIT;

	if (json_get_object(entry, "", "contract", &contract, NULL) < 0)
		return;
	buf_addf(&cli->text, "\ncontract (%s)\n",
	    json_string_or(entry, "verification", "?"));
	contract_print(contract, &cli->text);
	if (json_get_object(entry, "", "verification_result", &result, NULL) ==
	    0)
		check_result_reasons(result, &reasons);
	if (reasons.len > 0)
		cli_say(cli, "  last result: ", reasons.data, "\n");
}

static const struct schema source_shape = SCHEMA_SHAPE(
    { .name = "kind",
	.type = SCHEMA_STRING,
	.choices =
	    (const char *const[]){ "command", "files", "folder", NULL } },
    SCHEMA_IS("where", STRING, NULL),
    SCHEMA_OR_NULL("problem", STRING, "why it cannot be read"));

static const struct schema task_view_shape = SCHEMA_SHAPE(
    SCHEMA_MAY(
	"source", OBJECT, "list: where tasks come from", .of = &source_shape),
    SCHEMA_MAY("tasks", ROWS, "list", .of = &taskbook_entry_schema),
    SCHEMA_MAY("record", OBJECT, "show", .of = &taskbook_entry_schema),
    SCHEMA_MAY(
	"task", STRING, "add, edit, priority, retry and drop: its id or name"),
    SCHEMA_MAY("priority", STRING, "priority: its new priority",
	.choices = priority_words),
    SCHEMA_MAY("path", STRING, "add: its file"),
    SCHEMA_MAY("status", STRING, "retry and drop: its new status"),
    SCHEMA_MAY("reservations", ROWS, "reservations", .of = &api_reservation),
    SCHEMA_MAY(
	"released", OBJECT, "reservations --release", .of = &api_reservation));

#define ENDED_SHOWN 20

enum {
	FLAG_FILE,
	FLAG_PRIORITY,
	FLAG_AGENT,
	FLAG_ALL,
	FLAG_FROM,
	FLAG_RELEASE,
	FLAG_WANTS
};

static const struct cli_flag task_flags[] = {
	[FLAG_FILE] = { "file", "FILE",
	    "for add and edit: take the text from FILE (- is stdin)" },
	[FLAG_PRIORITY] = { "priority", "PRIORITY",
	    "for add: urgent, high, normal or low" },
	[FLAG_AGENT] = { "agent", "AGENT",
	    "for add: a kind of agents (llmc doctor --agents), or one of "
	    "[agents]" },
	[FLAG_ALL] = { "all", NULL,
	    "for list: every task that has ended, not only the last 20" },
	[FLAG_FROM] = { "from", "ISSUE",
	    "for add: take an issue of the forge, by number or address" },
	[FLAG_RELEASE] = { "release", "ID",
	    "for reservations: let others change what ID reserves" },
	[FLAG_WANTS] = { "wants", "WORD,...",
	    "for add: what the host must have that runs it (llmc fleet hosts)" },
	{ NULL, NULL, NULL },
};

/* --- changes: the owner makes them ----------------------------------- */

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

static int
task_add(struct cli *cli, const struct cli_args *args)
{
	const char *priority = args->flags[FLAG_PRIORITY];
	const char *from = args->flags[FLAG_FROM];
	struct draft draft = DRAFT_INIT;
	int status = flag_priority(cli, &cmd_task, priority);

	if (from != NULL &&
	    (args->count > 1 || args->flags[FLAG_FILE] != NULL ||
		priority != NULL || args->flags[FLAG_WANTS] != NULL))
		return cli_misuse(cli, &cmd_task,
		    "--from takes text and priority from the issue");
	if (from != NULL)
		status = remote_call(cli, "task.from",
		    remote_params("issue", from, NULL), 0, &cli->result);
	else if (status == CLI_OK)
		status = fill_draft(cli, args, &draft);
	if (from == NULL && status == CLI_OK)
		status = remote_call(cli, "task.add",
		    remote_params("text", draft.text.data, "priority", priority,
			"agent", args->flags[FLAG_AGENT], "wants",
			args->flags[FLAG_WANTS], NULL),
		    0, &cli->result);
	if (status == CLI_OK) {
		const char *key = json_string_or(cli->result, "task", "");

		cli_say(cli, "Added ", key, ".\n");
	}
	return draft_end(cli, &draft, status);
}

static int
unknown_task(struct cli *cli, const char *word)
{
	struct taskbook book;
	const char *near;
	int status = taskbook_load(cli, 0, NULL, &book);

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
	params = remote_params(
	    "task", owners_name(entry, word), "priority", priority, NULL);
	if (remote_try(cli, method, params, 0, &cli->result, &code, &err)) {
		name = json_string_or(cli->result, "task", word);
		cli_say(cli, "", name, "");
		buf_addf(&cli->text, ": %s.\n",
		    json_string_or(cli->result, member, ""));
	} else if (strcmp(code, "no_such_task") != 0) {
		status = cli_fail_err(cli, code, &err);
	} else if (entry == NULL) {
		status = unknown_task(cli, word);
	} else {
		status = cli_fail(cli, "wrong_status",
		    "%s is %s; llmc task %s is not for such a task; see: llmc "
		    "help task",
		    word, json_string_or(entry, "status", "known"),
		    strchr(method, '.') + 1);
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

static const struct view_column reservation_columns[] = {
	{ "Id", .key = "id" },
	{ "Path", .key = "path" },
	{ "Worker", .key = "worker" },
	{ "Task", .key = "task" },
	{ "Until", "until_ms", .cell = VIEW_MOMENT },
	{ "Why", "reason", .flexible = true },
};

static int
task_reservations(struct cli *cli, const struct cli_args *args)
{
	struct json_object *rows = NULL;
	int status;

	if (args->flags[FLAG_RELEASE] != NULL) {
		const char *id = args->flags[FLAG_RELEASE];
		cleanup_json struct json_object *row = NULL;

		status = remote_call(cli, "reservation.release",
		    remote_params("id", id, NULL), 0, &row);
		if (status != CLI_OK)
			return status;
		buf_addf(&cli->text, "%s is released.\n",
		    json_string_or(row, "path", ""));
		cli->result = json_object_new_object();
		json_set(cli->result, "released", take_ptr(&row));
		return CLI_OK;
	}
	status = remote_call(
	    cli, "reservation.list", json_object_new_object(), 0, &rows);
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_object();
	json_set(cli->result, "reservations", rows);
	CLI_TABLE(cli, reservation_columns, rows, "Nothing is reserved.");
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
		cli->result = remote_params("task", key, NULL);
		buf_adds(&cli->text, "Nothing was changed.\n");
	} else if (status == CLI_OK) {
		params = remote_params("task", key, "before", before, "text",
		    draft.text.data, NULL);
		status = remote_call(cli, "task.edit", params, 0, &cli->result);
		if (status == CLI_OK)
			cli_say(cli, "Changed ", key, ".\n");
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
	    cli, args->flags[FLAG_ALL] != NULL ? 0 : ENDED_SHOWN, NULL, &book);
	struct json_object *source;
	struct json_object *list;
	cleanup_free char *none = NULL;

	if (status != CLI_OK)
		return status;
	if (book.problem != NULL)
		cli_warn(cli, "%s", book.problem);
	source = json_object_new_object();
	list = json_object_new_array();
	none = source_type_flags(book.type) & SOURCE_EDITABLE ?
	    xstrdup("There are no tasks yet; add one with: llmc task add "
		    "TEXT") :
	    xasprintf("No task is in progress, and none has ended; tasks come "
		      "from %s%s",
		source_type_origin(book.type), book.where);
	JSON_EACH (row, book.entries)
		json_object_array_add(list, list_entry(row));
	CLI_TABLE(cli, list_columns, list, none);
	json_set_string(source, "kind", source_type_name(book.type));
	json_set_string(source, "where", book.where);
	json_set_string(source, "problem", book.problem);
	cli->result = json_object_new_object();
	json_set(cli->result, "source", source);
	json_set(cli->result, "tasks", list);
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
		size_t before;

		taskbook_read_text(&book, entry);
		cli_say(cli, "", taskbook_name(entry), "");
		cli_say(cli, "  ", json_string_or(entry, "title", ""), "\n");
		CLI_FACTS(cli, head_lines, entry, LABEL);
		before = cli->text.len;
		CLI_FACTS(cli, spent_lines, entry, LABEL);
		if (cli->text.len > before)
			spent_view_add_models(&cli->text, "          ", entry);
		CLI_FACTS(cli, time_lines, entry, LABEL);
		show_salvage(cli, entry);
		show_contract(cli, entry);
		cli_text(cli, "text", json_string_or(entry, "text", NULL));
		cli_text(cli, "last message",
		    json_string_or(entry, "last_words", NULL));
		show_history(cli, entry);
		cli->result = json_object_new_object();
		json_set(cli->result, "record", json_object_get(entry));
	}
	taskbook_release(&book);
	return status;
}

static const struct verb task_verbs[] = {
	{ "add", 0, 1000,
	    1u << FLAG_FILE | 1u << FLAG_PRIORITY | 1u << FLAG_AGENT |
		1u << FLAG_FROM | 1u << FLAG_WANTS,
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

const struct cli_command cmd_task = {
	.name = "task",
	.group = CLI_WORK,
	.usage = "add TEXT ... | list | show ID | edit ID | priority ID "
		 "PRIORITY | retry ID | drop ID | reservations",
	.summary = "show and change the tasks of auto mode",
	.help =
	    "add       add a task to the folder of tasks; without TEXT, it is "
	    "read from\n          standard input or an editor opens; with "
	    "--from, an issue of the forge\n"
	    "list      the tasks in progress, those to do, and the last that "
	    "have ended\n"
	    "show      everything that is known about one task, with its "
	    "history\n"
	    "edit      change the text of a task that is not taken yet, or "
	    "that failed,\n          in an editor ($VISUAL, $EDITOR or vi)\n"
	    "priority  make a task urgent, high, normal or low\n"
	    "retry     do a task again that failed or has landed\n"
	    "drop      remove a task; its file goes to the folder's trash\n"
	    "reservations  files that agents keep others from changing; "
	    "--release ID ends one\n\n"
	    "Without one of these words: list. ID is what list shows: a number "
	    "such as t17, the\nname of the file, or the node of a goal "
	    "(g2/T3.1 or g2/3.1). You can add\ntasks only to the folder of "
	    "tasks (auto.tasks_dir).\n",
	.example = "task add Fix the failing test in parser.c",
	.flags = task_flags,
	.max_args = 1001,
	.shape = CLI_SHAPE(OBJECT, task_view_shape),
	.verbs = task_verbs,
};
