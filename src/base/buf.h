/* SPDX-License-Identifier: ISC */

/*
 * A growing byte string, always terminated by a NUL that does not count towards
 * its length.
 *
 * A struct buf set to BUF_INIT owns nothing. data is never NULL, so it can be
 * printed at any time. buf_release() frees the contents and resets the buf to
 * BUF_INIT; buf_clear() keeps the memory for reuse.
 */
#ifndef BUF_H
#define BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data; /* buf_empty, or owned */
	size_t len;
	size_t cap; /* allocated bytes, 0 while data is buf_empty */
};

extern char buf_empty[1];

#define BUF_INIT                \
	{                       \
		buf_empty, 0, 0 \
	}

void buf_init(struct buf *buf);
void buf_release(struct buf *buf);
void buf_clear(struct buf *buf);

void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_adds(struct buf *buf, const char *s);
void buf_addc(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *buf, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Make room for at least len more bytes. The caller writes at data + len and
 * then calls buf_grew(). */
void buf_reserve(struct buf *buf, size_t len);
void buf_grew(struct buf *buf, size_t len);

/* Drop len bytes from the front, or everything after the first len. */
void buf_consume(struct buf *buf, size_t len);
void buf_truncate(struct buf *buf, size_t len);

/* Replace `gone` bytes at `at` with `len` others. */
void buf_splice(
    struct buf *buf, size_t at, size_t gone, const void *bytes, size_t len);

/* Return the string, now owned by the caller, and reset the buf to BUF_INIT.
 * Never NULL. */
char *buf_take(struct buf *buf);

void buf_cleanup(struct buf *buf);
#define cleanup_buf __attribute__((cleanup(buf_cleanup)))

#endif
