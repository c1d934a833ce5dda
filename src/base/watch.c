/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "loop.h"
#include "watch.h"

#define WATCH_LOOK_MS 1000
#define WATCH_CHANGES                                                      \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | \
	    IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define WATCH_LOST (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

/* One inotify instance serves all watches of a loop: the default limit is 128
 * per user, and a fleet has more files to watch. It lives as long as a watch
 * uses it. Watches of the same file or directory share the kernel's watch
 * descriptor. */
struct hub {
	LIST_ENTRY(hub) entry;
	LIST_HEAD(hub_watches, watch) watches;
	struct loop *loop;
	struct loop_watch *readable;
	int inotify;
	bool reading;
};

static LIST_HEAD(hub_list, hub) hubs = LIST_HEAD_INITIALIZER(hubs);

/* Two kernel watches: the one on the directory reports changes of the name
 * (created, moved, replaced); the one on the path itself reports changes behind
 * a link, and of the entries if it is a directory. */
struct watch {
	LIST_ENTRY(watch) entry; /* of the hub */
	struct hub *hub; /* NULL = inotify is not available */
	struct loop *loop;
	struct loop_call *call;
	struct loop_timer *look; /* polling; NULL while inotify is sufficient */
	char *path, *dir;
	const char *name; /* part of path */
	watch_fn *fn;
	void *arg;
	int dir_wd, self_wd; /* -1 = none */
	uint64_t seen; /* digest of the last poll; valid while look is set */
};

static bool watch_no_inotify;

/* A little over the limit, so that the cut can be made between characters. */
#define TAIL_KEEP (TAIL_LINE_MAX + 4)

struct tail {
	struct watch *watch;
	struct loop_call *call; /* reads the next chunk */
	char *path;
	int (*opener)(const char *path);
	tail_fn *fn;
	void *arg;
	int fd; /* -1 while there is no file */
	uint64_t offset; /* everything before this was read */
	uint64_t reported; /* offset after the last newline */
	struct buf line; /* the text after it, at most TAIL_KEEP */
	bool cut; /* ... and more that was dropped */
	bool reporting; /* fn is running */
	bool doomed; /* freed by fn, to be done when fn returns */
};

void
watch_disable_inotify(bool disable)
{
	watch_no_inotify = disable;
}

/* FNV-1a, fed with whole numbers. */
static uint64_t
watch_hash(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3;
}

static uint64_t
watch_digest_stat(const char *name, const struct stat *st)
{
	const uint64_t facts[] = { st->st_dev, st->st_ino, st->st_mode,
		(uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
		(uint64_t)st->st_ctim.tv_nsec };
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name != '\0'; name++)
		hash = watch_hash(hash, (unsigned char)*name);
	for (size_t i = 0; i < nitems(facts); i++)
		hash = watch_hash(hash, facts[i]);
	return hash;
}

/* Everything that polling compares, as one number; 0 = nothing there. */
static uint64_t
watch_digest(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return 0;
	if (S_ISDIR(st.st_mode)) {
		cleanup_dir DIR *dir = opendir(path);
		uint64_t sum = watch_digest_stat(".", &st);
		const char *name;

		if (dir == NULL)
			return 0;
		/* A sum, since the order of the entries does not matter. */
		while ((name = dir_next(dir)) != NULL)
			if (fstatat(dirfd(dir), name, &st,
				AT_SYMLINK_NOFOLLOW) == 0)
				sum += watch_digest_stat(name, &st);
		return sum;
	}
	return watch_digest_stat("", &st);
}

/* Runs once per pass of the loop, which merges related changes. */
static void
watch_report(void *arg)
{
	struct watch *watch = arg;

	if (watch->look != NULL)
		watch->seen = watch_digest(watch->path);
	watch->fn(watch->arg);
}

static void
hub_free_unused(struct hub *hub)
{
	if (hub->reading || !LIST_EMPTY(&hub->watches))
		return;
	LIST_REMOVE(hub, entry);
	loop_watch_free(hub->readable);
	fd_close(hub->inotify);
	free(hub);
}

/* Remove the kernel watch if nothing uses it any more. */
static void
hub_drop(struct hub *hub, int wd)
{
	const struct watch *watch;

	if (wd == -1)
		return;
	LIST_FOREACH (watch, &hub->watches, entry)
		if (watch->dir_wd == wd || watch->self_wd == wd)
			return;
	inotify_rm_watch(hub->inotify, wd);
}

static void
watch_close_inotify(struct watch *watch)
{
	struct hub *hub = watch->hub;

	if (hub == NULL)
		return;
	LIST_REMOVE(watch, entry);
	watch->hub = NULL;
	hub_drop(hub, watch->dir_wd);
	if (watch->self_wd != watch->dir_wd)
		hub_drop(hub, watch->self_wd);
	watch->dir_wd = watch->self_wd = -1;
	hub_free_unused(hub);
}

/* Watch what is at path now. Returns whether inotify is sufficient, which it is
 * not for a link, whose target may change. */
static bool
watch_follow(struct watch *watch)
{
	int old = watch->self_wd;
	struct stat st;
	bool enough;

	watch->self_wd =
	    inotify_add_watch(watch->hub->inotify, watch->path, WATCH_CHANGES);
	enough = watch->self_wd != -1 || errno == ENOENT;
	if (old != watch->self_wd)
		hub_drop(watch->hub, old);
	return enough &&
	    (lstat(watch->path, &st) == -1 || !S_ISLNK(st.st_mode));
}

static void watch_look(void *arg);

static void
watch_set_look(struct watch *watch, bool on)
{
	if (on == (watch->look != NULL))
		return;
	if (!on) {
		loop_timer_free(watch->look);
		watch->look = NULL;
		return;
	}
	watch->seen = watch_digest(watch->path);
	watch->look = loop_every(watch->loop, WATCH_LOOK_MS, watch_look, watch);
}

static void
watch_event(struct watch *watch, const struct inotify_event *event)
{
	bool self = event->wd == watch->self_wd;
	bool named = event->wd == watch->dir_wd && event->len > 0 &&
	    strcmp(event->name, watch->name) == 0;

	if (event->wd == watch->dir_wd && event->mask & WATCH_LOST) {
		watch_close_inotify(watch);
		watch_set_look(watch, true);
		loop_call_request(watch->call);
		return;
	}
	if (!self && !named && !(event->mask & IN_Q_OVERFLOW))
		return;
	loop_call_request(watch->call);
	/* Not for writes and entries, which do not change what path refers
	 * to. */
	if (!(event->mask & IN_MODIFY) && (named || event->len == 0))
		watch_set_look(watch, !watch_follow(watch));
}

static ssize_t
hub_read_once(struct hub *hub)
{
	union {
		struct inotify_event aligned;
		char bytes[8192];
	} in;
	const struct inotify_event *event;
	struct watch *watch, *next;
	ssize_t len, at = 0;

	hub->reading = true;
	len = read(hub->inotify, in.bytes, sizeof in.bytes);
	while (at < len) {
		event = (const void *)(in.bytes + at);
		for (watch = LIST_FIRST(&hub->watches); watch != NULL;
		     watch = next) {
			next = LIST_NEXT(watch, entry);
			watch_event(watch, event);
		}
		at += (ssize_t)(sizeof *event + event->len);
	}
	hub->reading = false;
	return len;
}

/* One read per pass, so that a flood of changes does not block the loop. */
static void
hub_event(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	hub_read_once(arg);
	hub_free_unused(arg);
}

/* NULL if the kernel provides none. */
static struct hub *
hub_of(struct loop *loop)
{
	struct hub *hub;

	LIST_FOREACH (hub, &hubs, entry) {
		if (hub->loop != loop)
			continue;
		/* A new watch must not get earlier events. */
		while (hub_read_once(hub) > 0)
			;
		return hub;
	}
	hub = xcalloc(1, sizeof *hub);
	LIST_INIT(&hub->watches);
	LIST_INSERT_HEAD(&hubs, hub, entry);
	hub->loop = loop;
	hub->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (hub->inotify != -1)
		hub->readable = loop_watch_new(
		    loop, hub->inotify, LOOP_READ, hub_event, hub);
	if (hub->readable == NULL) {
		hub_free_unused(hub);
		return NULL;
	}
	return hub;
}

/* Use inotify if possible, and poll where it is not sufficient. */
static void
watch_arm(struct watch *watch)
{
	bool enough = false;

	if (!watch_no_inotify)
		watch->hub = hub_of(watch->loop);
	if (watch->hub != NULL) {
		LIST_INSERT_HEAD(&watch->hub->watches, watch, entry);
		watch->dir_wd = inotify_add_watch(watch->hub->inotify,
		    watch->dir, WATCH_CHANGES | IN_ONLYDIR);
		if (watch->dir_wd == -1)
			watch_close_inotify(watch);
		else
			enough = watch_follow(watch);
	}
	watch_set_look(watch, !enough);
}

static void
watch_look(void *arg)
{
	struct watch *watch = arg;
	uint64_t before = watch->seen;

	/* Set up inotify before polling, so that no change is missed. */
	if (watch->hub == NULL)
		watch_arm(watch);
	watch->seen = watch_digest(watch->path);
	if (watch->seen == before)
		return;
	loop_call_request(watch->call);
	if (watch->hub != NULL)
		watch_set_look(watch, !watch_follow(watch));
}

int
watch_new(struct loop *loop, const char *path, watch_fn *fn, void *arg,
    struct watch **ret_watch, struct err *err)
{
	struct watch *watch = xcalloc(1, sizeof *watch);
	int code;
	size_t len;
	char *slash;

	watch->dir_wd = watch->self_wd = -1;
	/* Split "dir/name", ignoring slashes at the end. */
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	watch->path = xstrndup(path, len);
	slash = strrchr(watch->path, '/');
	watch->name = slash == NULL ? watch->path : slash + 1;
	if (slash == NULL)
		watch->dir = xstrdup(".");
	else if (slash == watch->path)
		watch->dir = xstrdup("/");
	else
		watch->dir =
		    xstrndup(watch->path, (size_t)(slash - watch->path));
	if (!file_is_dir(watch->dir)) {
		code = file_exists(watch->dir) ? -ENOTDIR : -ENOENT;
		err_errno(err, code, "cannot watch %s", path);
		watch_free(watch);
		return code;
	}
	watch->loop = loop;
	watch->fn = fn;
	watch->arg = arg;
	watch->call = loop_call_new(loop, watch_report, watch);
	watch_arm(watch);
	*ret_watch = watch;
	return 0;
}

void
watch_free(struct watch *watch)
{
	if (watch == NULL)
		return;
	watch_close_inotify(watch);
	loop_timer_free(watch->look);
	loop_call_free(watch->call);
	free(watch->path);
	free(watch->dir);
	free(watch);
}

static void
tail_restart(struct tail *tail)
{
	tail->offset = tail->reported = 0;
	tail->cut = false;
	buf_clear(&tail->line);
}

static int
open_regular(const char *path)
{
	return file_open(path, O_RDONLY, 0);
}

static void
tail_open(struct tail *tail)
{
	int fd = tail->opener(tail->path);

	if (fd < 0)
		return;
	tail->fd = fd;
	tail_restart(tail);
}

/* Does another file have the name now? */
static bool
tail_is_replaced(const struct tail *tail, const struct stat *open_st)
{
	struct stat st;

	return stat(tail->path, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_ino != open_st->st_ino || st.st_dev != open_st->st_dev);
}

static ssize_t
tail_pread(int fd, char *bytes, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, bytes, len, (off_t)offset);
	while (n == -1 && errno == EINTR);
	return n;
}

