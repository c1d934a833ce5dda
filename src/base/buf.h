/* SPDX-License-Identifier: ISC */

/*
 * Strings, lists and maps that grow: struct buf, NULL-terminated lists of
 * strings (strv), and values found by a string (strmap).
 *
 * A struct buf is a growing byte string, always terminated by a NUL that does
 * not count towards its length.
 *
 * A struct buf set to BUF_INIT owns nothing. data is never NULL, so it can be
 * printed at any time. buf_release() frees the contents and resets the buf to
 * BUF_INIT; buf_clear() keeps the memory for reuse.
 */
#ifndef BUF_H
#define BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

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

/*
 * NULL-terminated lists of owned strings, like argument vectors. A list that is
 * NULL is empty. Adding searches for the end each time: meant for command words
 * and names, not for thousands of paths.
 */

void strv_free(char **list);
void strv_cleanup(char ***list);
#define cleanup_strv __attribute__((cleanup(strv_cleanup)))

/* Free it and set it to NULL. */
void strv_clear(char ***list);

/* Add a copy, or take ownership of an allocated string. */
void strv_add(char ***list, const char *s);
void strv_take(char ***list, char *owned);

/* Add copies of all strings of a list, which may be NULL. */
void strv_add_all(char ***list, const char *const *more);

/* Remove and free every string equal to s. */
void strv_remove(char **list, const char *s);

size_t strv_count(char *const *list);
/* Is one of them equal to s? The list may be NULL. */
bool strv_has(const char *const *list, const char *s);

/* For qsort() of a list. */
int strv_order(const void *a, const void *b);

/* A view for functions that take constant strings; never NULL. */
const char *const *strv_const(char *const *list);

/* Never NULL; owned by the caller. */
char **strv_copy(const char *const *list);

/* From a JSON array of strings that the caller has checked (NULL is empty), and
 * back. Owned by the caller. */
char **strv_from_json(struct json_object *array);
struct json_object *strv_to_json(char *const *list);

/*
 * Find a value by a string in constant time: a hash table. It owns neither keys
 * nor values; a key must stay as it is while it is in the map, so it is usually
 * a member of its value.
 */

struct strmap_slot {
	const char *key; /* NULL = free */
	uint64_t hash;
	void *value;
};

/* Zeroes are an empty map. */
struct strmap {
	struct strmap_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

void strmap_release(struct strmap *map);

void *strmap_get(const struct strmap *map, const char *key); /* NULL = none */

/* False, and nothing changes, if the key is there already. value is not
 * NULL. */
bool strmap_add(struct strmap *map, const char *key, void *value);

/* The value, no longer in the map; NULL = it was not there. */
void *strmap_remove(struct strmap *map, const char *key);

#endif
