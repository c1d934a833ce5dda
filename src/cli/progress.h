/* SPDX-License-Identifier: ISC */

/*
 * A line for a person who waits for a long command: what is done, and for how
 * long by now, every second from the first on. Only if standard error is a
 * terminal; the line is gone at the end. Nothing has to be called meanwhile.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

/* One at a time; what is kept until the end. */
void progress_begin(const char *what);
void progress_end(void);

#endif
