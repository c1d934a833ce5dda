/* SPDX-License-Identifier: ISC */

/* Names, words and texts as numbers that are compared instead of them. Never 0,
 * which means "not known". Not for storage. */
#ifndef BEHAVIOUR_HASH_H
#define BEHAVIOUR_HASH_H

#include <stddef.h>
#include <stdint.h>

#define BEHAVIOUR_HASH_INIT 0xcbf29ce484222325u

static inline uint64_t
behaviour_hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * 0x100000001b3u;
}

static inline uint64_t
behaviour_hash_end(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93u;
	hash ^= hash >> 32;
	return hash == 0 ? 1 : hash;
}

static inline uint64_t
behaviour_hash(const char *text, size_t len)
{
	uint64_t hash = BEHAVIOUR_HASH_INIT;

	for (size_t i = 0; i < len; i++)
		hash = behaviour_hash_byte(hash, (unsigned char)text[i]);
	return behaviour_hash_end(hash);
}

#endif
