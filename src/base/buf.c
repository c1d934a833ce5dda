/* SPDX-License-Identifier: ISC */

#include "base.h"

#define BUF_FIRST 64

/* Shared by all empty bufs; never written to. */
char buf_empty[1];

void
buf_init(struct buf *buf)
{
	buf->data = buf_empty;
	buf->len = 0;
	buf->cap = 0;
}

void
buf_release(struct buf *buf)
{
	if (buf->cap > 0)
		free(buf->data);
	buf_init(buf);
}

void
buf_cleanup(struct buf *buf)
{
	buf_release(buf);
}

void
buf_clear(struct buf *buf)
{
	buf_truncate(buf, 0);
}

void
buf_reserve(struct buf *buf, size_t len)
{
	size_t need, cap;

	if (len >= SIZE_MAX / 2 - buf->len)
		fatalx("out of memory: a text of %zu bytes", len);
	need = buf->len + len + 1;
	if (need <= buf->cap)
		return;
	cap = buf->cap == 0 ? BUF_FIRST : buf->cap;
	while (cap < need)
		cap *= 2;
	buf->data = xreallocarray(buf->cap == 0 ? NULL : buf->data, cap, 1);
	buf->cap = cap;
	buf->data[buf->len] = '\0';
}

void
buf_grew(struct buf *buf, size_t len)
{
	if (len >= buf->cap - buf->len)
		fatalx("buf_grew: %zu bytes were not reserved", len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void
buf_add(struct buf *buf, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	buf_reserve(buf, len);
	memcpy(buf->data + buf->len, bytes, len);
	buf_grew(buf, len);
}

void
buf_adds(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void
buf_addc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void
buf_vaddf(struct buf *buf, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		fatalx("cannot format a string: %s", fmt);
	buf_reserve(buf, (size_t)len);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, ap);
	buf_grew(buf, (size_t)len);
}

void
buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(buf, fmt, ap);
	va_end(ap);
}

void
buf_truncate(struct buf *buf, size_t len)
{
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

void
buf_splice(
    struct buf *buf, size_t at, size_t gone, const void *bytes, size_t len)
{
	size_t rest;

	if (at > buf->len || gone > buf->len - at)
		fatalx("buf_splice: %zu+%zu is outside of %zu bytes", at, gone,
		    buf->len);
	buf_reserve(buf, len);
	rest = buf->len - at - gone;
	memmove(buf->data + at + len, buf->data + at + gone, rest);
	if (len > 0)
		memcpy(buf->data + at, bytes, len);
	buf->len = at + len + rest;
	buf->data[buf->len] = '\0';
}

void
buf_consume(struct buf *buf, size_t len)
{
	if (len > buf->len)
		len = buf->len;
	if (len > 0)
		buf_splice(buf, 0, len, NULL, 0);
}

char *
buf_take(struct buf *buf)
{
	char *data;

	buf_reserve(buf, 0);
	data = buf->data;
	buf_init(buf);
	return data;
}
