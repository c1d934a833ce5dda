/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "spool.h"

#define SUFFIX       ".json"
#define PART_SUFFIX  ".part" /* being written */
#define PART_LIFE_MS 60000 /* older: its writer has died */
#define NAME_SIZE    (ID_ULID_SIZE + sizeof SUFFIX - 1)

struct names {
	char (*at)[NAME_SIZE];
	size_t count, cap;
};

static void
close_dir(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

#define cleanup_dir __attribute__((cleanup(close_dir)))

/* NULL, with errno, where it cannot be read. */
static DIR *
open_dir(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);

	if (dir != NULL)
		take_fd(&fd);
	return dir;
}

static bool
ends_with(const char *name, const char *suffix)
{
	size_t a = strlen(name), b = strlen(suffix);

	return a >= b && strcmp(name + a - b, suffix) == 0;
}

static bool
is_event(const char *name)
{
	char id[ID_ULID_SIZE];

	if (strlen(name) != NAME_SIZE - 1 || !ends_with(name, SUFFIX))
		return false;
	strlcpy(id, name, sizeof id);
	return id_ulid_valid(id);
}

/* Is there room for len bytes more? */
static int
check_room(const char *path, size_t len, struct err *err)
{
	cleanup_dir DIR *dir = open_dir(path);
	const struct dirent *entry;
	uint64_t bytes = len;
	struct stat st;
	int count = 1;

	if (dir == NULL)
		return err_errno(err, -errno, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		/* A file that vanishes meanwhile was drained. */
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(dir), entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(st.st_mode))
			continue;
		count++;
		bytes += (uint64_t)st.st_size;
	}
	if (count > SPOOL_COUNT_MAX || bytes > SPOOL_BYTES_MAX)
		return err_set(err, -ENOSPC,
		    "%s is full: %d events wait for a daemon", path, count - 1);
	return 0;
}

static int
write_part(const char *path, const struct buf *text)
{
	cleanup_fd int fd = -1;
	int r;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1)
		return -errno;
	r = file_write_all(fd, text->data, text->len);
	if (r < 0)
		unlink(path);
	return r;
}

int
spool_write(const char *dir, int64_t wall_ms, struct json_object *event,
    struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *part = NULL, *path = NULL;
	char id[ID_ULID_SIZE];
	int r;

	json_print(event, false, &text);
	buf_addc(&text, '\n');
	if (text.len > SPOOL_EVENT_MAX)
		return err_set(err, -E2BIG,
		    "an event of %zu bytes is too large for %s", text.len, dir);
	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "cannot create %s", dir);
	r = check_room(dir, text.len, err);
	if (r < 0)
		return r;
	id_ulid(wall_ms, id);
	part = xasprintf("%s/%s" PART_SUFFIX, dir, id);
	path = xasprintf("%s/%s" SUFFIX, dir, id);
	r = write_part(part, &text);
	if (r == 0 && rename(part, path) == -1) {
		r = -errno;
		unlink(part);
	}
	return r < 0 ? err_errno(err, r, "cannot write %s", path) : 0;
}

/* A writer that was killed cannot clean up after itself. */
static void
remove_if_stale(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    clock_wall_ms() - clock_file_ms(&st.st_mtim) > PART_LIFE_MS)
		unlinkat(dir, name, 0);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The events, oldest first. 0, also when there is no directory. */
static int
list_events(const char *path, struct names *names)
{
	cleanup_dir DIR *dir = open_dir(path);
	const struct dirent *entry;

	if (dir == NULL)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir)) != NULL) {
		if (ends_with(entry->d_name, PART_SUFFIX))
			remove_if_stale(dirfd(dir), entry->d_name);
		if (!is_event(entry->d_name))
			continue;
		if (names->count == names->cap) {
			names->cap = names->cap == 0 ? 64 : names->cap * 2;
			names->at = xreallocarray(
			    names->at, names->cap, sizeof *names->at);
		}
		strlcpy(names->at[names->count++], entry->d_name, NAME_SIZE);
	}
	if (names->count > 0)
		qsort(
		    names->at, names->count, sizeof *names->at, compare_names);
	return 0;
}

static int
count_entries(const char *path)
{
	cleanup_dir DIR *dir = open_dir(path);
	int count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	return count - 2; /* . and .. */
}

/* Move it to broken/ for a person to examine, as long as there are few. */
static int
put_aside(const char *dir, const char *name, struct err *err)
{
	cleanup_free char *from = file_join(dir, name);
	cleanup_free char *broken = file_join(dir, "broken");
	cleanup_free char *to = file_join(broken, name);
	int r;

	if (mkdir(broken, 0700) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "cannot create %s", broken);
	if (count_entries(broken) >= SPOOL_BROKEN_MAX)
		r = unlink(from);
	else
		r = rename(from, to);
	if (r == -1)
		return err_errno(err, -errno, "cannot move %s aside", from);
	return 0;
}

/* 1 if it was handled, whatever was done with it; 0 if it was passed over. */
static int
drain_one(const char *dir, const char *name, spool_skip_fn *skip, spool_fn *fn,
    void *arg, struct err *err)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_json struct json_object *event = NULL;
	char id[ID_ULID_SIZE];
	int r;

	strlcpy(id, name, sizeof id);
	if (skip != NULL && skip(id, arg))
		return 0;
	r = json_load(path, SPOOL_EVENT_MAX, &event, err);
	if (r == -ENOENT)
		return 1;
	/* If we lack memory or descriptors, the file is not to blame. */
	if (r == -EMFILE || r == -ENFILE)
		return r;
	r = r < 0 ? -EINVAL : fn(id, event, arg);
	if (r == -EINVAL)
		r = put_aside(dir, name, err);
	else if (r < 0)
		err_errno(err, r, "%s", path);
	else if (r == 0) {
		r = spool_remove(dir, id);
		if (r < 0)
			err_errno(err, r, "cannot remove %s", path);
	}
	return r < 0 ? r : 1;
}

int
spool_remove(const char *dir, const char *id)
{
	cleanup_free char *name = xasprintf("%s" SUFFIX, id);
	cleanup_free char *path = file_join(dir, name);

	return unlink(path) == -1 && errno != ENOENT ? -errno : 0;
}

int
spool_drain(const char *dir, int max, spool_skip_fn *skip, spool_fn *fn,
    void *arg, struct err *err)
{
	struct names names = { 0 };
	cleanup_free char(*at)[NAME_SIZE] = NULL;
	int r, count = 0;

	r = list_events(dir, &names);
	at = names.at;
	if (r < 0)
		return err_errno(err, r, "%s", dir);
	for (size_t i = 0; i < names.count && (max == 0 || count < max); i++) {
		r = drain_one(dir, at[i], skip, fn, arg, err);
		if (r < 0)
			return r;
		count += r;
	}
	return count;
}
