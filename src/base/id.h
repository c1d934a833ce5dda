/* SPDX-License-Identifier: ISC */

/* Identifiers: random (UUIDv4) and sortable by time (ULID). */
#ifndef ID_H
#define ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_UUID_SIZE 37 /* including the NUL */
#define ID_ULID_SIZE 27

void id_uuid(char out[ID_UUID_SIZE]);
bool id_uuid_valid(const char *s); /* any version, any case */

/* Ten characters of time, then 80 random bits. Two made in the same millisecond
 * by one process still sort in the order they were made. A time before 1970
 * counts as 1970. Valid means that id_ulid() can make it: upper case, 128
 * bits. */
void id_ulid(int64_t wall_ms, char out[ID_ULID_SIZE]);
bool id_ulid_valid(const char *s);

/* The 64-bit FNV-1a hash of a string. Not for secrets. */
uint64_t id_hash64(const char *s);
/* A short stable name for a string (such as a path): n lower case hex digits of
 * that hash and a NUL, n up to 16. */
void id_hash(const char *s, char *out, int n);

#endif
