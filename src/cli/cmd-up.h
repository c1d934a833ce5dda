/* SPDX-License-Identifier: ISC */

/* Start a program of ours in the background, for --detach. */
#ifndef CMD_UP_H
#define CMD_UP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli;
struct err;
struct procref;

/* *ret_fd: the other end of its standard input, which is closed when it ends.
 * log: the file that gets what it says on standard error. */
int detach_start(struct cli *cli, char *const *argv, const char *log,
    int *ret_fd, struct err *err);

/* It has ended instead: fail with what it wrote to the log from there on. */
int detach_fail(struct cli *cli, const char *who, const char *log, off_t from);

/* Wait until that process has ended, or nobody holds the daemon's lock any
 * more. False after the timeout. */
bool
daemon_wait_gone(struct cli *cli, const struct procref *daemon, int64_t ms);

#endif
