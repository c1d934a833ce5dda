/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "api-team.h"
#include "artifact-check.h"
#include "cli.h"
#include "contract.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "priority.h"
#include "roster.h"
#include "schema.h"
#include "spent-view.h"
#include "table.h"
#include "task-view.h"
#include "taskbook.h"
#include "text.h"

static const struct {
	const char *status;
	const char *colour;
} colours[] = {
	{ "assigned", "33" },
	{ "queued", "36" },
	{ "parked", "31" },
	{ "landed", "32" },
	{ "no_changes", "93" },
	{ "done", "32" },
	{ "failed", "31" },
	{ "dead-letter", "1;31" },
	{ "aborted", "90" },
	{ "unusable", "31" },
};

static const char *
status_colour(const char *status)
{
	for (size_t i = 0; i < nitems(colours); i++)
		if (strcmp(colours[i].status, status) == 0)
			return colours[i].colour;
	return NULL;
}

/* A task that the source has, but that cannot be used. */
static const char *
shown_status(struct json_object *entry)
{
	if (json_string_or(entry, "problem", NULL) != NULL)
		return "unusable";
	return json_string_or(entry, "status", "");
}

static const char *
priority_of(struct json_object *entry)
{
	return json_string_or(
	    entry, "priority", priority_name(PRIORITY_NORMAL));
}

/* Does it differ from the default? */
static bool
has_priority(struct json_object *entry)
{
	return strcmp(priority_of(entry), priority_name(PRIORITY_NORMAL)) != 0;
}

/* --- the list -------------------------------------------------------- */

enum column {
	COLUMN_ID,
	COLUMN_ORIGIN,
	COLUMN_STATUS,
	COLUMN_PRIORITY, /* shown only if it says something */
	COLUMN_WORKER,
	COLUMN_TRIES,
	COLUMN_AGE,
	COLUMN_TITLE,
	COLUMN_COUNT
};

static struct table *
list_table(bool priorities)
{
	static const struct table_column all[] = {
		[COLUMN_ID] = { .title = "ID", .flexible = true },
		[COLUMN_ORIGIN] = { .title = "ORIGIN", .flexible = true },
		[COLUMN_STATUS] = { .title = "STATUS" },
		[COLUMN_PRIORITY] = { .title = "PRIORITY" },
		[COLUMN_WORKER] = { .title = "WORKER", .flexible = true },
		[COLUMN_TRIES] = { .title = "TRIES", .right = true },
		[COLUMN_AGE] = { .title = "AGE", .right = true },
		[COLUMN_TITLE] = { .title = "TITLE", .flexible = true },
	};
	struct table_column shown[COLUMN_COUNT];
	int count = 0;

	for (int i = 0; i < COLUMN_COUNT; i++)
		if (i != COLUMN_PRIORITY || priorities)
			shown[count++] = all[i];
	return table_new(shown, count);
}

static void
list_row(struct table *table, struct json_object *entry, bool priorities)
{
	const char *cells[COLUMN_COUNT], *shown[COLUMN_COUNT];
	const char *status = shown_status(entry);
	int64_t attempts = json_int_or(entry, "attempts", 0);
	int64_t age = json_int_or(entry, "age_secs", -1);
	cleanup_buf struct buf tries = BUF_INIT, since = BUF_INIT;
	int count = 0;

	if (attempts > 0)
		buf_addf(&tries, "%" PRId64, attempts);
	if (age >= 0)
		moment_add_age(&since, age * 1000);
	cells[COLUMN_ID] = taskbook_name(entry);
	cells[COLUMN_ORIGIN] = json_string_or(entry, "origin", NULL);
	cells[COLUMN_STATUS] = status;
	cells[COLUMN_PRIORITY] = priority_of(entry);
	cells[COLUMN_WORKER] = json_string_or(entry, "worker", NULL);
	cells[COLUMN_TRIES] = tries.data;
	cells[COLUMN_AGE] = since.data;
	cells[COLUMN_TITLE] = json_string_or(
	    entry, "problem", json_string_or(entry, "title", ""));
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (i != COLUMN_PRIORITY || priorities)
			shown[count++] = cells[i];
	table_row(table, shown);
	table_colour(table, COLUMN_STATUS, status_colour(status));
}

