/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "folder-edit.h"
#include "folder-order.h"
#include "folder.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "source-base.h"
#include "source-folder.h"
#include "task-head.h"
#include "text.h"
#include "watch.h"

#define LOCK_NAME ".llmc.lock"

struct folder {
	struct source source;
	struct watch *watch;
	struct folder_order order;
};

static int
folder_open(struct source *source, const struct source_options *options,
    struct err *err)
{
	if (options->owner == NULL)
		return err_set(
		    err, -EINVAL, "a folder of tasks needs an owner");
	return folder_make(source->where, err);
}

static void
folder_close(struct source *source)
{
	struct folder *folder = (struct folder *)source;

	if (folder->watch != NULL)
		watch_free(folder->watch);
	folder_order_release(&folder->order);
}

/* --- asking ----------------------------------------------------------- */

static bool
is_in(const struct source *source, enum folder_place place, const char *name)
{
	cleanup_free char *path = folder_path(source->where, place, name);

	return file_exists(path);
}

static void
quarantine(struct source *source, const char *name, const char *words)
{
	cleanup_buf struct buf shown = BUF_INIT;

	text_add_visible(&shown, name, strlen(name), false);
	source_base_quarantine(source, "%s/%s: %s",
	    folder_place_name(FOLDER_TODO), shown.data, words);
}

/* The first task that can be used. FOLDER_GONE when there is none;
 * FOLDER_UNSETTLED when there may be one soon. */
static enum folder_reading
find_task(struct source *source, const struct folder_names *names,
    const char **ret_name, struct task_head *head, struct buf *text)
{
	enum folder_reading reading, sum = FOLDER_GONE;

	for (size_t i = 0; i < names->count; i++) {
		cleanup_buf struct buf words = BUF_INIT;
		const char *name = names->at[i];

		/* It has the same name as one that is being worked on: it comes
		 * afterwards. */
		if (source_base_is_ours(source, name) ||
		    is_in(source, FOLDER_DOING, name))
			continue;
		buf_clear(text);
		reading = folder_read(
		    source->where, FOLDER_TODO, name, head, text, &words);
		if ((reading == FOLDER_READ || reading == FOLDER_PROBLEM) &&
		    !folder_is_settled(source->where, FOLDER_TODO, name))
			reading = FOLDER_UNSETTLED;
		if (reading == FOLDER_READ) {
			*ret_name = name;
			return FOLDER_READ;
		}
		if (reading == FOLDER_PROBLEM)
			quarantine(source, name, words.data);
		else if (reading != FOLDER_GONE)
			sum = FOLDER_UNSETTLED;
	}
	return sum;
}

static void
folder_ask(struct source *source)
{
	cleanup_folder_names struct folder_names names = { NULL, 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct folder *folder = (struct folder *)source;
	struct source_offer offer = { .key = NULL };
	enum folder_reading reading;
	cleanup_json struct json_object *contract = NULL;
	struct task_head head;
	struct err err = { 0, "" };
	int r;

	r = folder_make(source->where, &err);
	if (r == 0)
		r = folder_names(
		    source->where, FOLDER_TODO, false, &names, &err);
	if (r < 0 && !source_base_is_shortage(r)) {
		source_base_fail(source, &err);
		return;
	}
	folder_order_sort(&folder->order, source->where, &names);
	reading = r < 0 ? FOLDER_SHORTAGE :
			  find_task(source, &names, &offer.key, &head, &text);
	if (reading == FOLDER_READ) {
		offer.text = text.data;
		offer.priority = head.priority;
		if (head.commit[0] != '\0')
			offer.landed_before = head.commit;
		if (head.maker[0] != '\0') {
			offer.maker = head.maker;
			offer.sandbox = box_mode_name(head.sandbox);
		}
		task_head_contract(&head, &contract, NULL);
		offer.contract = contract;
		offer.report = head.report;
		source_base_answer(source, SOURCE_OFFER, &offer, NULL);
	} else if (reading == FOLDER_GONE) {
		source_base_answer(source, SOURCE_EMPTY, NULL, NULL);
	} else {
		source_base_look_later(source);
	}
}

/* --- taking and settling ---------------------------------------------- */

static bool
is_taken_by(const struct source *source, const char *name, bool if_unknown)
{
	cleanup_json struct json_object *note =
	    folder_note_load(source->where, name);

	if (note == NULL)
		return if_unknown;
	return strcmp(json_string_or(note, "owner", ""), source->owner) == 0;
}

static int
check_key(const char *key, struct err *err)
{
	if (folder_is_task(key))
		return 0;
	return err_set(
	    err, -EINVAL, "\"%s\" cannot be the name of a task", key);
}

/* The note is written before the move, both under a lock: so the owner of a
 * file in doing/ is always known, also after a crash in between. */
static int
folder_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	cleanup_free char *lock = file_join(source->where, LOCK_NAME);
	cleanup_fd int fd = -1;
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(source->where, err);
	if (r < 0)
		return r;
	fd = lock_try(lock, err);
	if (fd < 0)
		return fd;
	if (is_in(source, FOLDER_DOING, key)) {
		if (is_taken_by(source, key, false))
			return 0;
		return err_set(err, -ESTALE, "%s: somebody else has it", key);
	}
	if (!is_in(source, FOLDER_TODO, key))
		return err_set(err, -ESTALE, "%s is no longer in %s/%s", key,
		    source->where, folder_place_name(FOLDER_TODO));
	r = folder_note_save(source->where, key, source->owner, worker, err);
	if (r < 0)
		return r;
	r = folder_move_exact(
	    source->where, FOLDER_TODO, FOLDER_DOING, key, err);
	if (r == -ENOENT || r == -EEXIST)
		return err_set(err, -ESTALE, "%s no longer exists", key);
	return r;
}

