/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "folder-edit.h"
#include "folder-order.h"
#include "folder.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "prompt.h"
#include "source-base.h"
#include "task-head.h"
#include "text.h"

#define NUMBER_MAX INT64_C(1000000000)
#define NAME_BYTES 60
#define WHY_MAX    ((size_t)64 * 1024)

/* --- looking ---------------------------------------------------------- */

static void
add_note(const char *where, const char *name, struct json_object *row)
{
	static const char *const members[] = { "owner", "worker" };
	cleanup_json struct json_object *note = folder_note_load(where, name);

	for (size_t i = 0; note != NULL && i < nitems(members); i++) {
		const char *value = json_string_or(note, members[i], NULL);

		if (value != NULL)
			json_set_string(row, members[i], value);
	}
}

static void
add_why(const char *where, const char *name, struct json_object *row)
{
	cleanup_free char *path = folder_why_path(where, FOLDER_FAILED, name);
	cleanup_buf struct buf raw = BUF_INIT, why = BUF_INIT;

	if (file_read(path, WHY_MAX, &raw, NULL) == 0 &&
	    prompt_clean(raw.data, raw.len, &why))
		json_set_string(row, "problem", why.data);
}

/* NULL if it has gone meanwhile. */
static struct json_object *
list_one(const char *where, enum folder_place place, const char *name)
{
	cleanup_json struct json_object *row = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	cleanup_free char *title = NULL;
	enum folder_reading reading;
	struct task_head head;

	reading = folder_read(where, place, name, &head, &text, &words);
	if (reading == FOLDER_GONE)
		return NULL;
	title = reading == FOLDER_READ ? source_base_title(text.data) :
					 xstrdup(name);
	json_set_string(row, "key", name);
	json_set_string(row, "title", title);
	json_set_string(row, "status", folder_place_name(place));
	if (reading == FOLDER_READ)
		json_set_string(row, "priority", priority_name(head.priority));
	if (place == FOLDER_DOING)
		add_note(where, name, row);
	if (place == FOLDER_FAILED)
		add_why(where, name, row);
	if (reading == FOLDER_PROBLEM)
		json_set_string(row, "problem", words.data);
	return take_ptr(&row);
}

struct json_object *
folder_edit_list(const char *where, size_t limit, struct err *err)
{
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_folder_order struct folder_order order = { NULL, 0 };

	for (enum folder_place place = FOLDER_TODO; place <= FOLDER_FAILED;
	     place++) {
		cleanup_folder_names struct folder_names names = { NULL, 0 };
		bool ended = place == FOLDER_DONE || place == FOLDER_FAILED;
		size_t most;

		if (folder_names(where, place, ended, &names, err) < 0)
			return NULL;
		if (place == FOLDER_TODO)
			folder_order_sort(&order, where, &names);
		most = ended && limit > 0 && limit < names.count ? limit :
								   names.count;
		for (size_t i = 0; i < most; i++) {
			struct json_object *row =
			    list_one(where, place, names.at[i]);

			if (row != NULL)
				json_object_array_add(list, row);
		}
	}
	return take_ptr(&list);
}

struct json_object *
folder_edit_todo(const char *where, struct folder_order *order, size_t most,
    int64_t *ret_count)
{
	cleanup_folder_names struct folder_names names = { NULL, 0 };
	struct json_object *list = json_object_new_array();

	*ret_count = 0;
	if (folder_names(where, FOLDER_TODO, false, &names, NULL) < 0)
		return list;
	folder_order_sort(order, where, &names);
	*ret_count = (int64_t)names.count;
	for (size_t i = 0; i < names.count && i < most; i++) {
		struct json_object *row =
		    list_one(where, FOLDER_TODO, names.at[i]);

		if (row != NULL)
			json_object_array_add(list, row);
	}
	return list;
}

char *
folder_edit_text(const char *where, const char *key, const char *status)
{
	cleanup_free char *path = xasprintf("%s/%s/%s", where, status, key);
	cleanup_buf struct buf text = BUF_INIT;
	struct task_head head;

	if (file_read(path, PROMPT_MAX, &text, NULL) < 0)
		return NULL;
	return xstrdup(task_head_read(text.data, &head));
}

