/* SPDX-License-Identifier: ISC */

/*
 * What stays the same when an error happens again: its text without paths,
 * numbers, hashes, addresses and times, which become <path>, <n>, <hash> and
 * <addr>. Runs of blanks become one, terminal escapes go.
 *
 * A number is one that stands alone ("line 12", "12ms"): the codes TS2304 and
 * E0308 are two errors.
 */
#ifndef ERROR_SIGNATURE_H
#define ERROR_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

struct buf;

#define ERROR_SIGNATURE_BYTES 1024 /* what follows does not count */

void error_signature(const char *text, size_t len, struct buf *out);

/* The same as a number, see behaviour-hash.h. */
uint64_t error_signature_hash(const char *text, size_t len);

#endif
