/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "lock.h"
#include "log.h"
#include "mem.h"
#include "outbox-record.h"
#include "outbox.h"
#include "strv.h"
#include "text.h"

#define SUFFIX ".json"

static char *
path_of(const char *dir, bool done, const char *id)
{
	return xasprintf("%s/%s%s" SUFFIX, dir, done ? "done/" : "", id);
}

/* --- lists ------------------------------------------------------------ */

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "01ARZ....json" */
static bool
is_entry(const char *name, char id[ID_ULID_SIZE])
{
	size_t len = strlen(name);

	if (len != ID_ULID_SIZE - 1 + strlen(SUFFIX) ||
	    strcmp(name + ID_ULID_SIZE - 1, SUFFIX) != 0)
		return false;
	memcpy(id, name, ID_ULID_SIZE - 1);
	id[ID_ULID_SIZE - 1] = '\0';
	return id_ulid_valid(id);
}

char **
outbox_list(const char *dir, bool done)
{
	cleanup_free char *path = xasprintf("%s%s", dir, done ? "/done" : "");
	DIR *folder = opendir(path);
	char **list = xcalloc(1, sizeof(char *));
	const struct dirent *entry;
	size_t count = 0;
	char id[ID_ULID_SIZE];

	if (folder == NULL)
		return list;
	while ((entry = readdir(folder)) != NULL) {
		if (!is_entry(entry->d_name, id))
			continue;
		list = xreallocarray(list, count + 2, sizeof(char *));
		list[count++] = xstrdup(id);
		list[count] = NULL;
	}
	closedir(folder);
	if (count > 1)
		qsort(list, count, sizeof(char *), compare);
	return list;
}

/* --- one record ------------------------------------------------------- */

static int
save(const char *path, const struct outbox_record *record, struct err *err)
{
	cleanup_json struct json_object *json = outbox_record_to_json(record);

	return json_save(path, json, 0600, err);
}

static void make_room(const char *dir, char *const *list);

int
outbox_add(const char *dir, const struct outbox_record *record, struct err *err)
{
	cleanup_free char *path = path_of(dir, false, record->id);
	cleanup_free char *done = xasprintf("%s/done", dir);
	cleanup_strv char **list = NULL;
	int r = file_mkdirs(done, 0700, err);

	if (r < 0)
		return r;
	list = outbox_list(dir, false);
	if (strv_count(list) >= OUTBOX_WAITING_MAX && !file_exists(path))
		make_room(dir, list);
	return save(path, record, err);
}

static int
load_from(const char *path, const char *id, struct outbox_record **ret_record,
    struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct outbox_record *record = NULL;
	int r = json_load(path, OUTBOX_FILE_MAX, &json, err);

	if (r == 0)
		r = outbox_record_from_json(json, &record, err);
	if (r == 0 && strcmp(record->id, id) != 0) {
		outbox_record_free(record);
		r = err_set(err, -EINVAL, "%s: the id is another one", path);
	}
	if (r == 0)
		*ret_record = record;
	return r;
}

/* *ret_done: where it was. */
static int
load(const char *dir, const char *id, bool *ret_done,
    struct outbox_record **ret_record, struct err *err)
{
	int r = -ENOENT;

	/* Waiting, done, and again: it may be moved in between. */
	for (int i = 0; i < 3 && r == -ENOENT; i++) {
		cleanup_free char *path = path_of(dir, i == 1, id);

		*ret_done = i == 1;
		r = load_from(path, id, ret_record, err);
	}
	return r == -ENOENT ?
	    err_set(err, -ENOENT, "there is no escalation %s", id) :
	    r;
}

int
outbox_load(const char *dir, const char *id, struct outbox_record **ret_record,
    struct err *err)
{
	bool done;

	return load(dir, id, &done, ret_record, err);
}

static bool
is_of(const char *dir, const char *id, const char *event)
{
	struct outbox_record *record = NULL;
	bool is_so;

	outbox_load(dir, id, &record, NULL);
	is_so = record != NULL && record->event != NULL &&
	    strcmp(record->event, event) == 0;
	outbox_record_free(record);
	return is_so;
}

bool
outbox_knows(const char *dir, const char *event)
{
	cleanup_strv char **waiting = outbox_list(dir, false);
	cleanup_strv char **done = outbox_list(dir, true);

	for (char **id = waiting; *id != NULL; id++)
		if (is_of(dir, *id, event))
			return true;
	for (char **id = done; *id != NULL; id++)
		if (is_of(dir, *id, event))
			return true;
	return false;
}

/* --- an entry of ours ------------------------------------------------- */

static char *
lock_path(const char *dir, const char *id)
{
	return xasprintf("%s/%s.lock", dir, id);
}

