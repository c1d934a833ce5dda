/* SPDX-License-Identifier: ISC */

/*
 * What the processes of this machine have done: one pass over /proc, then any
 * number of questions about trees of processes.
 */
#ifndef PROCTREE_H
#define PROCTREE_H

#include <stdint.h>

struct err;
struct procref;
struct proctree;

#define PROCTREE_PROC "/proc"

/* A picture of all processes, owned by the caller. Processes that come and go
 * meanwhile are in it or not. proc is PROCTREE_PROC, but for tests. */
int
proctree_read(const char *proc, struct proctree **ret_tree, struct err *err);
void proctree_free(struct proctree *tree);

/* CPU time in ms, user and system, of the process and of all below it: those
 * that live and those that were waited for. It can also fall, when a process
 * with parts of it leaves the tree: compare for change. -ESRCH when the process
 * is not in the picture. */
int64_t
proctree_cpu_ms(const struct proctree *tree, const struct procref *root);

#endif