static void
tail_keep(struct tail *tail, const char *bytes, size_t len)
{
	size_t room = TAIL_KEEP - tail->line.len;

	tail->offset += len;
	if (len > room)
		tail->cut = true;
	buf_add(&tail->line, bytes, len > room ? room : len);
}

/* A newline was read. False if fn freed the tail. */
static bool
tail_report(struct tail *tail)
{
	if (tail->line.len > TAIL_LINE_MAX) {
		tail->cut = true;
		buf_truncate(&tail->line,
		    text_cut(tail->line.data, tail->line.len, TAIL_LINE_MAX));
	}
	tail->reported = ++tail->offset;
	tail->reporting = true;
	tail->fn(tail->line.data, tail->line.len, tail->cut, tail->arg);
	tail->reporting = false;
	if (tail->doomed) {
		tail_free(tail);
		return false;
	}
	tail->cut = false;
	buf_clear(&tail->line);
	return true;
}

static bool
tail_feed(struct tail *tail, const char *bytes, size_t len)
{
	const char *newline;

	while ((newline = memchr(bytes, '\n', len)) != NULL) {
		size_t part = (size_t)(newline - bytes);

		tail_keep(tail, bytes, part);
		if (!tail_report(tail))
			return false;
		bytes += part + 1;
		len -= part + 1;
	}
	tail_keep(tail, bytes, len);
	/* There are many tails, and most of them wait. */
	if (tail->line.len == 0)
		buf_release(&tail->line);
	return true;
}

