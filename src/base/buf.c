/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "id.h"

#define BUF_FIRST 64

/* Shared by all empty bufs; never written to. */
char buf_empty[1];

#define SIZE_LEAST 16

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

void
strv_free(char **list)
{
	for (char **s = list; s != NULL && *s != NULL; s++)
		free(*s);
	free(list);
}

void
strv_cleanup(char ***list)
{
	strv_free(*list);
}

void
strv_clear(char ***list)
{
	strv_free(take_ptr(list));
}

size_t
strv_count(char *const *list)
{
	size_t count = 0;

	while (list != NULL && list[count] != NULL)
		count++;
	return count;
}

void
strv_take(char ***list, char *owned)
{
	size_t count = strv_count(*list);

	*list = xreallocarray(*list, count + 2, sizeof **list);
	(*list)[count] = owned;
	(*list)[count + 1] = NULL;
}

void
strv_add(char ***list, const char *s)
{
	strv_take(list, xstrdup(s));
}

void
strv_add_all(char ***list, const char *const *more)
{
	size_t count = strv_count(*list), added = 0;

	while (more != NULL && more[added] != NULL)
		added++;
	*list = xreallocarray(*list, count + added + 1, sizeof **list);
	for (size_t i = 0; i < added; i++)
		(*list)[count + i] = xstrdup(more[i]);
	(*list)[count + added] = NULL;
}

void
strv_remove(char **list, const char *s)
{
	char **to = list;

	if (list == NULL)
		return;
	for (char **from = list; *from != NULL; from++) {
		if (strcmp(*from, s) == 0)
			free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
}

bool
strv_has(const char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

int
strv_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *
strv_const(char *const *list)
{
	static const char *const empty[] = { NULL };

	return list == NULL ? empty : (const char *const *)list;
}

char **
strv_copy(const char *const *list)
{
	char **copy = NULL;

	strv_add_all(&copy, list);
	return copy;
}

char **
strv_from_json(struct json_object *array)
{
	size_t count = array == NULL ? 0 : json_object_array_length(array);
	char **list = xcalloc(count + 1, sizeof *list);

	for (size_t i = 0; i < count; i++)
		list[i] = xstrdup(json_object_get_string(
		    json_object_array_get_idx(array, i)));
	return list;
}

struct json_object *
strv_to_json(char *const *list)
{
	struct json_object *array = json_object_new_array();

	for (; list != NULL && *list != NULL; list++)
		json_object_array_add(array, json_object_new_string(*list));
	return array;
}

/* The low bits are mixed, because the table uses only those. */
static uint64_t
hash_of(const char *key)
{
	uint64_t hash = id_hash64(key);

	return hash ^ (hash >> 32);
}

/* The slot of the key, or the free one where it would be. */
static size_t
find(const struct strmap *map, const char *key, uint64_t hash)
{
	size_t i = hash & (map->size - 1);

	while (map->slots[i].key != NULL &&
	    (map->slots[i].hash != hash || strcmp(map->slots[i].key, key) != 0))
		i = (i + 1) & (map->size - 1);
	return i;
}

static void
grow(struct strmap *map)
{
	struct strmap old = *map;

	map->size = old.size == 0 ? SIZE_LEAST : old.size * 2;
	map->slots = xcalloc(map->size, sizeof *map->slots);
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].key != NULL)
			map->slots[find(map, old.slots[i].key,
			    old.slots[i].hash)] = old.slots[i];
	free(old.slots);
}

void
strmap_release(struct strmap *map)
{
	free(map->slots);
	*map = (struct strmap){ 0 };
}

void *
strmap_get(const struct strmap *map, const char *key)
{
	if (map->count == 0)
		return NULL;
	return map->slots[find(map, key, hash_of(key))].value;
}

bool
strmap_add(struct strmap *map, const char *key, void *value)
{
	uint64_t hash = hash_of(key);
	size_t i;

	if (map->count >= map->size / 2)
		grow(map);
	i = find(map, key, hash);
	if (map->slots[i].key != NULL)
		return false;
	map->slots[i] = (struct strmap_slot){ key, hash, value };
	map->count++;
	return true;
}

/* Close the gap: whatever stands behind it moves up, unless that would put it
 * ahead of its own place. */
static void
close_gap(struct strmap *map, size_t gap)
{
	size_t mask = map->size - 1;

	for (size_t i = (gap + 1) & mask; map->slots[i].key != NULL;
	     i = (i + 1) & mask) {
		size_t home = map->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		map->slots[gap] = map->slots[i];
		gap = i;
	}
	map->slots[gap] = (struct strmap_slot){ 0 };
}

void *
strmap_remove(struct strmap *map, const char *key)
{
	size_t i;
	void *value;

	if (map->count == 0)
		return NULL;
	i = find(map, key, hash_of(key));
	if (map->slots[i].key == NULL)
		return NULL;
	value = map->slots[i].value;
	close_gap(map, i);
	map->count--;
	return value;
}