static void
put_aside(const char *dir, const char *id)
{
	cleanup_free char *broken = xasprintf("%s/broken", dir);
	cleanup_free char *from = path_of(dir, false, id);
	cleanup_free char *to = xasprintf("%s/%s" SUFFIX, broken, id);

	if (file_mkdirs(broken, 0700, NULL) < 0 || rename(from, to) < 0)
		unlink(from);
}

/* The lock file goes with the lock: lock_try() knows that. */
static void
unlock(const char *dir, const char *id, int fd)
{
	cleanup_free char *path = lock_path(dir, id);

	unlink(path);
	fd_close(fd);
}

int
outbox_claim(const char *dir, const char *id, struct outbox_entry **ret_entry,
    struct err *err)
{
	cleanup_free char *path = lock_path(dir, id);
	struct outbox_record *record = NULL;
	bool done = false;
	int fd, r;

	if (!id_ulid_valid(id))
		return err_set(err, -ENOENT, "there is no escalation %s", id);
	fd = lock_try(path, err);
	if (fd < 0)
		return fd;
	r = load(dir, id, &done, &record, err);
	if (r < 0) {
		if ((r == -EINVAL || r == -E2BIG || r == -EFBIG) && !done)
			put_aside(dir, id);
		unlock(dir, id, fd);
		return r;
	}
	*ret_entry = xcalloc(1, sizeof **ret_entry);
	**ret_entry = (struct outbox_entry){ .dir = xstrdup(dir),
		.id = xstrdup(id),
		.lock = fd,
		.done = done,
		.record = record };
	return 0;
}

static void
trim_done(const char *dir)
{
	cleanup_strv char **list = outbox_list(dir, true);
	size_t count = strv_count(list);

	for (size_t i = 0; i + OUTBOX_DONE_MAX < count; i++) {
		cleanup_free char *path = path_of(dir, true, list[i]);

		unlink(path);
	}
}

int
outbox_save(struct outbox_entry *e, struct err *err)
{
	cleanup_free char *path = path_of(e->dir, e->done, e->id);
	cleanup_free char *to = path_of(e->dir, true, e->id);
	cleanup_free char *done = xasprintf("%s/done", e->dir);
	int r = save(path, e->record, err);

	if (r < 0 || e->done || !outbox_record_is_done(e->record))
		return r;
	if (file_mkdirs(done, 0700, err) < 0 || rename(path, to) < 0)
		return err_errno(err, -errno, "%s", to);
	e->done = true;
	trim_done(e->dir);
	return 0;
}

/* A channel that is dead for long must not keep others from what is new: the
 * oldest that nobody sends just now is given up. */
static void
make_room(const char *dir, char *const *list)
{
	struct outbox_entry *e = NULL;

	while (*list != NULL && outbox_claim(dir, *list, &e, NULL) == -EAGAIN)
		list++;
	if (e == NULL)
		return;
	outbox_record_end(e->record, OUTBOX_FAILED, "too many messages wait");
	outbox_save(e, NULL);
	outbox_release(e);
}

void
outbox_release(struct outbox_entry *e)
{
	if (e == NULL)
		return;
	unlock(e->dir, e->id, e->lock);
	outbox_record_free(e->record);
	free(e->dir);
	free(e->id);
	free(e);
}

/* The file of the lock holds the time until which the channel has used up its
 * share. */
static int64_t
read_paid(int fd)
{
	char text[32] = "";
	int64_t paid = 0;

	if (pread(fd, text, sizeof text - 1, 0) <= 0 ||
	    !text_parse_int(text, 0, INT64_MAX, &paid))
		return 0;
	return paid;
}

int
outbox_channel_lock(
    const char *dir, const char *channel, int64_t now_ms, int64_t *ret_rest_ms)
{
	cleanup_free char *path = xasprintf("%s/channel-%s.lock", dir, channel);
	cleanup_fd int fd = lock_try(path, NULL);
	int64_t next, rest;

	if (fd < 0)
		return fd;
	rest = channel_rest_ms(read_paid(fd), now_ms, &next);
	if (rest > 0) {
		*ret_rest_ms = rest;
		return -EBUSY;
	}
	return take_fd(&fd);
}

void
outbox_channel_count(int lock, int64_t now_ms)
{
	char text[32];
	int64_t next = 0;
	int len;

	if (channel_rest_ms(read_paid(lock), now_ms, &next) > 0)
		return;
	len = snprintf(text, sizeof text, "%020" PRId64, next);
	/* What cannot be noted is not counted. */
	if (pwrite(lock, text, (size_t)len, 0) != len)
		log_debug("a message of a channel is not counted");
}
