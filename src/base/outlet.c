/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "loop.h"
#include "mem.h"
#include "outlet.h"

#define RETRY_MS  100
#define FINISH_MS 200

static const char cut_line[] = "[lines are missing here: nobody read them]\n";

void
outlet_attach(struct outlet *outlet, struct loop *loop)
{
	loop_timer_free(take_ptr(&outlet->retry));
	outlet->loop = loop;
}

static bool
is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* The descriptor to write to without waiting. One that cannot be opened again,
 * such as the terminal of another user, is only used when it has room. */
static int
open_again(struct outlet *outlet, const struct stat *st)
{
	char path[64];

	if (outlet->own >= 0 && outlet->dev == st->st_dev &&
	    outlet->ino == st->st_ino)
		return outlet->own;
	outlet->own = fd_close(outlet->own);
	snprintf(path, sizeof path, "/proc/self/fd/%d", outlet->fd);
	outlet->own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	outlet->dev = st->st_dev;
	outlet->ino = st->st_ino;
	return outlet->own;
}

static ssize_t
write_some(struct outlet *outlet, const char *text, size_t len)
{
	struct pollfd room = { .fd = outlet->fd, .events = POLLOUT };
	struct stat st;
	int fd;

	if (fstat(outlet->fd, &st) == -1)
		return -1;
	if (S_ISSOCK(st.st_mode))
		return send(outlet->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return write(outlet->fd, text, len);
	fd = open_again(outlet, &st);
	if (fd >= 0)
		return write(fd, text, len);
	errno = EAGAIN;
	return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) ?
	    write(outlet->fd, text, len) :
	    -1;
}

static void
on_retry(void *arg)
{
	outlet_flush(arg);
}

static void
retry_later(struct outlet *outlet)
{
	if (outlet->loop == NULL || outlet->hold)
		return;
	if (outlet->retry == NULL)
		outlet->retry =
		    loop_after(outlet->loop, RETRY_MS, on_retry, outlet);
	else
		loop_timer_restart(outlet->retry, RETRY_MS);
}

bool
outlet_flush(struct outlet *outlet)
{
	ssize_t n;

	if (outlet->hold)
		return outlet->queue.len == 0;
	while (outlet->queue.len > 0) {
		n = write_some(outlet, outlet->queue.data, outlet->queue.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN) {
			retry_later(outlet);
			return false;
		}
		if (n <= 0) /* nothing would be written there */
			n = (ssize_t)outlet->queue.len;
		buf_consume(&outlet->queue, (size_t)n);
	}
	outlet->cut = false;
	buf_release(&outlet->queue);
	return true;
}

void
outlet_finish(struct outlet *outlet)
{
	for (int ms = 0; ms < FINISH_MS && !outlet_flush(outlet); ms += 10)
		poll(NULL, 0, 10); /* the one before found no room */
	outlet->own = fd_close(outlet->own);
	buf_release(&outlet->queue);
}

void
outlet_write(struct outlet *outlet, const char *text, size_t len)
{
	if (outlet->cut)
		return; /* after the line that says so */
	if (outlet->queue.len + len + sizeof cut_line > OUTLET_MAX &&
	    outlet->queue.len > 0) {
		outlet->cut = true;
		text = cut_line;
		len = strlen(cut_line);
	}
	buf_add(&outlet->queue, text, len);
	if (!loop_timer_pending(outlet->retry))
		outlet_flush(outlet);
}

/* --- regular files ---------------------------------------------------- */

void
outlet_hold(struct outlet *outlet, bool hold)
{
	outlet->hold = hold && is_regular(outlet->fd);
}

size_t
outlet_held(const struct outlet *outlet)
{
	return outlet->hold ? outlet->queue.len : 0;
}

int
outlet_write_held(struct outlet *outlet, size_t len)
{
	return file_write_all(outlet->fd, outlet->queue.data, len);
}

void
outlet_drop(struct outlet *outlet, size_t len)
{
	buf_consume(&outlet->queue, len);
	outlet->cut = false;
}
