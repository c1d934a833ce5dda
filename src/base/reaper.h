/* SPDX-License-Identifier: ISC */

/*
 * A subreaper: processes whose parents died become our children instead of
 * init's, and are reaped when they exit. Children started by child.h are left
 * to it.
 */
#ifndef REAPER_H
#define REAPER_H

#include <sys/types.h>

struct loop;
struct reaper;

/* Become a subreaper. Free it before the loop. */
struct reaper *reaper_new(struct loop *loop);
void reaper_free(struct reaper *reaper);

/* For child.c: leave this child alone; it has been reaped. */
void reaper_know(pid_t pid);
void reaper_forget(pid_t pid);

#endif
