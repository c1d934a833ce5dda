/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "errtext.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"

#define PAUSE_FIRST_MS 5
#define PAUSE_MOST_MS  100

struct lock_wait {
	struct loop_timer *timer;
	char *path;
	int64_t give_up_ms; /* on the monotonic clock */
	int64_t pause_ms;
	lock_fn *fn;
	void *arg;
};

static int
lock_take(const char *path, short type, struct err *err)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	if (fcntl(fd, F_OFD_SETLK, &lock) == -1) {
		if (errno == EAGAIN || errno == EACCES)
			return err_set(
			    err, -EAGAIN, "%s is held by another", path);
		return err_errno(err, -errno, "%s", path);
	}
	return take_fd(&fd);
}

int
lock_try(const char *path, struct err *err)
{
	return lock_take(path, F_WRLCK, err);
}

int
lock_try_shared(const char *path, struct err *err)
{
	return lock_take(path, F_RDLCK, err);
}

int
lock_is_held(const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT ? 0 : -errno;
	/* Who could not get a reader's lock? Only somebody behind a writer. */
	if (fcntl(fd, F_OFD_GETLK, &lock) == -1)
		return -errno;
	return lock.l_type != F_UNLCK;
}

static void
lock_wait_try(void *arg)
{
	struct lock_wait *wait = arg;
	int fd = lock_try(wait->path, NULL);

	if (fd == -EAGAIN && clock_mono_ms() < wait->give_up_ms) {
		loop_timer_restart(wait->timer, wait->pause_ms);
		if ((wait->pause_ms *= 2) > PAUSE_MOST_MS)
			wait->pause_ms = PAUSE_MOST_MS;
		return;
	}
	wait->fn(fd == -EAGAIN ? -ETIMEDOUT : fd, wait->arg);
}

struct lock_wait *
lock_wait_new(struct loop *loop, const char *path, int64_t deadline_ms,
    lock_fn *fn, void *arg)
{
	struct lock_wait *wait = xcalloc(1, sizeof *wait);

	wait->path = xstrdup(path);
	wait->give_up_ms = clock_mono_ms() + deadline_ms;
	wait->pause_ms = PAUSE_FIRST_MS;
	wait->fn = fn;
	wait->arg = arg;
	wait->timer = loop_after(loop, 1, lock_wait_try, wait);
	return wait;
}

void
lock_wait_free(struct lock_wait *wait)
{
	if (wait == NULL)
		return;
	loop_timer_free(wait->timer);
	free(wait->path);
	free(wait);
}
