/* SPDX-License-Identifier: ISC */

/*
 * A growing string of bytes, always terminated by a NUL that does not count.
 *
 * A struct buf set to BUF_INIT owns nothing. data is never NULL, so it can be
 * printed at any time. buf_release() frees the contents and leaves BUF_INIT
 * behind; buf_clear() keeps the memory for the next use.
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

/* Room for at least len more bytes; the caller writes at data + len and then
 * calls buf_grew(). */
void buf_reserve(struct buf *buf, size_t len);
void buf_grew(struct buf *buf, size_t len);

/* Drop bytes from the front, or all behind len. */
void buf_consume(struct buf *buf, size_t len);
void buf_truncate(struct buf *buf, size_t len);

/* Replace `gone` bytes at `at` with `len` others. */
void buf_splice(
    struct buf *buf, size_t at, size_t gone, const void *bytes, size_t len);

/* The string, owned by the caller; the buf is BUF_INIT again. Never NULL. */
char *buf_take(struct buf *buf);

void buf_cleanup(struct buf *buf);
#define cleanup_buf __attribute__((cleanup(buf_cleanup)))

#endif
