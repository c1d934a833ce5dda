/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "loop.h"
#include "tail.h"
#include "watch.h"

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
