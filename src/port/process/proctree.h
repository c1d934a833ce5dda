/* SPDX-License-Identifier: ISC */

/*
 * What the processes of this machine have done: one pass over /proc, then any
 * number of questions about trees of processes.
 */
#ifndef PROCTREE_H
#define PROCTREE_H

struct err;
struct metrics_process;
struct procref;
struct proctree;

#define PROCTREE_PROC "/proc"

/* A snapshot of all processes, owned by the caller. Processes that start or end
 * meanwhile may be missing. proc is PROCTREE_PROC, except in tests. */
int
proctree_read(const char *proc, struct proctree **ret_tree, struct err *err);
void proctree_free(struct proctree *tree);

/* CPU time in ms, user and system, of the process and all below it: those that
 * live and those that were waited for. It can decrease when a process leaves
 * the tree: compare for change only. -ESRCH if the process is not in the
 * snapshot. */
int64_t
proctree_cpu_ms(const struct proctree *tree, const struct procref *root);

/* What the kernel says of this process, for metrics. */

/* What cannot be read stays 0; start_s is not touched. */
void process_facts_read(struct metrics_process *facts);

#endif
