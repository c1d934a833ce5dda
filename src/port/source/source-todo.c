/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "file.h"
#include "folder-order.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "source-base.h"
#include "source-choice.h"
#include "source-todo.h"
#include "view-doc.h"

struct source_todo {
	char *folder; /* that was read; NULL = none */
	struct stat st; /* of the folder, before it was read */
	bool settled; /* it can be known that it has not changed */
	struct folder_order order; /* what was read of the files */
	struct json_object *rows; /* key -> row */
	int64_t count;
};

struct source_todo *
source_todo_new(void)
{
	return xcalloc(1, sizeof(struct source_todo));
}

void
source_todo_free(struct source_todo *todo)
{
	if (todo == NULL)
		return;
	free(todo->folder);
	folder_order_release(&todo->order);
	json_object_put(todo->rows);
	free(todo);
}

void
source_todo_again(struct source_todo *todo)
{
	todo->settled = false;
}

static char *
folder_of(const struct source_choice *choice)
{
	const char *part = source_kind_of(choice->options.type)->todo_part;

	return part == NULL ? NULL : file_join(choice->options.where, part);
}

char *
source_todo_folder(
    const struct settings *settings, const struct workspace *workspace)
{
	cleanup_source_choice struct source_choice choice;

	source_choice_init(&choice, settings, workspace, NULL);
	return folder_of(&choice);
}

/* Has it been read as it is? */
static bool
is_known(
    const struct source_todo *todo, const char *folder, const struct stat *st)
{
	return todo->settled && todo->folder != NULL &&
	    strcmp(todo->folder, folder) == 0 && folder_is_same(&todo->st, st);
}

static void
read_todo(struct source_todo *todo, const struct source_choice *choice)
{
	const struct source_kind *kind = source_kind_of(choice->options.type);
	cleanup_json struct json_object *list = NULL;

	json_object_put(todo->rows);
	todo->rows = json_object_new_object();
	list = kind->todo(
	    choice->options.where, &todo->order, SOURCE_TODO_MAX, &todo->count);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		enum priority priority = PRIORITY_NORMAL;

		priority_parse(json_string_or(row, "priority", ""), &priority);
		json_set_int(row, "rank", priority);
		json_set(todo->rows, json_string_or(row, "key", "?"),
		    json_object_get(row));
	}
}

void
source_todo_fill(struct source_todo *todo, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view)
{
	cleanup_source_choice struct source_choice choice;
	cleanup_free char *folder = NULL;
	struct stat st;

	source_choice_init(&choice, settings, workspace, NULL);
	folder = folder_of(&choice);
	if (folder == NULL) {
		json_set(view_of(view, "head"), "todo", NULL);
		return;
	}
	if (stat(folder, &st) == -1)
		st = (struct stat){ 0 };
	if (!is_known(todo, folder, &st)) {
		if (todo->folder == NULL || strcmp(todo->folder, folder) != 0)
			folder_order_release(&todo->order);
		xstrset(&todo->folder, folder);
		todo->st = st;
		todo->settled = clock_wall_ms() - clock_file_ms(&st.st_mtim) >=
		    SOURCE_SETTLED_MS;
		read_todo(todo, &choice);
	}
	json_set_int(view_of(view, "head"), "todo", todo->count);
	json_set(view, "todo", json_object_get(todo->rows));
}