/* A hole may be larger than any file that could be read. It is the part of a
 * line, since it has no newline. */
static void
tail_skip_hole(struct tail *tail, uint64_t size)
{
	off_t data = lseek(tail->fd, (off_t)tail->offset, SEEK_DATA);
	uint64_t next = data >= 0 ? (uint64_t)data :
	    errno == ENXIO        ? size :
				    tail->offset;

	if (next <= tail->offset || next > size)
		return;
	tail->offset = next;
	tail->cut = true;
}

/* The next bytes up to size; none at the end and on errors. */
static ssize_t
tail_read_chunk(const struct tail *tail, uint64_t size, char **ret_bytes)
{
	uint64_t left = size - tail->offset;
	size_t want = left < TAIL_CHUNK ? (size_t)left : TAIL_CHUNK;

	if (want == 0)
		return 0;
	*ret_bytes = xmalloc(want);
	return tail_pread(tail->fd, *ret_bytes, want, tail->offset);
}

/* Read one chunk, and continue in the next pass if there may be more. */
static void
tail_read(void *arg)
{
	struct tail *tail = arg;
	cleanup_free char *bytes = NULL;
	struct stat st;
	bool replaced;
	ssize_t n;

	if (tail->fd == -1)
		tail_open(tail);
	if (tail->fd == -1 || fstat(tail->fd, &st) == -1)
		return;
	/* Checked before the size, so everything written up to a rotation is
	 * read. */
	replaced = tail_is_replaced(tail, &st);
	if (fstat(tail->fd, &st) == -1)
		return;
	if ((uint64_t)st.st_size < tail->offset)
		tail_restart(tail);
	tail_skip_hole(tail, (uint64_t)st.st_size);
	n = tail_read_chunk(tail, (uint64_t)st.st_size, &bytes);
	if (n > 0) {
		if (tail_feed(tail, bytes, (size_t)n))
			loop_call_request(tail->call);
	} else if (replaced) {
		tail->fd = fd_close(tail->fd);
		loop_call_request(tail->call);
	}
}

