/* SPDX-License-Identifier: ISC */

/*
 * A subreaper: processes whose parents died come to us instead of init, and
 * are collected when they end. Those that child.h started are its own affair.
 */
#ifndef REAPER_H
#define REAPER_H

#include <sys/types.h>

struct loop;
struct reaper;

/* Become one. Freed before the loop. */
struct reaper *reaper_new(struct loop *loop);
void reaper_free(struct reaper *reaper);

/* For child.c: a child of ours, to be left alone; it has been collected. */
void reaper_know(pid_t pid);
void reaper_forget(pid_t pid);

#endif
