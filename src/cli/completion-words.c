/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "cli.h"
#include "completion-words.h"
#include "errtext.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "roster.h"
#include "settings-table.h"
#include "taskbook.h"
#include "worker.h"

static void
add_workers(struct cli *cli)
{
	struct state state;

	if (roster_load(cli, &state) != CLI_OK)
		return;
	for (size_t i = 0; i < state.count; i++)
		buf_addf(&cli->text, "%s\n", state.workers[i]->name);
	state_release(&state);
}

#define TASKS_SHOWN 1000 /* that have ended */

/* What list shows; a name with a blank in it cannot be completed. */
static void
add_tasks(struct cli *cli)
{
	struct taskbook book;

	if (taskbook_load(cli, TASKS_SHOWN, &book) != CLI_OK)
		return;
	for (size_t i = 0; i < json_object_array_length(book.entries); i++) {
		const char *name =
		    taskbook_name(json_object_array_get_idx(book.entries, i));

		if (strpbrk(name, " \t\r\n") == NULL)
			buf_addf(&cli->text, "%s\n", name);
	}
	taskbook_release(&book);
}

/* A member of every entry of the list that a method answers with. */
static void
add_answer(
    struct cli *cli, const char *method, const char *list, const char *member)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *entries = NULL;
	const char *code;
	struct err err = { 0 };

	if (!remote_try(cli, method, json_object_new_object(), 0, &answer,
		&code, &err) ||
	    !json_object_object_get_ex(answer, list, &entries))
		return;
	for (size_t i = 0; i < json_object_array_length(entries); i++)
		buf_addf(&cli->text, "%s\n",
		    json_string_or(
			json_object_array_get_idx(entries, i), member, ""));
}

static void
add_goals(struct cli *cli)
{
	add_answer(cli, "overseer.goal.list", "goals", "goal");
}

static void
add_nodes(struct cli *cli)
{
	add_answer(cli, "overseer.work.list", "nodes", "node");
}

static void
add_keys(struct cli *cli)
{
	for (size_t i = 0; i < settings_table_count; i++)
		buf_addf(&cli->text, "%s\n", settings_table[i].path);
}

static void
add_refs(struct cli *cli)
{
	const char *const ask[] = { "for-each-ref",
		"--format=%(refname:lstrip=3)", ROSTER_SALVAGE, NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (git_ask(cli->workspace.root, ask, &text, NULL) == 0 && text.len > 0)
		buf_addf(&cli->text, "%s\n", text.data);
}

static const struct {
	const char *name;
	void (*add)(struct cli *cli);
} lists[] = {
	{ "workers", add_workers },
	{ "tasks", add_tasks },
	{ "goals", add_goals },
	{ "nodes", add_nodes },
	{ "keys", add_keys },
	{ "salvage", add_refs },
};

bool
completion_words_add(struct cli *cli, const char *list)
{
	for (size_t i = 0; i < nitems(lists); i++) {
		if (strcmp(lists[i].name, list) != 0)
			continue;
		cli->silent = true;
		if (cli_find_workspace(cli, CLI_NEEDS_REPO) == CLI_OK)
			lists[i].add(cli);
		return true;
	}
	return false;
}
