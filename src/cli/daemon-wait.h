/* SPDX-License-Identifier: ISC */

/* Wait until a daemon answers, or has ended. The kernel tells; both are bounded
 * by a deadline and block until then. */
#ifndef DAEMON_WAIT_H
#define DAEMON_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct json_object;
struct procref;

/* Until it answers: *ret_info is what it says of itself (daemon.info), owned by
 * the caller. `fd` is the writing end of a pipe that the daemon has the reading
 * end of. False when that breaks, or the time is up. */
bool daemon_wait_up(
    struct cli *cli, int fd, int64_t ms, struct json_object **ret_info);

/* Until that process has ended, or nobody holds the daemon's lock any more.
 * False when the time is up. */
bool
daemon_wait_gone(struct cli *cli, const struct procref *daemon, int64_t ms);

#endif
