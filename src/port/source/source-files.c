/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "loop.h"
#include "prompt.h"
#include "source-private.h"
#include "taskfile.h"
#include "watch.h"

struct files_entry {
	char *id; /* the file's name without .json */
	struct taskfile *task; /* a placeholder if there is a problem */
	char *problem; /* what is wrong with the file; NULL = nothing */
	int64_t problem_ms; /* since when, on the monotonic clock */
	struct stat st; /* of the file when it was read */
	bool recent; /* changed so recently that its time cannot show another
		      * change */
};

struct files_list {
	struct files_entry **at; /* sorted by id, as text */
	size_t count;
};

#define cleanup_files_list __attribute__((cleanup(files_list_release)))

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

static void
files_list_release(struct files_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		entry_free(list->at[i]);
	free(list->at);
	*list = (struct files_list){ NULL, 0 };
}

/* One file, read anew. -ENOENT; -EINVAL when it is broken, and when its id is
 * not its name. */
static int
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
		err_set(err, -EINVAL, "id: %.80s does not match the file name",
		    task->id);
		taskfile_free(task);
		return -EINVAL;
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
	    file_is_same(&entry->st, st) &&
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
	return entry->d_name[0] != '.' && text_ends(entry->d_name, SUFFIX);
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

/* Bring the list up to date. A missing folder counts as empty. On failure the
 * list stays as it was. */
