/* SPDX-License-Identifier: ISC */

/*
 * A line for a person who waits for a long command: what is done, how much of
 * it, and for how long by now, every second from the first on. Only if standard
 * error is a terminal, and not with --json; the line is gone at the end, or
 * when a failure is reported. Nothing has to be called meanwhile.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

struct cli;

/* One at a time; what is kept until the end. */
void progress_begin(const struct cli *cli, const char *what);
/* So many of them are done. */
void progress_count(size_t done, size_t total);
/* May be called without a beginning. */
void progress_end(void);

#endif
