/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>

#include "files-list.h"
#include "source-base.h"
#include "taskfile.h"

#define SUFFIX    ".json"
#define RECENT_MS 2000

static void
entry_free(struct files_entry *entry)
{
	if (entry == NULL)
		return;
	free(entry->id);
	taskfile_free(entry->task);
	free(entry->problem);
	free(entry);
}

void
files_list_release(struct files_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		entry_free(list->at[i]);
	free(list->at);
	*list = (struct files_list){ NULL, 0 };
}

int
files_list_load(const char *where, const char *id, struct taskfile **ret_task,
    struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s" SUFFIX, where, id);
	cleanup_buf struct buf text = BUF_INIT;
	struct taskfile *task = NULL;
	int r;

	r = file_read(path, TASKFILE_SIZE_MAX, &text, err);
	if (r < 0)
		return r;
	r = taskfile_parse(text.data, text.len, &task, err);
	if (r < 0)
		return r;
	if (strcmp(task->id, id) != 0) {
		r = err_set(err, -EINVAL,
		    "id: %.80s does not match the file name", task->id);
		taskfile_free(task);
		return r;
	}
	*ret_task = task;
	return 0;
}

static int
compare_entries(const void *a, const void *b)
{
	const struct files_entry *const *one = a, *const *other = b;

	return strcmp((*one)->id, (*other)->id);
}

static struct files_entry **
find_entry(const struct files_list *list, const char *id)
{
	struct files_entry wanted = { 0 };
	struct files_entry *key = &wanted;
	cleanup_free char *copy = xstrdup(id);

	wanted.id = copy;
	if (list->count == 0)
		return NULL;
	return bsearch(&key, list->at, list->count,
	    sizeof(struct files_entry *), compare_entries);
}

static bool
is_unchanged(const struct files_entry *entry, const struct stat *st)
{
	return !entry->recent && entry->st.st_dev == st->st_dev &&
	    entry->st.st_ino == st->st_ino &&
	    entry->st.st_size == st->st_size &&
	    entry->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	    entry->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec &&
	    entry->st.st_ctim.tv_sec == st->st_ctim.tv_sec &&
	    entry->st.st_ctim.tv_nsec == st->st_ctim.tv_nsec;
}

/* The same file with the same problem is nothing new. */
static int64_t
broken_since(const struct files_entry *old, const struct files_entry *new)
{
	if (old != NULL && old->problem != NULL &&
	    old->st.st_size == new->st.st_size &&
	    old->st.st_mtim.tv_sec == new->st.st_mtim.tv_sec &&
	    old->st.st_mtim.tv_nsec == new->st.st_mtim.tv_nsec)
		return old->problem_ms;
	return clock_mono_ms();
}

/* -ENOENT if it has gone meanwhile. */
static int
read_entry(const char *where, const char *id, const struct stat *st,
    const struct files_entry *old, struct files_entry **ret_entry,
    struct err *err)
{
	int64_t age = clock_wall_ms() - clock_file_ms(&st->st_ctim);
	struct files_entry *entry;
	struct taskfile *task = NULL;
	struct err why = { 0, "" };
	int r;

	r = files_list_load(where, id, &task, &why);
	if (r == -ENOENT || source_base_is_shortage(r)) {
		err_set(err, r, "%s", why.msg);
		return r;
	}
	entry = xcalloc(1, sizeof *entry);
	entry->id = xstrdup(id);
	entry->st = *st;
	entry->recent = age < RECENT_MS;
	entry->task = r < 0 ? taskfile_stand_in(id) : task;
	if (r < 0) {
		entry->problem = xstrdup(why.msg);
		entry->problem_ms = broken_since(old, entry);
	}
	*ret_entry = entry;
	return 0;
}

/* The id in the name of a file; the caller frees it. */
static char *
id_of(const char *name)
{
	return xstrndup(name, strlen(name) - strlen(SUFFIX));
}

static int
is_task_name(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), tail = strlen(SUFFIX);

	return entry->d_name[0] != '.' && len > tail &&
	    strcmp(entry->d_name + len - tail, SUFFIX) == 0;
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
add_entry(struct files_list *list, struct files_entry *entry)
{
	if ((list->count & (list->count - 1)) == 0)
		list->at = xreallocarray(list->at,
		    list->count == 0 ? 1 : list->count * 2,
		    sizeof(struct files_entry *));
	list->at[list->count++] = entry;
}

/* One name in the folder: keep the old entry, or replace it by a new one. */
static int
refresh_one(struct files_list *old, struct files_list *new, const char *where,
    const char *name, struct err *err)
{
	cleanup_free char *path = file_join(where, name);
	cleanup_free char *id = id_of(name);
	struct files_entry **found = find_entry(old, id), *entry = NULL;
	struct stat st;
	int r;

	if (stat(path, &st) == -1 || !S_ISREG(st.st_mode))
		return 0;
	if (found != NULL && is_unchanged(*found, &st)) {
		add_entry(new, *found);
		return 0;
	}
	r = read_entry(
	    where, id, &st, found == NULL ? NULL : *found, &entry, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (found != NULL) {
		entry_free(*found);
		*found = entry;
	}
	add_entry(new, entry);
	return 0;
}

/* Free what list has and kept has not. */
static void
release_rest(struct files_list *list, const struct files_list *kept)
{
	for (size_t i = 0; i < list->count; i++) {
		struct files_entry **found = find_entry(kept, list->at[i]->id);

		if (found == NULL || *found != list->at[i])
			entry_free(list->at[i]);
	}
	free(list->at);
}

int
files_list_refresh(struct files_list *list, const char *where, struct err *err)
{
	struct dirent **names = NULL;
	struct files_list new = { NULL, 0 };
	int r = 0, count;

	count = scandir(where, &names, is_task_name, compare_names);
	if (count == -1 && errno != ENOENT)
		return err_errno(err, -errno, "%s", where);
	for (int i = 0; i < count; i++) {
		/* A name that is replaced meanwhile can be listed twice. */
		if (r == 0 &&
		    (i == 0 ||
			strcmp(names[i]->d_name, names[i - 1]->d_name) != 0))
			r = refresh_one(
			    list, &new, where, names[i]->d_name, err);
	}
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	if (r < 0) {
		release_rest(&new, list);
		return r;
	}
	if (new.count > 0)
		qsort(new.at, new.count, sizeof(struct files_entry *),
		    compare_entries);
	release_rest(list, &new);
	*list = new;
	return 0;
}

struct taskfile **
files_list_tasks(const struct files_list *list)
{
	struct taskfile **all =
	    xcalloc(list->count + 1, sizeof(struct taskfile *));

	for (size_t i = 0; i < list->count; i++)
		all[i] = list->at[i]->task;
	return all;
}

bool
files_list_waits_for_ever(const struct taskfile *task,
    struct taskfile *const *all, size_t count, struct buf *words)
{
	return task->status == TASKFILE_PENDING && task->owner == NULL &&
	    task->failed == NULL && taskfile_broken(task, all, count, words);
}