static int
files_list_refresh(struct files_list *list, const char *where, struct err *err)
{
	struct dirent **names = NULL;
	struct files_list new = { NULL, 0 };
	int r = 0, count;

	count = scandir(where, &names, is_task_name, alphasort);
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

/* Its tasks, in its order; the array is the caller's. */
static struct taskfile **
files_list_tasks(const struct files_list *list)
{
	struct taskfile **all =
	    xcalloc(list->count + 1, sizeof(struct taskfile *));

	for (size_t i = 0; i < list->count; i++)
		all[i] = list->at[i]->task;
	return all;
}

/* Can a task that waits never be begun, since what it waits for never ends? If
 * so, append the reason. */
static bool
files_list_waits_for_ever(const struct taskfile *task,
    struct taskfile *const *all, size_t count, struct buf *words)
{
	return task->status == TASKFILE_PENDING && task->owner == NULL &&
	    task->failed == NULL && taskfile_broken(task, all, count, words);
}

enum list_status {
	LIST_TODO,
	LIST_DOING,
	LIST_DONE,
	LIST_FAILED,
	LIST_STATUS_COUNT
};

static const char *const list_words[] = { "todo", "doing", "done", "failed" };

_Static_assert(
    nitems(list_words) == LIST_STATUS_COUNT, "every status has its word");

static enum list_status
list_status(const struct files_entry *entry)
{
	if (entry->task->status == TASKFILE_COMPLETED)
		return LIST_DONE;
	if (entry->task->failed != NULL)
		return LIST_FAILED;
	return entry->problem == NULL &&
		entry->task->status == TASKFILE_IN_PROGRESS ?
	    LIST_DOING :
	    LIST_TODO;
}

/* By status; those that ended with the newest first, others by id. */
static int
compare_rows(const void *a, const void *b)
{
	const struct files_entry *one = *(const struct files_entry *const *)a;
	const struct files_entry *other = *(const struct files_entry *const *)b;
	const struct timespec *at = &one->st.st_mtim;
	const struct timespec *other_at = &other->st.st_mtim;
	enum list_status status = list_status(one);

	if (status != list_status(other))
		return status < list_status(other) ? -1 : 1;
	if (status >= LIST_DONE && at->tv_sec != other_at->tv_sec)
		return at->tv_sec > other_at->tv_sec ? -1 : 1;
	if (status >= LIST_DONE && at->tv_nsec != other_at->tv_nsec)
		return at->tv_nsec > other_at->tv_nsec ? -1 : 1;
	return taskfile_compare_ids(one->id, other->id);
}

static struct json_object *
list_row(
    const struct files_entry *entry, struct taskfile *const *all, size_t count)
{
	const struct taskfile *task = entry->task;
	struct json_object *row = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	cleanup_free char *title = NULL;

	taskfile_text(task, &text);
	title = source_base_title(text.data);
	json_set_string(row, "key", entry->id);
	json_set_string(
	    row, "title", entry->problem == NULL ? title : entry->id);
	json_set_string(row, "status", list_words[list_status(entry)]);
	if (task->owner != NULL)
		json_set_string(row, "owner", task->owner);
	if (task->label != NULL)
		json_set_string(row, "label", task->label);
	if (entry->problem == NULL)
		json_set_string(row, "priority", priority_name(task->priority));
	if (entry->problem != NULL)
		json_set_string(row, "problem", entry->problem);
	else if (task->failed != NULL)
		json_set_string(row, "problem", task->failed);
	else if (files_list_waits_for_ever(task, all, count, &words))
		json_set_string(row, "problem", words.data);
	return row;
}

static struct json_object *
files_view_list(const char *where, size_t limit, struct err *err)
{
	cleanup_files_list struct files_list list = { NULL, 0 };
	cleanup_free struct taskfile **all = NULL;
	size_t shown[LIST_STATUS_COUNT] = { 0 };
	struct json_object *rows;

	if (files_list_refresh(&list, where, err) < 0)
		return NULL;
	all = files_list_tasks(&list);
	if (list.count > 0)
		qsort(list.at, list.count, sizeof(struct files_entry *),
		    compare_rows);
	rows = json_object_new_array();
	for (size_t i = 0; i < list.count; i++) {
		enum list_status status = list_status(list.at[i]);

		if (status >= LIST_DONE && limit > 0 &&
		    shown[status]++ >= limit)
			continue;
		json_object_array_add(
		    rows, list_row(list.at[i], all, list.count));
	}
	return rows;
}

static struct json_object *
files_view_todo(const char *where, struct folder_order *order, size_t most,
    int64_t *ret_count)
{
	cleanup_json struct json_object *all = files_view_list(where, 1, NULL);
	struct json_object *rows = json_object_new_array();

	(void)order; /* they have no order of their own */
	*ret_count = 0;
	for (size_t i = 0; all != NULL && i < json_object_array_length(all);
	     i++) {
		struct json_object *row = json_object_array_get_idx(all, i);

		if (strcmp(json_string_or(row, "status", ""),
			list_words[LIST_TODO]) == 0 &&
		    (size_t)(*ret_count)++ < most)
			json_object_array_add(rows, json_object_get(row));
	}
	return rows;
}

static char *
files_view_text(const char *where, const char *key, const char *status)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct taskfile *task = NULL;

	(void)status; /* of this name there is one file */
	if (files_list_load(where, key, &task, NULL) < 0)
		return NULL;
	taskfile_text(task, &text);
	taskfile_free(task);
	return buf_take(&text);
}

#define LOCK_NAME ".llmc.lock"
#define LOOK_MS   1000

struct files {
	struct source source;
	struct files_list list;
	struct watch *watch;
	struct loop_timer *look; /* until the folder exists; NULL = it does */
	void (*fn)(void *arg);
	void *arg;
};

static int
files_open(struct source *source, const struct source_options *options,
    struct err *err)
{
	(void)source;
	if (options->owner == NULL)
		return err_set(err, -EINVAL, "a list of tasks needs an owner");
	return 0;
}

static void
files_close(struct source *source)
{
	struct files *files = (struct files *)source;

	if (files->watch != NULL)
		watch_free(files->watch);
	if (files->look != NULL)
		loop_timer_free(files->look);
	files_list_release(&files->list);
}

/* --- asking ----------------------------------------------------------- */

/* The candidates. A task that is left out is not done, so those that depend on
 * it go on waiting. False when a file may be half written. */
