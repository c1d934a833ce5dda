/* SPDX-License-Identifier: ISC */

/* Start a program of ours in the background, for --detach. */
#ifndef DETACH_H
#define DETACH_H

#include <sys/types.h>

struct cli;
struct err;

/* *ret_fd: the other end of its standard input, which is closed when it ends.
 * log: the file that gets what it says on standard error. */
int detach_start(struct cli *cli, char *const *argv, const char *log,
    int *ret_fd, struct err *err);

/* It has ended instead: fail with what it wrote to the log from there on. */
int detach_fail(struct cli *cli, const char *who, const char *log, off_t from);

#endif
