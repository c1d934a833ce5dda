/* SPDX-License-Identifier: ISC */

/*
 * The end of a program that cannot go on: only for broken invariants and
 * exhausted memory, never for input, files or children.
 *
 * Exits with status 70 (fatal appends strerror(errno)), or with
 * FATAL_EXIT_MEMORY if the text begins with "out of memory".
 */
#ifndef FATAL_H
#define FATAL_H

#define FATAL_EXIT_MEMORY 71 /* EX_OSERR */

void
fatal(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void
fatalx(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Who says the last words: a program that has a log gives log_fatal(). Without,
 * they are one line on standard error. */
void fatal_on(void (*fn)(const char *text));

#endif