static bool
list_usable(struct files *files, struct taskfile **usable, size_t *ret_count)
{
	const struct files_list *list = &files->list;
	cleanup_free struct taskfile **all = files_list_tasks(list);
	bool settled = true;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct files_entry *entry = list->at[i];
		cleanup_buf struct buf words = BUF_INIT;

		if (entry->problem != NULL &&
		    clock_mono_ms() - entry->problem_ms < SOURCE_SETTLED_MS)
			settled = false;
		else if (entry->problem != NULL)
			source_base_quarantine(&files->source, "%s.json: %s",
			    entry->id, entry->problem);
		else if (files_list_waits_for_ever(
			     entry->task, all, list->count, &words))
			source_base_quarantine(&files->source, "%s.json: %s",
			    entry->id, words.data);
		else if (!strv_has(strv_const(files->source.keys), entry->id))
			usable[count++] = entry->task;
	}
	*ret_count = count;
	return settled;
}

/* The next task and its text, or NULL. */
static const struct taskfile *
choose(struct files *files, struct taskfile **usable, size_t count,
    struct buf *text)
{
	const char *const *labels = strv_const(files->source.labels);
	const struct taskfile *task;

	while ((task = taskfile_select(usable, count, labels)) != NULL) {
		cleanup_buf struct buf raw = BUF_INIT;
		size_t at = 0;

		taskfile_text(task, &raw);
		if (prompt_clean(raw.data, raw.len, text))
			return task;
		source_base_quarantine(&files->source, "%s.json: it %s",
		    task->id,
		    raw.len > PROMPT_MAX ? "is longer than 1 MiB" :
					   "has no text");
		while (usable[at] != task)
			at++;
		(*&count)--;
		memmove(usable + at, usable + at + 1,
		    (*&count - at) * sizeof(struct taskfile *));
	}
	return NULL;
}

/* With copies: the list may be read again while the owner uses them. */
static void
offer(struct source *source, const struct taskfile *task, const char *text)
{
	cleanup_free char *key = xstrdup(task->id);
	cleanup_free char *title = xstrdup(task->subject);
	cleanup_free char *label =
	    task->label == NULL ? NULL : xstrdup(task->label);
	cleanup_free char *landed =
	    task->landed == NULL ? NULL : xstrdup(task->landed);
	cleanup_json struct json_object *contract =
	    json_object_get(task->contract);
	struct source_offer one = {
		.key = key,
		.title = *title == '\0' ? NULL : title,
		.text = text,
		.label = label,
		.priority = task->priority,
		.landed_before = landed,
		.contract = contract,
	};

	source_base_answer(source, SOURCE_OFFER, &one, NULL);
}

static void
files_ask(struct source *source)
{
	struct files *files = (struct files *)source;
	cleanup_free struct taskfile **usable = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const struct taskfile *task = NULL;
	struct err err = { 0, "" };
	bool settled = false;
	size_t count = 0;
	int r;

	r = files_list_refresh(&files->list, source->where, &err);
	if (r < 0 && !source_base_is_shortage(r)) {
		source_base_fail(source, &err);
		return;
	}
	if (r == 0) {
		usable =
		    xcalloc(files->list.count + 1, sizeof(struct taskfile *));
		settled = list_usable(files, usable, &count);
		task = choose(files, usable, count, &text);
	}
	if (task != NULL) {
		offer(source, task, text.data);
	} else if (settled) {
		source_base_answer(source, SOURCE_EMPTY, NULL, NULL);
	} else {
		source_base_look_later(source);
	}
}

/* --- taking and settling ---------------------------------------------- */

static int
files_lock(const char *where, struct err *err)
{
	cleanup_free char *path = file_join(where, LOCK_NAME);

	return lock_try(path, err);
}

static bool
is_ours(const struct source *source, const struct taskfile *task)
{
	return text_is(task->owner, source->owner);
}

static int
check_key(const char *key, struct err *err)
{
	if (*key != '\0' && *key != '.' && strchr(key, '/') == NULL)
		return 0;
	return err_set(err, -EINVAL, "\"%s\" cannot be the id of a task", key);
}

