/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "history.h"
#include "json.h"
#include "jsonl.h"
#include "lock.h"
#include "mem.h"
#include "view-doc.h"
#include "view-files.h"
#include "view-row.h"
#include "workspace.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)

/* What was read, and of which file. */
struct kept {
	struct json_object *(*read)(const struct workspace *workspace);
	const char *section; /* that it is, */
	const char *member; /* or the member of head */
	struct json_object *value;
	struct timespec changed;
	uint64_t ino;
	int64_t size;
	bool known;
};

#define KEPT_MAX 3
/* A file that was written so shortly before it was read may be written once
 * more without another time stamp. */
#define FRESH_MS 50

struct view_files {
	const struct workspace *workspace;
	struct kept kept[KEPT_MAX];
};

/* --- repairs --------------------------------------------------------- */

static struct json_object *
repair_row(const struct spiral_event *event)
{
	struct json_object *row = json_object_new_object();

	view_row_moment(row, "at_unix", event->at_ms);
	json_set_string(row, "kind", spiral_kind_name(event->kind));
	json_set_string(row, "class", event->class);
	view_row_line(row, "words", event->words, VIEW_REASON_MAX);
	json_set_string(row, "outcome", event->outcome);
	json_set_int(row, "took_ms", event->took_ms);
	return row;
}

/* It stays the same when older ones are forgotten. */
static char *
repair_key(const struct history *history, size_t i)
{
	int64_t at = history->events[i].at_ms;
	int before = 0;

	while (i > 0 && history->events[--i].at_ms == at)
		before++;
	return xasprintf("%" PRId64 "-%d", at, before);
}

static struct json_object *
read_repairs(const struct workspace *workspace)
{
	struct json_object *rows = json_object_new_object();
	struct history history = { 0 };
	size_t first;

	if (history_load(workspace, &history, NULL) < 0)
		return rows;
	first = history.count > VIEW_REPAIRS_MAX ?
	    history.count - VIEW_REPAIRS_MAX :
	    0;
	for (size_t i = first; i < history.count; i++) {
		cleanup_free char *key = repair_key(&history, i);

		json_set(rows, key, repair_row(&history.events[i]));
	}
	history_release(&history);
	return rows;
}

/* --- the overseer ---------------------------------------------------- */

static struct json_object *
read_document(const struct workspace *workspace, const char *name,
    const char *const *members)
{
	cleanup_free char *file = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;
	struct json_object *row;

	if (json_load(file, DOCUMENT_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return NULL;
	row = json_object_new_object();
	for (; *members != NULL; members++) {
		struct json_object *value =
		    json_object_object_get(json, *members);

		if (json_object_is_type(value, json_type_string))
			view_row_line(row, *members,
			    json_object_get_string(value), VIEW_REASON_MAX);
		else if (json_object_is_type(value, json_type_int))
			json_set(row, *members, json_object_get(value));
	}
	return row;
}

static struct json_object *
read_overseer(const struct workspace *workspace)
{
	return read_document(workspace, "overseer.json",
	    (const char *const[]){ "state", "pid", "start_time_unix",
		"until_ms", "exit_status", NULL });
}

static struct json_object *
read_failure(const struct workspace *workspace)
{
	return read_document(workspace, "failure.json",
	    (const char *const[]){
		"class", "scope", "worker", "task", "words", "at_unix", NULL });
}

/* --- events ---------------------------------------------------------- */

static bool
on_event(struct json_object *record, void *arg)
{
	struct json_object *list = arg;
	struct json_object *row =
	    view_row_event(record, (int64_t)json_object_array_length(list) + 1);

	if (row != NULL)
		json_object_array_add(list, row);
	return true;
}

struct json_object *
view_files_events(const struct workspace *workspace)
{
	cleanup_free char *file = workspace_path(workspace, "logs/auto.log");
	struct json_object *list = json_object_new_array();

	jsonl_last(file, VIEW_EVENTS_MAX, on_event, list, NULL);
	return list;
}

/* --- all of them ----------------------------------------------------- */

/* In the order of view_files_names. */
static const struct kept kinds[KEPT_MAX] = {
	{ .read = read_repairs, .section = "repairs" },
	{ .read = read_overseer, .member = "overseer" },
	{ .read = read_failure, .member = "failure" },
};

const char *const view_files_names[KEPT_MAX + 1] = { "failures.jsonl",
	"overseer.json", "failure.json", NULL };

struct view_files *
view_files_new(const struct workspace *workspace)
{
	struct view_files *files = xcalloc(1, sizeof *files);

	files->workspace = workspace;
	memcpy(files->kept, kinds, sizeof files->kept);
	return files;
}

void
view_files_free(struct view_files *files)
{
	if (files == NULL)
		return;
	for (size_t i = 0; i < KEPT_MAX; i++)
		json_object_put(files->kept[i].value);
	free(files);
}

static int64_t
changed_ms(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 +
	    st->st_mtim.tv_nsec / 1000000;
}

/* Its time is not now, so the next change of it gets another time. A time far
 * in the future is as good: somebody has turned the clock back. */
static bool
is_settled(const struct stat *st)
{
	int64_t age = clock_wall_ms() - changed_ms(st);

	return age > FRESH_MS || age < -FRESH_MS;
}

/* A missing file has inode 0. */
static void
refresh(const struct view_files *files, struct kept *k, const char *name)
{
	cleanup_free char *file = workspace_path(files->workspace, name);
	struct stat st = { 0 };

	if (stat(file, &st) < 0)
		st = (struct stat){ 0 };
	if (k->known && k->ino == st.st_ino && k->size == st.st_size &&
	    k->changed.tv_sec == st.st_mtim.tv_sec &&
	    k->changed.tv_nsec == st.st_mtim.tv_nsec)
		return;
	k->known = is_settled(&st);
	k->ino = st.st_ino;
	k->size = st.st_size;
	k->changed = st.st_mtim;
	json_object_put(take_ptr(&k->value));
	if (k->ino != 0)
		k->value = k->read(files->workspace);
}

static void
add_rows(struct json_object *rows, struct json_object *more)
{
	json_object_object_foreach(more, key, row)
	{
		json_set(rows, key, json_object_get(row));
	}
}

/* Is it alive, and when did it write its file? */
static void
fill_overseer(const struct view_files *files, struct json_object *head)
{
	cleanup_free char *lock =
	    workspace_path(files->workspace, "overseer.lock");

	if (json_object_object_get(head, "overseer") == NULL)
		return;
	json_set_bool(head, "overseer_alive", lock_is_held(lock) == 1);
	for (size_t i = 0; i < KEPT_MAX; i++)
		if (files->kept[i].read == read_overseer)
			view_row_moment(head, "overseer_unix",
			    (int64_t)files->kept[i].changed.tv_sec * 1000);
}

void
view_files_fill(struct view_files *files, struct json_object *view)
{
	for (size_t i = 0; i < KEPT_MAX; i++) {
		struct kept *k = &files->kept[i];

		refresh(files, k, view_files_names[i]);
		if (k->member != NULL)
			json_set(view_of(view, "head"), k->member,
			    json_object_get(k->value));
		else if (k->value != NULL)
			add_rows(view_of(view, k->section), k->value);
	}
	fill_overseer(files, view_of(view, "head"));
}
