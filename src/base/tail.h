/* SPDX-License-Identifier: ISC */

/*
 * Follow a growing text file line by line, through rotation, truncation,
 * partial lines and times when it does not exist.
 *
 * A line is reported once, when its newline is there. A file that shrank or
 * was replaced is read from its beginning; what had been written to the old
 * one before it was replaced is read first, except a last line without its
 * newline. At most TAIL_CHUNK bytes are read
 * per turn of the loop, so a flood cannot hold it up.
 */
#ifndef TAIL_H
#define TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct tail;

#define TAIL_CHUNK    ((size_t)256 * 1024)
#define TAIL_LINE_MAX ((size_t)1024 * 1024)

/* line has no newline and ends in a NUL; len may count embedded NULs. A line
 * over TAIL_LINE_MAX bytes comes cut, once, with cut set. */
typedef void tail_fn(const char *line, size_t len, bool cut, void *arg);

/* Start at the end of what is there (from_start false) or at its beginning. A
 * line that is being written at the end counts as not yet there (but comes cut
 * when more than TAIL_CHUNK of it is). The directory must exist (-ENOENT). fn
 * is called from the loop only. The tail is the caller's, who frees it before
 * the loop. */
int tail_new(struct loop *loop, const char *path, bool from_start, tail_fn *fn,
    void *arg, struct tail **ret_tail, struct err *err);
void tail_free(struct tail *tail); /* also from inside fn */

/* Bytes of the current file that have been reported. */
uint64_t tail_offset(const struct tail *tail);

#endif