static void
tail_changed(void *arg)
{
	struct tail *tail = arg;

	loop_call_request(tail->call);
}

/* Go to the end, or to the beginning of a line that is still being written: it
 * will be reported when it is complete. */
static void
tail_skip_to_end(struct tail *tail)
{
	cleanup_free char *bytes = NULL;
	const char *newline;
	struct stat st;
	uint64_t size, want;
	ssize_t n;

	if (tail->fd == -1 || fstat(tail->fd, &st) == -1)
		return;
	size = (uint64_t)st.st_size;
	want = size < TAIL_CHUNK ? size : TAIL_CHUNK;
	bytes = xmalloc(want);
	n = tail_pread(tail->fd, bytes, want, size - want);
	newline = n > 0 ? memrchr(bytes, '\n', (size_t)n) : NULL;
	tail->offset = size - want;
	if (newline != NULL)
		tail->offset += (uint64_t)(newline - bytes) + 1;
	else
		tail->cut = want < size;
	tail->reported = tail->offset;
}

int
tail_new(struct loop *loop, const char *path, bool from_start, tail_fn *fn,
    void *arg, struct tail **ret_tail, struct err *err)
{
	return tail_new_with(
	    loop, path, open_regular, from_start, fn, arg, ret_tail, err);
}

int
tail_new_with(struct loop *loop, const char *path,
    int (*opener)(const char *path), bool from_start, tail_fn *fn, void *arg,
    struct tail **ret_tail, struct err *err)
{
	struct tail *tail = xcalloc(1, sizeof *tail);
	int r;

	tail->fd = -1;
	buf_init(&tail->line);
	r = watch_new(loop, path, tail_changed, tail, &tail->watch, err);
	if (r < 0) {
		tail_free(tail);
		return r;
	}
	tail->path = xstrdup(path);
	tail->opener = opener;
	tail->fn = fn;
	tail->arg = arg;
	tail->call = loop_call_new(loop, tail_read, tail);
	tail_open(tail);
	if (!from_start)
		tail_skip_to_end(tail);
	loop_call_request(tail->call);
	*ret_tail = tail;
	return 0;
}

void
tail_free(struct tail *tail)
{
	if (tail == NULL)
		return;
	if (tail->reporting) {
		tail->doomed = true;
		return;
	}
	watch_free(tail->watch);
	loop_call_free(tail->call);
	buf_release(&tail->line);
	fd_close(tail->fd);
	free(tail->path);
	free(tail);
}

uint64_t
tail_offset(const struct tail *tail)
{
	return tail->reported;
}