static int
save(const struct source *source, const struct taskfile *task,
    enum taskfile_status status, const char *owner, const char *failed,
    struct err *err)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", source->where, task->id);
	cleanup_buf struct buf text = BUF_INIT;

	taskfile_write(task, status, owner, failed, &text);
	return file_replace(path, text.data, text.len, 0644, err);
}

/* A program that does not know our lock may have written meanwhile. */
static int
verify(const struct source *source, const char *key, struct err *err)
{
	struct taskfile *task = NULL;
	bool ours;
	int r;

	r = files_list_load(source->where, key, &task, err);
	if (r < 0)
		return err_set(err, -ESTALE, "%s.json has changed", key);
	ours = task->status == TASKFILE_IN_PROGRESS && is_ours(source, task);
	taskfile_free(task);
	if (!ours)
		return err_set(
		    err, -ESTALE, "task %s: somebody else has it", key);
	return 0;
}

static int
claim(const struct source *source, const struct taskfile *task, struct err *err)
{
	int r;

	if (task->status == TASKFILE_IN_PROGRESS && is_ours(source, task))
		return 0;
	if (task->status != TASKFILE_PENDING || task->owner != NULL)
		return err_set(err, -ESTALE, "task %s: %s has it", task->id,
		    task->owner == NULL ? "another" : task->owner);
	r = save(source, task, TASKFILE_IN_PROGRESS, source->owner, NULL, err);
	return r < 0 ? r : verify(source, task->id, err);
}

static int
files_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	struct taskfile *task = NULL;
	cleanup_fd int fd = -1;
	int r;

	(void)worker; /* the fleet owns it, not one worker */
	r = check_key(key, err);
	if (r < 0)
		return r;
	fd = files_lock(source->where, err);
	if (fd == -ENOENT)
		return err_set(
		    err, -ESTALE, "%s no longer exists", source->where);
	if (fd < 0)
		return fd;
	r = files_list_load(source->where, key, &task, err);
	if (source_base_is_shortage(r))
		return r;
	if (r < 0)
		return err_set(
		    err, -ESTALE, "%s.json can no longer be read", key);
	r = claim(source, task, err);
	taskfile_free(task);
	return r;
}

static int
files_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	bool done = source_base_is_done(outcome);
	struct taskfile *task = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (note == NULL)
		note = task_outcome_name(outcome);
	r = check_key(key, err);
	if (r < 0)
		return r;
	fd = files_lock(source->where, err);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = files_list_load(source->where, key, &task, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (is_ours(source, task))
		r = save(source, task,
		    done ? TASKFILE_COMPLETED : TASKFILE_PENDING, NULL,
		    done || outcome == OUTCOME_NONE ? NULL : note, err);
	taskfile_free(task);
	return r;
}

static bool
is_orphan(const struct source *source, const struct taskfile *task,
    const char *const *keys)
{
	if (task->json == NULL || task->status == TASKFILE_COMPLETED)
		return false;
	if (task->owner == NULL)
		return task->status == TASKFILE_IN_PROGRESS;
	return is_ours(source, task) && !strv_has(keys, task->id);
}

static int
files_recover(struct source *source, const char *const *keys, struct err *err)
{
	struct files *files = (struct files *)source;
	cleanup_fd int fd = files_lock(source->where, err);
	int r, count = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = files_list_refresh(&files->list, source->where, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < files->list.count; i++) {
		const struct taskfile *task = files->list.at[i]->task;

		if (!is_orphan(source, task, keys))
			continue;
		r = save(
		    source, task, TASKFILE_PENDING, NULL, task->failed, err);
		if (r < 0)
			return r;
		count++;
	}
	return count;
}

/* --- watching --------------------------------------------------------- */

static int
watch_folder(struct files *files, struct err *err)
{
	return watch_new(files->source.loop, files->source.where, files->fn,
	    files->arg, &files->watch, err);
}

