/* SPDX-License-Identifier: ISC */

/*
 * What oversight has recorded of a task, as `llmc task iterations` tells it,
 * for tests on top of autorun.h. A check that fails shows the stored
 * iterations.
 */
#ifndef WATCHLOG_H
#define WATCHLOG_H

#include "autorun.h"

/* Wait until that many iterations were judged. */
void watchlog_wait(const char *task, int count);

/* The last one has this member (of its own, or below "analysis", "context" or
 * its "check"), which is not null, with these words. */
void watchlog_last(const char *task, const char *member, const char *words);

/* The iteration after which this was first done; there is one. */
int watchlog_at(const char *task, const char *level, const char *type);

/* The iteration after which oversight first did more than log; 0 = never. */
int watchlog_first(const char *task);

/* How many iterations up to that number have this text in them. */
int watchlog_with(const char *task, const char *text, int number);

/* Every iteration is there once, in order, and was judged. */
void watchlog_whole(const char *task);

/* Wait until oversight has parked the task for this, and everything says so. */
void watchlog_parked(const char *task, const char *words);

/* Events of oversight above log. */
int watchlog_events(void);

#endif
