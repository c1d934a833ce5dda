/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "strmap.h"

#define SIZE_LEAST 16

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
