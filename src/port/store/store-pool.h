/* SPDX-License-Identifier: ISC */

/* Memory that is released all at once: the strings of one request or answer. */
#ifndef STORE_POOL_H
#define STORE_POOL_H

#include <stddef.h>

struct store_pool_block;

struct store_pool {
	struct store_pool_block *blocks;
	size_t used, size; /* of the newest block */
	size_t total; /* bytes handed out */
};

#define STORE_POOL_INIT       \
	{                     \
		NULL, 0, 0, 0 \
	}

void store_pool_release(struct store_pool *pool);

/* Zeroed, aligned for pointers. */
void *store_pool_alloc(struct store_pool *pool, size_t count, size_t size);

/* A copy; NULL stays NULL. */
char *store_pool_string(struct store_pool *pool, const char *s);
char *store_pool_bytes(struct store_pool *pool, const char *bytes, size_t len);

#endif
