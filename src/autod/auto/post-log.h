/* SPDX-License-Identifier: ISC */

/* How post_accept_command ended, for people. move: the commit that the branch
 * moved to with these tasks, at least one. */
#ifndef POST_LOG_H
#define POST_LOG_H

struct buf;
struct core;
struct errand_result;
struct landed_tasks;

/* Append a record to logs/post_accept.log. */
void post_log_write(const struct core *core, const struct landed_tasks *list,
    const char *move, const struct errand_result *result);

/* "post_accept_command exited with status 1 after t3 landed as abc: ..."; said:
 * its output. */
void post_log_reason(const struct landed_tasks *list, const char *move,
    const struct errand_result *result, const char *said, struct buf *out);

#endif
