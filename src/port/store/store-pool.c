/* SPDX-License-Identifier: ISC */

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "store-pool.h"

#define BLOCK_SIZE ((size_t)4096)

struct store_pool_block {
	struct store_pool_block *next;
	alignas(max_align_t) char bytes[];
};

void
store_pool_release(struct store_pool *pool)
{
	struct store_pool_block *block;

	while ((block = pool->blocks) != NULL) {
		pool->blocks = block->next;
		free(block);
	}
	memset(pool, 0, sizeof *pool);
}

static void *
take(struct store_pool *pool, size_t size, size_t align)
{
	size_t start = (pool->used + align - 1) / align * align;
	struct store_pool_block *block;

	if (pool->blocks == NULL || start + size > pool->size) {
		pool->size = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		block = xmalloc(sizeof *block + pool->size);
		block->next = pool->blocks;
		pool->blocks = block;
		start = 0;
	}
	pool->used = start + size;
	pool->total += size;
	return pool->blocks->bytes + start;
}

void *
store_pool_alloc(struct store_pool *pool, size_t count, size_t size)
{
	void *memory;

	if (size != 0 && count > SIZE_MAX / 2 / size)
		abort();
	memory = take(pool, count * size, alignof(max_align_t));
	memset(memory, 0, count * size);
	return memory;
}

char *
store_pool_bytes(struct store_pool *pool, const char *bytes, size_t len)
{
	char *copy = take(pool, len + 1, 1);

	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

char *
store_pool_string(struct store_pool *pool, const char *s)
{
	return s != NULL ? store_pool_bytes(pool, s, strlen(s)) : NULL;
}
