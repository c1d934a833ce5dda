/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "id.h"
#include "spool.h"

#define FOLDERS 3 /* run/<worker>/spool */

#define SUFFIX       ".json"
#define PART_SUFFIX  ".part" /* being written */
#define PART_LIFE_MS 60000 /* older: its writer has died */
#define NAME_SIZE    SPOOL_NAME_SIZE
#define READ_STEP    65536
#define NEWEST_ID    "00000000000000000000000000" /* a ULID, too */

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
is_event(const char *name)
{
	char id[ID_ULID_SIZE];

	if (strlen(name) != NAME_SIZE - 1 || !text_ends(name, SUFFIX))
		return false;
	strlcpy(id, name, sizeof id);
	return id_ulid_valid(id);
}

/* Is there room for len bytes more? */
static int
check_room(const char *path, size_t len, struct err *err)
{
	cleanup_dir DIR *dir = open_dir(path);
	const char *name;
	uint64_t bytes = len;
	struct stat st;
	int count = 1;

	if (dir == NULL)
		return err_errno(err, -errno, "%s", path);
	while ((name = dir_next(dir)) != NULL) {
		/* A file that vanishes meanwhile was drained. */
		if (name[0] == '.' ||
		    fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
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

/* Somebody has removed it, or the folder of the worker, or that of all of them:
 * what a session says must not be lost. Without .llmc there is nobody to tell.
 */
static int
make_folder(const char *dir, int levels)
{
	cleanup_free char *above = NULL;
	const char *slash = strrchr(dir, '/');
	int r;

	if (mkdir(dir, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || levels <= 1 || slash == NULL || slash == dir)
		return -errno;
	above = xstrndup(dir, (size_t)(slash - dir));
	r = make_folder(above, levels - 1);
	if (r == 0 && mkdir(dir, 0700) == -1 && errno != EEXIST)
		r = -errno;
	return r;
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

/* as: the id of its file, NULL = a new one. */
static int
write_as(const char *dir, int64_t wall_ms, const char *as,
    struct json_object *event, struct err *err)
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
	r = make_folder(dir, FOLDERS);
	if (r < 0)
		return err_errno(err, r, "cannot create %s", dir);
	r = check_room(dir, text.len, err);
	if (r < 0)
		return r;
	id_ulid(wall_ms, id);
	part = xasprintf("%s/%s" PART_SUFFIX, dir, id);
	path = xasprintf("%s/%s" SUFFIX, dir, as != NULL ? as : id);
	r = write_part(part, &text);
	if (r == 0 && rename(part, path) == -1) {
		r = -errno;
		unlink(part);
	}
	return r < 0 ? err_errno(err, r, "cannot write %s", path) : 0;
}

int
spool_write(const char *dir, int64_t wall_ms, struct json_object *event,
    struct err *err)
{
	return write_as(dir, wall_ms, NULL, event, err);
}

int
spool_write_newest(const char *dir, int64_t wall_ms, struct json_object *event,
    struct err *err)
{
	return write_as(dir, wall_ms, NEWEST_ID, event, err);
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

/* The events, oldest first. What is beyond SPOOL_LOOK_MAX no writer of ours has
 * put there. */
static void
list_events(DIR *dir, struct spool_rest *rest)
{
	const char *name;
	size_t cap = 0;

	spool_rest_release(rest);
	for (int i = 0; i < SPOOL_LOOK_MAX && (name = dir_next(dir)) != NULL;
	     i++) {
		if (text_ends(name, PART_SUFFIX))
			remove_if_stale(dirfd(dir), name);
		if (!is_event(name))
			continue;
		if (rest->count == cap) {
			cap = cap == 0 ? 64 : cap * 2;
			rest->names = xreallocarray(
			    rest->names, cap, sizeof *rest->names);
		}
		strlcpy(rest->names[rest->count++], name, NAME_SIZE);
	}
	if (rest->count > 0)
		qsort(rest->names, rest->count, sizeof *rest->names,
		    compare_names);
}

/* --- what a worker may have put there --------------------------------- */

/* Has it room for one more? A link in its place is no folder. */
static bool
broken_has_room(int broken)
{
	cleanup_fd int fd =
	    openat(broken, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	int count = 0;

	if (dir != NULL)
		take_fd(&fd);
	while (count < SPOOL_BROKEN_MAX && dir_next(dir) != NULL)
		count++;
	return dir != NULL && count < SPOOL_BROKEN_MAX;
}

/* Move it to broken/ for a person to examine, as long as there are few. */
static int
keep_broken(int dir, const char *name, struct err *err)
{
	cleanup_fd int broken = -1;
	int r;

	if (mkdirat(dir, "broken", 0700) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "cannot create broken");
	broken = openat(
	    dir, "broken", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (broken == -1 && (errno == EMFILE || errno == ENFILE))
		return err_errno(err, -errno, "cannot open broken");
	if (broken >= 0 && broken_has_room(broken))
		r = renameat(dir, name, broken, name);
	else
		r = unlinkat(dir, name, 0);
	if (r == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot move %s aside", name);
	return 0;
}

static int
read_event(int dir, const char *name, struct json_object **ret_event)
{
	cleanup_fd int fd = openat(dir, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;
	ssize_t n;

	if (fd == -1 || fstat(fd, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	do {
		buf_reserve(&text, READ_STEP);
		n = read(fd, text.data + text.len, READ_STEP);
		if (n == -1)
			return -errno;
		buf_grew(&text, (size_t)n);
	} while (n > 0 && text.len <= SPOOL_EVENT_MAX);
	return json_parse(
	    text.data, text.len, SPOOL_EVENT_MAX, ret_event, NULL);
}

/* 1 if it was handled, whatever was done with it; 0 if it was passed over. */
static int
drain_one(int dir, const char *name, spool_skip_fn *skip, spool_fn *fn,
    void *arg, struct err *err)
{
	cleanup_json struct json_object *event = NULL;
	char id[ID_ULID_SIZE];
	int r;

	strlcpy(id, name, sizeof id);
	if (skip != NULL && skip(id, arg))
		return 0;
	r = read_event(dir, name, &event);
	if (r == -ENOENT)
		return 1;
	/* If we lack memory or descriptors, the file is not to blame. */
	if (r == -EMFILE || r == -ENFILE)
		return err_errno(err, r, "%s", name);
	r = r < 0 ? -EINVAL : fn(id, event, arg);
	if (r == -EINVAL)
		r = keep_broken(dir, name, err);
	else if (r < 0)
		err_errno(err, r, "%s", name);
	else if (r == 0 && unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		r = err_errno(err, -errno, "cannot remove %s", name);
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
spool_drain(const char *dir, struct spool_rest *rest, int max,
    spool_skip_fn *skip, spool_fn *fn, void *arg, struct err *err)
{
	cleanup_dir DIR *folder = open_dir(dir);
	bool listed = rest->next >= rest->count;
	int r = 0, count = 0;

	if (folder == NULL && errno == ENOENT)
		return 0;
	if (folder == NULL)
		return err_errno(err, -errno, "%s", dir);
	if (listed)
		list_events(folder, rest);
	else
		r = drain_one(
		    dirfd(folder), NEWEST_ID SUFFIX, skip, fn, arg, err);
	while (r >= 0 && (max == 0 || count < max)) {
		/* What came since the list was made. */
		if (rest->next >= rest->count && !listed) {
			list_events(folder, rest);
			listed = true;
		}
		if (rest->next >= rest->count)
			break;
		r = drain_one(
		    dirfd(folder), rest->names[rest->next], skip, fn, arg, err);
		if (r >= 0) {
			count += r;
			rest->next++;
		}
	}
	if (r < 0)
		err_prefix(err, "%s", dir);
	return r < 0 ? r : count;
}

void
spool_rest_release(struct spool_rest *rest)
{
	free(rest->names);
	*rest = (struct spool_rest){ 0 };
}
