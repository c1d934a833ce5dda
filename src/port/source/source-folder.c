/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <sys/stat.h>

#include "id.h"
#include "prompt.h"
#include "source-private.h"
#include "taskfile.h"
#include "watch.h"

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

static struct json_object *
folder_edit_list(const char *where, size_t limit, struct err *err)
{
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_folder_order struct folder_order order = { NULL, 0 };

	for (enum folder_place place = FOLDER_TODO; place <= FOLDER_FAILED;
	     place++) {
		cleanup_strv char **names = NULL;
		bool ended = place == FOLDER_DONE || place == FOLDER_FAILED;
		size_t most;

		if (folder_names(where, place, ended, &names, err) < 0)
			return NULL;
		if (place == FOLDER_TODO)
			folder_order_sort(&order, where, names);
		most = ended && limit > 0 ? limit : SIZE_MAX;
		for (size_t i = 0; i < most && names[i] != NULL; i++) {
			struct json_object *row =
			    list_one(where, place, names[i]);

			if (row != NULL)
				json_object_array_add(list, row);
		}
	}
	return take_ptr(&list);
}

static struct json_object *
folder_edit_todo(const char *where, struct folder_order *order, size_t most,
    int64_t *ret_count)
{
	cleanup_strv char **names = NULL;
	struct json_object *list = json_object_new_array();

	*ret_count = 0;
	if (folder_names(where, FOLDER_TODO, false, &names, NULL) < 0)
		return list;
	folder_order_sort(order, where, names);
	*ret_count = (int64_t)strv_count(names);
	for (size_t i = 0; i < most && names[i] != NULL; i++) {
		struct json_object *row =
		    list_one(where, FOLDER_TODO, names[i]);

		if (row != NULL)
			json_object_array_add(list, row);
	}
	return list;
}