static void
look_for_folder(void *arg)
{
	struct files *files = arg;

	if (watch_folder(files, NULL) < 0)
		return;
	loop_timer_free(files->look);
	files->look = NULL;
	files->fn(files->arg);
}

/* Claude Code creates the folder with the first task, and the one above it too:
 * there is nothing to watch until then. */
static int
files_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err)
{
	struct files *files = (struct files *)source;
	int r;

	if (files->watch != NULL)
		watch_free(files->watch);
	files->watch = NULL;
	files->fn = fn;
	files->arg = arg;
	r = watch_folder(files, err);
	if (r != -ENOENT)
		return r;
	if (files->look == NULL)
		files->look =
		    loop_every(source->loop, LOOK_MS, look_for_folder, files);
	return 0;
}

/* --- for people ------------------------------------------------------- */

static int
save_priority(const struct source *source, const struct taskfile *task,
    enum priority priority, struct err *err)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", source->where, task->id);
	cleanup_buf struct buf text = BUF_INIT;

	if (task->status == TASKFILE_COMPLETED)
		return err_set(err, -ENOENT, "task %s is completed", task->id);
	if (task->owner != NULL && !is_ours(source, task))
		return err_set(
		    err, -EBUSY, "task %s: %s has it", task->id, task->owner);
	if (task->priority == priority)
		return 0;
	taskfile_write_priority(task, priority, &text);
	return file_replace(path, text.data, text.len, 0644, err);
}

/* One file, and the lock that its writers hold. */
static int
load_for_person(const char *where, const char *key, int *ret_fd,
    struct taskfile **ret_task, struct err *err)
{
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	r = files_lock(where, err);
	if (r >= 0) {
		*ret_fd = r;
		r = files_list_load(where, key, ret_task, err);
	}
	if (r == -ENOENT)
		return err_set(err, r, "there is no task \"%s\"", key);
	return r;
}

static int
files_prioritize(struct source *source, const char *key, enum priority priority,
    struct err *err)
{
	struct taskfile *task = NULL;
	cleanup_fd int fd = -1;
	int r;

	r = load_for_person(source->where, key, &fd, &task, err);
	if (r == 0 && task != NULL)
		r = save_priority(source, task, priority, err);
	taskfile_free(task);
	return r;
}

static int
save_again(const char *where, const struct taskfile *task, const char *commit,
    struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s.json", where, task->id);
	cleanup_buf struct buf text = BUF_INIT;

	if (task->owner != NULL)
		return err_set(
		    err, -EBUSY, "task %s: %s has it", task->id, task->owner);
	if (task->status != TASKFILE_COMPLETED && task->failed == NULL)
		return err_set(err, -EALREADY,
		    "task %s has neither failed nor landed: it waits to be "
		    "done",
		    task->id);
	taskfile_write_again(task, commit, &text);
	return file_replace(path, text.data, text.len, 0644, err);
}

static int
files_retry(
    const char *where, const char *key, const char *commit, struct err *err)
{
	struct taskfile *task = NULL;
	cleanup_fd int fd = -1;
	int r;

	r = load_for_person(where, key, &fd, &task, err);
	if (r == 0 && task != NULL)
		r = save_again(where, task, commit, err);
	taskfile_free(task);
	return r;
}

const struct source_kind source_files = {
	.name = "files",
	.setting = "auto.task_list",
	.origin = "the task files in ",
	.elsewhere = "tasks come from the files of auto.task_list",
	.flags = SOURCE_KEEPS_CLAIMS | SOURCE_RETRIES,
	.size = sizeof(struct files),
	.open = files_open,
	.close = files_close,
	.ask = files_ask,
	.take = files_take,
	.settle = files_settle,
	.recover = files_recover,
	.watch = files_watch,
	.list = files_view_list,
	.text = files_view_text,
	.count_todo = NULL,
	.todo_part = "",
	.todo = files_view_todo,
	.prioritize = files_prioritize,
	.retry = files_retry,
	.add = NULL,
	.drop = NULL,
};
