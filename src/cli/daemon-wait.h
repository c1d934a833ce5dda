/* SPDX-License-Identifier: ISC */

/* Wait until a daemon answers, or has ended. Both block, without polling where
 * the kernel can tell, and are bounded by a deadline. */
#ifndef DAEMON_WAIT_H
#define DAEMON_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct json_object;
struct procref;

/* Wait until it answers: *ret_info is its daemon.info, owned by the caller.
 * `fd` is the writing end of a pipe whose reading end the daemon has. False if
 * that is closed, or after the timeout. */
bool daemon_wait_up(
    struct cli *cli, int fd, int64_t ms, struct json_object **ret_info);

/* Wait until that process has ended, or nobody holds the daemon's lock any
 * more. False after the timeout. */
bool
daemon_wait_gone(struct cli *cli, const struct procref *daemon, int64_t ms);

#endif