static enum folder_place
place_of(enum task_outcome outcome)
{
	if (outcome == OUTCOME_NONE)
		return FOLDER_TODO;
	return source_base_is_done(outcome) ? FOLDER_DONE : FOLDER_FAILED;
}

/* Only a message: if it cannot be written, everything else goes on. */
static void
write_why(
    const struct source *source, const char *name, const char *note, bool moved)
{
	cleanup_free char *path =
	    folder_why_path(source->where, FOLDER_FAILED, name);
	cleanup_free char *text = xasprintf("%s\n", note);

	if (moved || (is_in(source, FOLDER_FAILED, name) && !file_exists(path)))
		file_replace(path, text, strlen(text), 0644, NULL);
}

static int
folder_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	enum folder_place place = place_of(outcome);
	cleanup_free char *name = NULL;
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	if (!is_in(source, FOLDER_DOING, key))
		r = -ENOENT; /* or we died before the note was written */
	else if (!is_taken_by(source, key, true))
		return 0;
	else
		r = folder_move(
		    source->where, FOLDER_DOING, key, place, &name, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (place == FOLDER_FAILED && note != NULL)
		write_why(source, name == NULL ? key : name, note, r == 0);
	if (r == 0)
		folder_note_remove(source->where, key);
	return 0;
}

static int
folder_recover(struct source *source, const char *const *keys, struct err *err)
{
	cleanup_folder_names struct folder_names names = { NULL, 0 };
	int r, count = 0;

	r = folder_names(source->where, FOLDER_DOING, false, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.count; i++) {
		if (source_base_has(keys, names.at[i]) ||
		    !is_taken_by(source, names.at[i], true))
			continue;
		r = folder_move(source->where, FOLDER_DOING, names.at[i],
		    FOLDER_TODO, NULL, err);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		folder_note_remove(source->where, names.at[i]);
		count++;
	}
	folder_notes_sweep(source->where, source->owner);
	return count;
}

static int
folder_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err)
{
	struct folder *folder = (struct folder *)source;
	cleanup_free char *path =
	    file_join(source->where, folder_place_name(FOLDER_TODO));

	if (folder->watch != NULL)
		watch_free(folder->watch);
	folder->watch = NULL;
	return watch_new(source->loop, path, fn, arg, &folder->watch, err);
}

/* --- for people ------------------------------------------------------- */

static int
folder_prioritize(struct source *source, const char *key,
    enum priority priority, struct err *err)
{
	static const enum folder_place where[] = { FOLDER_TODO, FOLDER_DOING,
		FOLDER_FAILED };
	int r;

	r = check_key(key, err);
	for (size_t i = 0; r == 0 && i < nitems(where); i++) {
		if (!is_in(source, where[i], key))
			continue;
		if (where[i] == FOLDER_DOING &&
		    !is_taken_by(source, key, false))
			return err_set(
			    err, -EBUSY, "%s: somebody else has it", key);
		return folder_edit_prioritize(
		    source->where, where[i], key, priority, err);
	}
	if (r < 0)
		return r;
	return err_set(err, -ENOENT,
	    "there is no task %s in todo/, doing/ or failed/", key);
}

/* Under the lock, so that nobody takes it meanwhile. */
static int
folder_edit(struct source *source, const char *key, const char *before,
    const char *prompt, struct err *err)
{
	static const enum folder_place where[] = { FOLDER_TODO, FOLDER_FAILED };
	cleanup_free char *lock = file_join(source->where, LOCK_NAME);
	cleanup_fd int fd = -1;
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(source->where, err);
	if (r < 0)
		return r;
	fd = lock_try(lock, err);
	if (fd < 0)
		return fd;
	for (size_t i = 0; i < nitems(where); i++)
		if (is_in(source, where[i], key))
			return folder_edit_prompt(
			    source->where, where[i], key, before, prompt, err);
	if (is_in(source, FOLDER_DOING, key))
		return err_set(err, -EBUSY, "%s: a worker has this task", key);
	return err_set(
	    err, -ENOENT, "there is no task %s in todo/ or failed/", key);
}

const struct source_kind source_folder = {
	.name = "folder",
	.setting = "auto.tasks_dir",
	.origin = "the folder ",
	.elsewhere = "tasks come from auto.tasks_dir",
	.flags = SOURCE_KEEPS_CLAIMS | SOURCE_EDITABLE | SOURCE_RETRIES,
	.size = sizeof(struct folder),
	.open = folder_open,
	.close = folder_close,
	.ask = folder_ask,
	.take = folder_take,
	.settle = folder_settle,
	.recover = folder_recover,
	.watch = folder_watch,
	.list = folder_edit_list,
	.text = folder_edit_text,
	.count_todo = folder_edit_count_todo,
	.todo_part = "todo",
	.todo = folder_edit_todo,
	.prioritize = folder_prioritize,
	.add = folder_edit_add,
	.maker = folder_edit_maker,
	.retry = folder_edit_retry,
	.drop = folder_edit_drop,
	.edit = folder_edit,
};