static void
tell_none(struct cli *cli, const struct taskbook *book)
{
	if (source_type_flags(book->type) & SOURCE_EDITABLE) {
		buf_adds(&cli->text,
		    "There are no tasks yet; add one with: llmc task add "
		    "TEXT\n");
		return;
	}
	buf_addf(&cli->text,
	    "No task is in progress, and none has ended; tasks come from %s",
	    source_type_origin(book->type));
	text_add_visible(&cli->text, book->where, strlen(book->where), false);
	buf_addc(&cli->text, '\n');
}

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

static bool
has_priorities(struct json_object *entries)
{
	for (size_t i = 0; i < json_object_array_length(entries); i++)
		if (has_priority(json_object_array_get_idx(entries, i)))
			return true;
	return false;
}

void
task_view_list(struct cli *cli, const struct taskbook *book)
{
	bool priorities = has_priorities(book->entries);
	struct json_object *source = json_object_new_object();
	struct json_object *list = json_object_new_array();
	size_t count = json_object_array_length(book->entries);
	struct table *table = list_table(priorities);

	for (size_t i = 0; i < count; i++) {
		struct json_object *entry =
		    json_object_array_get_idx(book->entries, i);

		list_row(table, entry, priorities);
		json_object_array_add(list, list_entry(entry));
	}
	if (count > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	else
		tell_none(cli, book);
	table_free(table);
	json_set_string(source, "kind", source_type_name(book->type));
	json_set_string(source, "where", book->where);
	json_set_string(source, "problem", book->problem);
	cli->result = json_object_new_object();
	json_set(cli->result, "source", source);
	json_set(cli->result, "tasks", list);
}

/* --- one ------------------------------------------------------------- */

static void
add_visible(struct cli *cli, const char *text, bool keep_newlines)
{
	text_add_visible(&cli->text, text, strlen(text), keep_newlines);
}

static void
show_line(struct cli *cli, const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	buf_addf(&cli->text, "%-9s ", name);
	add_visible(cli, value, false);
	buf_addc(&cli->text, '\n');
}

static void
show_moment(struct cli *cli, const char *name, struct json_object *entry,
    const char *member)
{
	int64_t at = json_int_or(entry, member, 0);
	cleanup_buf struct buf text = BUF_INIT;

	if (at == 0)
		return;
	moment_add(&text, at * 1000);
	show_line(cli, name, text.data);
}

/* A text of many lines, indented to set it apart from our own. */
static void
show_text(struct cli *cli, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(&cli->text, "\n%s\n", name);
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (len > 0)
			buf_adds(&cli->text, "  ");
		text_add_visible(&cli->text, text, len, true);
		buf_addc(&cli->text, '\n');
		text += len + (text[len] == '\n');
	}
}

static void
show_spent(struct cli *cli, struct json_object *entry)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (json_string_or(entry, "cost_source", NULL) == NULL ||
	    json_int_or(entry, "attempts", 0) == 0)
		return;
	spent_view_add(&text, entry);
	show_line(cli, "spent", text.data);
	spent_view_add_models(&cli->text, "          ", entry);
}

static void
show_history(struct cli *cli, struct json_object *entry)
{
	struct json_object *history = NULL;

	if (json_get_array(entry, "", "history", &history, NULL) < 0 ||
	    json_object_array_length(history) == 0)
		return;
	buf_adds(&cli->text, "\nhistory\n");
	for (size_t i = 0; i < json_object_array_length(history); i++) {
		struct json_object *item =
		    json_object_array_get_idx(history, i);
		const char *detail = json_string_or(item, "detail", NULL);

		buf_adds(&cli->text, "  ");
		moment_add(&cli->text, json_int_or(item, "at_unix", 0) * 1000);
		buf_adds(&cli->text, "  ");
		add_visible(cli, json_string_or(item, "what", "?"), false);
		if (detail != NULL) {
			buf_adds(&cli->text, ": ");
			add_visible(cli, detail, false);
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
			show_line(cli, "salvaged", roster_salvage(ref));
		}
	}
	json_set(entry, "salvage", refs);
}