/* Only by their names: there may be many, and this must be fast. */
int64_t
folder_edit_count_todo(const char *where)
{
	cleanup_free char *todo =
	    file_join(where, folder_place_name(FOLDER_TODO));
	const struct dirent *file;
	int64_t count = 0;
	DIR *dir = opendir(todo);

	if (dir == NULL)
		return 0;
	while ((file = readdir(dir)) != NULL)
		count += file->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* --- adding ----------------------------------------------------------- */

/* One more than the highest number at the beginning of a task's name, so that
 * what is added later comes later. */
static int64_t
next_number(const char *where)
{
	int64_t highest = 0, number;

	for (int place = FOLDER_TODO; place <= FOLDER_FAILED; place++) {
		cleanup_folder_names struct folder_names names = { NULL, 0 };

		if (folder_names(where, (enum folder_place)place, false, &names,
			NULL) < 0)
			continue;
		for (size_t i = 0; i < names.count; i++) {
			size_t len = strspn(names.at[i], "0123456789");
			cleanup_free char *digits = xstrndup(names.at[i], len);

			if (names.at[i][len] == '-' &&
			    text_parse_int(digits, 0, NUMBER_MAX, &number) &&
			    number > highest)
				highest = number;
		}
	}
	return highest + 1;
}

/* "Fix the log-in, please" is kept in 7-fix-the-log-in-please.md. */
static char *
name_of(const char *where, const char *text)
{
	cleanup_free char *title = source_base_title(text);
	cleanup_buf struct buf name = BUF_INIT;
	size_t begin;

	buf_addf(&name, "%lld-", (long long)next_number(where));
	begin = name.len;
	for (const char *c = title; *c != '\0'; c++) {
		if (isalnum((unsigned char)*c) || (*c & 0x80) != 0)
			buf_addc(&name, (char)tolower((unsigned char)*c));
		else if (name.data[name.len - 1] != '-')
			buf_addc(&name, '-');
	}
	buf_truncate(&name,
	    begin + text_cut(name.data + begin, name.len - begin, NAME_BYTES));
	while (name.len > begin && name.data[name.len - 1] == '-')
		buf_truncate(&name, name.len - 1);
	if (name.len == begin)
		buf_adds(&name, "task");
	buf_adds(&name, ".md");
	return buf_take(&name);
}

/* The whole text of a file. */
static int
save_text(const char *path, const struct task_head *head, const char *prompt,
    struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	task_head_write(head, prompt, &text);
	buf_addc(&text, '\n');
	return file_replace(path, text.data, text.len, 0644, err);
}

int
folder_edit_add(const char *where, const struct task_head *head,
    const char *prompt, char **ret_key, char **ret_path, struct err *err)
{
	cleanup_buf struct buf clean = BUF_INIT;
	cleanup_free char *name = NULL, *hidden = NULL, *part = NULL;
	cleanup_free char *key = NULL;
	char id[ID_ULID_SIZE];
	int r;

	if (!text_utf8_valid(prompt, strlen(prompt)))
		return err_set(
		    err, -EINVAL, "the task is not valid UTF-8 text");
	if (!prompt_clean(prompt, strlen(prompt), &clean))
		return err_set(err, -EINVAL, "the task is %s",
		    strlen(prompt) > PROMPT_MAX ? "longer than 1 MiB" :
						  "empty");
	r = folder_make(where, err);
	if (r < 0)
		return r;
	name = name_of(where, clean.data);
	id_ulid(clock_wall_ms(), id);
	hidden = xasprintf(".%s.tmp", id);
	part = folder_path(where, FOLDER_TODO, hidden);
	r = save_text(part, head, clean.data, err);
	if (r < 0)
		return r;
	r = folder_move_in(part, where, FOLDER_TODO, name, &key, err);
	if (r < 0) {
		unlink(part);
		return r;
	}
	if (ret_path != NULL)
		*ret_path = folder_path(where, FOLDER_TODO, key);
	if (ret_key != NULL)
		*ret_key = take_ptr(&key);
	return 0;
}

/* --- the head ---------------------------------------------------------- */

/* Unlike folder_read(), this does not wait until the file rests: a person asks
 * for it, and the file is replaced as a whole. */
static int
load_text(const char *path, struct task_head *ret_head, struct buf *prompt,
    struct err *err)
{
	cleanup_buf struct buf raw = BUF_INIT, clean = BUF_INIT;
	struct stat st;
	int r;

	if (lstat(path, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s is not a regular file", path);
	r = file_read(path, PROMPT_MAX, &raw, err);
	if (r < 0)
		return r;
	if (!text_utf8_valid(raw.data, raw.len) ||
	    !prompt_clean(raw.data, raw.len, &clean))
		return err_set(
		    err, -EBADMSG, "%s is empty or not valid UTF-8 text", path);
	buf_adds(prompt, task_head_read(clean.data, ret_head));
	return 0;
}

char *
folder_edit_maker(const char *where, const char *key)
{
	for (enum folder_place place = FOLDER_TODO;
	     folder_is_task(key) && place <= FOLDER_FAILED; place++) {
		cleanup_free char *path = folder_path(where, place, key);
		cleanup_buf struct buf prompt = BUF_INIT;
		struct task_head head = { 0 };

		if (load_text(path, &head, &prompt, NULL) == 0)
			return head.maker[0] != '\0' ? xstrdup(head.maker) :
						       NULL;
	}
	return NULL;
}

int
folder_edit_prioritize(const char *where, enum folder_place place,
    const char *key, enum priority priority, struct err *err)
{
	cleanup_free char *path = folder_path(where, place, key);
	cleanup_buf struct buf prompt = BUF_INIT;
	struct task_head head = { 0 };
	int r;

	r = load_text(path, &head, &prompt, err);
	if (r < 0 || head.priority == priority)
		return r;
	head.priority = priority;
	return save_text(path, &head, prompt.data, err);
}

int
folder_edit_prompt(const char *where, enum folder_place place, const char *key,
    const char *before, const char *prompt, struct err *err)
{
	cleanup_free char *path = folder_path(where, place, key);
	cleanup_buf struct buf raw = BUF_INIT, clean = BUF_INIT;
	struct task_head head = { 0 };
	int r;

	if (!prompt_clean(prompt, strlen(prompt), &clean))
		return err_set(
		    err, -EBADMSG, "the text is empty or longer than 1 MiB");
	r = file_read(path, PROMPT_MAX, &raw, err);
	if (r < 0)
		return r;
	if (strcmp(task_head_read(raw.data, &head), before) != 0)
		return err_set(err, -ESTALE,
		    "%s was changed by somebody else in the meantime", key);
	return save_text(path, &head, clean.data, err);
}

/* --- moving ----------------------------------------------------------- */

static bool
is_in(const char *where, enum folder_place place, const char *key)
{
	cleanup_free char *path = folder_path(where, place, key);

	return file_exists(path);
}

/* -ENOENT, in words that help. */
static int
say_missing(
    const char *where, const char *key, const char *places, struct err *err)
{
	if (is_in(where, FOLDER_DOING, key))
		return err_set(err, -EBUSY, "%s: a worker has this task", key);
	return err_set(err, -ENOENT, "there is no task %s in %s", key, places);
}

static int
check_key(const char *key, struct err *err)
{
	if (folder_is_task(key))
		return 0;
	return err_set(err, -ENOENT, "there is no task \"%s\"", key);
}

/* The commit goes into the file first: a task that waits is taken at once. */
static int
retry_done(
    const char *where, const char *key, const char *commit, struct err *err)
{
	cleanup_free char *path = folder_path(where, FOLDER_DONE, key);
	cleanup_buf struct buf prompt = BUF_INIT;
	struct task_head head;
	int r;

	r = load_text(path, &head, &prompt, err);
	if (r == 0 && commit != NULL) {
		strlcpy(head.commit, commit, sizeof head.commit);
		r = save_text(path, &head, prompt.data, err);
	}
	if (r < 0)
		return r;
	return folder_move(where, FOLDER_DONE, key, FOLDER_TODO, NULL, err);
}

static int
retry_failed(const char *where, const char *key, struct err *err)
{
	cleanup_free char *why = folder_why_path(where, FOLDER_FAILED, key);
	int r;

	r = folder_move(where, FOLDER_FAILED, key, FOLDER_TODO, NULL, err);
	if (r == 0)
		unlink(why);
	return r;
}

int
folder_edit_retry(
    const char *where, const char *key, const char *commit, struct err *err)
{
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(where, err);
	if (r < 0)
		return r;
	if (is_in(where, FOLDER_TODO, key))
		return err_set(err, -EALREADY,
		    "%s has neither failed nor landed: it waits to be done",
		    key);
	/* Two files can have one name; a commit belongs to the one that is
	 * done. */
	r = commit != NULL ? -ENOENT : retry_failed(where, key, err);
	if (r == -ENOENT)
		r = retry_done(where, key, commit, err);
	if (r == -ENOENT)
		return say_missing(where, key, "failed/ or done/", err);
	return r;
}

static int
drop_from(const char *where, enum folder_place place, const char *key,
    struct err *err)
{
	cleanup_free char *why = folder_why_path(where, place, key);
	cleanup_free char *name = NULL, *target = NULL;
	int r;

	r = folder_move(where, place, key, FOLDER_TRASH, &name, err);
	if (r < 0)
		return r;
	target = folder_why_path(where, FOLDER_TRASH, name);
	rename(why, target); /* there need not be one */
	return 0;
}

int
folder_edit_drop(const char *where, const char *key, struct err *err)
{
	int r;

	r = check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(where, err);
	if (r < 0)
		return r;
	r = drop_from(where, FOLDER_TODO, key, err);
	if (r == -ENOENT)
		r = drop_from(where, FOLDER_FAILED, key, err);
	if (r == -ENOENT)
		return say_missing(where, key, "todo/ or failed/", err);
	return r;
}
