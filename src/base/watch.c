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