static char *
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
static int64_t
folder_edit_count_todo(const char *where)
{
	cleanup_free char *todo =
	    file_join(where, folder_place_name(FOLDER_TODO));
	cleanup_dir DIR *dir = opendir(todo);
	int64_t count = 0;
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		count += folder_is_task(name);
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
		cleanup_strv char **names = NULL;

		if (folder_names(where, (enum folder_place)place, false, &names,
			NULL) < 0)
			continue;
		for (char **name = names; *name != NULL; name++) {
			size_t len = strspn(*name, "0123456789");
			cleanup_free char *digits = xstrndup(*name, len);

			if ((*name)[len] == '-' &&
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

/* It goes into todo/, numbered, so that later ones come later. */
static int
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

static char *
folder_edit_maker(const char *where, const char *key, enum box_mode *ret_box)
{
	for (enum folder_place place = FOLDER_TODO;
	     folder_is_task(key) && place <= FOLDER_FAILED; place++) {
		cleanup_free char *path = folder_path(where, place, key);
		cleanup_buf struct buf prompt = BUF_INIT;
		struct task_head head = { 0 };

		if (load_text(path, &head, &prompt, NULL) == 0) {
			*ret_box = head.sandbox;
			return head.maker[0] != '\0' ? xstrdup(head.maker) :
						       NULL;
		}
	}
	return NULL;
}

static size_t
folder_made(const char *where, const char *maker)
{
	cleanup_strv char **names = NULL;
	size_t count = 0;

	if (folder_names(where, FOLDER_TODO, false, &names, NULL) < 0)
		return 0;
	for (char **name = names; *name != NULL; name++) {
		cleanup_free char *path =
		    folder_path(where, FOLDER_TODO, *name);
		struct task_head head;

		folder_head_read(path, &head);
		count += strcmp(head.maker, maker) == 0;
	}
	return count;
}

/* Of one that is there. */
static int
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

/* Replace its prompt, if that is still `before`; -ESTALE otherwise. */
static int
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

/* -ENOENT, in words that help. */
static int
say_missing(
    const char *where, const char *key, const char *places, struct err *err)
{
	if (folder_has(where, FOLDER_DOING, key))
		return err_set(err, -EBUSY, "%s: a worker has this task", key);
	return err_set(err, -ENOENT, "there is no task %s in %s", key, places);
}

static int
folder_edit_check_key(const char *key, struct err *err)
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

static int
folder_edit_retry(
    const char *where, const char *key, const char *commit, struct err *err)
{
	int r;

	r = folder_edit_check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(where, err);
	if (r < 0)
		return r;
	if (folder_has(where, FOLDER_TODO, key))
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

static int
folder_edit_drop(const char *where, const char *key, struct err *err)
{
	int r;

	r = folder_edit_check_key(key, err);
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
find_task(struct source *source, char *const *names, const char **ret_name,
    struct task_head *head, struct buf *text)
{
	enum folder_reading reading, sum = FOLDER_GONE;

	for (; names != NULL && *names != NULL; names++) {
		cleanup_buf struct buf words = BUF_INIT;
		const char *name = *names;

		/* It has the same name as one that is being worked on: it comes
		 * afterwards. */
		if (strv_has(strv_const(source->keys), name) ||
		    folder_has(source->where, FOLDER_DOING, name))
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
	cleanup_strv char **names = NULL;
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
	folder_order_sort(&folder->order, source->where, names);
	reading = r < 0 ? FOLDER_SHORTAGE :
			  find_task(source, names, &offer.key, &head, &text);
	if (reading == FOLDER_READ) {
		offer.text = text.data;
		source_base_read_head(&head, &offer, &contract);
		if (head.maker[0] != '\0') {
			offer.maker = head.maker;
			offer.sandbox = box_mode_name(head.sandbox);
		}
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
source_folder_check_key(const char *key, struct err *err)
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

	r = source_folder_check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(source->where, err);
	if (r < 0)
		return r;
	fd = lock_try(lock, err);
	if (fd < 0)
		return fd;
	if (folder_has(source->where, FOLDER_DOING, key)) {
		if (is_taken_by(source, key, false))
			return 0;
		return err_set(err, -ESTALE, "%s: somebody else has it", key);
	}
	if (!folder_has(source->where, FOLDER_TODO, key))
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

	if (moved ||
	    (folder_has(source->where, FOLDER_FAILED, name) &&
		!file_exists(path)))
		file_replace(path, text, strlen(text), 0644, NULL);
}

static int
folder_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	enum folder_place place = place_of(outcome);
	cleanup_free char *name = NULL;
	int r;

	r = source_folder_check_key(key, err);
	if (r < 0)
		return r;
	if (!folder_has(source->where, FOLDER_DOING, key))
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
	cleanup_strv char **names = NULL;
	int r, count = 0;

	r = folder_names(source->where, FOLDER_DOING, false, &names, err);
	if (r < 0)
		return r;
	for (char **name = names; *name != NULL; name++) {
		if (strv_has(keys, *name) || !is_taken_by(source, *name, true))
			continue;
		r = folder_move(
		    source->where, FOLDER_DOING, *name, FOLDER_TODO, NULL, err);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		folder_note_remove(source->where, *name);
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

	r = source_folder_check_key(key, err);
	for (size_t i = 0; r == 0 && i < nitems(where); i++) {
		if (!folder_has(source->where, where[i], key))
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

/* Under the lock, so that it cannot be taken meanwhile. */
static int
folder_edit(struct source *source, const char *key, const char *before,
    const char *prompt, struct err *err)
{
	static const enum folder_place where[] = { FOLDER_TODO, FOLDER_FAILED };
	cleanup_free char *lock = file_join(source->where, LOCK_NAME);
	cleanup_fd int fd = -1;
	int r;

	r = source_folder_check_key(key, err);
	if (r < 0)
		return r;
	r = folder_make(source->where, err);
	if (r < 0)
		return r;
	fd = lock_try(lock, err);
	if (fd < 0)
		return fd;
	for (size_t i = 0; i < nitems(where); i++)
		if (folder_has(source->where, where[i], key))
			return folder_edit_prompt(
			    source->where, where[i], key, before, prompt, err);
	if (folder_has(source->where, FOLDER_DOING, key))
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
	.made = folder_made,
	.retry = folder_edit_retry,
	.drop = folder_edit_drop,
	.edit = folder_edit,
};
