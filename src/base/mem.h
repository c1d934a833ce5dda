/* SPDX-License-Identifier: ISC */

/*
 * Allocation that never returns NULL, and automatic release at the end of a
 * scope.
 *
 * A variable marked with one of the cleanup_ attributes is released on every
 * way out of its scope. To pass it on, take it: return take_ptr(&p).
 */
#ifndef MEM_H
#define MEM_H

#include <stdarg.h>
#include <stddef.h>

/* Out of memory ends the program with a message. A size that would overflow
 * counts as out of memory. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t max);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *
xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Replace an owned string by a copy; NULL clears it. The value may be the old
 * string or a part of it. */
void xstrset(char **member, const char *value);

/* Handlers for the attributes below; each accepts an empty value. */
void mem_cleanup_free(void *pointer_to_pointer);
void mem_cleanup_fd(int *fd);

#define cleanup_free __attribute__((cleanup(mem_cleanup_free)))
#define cleanup_fd   __attribute__((cleanup(mem_cleanup_fd)))

/* Close a descriptor, keeping errno; a negative one is ignored. Returns -1, to
 * be assigned: fd = fd_close(fd). */
int fd_close(int fd);

/* Return the value and clear the variable. */
int take_fd(int *fd);
void *take_pointer(void *pointer_to_pointer);
#define take_ptr(p) ((__typeof__(*(p)))take_pointer(p))

#define nitems(array) (sizeof(array) / sizeof((array)[0]))

#endif
