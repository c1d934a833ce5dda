/* SPDX-License-Identifier: ISC */

/* What would make a start useless, told before it: model/preflight.h. */
#ifndef START_CHECK_H
#define START_CHECK_H

struct err;
struct overseer;

/* Before a start: print what is not right. -EBUSY if it must not start: no
 * daemon is running that could be taken over, and none could do any work. */
int start_check(const struct overseer *o, struct err *err);

/* For --check: print it all, with what an earlier run left for a person. The
 * exit status of a start. */
int start_check_only(struct overseer *o);

#endif