static void
show_head(struct cli *cli, struct json_object *entry)
{
	const char *title = json_string_or(entry, "title", "");
	const char *status = shown_status(entry), *sgr = status_colour(status);
	int64_t attempts = json_int_or(entry, "attempts", 0);
	cleanup_buf struct buf tries = BUF_INIT;

	add_visible(cli, taskbook_name(entry), false);
	buf_adds(&cli->text, "  ");
	add_visible(cli, title, false);
	buf_addf(&cli->text, "\n%-9s ", "status");
	cli_coloured(cli, sgr != NULL ? sgr : "1", status);
	buf_addc(&cli->text, '\n');
	show_line(cli, "problem", json_string_or(entry, "problem", NULL));
	show_line(cli, "reason", json_string_or(entry, "reason", NULL));
	show_line(cli, "origin", json_string_or(entry, "origin", NULL));
	show_line(cli, "name", json_string_or(entry, "key", NULL));
	if (has_priority(entry))
		show_line(cli, "priority", priority_of(entry));
	show_line(cli, "label", json_string_or(entry, "label", NULL));
	show_line(cli, "worker", json_string_or(entry, "worker", NULL));
	if (attempts > 0)
		buf_addf(&tries, "%" PRId64, attempts);
	show_line(cli, "attempts", tries.data);
	show_line(cli, "commit", json_string_or(entry, "commit_sha", NULL));
	show_line(cli, "before", json_string_or(entry, "landed_before", NULL));
	show_spent(cli, entry);
	show_moment(cli, "created", entry, "created_unix");
	show_moment(cli, "assigned", entry, "assigned_unix");
	show_moment(cli, "ended", entry, "finished_unix");
	show_salvage(cli, entry);
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
	contract_print(contract, "  ", &cli->text);
	if (json_get_object(entry, "", "verification_result", &result, NULL) ==
	    0)
		check_result_reasons(result, &reasons);
	if (reasons.len > 0) {
		buf_adds(&cli->text, "  last result: ");
		add_visible(cli, reasons.data, false);
		buf_addc(&cli->text, '\n');
	}
}

void
task_view_show(struct cli *cli, struct json_object *entry)
{
	show_head(cli, entry);
	show_contract(cli, entry);
	show_text(cli, "text", json_string_or(entry, "text", NULL));
	show_text(
	    cli, "last message", json_string_or(entry, "last_words", NULL));
	show_history(cli, entry);
	cli->result = json_object_new_object();
	json_set(cli->result, "record", json_object_get(entry));
}

/* --- shapes ---------------------------------------------------------- */

#define STRING_OR_NULL(member, words)                     \
	{                                                 \
		.name = (member), .type = SCHEMA_STRING,  \
		.flags = SCHEMA_NULLABLE, .help = (words) \
	}
static const struct schema source_shape = {
	SCHEMA_FIELDS{
	    { .name = "kind",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "command", "files", "folder",
		    NULL } },
	    SCHEMA_IS("where", STRING, NULL),
	    STRING_OR_NULL("problem", "why it cannot be read"),
	    SCHEMA_END,
	},
};

const struct schema task_view_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("source", OBJECT, "list: where tasks come from",
		.of = &source_shape),
	    SCHEMA_MAY("tasks", ROWS, "list", .of = &taskbook_entry_schema),
	    SCHEMA_MAY("record", OBJECT, "show", .of = &taskbook_entry_schema),
	    SCHEMA_MAY("task", STRING,
		"add, edit, priority, retry and drop: its id or name"),
	    SCHEMA_MAY("priority", STRING, "priority: its new priority",
		.choices = priority_words),
	    SCHEMA_MAY("path", STRING, "add: its file"),
	    SCHEMA_MAY("status", STRING, "retry and drop: its new status"),
	    SCHEMA_MAY(
		"reservations", ROWS, "reservations", .of = &api_reservation),
	    SCHEMA_MAY("released", OBJECT, "reservations --release",
		.of = &api_reservation),
	    SCHEMA_END,
	},
};
