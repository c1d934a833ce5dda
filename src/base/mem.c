/* SPDX-License-Identifier: ISC */

#include "base.h"

void *
xmalloc(size_t size)
{
	void *p = malloc(size == 0 ? 1 : size);

	if (p == NULL)
		fatalx("out of memory: %zu bytes", size);
	return p;
}

void *
xcalloc(size_t count, size_t size)
{
	void *p = calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);

	if (p == NULL)
		fatalx("out of memory: %zu times %zu bytes", count, size);
	return p;
}

void *
xreallocarray(void *old, size_t count, size_t size)
{
	void *p;

	if (count == 0 || size == 0)
		count = size = 1;
	p = reallocarray(old, count, size);
	if (p == NULL)
		fatalx("out of memory: %zu times %zu bytes", count, size);
	return p;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t max)
{
	size_t len = strnlen(s, max);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *
xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) == -1)
		fatalx("out of memory: a formatted text");
	return s;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void
xstrset(char **member, const char *value)
{
	/* Copy first: value may be part of the old string. */
	char *copy = value == NULL ? NULL : xstrdup(value);

	free(*member);
	*member = copy;
}

/* Through memcpy: C treats char ** and void ** as different types. */
void *
take_pointer(void *pointer_to_pointer)
{
	void *empty = NULL, *p;

	memcpy(&p, pointer_to_pointer, sizeof p);
	memcpy(pointer_to_pointer, &empty, sizeof empty);
	return p;
}

void
mem_cleanup_free(void *pointer_to_pointer)
{
	int saved = errno;

	free(take_pointer(pointer_to_pointer));
	errno = saved;
}

int
fd_close(int fd)
{
	int saved = errno;

	/* Linux closes it even when it returns EINTR. */
	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

void
mem_cleanup_fd(int *fd)
{
	*fd = fd_close(*fd);
}

int
take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
