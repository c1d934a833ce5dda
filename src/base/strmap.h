/* SPDX-License-Identifier: ISC */

/*
 * Find a value by a string in constant time: a hash table. It owns neither keys
 * nor values; a key must stay as it is while it is in the map, so it is usually
 * a member of its value.
 */
#ifndef STRMAP_H
#define STRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
